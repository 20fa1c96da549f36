//! Compares simple scripts with JMeter 5.6.3.
//!
//! JMeter wrote the table (see `tables/Record.java`): the role of each script, its source, and its outcome with each
//! set of initial variables (`SETTINGS`). The environment variable `THRONG_SCRIPTS` names another table to check in the
//! same way, which may also contain scripts that are not simple.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::mpsc::{Receiver, channel};

use super::{Language, NotSimple, Role, Script, ScriptKind, compile};
use crate::env::Env;
use crate::function::{Level, OutputLine, Shared};
use crate::result::{AssertionResult, Request, SampleResult};
use crate::template::{Template, TemplateCompiler};
use crate::vars::Names;
use crate::world::{World, column, text_of};

type Setting = &'static [(&'static str, &'static str)];

const SETTINGS: [Setting; 4] = [
    &[],
    &[
        ("a", "1"),
        ("b", "two"),
        ("n", "3"),
        ("e", ""),
        ("t", "  x y "),
        ("u", "http://h/p?q=1"),
        ("d", "1.5"),
        ("f", "true"),
    ],
    &[
        ("a", "abc"),
        ("b", "abc"),
        ("n", "x7"),
        ("e", "e"),
        ("t", "T"),
        ("u", "\u{e9}\u{20ac}\u{1f600}z"),
        ("d", "1e3"),
        ("f", "FALSE"),
    ],
    &[
        ("a", "2147483647"),
        ("b", "-7"),
        ("n", "0"),
        ("e", " "),
        ("t", "a\\b\"c'd$e\nf"),
        ("u", "u"),
        ("d", "-0.1"),
        ("f", ""),
    ],
];

const PROPERTIES: [(&str, &str); 2] = [("p", " pv "), ("q", "7")];

fn place(words: &str) -> ScriptKind {
    let (language, role) = words.split_once('.').expect("a place");
    let role = match role {
        "before" => Role::Before,
        "after" => Role::After,
        "sampler" => Role::Sampler,
        "assertion" => Role::Assertion,
        "timer" => Role::Timer,
        "function" => Role::Function,
        other => panic!("{other}"),
    };
    let groovy = language == "g";
    ScriptKind {
        language: if groovy { Language::Groovy } else { Language::BeanShell },
        role,
        jsr223: language == "j" || groovy && role != Role::Function,
    }
}

/// Returns the outcome of a script that starts with the variables of `setting`, in the table's format.
fn outcome(script: &Script, names: &Names, setting: Setting, source: &str) -> String {
    let (log, said) = channel();
    let shared = Shared::new(PROPERTIES, "/plans", log);
    let mut world = World::named(names.clone(), shared);
    for (name, value) in setting {
        world.set(name, value);
    }
    let mut out = String::new();
    world.with(|_, env| run_in_role(script, source, setting, env, &mut out));
    let before: BTreeMap<_, _> = setting.iter().copied().collect();
    let after: BTreeMap<_, _> = world.vars.iter(&world.plan.names).collect();
    changes(" V", &before, &after, &mut out);
    let all = world.shared.properties();
    let after: BTreeMap<_, _> = all.iter().map(|(name, value)| (&**name, &**value)).collect();
    changes(" P", &PROPERTIES.into_iter().collect(), &after, &mut out);
    drop(world);
    write_log(&said, &mut out);
    out.trim().to_owned()
}

/// Runs a script in the role of its element on a completed sample, and appends the state of the sample afterwards to
/// `out`.
fn run_in_role(
    script: &Script,
    source: &str,
    setting: Setting,
    env: &mut Env<'_>,
    out: &mut String,
) {
    let mut result = SampleResult::default();
    result.clear();
    result.label.push_str("GET");
    result.code.push_str("201");
    result.message.push_str("Made");
    result.response_headers.push_str("HTTP/1.1 201 Made\nX: y\n");
    let _ = write!(result.text, "body of <b>{}</b>", setting.len());
    let mut finding = AssertionResult::default();
    let parameters = Template::compile("one  two", &mut TemplateCompiler::default());
    match script.place.role {
        Role::Before | Role::After | Role::Listener => {
            script.process("Script", &parameters, Some(&mut result), env);
            if script.place.role == Role::After {
                tell(&result, out);
            }
        }
        Role::Timer => {
            let _ = write!(out, "delay={}", script.delay("Script", &parameters, env));
        }
        Role::Assertion => {
            script.check("Script", &parameters, &mut result, &mut finding, env);
            tell(&result, out);
            let words = if finding.has_message { &*finding.message } else { "null" };
            let _ =
                write!(out, " failure={} error={} words={words}", finding.failure, finding.error);
        }
        Role::Sampler => {
            result.clear();
            result.label.push_str("Script");
            script.sample(source, "Script", &parameters, &mut result, env);
            tell(&result, out);
            let _ = write!(out, " data={}", result.text);
            if result.sampler_data != source {
                let _ = write!(out, " request={}", result.sampler_data);
            }
        }
        Role::Function => {
            let mut value = String::new();
            script.function(env, &mut value);
            let _ = write!(out, "={value}");
        }
    }
}

