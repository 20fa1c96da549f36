//! Plans made from curl commands and URLs, in place of a plan file.
//!
//! The text of such a plan takes the same way as the content of a file. Findings of the import are printed before those
//! of the plan.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use import::{Format, Imported, LOAD};
use jmx::{Diag, Severity};
use stats::grouped::things;

use crate::print::{render, terminal};

/// Number of findings of the same kind that are printed.
const FEW: usize = 5;
/// Largest file that a command may name as data, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// A plan that was made from another source.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    /// Name of the plan: that of its file, or of the host of its first request.
    pub(crate) name: PathBuf,
    /// Text of the plan.
    pub(crate) text: Vec<u8>,
    /// Number of requests in the plan.
    pub(crate) requests: usize,
}

impl Made {
    /// Returns the line that says what the plan does, for a run. `has_load` is true if the command line sets the load.
    pub(crate) fn first_line(&self, has_load: bool) -> String {
        let requests = things(self.requests as u64, "request");
        let load = if has_load {
            String::new()
        } else {
            let users = things(LOAD.users.into(), "user");
            format!(
                " by {users} for {} s; --users, --rps and --duration set another load",
                LOAD.seconds
            )
        };
        format!("{}: {requests}{load}", self.name.display())
    }
}

/// True if the argument is a URL, not a file.
pub(crate) fn is_url(path: &Path) -> bool {
    let text = path.as_os_str().to_string_lossy();
    let start = text.get(..8).unwrap_or(&text).to_ascii_lowercase();
    start.starts_with("http://") || start.starts_with("https://")
}

/// Makes a plan that requests a URL. The error is a message for the user.
pub(crate) fn of_url(url: &Path) -> Result<Made, String> {
    let imported = import::urls(&[url.to_string_lossy().into_owned()], LOAD);
    made(None, imported)
}

/// Makes a plan of one curl command, whose words do not include the name `curl`. The error is a message for the user.
pub(crate) fn of_curl(words: &[String]) -> Result<Made, String> {
    let imported = import::curl_command(words, LOAD, &mut |name| read(name, true));
    made(None, imported)
}

/// Makes a plan from the content of a file. Returns `None` if the file is a plan, or in no known format.
pub(crate) fn of_file(name: &Path, bytes: &[u8]) -> Result<Option<Made>, String> {
    let shown = name.display().to_string();
    let format = import::detect(bytes, &shown);
    match format {
        Format::Jmx | Format::Unknown => return Ok(None),
        Format::Har => {
            return Err(format!(
                "{shown} is a recording of a browser (HAR), which cannot be imported: copy its requests as cURL"
            ));
        }
        Format::Curl | Format::Urls => {}
    }
    // Standard input is the source itself, or belongs to whoever has started the run.
    let imported = import::import(&shown, bytes, format, LOAD, &mut |file| read(file, false));
    made(Some(name), imported.unwrap_or_default()).map(Some)
}

/// Prints the findings, and returns the plan. A plan without a file is named after its first host. The error is the
/// message about a source without requests.
fn made(file: Option<&Path>, imported: Imported) -> Result<Made, String> {
    let Imported { text, title, requests, findings } = imported;
    let name = file.map_or_else(|| plan_name(&title), Path::to_owned);
    let shown = render::folded(&findings, FEW, render::kind, line);
    if requests == 0 {
        let errors = findings.iter().filter(|diag| diag.severity == Severity::Error);
        return Err(match errors.map(|diag| &diag.message).next() {
            Some(first) if findings.len() == 1 => record::mask::urls(first).into_owned(),
            _ => {
                let of = file.map_or_else(String::new, |file| format!("{}: ", file.display()));
                format!("{of}no request can be imported\n{}", shown.trim_end())
            }
        });
    }
    if !shown.is_empty() {
        terminal::err(&shown);
    }
    Ok(Made { name, text: text.into_bytes(), requests })
}

/// Returns a finding as a line: severity, place and message.
fn line(diag: &Diag) -> String {
    let place = match (&diag.file, diag.line) {
        (Some(file), 0) => format!("{file}: "),
        (Some(file), line) => format!("{file}:{line}: "),
        (None, _) => String::new(),
    };
    let message = record::mask::urls(&diag.message);
    format!("{}: {}\n", diag.severity.word(), terminal::one_line(&format!("{place}{message}")))
}

/// Reads a file that a command names. `input` is true if standard input may be read.
fn read(name: &str, input: bool) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if name == "-" {
        if !input {
            return Err(io::Error::other("standard input is not data here: name a file"));
        }
        io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let file = File::open(name)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MOST_BYTES {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    Ok(bytes)
}

/// Returns the name of a plan for a host.
fn plan_name(host: &str) -> PathBuf {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-._:".contains(*c);
    let name: String = host.chars().filter(plain).take(80).collect();
    let name = name.trim_matches(['.', '-', ':']).replace(':', "_");
    PathBuf::from(format!("{}.jmx", if name.is_empty() { "url" } else { &name }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_named_after_hosts() {
        for (host, name) in [
            ("shop.example", "shop.example.jmx"),
            ("[fe80::1]", "fe80__1.jmx"),
            ("../../etc", "etc.jmx"),
            ("", "url.jmx"),
        ] {
            assert_eq!(plan_name(host), PathBuf::from(name), "{host}");
        }
        assert!(is_url(Path::new("HTTPS://h")) && !is_url(Path::new("http.jmx")));
    }
}
