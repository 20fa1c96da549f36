//! Effective settings of the JVMs on watched hosts: descriptions, and their comparison between two runs.
//!
//! With some collectors the largest heap varies by a few percent while they adapt. So sizes that are close to each
//! other count neither as equal nor as different.

use record::{Fact, Record};
use serde::Serialize;
use stats::grouped::bytes;

use crate::verdict::Words;

/// Largest relative difference at which the largest heaps of two JVMs count as equal.
const SAME: f64 = 0.001;
/// Smallest relative difference at which the largest heaps of two JVMs count as different.
const DIFFERENT: f64 = 0.05;
/// Largest number of hosts with the same settings that a sentence names.
const MOST_NAMED: usize = 5;

/// The JVM of a watched host. A setting that its exporter does not report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine<'r> {
    #[serde(skip)]
    pub host: &'r str,
    /// Largest heap in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collectors: Option<&'r str>,
    /// Java version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java: Option<&'r str>,
    /// Command-line options of the JVM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<&'r str>,
    /// JVM options that have no effect because they follow the program, with the program: `-jar app.jar -Xmx1g`. The
    /// options of several JVMs are separated by `; `.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misplaced_options: Option<&'r str>,
}

/// Returns the JVMs of a run, in the order in which the record names them.
pub fn machines(record: &Record) -> Vec<Machine<'_>> {
    let mut found: Vec<Machine<'_>> = Vec::new();
    for fact in &record.facts {
        let place = found.iter().position(|one| *one.host == *fact.host).unwrap_or_else(|| {
            found.push(Machine { host: &fact.host, ..Machine::default() });
            found.len() - 1
        });
        let (machine, value) = (&mut found[place], &*fact.value);
        match &*fact.name {
            Fact::HEAP_MAX => machine.heap_max = value.parse().ok(),
            Fact::COLLECTORS => machine.collectors = Some(value),
            Fact::JAVA => machine.java = Some(value),
            Fact::ARGUMENTS => machine.arguments = Some(value),
            Fact::MISPLACED => machine.misplaced_options = Some(value),
            _ => {}
        }
    }
    found.retain(|machine| *machine != Machine { host: machine.host, ..Machine::default() });
    found
}

impl Machine<'_> {
    /// Returns a description of the settings: `heap at most 1.0 GiB, G1, Java 17.0.9+9`.
    pub fn words(&self) -> Words {
        let (mut en, mut zh) = (Vec::new(), Vec::new());
        if let Some(heap) = self.heap_max.map(bytes) {
            en.push(format!("heap at most {heap}"));
            zh.push(format!("堆上限 {heap}"));
        }
        if let Some(collectors) = self.collectors {
            en.push(collectors.to_owned());
            zh.push(collectors.to_owned());
        }
        if let Some(java) = self.java {
            en.push(format!("Java {java}"));
            zh.push(format!("Java {java}"));
        }
        if let Some(arguments) = self.arguments {
            en.push(format!("options {arguments}"));
            zh.push(format!("选项 {arguments}"));
        }
        if let Some(misplaced) = self.misplaced_options {
            en.push(format!("options not in force behind {misplaced}"));
            zh.push(format!("位于程序之后而未生效的选项 {misplaced}"));
        }
        Words { en: en.join(", "), zh: zh.join("、") }
    }

    /// Returns true if both JVMs certainly have the same known settings. At least heap and collectors must be
    /// known.
    fn is_like(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (self.heap_max, other.heap_max) else { return false };
        let is_close = apart(a, b) <= SAME;
        self.collectors.is_some() && is_close && *self == Self { heap_max: Some(a), ..*other }
    }
}

/// Returns the difference of two sizes relative to the larger one.
fn apart(a: u64, b: u64) -> f64 {
    a.abs_diff(b) as f64 / a.max(b).max(1) as f64
}

/// Returns sentences about the hosts with the same JVM settings in all given runs. Hosts with the same settings share a
/// sentence.
pub(crate) fn unchanged(a: &[Record], b: &[Record]) -> Vec<Words> {
    let all: Vec<Vec<Machine<'_>>> = a.iter().chain(b).map(machines).collect();
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let is_same = |machine: &&Machine<'_>| {
        let in_run = |run: &Vec<Machine<'_>>| run.iter().any(|other| machine.is_like(other));
        others.iter().all(in_run)
    };
    let mut groups: Vec<(Machine<'_>, Vec<&str>)> = Vec::new();
    for machine in first.iter().filter(is_same) {
        let alike = |(one, _): &&mut (Machine<'_>, _)| {
            machine.is_like(&Machine { host: machine.host, ..*one })
        };
        match groups.iter_mut().find(alike) {
            Some((_, hosts)) => hosts.push(machine.host),
            None => groups.push((*machine, vec![machine.host])),
        }
    }
    let runs = a.len() + b.len();
    for (_, hosts) in &mut groups {
        hosts.sort_unstable();
    }
    groups.iter().map(|(machine, hosts)| sentence(machine, hosts, runs)).collect()
}

