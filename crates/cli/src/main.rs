//! `throng`: the command line.
//!
//! The files of the crate are in rooms, one for each task. A room imports only from rooms that precede it in this
//! table.
//!
//! | room | holds |
//! |---|---|
//! | `exit` | exit codes |
//! | `print` | standard output and standard error, findings as text, the log |
//! | `inputs` | the plan, JMeter's properties and the JVM of a run |
//! | `judge` | criteria, the text of the verdict, JUnit |
//! | `args` | both command lines and `throng.toml`, and the request that they make |
//! | `operator` | a running test for its user: console, view, Ctrl-C, `throng ctl` |
//! | `checks` | `throng check` and `throng preflight`, which a run also makes |
//! | `results` | the folder of a run, and the reports that are built from it |
//! | `questions` | sweep, capacity and compare: commands that run a plan several times |
//! | `pages` | report, verdict and web: commands that show runs, and the live page |
//! | `run` | one run, from the request to the exit code |
//! | `agents` | agents of runs on several machines: `throng agent` and `throng fleet` |
//! | `authoring` | list, set, replace, fmt, diff and merge: commands that show and change plans |
//! | `tools` | commands beside running a test: demo, target, explain, JMeter's shim |

// Printing with these macros would panic on a failed write, so all output goes through the module `print::terminal`.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod agents;
mod args;
mod authoring;
mod checks;
mod exit;
mod inputs;
mod judge;
mod operator;
mod pages;
mod print;
mod questions;
mod results;
mod run;
mod tools;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use agents::{agent, fleet_up, manifest, resume};
use args::asked::{self, Asked};
use args::flags::{self, FleetVerb, JmeterVerb, Verb};
use args::{outputs, project};
use authoring::{change, merge, show};
use checks::{check, preflight};
use exit::Exit;
use inputs::{imported, java, properties, suggest};
use operator::ctl;
use pages::{report, runs, verdict};
use print::render::Colour;
use print::{terminal, tty};
use questions::{capacity, compare, sweep};
use run::stages;
use tools::{
    curl, demo, explain, importing, jars, launcher, manual, shim, target, vectors, window,
};

fn main() -> ExitCode {
    fail_large_writes();
    let args: Vec<OsString> = std::env::args_os().collect();
    let first = args.get(1).map(OsString::as_os_str).unwrap_or_default();
    // A run may start hundreds of workers, which must stay small, so this is checked before anything else.
    if first == "worker" {
        return worker().into();
    }
    stats::jtl::source::on_wait(|line| terminal::err(&format!("{line}\n")));
    // Throng's own commands begin with a word. A line that starts with an option is JMeter's, except for the
    // options that both have.
    let exit = if first.as_bytes().starts_with(b"-") && first != "--help" && first != "-V" {
        jmeter(&args[1..])
    } else if suggest::is_plan(first) || imported::is_url(first.as_ref()) {
        // A plan or a URL without a command is run.
        let mut args = args;
        args.insert(1, "run".into());
        own(&args)
    } else if args.len() < 2 {
        terminal::err(flags::USAGE);
        Exit::Usage
    } else {
        own(&args)
    };
    terminal::closing(exit).into()
}

