//! The first screen of a search for capacity: the answer, criteria at the lower bound, what limited the load, the
//! probes. The page of a search shows them in no other place.

use answers::criterion::Times;

use super::answer;
use super::table::{Cell, Head, Table};
use crate::captions::numbers::{load, number};
use crate::captions::{grouped, time, timed};
use crate::html::Html;
use crate::model::capacity::{Held, Probe};
use crate::model::sweep::StoppedBy;
use crate::model::{CapacityPage, Words, words};
use crate::svg::curves::{Curve, Curves, Join, Spot, draw};

pub(crate) fn heading(out: &mut Html, page: &CapacityPage) {
    let n = page.probes.len();
    let runs = words(format!("{n} probes"), format!("{n} 次试探"));
    answer::heading(out, ("Capacity", "容量"), &page.about, &runs);
}

pub(crate) fn screen(page: &CapacityPage) -> Html {
    let mut out = Html::new();
    answer::section(&mut out, &page.sentences, &page.notes);
    bounds(&mut out, page);
    super::criteria(&mut out, &page.criteria);
    out.raw("<p class=\"note\">").words(&page.limited_by).raw("</p>");
    super::verdict(&mut out, &page.verdict);
    out.raw("<section class=\"pictures\">");
    draw(&mut out, &ladder(page));
    if let Some(chart) = by_load(page) {
        draw(&mut out, &chart);
    }
    out.raw("</section>");
    out.raw("<section>");
    probes(page).render(&mut out);
    out.raw("</section>");
    out
}

fn bounds(out: &mut Html, page: &CapacityPage) {
    let shown = |bound: Option<f64>| bound.map_or_else(|| "–".into(), load);
    out.raw("<section><dl class=\"facts\"><div><dt>");
    if page.answer.at_least {
        out.both("Holds, at least", "达标，至少");
    } else {
        out.both("Holds up to", "达标上限");
    }
    let unit = page.axis.unit();
    out.raw("</dt><dd>").text(&shown(page.answer.lower)).raw(" <small>").words(&unit);
    out.raw("</small></dd></div><div><dt>").both("Does not hold at", "未达标");
    out.raw("</dt><dd>").text(&shown(page.answer.upper)).raw(" <small>").words(&unit);
    out.raw("</small></dd></div></dl></section>");
}

fn name(of: Held) -> Words {
    match of {
        Held::Good => words("held", "达标"),
        Held::Bad => words("did not hold", "未达标"),
        Held::Doubtful => words("inconclusive", "无法判定"),
    }
}

/// Returns the probes as one curve per result. Results without probes are left out.
fn curves(page: &CapacityPage, spot: impl Fn(usize, &Probe) -> Option<Spot>) -> Vec<Curve> {
    let kinds = [Held::Good, Held::Bad, Held::Doubtful].into_iter();
    let curve = |kind: Held| Curve {
        name: name(kind),
        spots: page
            .probes
            .iter()
            .enumerate()
            .filter(|(_, probe)| probe.verdict == kind)
            .filter_map(|(n, probe)| spot(n, probe))
            .map(|spot| Spot { hollow: kind != Held::Good, ..spot })
            .collect(),
        join: Join::None,
        dots: true,
    };
    kinds.map(curve).collect()
}

fn ladder(page: &CapacityPage) -> Curves {
    let unit = page.axis.unit();
    Curves {
        title: words(
            format!("Probes in order, {}", unit.en),
            format!("按顺序的试探（{}）", unit.zh),
        ),
        caption: page.caption.clone(),
        across: words("Probe", "试探"),
        log_x: false,
        log_y: true,
        ticks: (1..=page.probes.len()).map(|n| (n as f64, n.to_string())).collect(),
        show: load,
        curves: curves(page, |n, probe| {
            Some(Spot { x: n as f64 + 1.0, y: probe.load, ..Spot::default() })
        }),
        limit: None,
    }
}

