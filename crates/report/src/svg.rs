//! Small SVG charts of the first screen. They need no script and print sharply: lines over time, curves over a load
//! (`curves`), changes with their intervals (`forest`).

pub mod curves;
pub mod forest;

use answers::verdict::Words;

use crate::captions::{clock, figure};
use crate::html::Html;
use crate::model::{Chart, Column, Timeline};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 58.0;
/// Width of a chart's right margin in SVG units, without and with a second axis.
const RIGHT: [f64; 2] = [18.0, 52.0];
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;
/// Largest number of points of a line. If a column has more values, neighbouring values are joined.
const MOST_POINTS: usize = 240;

/// The scale of a vertical axis.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    fn of<'c>(columns: impl Iterator<Item = &'c Column>, log: bool) -> Self {
        Self::over(columns.flat_map(Column::figures).map(|(_, value)| value), log)
    }

    fn over(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values {
            if !log || value > 0.0 {
                low = low.min(value);
                high = high.max(value);
            }
        }
        if high <= 0.0 || !low.is_finite() {
            return Self { low: 0.0, high: 1.0, log: false };
        }
        if !log {
            return Self { low: 0.0, high: high * 1.05, log };
        }
        let (low, high) = (10f64.powf(low.log10().floor()), 10f64.powf(high.log10().ceil()));
        Self { low, high: if high > low { high } else { low * 10.0 }, log }
    }

    /// Returns the relative position of a value on the axis, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.share(value) * (HEIGHT - TOP - BOTTOM)
    }

    /// Returns two to six round values for the ticks of the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let (from, to) = (self.low.log10().round() as i32, self.high.log10().round() as i32);
            let step = ((to - from) / 4).max(1) as usize;
            let between: &[f64] = if to - from < 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let powers = (from..=to).step_by(step).map(|power| 10f64.powi(power));
            let all = powers.flat_map(|power| between.iter().map(move |n| n * power));
            return all.filter(|value| *value <= self.high * 1.001).collect();
        }
        let raw = (self.high - self.low) / 4.0;
        let size = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * size).into_iter().find(|s| *s >= raw);
        let step = step.unwrap_or(raw);
        (0..=8).map(|n| f64::from(n) * step).take_while(|value| *value <= self.high).collect()
    }
}

/// Draws a chart of a timeline with its title and caption.
pub fn picture(out: &mut Html, timeline: &Timeline, chart: &Chart) {
    let columns: Vec<&Column> = chart.columns.iter().filter_map(|id| timeline.column(id)).collect();
    let Some(first) = columns.first() else { return };
    let units: Vec<&str> = columns.iter().fold(Vec::new(), |mut units, column| {
        if !units.contains(&column.unit) {
            units.push(column.unit);
        }
        units
    });
    let scales: Vec<(&str, Scale)> = units
        .iter()
        .map(|unit| {
            let of = columns.iter().copied().filter(|column| column.unit == *unit);
            (*unit, Scale::of(of, chart.log))
        })
        .collect();
    out.raw("<figure class=\"chart\"><h3>").words(&chart.title).raw("</h3>");
    out.raw("<svg class=\"small\" viewBox=\"0 0 480 190\" role=\"img\" aria-label=\"");
    out.text(&chart.title.en).raw("\">");
    let start = timeline.at_ms.first().copied().unwrap_or_default();
    let end = timeline.at_ms.last().copied().unwrap_or_default() + timeline.step_ms;
    let most = WIDTH - RIGHT[usize::from(scales.len() > 1)];
    let x = |ms: i64| LEFT + (ms - start) as f64 / (end - start).max(1) as f64 * (most - LEFT);
    axes(out, &scales, first.unit, start, end, x);
    behind(out, timeline, start, x);
    for (n, column) in columns.iter().enumerate() {
        let Some((_, scale)) = scales.iter().find(|(unit, _)| *unit == column.unit) else {
            continue;
        };
        line(out, timeline, column, n, scale, x);
    }
    out.raw("</svg>");
    key(out, &columns);
    out.raw("<figcaption>").words(&chart.caption).raw("</figcaption></figure>");
}

fn axes(
    out: &mut Html,
    scales: &[(&str, Scale)],
    unit: &str,
    start: i64,
    end: i64,
    x: impl Fn(i64) -> f64,
) {
    for (n, (of, scale)) in scales.iter().take(2).enumerate() {
        for value in scale.ticks() {
            let y = scale.y(value);
            if n == 0 {
                out.raw("<line class=\"grid\" x1=\"58\" x2=\"").number(x(end));
                out.raw("\" y1=\"").number(y).raw("\" y2=\"");
                out.number(y).raw("\"/><text class=\"tick end\" x=\"52\" y=\"").number(y + 4.0);
                out.raw("\">").text(&figure(value, unit)).raw("</text>");
            } else {
                out.raw("<text class=\"tick\" x=\"433\" y=\"").number(y + 4.0).raw("\">");
                out.text(&figure(value, of)).raw("</text>");
            }
        }
    }
    for at in moments(end - start) {
        out.raw("<text class=\"tick middle\" y=\"185\" x=\"").number(x(start + at)).raw("\">");
        out.text(&clock(at)).raw("</text>");
    }
}

