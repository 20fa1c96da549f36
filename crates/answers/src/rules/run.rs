//! A run as rules read it: its record, intermediate results that several rules need, and the verdict.
//!
//! Some rules are silent if another rule has a finding, and a few rules read the courses of all labels. Each is
//! computed only once: recomputing them for each rule took as long as everything else on a record with many labels.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;

use record::frame::{ENDLESS, MAIN_GROUP};
use record::{Ending, Record};
use stats::Counter;

use super::courses::Courses;
use super::errors::{EARLIER_MS, cut_short};
use super::figures::{counter, stop_ms, sum};
use super::realism::setting;
use super::say::words;
use crate::unread;
use crate::verdict::{About, Confidence, Finding, Said, Unchecked, Verdict, Words, in_order};

/// A rule of the verdict: a pure function of a run's record.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub id: &'static str,
    /// Subject of the rule in a few words, in English and Chinese.
    pub looks_for: (&'static str, &'static str),
    /// Ids of the charts that show the rule's findings.
    pub charts: &'static [&'static str],
    /// Applies the rule to a record.
    pub judge: fn(&Run<'_>) -> Said,
}

/// A record while rules are applied to it.
pub struct Run<'r> {
    record: &'r Record,
    rules: &'r [Rule],
    said: RefCell<BTreeMap<&'static str, Said>>,
    courses: OnceCell<Option<Courses<'r>>>,
}

impl Deref for Run<'_> {
    type Target = Record;

    fn deref(&self) -> &Record {
        self.record
    }
}

impl<'r> Run<'r> {
    pub fn new(record: &'r Record, rules: &'r [Rule]) -> Self {
        Self { record, rules, said: RefCell::default(), courses: OnceCell::new() }
    }

    pub(super) fn record(&self) -> &'r Record {
        self.record
    }

    /// Returns the result of a rule, which is applied at most once.
    pub(crate) fn said(&self, rule: &Rule) -> Said {
        if let Some(said) = self.said.borrow().get(rule.id) {
            return said.clone();
        }
        let said = (rule.judge)(self);
        self.said.borrow_mut().insert(rule.id, said.clone());
        said
    }

    /// True if the rule named `id` has a finding.
    pub(super) fn finds(&self, id: &str) -> bool {
        let rule = self.rules.iter().find(|rule| rule.id == id);
        debug_assert!(rule.is_some(), "there is no rule {id}");
        rule.is_some_and(|rule| self.said(rule).is_found())
    }

    /// Applies the rules in their order.
    pub(super) fn judge(&self) -> Verdict {
        let (mut verdict, mut found) = (Verdict::default(), Vec::new());
        for rule in self.rules {
            match self.said(rule) {
                Said::Nothing => verdict.silent.push(rule.id),
                Said::Lacks(source, lacks) => {
                    let (en, zh) = rule.looks_for;
                    let looks_for = Words { en: en.into(), zh: zh.into() };
                    verdict.unchecked.push(Unchecked { id: rule.id, looks_for, lacks, source });
                }
                Said::Found(finding) => found.push(*finding),
            }
        }
        let doubtful = found.iter().any(|finding| finding.about == About::Generator);
        let is_hidden = |finding: &Finding| doubtful && finding.is_doubtful();
        let (hidden, shown) = found.into_iter().partition(is_hidden);
        verdict.hidden = hidden;
        verdict.findings = in_order(shown);
        verdict.undecided = undecided(self.record, &verdict);
        verdict
    }

    /// Returns the courses of the seconds whose times are comparable.
    pub(super) fn courses(&self) -> Option<&Courses<'r>> {
        self.courses.get_or_init(|| Courses::of(self.record, |id| self.finds(id))).as_ref()
    }
}

/// Applies rules in their order.
pub fn judge(record: &Record, rules: &[Rule]) -> Verdict {
    Run::new(record, rules).judge()
}

/// Returns the reason why a run's data do not decide whether something is wrong, if they do not. If errors ended
/// the load, the findings hold, but cover only the load that was made. Otherwise a firm finding about the target
/// decides, even without samples or if errors are unknown.
fn undecided(record: &Record, verdict: &Verdict) -> Option<Words> {
    if let Some(why) = cut_short(record).or_else(|| lacks_load(record)) {
        return Some(why);
    }
    let is_firm = |finding: &Finding| {
        matches!(finding.about, About::Target | About::Run)
            && finding.confidence != Confidence::Hint
    };
    if verdict.findings.iter().any(is_firm) {
        return None;
    }
    if record.seconds.iter().all(|second| second.all.count == 0) {
        Some(words!(run_without_samples))
    } else if !record.knows_errors() {
        Some(words!(file_without_success))
    } else {
        unread::undecided(record).or_else(|| ended_early(record))
    }
}

