//! `throng`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `flags`, `jmeter_line` | our own command line, and JMeter's |
//! | `request`, `properties` | what both ask for |
//! | `run`, `check`, `target`, `demo`, `jars` | the verbs |
//! | `java` | the Java machine of a run |
//! | `load`, `render` | a plan file compiled, and findings as text |
//! | `spread` | users in this process or in workers |
//! | `preflight` | what a machine and a chain of proxies carry |
//! | `progress` | snapshots of cores become seconds of the run |
//! | `lost` | what went with workers that died |
//! | `folder`, `log`, `console` | where a run leaves its traces |
//! | `interrupt`, `control`, `exit` | signals and JMeter's control port in, exit codes out |

mod check;
mod console;
mod control;
mod demo;
mod exit;
mod flags;
mod folder;
mod interrupt;
mod jars;
mod java;
mod jmeter_line;
mod last_words;
mod load;
mod log;
mod lost;
mod plugins;
mod preflight;
mod progress;
mod properties;
mod render;
mod request;
mod run;
mod setenv;
mod spread;
mod target;

use std::process::ExitCode;

use exit::Exit;
use flags::Verb;
use request::Asked;

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let first = args.get(1).map_or("", String::as_str);
    // A worker is started by the hundred and must stay small: it looks at nothing else.
    if first == "worker" {
        return worker().into();
    }
    // Our own verbs are words; a line that starts with an option is JMeter's, but for the options both have.
    let ours = !first.starts_with('-') || ["--help", "-V"].contains(&first);
    if ours { own(&args) } else { jmeter(&args[1..]) }.into()
}

/// `throng worker`, started by a run for a share of its users.
fn worker() -> Exit {
    match fleet::main(&java::for_worker) {
        Ok(()) => Exit::Ok,
        Err(error) => {
            eprint!("{}", render::error(&error.to_string(), render::Colour::Plain));
            Exit::Usage
        }
    }
}

/// `throng VERB …`.
fn own(args: &[String]) -> Exit {
    match flags::parse(args) {
        Ok(Verb::Run(flags)) => run::run(flags.request()),
        Ok(Verb::Check(flags)) => check::run(flags),
        Ok(Verb::Preflight(flags)) => preflight::run(flags),
        Ok(Verb::Target(flags)) => target::run(flags),
        Ok(Verb::Demo(flags)) => demo::run(flags),
        Ok(Verb::Jvm(verb)) => jars::run(verb),
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Ok }
        }
    }
}

/// `throng -n -t …`.
fn jmeter(args: &[String]) -> Exit {
    let asked = jmeter_line::parse(args).and_then(|given| request::from_jmeter(&given));
    match asked {
        Ok(Asked::Run(mut request)) => {
            if let Some(warning) = java::heed_start_script(&mut request.sources) {
                eprint!("{}", render::warning(&warning, render::Colour::Plain));
            }
            run::run(*request)
        }
        Ok(Asked::Help) => {
            print!("{}", flags::help());
            Exit::Ok
        }
        Ok(Asked::Version) => {
            println!(
                "throng {}, running plans as JMeter {}",
                env!("CARGO_PKG_VERSION"),
                properties::JMETER_VERSION
            );
            Exit::Ok
        }
        Err(message) => {
            eprint!("{}", render::error(&message, render::Colour::Plain));
            eprintln!("See throng --help.");
            Exit::Usage
        }
    }
}