fn tell(result: &SampleResult, out: &mut String) {
    let SampleResult { label, code, message, success, .. } = result;
    let _ = write!(out, "{label} {code} {message} {success}");
    if result.ignore {
        out.push_str(" ignored");
    }
    out.push_str(match result.request {
        Request::StopUser => " stops-user",
        Request::StopTest => " stops-test",
        Request::StopTestNow => " stops-now",
        _ => "",
    });
}

fn changes(
    what: &str,
    before: &BTreeMap<&str, &str>,
    after: &BTreeMap<&str, &str>,
    out: &mut String,
) {
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for name in names {
        if before.get(name) != after.get(name) {
            let _ = write!(out, "{what} {name}={}", after.get(name).unwrap_or(&"null"));
        }
    }
}

fn write_log(said: &Receiver<OutputLine>, out: &mut String) {
    let mut printed = String::new();
    for said in said.try_iter() {
        match said {
            OutputLine::Printed(text) => {
                printed.push_str(&text);
                printed.push('\n');
            }
            OutputLine::PrintedAsError(text) => panic!("printed as an error: {text}"),
            OutputLine::Log { level: Level::Debug | Level::Trace, .. } => {}
            OutputLine::Log { level, text, .. } => {
                let failed = text.starts_with("Problem in ") || text.starts_with("Error running ");
                let text = if failed { "failed" } else { &text };
                let _ = write!(out, " L {} {text}", format!("{level:?}").to_uppercase());
            }
        }
    }
    if !printed.is_empty() {
        let _ = write!(out, " O {printed}");
    }
}

/// Runs all scripts of a table and compares the outcomes of simple scripts. Returns the number of simple scripts,
/// the scripts that are not simple, and the differences.
fn run(table: &str) -> (usize, Vec<String>, Vec<String>) {
    let (mut simple, mut not_simple, mut wrong) = (0, Vec::new(), Vec::new());
    for line in table.lines() {
        let columns: Vec<_> = line.split('\t').collect();
        let [words, source, expected @ ..] = &columns[..] else { continue };
        let source = text_of(source);
        let mut compiler = TemplateCompiler::default();
        for (name, _) in SETTINGS.iter().copied().flatten() {
            compiler.names.intern(name);
        }
        let script = match compile(&source, place(words), &mut compiler) {
            Ok(script) => script,
            Err(NotSimple { reason }) => {
                not_simple.push(format!("{words} {}: {reason}", column(&source)));
                continue;
            }
        };
        simple += 1;
        for (setting, expected) in SETTINGS.iter().zip(expected) {
            let found = column(&outcome(&script, &compiler.names, setting, &source));
            if found != *expected {
                wrong.push(format!(
                    "{words} {}\n  JMeter {expected}\n  here   {found}",
                    column(&source)
                ));
            }
        }
    }
    (simple, not_simple, wrong)
}

#[test]
fn simple_scripts_do_what_jmeter_does() {
    let (simple, not_simple, wrong) = run(include_str!("tables/scripts.tsv"));
    assert!(wrong.is_empty(), "{} of {simple}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(not_simple.is_empty(), "{}", not_simple.join("\n"));
    assert!(simple > 400, "{simple}");
}

#[test]
fn another_table_agrees_where_scripts_are_simple() {
    let Ok(file) = std::env::var("THRONG_SCRIPTS") else { return };
    let table = std::fs::read_to_string(&file).expect(&file);
    let (simple, not_simple, wrong) = run(&table);
    assert!(simple > 0, "none is simple:\n{}", not_simple.join("\n"));
    assert!(wrong.is_empty(), "{} of {simple}:\n{}", wrong.len(), wrong.join("\n"));
}
