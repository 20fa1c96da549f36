//! Charts of curves with intervals over a common axis: rate over load, percentiles of two sides.

use answers::verdict::Words;

use super::{BOTTOM, HEIGHT, LEFT, Scale, TOP, WIDTH};
use crate::html::Html;

/// Width of the chart's right margin in SVG units.
const MARGIN: f64 = 14.0;
/// Height of the chart's bottom margin in SVG units. The margin holds the axis and its name.
const BELOW: f64 = BOTTOM + 16.0;
/// Smallest distance between ticks of the horizontal axis in SVG units.
const APART: f64 = 34.0;

/// A value of a curve with its interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// True to draw a ring instead of a dot: the value is excluded, doubtful, or did not meet the criteria.
    pub hollow: bool,
}

/// The style of the line between the values of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    None,
    Line,
    Dashed,
}

#[derive(Clone, Debug)]
pub struct Curve {
    pub name: Words,
    pub spots: Vec<Spot>,
    pub join: Join,
    pub dots: bool,
}

/// A chart of curves.
#[derive(Clone, Debug)]
pub struct Curves {
    pub title: Words,
    pub caption: Words,
    /// Name of the horizontal axis.
    pub across: Words,
    pub log_x: bool,
    pub log_y: bool,
    /// Positions on the horizontal axis with their texts.
    pub ticks: Vec<(f64, String)>,
    pub show: fn(f64) -> String,
    pub curves: Vec<Curve>,
    /// Value that is drawn as a horizontal line, with its name: the limit of a criterion.
    pub limit: Option<(f64, Words)>,
}

const SERIES: [&str; 6] =
    ["series s0", "series s1", "series s2", "series s3", "series s4", "series s5"];
const SWATCH: [&str; 6] =
    ["swatch s0", "swatch s1", "swatch s2", "swatch s3", "swatch s4", "swatch s5"];

/// Draws a chart with its title, legend and caption.
pub fn draw(out: &mut Html, of: &Curves) {
    let spots = || of.curves.iter().flat_map(|curve| &curve.spots);
    let ys = spots().flat_map(|spot| [Some(spot.y), spot.low, spot.high]).flatten();
    let ys = ys.chain(of.limit.iter().map(|(value, _)| *value));
    let scale = Scale::over(ys, of.log_y);
    let xs: Vec<f64> = spots().map(|spot| spot.x).filter(|x| !of.log_x || *x > 0.0).collect();
    let least = xs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let x = |value: f64| {
        let share = match (most > least, of.log_x) {
            (false, _) => 0.5,
            (true, true) => (value.max(least) / least).ln() / (most / least).ln(),
            (true, false) => (value - least) / (most - least),
        };
        LEFT + 8.0 + share * (WIDTH - LEFT - MARGIN - 8.0)
    };
    let y = |value: f64| HEIGHT - BELOW - scale.share(value) * (HEIGHT - TOP - BELOW);
    out.raw("<figure class=\"chart\"><h3 class=\"hostile\">").words(&of.title).raw("</h3>");
    out.raw("<svg class=\"small\" viewBox=\"0 0 480 190\" role=\"img\" aria-label=\"");
    out.text(&of.title.en).raw("\">");
    for value in scale.ticks() {
        out.raw("<line class=\"grid\" x1=\"58\" x2=\"466\" y1=\"").number(y(value));
        out.raw("\" y2=\"").number(y(value)).raw("\"/><text class=\"tick end\" x=\"52\" y=\"");
        out.number(y(value) + 4.0).raw("\">").text(&(of.show)(value)).raw("</text>");
    }
    let mut free = f64::NEG_INFINITY;
    for (value, text) in &of.ticks {
        let at = x(*value);
        if at < free {
            continue;
        }
        let width = text.chars().count() as f64 * 7.0;
        free = at + APART.max(width + 6.0);
        // The last text stays within the picture.
        let middle = at.min(WIDTH - width / 2.0);
        out.raw("<text class=\"tick middle\" y=\"166\" x=\"").number(middle).raw("\">");
        out.text(text).raw("</text>");
    }
    for (lang, text) in [("en", &of.across.en), ("zh", &of.across.zh)] {
        out.raw("<text class=\"tick middle\" x=\"262\" y=\"184\" lang=\"");
        out.text(lang).raw("\">").text(text).raw("</text>");
    }
    if let Some((value, _)) = &of.limit {
        out.raw("<line class=\"limit\" x1=\"58\" x2=\"466\" y1=\"").number(y(*value));
        out.raw("\" y2=\"").number(y(*value)).raw("\"/>");
    }
    for (n, curve) in of.curves.iter().enumerate() {
        out.raw("<g class=\"").raw(SERIES[n % SERIES.len()]).raw("\"><title>");
        out.text(&curve.name.en).raw("</title>");
        one(out, of, curve, x, y);
        out.raw("</g>");
    }
    out.raw("</svg>");
    legend(out, of);
    out.raw("<figcaption>").words(&of.caption).raw("</figcaption></figure>");
}

fn legend(out: &mut Html, of: &Curves) {
    out.raw("<ul class=\"legend\">");
    let there = of.curves.iter().enumerate().filter(|(_, curve)| !curve.spots.is_empty());
    for (n, curve) in there {
        out.raw("<li><span class=\"").raw(SWATCH[n % SWATCH.len()]);
        out.raw("\"></span><span class=\"hostile\">").words(&curve.name).raw("</span></li>");
    }
    if let Some((_, name)) = &of.limit {
        out.raw("<li><span class=\"swatch limit\"></span><span class=\"hostile\">").words(name);
        out.raw("</span></li>");
    }
    out.raw("</ul>");
}

/// Draws a curve. A pointer over a dot shows its values.
fn one(out: &mut Html, of: &Curves, curve: &Curve, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
    let seen: Vec<&Spot> = curve.spots.iter().filter(|spot| !of.log_y || spot.y > 0.0).collect();
    if curve.join != Join::None {
        out.raw("<polyline class=\"");
        out.raw(if curve.join == Join::Line { "line" } else { "dashed" }).raw("\" points=\"");
        for spot in &seen {
            out.number(x(spot.x)).raw(",").number(y(spot.y)).raw(" ");
        }
        out.raw("\"/>");
    }
    if !curve.dots {
        return;
    }
    for spot in seen {
        if let (Some(low), Some(high)) = (spot.low, spot.high) {
            out.raw("<line class=\"bar\" x1=\"").number(x(spot.x)).raw("\" x2=\"");
            out.number(x(spot.x)).raw("\" y1=\"").number(y(low)).raw("\" y2=\"");
            out.number(y(high)).raw("\"/>");
        }
        out.raw("<circle r=\"3.5\" class=\"").raw(if spot.hollow { "hollow" } else { "dot" });
        out.raw("\" cx=\"").number(x(spot.x)).raw("\" cy=\"").number(y(spot.y)).raw("\"><title>");
        // This title hides that of the curve.
        if of.curves.iter().filter(|curve| curve.dots).count() > 1 {
            out.text(&curve.name.en).raw("; ");
        }
        if let Some((_, text)) = of.ticks.iter().find(|(value, _)| value.total_cmp(&spot.x).is_eq())
        {
            out.text(text).raw(": ");
        }
        out.text(&(of.show)(spot.y)).raw("</title></circle>");
    }
}
