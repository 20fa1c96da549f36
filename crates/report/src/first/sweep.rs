//! The first screen of a sweep: the answer, the verdict on its points, rate and response time over the load, the
//! points. The page of a sweep shows them in no other place.

use answers::criterion::Times;

use super::answer;
use super::table::{Cell, Head, Table};
use crate::captions::numbers::{load, number};
use crate::captions::{mean, share, time, timed};
use crate::html::Html;
use crate::model::sweep::{Point, StoppedBy};
use crate::model::{SweepPage, Words, words};
use crate::svg::curves::{Curve, Curves, Join, Spot, draw};

/// Ratio of the largest to the smallest load from which the axis is logarithmic.
const WIDE: f64 = 8.0;
/// Percentiles in the chart and the table of a sweep.
const SHOWN: [f64; 3] = [0.5, 0.95, 0.99];

pub(crate) fn heading(out: &mut Html, page: &SweepPage) {
    let n = page.points.len();
    answer::heading(
        out,
        ("Sweep", "阶梯测试"),
        &page.about,
        &words(format!("{n} points"), format!("{n} 个测点")),
    );
}

pub(crate) fn screen(page: &SweepPage) -> Html {
    let mut out = Html::new();
    answer::section(&mut out, &page.sentences, std::slice::from_ref(&page.model.words));
    super::verdict(&mut out, &page.verdict);
    out.raw("<section class=\"pictures\">");
    draw(&mut out, &rate(page));
    draw(&mut out, &response(page));
    out.raw("</section>");
    out.raw("<section>");
    points(page).render(&mut out);
    out.raw("<p class=\"note\">").both(
        "Small print: 95 % intervals. Italics: too few independent samples for the percentile. Bars: grey is the ramp, ochre the warm-up (not counted), blue the measured part.",
        "小字：95 % 区间。斜体：独立样本太少。条形：灰色为用户启动阶段，赭色为预热（不计入任何数据），蓝色为计入部分。",
    );
    out.raw("</p></section>");
    answer::notes(&mut out, &page.notes);
    out
}

fn ticks(page: &SweepPage) -> Vec<(f64, String)> {
    page.points.iter().map(|point| (point.load, load(point.load))).collect()
}

fn is_wide(page: &SweepPage) -> bool {
    let loads = || page.points.iter().map(|point| point.load);
    let (least, most) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
    least > 0.0 && most / least >= WIDE
}

fn rate(page: &SweepPage) -> Curves {
    let spot = |point: &Point| Spot {
        x: point.load,
        y: point.rate_per_s,
        low: point.rate_low,
        high: point.rate_high,
        hollow: point.excluded.is_some(),
    };
    let measured = Curve {
        name: words("measured, with 95 % intervals", "实测，附 95 % 区间"),
        spots: page.points.iter().map(spot).collect(),
        join: if page.model.curve.is_empty() { Join::Dashed } else { Join::None },
        dots: true,
    };
    let mut curves = vec![measured];
    if !page.model.curve.is_empty() {
        let spots = page.model.curve.iter().map(|(x, y)| Spot { x: *x, y: *y, ..Spot::default() });
        let name = page.model.name;
        curves.push(Curve {
            name: words(format!("model: {name}"), format!("模型：{name}")),
            spots: spots.collect(),
            join: Join::Line,
            dots: false,
        });
    }
    Curves {
        title: words("Rate by load", "各负载下的速率"),
        caption: Words {
            en: format!("{} {}", page.caption.en, page.model.words.en),
            zh: format!("{}{}", page.caption.zh, page.model.words.zh),
        },
        across: page.axis.name(),
        log_x: is_wide(page),
        log_y: false,
        ticks: ticks(page),
        show: |value| format!("{}/s", number(value)),
        curves,
        limit: None,
    }
}

