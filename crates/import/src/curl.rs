//! curl commands as requests.
//!
//! | module | holds |
//! |---|---|
//! | `options` | the table of curl's options |
//! | `settings` | the options of one command |
//! | `data`, `form`, `cookies` | bodies, and cookies from files |
//! | `url`, `glob` | addresses |
//! | `headers` | header lines in the order in which curl sends them |
//! | `transfer` | requests from the settings |

mod cookies;
mod data;
mod form;
mod glob;
mod headers;
mod options;
mod settings;
mod transfer;
pub(crate) mod url;

use std::io;

use crate::findings::Findings;
use crate::request::Request;
use crate::shell::{Command, Input, Variables};
use crate::{Files, cmd, shell, word};

/// Commands without a request, and ends of loops and conditions; they are left out silently.
const WITHOUT_REQUEST: &[&str] = &[
    "for", "fi", "done", "esac", "}", "set", "echo", "printf", "cat", "exit", "true", ":", "[",
    "[[",
];

/// State of an import of curl commands.
pub(crate) struct Reading<'a> {
    files: &'a mut Files<'a>,
    pub(crate) findings: &'a mut Findings,
    /// Standard input of the current command.
    input: Option<Input>,
    /// Number of bytes that further requests may have.
    left: usize,
}

/// Largest size of all requests of a script, in bytes. Patterns in addresses repeat bodies.
const MOST_BYTES: usize = 64 << 20;

impl Reading<'_> {
    /// Reads a file that an option names; `-` is standard input. Reports an error if it cannot be read.
    fn read(&mut self, name: &str, option: &str) -> Option<Vec<u8>> {
        let wrong = |why: &str| format!("{option}: cannot read {}: {why}", word::shown(name));
        let name = match (name, &self.input) {
            ("-", Some(Input::Text(text))) => return Some(text.clone().into_bytes()),
            ("-", Some(Input::File(file))) => file.clone(),
            ("-", Some(Input::Unknown)) => {
                self.findings.error("curl-input", wrong("it is the output of another command"));
                return None;
            }
            (name, _) => name.to_owned(),
        };
        if word::has_reference(&name) {
            self.findings.error("curl-input", wrong("its name contains a variable"));
            return None;
        }
        match (self.files)(&name) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.findings.error("curl-input", wrong(&error.to_string()));
                None
            }
        }
    }

    /// Reads a file as text. A plan cannot hold other bytes.
    fn read_text(&mut self, name: &str, option: &str) -> Option<String> {
        let bytes = self.read(name, option)?;
        // The text of the script may hold references to variables; a file does not.
        let is_script = name == "-" && matches!(self.input, Some(Input::Text(_)));
        match String::from_utf8(bytes) {
            Ok(text) if is_script => Some(text),
            Ok(text) => Some(word::plain(&text)),
            Err(_) => {
                let message = format!(
                    "{option}: {name} is not UTF-8 text: a plan sends such a file only as a whole, with --data-binary @FILE"
                );
                self.findings.error("curl-input", message);
                None
            }
        }
    }

    /// Returns the file behind a name: the name itself, or the file that the script redirects to standard input. Reports
    /// a missing file.
    fn file_name(&mut self, name: &str) -> Option<String> {
        let file = match (name, &self.input) {
            ("-", Some(Input::File(file))) => file.clone(),
            ("-" | ".", _) => return None,
            (name, _) => name.to_owned(),
        };
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        if !word::has_reference(&file) && (self.files)(&file).is_err_and(|error| missing(&error)) {
            let message = format!("{file} does not exist: the run needs it");
            self.findings.warn("missing-file", message);
        }
        Some(file)
    }
}

/// Returns the requests of all curl commands in a script.
pub(crate) fn script(
    text: &str,
    variables: &mut Variables,
    files: &mut Files<'_>,
    findings: &mut Findings,
) -> Vec<Request> {
    let commands =
        if cmd::is_cmd(text) { cmd::split(text) } else { shell::split(text, variables, findings) };
    let mut requests = Vec::new();
    let mut left = MOST_BYTES;
    for command in commands {
        findings.line = command.line;
        match command.words.iter().position(|word| is_curl(word)) {
            Some(0) => requests.extend(requests_of(command, &mut left, files, findings)),
            _ => report_other(&command, findings),
        }
    }
    requests
}

/// Returns the requests of one command line, whose words do not include the name `curl`.
pub(crate) fn arguments(
    words: &[String],
    files: &mut Files<'_>,
    findings: &mut Findings,
) -> Vec<Request> {
    let words = words.iter().map(|word| word::plain(word));
    let words = std::iter::once("curl".to_owned()).chain(words).collect();
    let mut left = MOST_BYTES;
    requests_of(Command { words, line: 0, input: None }, &mut left, files, findings)
}

fn requests_of(
    command: Command,
    left: &mut usize,
    files: &mut Files<'_>,
    findings: &mut Findings,
) -> Vec<Request> {
    let mut reading = Reading { files, findings, input: command.input, left: *left };
    let mut requests = Vec::new();
    let before = reading.findings.errors();
    let all = settings::parse(&command.words[1..], &mut reading);
    let readable = reading.findings.errors() == before;
    for settings in all {
        let before = reading.findings.errors();
        let found = transfer::requests(settings, &mut reading);
        // A request with an error would not be the one that curl sends.
        if readable && reading.findings.errors() == before {
            requests.extend(found);
        }
    }
    *left = reading.left;
    for request in &mut requests {
        request.line = command.line;
    }
    requests
}

/// True if a word names the program curl.
pub(crate) fn is_curl(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name == "curl" || name.eq_ignore_ascii_case("curl.exe")
}

fn report_other(command: &Command, findings: &mut Findings) {
    let Some(name) = command.words.first() else { return };
    if WITHOUT_REQUEST.contains(&name.as_str()) {
        return;
    }
    let has_curl = command.words.iter().any(|word| is_curl(word));
    let name: String = word::shown(name).chars().take(40).collect();
    if has_curl {
        let message = format!("{name} … curl: a curl command inside another command is left out");
        findings.warn("shell-command", message);
    } else {
        findings.note("shell-command", format!("{name} is not curl: the command is left out"));
    }
}

/// A word of curl's command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurlWord {
    /// An option of curl. True if the next word is its value.
    Option(bool),
    /// A long option that curl does not have.
    Unknown,
    /// A URL.
    Url,
}

/// Tells what curl takes a word for. A long option counts only with its whole name if `exact` is set.
pub fn curl_word(word: &str, exact: bool) -> CurlWord {
    if let Some(name) = word.strip_prefix("--") {
        let (name, joined) = match name.split_once('=') {
            Some((name, _)) => (name, true),
            None => (name, false),
        };
        return match options::long(name).filter(|known| !exact || known.long == name) {
            Some(known) => CurlWord::Option(known.takes && !joined),
            None if name.starts_with("expand-") => CurlWord::Option(!joined),
            None if options::is_long(name) => CurlWord::Option(false),
            None => CurlWord::Unknown,
        };
    }
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
        return CurlWord::Url;
    };
    let valued = letters
        .char_indices()
        .find(|(_, letter)| options::short(*letter).is_some_and(|known| known.takes));
    CurlWord::Option(valued.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len()))
}
