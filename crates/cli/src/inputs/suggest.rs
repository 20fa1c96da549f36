//! Suggestions for a command or an option that does not exist.
//!
//! For options of other load testers, the message names the equivalent option of Throng. For other words, it suggests
//! the nearest spelling if there is a similar name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options of other load testers, and their equivalents in Throng.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["--vus", "--threads", "--concurrency", "--connections", "-c"],
        "--users N is the number of users",
    ),
    (&["--time", "--run-time", "-z"], "--duration TIME is the length of a run, like 5m"),
    (&["--loops", "--requests"], "--iterations N is how often each user runs its thread group"),
    (&["--ramp-up", "--rampup"], "--ramp TIME is how long users take to start, like 30s"),
    (&["--rate"], "--rps R starts R iterations per second"),
    (&["--stages"], "--ramp TIME, --steps N and --hold TIME give the course of a load"),
    (&["--output", "--results"], "-l FILE writes a row per sample"),
    (&["--silent", "-q"], "--quiet prints errors and warnings only; -q FILE reads properties"),
    (&["--verbose"], "-L DEBUG writes more to the log"),
    (
        &["--property", "--env", "--set"],
        "-J NAME=VALUE sets a JMeter property, -D NAME=VALUE a system property",
    ),
    (&["--plan", "--test", "--file"], "the plan follows the verb, or -t: throng run PLAN.jmx"),
    (&["--report", "--html"], "JMeter's report is made by -e -o FOLDER, beside -l FILE"),
    (
        &["--url", "--host"],
        "the plan has the host of the requests; a plan that reads it from a property takes it as -Jhost=NAME",
    ),
];

/// First words of other tools and of everyday speech that are not commands of Throng, each with the command that
/// does the same in Throng.
const OTHER_VERBS: &[(&[&str], &str)] = &[
    (
        &[
            "wget",
            "http",
            "https",
            "get",
            "post",
            "url",
            "request",
            "hey",
            "ab",
            "wrk",
            "wrk2",
            "oha",
            "bombardier",
            "vegeta",
            "siege",
            "attack",
            "h2load",
            "fortio",
        ],
        "throng https://HOST/PATH requests one address, and throng curl takes the options of curl",
    ),
    (
        &["k6", "locust", "gatling", "artillery", "taurus", "bzt", "script", "scenario"],
        "throng runs JMeter plans (.jmx), no scripts of other tools; throng explain first-plan > plan.jmx writes a first one",
    ),
    (
        &[
            "start",
            "exec",
            "execute",
            "go",
            "launch",
            "test",
            "load",
            "bench",
            "benchmark",
            "perf",
            "plan",
            "users",
            "ramp",
            "begin",
        ],
        "throng run PLAN.jmx runs a plan; throng demo shows one without a plan of your own",
    ),
    (
        &["stop", "pause", "resume", "status", "kill", "scale", "end", "abort"],
        "throng ctl changes a running test, for example throng ctl stop",
    ),
    (
        &["validate", "lint", "verify", "dry-run", "debug"],
        "throng check PLAN.jmx says how each element would run",
    ),
    (&["baseline", "regression"], "throng compare RUN RUN compares two runs"),
    (
        &[
            "analyze", "analyse", "analysis", "diagnose", "why", "summary", "result", "results",
            "show", "jtl",
        ],
        "throng verdict RUN|JTL says what stopped a run; throng report RUN|JTL makes its HTML report",
    ),
    (
        &["html", "dashboard", "generate"],
        "throng report RUN|JTL makes the HTML report; throng -g FILE -o FOLDER makes JMeter's",
    ),
    (
        &["gui", "ui", "ls", "runs", "history", "browse", "open"],
        "throng web shows the runs of a folder in a browser; throng run PLAN.jmx --web shows a new run while it lasts",
    ),
    (
        &["server", "serve", "mock", "service", "echo"],
        "throng target lists the bundled services to test",
    ),
    (
        &["record", "recorder", "proxy", "capture", "new", "init", "create", "convert", "har"],
        "throng records no plans: throng import makes one of curl commands and URLs, and throng explain first-plan > plan.jmx writes a first one",
    ),
    (
        &["max", "limit", "limits", "stress", "breakpoint", "search", "find"],
        "throng capacity PLAN.jmx finds the largest load at which criteria hold",
    ),
    (&["steps", "stages", "scan", "soak"], "throng sweep PLAN.jmx runs a plan at several loads"),
    (
        &["doctor", "ulimit", "env", "tune", "info", "machine"],
        "throng preflight PLAN.jmx says whether this machine can carry the load of a plan",
    ),
    (
        &["rule", "rules", "docs", "doc", "manual", "faq", "code"],
        "throng explain lists what it can explain",
    ),
    (
        &[
            "distributed",
            "remote",
            "workers",
            "slave",
            "master",
            "cluster",
            "cloud",
            "k8s",
            "kubernetes",
        ],
        "throng run PLAN.jmx --fleet ssh:user@a,user@b runs on other machines",
    ),
    (
        &["plugins", "plugin", "jars", "java"],
        "throng jvm install --plugins fetches jars of plug-ins",
    ),
    (
        &["metrics", "monitor", "prometheus", "influxdb"],
        "throng run has --watch for hosts and --out for figures",
    ),
];

/// True if the first word of a command line is a plan, not a command.
pub(crate) fn is_plan(word: &OsStr) -> bool {
    word.as_bytes().ends_with(b".jmx")
}

