//! The grammar of criteria: parses a user's text into a [`Criterion`].
//!
//! A limit that no run can meet, or that is outside of the metric's range, is refused, because it is a mistake and
//! would decide nothing. Errors are messages for the user.

mod elsewhere;

use std::borrow::Cow;
use std::time::Duration;

use super::{Criterion, Figure, Limit, OfSeries, Op, Stat, Times};
use crate::time;

const FIGURES: &str = "mean, median, p50 to p99.999, max (of response or service times), rate, count, errors, error%, checks%, or series.NAME.mean, .min or .max";

const ONE_EACH: &str =
    "this is more than one criterion: give each as a separate option or list entry";

pub(super) fn read(text: &str) -> Result<Criterion, String> {
    let (text, label_inside) = in_parentheses(text);
    let text = text.as_ref();
    let (name, op, rest) = comparison(text)?;
    let (figure, series) = match of_series(name)? {
        Some((figure, series)) => (figure, Some(series)),
        None => (figure(name)?, None),
    };
    if series.is_some() && label_inside.is_some() {
        return Err(NO_LABEL.into());
    }
    let (limit, mut rest) = value(figure, rest)?;
    possible(figure, op, limit)?;
    let mut criterion = Criterion { figure, op, limit, label: label_inside, series, over: None };
    loop {
        let (key, behind) = word(rest);
        match key {
            "" => return Ok(criterion),
            "over" if criterion.over.is_none() => {
                let (value, behind) = word(behind);
                let over = time::parse(value)?;
                if over < Duration::from_secs(1) {
                    return Err("a window takes a second at least".into());
                }
                (criterion.over, rest) = (Some(over), behind);
            }
            "for" if criterion.series.is_some() => return Err(NO_LABEL.into()),
            "for" if criterion.label.is_none() => {
                let (key, behind) = word(behind);
                if key != "label" {
                    return Err("write for label NAME".into());
                }
                let (label, behind) = label(behind)?;
                (criterion.label, rest) = (Some(label), behind);
            }
            "and" | "AND" | "&&" | "," | "or" | "OR" | "||" => return Err(ONE_EACH.into()),
            _ => {
                return Err(format!(
                    "{key:?} is not understood: only for label NAME and over TIME can follow"
                ));
            }
        }
    }
}

/// Splits a string into the metric's name before the comparison operator, the operator, and the rest.
fn comparison(text: &str) -> Result<(&str, Op, &str), String> {
    let at = text.find(['<', '>', '=', '!']).ok_or_else(|| {
        "there is no comparison: write it like 'p99 < 500ms' or 'error% < 0.1 for label Login'"
            .to_string()
    })?;
    let (name, rest) = text.split_at(at);
    let end = rest.find(|c| !matches!(c, '<' | '>' | '=' | '!')).unwrap_or(rest.len());
    let (sign, rest) = rest.split_at(end);
    let op = match sign {
        "<" => Op::Less,
        "<=" => Op::AtMost,
        ">" => Op::More,
        ">=" => Op::AtLeast,
        "=" | "==" => Op::Equal,
        "!=" => Op::NotEqual,
        _ => return Err(format!("{sign} is not a comparison: use <, <=, >, >=, = or !=")),
    };
    Ok((name, op, rest))
}

/// Parses the limit, whose unit may follow after a blank (500 ms). Returns the limit and the rest of the string.
fn value(figure: Figure, text: &str) -> Result<(Limit, &str), String> {
    let (value, rest) = word(text);
    let (unit, behind) = word(rest);
    let apart = format!("{value}{unit}");
    match limit(figure, &apart) {
        Ok(limit) if !matches!(unit, "" | "for" | "over") => Ok((limit, behind)),
        of_both => match (limit(figure, value), of_both) {
            (Ok(limit), _) => Ok((limit, rest)),
            (Err(_), _) if value.ends_with(',') => Err(ONE_EACH.into()),
            (Err(_), Err(words)) if !matches!(unit, "for" | "over") => Err(words),
            (Err(words), _) => Err(words),
        },
    }
}

