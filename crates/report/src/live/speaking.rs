//! Selection of the findings that a live page shows. A rule's findings appear after the rule has reported twice in
//! a row, and disappear after it has been silent three times in a row. So a metric near a threshold does not make a
//! finding flicker.

use answers::verdict::{Finding, Verdict};

pub(super) const TO_COME: u32 = 2;
const TO_GO: u32 = 3;

#[derive(Debug)]
struct Rule {
    id: &'static str,
    /// The newest findings of the rule.
    findings: Vec<Finding>,
    hidden: Vec<Finding>,
    spoke: u32,
    silent: u32,
    shown: bool,
}

/// The rules that have reported findings recently, in the order of the verdict.
#[derive(Debug, Default)]
pub(super) struct Speaking {
    rules: Vec<Rule>,
}

impl Speaking {
    /// Updates the selection with the current findings. Returns the findings to show, together with the silent and the
    /// unchecked rules.
    pub(super) fn hear(&mut self, said: &Verdict) -> Verdict {
        let of = |list: &[Finding], id| {
            list.iter().filter(|finding| finding.id == id).cloned().collect::<Vec<_>>()
        };
        let mut rules: Vec<Rule> = Vec::new();
        for id in said.findings.iter().chain(&said.hidden).map(|finding| finding.id) {
            if rules.iter().any(|rule| rule.id == id) {
                continue;
            }
            let (findings, hidden) = (of(&said.findings, id), of(&said.hidden, id));
            let before = self.rules.iter().find(|rule| rule.id == id);
            let spoke = before.map_or(0, |rule| rule.spoke).saturating_add(1);
            let shown = before.is_some_and(|rule| rule.shown) || spoke >= TO_COME;
            rules.push(Rule { id, findings, hidden, spoke, silent: 0, shown });
        }
        for rule in self.rules.drain(..) {
            let silent = rule.silent + 1;
            if rule.shown && silent < TO_GO && !rules.iter().any(|other| other.id == rule.id) {
                rules.push(Rule { silent, spoke: 0, ..rule });
            }
        }
        self.rules = rules;
        let shown = || self.rules.iter().filter(|rule| rule.shown);
        Verdict {
            findings: shown().flat_map(|rule| rule.findings.clone()).collect(),
            hidden: shown().flat_map(|rule| rule.hidden.clone()).collect(),
            silent: said.silent.clone(),
            unchecked: said.unchecked.clone(),
            undecided: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use answers::verdict::{About, Confidence, Words};

    use super::*;

    fn verdict(ids: &[&'static str]) -> Verdict {
        let words = || Words { en: String::new(), zh: String::new() };
        let finding = |id: &&'static str| Finding {
            id,
            about: About::Target,
            confidence: Confidence::Hint,
            words: words(),
            evidence: Vec::new(),
            exonerates: Vec::new(),
            advice: words(),
            doc: String::new(),
            explains: &[],
            subjects: Vec::new(),
        };
        Verdict { findings: ids.iter().map(finding).collect(), ..Verdict::default() }
    }

    #[test]
    fn a_rule_comes_when_it_insists_and_goes_when_it_stays_silent() {
        let mut speaking = Speaking::default();
        let mut hear = |ids: &[&'static str]| -> Vec<&'static str> {
            speaking.hear(&verdict(ids)).findings.iter().map(|finding| finding.id).collect()
        };
        assert!(hear(&["a"]).is_empty(), "once is chance");
        assert!(hear(&[]).is_empty());
        assert!(hear(&["a"]).is_empty(), "twice, but not in a row");
        assert_eq!(hear(&["a", "b"]), ["a"]);
        assert_eq!(hear(&["b"]), ["b", "a"], "a was silent once");
        assert_eq!(hear(&["b"]), ["b", "a"]);
        assert_eq!(hear(&["a", "b"]), ["a", "b"], "and speaks again");
        assert_eq!(hear(&["b"]), ["b", "a"]);
        assert_eq!(hear(&["b"]), ["b", "a"]);
        assert_eq!(hear(&["b"]), ["b"], "three times silent");
    }
}
