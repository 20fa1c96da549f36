//! Text output of a sweep: first the conclusion, then the table, then the excluded points.

use answers::shared::Shared;
use report::model::sweep as page;

use super::super::figures::{fitted, load, number, percent};
use super::point::{Point, Quantile};
use super::{FILE, Sweep, verdicts};

/// Formats one point as a line that is printed when the point is finished.
pub(super) fn line(point: &Point) -> String {
    let figures = &point.figures;
    format!("{}/s, response mean {} ms, {}", number(figures.rate), number(figures.mean), end(point))
}

/// Returns the reason why a point of the sweep ended.
fn end(point: &Point) -> String {
    match point.precision {
        Some(precision) if point.precise => {
            format!("mean known to ±{} in {:.0} s", percent(precision), point.seconds)
        }
        Some(precision) => {
            format!("time was up after {:.0} s with ±{}", point.seconds, percent(precision))
        }
        None => format!("too short for a confidence interval ({:.0} s)", point.seconds),
    }
}

pub(super) fn page(sweep: &Sweep) -> String {
    let unit = if sweep.axis == "users" { "users" } else { "starts/s" };
    let points: Vec<_> = sweep.points.iter().map(Point::on_page).collect();
    let told = page::sentences(&points, &sweep.model, sweep.axis());
    let mut out: String = told.into_iter().map(|words| words.en + "\n").collect();
    out.push_str(&verdicts::text(&sweep.points, unit));
    out.push('\n');
    let heading = [
        unit,
        "/s",
        "mean ms",
        "±",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "p99 from … to",
        "errors",
        "KiB/s in",
        "out",
        "s",
        "ended by",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(sweep.points.iter().map(row));
    out.push_str(&fitted(&rows, &GIVE_WAY, FILE));
    out.push_str("Times are response times.\n");
    out.push_str(&notes(sweep));
    out
}

/// Columns that are left out first on a narrow terminal: traffic, the interval of p99, p50, seconds, precision (±).
const GIVE_WAY: [usize; 6] = [10, 9, 7, 4, 11, 3];

fn row(point: &Point) -> Vec<String> {
    let figures = &point.figures;
    let quantile =
        |q: &Quantile| if q.few { format!("({})", number(q.value)) } else { number(q.value) };
    let interval = match (figures.p99.low, figures.p99.high) {
        (Some(low), Some(high)) => format!("{} … {}", number(low), number(high)),
        _ => "too few".to_owned(),
    };
    let mark = if point.excluded.is_some() { " ○" } else { "" };
    vec![
        format!("{}{mark}", load(point.load)),
        number(figures.rate),
        number(figures.mean),
        point.precision.map_or_else(|| "-".to_owned(), percent),
        quantile(&figures.p50),
        quantile(&figures.p95),
        quantile(&figures.p99),
        interval,
        percent(figures.errors),
        number(figures.received),
        number(figures.sent),
        format!("{:.0}", point.seconds),
        if point.precise { "precision" } else { "time" }.to_owned(),
    ]
}

fn notes(sweep: &Sweep) -> String {
    let mut out = String::new();
    let mut note = |text: String| out.push_str(&format!("- {text}\n"));
    if sweep.model.chosen.is_none() {
        for refusal in &sweep.model.refusals {
            note(format!("no model: {}", page::refusal(refusal).en));
        }
    }
    let listed = |loads: &[f64]| loads.iter().copied().map(load).collect::<Vec<_>>().join(", ");
    let excluded = sweep.points.iter().filter_map(|p| Some((p.load, p.excluded.clone()?)));
    for (loads, why) in page::grouped(excluded) {
        let (at, verb) = (listed(&loads), if loads.len() == 1 { "is" } else { "are" });
        note(format!("{at} (○) {verb} not used for the model: {}", why.en));
    }
    for point in sweep.points.iter().filter(|point| point.warm_up.seconds > 0) {
        let (at, with, without) = (load(point.load), &point.with_warm_up, &point.figures);
        note(format!(
            "{at}: the first {} s are warm-up and not in the table: with them {}/s, response mean {} ms, response p99 {} ms; without {}/s, {} ms, {} ms",
            point.warm_up.seconds,
            number(with.rate),
            number(with.mean),
            number(with.p99.value),
            number(without.rate),
            number(without.mean),
            number(without.p99.value)
        ));
    }
    let unsteady = sweep.points.iter().filter(|point| point.warm_up.unsteady);
    let unsteady: Vec<f64> = unsteady.map(|point| point.load).collect();
    if !unsteady.is_empty() {
        note(format!("{}: the run did not become steady", listed(&unsteady)));
    }
    let shared = sweep.points.iter().filter(|point| point.shared.is_some());
    let loads: Vec<String> = shared.clone().map(|point| load(point.load)).collect();
    if let Some(shared) = Shared::together(shared.filter_map(|point| point.shared.as_ref())) {
        let (at, words) = (loads.join(", "), shared.words());
        note(format!("{at}: {words}: on a machine of its own the target may do more"));
    }
    if sweep.points.iter().any(|point| point.warm_up.not_looked_for) {
        note("no warm-up was looked for in points shorter than 20 s".to_owned());
    }
    if sweep.points.iter().any(|point| point.figures.p99.few) {
        note("(…): too few independent samples for that percentile".to_owned());
    }
    if !sweep.not_run.is_empty() {
        let loads: Vec<String> = sweep.not_run.iter().map(|at| load(*at)).collect();
        note(format!("not run: {}", loads.join(", ")));
    }
    out
}
