//! Sentences and formatted values made from metrics in English and Chinese, such as a caption for each chart.

pub mod comparison;
pub mod evidence;
pub mod numbers;

use answers::criterion::Times;
use answers::verdict::Words;

use crate::model::{Column, words};

/// Smallest relative change between the first and the last fifth of a run that a caption mentions.
const CHANGE: f64 = 0.2;

/// Formats a value with three significant digits.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let size = value.abs().log10().floor() as i32;
    if size >= 3 {
        return grouped(value.round());
    }
    let text = format!("{value:.*}", (2 - size).clamp(0, 6) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Formats a whole number with narrow spaces between groups of three digits.
pub fn grouped(value: f64) -> String {
    let plain = format!("{value:.0}");
    let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let groups: Vec<&str> = (0..plain.len())
        .filter(|i| *i == 0 || (plain.len() - i) % 3 == 0)
        .zip((1..=plain.len()).filter(|i| (plain.len() - i) % 3 == 0))
        .map(|(from, to)| &plain[from..to])
        .collect();
    format!("{sign}{}", groups.join("\u{202f}"))
}

/// Formats a duration in µs with a suitable unit.
pub fn time(us: f64) -> String {
    match us {
        _ if us >= 120e6 => format!("{} min", digits(us / 60e6)),
        _ if us >= 1e6 => format!("{} s", digits(us / 1e6)),
        _ if us >= 1e3 => format!("{} ms", digits(us / 1e3)),
        _ => format!("{} µs", digits(us)),
    }
}

pub fn bytes(value: f64) -> String {
    let (mut value, mut unit) = (value, 0);
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    while value.abs() >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", digits(value), units[unit])
}

/// Formats a fraction as percent.
pub fn share(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        "< 0.01 %".into()
    } else {
        format!("{} %", digits(value * 100.0))
    }
}

/// Formats a relative change as percent with its sign. Returns a dash for a change that is not finite, such as a change
/// from 0.
pub fn signed(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    match format!("{:+.1} %", share * 100.0) {
        nothing if nothing == "-0.0 %" => "+0.0 %".to_owned(),
        text => text,
    }
}

/// Formats a difference of two fractions as percentage points with its sign.
pub fn points(share: f64) -> Words {
    let points = match format!("{:+.2}", share * 100.0) {
        nothing if nothing == "-0.00" => "+0.00".to_owned(),
        points => points,
    };
    words(format!("{points} points"), format!("{points} 个百分点"))
}

/// Formats a metric in the unit of its column.
pub fn figure(value: f64, unit: &str) -> String {
    match unit {
        "us" => time(value),
        "s" => time(value * 1e6),
        "bytes" => bytes(value),
        "bytes/s" => format!("{}/s", bytes(value)),
        "/s" => format!("{}/s", digits(value)),
        "share" => share(value),
        _ => digits(value),
    }
}

/// Returns the name of a percentile or another metric of response or service times, such as `Response p95`, as
/// criteria name it.
pub fn timed(times: Times, figure: &str) -> Words {
    let zh = times.word().zh;
    let en = match times {
        Times::Response => "Response",
        Times::Service => "Service",
    };
    words(format!("{en} {figure}"), format!("{zh}时间 {figure}"))
}

/// Returns the name of the mean response or service time, for a table column.
pub fn mean(times: Times) -> Words {
    match times {
        Times::Response => words("Response time, mean", "平均响应时间"),
        Times::Service => words("Service time, mean", "平均服务时间"),
    }
}

/// Returns the name of the largest response or service time, for a table column.
pub fn longest(times: Times) -> Words {
    match times {
        Times::Response => words("Response time, max", "最大响应时间"),
        Times::Service => words("Service time, max", "最大服务时间"),
    }
}

/// Returns the sentence about the generator's part of the mean time. The arguments are that part and the mean time,
/// both in µs.
pub fn overhead((own, of): (f64, f64)) -> Words {
    let (own, of) = (time(own), time(of));
    words(
        format!("Throng itself caused {own} of {of}, on average"),
        format!("平均 {of} 中有 {own} 由 Throng 自身造成"),
    )
}

