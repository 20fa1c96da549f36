//! `throng`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `flags`, `jmeter_line` | Throng's own command line, and JMeter's |
//! | `suggest` | suggestions for misspelled options and commands |
//! | `request`, `properties` | the request from either command line, and JMeter's properties |
//! | `run`, `check`, `target`, `demo`, `jars`, `verdict`, `window` | the commands |
//! | `report` | the HTML report of a run or a result file |
//! | `pages` | browser pages: the live page of a run, and the runs of a folder |
//! | `questions` | the commands sweep, capacity and compare |
//! | `java` | the JVM of a run |
//! | `asked_load` | descriptions of a load that replaces the plan's load |
//! | `load`, `render` | compiling a plan file, and formatting findings as text |
//! | `spread` | running users in this process or in workers |
//! | `agent`, `fleet_up` | a waiting agent, and the NATS server at which agents wait |
//! | `machines` | the machines of a run with agents |
//! | `resume` | taking over a run with agents by another coordinator |
//! | `manifest` | Kubernetes objects of waiting agents |
//! | `preflight` | the limits of a machine and of a chain of proxies |
//! | `progress` | merging cores' snapshots into seconds of the run |
//! | `ahead` | warnings before watched hosts run out of ports |
//! | `perfmon` | agents of the plan's PerfMon collectors, as hosts to watch |
//! | `outcome` | the result of a run in memory, from which all outputs are rendered |
//! | `identity` | the plan, version and end of a run, for its summary |
//! | `criteria`, `junit` | criteria of a run, and their results as JUnit tests in XML |
//! | `dashboard` | JMeter's report of a result file or of a run |
//! | `ctl` | requests to a running test, through a socket in its folder |
//! | `project` | `throng.toml` beside a plan |
//! | `starts` | iteration starts for a requested rate, and skipped starts |
//! | `lost` | workers that died, and the users and connections lost with them |
//! | `size` | sizes in bytes, as users write them |
//! | `vectors` | captured requests to a mobile gateway |
//! | `shim` | a program called jmeter, which falls back to the real JMeter |
//! | `launcher` | a program in place of java, for tools that start JMeter with java |
//! | `manual` | shell completions and manual pages, generated from the flags |
//! | `explain` | sections of the documentation, printed by name |
//! | `files` | reading untrusted files: no link is followed |
//! | `folder`, `log`, `console` | the run's folder, log and console |
//! | `view` | the view of a running test on a terminal |
//! | `terminal` | printing, with control characters escaped |
//! | `interrupt`, `control`, `exit` | signals, JMeter's control port, and exit codes |

// Printing with these macros would panic on a failed write, so all output goes through the module `terminal`.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod agent;
mod ahead;
mod asked;
mod asked_load;
mod check;
mod console;
mod control;
mod cost;
mod criteria;
mod ctl;
mod dashboard;
mod demo;
mod exit;
mod explain;
mod failing;
mod files;
mod flags;
mod fleet_up;
mod folder;
mod identity;
mod interrupt;
mod jars;
mod java;
mod jmeter_line;
mod junit;
mod last_words;
mod launcher;
mod load;
mod log;
mod lost;
mod machines;
mod manifest;
mod manual;
mod outcome;
mod outputs;
mod pages;
mod perfmon;
mod plugins;
mod preflight;
mod progress;
mod project;
mod properties;
mod questions;
mod render;
mod report;
mod request;
mod resume;
mod run;
mod setenv;
mod shim;
mod size;
mod spread;
mod starts;
mod suggest;
mod summary;
mod target;
mod terminal;
mod tty;
mod vectors;
mod verdict;
mod view;
mod window;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use asked::Asked;
use exit::Exit;
use flags::{FleetVerb, JmeterVerb, Verb};
use render::Colour;

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
    } else if suggest::is_plan(first) {
        // A plan without a command is run.
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
            Ok(request) => run::run(request),
            Err(message) => refused_line(args, &message),
        },
        Ok(Verb::Check(flags)) => check::run(flags),
        Ok(Verb::Preflight(flags)) => preflight::run(flags),
        Ok(Verb::Ctl(flags)) => ctl::run(&flags),
        Ok(Verb::Target(flags)) => target::run(flags),
        Ok(Verb::Mgs(verb)) => vectors::run(verb),
        Ok(Verb::Demo(flags)) => demo::run(flags),
        Ok(Verb::Sweep(flags)) => questions::sweep::run(flags),
        Ok(Verb::Capacity(flags)) => questions::capacity::run(flags),
        Ok(Verb::Compare(flags)) => questions::compare::run(flags),
        Ok(Verb::Verdict(flags)) => verdict::verb::run(&flags),
        Ok(Verb::Report(flags)) => report::run(&flags),
        Ok(Verb::Web(flags)) => pages::runs::run(&flags),
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

/// Runs JMeter's command line: `throng -n -t …`.
fn jmeter(args: &[OsString]) -> Exit {
    match asked::asked(args) {
        Ok(Asked::Run(mut request)) => {
            if let Some(warning) = java::heed_start_script(&mut request.sources) {
                terminal::warning(&warning);
            }
            run::run(*request)
        }
        Ok(Asked::Report(file, request)) => dashboard::of_file(&file, &request),
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
