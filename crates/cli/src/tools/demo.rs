//! `throng demo`: runs a bundled example against its bundled target, both inside this program.
//!
//! The plan reads the properties `host` and `port`, which are set to the target's address. All other properties of
//! the plan can be changed with -J, as in any run. Before the run, the demo measures how much load this machine
//! generates.

mod speed;

use std::path::PathBuf;

use targets::Config;

use crate::args::flags::DemoFlags;
use crate::args::request::Request;
use crate::exit::Exit;
use crate::inputs::properties::Setting;
use crate::print::terminal;
use crate::print::tty::Stream;
use crate::run::stages;

/// A bundled example plan with the target that it tests.
struct Example {
    /// Name of the demo and of its target.
    name: &'static str,
    /// Path of the plan in the repository.
    path: &'static str,
    /// Content of the plan.
    plan: &'static [u8],
    /// Options of the demo's target.
    options: &'static [(&'static str, &'static str)],
    /// Properties of the plan.
    properties: &'static [(&'static str, &'static str)],
    /// Description of what the plan shows.
    shows: &'static str,
    /// Length of the plan in seconds with these properties.
    seconds: u64,
}

const EXAMPLES: &[Example] = &[Example {
    name: "fitness",
    path: "examples/01-server-fitness/plan.jmx",
    plan: include_bytes!("../../../../examples/01-server-fitness/plan.jmx"),
    // The fixed seed makes the target's sleeps the same in each run. With random sleeps, a hundred samples would
    // sometimes leave the number of workers uncertain.
    options: &[("seed", "17")],
    // A single user measures the duration of a request. Six windows of 5 s under full load measure how many
    // requests per second the target answers.
    properties: &[("alone", "24"), ("rampup", "2"), ("duration", "40")],
    shows: "a plan finds the limit of a slow service",
    seconds: 62,
}];

pub(crate) fn run(flags: DemoFlags) -> Exit {
    let Some(example) = EXAMPLES.iter().find(|example| example.name == flags.name) else {
        let names: Vec<_> = EXAMPLES.iter().map(|example| example.name).collect();
        let message =
            format!("there is no demo {}; the demos are: {}", flags.name, names.join(", "));
        terminal::error(&message);
        return Exit::Usage;
    };
    let config = Config::new(example.name);
    let config =
        example.options.iter().fold(config, |config, (key, value)| config.option(*key, value));
    let running = match targets::start(config) {
        Ok(running) => running,
        Err(error) => {
            terminal::error(&format!("cannot start the target: {error}"));
            return Exit::Aborted;
        }
    };
    let mut sources = flags.properties.sources();
    let to = if flags.json { Stream::Err } else { Stream::Out };
    terminal::write(to, &introduction(example, sources.settings.is_empty()));
    terminal::write(to, &speed::lines());
    terminal::write(to, "\n");
    let address = running.addr();
    let point = [("host", address.ip().to_string()), ("port", address.port().to_string())];
    let own = example.properties.iter().map(|(key, value)| (*key, (*value).to_owned()));
    let settings = own.chain(point).map(|(key, value)| Setting::Jmeter(key.to_owned(), value));
    // Inserted before the user's own settings, so that those take precedence.
    sources.settings.splice(0..0, settings);
    let request = Request {
        plan: PathBuf::from(example.path),
        sources,
        json: flags.json,
        lang: flags.lang,
        runs: flags.runs,
        ..Request::default()
    };
    let exit = stages::run_plan(&request, example.plan.to_vec());
    running.stop();
    exit
}

/// Returns the first lines: what the demo does, and how long it takes if the plan's properties are the example's.
fn introduction(example: &Example, has_default_properties: bool) -> String {
    let Example { shows, seconds, .. } = example;
    let first = speed::SECONDS;
    let parts = format!("{first} s measure how much load this machine makes, then {shows}");
    if has_default_properties {
        format!("The demo takes about {} s: {parts}.\n\n", first + seconds)
    } else {
        format!("The first {parts}.\n\n")
    }
}
