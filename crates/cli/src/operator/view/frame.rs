//! Formats the view as lines: a pure function of the state and the terminal's size and abilities.

use answers::lines::too_early;
use record::{Lamp, State};

use super::chart::bars;
use super::text::{Line, Look, Style, clock, count, percent, rate, things, time, width};
use super::{Moment, View};

/// Terminal height below which the view is a single line.
const FEW: usize = 8;
/// Width in columns of a chart's name.
const NAME: usize = 8;
/// Width in columns of a chart's current value.
const VALUE: usize = 12;
/// Width in columns of a chart's largest value.
const MOST: usize = 15;
/// Terminal width below which charts do not show their largest value.
const NARROW: usize = 60;
/// Largest height of a chart in lines.
const TALL: usize = 8;

/// Size of a terminal in columns and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

/// A line with its colour codes, and its width in columns.
pub(crate) type Drawn = (String, usize);

/// Returns the lines of the view for a terminal of this size. The last line and the last column of the terminal stay
/// free.
pub(crate) fn lines(view: &View, size: Size, look: Look) -> Vec<Drawn> {
    let limit = size.columns.saturating_sub(1).max(1);
    let frame = Frame { view, limit, look };
    if size.lines < FEW || size.columns < 2 * NAME {
        return vec![frame.one()];
    }
    let plan = Plan::of(view, size.lines - 1);
    let mut out = frame.head();
    frame.charts(&plan, &mut out);
    frame.criteria(plan.criteria, &mut out);
    frame.answers(plan.answers, &mut out);
    frame.errors(plan.errors, &mut out);
    frame.generator(plan.generator, &mut out);
    frame.findings(plan.findings, &mut out);
    frame.labels(plan.labels, &mut out);
    let mut spaced = Vec::with_capacity(out.len() + plan.blanks);
    let mut blanks = plan.blanks;
    for (section, line) in out {
        if section && !spaced.is_empty() && blanks > 0 {
            blanks -= 1;
            spaced.push((String::new(), 0));
        }
        spaced.push(line);
    }
    spaced
}

/// Number of lines for each section of the view.
#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    /// Height in lines of each of the charts of rate and p95.
    tall: usize,
    /// True if the charts have a time axis.
    axis: bool,
    criteria: usize,
    answers: usize,
    errors: usize,
    generator: usize,
    findings: usize,
    /// Lines of the table of labels, including its heading.
    labels: usize,
    /// Number of blank lines between sections.
    blanks: usize,
}

/// Number of lines that are not yet assigned.
struct Room(usize);

impl Room {
    /// Takes up to `wanted` lines. Returns the number of lines taken.
    fn some(&mut self, wanted: usize) -> usize {
        let taken = wanted.min(self.0);
        self.0 -= taken;
        taken
    }

    /// Takes `wanted` lines if that many are left, otherwise none. Returns true if the lines were taken.
    fn all(&mut self, wanted: usize) -> bool {
        let is_there = wanted <= self.0;
        self.0 -= if is_there { wanted } else { 0 };
        is_there
    }
}

impl Plan {
    /// Divides the lines among the sections: first the problems, then the minimum of each section, then the rest.
    fn of(view: &View, lines: usize) -> Self {
        // The head takes two lines; the charts of users, rate, p95 and errors take four.
        let mut room = Room(lines.saturating_sub(2 + 4));
        let (_, labels) = view.rows(0);
        let (causes, lamps) = (view.causes.len(), view.lamps.len());
        let doubts = view.generator().iter().filter(|(doubtful, _)| *doubtful).count();
        let mut plan = Self { tall: 1, ..Self::default() };
        plan.generator = room.some(doubts.min(1));
        plan.criteria = room.some(lamps.min(1));
        plan.errors = room.some(causes.min(1));
        plan.criteria += room.some(lamps.min(4) - plan.criteria);
        let with_heading = |rows: usize| if labels == 0 { 0 } else { 1 + labels.min(rows) };
        plan.labels = room.some(with_heading(3));
        // A heading without rows is left out.
        plan.labels = if plan.labels < 2 { 0 } else { plan.labels };
        plan.findings = room.some(view.findings.len().min(1));
        let answers = view.answers.said().len();
        plan.answers = room.some(answers.min(3));
        plan.errors += room.some(causes.min(3) - plan.errors);
        let sections = [lamps, causes, doubts, labels].iter().filter(|n| **n > 0).count();
        plan.blanks = room.some(1 + sections);
        plan.labels += room.some(with_heading(8).saturating_sub(plan.labels));
        plan.generator += room.some(1 - plan.generator);
        plan.findings += room.some(view.findings.len().min(3) - plan.findings);
        plan.axis = room.all(1);
        plan.findings += room.some(usize::from(view.early && view.findings.is_empty()));
        // Charts of several lines are separated by blank lines.
        if room.all(3 + 2 * 2) {
            plan.blanks += 3;
            plan.tall = 3;
        }
        plan.criteria += room.some(lamps.min(10) - plan.criteria);
        plan.answers += room.some(answers.min(8) - plan.answers);
        plan.labels += room.some(with_heading(20).saturating_sub(plan.labels));
        plan.errors += room.some(causes.min(8).saturating_sub(plan.errors));
        while plan.tall > 1 && plan.tall < TALL && room.all(2) {
            plan.tall += 1;
        }
        plan.labels += room.some(with_heading(usize::MAX).saturating_sub(plan.labels));
        plan
    }
}

