//! The first screen of a comparison: whether the sides are comparable, what differs, each difference with its interval,
//! percentiles of both sides, and other changes.

use std::collections::HashMap;

use answers::compare::SERIES;
use answers::lines;
use answers::verdict::Words;
use stats::grouped::things;

use super::table::{Cell, Head, Table};
use super::utc;
use crate::captions::{clock, digits, figure, points, signed, time};
use crate::html::Html;
use crate::model::{
    About, AtLoad, Changed, ComparedRow as Row, ComparisonPage, Loads, Tails, words,
};
use crate::svg::curves::{Curve, Curves, Join, Spot, draw};
use crate::svg::forest::{Axis, Change, Tone};

/// Largest number of rows for labels. The page of changes shows all.
const MOST_ROWS: usize = 30;
/// Largest number of sentences about differences that are shown in large type.
const LARGE: usize = 6;

/// Words for the results of criteria on changes: passed, failed, undecided.
pub(crate) const LAMPS: [(&str, &str); 3] =
    [("passed", "通过"), ("failed", "失败"), ("undecided", "无法判定")];
/// Largest number of charts of percentiles that are not folded.
const PICTURES: usize = 2;

/// Returns the title of a comparison's page: the names of both sides.
pub(crate) fn title(page: &ComparisonPage) -> String {
    format!("{} – {}", name(&page.a), name(&page.b))
}

pub(crate) fn name(about: &About) -> &str {
    if about.run.is_empty() { &about.title } else { &about.run }
}

pub(crate) fn heading(out: &mut Html, page: &ComparisonPage) {
    out.raw("<div><h1 class=\"hostile\">").both("Comparison", "对比").raw("</h1>");
    for (side, about) in [("A", &page.a), ("B", &page.b)] {
        out.raw("<p class=\"hostile\"><strong>").text(side).raw("</strong> ").text(name(about));
        out.raw(" · ").words(&facts(about)).raw("</p>");
    }
    out.raw("</div>");
}

pub(crate) fn facts(about: &About) -> Words {
    let length = clock(about.length_ms);
    let (mut en, mut zh) = (utc(about.start_ms), utc(about.start_ms));
    en += &format!(" · {length} long");
    zh += &format!(" · 时长 {length}");
    if about.load.users > 0 {
        en += &format!(" · {}", things(about.load.users, "user"));
        zh += &format!(" · {} 个用户", about.load.users);
    }
    if let Some(rate) = about.load.rate {
        en += &format!(" · {} starts/s", digits(rate));
        zh += &format!(" · 每秒启动 {} 次", digits(rate));
    }
    words(en + " · " + &about.program, zh + " · " + &about.program)
}

pub(crate) fn screen(page: &ComparisonPage) -> Html {
    let mut out = Html::new();
    verdict(&mut out, page);
    super::lamps(&mut out, &page.criteria, LAMPS);
    differences(&mut out, page);
    out.raw("<section class=\"pictures\">");
    if let Some(loads) = &page.loads {
        draw(&mut out, &by_load(loads));
    }
    let (first, more) = page.tails.split_at(page.tails.len().min(PICTURES));
    for tails in first {
        draw(&mut out, &percentiles(tails));
    }
    out.raw("</section>");
    if !more.is_empty() {
        let n = more.len();
        out.raw("<details class=\"more\"><summary>").words(&words(
            format!("Percentiles of {}", things(n as u64, "further label")),
            format!("其余 {n} 个标签的百分位数"),
        ));
        out.raw("</summary><div class=\"pictures\">");
        for tails in more {
            draw(&mut out, &percentiles(tails));
        }
        out.raw("</div></details>");
    }
    if !page.changed.is_empty() {
        out.raw("<section>");
        changed(page).render(&mut out);
        out.raw("</section>");
    }
    out
}

