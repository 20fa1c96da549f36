//! Compares expressions with their values in JMeter 5.6.3.
//!
//! JMeter wrote the tables (see `tables/Record.java`): expression, then `= value` or `THROWS class: message` or
//! `INVALID message`, then the variables that were set. Backslashes and line ends are escaped.

mod files;

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{Level, Memory, OutputLine, Shared};
use crate::template::{Problem, Reason, Template, TemplateCompiler};
use crate::vars::Names;
use crate::world::{World, column, text_of};

/// Returns a user with the properties and the time zone for which the tables were recorded.
fn world(names: Names, zone: TimeZone) -> World {
    let (log, _) = std::sync::mpsc::channel();
    let properties = [("prop", "  pv "), ("time.USER1", "dd/MM")];
    World::named(names, Shared::new(properties, "", log).in_zone(zone))
}

/// Compiles expressions as templates of one plan; also returns a user and the problems found.
fn compiled<const N: usize>(sources: [&str; N]) -> ([Template; N], World, Vec<Problem>) {
    let mut compiler = TemplateCompiler::default();
    let texts = sources.map(|source| Template::compile(source, &mut compiler));
    (texts, world(compiler.names, TimeZone::UTC), compiler.problems)
}

fn evaluated(source: &str) -> String {
    let ([text], mut world, _) = compiled([source]);
    world.eval(&text)
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

/// Returns the table entry that JMeter would have written for an expression.
fn outcome(source: &str, zone: &TimeZone) -> String {
    let mut compiler = TemplateCompiler::default();
    let text = Template::compile(&text_of(source), &mut compiler);
    let invalid = compiler.problems.iter().find_map(|problem| match &problem.reason {
        Reason::Invalid(message) => Some(message.clone()),
        _ => None,
    });
    if let Some(message) = invalid {
        return format!("INVALID {}", column(&message));
    }
    let mut world = world(compiler.names, zone.clone());
    for (name, value) in VARIABLES {
        world.set(name, value);
    }
    let value = world.eval(&text);
    if let Some(thrown) = world.core.thrown {
        return format!("THROWS {}: {}", thrown.class, column(&thrown.message));
    }
    let mut set: Vec<_> = world
        .vars
        .iter(&world.plan.names)
        .filter(|pair| !VARIABLES.contains(pair))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    set.sort();
    let set = if set.is_empty() {
        String::new()
    } else {
        format!("\t{}", column(&format!("{{{}}}", set.join(", "))))
    };
    format!("= {}{set}", column(&value))
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

/// Compares expressions like [`check`], except expressions that need a JVM.
fn check_known(table: &str) {
    let runs = |line: &&str| {
        let source = line.split('\t').next().unwrap_or_default();
        let mut compiler = TemplateCompiler::default();
        Template::compile(&text_of(source), &mut compiler);
        compiler.problems.is_empty()
    };
    let known: Vec<_> = table.lines().filter(runs).collect();
    assert!(known.len() * 5 > table.lines().count() * 4, "{} are known", known.len());
    check(&known.join("\n"), &TimeZone::UTC);
}

#[test]
fn parser() {
    check(include_str!("tables/parser.tsv"), &TimeZone::UTC);
}

#[test]
fn functions() {
    check(include_str!("tables/functions.tsv"), &TimeZone::UTC);
}

#[test]
fn scripts_in_jexl() {
    check_known(include_str!("tables/jexl3.tsv"));
}

#[test]
fn functions_of_plugins() {
    check(include_str!("tables/plugins.tsv"), &TimeZone::UTC);
}

#[test]
fn dates() {
    check(include_str!("tables/dates.tsv"), &TimeZone::UTC);
}

#[test]
fn dates_far_from_utc() {
    check(include_str!("tables/dates_berlin.tsv"), &TimeZone::get("Europe/Berlin").unwrap());
}

#[test]
fn dates_that_contradict_the_defaults_count_as_unreadable() {
    // The values that JMeter's formatter adds (midnight of 1 January of this year) must not contradict the parsed
    // values.
    for (format, date, fits) in [
        ("yyyy SSS", "2020 123", false),
        ("yyyy SSS", "2020 000", true),
        ("uuuu", "2020", false),
        ("uuuu", "2024", true),
        ("yyyy D", "2020 5", false),
        ("yyyy hh", "2020 05", false),
        ("yyyy hh a", "2020 05 AM", false),
        ("yyyy HH", "2020 05", true),
        ("yyyy n", "2020 05", true),
        ("yyyy A", "2020 05", false),
        ("yyyy K", "2020 05", false),
        ("yyyy k", "2020 05", false),
        ("YYYY-MM-dd", "2020-05-05", false),
        ("yyyy w", "2020 5", false),
        ("yyyy EEE", "2020 Wed", true),
        ("yyyy EEE", "2020 Thu", false),
        ("yyyy Q", "2020 1", true),
        ("yyyy Q", "2020 2", false),
        ("G yyyy", "AD 2020", true),
        ("yyyy X", "2020 Z", true),
    ] {
        let value = evaluated(&format!("${{__timeShift({format},{date},,v)}}"));
        // If no date is parsed, the current time is used unchanged.
        assert_eq!(
            value == date.replace(" 05", if format == "yyyy n" { " 5" } else { " 05" }),
            fits,
            "{format}: {value}"
        );
        assert!(fits || value.contains("2024"), "{format}: {value}");
    }
}

#[test]
fn as_many_users_as_there_may_be_are_asked_for() {
    let (texts, mut world, _) = compiled([
        "${__tstFeedback(timer,5,100,0.1)}",
        "${__tstFeedback(timer,5)}",
        "${__tstFeedback(timer,5,many)}",
    ]);
    let values: Vec<_> = texts.iter().map(|text| world.eval(text)).collect();
    assert_eq!(values, ["100", "5", "5"]);
}

#[test]
fn what_cannot_run_is_told_and_stays_as_it_is() {
    let (texts, mut world, problems) = compiled([
        "a${__groovy([1],v)}b",
        "${__ownFunction(x)}",
        "${__jm__Loop__idx}",
        "${__P()}",
        "${__timeShift(dd MMM,,,fr_FR,v)}",
        "${__timeShift(dd MMM,,,v)}",
    ]);
    let found: Vec<_> = problems
        .iter()
        .map(|problem| (&*problem.function, &problem.reason, &*problem.source))
        .collect();
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[0], ("__groovy", &Reason::NeedsJvm, "${__groovy([1],v)}"));
    assert_eq!(found[1], ("__ownFunction", &Reason::Unknown, "${__ownFunction(x)}"));
    assert!(matches!(found[2], ("__P", Reason::Invalid(_), "${__P()}")), "{found:?}");
    assert!(
        matches!(found[3].1, Reason::Unsupported(words) if words.contains("fr_FR")),
        "{found:?}"
    );
    let values: Vec<_> = texts.iter().take(4).map(|text| world.eval(text)).collect();
    assert_eq!(
        values,
        ["a${__groovy([1],v)}b", "${__ownFunction(x)}", "${__jm__Loop__idx}", "${__P()}"]
    );
}

#[test]
fn properties_that_are_read_are_noted() {
    let mut compiler = TemplateCompiler::default();
    Template::compile(
        "${__P(users,1)}${__property(host)}${__isPropDefined(x)}${__setProperty(y,1)}",
        &mut compiler,
    );
    assert_eq!(compiler.properties.iter().collect::<Vec<_>>(), ["host", "users", "x"]);
    assert!(!compiler.any_property);
    Template::compile("${__P(${name})}", &mut compiler);
    assert!(compiler.any_property);
}

#[test]
fn written_properties_are_seen_at_once() {
    let ([text], mut world, _) =
        compiled(["${__P(prop)}${__setProperty(prop,${__P(prop)}!)}${__P(prop)}"]);
    assert_eq!(world.eval(&text), "pvpv!");
    assert_eq!(world.eval(&text), "pv!pv!!");
    world.shared.set_property("prop", "other");
    assert_eq!(world.eval(&text), "otherother!");
}

#[test]
fn each_call_counts_for_itself() {
    let ([one, all, two], mut world, _) =
        compiled(["${__counter(TRUE,)}", "${__counter(FALSE,)}", "${__counter(true,c)}${c}"]);
    let round = |world: &mut World| [&one, &all, &two].map(|text| world.eval(text));
    assert_eq!(round(&mut world), ["1", "1", "11"]);
    assert_eq!(round(&mut world), ["2", "2", "22"]);
    // A new user has new counters per user, but continues the shared counter.
    world.memory = Memory::default();
    assert_eq!(round(&mut world), ["1", "3", "11"]);
}

#[test]
fn functions_know_their_user() {
    let source = "${__threadNum} ${__threadGroupName} ${__samplerName(v)} ${v} ${__TestPlanName} ${__time} ${__time(/1000)} ${__time(YMD)} ${__time(USER1)}";
    assert_eq!(
        evaluated(source),
        "7 Group GET GET plan.jmx 1732175999007 1732175999 20241121 21/11"
    );
    let host = evaluated("${__machineName(v)}|${v}|${__machineIP}");
    let parts: Vec<_> = host.split('|').collect();
    assert!(!parts[0].is_empty() && parts[0] == parts[1] && !parts[2].is_empty(), "{host}");
}

#[test]
fn drawn_values_have_their_form() {
    let ([number, word, letters, uuid, date, one_of], mut world, _) = compiled([
        "${__Random(-3,3)}",
        "${__RandomString(8,ab1)}",
        "${__RandomString(10)}",
        "${__UUID}",
        "${__RandomDate(,2024-02-27,2024-03-02)}",
        "${__RandomFromMultipleVars(x|y)}",
    ]);
    for (name, value) in [("x_matchNr", "2"), ("x_1", "p"), ("x_2", "q"), ("y", "r")] {
        world.set(name, value);
    }
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..300 {
        let drawn: i64 = world.eval(&number).parse().unwrap();
        assert!((-3..=3).contains(&drawn));
        seen.insert(format!("n{drawn}"));
        let word = world.eval(&word);
        assert!(word.len() == 8 && word.bytes().all(|b| b"ab1".contains(&b)), "{word}");
        assert_eq!(world.eval(&letters).encode_utf16().count(), 10);
        let uuid = world.eval(&uuid);
        let groups: Vec<_> = uuid.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12], "{uuid}");
        assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        seen.insert(world.eval(&date));
        seen.insert(world.eval(&one_of));
    }
    let all = "2024-02-27 2024-02-28 2024-02-29 2024-03-01 n-1 n-2 n-3 n0 n1 n2 n3 p q r";
    assert_eq!(seen.into_iter().collect::<Vec<_>>().join(" "), all);
}