/// Removes a label in parentheses after the metric, as in `checks%(Login) > 99`; returns the rest and the label.
fn in_parentheses(text: &str) -> (Cow<'_, str>, Option<String>) {
    let is_operator = |rest: &str| rest.trim_start().starts_with(['<', '>', '=', '!']);
    let before = text.find(['<', '>', '=', '!']).unwrap_or(text.len());
    let open = text.find('(').filter(|open| *open < before);
    let found = open.and_then(|open| {
        let mut ends = text[open..].match_indices(')').map(|(at, _)| open + at);
        let close = ends.rfind(|close| is_operator(&text[close + 1..]))?;
        Some((open, close)).filter(|_| !text[open + 1..close].trim().is_empty())
    });
    // k6 writes percentiles as p(95); such parentheses hold no label.
    let is_percentile = |(open, close): &(usize, usize)| {
        let name = text[..*open].trim().to_lowercase();
        let is_p = name == "p" || name.ends_with(" p");
        is_p && text[open + 1..*close].trim().parse::<f64>().is_ok()
    };
    if let Some((open, close)) = found.filter(is_percentile) {
        let percent = text[open + 1..close].trim();
        return (Cow::Owned(format!("{}{percent}{}", &text[..open], &text[close + 1..])), None);
    }
    let Some((open, close)) = found else { return (Cow::Borrowed(text), None) };
    let label = text[open + 1..close].trim().trim_matches('"');
    (Cow::Owned(format!("{}{}", &text[..open], &text[close + 1..])), Some(label.to_owned()))
}

/// Splits off the next word. Returns the word and the rest of the string.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Parses the name of a label: in quotes, or up to a rolling window (` over 30s`), or up to the end of the string.
/// Returns the name and the rest of the string.
fn label(text: &str) -> Result<(String, &str), String> {
    let text = text.trim();
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"').ok_or("the label's closing quote is missing")?;
        return Ok((quoted[..end].to_string(), &quoted[end + 1..]));
    }
    let end = text.rfind(" over ").filter(|at| time::parse(text[at + 6..].trim()).is_ok());
    let (label, rest) = text.split_at(end.unwrap_or(text.len()));
    if label.is_empty() {
        Err("there is no name behind label".into())
    } else {
        Ok((label.trim().into(), rest))
    }
}

const NO_LABEL: &str = "a series is of all answers: leave the label out";

/// Parses a metric of a series and the name of the series; returns `None` if the text is about another metric.
fn of_series(text: &str) -> Result<Option<(Figure, String)>, String> {
    let Some(rest) = text.trim().strip_prefix("series.") else { return Ok(None) };
    let known = |(series, figure): (&str, &str)| {
        let figure = match figure.trim().to_lowercase().as_str() {
            "mean" | "avg" | "average" => OfSeries::Mean,
            "min" => OfSeries::Min,
            "max" => OfSeries::Max,
            _ => return None,
        };
        let series = series.trim();
        (!series.is_empty()).then(|| (Figure::Series(figure), series.to_owned()))
    };
    let found = rest.rsplit_once('.').and_then(known).map(Some);
    found.ok_or_else(|| {
        format!(
            "{:?} is not a metric of a series: write series.NAME.mean, .min or .max",
            text.trim()
        )
    })
}