fn verdict(out: &mut Html, page: &ComparisonPage) {
    out.raw("<section class=\"verdict\"><h2>").words(&lines::title()).raw("</h2>");
    for doubt in page.validity.iter().filter(|doubt| doubt.refuses) {
        out.raw("<p class=\"doubt hostile\">").both("Cannot be compared: ", "不能比较：");
        out.words(&doubt.words).raw(".</p>");
    }
    for (n, sentence) in page.sentences.iter().enumerate() {
        out.raw(if n < LARGE {
            "<p class=\"sentence hostile\">"
        } else {
            "<p class=\"why hostile\">"
        });
        out.words(sentence).raw("</p>");
    }
    for doubt in page.validity.iter().filter(|doubt| !doubt.refuses) {
        out.raw("<p class=\"why hostile\">").both("Warning: ", "注意：");
        out.words(&doubt.words).raw("</p>");
    }
    out.raw("</section>");
}

/// Returns the rows of the first screen, and the number of label rows that were cut. Rows of all requests come
/// first. Labels that differ follow with their different metrics, the largest changes first. The other labels
/// follow with their p95.
fn shown(page: &ComparisonPage) -> (Vec<&Row>, usize) {
    let (all, labels): (Vec<&Row>, Vec<&Row>) =
        page.rows.iter().partition(|row| row.label.is_none());
    let mut sizes: HashMap<Option<&str>, f64> = HashMap::new();
    for row in labels.iter().filter(|row| row.different) {
        let size = if row.unit == "share" { 0.0 } else { row.change.abs() };
        let most = sizes.entry(row.label.as_deref()).or_insert(0.0);
        *most = most.max(size);
    }
    let size = |row: &Row| sizes.get(&row.label.as_deref()).copied();
    let mut shown: Vec<&Row> = labels
        .into_iter()
        .filter(|row| {
            let is_told = row.metric.en.ends_with(" p95") || row.metric.en == SERIES;
            row.different || size(row).is_none() && is_told
        })
        .collect();
    shown.sort_by(|a, b| size(b).unwrap_or(-1.0).total_cmp(&size(a).unwrap_or(-1.0)));
    let more = shown.len().saturating_sub(MOST_ROWS);
    shown.truncate(MOST_ROWS);
    (all.into_iter().chain(shown).collect(), more)
}

fn differences(out: &mut Html, page: &ComparisonPage) {
    let (table, more) = changes(page);
    if table.rows.is_empty() {
        return;
    }
    out.raw("<section>");
    table.render(out);
    if page.rows.iter().any(|row| in_plot(row).is_some()) {
        out.raw("<p class=\"note\">").both(
            "A filled dot is a difference beyond chance that is large enough to count: red is worse, green is better. The shaded part around 0 is too small to count. Arrows: the interval goes on.",
            "实心点表示超出偶然且大到值得计入的差异：红色为变差，绿色为变好。0 附近的阴影部分太小，不计入。箭头表示区间超出坐标轴。",
        );
        out.raw("</p>");
    }
    if more > 0 {
        out.raw("<p class=\"note\">");
        out.words(&words(
            format!("{more} further rows are on the page of changes."),
            format!("其余 {more} 行见变化页。"),
        ))
        .raw("</p>");
    }
    for note in &page.notes {
        out.raw("<p class=\"note hostile\">").words(note).raw("</p>");
    }
    out.raw("</section>");
}

/// Returns the table of changes, and the number of label rows that were cut.
pub(crate) fn changes(page: &ComparisonPage) -> (Table, usize) {
    let (rows, more) = shown(page);
    let plotted: Vec<Change> = rows.iter().filter_map(|row| in_plot(row)).collect();
    let axis = Axis::over(&plotted);
    let mut picture = Html::new();
    picture.raw("<span class=\"visually-hidden\">").both("Picture", "图示").raw("</span>");
    if !plotted.is_empty() {
        axis.head(&mut picture);
    }
    let table = Table {
        name: "Changes",
        title: words("Changes from A to B", "从 A 到 B 的变化"),
        heads: vec![
            Head::text(words("Label", "标签")),
            Head::text(words("Figure", "指标")),
            Head::number(words("A", "A")),
            Head::number(words("B", "B")),
            Head::number(words("Change", "变化")),
            Head::number(words("95 % interval", "95 % 区间")),
            Head { markup: Some(picture), ..Head::text(words("", "")) },
        ],
        rows: rows.into_iter().map(|row| line(row, &axis)).collect(),
    };
    (table, more)
}