/// Handles SIGXFSZ: at the file size limit of `ulimit -f`, a write fails as on a full disk instead of ending the
/// program. Child processes have the default handling of the signal.
fn fail_large_writes() {
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Runs `throng worker`, which a run starts for a share of its users.
fn worker() -> Exit {
    match fleet::main(&java::for_worker) {
        Ok(()) => Exit::Ok,
        Err(error) => refused(&error.to_string()),
    }
}

/// Runs Throng's own command line: `throng COMMAND …`.
fn own(args: &[OsString]) -> Exit {
    match flags::parse(args) {
        Ok(Verb::Run(flags)) => match flags.request() {
            Ok(request) => stages::run(request),
            Err(message) => refused_line(args, &message),
        },
        Ok(Verb::Curl(flags)) => run_curl(args, flags.args),
        Ok(Verb::Import(flags)) => importing::run(&flags),
        Ok(Verb::Check(flags)) => check::run(flags),
        Ok(Verb::Preflight(flags)) => preflight::run(flags),
        Ok(Verb::List(flags)) => show::run_list(&flags),
        Ok(Verb::Diff(flags)) => show::run_diff(&flags),
        Ok(Verb::Set(flags)) => change::run_set(&flags),
        Ok(Verb::Replace(flags)) => change::run_replace(&flags),
        Ok(Verb::Fmt(flags)) => change::run_fmt(&flags),
        Ok(Verb::Merge(flags)) => merge::run(&flags),
        Ok(Verb::Ctl(flags)) => ctl::run(&flags),
        Ok(Verb::Target(flags)) => target::run(flags),
        Ok(Verb::Mgs(verb)) => vectors::run(verb),
        Ok(Verb::Demo(flags)) => demo::run(flags),
        Ok(Verb::Sweep(flags)) => sweep::run(flags),
        Ok(Verb::Capacity(flags)) => capacity::run(flags),
        Ok(Verb::Compare(flags)) => compare::run(flags),
        Ok(Verb::Verdict(flags)) => verdict::run(&flags),
        Ok(Verb::Report(flags)) => report::run(&flags),
        Ok(Verb::Web(flags)) => runs::run(&flags),
        Ok(Verb::Jvm(verb)) => jars::run(verb),
        Ok(Verb::Jmeter(JmeterVerb::InstallPlugin { home, remove })) => window::run(&home, remove),
        Ok(Verb::Jmeter(JmeterVerb::InstallShim { folder, jmeter, remove })) => {
            shim::install(&folder, jmeter.as_deref(), remove)
        }
        Ok(Verb::Jmeter(JmeterVerb::InstallJava { folder, remove })) => {
            launcher::install(&folder, remove)
        }
        Ok(Verb::Jmeter(JmeterVerb::Java { args })) => launcher::run(&args, jmeter),
        Ok(Verb::Jmeter(JmeterVerb::Line { args })) => shim::run(&args, jmeter),
        Ok(Verb::Completions(flags)) => manual::completions(flags.shell),
        Ok(Verb::Man(flags)) => manual::pages(flags.folder.as_deref()),
        Ok(Verb::Agent(flags)) => agent::run(flags),
        Ok(Verb::Fleet(FleetVerb::Up(flags))) => fleet_up::run(&flags),
        Ok(Verb::Fleet(FleetVerb::Resume(flags))) => resume::run(&flags),
        Ok(Verb::Fleet(FleetVerb::Manifest(flags))) => manifest::run(&flags),
        Ok(Verb::Explain(flags)) => explain::run(flags.name.as_deref()),
        Ok(Verb::Help(flags)) => help(&flags.verb),
        Ok(Verb::Version) => version(),
        Err(error) => match error.kind() {
            clap::error::ErrorKind::DisplayVersion => version(),
            _ if !error.use_stderr() => {
                styled(&error.render());
                Exit::Ok
            }
            // For a command that has only subcommands, clap returns its help, which is not an error message.
            clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                terminal::err(&error.to_string());
                Exit::Usage
            }
            _ => refused_line(args, &flags::mistake(&error)),
        },
    }
}

/// Runs the request of a curl command: `throng curl …`.
fn run_curl(args: &[OsString], words: Vec<OsString>) -> Exit {
    if matches!(&words[..], [only] if only == "--help" || only == "-h") {
        return help(&["curl".to_owned()]);
    }
    match curl::request(words) {
        Ok(request) => stages::run(request),
        Err(message) => refused_line(args, &message),
    }
}

/// Runs JMeter's command line: `throng -n -t …`.
fn jmeter(args: &[OsString]) -> Exit {
    match asked::asked(args) {
        Ok(Asked::Run(mut request)) => {
            if let Some(warning) = java::heed_start_script(&mut request.sources) {
                terminal::warning(&warning);
            }
            stages::run(*request)
        }
        Ok(Asked::Report(file, request)) => results::dashboard::of_file(&file, &request),
        Ok(Asked::Help) => help(&[]),
        Ok(Asked::Version) => version(),
        Err(message) => refused_line(args, &message),
    }
}

/// Prints a message from the argument parser (clap), with colours on a terminal.
fn styled(text: &clap::builder::StyledStr) {
    terminal::printed(match tty::output_colour() {
        Colour::Ansi => write!(std::io::stdout(), "{}", text.ansi()),
        Colour::Plain => write!(std::io::stdout(), "{text}"),
    });
}

/// Prints the help of a command or of the whole program.
fn help(verb: &[String]) -> Exit {
    match flags::help(verb) {
        Ok(text) => {
            styled(&text);
            Exit::Ok
        }
        Err(message) => refused(&message),
    }
}

fn version() -> Exit {
    terminal::out(&format!(
        "throng {}, running plans as JMeter {}\n",
        env!("CARGO_PKG_VERSION"),
        properties::JMETER_VERSION
    ));
    Exit::Ok
}

/// Refuses a command line. If it names summary files, the refusal is written into them.
fn refused_line(args: &[OsString], message: &str) -> Exit {
    outputs::Promised::refuse_line(args, message, project::junit_of);
    refused(message)
}

/// Refuses a command line with an error message.
fn refused(message: &str) -> Exit {
    terminal::error(message);
    terminal::err("See throng --help.\n");
    Exit::Usage
}
