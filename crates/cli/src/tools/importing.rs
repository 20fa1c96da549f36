//! `throng import`: writes a plan with the requests of curl commands or of a list of URLs.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use stats::grouped::things;

use crate::args::flags::ImportFlags;
use crate::exit::Exit;
use crate::inputs::load::{self, Source};
use crate::print::terminal;

/// Makes the plan, and prints it or writes it into a file.
pub(crate) fn run(flags: &ImportFlags) -> Exit {
    let made = match load::read_source(&flags.source) {
        Ok(Source::Made(made)) => made,
        Ok(Source::File(name, bytes)) => {
            terminal::error(&unknown(&name, &bytes));
            return Exit::Usage;
        }
        Err(message) => {
            terminal::error(&message);
            return Exit::Plan;
        }
    };
    let Some(output) = &flags.output else {
        // The plan's characters must stay as they are, whatever a terminal would make of them.
        terminal::printed(io::stdout().lock().write_all(&made.text));
        return Exit::Ok;
    };
    match write(output, &made.text, flags.force) {
        Ok(()) => {
            let (requests, shown) = (things(made.requests as u64, "request"), output.display());
            terminal::err(&format!(
                "{shown}: a plan with {requests}; throng run {shown} runs it\n"
            ));
            Exit::Ok
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let shown = output.display();
            terminal::error(&format!("{shown} exists: --force replaces it"));
            Exit::Usage
        }
        Err(error) => {
            terminal::error(&format!("cannot write {}: {error}", output.display()));
            Exit::Usage
        }
    }
}

fn write(path: &Path, text: &[u8], force: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(path)?.write_all(text)
}

/// Returns the message about a file without requests.
fn unknown(name: &Path, bytes: &[u8]) -> String {
    let shown = name.display();
    if bytes.trim_ascii_start().starts_with(b"<") {
        return format!("{shown} is a plan already: throng run {shown} runs it");
    }
    format!("{shown} has no curl commands and no URLs, so there is nothing to import")
}