/// Formats a time since the start as `mm:ss` or `h:mm:ss`.
pub fn clock(ms: i64) -> String {
    let s = ms.max(0) / 1000;
    if s >= 3600 {
        format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    } else {
        format!("{:02}:{:02}", s / 60, s % 60)
    }
}

/// The instants that captions describe.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// Starts of all instants, epoch ms.
    pub at_ms: &'a [i64],
    /// Start and end of the steady part, epoch ms; `None` to describe the whole run.
    pub steady_ms: Option<(i64, i64)>,
}

impl Span<'_> {
    fn holds(&self, at: usize) -> bool {
        let at_ms = self.at_ms.get(at).copied().unwrap_or_default();
        self.steady_ms.is_none_or(|(from, to)| (from..to).contains(&at_ms))
    }

    /// Formats the time of an instant since the start of the run.
    fn clock(&self, at: usize) -> String {
        let start = self.at_ms.first().copied().unwrap_or_default();
        clock(self.at_ms.get(at).copied().unwrap_or(start) - start)
    }

    /// Returns the times of the steady part as text; empty if captions describe the whole run.
    fn part(&self) -> Words {
        let start = self.at_ms.first().copied().unwrap_or_default();
        match self.steady_ms {
            Some((from, to)) => {
                let (from, to) = (clock(from - start), clock(to - start));
                words(format!(" from {from} to {to}"), format!("（{from} 至 {to}）"))
            }
            None => words("", ""),
        }
    }
}

/// Describes in a sentence how a column changed over time: whether it rose, fell or stayed constant, and its
/// largest value. The sentence is about the steady part of the run, without ramp and end.
pub fn course(column: &Column, span: Span<'_>) -> Option<Words> {
    let known: Vec<(usize, f64)> = column.figures().filter(|(at, _)| span.holds(*at)).collect();
    if known.is_empty() {
        return span.steady_ms.and_then(|_| course(column, Span { steady_ms: None, ..span }));
    }
    let show = |value: f64| figure(value, column.unit);
    let most = |of: &[(usize, f64)]| {
        let &(at, most) = of.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (at, most) = (span.clock(at), show(most));
        Some(words(format!("at most {most} at {at}"), format!("{at} 时最高 {most}")))
    };
    let Words { en: name, zh: name_zh } = &column.name;
    let Words { en: part, zh: part_zh } = span.part();
    if known.iter().all(|(_, value)| *value == 0.0) {
        let outside: Vec<(usize, f64)> = column.figures().collect();
        return Some(match most(&outside).filter(|_| column.says_something()) {
            // A maximum outside of the steady part is mentioned, too.
            Some(most) => words(
                format!("{name}: none{part}, outside of it {}.", most.en),
                format!("{name_zh}{part_zh}：无，此外 {}。", most.zh),
            ),
            None => words(format!("{name}: none."), format!("{name_zh}：无。")),
        });
    }
    let most = most(&known)?;
    if known.len() < 10 {
        let (first, last) = (show(known[0].1), show(known[known.len() - 1].1));
        return Some(words(
            format!("{name}{part}: {first} at first, {last} at last, {}.", most.en),
            format!("{name_zh}{part_zh}：起初 {first}，最后 {last}，{}。", most.zh),
        ));
    }
    Some(trend(&column.name, words(part, part_zh), &known, (&show, &most)))
}