fn figure(text: &str) -> Result<Figure, String> {
    let lower = text.trim().to_lowercase();
    let mut words: Vec<&str> = lower.split_whitespace().collect();
    let times = match words.first() {
        Some(&"service") => Some(Times::Service),
        Some(&"response") => Some(Times::Response),
        _ => None,
    };
    if times.is_some() {
        words.remove(0);
        if matches!(words.first(), Some(&("time" | "times"))) {
            words.remove(0);
        }
    }
    let name = words.concat();
    let time = |stat| Ok(Figure::Time(times.unwrap_or_default(), stat));
    let other = |figure| match times {
        None => Ok(figure),
        Some(_) => Err(format!("{name} is not of times")),
    };
    match name.as_str() {
        "mean" | "avg" | "average" => time(Stat::Mean),
        "max" | "maximum" => time(Stat::Max),
        "median" => time(Stat::Percentile(50.0)),
        "rate" | "rps" | "throughput" => other(Figure::Rate),
        "count" | "samples" => other(Figure::Count),
        "errors" => other(Figure::Errors),
        "error%" | "errors%" => other(Figure::ErrorShare),
        "check%" | "checks%" => other(Figure::CheckShare),
        "" if times.is_some() => {
            Err(format!("unknown metric {0}: write {0} p95, mean or max", text.trim()))
        }
        "" => Err(format!("there is no metric before the comparison: use {FIGURES}")),
        _ => match name.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()) {
            Some(percent) if percent > 0.0 && percent < 100.0 => time(Stat::Percentile(percent)),
            _ => {
                let text = text.trim();
                Err(match elsewhere::meant(&name) {
                    Some(words) => format!("unknown metric {text}: write {words}"),
                    None => format!("unknown metric {text}: use {FIGURES}"),
                })
            }
        },
    }
}

fn limit(figure: Figure, text: &str) -> Result<Limit, String> {
    if text.is_empty() {
        return Err("there is no value behind the comparison".into());
    }
    if matches!(figure, Figure::Series(_)) {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        return number.map(Limit::Absolute).ok_or_else(|| format!("{text:?} is not a number"));
    }
    if text.starts_with(['+', '-'])
        && let Some(percent) = text.strip_suffix('%')
    {
        let percent: f64 = percent.parse().map_err(|_| format!("{text:?} is not a percentage"))?;
        if !percent.is_finite() || percent < -100.0 {
            return Err(format!(
                "{text} is not a possible change: nothing falls by more than 100%"
            ));
        }
        return Ok(Limit::Relative(percent));
    }
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(format!("{text} is negative: {} is 0 or more", figure.name()));
    }
    let number = |text: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Limit::Absolute(number)),
        _ => Err(format!("{text:?} is not a number")),
    };
    match figure {
        Figure::Time(..) if text != "0" && text.parse::<f64>().is_ok_and(f64::is_finite) => {
            Err(format!("{text} has no unit: write {text}ms"))
        }
        Figure::Time(..) => Ok(Limit::Absolute(time::parse(text)?.as_secs_f64() * 1000.0)),
        Figure::Rate => number(text.strip_suffix("/s").unwrap_or(text)),
        Figure::ErrorShare | Figure::CheckShare => number(text.strip_suffix('%').unwrap_or(text)),
        Figure::Errors if text.ends_with('%') => Err(format!(
            "{text} is a share, and errors is a number: write error% in place of errors"
        )),
        Figure::Count | Figure::Errors | Figure::Series(_) => number(text),
    }
}

