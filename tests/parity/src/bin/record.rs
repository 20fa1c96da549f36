//! Records JMeter's results of the cases; `tests/parity/record` builds and calls this program.
//!
//! `parity-record THRONG JMETER_HOME [NAME…]`: without names, records all cases in sequence.

use parity::Suite;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [throng, home, names @ ..] = &arguments[..] else {
        eprintln!("parity-record THRONG JMETER_HOME [NAME…]");
        return ExitCode::from(2);
    };
    let all = parity::cases();
    if let Some(unknown) = names.iter().find(|name| !all.contains(name)) {
        eprintln!("{unknown}: no such folder in {}", parity::folder().display());
        return ExitCode::from(2);
    }
    let suite = Suite::new(throng, std::env::temp_dir());
    let names = if names.is_empty() { &all } else { names };
    for (number, name) in names.iter().enumerate() {
        let verdict = match suite.record(name, Path::new(home)) {
            Ok(()) => "recorded".to_owned(),
            Err(why) => format!("left out: {why}"),
        };
        println!("{} of {}, {name}: {verdict}", number + 1, names.len());
    }
    ExitCode::SUCCESS
}