/// Builds the chart of the judged time over the load, with the limit as a line. Without a criterion about times,
/// the chart shows p99. Returns `None` if no probe has such a time.
fn by_load(page: &CapacityPage) -> Option<Curves> {
    let mut ticks: Vec<(f64, String)> =
        page.probes.iter().map(|probe| (probe.load, load(probe.load))).collect();
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let value = |probe: &Probe| {
        let us = if page.judged.is_some() { probe.judged_us } else { Some(probe.p99_us) };
        us.filter(|us| *us > 0.0)
    };
    let by_load = |a: &&Probe, b: &&Probe| a.load.total_cmp(&b.load);
    let known = || page.probes.iter().filter(|probe| value(probe).is_some());
    let shown = |probe: &Probe| Some((page.axis.at(probe.load), time(value(probe)?)));
    let (from, first) = shown(known().min_by(by_load)?)?;
    let (to, last) = shown(known().max_by(by_load)?)?;
    let name =
        page.judged.as_ref().map_or_else(|| timed(Times::Response, "p99"), |of| of.name.clone());
    let limit = page.judged.as_ref().map(|of| {
        let limit = time(of.limit_us);
        (of.limit_us, words(format!("limit {limit}"), format!("上限 {limit}")))
    });
    let (end, end_zh) = limit
        .as_ref()
        .map_or_else(Default::default, |(_, of)| (format!("; {}", of.en), format!("；{}", of.zh)));
    Some(Curves {
        title: words(format!("{} by load", name.en), format!("各负载下的{}", name.zh)),
        caption: words(
            format!("{}: {first} at {}, {last} at {}{end}.", name.en, from.en, to.en),
            format!("{}：{}时 {first}，{}时 {last}{end_zh}。", name.zh, from.zh, to.zh),
        ),
        across: page.axis.name(),
        log_x: true,
        log_y: true,
        ticks,
        show: time,
        curves: curves(page, |_, probe| {
            value(probe).map(|us| Spot { x: probe.load, y: us, ..Spot::default() })
        }),
        limit,
    })
}

/// Returns the table of probes.
pub(crate) fn probes(page: &CapacityPage) -> Table {
    Table {
        name: "Probes",
        title: words("Probes", "试探"),
        heads: vec![
            Head::text(words("Probe", "试探")),
            Head::number(page.axis.name()),
            Head::number(words("Succeeded", "成功")),
            Head::number(words("In flight", "在途")),
            Head::number(timed(Times::Response, "p50")),
            Head::number(timed(Times::Response, "p99")),
            Head::number(words("Samples", "样本数")),
            Head::number(words("Seconds", "秒数")),
            Head::text(words("Ended by", "结束原因")),
            Head::number(words("Windows held", "达标时段")),
            Head::text(words("Result", "结果")),
        ],
        rows: page.probes.iter().enumerate().map(|(n, probe)| row(n + 1, probe)).collect(),
    }
}

/// Returns the row of probe number `n`.
fn row(n: usize, probe: &Probe) -> Vec<Cell> {
    let Words { en, zh } = &probe.kind;
    let windows = probe.good + probe.bad;
    // A probe without windows counts as one trial.
    let in_windows = if windows > 1 {
        Cell {
            value: Some(probe.good as f64 / windows as f64),
            class: "n",
            ..Cell::words(words(
                format!("{} of {windows}", probe.good),
                format!("{} / {windows}", probe.good),
            ))
        }
    } else {
        Cell::text("–").class("n")
    };
    let (sign, class) = match probe.verdict {
        Held::Good => ("✅", "hostile"),
        Held::Bad => ("❌", "hostile bad"),
        Held::Doubtful => ("⚠️", "hostile bad"),
    };
    vec![
        Cell {
            value: Some(n as f64),
            ..Cell::words(words(format!("{n} {en}"), format!("{n} {zh}")))
        },
        Cell::number(probe.load, load(probe.load)),
        Cell::number(probe.rate_per_s, format!("{}/s", number(probe.rate_per_s))),
        Cell::number(probe.in_flight, number(probe.in_flight)),
        Cell::number(probe.p50_us, time(probe.p50_us)),
        Cell::number(probe.p99_us, time(probe.p99_us)),
        Cell::number(probe.samples as f64, grouped(probe.samples as f64)),
        Cell::number(probe.length_s, format!("{:.0}", probe.length_s)),
        Cell::words(match probe.stopped_by {
            StoppedBy::Precision => words("clear", "已明确"),
            StoppedBy::Time => words("time", "时间"),
        }),
        in_windows,
        Cell::words(probe.words.clone()).sign(sign).class(class),
    ]
}