/// Refuses a share above 100 %, and a condition that no value of the metric can meet. The error is a message for
/// the user.
fn possible(figure: Figure, op: Op, limit: Limit) -> Result<(), String> {
    let (Limit::Absolute(limit), false) = (limit, matches!(figure, Figure::Series(_))) else {
        return Ok(());
    };
    let is_share = matches!(figure, Figure::ErrorShare | Figure::CheckShare);
    let name = figure.name();
    if is_share && (limit > 100.0 || (limit >= 100.0 && op == Op::More)) {
        return Err(format!("{name} is 100% at most: give a limit from 0 to 100"));
    }
    if limit <= 0.0 && op == Op::Less {
        return Err(format!("{name} is never below 0: the condition cannot be met"));
    }
    if figure.is_number() && op == Op::Equal && limit.fract() > 0.0 {
        return Err(format!("{name} is a whole number: the condition cannot be met"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_windows_are_read_in_any_order() {
        let of = |text: &str| Criterion::parse(text).expect(text);
        let login = of("error% < 0.1 for label Login");
        assert_eq!((login.label.as_deref(), login.over), (Some("Login"), None));
        let both = of("p95 < 2s over 1m30s for label Log in over night");
        assert_eq!(both.label.as_deref(), Some("Log in over night"));
        assert_eq!(both.over, Some(Duration::from_secs(90)));
        let both = of("p95<2s for label Log in over 30s");
        assert_eq!(
            (both.label.as_deref(), both.over),
            (Some("Log in"), Some(Duration::from_secs(30)))
        );
        let quoted = of("p95 < 2s for label \"work over 9s\" over 5s");
        assert_eq!(quoted.label.as_deref(), Some("work over 9s"));
        assert_eq!(quoted.over, Some(Duration::from_secs(5)));
        for (text, label) in [
            ("checks%(Login) > 99", "Login"),
            ("p95 ( a (1) > b ) <2s over 5s", "a (1) > b"),
            ("error%(\"x\") < 1", "x"),
        ] {
            assert_eq!(of(text).label.as_deref(), Some(label), "{text}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for text in [
            "response p99 < 500ms",
            "service p99.9 <= 12s",
            "error% < 0.1% for label Login",
            "rate >= 99.5/s over 30s",
            "count = 3",
            "response max > 1.5ms for label \"a over b\"",
            "checks% > 99.9% for label Login",
            "errors < 0.5",
            "series.server.threads.max < 200",
            "series.Load of B.mean >= -1.5 over 30s",
        ] {
            let criterion = Criterion::parse(text).expect(text);
            assert_eq!(criterion.to_string(), text);
            assert_eq!(Criterion::parse(&criterion.to_string()), Ok(criterion));
        }
    }

    #[test]
    fn mistakes_are_sentences() {
        for (text, words) in [
            ("p99", "there is no comparison"),
            ("p99 < ", "there is no value"),
            ("p99 < 500", "500 has no unit: write 500ms"),
            ("p(95) < 500", "500 has no unit: write 500ms"),
            ("p100 < 5s", "unknown metric p100: use mean"),
            ("p99 <> 5s", "is not a comparison"),
            ("speed > 5", "unknown metric speed: use mean"),
            ("< 5", "there is no metric"),
            ("rate > many", "is not a number"),
            ("series.load < 5", "is not a metric of a series: write series.NAME.mean"),
            ("series.load.p95 < 5", "is not a metric of a series"),
            ("series.load.max < 5 for label A", "leave the label out"),
            ("series.load.max < +5%", "is not a number"),
            ("checks% > 101", "checks% is 100% at most: give a limit from 0 to 100"),
            ("error% < 101%", "error% is 100% at most"),
            ("checks% > 100", "checks% is 100% at most"),
            ("error% < 0", "error% is never below 0"),
            ("p95 < 0ms", "response p95 is never below 0"),
            ("service p95 < -3ms", "-3ms is negative: service p95 is 0 or more"),
            ("error% < -1", "-1 is negative: error% is 0 or more"),
            ("count < 0", "count is never below 0"),
            ("errors = 1.5", "errors is a whole number"),
            ("p95 < -101%", "nothing falls by more than 100%"),
            ("service rate > 5", "is not of times"),
            ("cheks% > 99", "error%, checks%"),
            ("checks%() > 99", "unknown metric checks%()"),
            ("checks%(A) > 99 for label B", "is not understood"),
            ("p99 < 5s for Login", "write for label NAME"),
            ("p99 < 5s for label", "there is no name"),
            ("p99 < 5s over 10ms", "a second at least"),
            ("p99 < 5 msec", "\"5msec\" is not a time"),
            ("p99 < 5s and error% < 1", "this is more than one criterion"),
            ("p99 < 5s, error% < 1", "this is more than one criterion"),
            ("checks > 99", "unknown metric checks: write checks%"),
            ("errors < 1%", "1% is a share, and errors is a number: write error%"),
            ("response time < 5s", "unknown metric response time: write response time p95"),
            ("p99 < 5s please", "\"please\" is not understood"),
            ("p99 < 5s over 1s over 2s", "\"over\" is not understood"),
        ] {
            let error = Criterion::parse(text).unwrap_err();
            assert!(error.contains(words) && error.contains(text), "{text}: {error}");
        }
    }
}
