//! Series: numbers from responses that the run records over time. Their sources are variables that the plan extracts,
//! response headers, and metrics of the header `Server-Timing`.

use super::Properties;

/// The property that defines series, one `NAME=SOURCE` per line.
const SERIES: &str = "throng.series";
/// Maximum number of series of a run.
pub const MOST_SERIES: usize = 50;
/// Maximum length of a series' name in characters.
const LONGEST_NAME: usize = 60;

/// The series of a run, in the order of their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Series(pub(crate) Vec<Source>);

/// The source from which a series gets its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Variable(String),
    Header(String),
    /// A metric of the header `Server-Timing`.
    Timing(String),
}

impl Series {
    /// Parses the property that defines series. The error is a message for the user.
    pub(super) fn of(get: &Properties<'_>) -> Result<Self, String> {
        let (mut names, mut sources) = (Vec::new(), Vec::new());
        for line in get.text(SERIES, "").lines().filter(|line| !line.trim().is_empty()) {
            let (name, source) = read(line).map_err(|words| format!("{SERIES}: {words}"))?;
            if names.contains(&name) {
                return Err(format!("{SERIES}: two series are called {name:?}"));
            }
            names.push(name);
            sources.push(source);
        }
        if sources.len() > MOST_SERIES {
            return Err(format!(
                "{SERIES}: {} series; at most {MOST_SERIES} are allowed",
                sources.len()
            ));
        }
        Ok(Self(sources))
    }

    /// Returns true if any series needs response heads.
    pub(crate) fn reads_heads(&self) -> bool {
        self.0.iter().any(|source| !matches!(source, Source::Variable(_)))
    }

    /// Calls `each` for each value in the head of a response, with the index of its series. `None` stands for a
    /// value that is not a number.
    pub(crate) fn in_head(&self, head: &[u8], mut each: impl FnMut(usize, Option<f64>)) {
        for (at, source) in self.0.iter().enumerate() {
            match source {
                Source::Variable(_) => {}
                Source::Header(name) => {
                    if let Some(value) = values(head, name).next() {
                        each(at, number(value));
                    }
                }
                Source::Timing(metric) => {
                    let of = |value| duration(value, metric);
                    if let Some(value) = values(head, "Server-Timing").find_map(of) {
                        each(at, number(value));
                    }
                }
            }
        }
    }
}

/// Returns all values of a header, in the order of the head.
fn values<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let (start, rest) = line.split_at_checked(name.len())?;
        let value = start.eq_ignore_ascii_case(name.as_bytes()).then(|| rest.strip_prefix(b":"))?;
        Some(value?.trim_ascii())
    })
}

/// Returns the duration of a metric in `Server-Timing`, such as `cache;desc="hit", db;dur=53.2`.
fn duration<'a>(value: &'a [u8], metric: &str) -> Option<&'a [u8]> {
    value.split(|byte| *byte == b',').find_map(|entry| {
        let mut parts = entry.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let is_it = parts.next()?.eq_ignore_ascii_case(metric.as_bytes());
        let given = parts.find_map(|part| {
            let (key, value) = part.split_at_checked(4)?;
            key.eq_ignore_ascii_case(b"dur=").then_some(value)
        });
        given.filter(|_| is_it).map(|value| value.trim_ascii().trim_ascii_start())
    })
}

fn number(value: &[u8]) -> Option<f64> {
    parsed(std::str::from_utf8(value).ok()?)
}

/// Parses a finite number, with or without quotes.
pub(crate) fn parsed(text: &str) -> Option<f64> {
    text.trim().trim_matches('"').parse().ok().filter(|number: &f64| number.is_finite())
}

/// Checks the definition of a series. The error is a message for the user.
pub fn check_series(text: &str) -> Result<String, String> {
    read(text).map(|_| text.trim().to_owned())
}

fn read(text: &str) -> Result<(&str, Source), String> {
    let (name, source) = text.split_once('=').ok_or_else(|| {
        format!("{text:?}: expected NAME=VARIABLE, NAME=header:NAME or NAME=timing:METRIC")
    })?;
    let (name, source) = (name.trim(), source.trim());
    let long = name.chars().count() > LONGEST_NAME;
    if name.is_empty() || long || name.contains(char::is_control) {
        return Err(format!(
            "{text:?}: the name before the = must have 1 to {LONGEST_NAME} characters"
        ));
    }
    let named = |what: &str, name: &str| match name.trim() {
        "" => Err(format!("{text:?}: the {what} after the = is missing")),
        name => Ok(name.to_owned()),
    };
    let is = |kind: &str, word: &str| kind.trim().eq_ignore_ascii_case(word);
    let source = match source.split_once(':') {
        Some((kind, header)) if is(kind, "header") => Source::Header(named("header", header)?),
        Some((kind, metric)) if is(kind, "timing") => Source::Timing(named("metric", metric)?),
        _ if source.starts_with("${") => {
            return Err(format!("{text:?}: write the name of the variable without ${{}}"));
        }
        _ => Source::Variable(named("variable", source)?),
    };
    Ok((name, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(text: &str) -> Result<Series, String> {
        Series::of(&Properties(&|key| (key == SERIES).then(|| text.to_owned())))
    }

    #[test]
    fn a_series_is_a_name_and_a_variable_a_header_or_a_metric() {
        let of = series("load=loadNow\nthreads = header:X-Threads\n\ndb=timing:db\n");
        let [load, threads, db] = ["loadNow", "X-Threads", "db"].map(str::to_owned);
        let sources = vec![Source::Variable(load), Source::Header(threads), Source::Timing(db)];
        assert_eq!(of, Ok(Series(sources)));
        assert!(series("a=Header:x").is_ok_and(|of| of.reads_heads()));
        assert!(series("a=x").is_ok_and(|of| !of.reads_heads()));
        for (text, words) in [
            ("load", "NAME=VARIABLE"),
            ("=x", "1 to 60 characters"),
            ("a=", "the variable after"),
            ("a=header:", "the header after"),
            ("a=timing: ", "the metric after"),
            ("a=${x}", "without ${}"),
            ("a=x\na=y", "two series"),
        ] {
            assert!(series(text).is_err_and(|error| error.contains(words)), "{text}");
        }
    }

    #[test]
    fn numbers_are_found_in_heads() {
        let of =
            series("threads=header:x-threads\ndb=timing:db\ncache=timing:cache\nodd=header:odd");
        let head =
            b"HTTP/1.1 200 OK\r\nX-Threads: 17\r\nServer-Timing: cache;desc=\"hit, dur=9\"\r\n\
            server-timing: a;dur=1, DB;desc=x;dur=53.25\r\nOdd: many\r\n\r\n";
        let mut found = Vec::new();
        of.expect("series").in_head(head, |at, value| found.push((at, value)));
        assert_eq!(found, [(0, Some(17.0)), (1, Some(53.25)), (3, None)]);
    }
}
