//! `throng explain`: prints the documentation of what the program's messages refer to: a rule of the verdict, an
//! exit code, or a page. The pages are part of the program, so that they are available wherever it is installed.

mod page;

use answers::rules;

use crate::args::flags;
use crate::exit::Exit;
use crate::inputs::suggest::nearest;
use crate::print::{terminal, tty};

const VERDICT: &str = include_str!("../../../../docs/verdict.md");
const CODES: &str = include_str!("../../../../docs/exit-codes.md");
const LOAD: &str = include_str!("../../../../docs/load.md");

/// Largest width of printed lines in columns, because longer lines are hard to read.
const WIDEST: usize = 100;

/// A page or a section that can be printed by name, with its subject.
struct Page {
    name: &'static str,
    subject: &'static str,
    text: &'static str,
    /// Heading of the section; empty for the whole page.
    section: &'static str,
}

const PAGES: &[Page] = &[
    Page { name: "start-here", subject: "a first test in ten minutes", text: START, section: "" },
    Page {
        name: FIRST_PLAN,
        subject: "a plan for one address, to write into plan.jmx",
        text: PLAN,
        section: "",
    },
    Page { name: "exit-codes", subject: "all exit codes", text: CODES, section: "" },
    Page {
        name: "criteria",
        subject: "conditions for --fail and --abort-if",
        text: LOAD,
        section: "## Criteria",
    },
    Page {
        name: "websocket",
        subject: "WebSocket samplers and their properties",
        text: include_str!("../../../../docs/websocket.md"),
        section: "",
    },
    Page {
        name: "mgs",
        subject: "RPC Gateway Security: signed and encrypted requests",
        text: include_str!("../../../../docs/mgs.md"),
        section: "",
    },
];

/// Name of the page that is a plan. It is printed unchanged: `throng explain first-plan > plan.jmx`.
const FIRST_PLAN: &str = "first-plan";
/// Content of the page `first-plan`: the plan of the first example.
const PLAN: &str = include_str!("../../../../examples/00-one-request/plan.jmx");

const START: &str = include_str!("../../../../docs/start-here.md");

/// Prints the section with this name, or the list of all names.
pub(crate) fn run(name: Option<&str>) -> Exit {
    let width = tty::output_width().unwrap_or(80).min(WIDEST);
    let Some(name) = name else {
        terminal::out(&list());
        return Exit::Ok;
    };
    if let Some(text) = text_of(name) {
        let shown = if text == PLAN { PLAN.to_owned() } else { page::rendered(text, width) };
        terminal::out(&shown);
        return Exit::Ok;
    }
    terminal::error(&unknown(name));
    terminal::err("throng explain lists all names.\n");
    Exit::Usage
}

/// Returns the Markdown for a name in any of its spellings: `rate_limit`, `rate-limit`, `docs/verdict.md#rate_limit`.
fn text_of(name: &str) -> Option<&'static str> {
    let name = name.rsplit_once('#').map_or(name, |(_, name)| name).trim().to_lowercase();
    let name = name.strip_prefix("docs/").unwrap_or(&name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let rule = name.replace('-', "_");
    if rules().any(|id| id == rule) {
        return page::section(VERDICT, &format!("### {rule}"));
    }
    if codes().any(|(code, _)| code == name) {
        return page::section(CODES, &format!("## {name}:"));
    }
    let dashed = name.replace('_', "-");
    let page = PAGES.iter().find(|page| page.name == dashed)?;
    if page.section.is_empty() { Some(page.text) } else { page::section(page.text, page.section) }
}

/// Returns the ids of all rules in the order of the page.
fn rules() -> impl Iterator<Item = &'static str> {
    VERDICT.lines().filter_map(|line| line.strip_prefix("### "))
}

/// Returns the exit codes with their names.
fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let headings = CODES.lines().filter_map(|line| line.strip_prefix("## "));
    headings.filter_map(|heading| heading.split_once(": "))
}

/// Returns the list of all names with a line for each.
fn list() -> String {
    let mut text =
        "throng explain NAME prints what a name means, and what it rests on.\n".to_owned();
    let mut part = |heading: &str, rows: &mut dyn Iterator<Item = (&str, String)>| {
        text.push_str(&format!("\n{heading}:\n"));
        for (name, subject) in rows {
            text.push_str(&format!("  {name:<18} {subject}\n"));
        }
    };
    let subject = |id| rules::looks_for(id).map(|words| words.en).unwrap_or_default();
    part("Rules of the verdict", &mut rules().map(|id| (id, subject(id))));
    part("Exit codes", &mut codes().map(|(code, name)| (code, name.to_owned())));
    part("Pages", &mut PAGES.iter().map(|page| (page.name, page.subject.to_owned())));
    text
}

/// Returns the message about an unknown name, with similar names.
fn unknown(name: &str) -> String {
    let lower = name.to_lowercase();
    let known: Vec<&str> = rules().chain(PAGES.iter().map(|page| page.name)).collect();
    let near = nearest(&lower.replace('-', "_"), known.iter().copied());
    let near = near.or_else(|| nearest(&lower, known.iter().copied()));
    if let Some(near) = near {
        return format!("there is nothing named {name}: did you mean throng explain {near}?");
    }
    if flags::is_verb(&lower) {
        return format!("{name} is a command: throng help {lower} describes it");
    }
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let is_like = |id: &&str| words.iter().any(|word| word.len() > 2 && id.contains(word));
    let like: Vec<&str> = known.into_iter().filter(is_like).collect();
    if like.is_empty() {
        format!("there is nothing named {name}")
    } else {
        format!("there is nothing named {name}; names like it: {}", like.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_has_a_text_and_a_subject() {
        let names = rules().chain(codes().map(|code| code.0)).chain(PAGES.iter().map(|p| p.name));
        for name in names {
            let text = text_of(name).unwrap_or_else(|| panic!("{name}"));
            let shown = page::rendered(text, 80);
            assert!(shown.lines().count() >= 3, "{name}: {shown}");
            assert!(!shown.contains("](") && !shown.contains("**"), "{name}: {shown}");
        }
        for id in rules() {
            assert!(rules::looks_for(id).is_some(), "{id}");
        }
    }

    #[test]
    fn names_are_found_in_the_spellings_of_messages() {
        let rule = text_of("rate_limit").expect("a rule");
        assert!(rule.starts_with("### rate_limit\n") && !rule.contains("\n### "), "{rule}");
        for name in ["rate-limit", "RATE_LIMIT", "docs/verdict.md#rate_limit"] {
            assert_eq!(text_of(name), Some(rule), "{name}");
        }
        assert!(text_of("6").is_some_and(|text| text.starts_with("## 6: undecided\n")));
        assert!(text_of("docs/mgs.md").is_some() && text_of("60").is_none());
        assert!(unknown("rate_limt").contains("did you mean throng explain rate_limit?"));
        assert!(unknown("capacity").contains("throng help capacity"));
        assert!(unknown("the ports").contains("ports, host_ports"), "{}", unknown("the ports"));
    }
}