/// Returns round times for the ticks of an axis of this length, at most six, all in ms.
fn moments(length: i64) -> impl Iterator<Item = i64> {
    const STEPS_S: [i64; 17] =
        [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200];
    let day = 86_400_000;
    let step = STEPS_S.into_iter().map(|s| s * 1000).find(|step| length / step <= 5);
    let step = step.unwrap_or_else(|| (length / (5 * day) + 1) * day);
    (0..=length / step).map(move |n| n * step)
}

/// Draws the background of a chart: the warm-up and the marks.
fn behind(out: &mut Html, timeline: &Timeline, start: i64, x: impl Fn(i64) -> f64) {
    if let Some(warm) = timeline.warmup_ms {
        out.raw("<rect class=\"shade\" x=\"58\" y=\"10\" height=\"158\" width=\"");
        out.number(x(start + warm) - LEFT).raw("\"/>");
    }
    for mark in &timeline.marks {
        let at = x(mark.at_ms).clamp(LEFT, WIDTH - RIGHT[0]);
        out.raw("<line class=\"mark\" y1=\"10\" y2=\"168\" x1=\"")
            .number(at)
            .raw("\" x2=\"")
            .number(at);
        out.raw("\"><title>").text(&mark.words.en).raw("</title></line>");
    }
}

/// Draws the line of a column. If the column has more than [`MOST_POINTS`] values, the largest of neighbouring values
/// is drawn, so that no peak disappears.
fn line(
    out: &mut Html,
    timeline: &Timeline,
    column: &Column,
    n: usize,
    scale: &Scale,
    x: impl Fn(i64) -> f64,
) {
    let class = ["series s0", "series s1", "series s2", "series s3", "series s4", "series s5"];
    let join = column.values.len().div_ceil(MOST_POINTS).max(1);
    out.raw("<g class=\"")
        .raw(class[n % class.len()])
        .raw("\"><title>")
        .text(&column.name.en)
        .raw("</title>");
    let mut points = Html::new();
    let flush = |points: &mut Html, out: &mut Html| {
        if !points.as_str().is_empty() {
            out.raw("<polyline class=\"line\" points=\"").append(points).raw("\"/>");
        }
        *points = Html::new();
    };
    for (chunk, values) in column.values.chunks(join).enumerate() {
        let most = values.iter().flatten().max().map(|value| *value as f64 * column.scale);
        let Some(value) = most.filter(|value| !scale.log || *value > 0.0) else {
            flush(&mut points, out);
            continue;
        };
        let at =
            timeline.at_ms[(chunk * join).min(timeline.at_ms.len() - 1)] + timeline.step_ms / 2;
        points
            .number((x(at) * 10.0).round() / 10.0)
            .raw(",")
            .number((scale.y(value) * 10.0).round() / 10.0);
        points.raw(" ");
    }
    flush(&mut points, out);
    out.raw("</g>");
}

fn key(out: &mut Html, columns: &[&Column]) {
    let class = ["swatch s0", "swatch s1", "swatch s2", "swatch s3", "swatch s4", "swatch s5"];
    out.raw("<ul class=\"legend\">");
    for (n, column) in columns.iter().enumerate() {
        let Words { en, zh } = &column.name;
        out.raw("<li><span class=\"")
            .raw(class[n % class.len()])
            .raw("\"></span><span class=\"hostile\">");
        out.words(&Words { en: en.clone(), zh: zh.clone() }).raw("</span></li>");
    }
    out.raw("</ul>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_on_an_axis_are_round() {
        let of = |s: i64| moments(s * 1000).map(|ms| ms / 1000).collect::<Vec<_>>();
        assert_eq!(of(40), [0, 10, 20, 30, 40]);
        assert_eq!(of(46), [0, 10, 20, 30, 40]);
        assert_eq!(of(3600), [0, 900, 1800, 2700, 3600]);
        assert_eq!(of(86_400), [0, 21_600, 43_200, 64_800, 86_400]);
        assert_eq!(of(0), [0]);
        for s in 1..2_000_000 {
            let n = moments(s * 1000).count();
            assert!((2..=6).contains(&n), "{n} in {s} s");
        }
    }
}
