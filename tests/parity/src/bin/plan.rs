//! Writes the plans of cases in the form that both programs read; `tests/parity/plan` builds and calls this program.
//!
//! `parity-plan NAME` prints one plan; `parity-plan --all FOLDER` writes each plan to `FOLDER/NAME.jmx`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let all = parity::cases();
    match words[..] {
        ["--all", folder] => {
            for name in all {
                let path = Path::new(folder).join(format!("{name}.jmx"));
                std::fs::write(path, parity::plan(&name)).expect("a folder to write to");
            }
        }
        [name] if all.iter().any(|known| known == name) => print!("{}", parity::plan(name)),
        _ => {
            eprintln!("parity-plan NAME of a folder in {}", parity::folder().display());
            eprintln!("parity-plan --all FOLDER");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