fn response(page: &SweepPage) -> Curves {
    let of = |p: f64| {
        let spot = |point: &Point| {
            let found = point.quantile(p)?;
            let hollow = point.excluded.is_some() || !found.enough;
            Some(Spot { x: point.load, y: found.us, low: found.low, high: found.high, hollow })
        };
        Curve {
            name: timed(Times::Response, &format!("p{}", p * 100.0)),
            spots: page.points.iter().filter_map(spot).collect(),
            join: Join::Line,
            dots: true,
        }
    };
    let at = |point: Option<&Point>| {
        let p95 = point.and_then(|point| point.quantile(0.95));
        (
            p95.map_or_else(|| "–".into(), |found| time(found.us)),
            point.map_or_else(|| words("", ""), |point| page.axis.at(point.load)),
        )
    };
    let (first, last) = (at(page.points.first()), at(page.points.last()));
    Curves {
        title: words("Response time by load", "各负载下的响应时间"),
        caption: words(
            format!(
                "Response p95: {} at {}, {} at {}. Hollow points: too few samples, or not used for the model.",
                first.0, first.1.en, last.0, last.1.en
            ),
            format!(
                "响应时间 p95：{}时 {}，{}时 {}。空心圈：样本太少，或模型未采用。",
                first.1.zh, first.0, last.1.zh, last.0
            ),
        ),
        across: page.axis.name(),
        log_x: is_wide(page),
        log_y: true,
        ticks: ticks(page),
        show: time,
        curves: SHOWN.into_iter().map(of).collect(),
        limit: None,
    }
}

/// Returns the table of points.
pub(crate) fn points(page: &SweepPage) -> Table {
    let longest = page.points.iter().map(whole).fold(0.0, f64::max);
    Table {
        name: "Points",
        title: words("Points", "测点"),
        heads: vec![
            Head::number(page.axis.name()),
            Head { has_intervals: true, ..Head::number(words("Rate", "速率")) },
            Head::number(mean(Times::Response)),
            Head::number(timed(Times::Response, "p50")),
            Head::number(timed(Times::Response, "p95")),
            Head::number(timed(Times::Response, "p99")),
            Head::number(words("Errors", "错误率")),
            Head::number(words("In flight", "在途")),
            Head::text(words("Seconds", "秒数")),
            Head::text(words("Ended by", "结束原因")),
        ],
        rows: page.points.iter().map(|point| row(point, longest)).collect(),
    }
}

/// Returns the whole length of a sweep's point in seconds, including ramp and warm-up.
fn whole(point: &Point) -> f64 {
    point.ramp_s + point.warmup_s + point.length_s
}

fn row(point: &Point, longest: f64) -> Vec<Cell> {
    let excluded = if point.excluded.is_some() { " ○" } else { "" };
    let rate = Cell::number(point.rate_per_s, format!("{}/s", number(point.rate_per_s)));
    let mut cells = vec![
        Cell::number(point.load, format!("{}{excluded}", load(point.load))),
        rate.within(point.rate_low, point.rate_high, number),
        Cell::number(point.mean_us, time(point.mean_us)).within(
            point.mean_low,
            point.mean_high,
            time,
        ),
    ];
    cells.extend(SHOWN.map(|p| Cell::quantile(point.quantile(p), time)));
    let errors = Cell::number(point.error_share, share(point.error_share));
    let length = Cell::number(point.length_s, format!("{:.0}", point.length_s));
    cells.extend([
        if point.error_share > 0.0 { errors.class("n bad") } else { errors },
        Cell::number(point.in_flight, number(point.in_flight)),
        length.markup("plot", span(point, longest)),
        Cell::words(match point.stopped_by {
            StoppedBy::Precision => words("precision", "精度"),
            StoppedBy::Time => words("time", "时间"),
        }),
    ]);
    cells
}

/// Draws the seconds of a sweep's point as a bar: ramp, warm-up, evaluated part.
fn span(point: &Point, longest: f64) -> Html {
    let mut out = Html::new();
    let scale = 120.0 / longest.max(1e-9);
    out.raw("<svg class=\"span\" viewBox=\"0 0 160 14\" role=\"img\" aria-label=\"");
    let parts = format!(
        "{} s of ramp, {} s of warm-up, {} s count",
        number(point.ramp_s),
        number(point.warmup_s),
        number(point.length_s)
    );
    out.text(&parts).raw("\"><title>").text(&parts).raw("</title>");
    let mut from = 0.0;
    for (class, seconds) in [
        ("<rect class=\"ramp\"", point.ramp_s),
        ("<rect class=\"warm\"", point.warmup_s),
        ("<rect class=\"counted\"", point.length_s),
    ] {
        if seconds > 0.0 {
            out.raw(class).raw(" y=\"2\" height=\"10\" x=\"").number(from * scale);
            out.raw("\" width=\"").number(seconds * scale).raw("\"/>");
            from += seconds;
        }
    }
    out.raw("<text class=\"tick\" y=\"11\" x=\"").number(from * scale + 4.0).raw("\">");
    out.text(&format!("{} s", point.length_s.round())).raw("</text></svg>");
    out
}