#[test]
fn lines_of_the_log_are_worded_as_in_jmeter() {
    let (log, lines) = std::sync::mpsc::channel();
    let ([text], mut world, _) = compiled([
        "${__log(a)}${__log(b,warn,why,#)}${__log(c,OUT)}${__log(d,ERR,,x)}${__log(e,odd)}${__logn(f,ERROR)}",
    ]);
    world.shared = Arc::new(Shared::new(<[(&str, &str); 0]>::default(), "", log));
    assert_eq!(world.eval(&text), "abcde");
    let lines: Vec<_> = lines.try_iter().collect();
    let of = |level, class: &str, text: &str| OutputLine::Log {
        level,
        logger: Some(format!("org.apache.jmeter.functions.{class}")),
        text: text.to_owned(),
    };
    let expected = [
        of(Level::Info, "LogFunction", "Group 1-7  :  a"),
        of(Level::Warn, "LogFunction", "Group 1-7 # b\njava.lang.Throwable: why"),
        OutputLine::Printed("Log: Group 1-7 : c".to_owned()),
        OutputLine::PrintedAsError("Log: Group 1-7 xd".to_owned()),
        of(Level::Debug, "LogFunction", "Group 1-7  :  e"),
        of(Level::Error, "LogFunction2", "Group 1-7  :  f"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn text_that_evaluates_itself_ends() {
    let ([text], mut world, _) = compiled(["${__evalVar(loop)}"]);
    world.set("loop", "${__evalVar(loop)}");
    assert_eq!(world.eval(&text), "");
    assert_eq!(world.core.thrown.take().unwrap().class, "java.lang.StackOverflowError");
    // Another string can be evaluated afterwards.
    world.set("loop", "${__threadNum}");
    assert_eq!(world.eval(&text), "7");
}