/// State for building the sections of a frame.
struct Frame<'a> {
    view: &'a View,
    /// Largest width of a line in columns.
    limit: usize,
    look: Look,
}

/// A line, and true if it starts a section.
type Part = (bool, Drawn);

/// A series over time with the settings of its chart.
#[derive(Clone, Copy)]
struct Chart<'a> {
    name: &'a str,
    value: &'a str,
    height: usize,
    /// True if a blank line separates the chart from the section above it.
    begins: bool,
    /// True if a few values far above the others may exceed the scale. They are shown as `^`.
    clips: bool,
}

/// Returns the value of a full bar. This is the largest value, unless a few values are so far above the others that the
/// others would be invisible.
fn scale(values: &[Option<f64>], most: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted.get(sorted.len() * 9 / 10).copied().unwrap_or(most);
    if most > usual * 4.0 { usual * 2.0 } else { most }
}

impl Frame<'_> {
    fn line(&self) -> Line {
        Line::new(self.limit, self.look)
    }

    /// Formats the whole state as one line.
    fn one(&self) -> Drawn {
        let view = self.view;
        let mut line = self.line();
        let last = view.moments.back().copied().unwrap_or_default();
        if !view.heading.is_empty() {
            line.add(Style::Bold, &view.heading).gap(2);
        }
        let of = view.length_ms.map_or_else(String::new, |ms| format!("/{}", clock(ms)));
        line.add(Style::Bold, &format!("{}{of}", clock(view.elapsed_ms)));
        if let Some(word) = self.state() {
            line.gap(2).add(Style::Warning, word);
        }
        line.gap(2).add(Style::Plain, &things(view.users, "user"));
        line.gap(2).add(Style::Plain, &format!("{}/s", rate(last.rate)));
        let p95 = last.p95.map_or_else(|| "–".to_owned(), time);
        line.gap(2).add(Style::Plain, &format!("response p95 {p95}"));
        let style = if view.errors > 0 { Style::Bad } else { Style::Plain };
        line.gap(2).add(style, &self.error_words());
        let failed = view.lamps.iter().filter(|lamp| lamp.is_good() == Some(false)).count();
        if failed > 0 {
            line.gap(2).add(Style::Bad, &format!("✗ {failed} of {} NOT MET", view.lamps.len()));
        }
        for (_, words) in view.generator().iter().filter(|(doubtful, _)| *doubtful) {
            line.gap(2).add(Style::Warning, &format!("generator: {words}"));
        }
        line.done()
    }

    fn error_words(&self) -> String {
        let View { errors, samples, .. } = self.view;
        match errors {
            0 => "no errors".to_owned(),
            _ if self.view.has_transactions() => {
                format!("{} failed {}", things(*errors, "request"), percent(*errors, *samples))
            }
            1 => "1 error".to_owned(),
            _ => format!("{} errors {}", count(*errors), percent(*errors, *samples)),
        }
    }

    fn state(&self) -> Option<&'static str> {
        match self.view.state {
            State::Running => None,
            State::Paused => Some("PAUSED"),
            State::Stopping => Some("STOPPING"),
        }
    }

    /// Formats the name and state of the test, and its progress.
    fn head(&self) -> Vec<Part> {
        let view = self.view;
        let mut first = self.line();
        let what = if view.has_transactions() { "request" } else { "sample" };
        let samples = things(view.samples, what);
        let room = self.limit.saturating_sub(width(&samples) + 2);
        let mut name = Line::new(room, self.look);
        if !view.heading.is_empty() {
            name.add(Style::Bold, &view.heading).gap(2);
        }
        name.add(Style::Bold, &view.title);
        let (text, taken) = name.done();
        first.raw(&text, taken).to(self.limit - width(&samples).min(self.limit));
        first.add(Style::Dim, &samples);
        vec![(true, first.done()), (false, self.bar())]
    }

    /// Formats the progress: elapsed and planned time, a bar, and the remaining time.
    fn bar(&self) -> Drawn {
        let view = self.view;
        let mut line = self.line();
        let Some(length) = view.length_ms.filter(|ms| *ms > 0) else {
            line.add(Style::Bold, &clock(view.elapsed_ms));
            if let Some(word) = self.state() {
                line.gap(2).add(Style::Warning, word);
            }
            let finished = view.started.saturating_sub(view.users);
            let words = match view.started.max(view.users_asked) {
                0 => "without a given end".to_owned(),
                all => format!("ends with its users: {} of {} have", count(finished), count(all)),
            };
            line.gap(2).add(Style::Dim, &words);
            self.add_after(&mut line);
            return line.done();
        };
        let share = (view.elapsed_ms as f64 / length as f64).clamp(0.0, 1.0);
        let times = format!("{} of {}", clock(view.elapsed_ms), clock(length));
        line.add(Style::Bold, &times).gap(2);
        let remains = match (self.state(), length - view.elapsed_ms) {
            (Some(word), _) => word.to_owned(),
            (None, ..=0) => "users finish".to_owned(),
            (None, ms) => format!("{} left", clock(ms)),
        };
        let words = format!("{:3.0} %  {remains}", (share * 100.0).floor());
        let after = if view.after.is_empty() { 0 } else { width(&view.after) + 2 };
        let room = line.left().saturating_sub(width(&words) + 2 + after).min(100);
        if room >= 5 {
            let full = ((share * room as f64) as usize).min(room);
            let (done, rest) = if self.look.ascii { ("#", "-") } else { ("█", "░") };
            line.add(Style::Chart, &done.repeat(full));
            line.add(Style::Dim, &rest.repeat(room - full)).gap(2);
        }
        let style = if self.state().is_some() { Style::Warning } else { Style::Plain };
        line.add(style, &words);
        self.add_after(&mut line);
        line.done()
    }

    fn add_after(&self, line: &mut Line) {
        if !self.view.after.is_empty() {
            line.gap(2).add(Style::Dim, &self.view.after);
        }
    }

    /// Adds the charts of users, rate, p95 and errors over time.
    fn charts(&self, plan: &Plan, out: &mut Vec<Part>) {
        let view = self.view;
        let last = view.moments.back().copied().unwrap_or_default();
        let users = match view.users_asked {
            0 => count(view.users),
            all if width(&count(all)) > 5 => count(view.users),
            all => format!("{} of {}", count(view.users), count(all)),
        };
        let most = |value: f64| format!("{}/s", rate(value));
        let p95 = last.p95.map_or_else(|| "p95 –".to_owned(), |p95| format!("p95 {}", time(p95)));
        let errors = if view.errors == 0 { "none".to_owned() } else { count(view.errors) };
        let wide = |value: f64| count(value as u64);
        let spaced = plan.tall > 1;
        let of_users = |moment: &Moment| Some(moment.users);
        let users = Chart { name: "users", value: &users, height: 1, begins: true, clips: false };
        self.chart(&users, of_users, wide, out);
        let asked = view.rate_asked.map(|asked| format!("of {}", most(asked)));
        let now = most(last.rate);
        let both =
            asked.map_or_else(|| now.clone(), |asked| format!("{} {asked}", rate(last.rate)));
        let value = if width(&both) <= VALUE { &both } else { &now };
        let chart = |name, value| Chart { name, value, height: 1, begins: spaced, clips: false };
        let tall = |name, value| Chart { height: plan.tall, ..chart(name, value) };
        self.chart(&tall("rate", value), |moment| Some(moment.rate), most, out);
        let p95 = Chart { clips: true, ..tall("response", &p95) };
        self.chart(&p95, |moment| moment.p95, time, out);
        self.chart(&chart("errors", &errors), |moment| Some(moment.errors), most, out);
        if plan.axis {
            let (columns, seconds) = (self.columns(), view.moments.len());
            let shown = seconds.min(columns);
            let begin = format!("{shown} s ago");
            let mut line = self.line();
            line.to(NAME + VALUE + 2);
            if shown > width(&begin) + 4 {
                line.add(Style::Dim, &begin).to(NAME + VALUE + 2 + shown - 3);
            }
            line.add(Style::Dim, "now");
            out.push((false, line.done()));
        }
    }

    /// Returns the width of a chart's bars in columns.
    fn columns(&self) -> usize {
        let most = if self.limit < NARROW { 0 } else { MOST };
        self.limit.saturating_sub(NAME + VALUE + 2 + most).max(1)
    }

    fn chart(
        &self,
        chart: &Chart<'_>,
        of: impl Fn(&Moment) -> Option<f64>,
        unit: impl Fn(f64) -> String,
        out: &mut Vec<Part>,
    ) {
        let Chart { name, value, height, begins, clips } = *chart;
        let columns = self.columns();
        let from = self.view.moments.len().saturating_sub(columns);
        let values: Vec<Option<f64>> = self.view.moments.iter().skip(from).map(of).collect();
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let top = if clips { scale(&values, most) } else { most };
        let is_errors = name == "errors";
        let (of_value, of_bars) = match self.view.errors {
            0 if is_errors => (Style::Dim, Style::Dim),
            _ if is_errors => (Style::Bad, Style::Bad),
            _ => (Style::Bold, Style::Chart),
        };
        for (at, row) in bars(&values, top, height, self.look.ascii).iter().enumerate() {
            let mut line = self.line();
            if at == 0 {
                line.add(Style::Plain, name).to(NAME).right(of_value, value, VALUE);
            }
            line.to(NAME + VALUE + 2);
            let row = row.trim_end();
            let lead = row.len() - row.trim_start().len();
            line.gap(lead).add(of_bars, row.trim_start());
            if self.limit >= NARROW && top > 0.0 {
                line.to(NAME + VALUE + 2 + values.len() + 1);
                let beyond = if top < most { "^ " } else { "" };
                match at {
                    // Shows the top of the scale on the first line, because `^` marks the values above it.
                    0 if height > 1 && top < most => line.add(Style::Dim, &unit(top)),
                    0 => line.add(Style::Dim, &format!("{beyond}max {}", unit(most))),
                    1 if top < most => line.add(Style::Dim, &format!("^ max {}", unit(most))),
                    _ => &mut line,
                };
            }
            out.push((at == 0 && begins, line.done()));
        }
    }

    /// Adds the criteria. If there is no room for all, failed ones come first.
    fn criteria(&self, most: usize, out: &mut Vec<Part>) {
        let lamps = &self.view.lamps;
        let mut order: Vec<&Lamp> = lamps.iter().collect();
        if lamps.len() > most {
            order.sort_by_key(|lamp| lamp.is_good() != Some(false));
        }
        order.truncate(most);
        let words = |lamp: &Lamp| {
            let abort = if lamp.ends { "abort if " } else { "" };
            format!("{abort}{}", lamp.criterion)
        };
        let values = order.iter().map(|lamp| width(&lamp.value)).max().unwrap_or(0);
        let widest = order.iter().map(|lamp| width(&words(lamp))).max().unwrap_or(0);
        let column = widest.min(self.limit.saturating_sub(11 + 2 + values));
        for (at, lamp) in order.iter().enumerate() {
            let (style, word) = match (lamp.is_good(), lamp.ends) {
                (Some(true), false) => (Style::Good, "✓ met"),
                (Some(true), true) => (Style::Good, "✓ clear"),
                (Some(false), false) => (Style::Bad, "✗ NOT MET"),
                (Some(false), true) => (Style::Bad, "✗ ENDS IT"),
                (None, _) => (Style::Dim, "· waiting"),
            };
            let mut line = self.line();
            line.add(style, word).to(11);
            let mut text = Line::new(column, self.look);
            text.add(Style::Plain, &words(lamp));
            let (text, taken) = text.done();
            line.raw(&text, taken).to(11 + column + 2);
            let style = if lamp.is_good() == Some(false) { Style::Bad } else { Style::Bold };
            line.add(style, &lamp.value);
            if at + 1 == most && lamps.len() > most {
                let more = lamps.len() - most;
                line.gap(2).add(Style::Dim, &format!("… {more} more"));
            }
            out.push((at == 0, line.done()));
        }
    }

    /// Adds the share of assertions that passed, and the series from answers.
    fn answers(&self, most: usize, out: &mut Vec<Part>) {
        let said = self.view.answers.said();
        for (at, (is_bad, name, words)) in said.iter().take(most).enumerate() {
            let mut line = self.line();
            let style = if *is_bad { Style::Bad } else { Style::Plain };
            line.add(Style::Plain, name).to(11);
            let more = match said.len() - most {
                more if at + 1 == most && more > 0 => format!("  … {more} more"),
                _ => String::new(),
            };
            let mut text = Line::new(line.left().saturating_sub(width(&more)), self.look);
            text.add(style, words);
            let (text, taken) = text.done();
            line.raw(&text, taken).add(Style::Dim, &more);
            out.push((at == 0, line.done()));
        }
    }

    /// Adds the most frequent causes of errors.
    fn errors(&self, most: usize, out: &mut Vec<Part>) {
        let View { causes, samples, .. } = self.view;
        for (at, cause) in causes.iter().take(most).enumerate() {
            let mut line = self.line();
            line.right(Style::Bad, &count(cause.count), 9);
            line.gap(1).right(Style::Bad, &percent(cause.count, *samples), 7).gap(2);
            let more = match causes.len() - most {
                1 if at + 1 == most => "  … 1 more cause".to_owned(),
                more if at + 1 == most && more > 0 => format!("  … {more} more causes"),
                _ => String::new(),
            };
            let room = line.left().saturating_sub(width(&more));
            let mut text = Line::new(room, self.look);
            text.add(Style::Bad, &cause.words).gap(2);
            text.add(Style::Dim, &format!("first in {}", cause.first_label));
            let (text, taken) = text.done();
            line.raw(&text, taken).add(Style::Dim, &more);
            out.push((at == 0, line.done()));
        }
    }

    /// Adds the generator's state, if there is room for it or it shows a problem.
    fn generator(&self, most: usize, out: &mut Vec<Part>) {
        let state = self.view.generator();
        if most == 0 || state.is_empty() {
            return;
        }
        let doubtful = state.iter().any(|(doubtful, _)| *doubtful);
        let mut line = self.line();
        let style = if doubtful { Style::Warning } else { Style::Dim };
        line.add(style, if doubtful { "generator!" } else { "generator" }).to(11);
        for (at, (doubtful, words)) in state.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let style = if *doubtful { Style::Warning } else { Style::Dim };
            line.add(style, &format!("{comma}{words}"));
        }
        if self.view.workers > 0 {
            line.add(Style::Dim, &format!(", {} workers", self.view.workers));
        }
        out.push((doubtful, line.done()));
    }

    /// Adds the findings of the verdict so far.
    fn findings(&self, most: usize, out: &mut Vec<Part>) {
        let findings = &self.view.findings;
        if findings.is_empty() && self.view.early && most > 0 {
            let mut line = self.line();
            line.add(Style::Dim, "finding").to(11).add(Style::Dim, &too_early().en);
            out.push((false, line.done()));
        }
        for (at, words) in findings.iter().take(most).enumerate() {
            let mut line = self.line();
            line.add(Style::Warning, if at == 0 { "finding" } else { "" }).to(11);
            let more = match findings.len() - most {
                more if at + 1 == most && more > 0 => format!("  … {more} more"),
                _ => String::new(),
            };
            let mut text = Line::new(line.left().saturating_sub(width(&more)), self.look);
            text.add(Style::Plain, words);
            let (text, taken) = text.done();
            line.raw(&text, taken).add(Style::Dim, &more);
            out.push((false, line.done()));
        }
    }

    /// Adds the table of labels with their metrics over the last seconds.
    fn labels(&self, lines: usize, out: &mut Vec<Part>) {
        let Some(places) = lines.checked_sub(1) else { return };
        let (rows, all) = self.view.rows(places);
        let seconds = self.view.recent.len();
        let (has_median, has_errors) = (self.limit >= 48, self.limit >= 38);
        let mut line = self.line();
        line.right(Style::Dim, "rate", 9);
        if has_median {
            line.gap(1).right(Style::Dim, "median", 9);
        }
        line.gap(1).right(Style::Dim, "p95", 9);
        if has_errors {
            line.gap(1).right(Style::Dim, "errors", 7);
        }
        let more = match all - rows.len() {
            0 => String::new(),
            1 => ", 1 more label".to_owned(),
            more => format!(", {} more labels", count(more as u64)),
        };
        line.gap(2).add(Style::Dim, &format!("label (last {seconds} s{more}; response times)"));
        out.push((true, line.done()));
        for row in rows {
            let mut line = self.line();
            let ms = |quantile| time(row.hist.quantile(quantile) as f64 / 1000.0);
            line.right(Style::Plain, &format!("{}/s", rate(row.per_s)), 9);
            if has_median {
                line.gap(1).right(Style::Plain, &ms(0.5), 9);
            }
            line.gap(1).right(Style::Plain, &ms(0.95), 9);
            if has_errors {
                let style = if row.errors > 0 { Style::Bad } else { Style::Dim };
                line.gap(1).right(style, &percent(row.errors, row.count), 7);
            }
            line.gap(2).add(Style::Plain, &row.label.name);
            if row.label.transaction {
                line.gap(1).add(Style::Dim, "(transaction)");
            }
            if row.label.folded > 0 {
                line.gap(1).add(Style::Dim, &format!("({} labels)", row.label.folded));
            }
            out.push((false, line.done()));
        }
    }
}