/// Returns the message about an unknown command, given the names of the existing commands. A similar name differs
/// in at most two letters. `parents` are the commands before the word, as in `throng fleet WORD`.
pub(crate) fn unknown_verb(parents: &[String], word: &str, verbs: &[String]) -> String {
    let small = word.to_lowercase();
    let near = nearest(word, verbs.iter().map(String::as_str));
    let near = near.filter(|verb| strsim::osa_distance(&small, verb) <= 2);
    if !parents.is_empty() {
        let parent = parents.join(" ");
        let meant = match near {
            Some(verb) => format!("did you mean throng {parent} {verb}?"),
            None if verbs.is_empty() => format!("throng help {parent} lists its options"),
            None => format!("its verbs are {}", verbs.join(", ")),
        };
        return format!("throng {parent} has no verb {word}: {meant}");
    }
    let meant = match (other_verb(&small), near) {
        (Some(help), _) => help.to_owned(),
        (None, Some(verb)) => format!("did you mean throng {verb}?"),
        (None, None) => file(word).unwrap_or_else(|| {
            format!("the verbs are {}; throng run PLAN.jmx runs a plan", verbs.join(", "))
        }),
    };
    format!("there is no verb {word}: {meant}")
}

/// Returns the command of Throng that does the same as another tool's command.
fn other_verb(word: &str) -> Option<&'static str> {
    let word = if word.contains("://") { "url" } else { word };
    OTHER_VERBS.iter().find(|(names, _)| names.contains(&word)).map(|(_, help)| *help)
}

/// Returns advice on a file or a folder that was given instead of a command.
fn file(word: &str) -> Option<String> {
    let path = Path::new(word);
    if path.with_extension("jmx").is_file() && path.extension().is_none() {
        return Some(format!("did you mean throng run {word}.jmx?"));
    }
    let meta = path.metadata().ok()?;
    if meta.is_dir() {
        return Some(format!(
            "throng check {word} checks plans, throng verdict {word} says what stopped a run, throng web {word} shows runs"
        ));
    }
    let ending = path.extension().map(OsStr::to_ascii_lowercase).unwrap_or_default();
    Some(match ending.to_str() {
        Some("jmx") => format!("throng run {word} runs a plan"),
        Some("jtl" | "csv") => format!(
            "throng verdict {word} says what stopped a run, throng report {word} makes its HTML report"
        ),
        _ => "throng run PLAN.jmx runs a plan, throng verdict FILE.jtl reads a result file"
            .to_owned(),
    })
}

/// Returns the message about an unknown option on either command line.
pub(crate) fn unknown_option(option: &str) -> String {
    let said = format!("Unknown option {option}");
    let name = option.split('=').next().unwrap_or(option);
    match meaning(name) {
        Some(meaning) => format!("{said}: {meaning}"),
        None => said,
    }
}

fn meaning(option: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(names, _)| names.contains(&option)).map(|(_, meaning)| *meaning)
}

/// Returns the commands before the unknown command. The usage line of the error contains them: `Usage: throng fleet
/// <COMMAND>`.
fn parents(error: &clap::Error) -> Vec<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return Vec::new();
    };
    let usage = usage.to_string();
    let words = usage.trim_start().trim_start_matches("Usage:").split_whitespace().skip(1);
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
    words.take_while(is_name).map(str::to_owned).collect()
}

/// Returns the message for a clap error. Leaves out clap's advice to insert `--`, which never helps for these commands.
/// `verbs` returns the names of the commands below a command.
pub(crate) fn sentence(error: &clap::Error, verbs: impl Fn(&[String]) -> Vec<String>) -> String {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let near = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match (error.kind(), argument) {
        (ErrorKind::InvalidSubcommand, _) => match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(word)) => {
                let parents = parents(error);
                unknown_verb(&parents, word, &verbs(&parents))
            }
            _ => plain(error),
        },
        (ErrorKind::UnknownArgument, Some(option)) => {
            if !option.starts_with('-') {
                return format!("unexpected argument {option}");
            }
            match near.filter(|_| meaning(&option).is_none()) {
                Some(near) => format!("Unknown option {option}: did you mean {near}?"),
                None => unknown_option(&option),
            }
        }
        _ => plain(error),
    }
}

/// Returns clap's own message without its prefix and the usage lines.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nUsage:").next().unwrap_or(text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    text.trim_end().to_owned()
}

/// Returns the name with the nearest spelling, if it is similar: at most a third of the letters are missing, added,
/// changed or swapped with the next letter. Case is ignored.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let small = word.to_lowercase();
    let (distance, name) =
        names.map(|name| (strsim::osa_distance(&small, &name.to_lowercase()), name)).min()?;
    let letters = word.chars().count().max(name.chars().count());
    (distance <= letters / 3).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_suggested() {
        let near = |word, names: &[&'static str]| nearest(word, names.iter().copied());
        for (word, names, name) in [
            ("Logn", &["Login", "Logout"][..], Some("Login")),
            ("login", &["Login"], Some("Login")),
            ("LOGIN", &["Login"], Some("Login")),
            ("laod", &["load", "watch"], Some("load")),
            ("Nope", &["Gone"], None),
            ("A", &["B"], None),
            ("Pay", &["Buy", "Pray"], Some("Pray")),
            ("Search for a book", &["Search a book"], Some("Search a book")),
            ("查询订单", &["查询定单"], Some("查询定单")),
        ] {
            assert_eq!(near(word, names), name, "{word}");
        }
    }
}