fn sentence(machine: &Machine<'_>, hosts: &[&str], runs: usize) -> Words {
    let more = hosts.len().saturating_sub(MOST_NAMED);
    let named = &hosts[..hosts.len() - more];
    let (and, and_zh) = match (more, named) {
        (0, [one]) => ((*one).to_owned(), (*one).to_owned()),
        (0, [before @ .., last]) => (format!("{} and {last}", before.join(", ")), hosts.join("、")),
        _ => (
            format!("{} and {more} more hosts", named.join(", ")),
            format!("{} 等 {} 台主机", named.join("、"), hosts.len()),
        ),
    };
    let subject = if hosts.len() == 1 { "The Java machine on" } else { "The Java machines on" };
    let (in_runs, in_runs_zh) = match runs {
        2 => ("both runs".to_owned(), "两次运行中".to_owned()),
        n => (format!("all {n} runs"), format!("全部 {n} 次运行中")),
    };
    let Words { en, zh } = machine.words();
    // Heap size and collectors do not reveal other options.
    let (which, which_zh) = match machine.arguments {
        Some(_) => ("options", "选项"),
        None => ("options of heap or collector", "堆或收集器的选项"),
    };
    Words {
        en: format!(
            "{subject} {and} had the same settings in {in_runs}: {en}. If {which} were meant to differ, they were not in force: Java options must come before -jar."
        ),
        zh: format!(
            "{and_zh} 上的 Java 虚拟机在{in_runs_zh}设置相同：{zh}。若本意是使用不同的{which_zh}，则它们没有生效：Java 的选项应写在 -jar 之前。"
        ),
    }
}

/// Returns the settings of JVMs that differ between two runs: the name of each setting with its value in both runs.
pub(crate) fn changed(a: &Record, b: &Record) -> Vec<(Words, [String; 2])> {
    let mut found = Vec::new();
    let of_b = machines(b);
    for machine in machines(a) {
        let Some(other) = of_b.iter().find(|other| other.host == machine.host) else { continue };
        let host = machine.host;
        if let (Some(x), Some(y)) = (machine.heap_max, other.heap_max)
            && apart(x, y) >= DIFFERENT
        {
            let name = Words {
                en: format!("largest heap of Java on {host}"),
                zh: format!("{host} 上 Java 的堆上限"),
            };
            found.push((name, [bytes(x), bytes(y)]));
        }
        for (x, y, en, zh) in [
            (machine.collectors, other.collectors, "collectors", "收集器"),
            (machine.java, other.java, "version", "版本"),
            (machine.arguments, other.arguments, "options", "选项"),
        ] {
            if let (Some(x), Some(y)) = (x, y)
                && x != y
            {
                let name = Words {
                    en: format!("{en} of Java on {host}"),
                    zh: format!("{host} 上 Java 的{zh}"),
                };
                found.push((name, [x.to_owned(), y.to_owned()]));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn run(facts: &[(&str, &str, String)]) -> Record {
        let fact = |(host, name, value): &(&str, &str, String)| Fact {
            host: (*host).into(),
            name: (*name).into(),
            value: value.as_str().into(),
        };
        Record { facts: facts.iter().map(fact).collect(), ..Record::default() }
    }

    fn java(
        host: &'static str,
        heap: u64,
        collectors: &str,
    ) -> Vec<(&'static str, &'static str, String)> {
        vec![
            (host, Fact::HEAP_MAX, heap.to_string()),
            (host, Fact::COLLECTORS, collectors.to_owned()),
        ]
    }

    fn same(a: &Record, b: &Record) -> Vec<String> {
        let words = unchanged(std::slice::from_ref(a), std::slice::from_ref(b));
        words.into_iter().map(|words| words.en).collect()
    }

    fn differs(a: &Record, b: &Record) -> Vec<String> {
        let found = changed(a, b).into_iter();
        found.map(|(name, [a, b])| format!("{}: {a} -> {b}", name.en)).collect()
    }

    #[test]
    fn settings_that_stayed_are_told() {
        let a = run(&java("app", GIB, "G1"));
        let told = same(&a, &a.clone());
        assert_eq!(
            told,
            [
                "The Java machine on app had the same settings in both runs: heap at most 1.0 GiB, G1. If options of heap or \
              collector were meant to differ, they were not in force: Java options must come before -jar."
            ]
        );
        assert!(differs(&a, &a.clone()).is_empty());
        let mut with_options = java("app", GIB, "G1");
        with_options.push(("app", Fact::ARGUMENTS, "-Xmx1g".into()));
        let b = run(&with_options);
        let told = same(&b, &b.clone());
        assert!(told[0].contains("1.0 GiB, G1, options -Xmx1g. If options were meant"), "{told:?}");
        assert!(same(&a, &b).is_empty(), "the options of one side are not known");
    }

    #[test]
    fn hosts_of_the_same_settings_share_a_sentence() {
        let hosts = ["a", "b", "c", "d", "e", "f", "g"];
        let of = |n: usize| -> Vec<_> {
            hosts[..n].iter().flat_map(|host| java(host, GIB, "ZGC")).collect()
        };
        let told = same(&run(&of(3)), &run(&of(7)));
        assert!(told[0].starts_with("The Java machines on a, b and c had the same"), "{told:?}");
        let told = same(&run(&of(7)), &run(&of(7)));
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("The Java machines on a, b, c, d, e and 2 more hosts had"),
            "{told:?}"
        );
    }

    #[test]
    fn settings_that_differ_or_are_unknown_are_not_the_same() {
        let a = run(&java("app", GIB, "G1"));
        let larger = run(&java("app", 2 * GIB, "Parallel"));
        assert!(same(&a, &larger).is_empty());
        assert_eq!(
            differs(&a, &larger),
            [
                "largest heap of Java on app: 1.0 GiB -> 2.0 GiB",
                "collectors of Java on app: G1 -> Parallel"
            ]
        );
        // The largest heap of a collector that adapts itself: 2 % smaller.
        let close = run(&java("app", GIB - GIB / 50, "G1"));
        assert!(same(&a, &close).is_empty() && differs(&a, &close).is_empty());
        let other_host = run(&java("db", GIB, "G1"));
        let unknown = run(&[("app", Fact::HEAP_MAX, GIB.to_string())]);
        for other in [other_host, unknown, Record::default()] {
            assert!(same(&a, &other).is_empty() && differs(&a, &other).is_empty());
        }
    }
}
