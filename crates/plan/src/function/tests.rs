//! Expressions against what JMeter 5.6.3 makes of them.
//!
//! The tables were written by JMeter itself (see `tables/Record.java`): expression, then `= value` or `THROWS class:
//! message` or `INVALID message`, then the variables that it set. Backslashes and line ends are escaped in them.

use jiff::tz::TimeZone;

use super::{Level, Memory, Shared, catalogue};
use crate::env::{Env, Scratch, Who};
use crate::text::{Problem, Reason, Text, TextCompiler};
use crate::vars::{Names, Vars};

/// A user with everything that evaluating needs.
struct Bench {
    names: Names,
    vars: Vars,
    memory: Memory,
    notes: crate::element::Memory,
    run: crate::element::RunState,
    shared: Shared,
    core: Scratch,
    user: u32,
}

impl Bench {
    fn new(names: Names) -> Self {
        let (log, _) = std::sync::mpsc::channel();
        let shared = Shared::new([("prop", "  pv "), ("time.USER1", "dd/MM")], "", log);
        Self {
            names,
            vars: Vars::default(),
            memory: Memory::default(),
            notes: crate::element::Memory::default(),
            run: crate::element::RunState::default(),
            shared,
            core: Scratch::new(1),
            user: 6,
        }
    }

    fn eval(&mut self, text: &Text) -> String {
        let mut out = String::new();
        let who = Who { plan_file: "plan.jmx", group: "Group", group_number: 1, user: self.user, iteration: 1, sampler: "GET" };
        let mut env = Env {
            names: &self.names,
            vars: &mut self.vars,
            who,
            memory: &mut self.memory,
            notes: &mut self.notes,
            run: &self.run,
            shared: &self.shared,
            core: &mut self.core,
            now_ms: 1_732_175_999_007,
        };
        text.eval(&mut env, &mut out);
        out
    }
}

/// Compiles the texts of one plan.
fn compiled<const N: usize>(sources: [&str; N]) -> ([Text; N], Bench, Vec<Problem>) {
    let mut compiler = TextCompiler::default();
    let texts = sources.map(|source| Text::compile(source, &mut compiler));
    (texts, Bench::new(compiler.names), compiler.problems)
}

fn evaluated(source: &str) -> String {
    let ([text], mut bench, _) = compiled([source]);
    bench.eval(&text)
}

const VARIABLES: [(&str, &str); 8] = [
    ("a", "1"),
    ("b", "two"),
    ("n", "3"),
    ("a_3", "A3"),
    ("txt", "x${a}y\\,"),
    ("bad", "${__P()}"),
    ("e", ""),
    ("q$", "dollar"),
];

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            _ => c,
        });
    }
    out
}

/// What JMeter would have written for an expression.
fn outcome(source: &str, zone: &TimeZone) -> String {
    let mut compiler = TextCompiler::default();
    let text = Text::compile(&unescaped(source), &mut compiler);
    let invalid = compiler.problems.iter().find_map(|problem| match &problem.reason {
        Reason::Invalid(message) => Some(message.clone()),
        _ => None,
    });
    if let Some(message) = invalid {
        return format!("INVALID {}", escaped(&message));
    }
    let mut bench = Bench::new(compiler.names);
    bench.shared = std::mem::take(&mut bench.shared).in_zone(zone.clone());
    for (name, value) in VARIABLES {
        bench.vars.set_named(&bench.names, name, value);
    }
    let value = bench.eval(&text);
    if let Some(thrown) = bench.core.thrown {
        return format!("THROWS {}: {}", thrown.class, escaped(&thrown.message));
    }
    let mut set: Vec<_> = bench
        .vars
        .iter(&bench.names)
        .filter(|pair| !VARIABLES.contains(pair))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    set.sort();
    let set = if set.is_empty() { String::new() } else { format!("\t{}", escaped(&format!("{{{}}}", set.join(", ")))) };
    format!("= {}{set}", escaped(&value))
}

fn check(table: &str, zone: &TimeZone) {
    let lines: Vec<_> = table.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(!lines.is_empty());
    let wrong: Vec<_> = lines
        .iter()
        .map(|(source, expected)| (source, expected, outcome(source, zone)))
        .filter(|(_, expected, got)| *expected != got)
        .map(|(source, expected, got)| format!("{source}\n  JMeter {expected}\n  here   {got}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

#[test]
fn parser() {
    check(include_str!("tables/parser.tsv"), &TimeZone::UTC);
}