/// Describes whether the values of a column rose, fell or stayed constant. `part` describes the steady part, and
/// `most` the largest value.
fn trend(
    name: &Words,
    Words { en: part, zh: part_zh }: Words,
    known: &[(usize, f64)],
    (show, most): (&dyn Fn(f64) -> String, &Words),
) -> Words {
    let Words { en: name, zh: name_zh } = name;
    let fifth = known.len() / 5;
    let mean = |part: &[(usize, f64)]| {
        part.iter().map(|(_, value)| value).sum::<f64>() / part.len() as f64
    };
    let (begin, end) = (mean(&known[..fifth]), mean(&known[known.len() - fifth..]));
    let change = (end - begin) / begin.abs().max(end.abs()).max(f64::MIN_POSITIVE);
    let (begin, end) = (show(begin), show(end));
    if change.abs() < CHANGE {
        let all = show(mean(known));
        let throughout = if part.is_empty() { " throughout" } else { "" };
        words(
            format!("{name}{part}: about {all}{throughout}, {}.", most.en),
            format!("{name_zh}{part_zh}：一直约 {all}，{}。", most.zh),
        )
    } else if change > 0.0 {
        words(
            format!(
                "{name}{part}: rose from {begin} in the first fifth to {end} in the last, {}.",
                most.en
            ),
            format!(
                "{name_zh}{part_zh}：从前五分之一的 {begin} 升至后五分之一的 {end}，{}。",
                most.zh
            ),
        )
    } else {
        words(
            format!(
                "{name}{part}: fell from {begin} in the first fifth to {end} in the last, {}.",
                most.en
            ),
            format!(
                "{name_zh}{part_zh}：从前五分之一的 {begin} 降至后五分之一的 {end}，{}。",
                most.zh
            ),
        )
    }
}

/// Joins sentences into one text.
pub fn together(parts: impl IntoIterator<Item = Words>) -> Words {
    let mut all = words("", "");
    for part in parts {
        if !all.en.is_empty() {
            all.en.push(' ');
        }
        all.en.push_str(&part.en);
        all.zh.push_str(&part.zh);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_34, "0.0123"),
            (9.999, "10"),
            (123.4, "123"),
            (1234.0, "1\u{202f}234"),
            (-12_345_678.0, "-12\u{202f}345\u{202f}678"),
        ] {
            assert_eq!(digits(value), text);
        }
        assert_eq!(time(412_000.0), "412 ms");
        assert_eq!(time(190.4e6), "3.17 min");
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(share(0.000_01), "< 0.01 %");
        assert_eq!(clock(3_723_000), "1:02:03");
    }

    #[test]
    fn a_caption_says_what_the_line_does() {
        let at: Vec<i64> = (0..20).map(|i| i * 1000).collect();
        let of = |values: &dyn Fn(usize) -> f64| {
            let values: Vec<Option<f64>> = (0..20).map(|i| Some(values(i))).collect();
            let column = Column::new("p95", words("p95", "p95"), "us", &values);
            course(&column, Span { at_ms: &at, steady_ms: None }).unwrap().en
        };
        assert_eq!(
            of(&|i| 80_000.0 + 20_000.0 * i as f64),
            "p95: rose from 110 ms in the first fifth to 430 ms in the last, at most 460 ms at 00:19."
        );
        assert_eq!(
            of(&|i| if i == 7 { 110_000.0 } else { 100_000.0 }),
            "p95: about 100 ms throughout, at most 110 ms at 00:07."
        );
        assert!(of(&|i| 100.0 - 4.0 * i as f64).starts_with("p95: fell from"));
    }

    #[test]
    fn a_caption_is_about_the_steady_part() {
        let at: Vec<i64> = (0..40).map(|i| 5000 + i * 1000).collect();
        let span = Span { at_ms: &at, steady_ms: Some((15_000, 40_000)) };
        let of = |values: &dyn Fn(usize) -> f64| {
            let values: Vec<Option<f64>> = (0..40).map(|i| Some(values(i))).collect();
            course(&Column::new("rate", words("Rate", "速率"), "/s", &values), span).unwrap().en
        };
        // A ramp of 10 s and an end of 5 s.
        let ramp =
            |i: usize| if i < 10 { 10.0 * i as f64 } else { 100.0 - f64::from(i >= 35) * 90.0 };
        assert_eq!(of(&ramp), "Rate from 00:10 to 00:35: about 100/s, at most 100/s at 00:34.");
        let early = |i: usize| f64::from(u8::from(i == 3)) * 7.0;
        assert_eq!(
            of(&early),
            "Rate: none from 00:10 to 00:35, outside of it at most 7/s at 00:03."
        );
        assert_eq!(of(&|_| 0.0), "Rate: none.");
    }
}
