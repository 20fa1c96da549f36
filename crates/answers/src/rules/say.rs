//! Helpers that build findings and their texts.

use super::figures::Span;
use super::texts;
use crate::verdict::{About, Confidence, Evidence, Finding, Language, Said, Subject, Words};

/// Builds a text of the catalogue in all languages: `words!(name)`, or `words!(name(value, other = expression))` for a
/// text with values. A value that is [`Words`] is inserted in the language of the text.
macro_rules! words {
    ($name:ident) => {
        $crate::verdict::Words {
            en: $crate::rules::texts::en::$name().to_owned(),
            zh: $crate::rules::texts::zh::$name().to_owned(),
        }
    };
    ($name:ident($($value:ident $(= $from:expr)?),+ $(,)?)) => {{
        use $crate::rules::texts::Value as _;
        $crate::verdict::Words {
            en: $crate::rules::texts::en::$name {
                $($value: $crate::rules::say::value!(English, $value $(, $from)?)),+
            }
            .text(),
            zh: $crate::rules::texts::zh::$name {
                $($value: $crate::rules::say::value!(Chinese, $value $(, $from)?)),+
            }
            .text(),
        }
    }};
}
pub(crate) use words;

/// Returns a value of a text in a language: the expression if there is one, otherwise the variable of that name.
macro_rules! value {
    ($language:ident, $name:ident, $from:expr) => {
        $from.in_language($crate::verdict::Language::$language)
    };
    ($language:ident, $name:ident) => {
        $name.in_language($crate::verdict::Language::$language)
    };
}
pub(crate) use value;

/// Builds the result of a rule that lacks data: of runs (`run:`), of watched hosts (`hosts:`), or other data.
macro_rules! lacks {
    (run: $($text:tt)+) => {
        $crate::rules::say::lacks!(@Run $($text)+)
    };
    (hosts: $($text:tt)+) => {
        $crate::rules::say::lacks!(@Hosts $($text)+)
    };
    (@$source:ident $($text:tt)+) => {
        $crate::verdict::Said::Lacks(
            $crate::verdict::Source::$source,
            $crate::rules::say::words!($($text)+),
        )
    };
    ($($text:tt)+) => {
        $crate::rules::say::lacks!(@Other $($text)+)
    };
}
pub(crate) use lacks;

/// Builds a finding of a rule.
pub(crate) fn found(
    id: &'static str,
    about: About,
    confidence: Confidence,
    words: Words,
) -> Finding {
    Finding {
        id,
        about,
        confidence,
        words,
        evidence: Vec::new(),
        exonerates: Vec::new(),
        advice: Words::default(),
        doc: format!("throng explain {id}"),
        explains: &[],
        subjects: Vec::new(),
    }
}

impl Finding {
    pub(crate) fn with(self, metric: &str, value: f64, unit: &'static str, span: Span) -> Self {
        self.between(metric, value, unit, None, span)
    }

    pub(crate) fn between(
        mut self,
        metric: &str,
        value: f64,
        unit: &'static str,
        interval: Option<(f64, f64)>,
        (from_ms, to_ms): Span,
    ) -> Self {
        let metric = metric.to_owned();
        self.evidence.push(Evidence { metric, value, unit, interval, from_ms, to_ms });
        self
    }

    pub(crate) fn rules_out(mut self, words: Words) -> Self {
        self.exonerates.push(words);
        self
    }

    pub(crate) fn advise(mut self, words: Words) -> Self {
        self.advice = words;
        self
    }

    /// Names watched hosts that the finding is about.
    pub(crate) fn on_hosts<'h>(mut self, hosts: impl IntoIterator<Item = &'h str>) -> Self {
        self.subjects.extend(hosts.into_iter().map(|host| Subject::Host(host.to_owned())));
        self
    }

    /// Names a number series that the finding is about.
    pub(crate) fn on_series(mut self, name: &str) -> Self {
        self.subjects.push(Subject::Series(name.to_owned()));
        self
    }

    pub(crate) fn explaining(mut self, rules: &'static [&'static str]) -> Self {
        self.explains = rules;
        self
    }

    pub(crate) fn said(self) -> Said {
        Said::Found(Box::new(self))
    }
}

impl Words {
    /// Appends a sentence or a phrase.
    pub(crate) fn push(&mut self, more: &Self) {
        self.en += &more.en;
        self.zh += &more.zh;
    }
}

/// Returns a name or a number that is the same in all languages.
pub(crate) fn same(text: impl Into<String>) -> Words {
    let text = text.into();
    Words { en: text.clone(), zh: text }
}

/// Joins phrases to a list.
pub(crate) fn joined(parts: &[Words]) -> Words {
    let of = |language, between: &str| {
        parts.iter().map(|part| part.of(language)).collect::<Vec<_>>().join(between)
    };
    Words {
        en: of(Language::English, texts::en::list_separator()),
        zh: of(Language::Chinese, texts::zh::list_separator()),
    }
}

/// Joins names to a list.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> Words {
    joined(&names.iter().map(|name| same(name.as_ref())).collect::<Vec<_>>())
}

/// Writes the first letter of an English phrase in upper case.
pub(crate) fn capitalized(Words { en, zh }: Words) -> Words {
    let (first, rest) = en.split_at(1);
    Words { en: format!("{}{rest}", first.to_uppercase()), zh }
}

/// Formats a number of things: with the noun in English, without it in Chinese, where the text contains the noun.
pub(crate) fn counted_things(n: u64, noun: &str) -> Words {
    Words { en: stats::grouped::things(n, noun), zh: stats::grouped::count(n) }
}

/// Formats a size in bytes.
pub(crate) fn size(bytes: u64) -> Words {
    Words { en: stats::grouped::bytes(bytes), zh: stats::grouped::bytes_zh(bytes) }
}

/// Returns the excluded cause "more load", for periods under the same load.
pub(crate) fn same_load() -> Words {
    words!(not_more_load)
}

/// Formats a time in ms for people; in seconds from 1 s on.
pub(crate) fn time(ms: f64) -> String {
    match ms {
        ms if ms >= 10_000.0 => stats::grouped::seconds(ms as u64),
        ms if ms >= 1000.0 => format!("{:.1} s", ms / 1000.0),
        ms if ms >= 10.0 => format!("{ms:.0} ms"),
        ms if ms >= 1.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.2} ms"),
    }
}

/// Formats a number with two to three significant digits.
pub(crate) fn number(value: f64) -> String {
    match value {
        v if v >= 100.0 => stats::grouped::count(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Formats a mean count (users, requests in flight, connections) as a whole number; `<1` if it is positive and below
/// 0.5.
pub(crate) fn counted(mean: f64) -> String {
    if mean > 0.0 && mean < 0.5 {
        return "<1".to_owned();
    }
    stats::grouped::count(mean.round() as u64)
}

/// Formats a time since the start of the run, in ms, as `m:ss`.
pub(crate) fn clock(since_ms: i64) -> String {
    let s = since_ms.max(0) / 1000;
    format!("{}:{:02}", s / 60, s % 60)
}

/// Prepares a sentence for use within another sentence: removes the full stop, and writes a leading "The" in lower
/// case.
pub fn part(Words { en, zh }: &Words) -> Words {
    let (en, zh) = (en.trim_end_matches('.'), zh.trim_end_matches('。'));
    let rest = en.strip_prefix("The ").map(|rest| format!("the {rest}"));
    Words { en: rest.unwrap_or_else(|| en.to_owned()), zh: zh.to_owned() }
}