/// Returns a phrase about a run in which only setUp and tearDown thread groups sent requests, although its plan has
/// main thread groups.
fn lacks_load(record: &Record) -> Option<Words> {
    let aside = counter(&record.seconds, Counter::RequestsAside);
    let lacks = aside > 0
        && setting(record, MAIN_GROUP).is_some()
        && sum(&record.seconds, |second| second.all.count) <= aside;
    lacks.then(|| words!(no_samples_of_main_groups))
}

/// Returns a phrase about a run that was interrupted before its planned end: the reason why such a run is undecided.
pub fn interrupted() -> Words {
    words!(run_interrupted)
}

/// Returns a phrase about a run that was interrupted or aborted before its planned end. An interrupt is the normal
/// end of a plan with endless loops.
fn ended_early(record: &Record) -> Option<Words> {
    let planned = record.frame.load.length_ms.map(|length| record.frame.start_ms + length);
    let is_at_end = || planned.zip(stop_ms(record)).is_some_and(|(end, at)| at + EARLIER_MS > end);
    match &record.frame.ending {
        Ending::Interrupted if setting(record, ENDLESS).is_none() && !is_at_end() => {
            Some(interrupted())
        }
        Ending::Aborted(reason) => Some(words!(run_ended_early(reason))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::verdict::Source;

    #[test]
    fn a_rule_looks_once_however_many_ask() {
        static LOOKS: AtomicUsize = AtomicUsize::new(0);
        let judge = |run: &Run<'_>| {
            LOOKS.fetch_add(1, Ordering::Relaxed);
            assert!(run.seconds.is_empty());
            Said::Nothing
        };
        let rule = Rule { id: "one", looks_for: ("", ""), charts: &[], judge };
        let record = Record::default();
        let rules = [rule];
        let run = Run::new(&record, &rules);
        assert!((0..3).all(|_| !run.said(&rule).is_found() && !run.finds("one")));
        assert_eq!(LOOKS.load(Ordering::Relaxed), 1);
    }

    fn said(id: &'static str, about: About, confidence: Confidence) -> Said {
        let words = |text: &str| Words { en: text.into(), zh: text.into() };
        let (words, advice) = (words(id), words(""));
        let (evidence, exonerates, doc) = (Vec::new(), Vec::new(), String::new());
        Said::Found(Box::new(Finding {
            id,
            about,
            confidence,
            words,
            evidence,
            exonerates,
            advice,
            doc,
            explains: &[],
            subjects: Vec::new(),
        }))
    }

    #[test]
    fn a_generator_in_doubt_hides_what_is_not_certain_about_the_target() {
        let rule = |id, judge| Rule { id, looks_for: ("", ""), charts: &[], judge };
        let rules = [
            rule("busy", |_| said("busy", About::Generator, Confidence::Arithmetic)),
            rule("slow", |_| said("slow", About::Target, Confidence::Statistical)),
            rule("refused", |_| said("refused", About::Target, Confidence::Certain)),
        ];
        let verdict = judge(&Record::default(), &rules);
        let ids = |of: &[Finding]| of.iter().map(|finding| finding.id).collect::<Vec<_>>();
        assert_eq!(ids(&verdict.findings), ["busy", "refused"]);
        assert_eq!(ids(&verdict.hidden), ["slow"]);
    }

    #[test]
    fn a_hint_explains_nothing_that_is_more_than_a_hint() {
        let explaining = |confidence| {
            let Said::Found(found) = said("reason", About::Run, confidence) else { return None };
            Some(Finding { explains: &["error"], ..*found })
        };
        let order = |confidence| {
            let Said::Found(error) = said("error", About::Run, Confidence::Certain) else {
                return Vec::new();
            };
            let all = explaining(confidence).into_iter().chain([*error]).collect();
            in_order(all).iter().map(|finding| finding.id).collect::<Vec<_>>()
        };
        assert_eq!(order(Confidence::Statistical), ["reason", "error"]);
        assert_eq!(order(Confidence::Hint), ["error", "reason"]);
    }

    #[test]
    fn a_limit_is_looked_for_in_an_open_load_that_is_kept_up() {
        let nothing = |id| Rule { id, looks_for: ("", ""), charts: &[], judge: |_| Said::Nothing };
        let lacks = |_: &Run<'_>| {
            let light = Words { en: "a light load".into(), ..Words::default() };
            Said::Lacks(Source::Other, light)
        };
        let limit =
            Rule { id: "concurrency_limit", looks_for: ("a limit", ""), charts: &[], judge: lacks };
        let closed = judge(&Record::default(), &[nothing("stalls"), limit]);
        assert_eq!(closed.lacks_for_limit().map(|words| &*words.en), Some("a light load"));
        let open = judge(&Record::default(), &[nothing("queue_grows"), limit]);
        assert_eq!(open.lacks_for_limit(), None);
    }
}