/// Returns the change for the forest plot. Error rates are left out, because their changes are in percentage points and
/// have no common axis with relative changes.
fn in_plot(row: &Row) -> Option<Change> {
    let (low, high) = (row.low?, row.high?);
    (row.unit != "share").then(|| Change {
        low,
        change: row.change,
        high,
        floor: row.floor,
        tone: match row.different {
            true if row.is_worse() => Tone::Worse,
            true if row.is_better() => Tone::Better,
            _ => Tone::None,
        },
    })
}

fn line(row: &Row, axis: &Axis) -> Vec<Cell> {
    let (sign, class) = match row.different {
        true if row.is_worse() => ("❌", "n bad"),
        true if row.is_better() => ("✅", "n good"),
        true => ("", "n"),
        false => ("", "n few"),
    };
    let change = moved(row.change, row.unit);
    let mut shown = Html::new();
    shown.words(&change);
    if row.is_open {
        shown.raw(" (").words(&row.state).raw(")");
    }
    let interval = match row.low.zip(row.high) {
        Some((low, high)) => {
            let (low, high) = (moved(low, row.unit), moved(high, row.unit));
            words(format!("{} … {}", low.en, high.en), format!("{} … {}", low.zh, high.zh))
        }
        None => words("–", "–"),
    };
    let mut picture = Html::new();
    if let Some(change) = in_plot(row) {
        axis.row(&mut picture, &change);
    }
    vec![
        match &row.label {
            Some(label) => Cell::name(label),
            None => Cell::words(words("all requests", "所有请求")).class("hostile"),
        },
        Cell::words(row.metric.clone()),
        Cell::number(row.a, figure(row.a, row.unit)),
        Cell::number(row.b, figure(row.b, row.unit)),
        Cell { value: Some(row.change), ..Cell::words(change).markup(class, shown) },
        Cell { value: row.low, ..Cell::words(interval).class("n") },
        Cell::words(row.state.clone()).sign(sign).markup("plot", picture),
    ]
}

/// Formats a change with its sign, in percentage points for fractions.
fn moved(change: f64, unit: &str) -> Words {
    if unit == "share" { points(change) } else { words(signed(change), signed(change)) }
}

/// Formats a fraction below 1 as percent with one digit after the last nine, such as `99.95 %`. Rounding to three
/// digits would show 100 %.
fn nines(share: f64) -> String {
    let decimals = (-(1.0 - share).max(1e-9).log10() - 1.0 + 1e-9).floor().max(0.0) as usize;
    format!("{:.decimals$} %", share * 100.0)
}

/// Builds the chart of a time of both sides over the load. The limit of a criterion is a line above side A.
fn by_load(of: &Loads) -> Curves {
    let curve = |name: Words, join, us: &dyn Fn(&AtLoad) -> f64| Curve {
        name,
        spots: of.at.iter().map(|at| Spot { x: at.load, y: us(at), ..Spot::default() }).collect(),
        join,
        dots: join != Join::Dashed,
    };
    let mut curves = vec![
        curve(words("A", "A"), Join::Line, &|at| at.a_us),
        curve(words("B", "B"), Join::Line, &|at| at.b_us),
    ];
    if let Some(limit) = of.limit {
        let text = signed(limit);
        let name = words(format!("limit: A {text}"), format!("上限：A {text}"));
        curves.push(curve(name, Join::Dashed, &|at| at.a_us * (1.0 + limit)));
    }
    let shown = |at: Option<&AtLoad>| {
        at.map_or_else(Default::default, |at| (digits(at.load), time(at.a_us), time(at.b_us)))
    };
    let ((from, a_from, b_from), (to, a_to, b_to)) = (shown(of.at.first()), shown(of.at.last()));
    Curves {
        title: words(format!("{} by load", of.name.en), format!("各负载下的{}", of.name.zh)),
        caption: words(
            format!("At load {from}: A {a_from}, B {b_from}. At load {to}: A {a_to}, B {b_to}."),
            format!("负载 {from}：A {a_from}，B {b_from}。负载 {to}：A {a_to}，B {b_to}。"),
        ),
        across: words("Load", "负载"),
        log_x: false,
        log_y: false,
        ticks: of.at.iter().map(|at| (at.load, digits(at.load))).collect(),
        show: time,
        curves,
        limit: None,
    }
}

