//! Applies all rules to every situation: the right finding comes first, and no finding is wrong.
mod situations;

use answers::rules;
use answers::verdict::Subject;
use situations::all::all;

#[test]
fn the_right_rule_speaks_first_in_every_situation() {
    let (mut wrong, mut missed, mut table) = (0, Vec::new(), String::new());
    for situation in all() {
        let verdict = rules::verdict(&situation.record);
        let spoke: Vec<&str> = verdict.findings.iter().map(|finding| finding.id).collect();
        let hidden: Vec<&str> = verdict.hidden.iter().map(|finding| finding.id).collect();
        let first = spoke.first().copied().unwrap_or("");
        let others = spoke.iter().filter(|id| **id != situation.right);
        let false_ones = others.filter(|id| !situation.beside.contains(id)).count();
        wrong += false_ones;
        if first != situation.right {
            missed.push(situation.name);
        }
        let mark = if first == situation.right && false_ones == 0 { " " } else { "!" };
        table += &format!(
            "{mark} {:42} {:18} {}{}\n",
            situation.name,
            if situation.right.is_empty() { "-" } else { situation.right },
            if spoke.is_empty() { "-".into() } else { spoke.join(", ") },
            if hidden.is_empty() {
                String::new()
            } else {
                format!("  (hidden: {})", hidden.join(", "))
            },
        );
    }
    println!(
        "{table}{} situations without the right rule first, {wrong} wrong findings",
        missed.len()
    );
    assert!(missed.is_empty(), "{missed:?}\n{table}");
    assert_eq!(wrong, 0, "{table}");
}

#[test]
fn a_finding_has_both_languages_a_page_and_figures() {
    for situation in all() {
        let verdict = rules::verdict(&situation.record);
        for finding in verdict.findings.iter().chain(&verdict.hidden) {
            let id = finding.id;
            for words in [&finding.words, &finding.advice] {
                assert!(
                    words.en.ends_with(['.', '!', ':']) || words.en.len() > 20,
                    "{id}: {words:?}"
                );
                assert!(!words.zh.is_empty() && !words.zh.is_ascii(), "{id}: {words:?}");
                let open = |text: &str| text.contains('{') || text.contains("NaN");
                assert!(!open(&words.en) && !open(&words.zh), "{id}: {words:?}");
            }
            assert!(
                finding.evidence.iter().all(|e| e.value.is_finite()),
                "{id}: {:?}",
                finding.evidence
            );
            assert_eq!(finding.doc, format!("throng explain {id}"));
            // Charts of hosts and series are chosen by the subjects of a finding.
            let of_several = rules::charts(id).iter().any(|chart| chart.ends_with('.'));
            assert!(!of_several || !finding.subjects.is_empty(), "{id} names no subject");
            for Subject::Host(name) | Subject::Series(name) in &finding.subjects {
                assert!(finding.words.en.contains(name), "{id}: {name}: {:?}", finding.words);
            }
        }
    }
}