fn percentiles(of: &Tails) -> Curves {
    let curve = |name: &str, values: &[u64], join| Curve {
        name: words(name, name),
        spots: of
            .p
            .iter()
            .zip(values)
            .map(|(p, us)| Spot { x: 1.0 / (1.0 - p).max(1e-9), y: *us as f64, ..Spot::default() })
            .collect(),
        join,
        dots: false,
    };
    let last = of.p.last().copied().unwrap_or(0.0);
    let all = nines(last);
    let shown = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
    let name = |p: f64| if p == 0.0 { "min".to_owned() } else { format!("p{}", digits(p * 100.0)) };
    let at = |values: &[u64]| values.last().map_or_else(String::new, |us| time(*us as f64));
    // The 90 % mark is the only mark on the axis that the table above contains, too.
    let tenth = of.p.iter().position(|p| (*p - 0.9).abs() < 1e-9).filter(|_| last > 0.9);
    let most = |values: &[u64]| {
        tenth.and_then(|n| values.get(n)).map_or_else(String::new, |us| time(*us as f64))
    };
    let (a, b) = (most(&of.a_us), most(&of.b_us));
    let first = match tenth {
        Some(_) => words(
            format!("90 % of A's requests took at most {a}, of B's {b}; "),
            format!("A 的 90 % 请求不超过 {a}，B 为 {b}；"),
        ),
        None => words("", ""),
    };
    Curves {
        title: match &of.label {
            None => words("Percentiles of both: all requests", "双方的百分位数：所有请求"),
            Some(label) => {
                words(format!("Percentiles of both: {label}"), format!("双方的百分位数：{label}"))
            }
        },
        caption: words(
            format!("{}{all} of A's at most {}, of B's {}.", first.en, at(&of.a_us), at(&of.b_us)),
            format!("{}A 的 {all} 不超过 {}，B 为 {}。", first.zh, at(&of.a_us), at(&of.b_us)),
        ),
        across: words("Percentile (log scale)", "百分位（对数刻度）"),
        log_x: true,
        log_y: true,
        ticks: shown
            .into_iter()
            .filter(|p| *p <= last)
            .map(|p| (1.0 / (1.0 - p), name(p)))
            .collect(),
        show: time,
        curves: vec![curve("A", &of.a_us, Join::Line), curve("B", &of.b_us, Join::Dashed)],
        limit: None,
    }
}

/// Returns the table of changes that are not in the table of metrics: errors by cause, connections, addresses, watched
/// hosts and settings.
pub(crate) fn changed(page: &ComparisonPage) -> Table {
    let row = |one: &Changed| {
        let what = Cell::words(one.what.clone()).class("hostile");
        vec![what, Cell::name(&one.a), Cell::name(&one.b)]
    };
    Table {
        name: "Also changed",
        title: words("Also changed", "其他变化"),
        heads: [("What", "内容"), ("A", "A"), ("B", "B")]
            .map(|(en, zh)| Head::text(words(en, zh)))
            .into(),
        rows: page.changed.iter().map(row).collect(),
    }
}
