//! Plans made from other sources of requests: curl commands and lists of URLs.
//!
//! Every source becomes the text of a `.jmx` file, which is then read like any other plan. A part that a plan cannot
//! express is a finding with its consequence; nothing is left out silently. Reading never fails and runs no command.
//!
//! | module | holds |
//! |---|---|
//! | `format` | the format of a file, found from its content |
//! | `shell`, `cmd` | commands and words of scripts |
//! | `curl` | curl's options, and the requests of a command |
//! | `urls` | lists of URLs |
//! | `request` | requests as read from a source |
//! | `word` | texts with variables, and their form in a plan |
//! | `plan` | the plan's elements |
//! | `findings` | findings of an import |

mod cmd;
mod curl;
mod findings;
mod format;
mod plan;
mod request;
mod shell;
mod urls;
mod word;

use std::io;

use jmx::Diag;

pub use crate::curl::{CurlWord, curl_word};
use crate::findings::Findings;
pub use crate::format::{Format, detect};
use crate::shell::Variables;

/// Reads a file that a source names, such as the data of `-d @FILE`; `-` is standard input.
pub type Files<'a> = dyn FnMut(&str) -> io::Result<Vec<u8>> + 'a;

/// Load of an imported plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub users: u32,
    /// Length of the run in seconds.
    pub seconds: u32,
}

/// Load of a plan if nobody asks for another one.
pub const LOAD: Load = Load { users: 10, seconds: 10 };

/// A plan made from another source.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// Text of the plan; empty if the source has no request that can be sent.
    pub text: String,
    /// Name of the plan's Thread Group: the host of the first request, or the name of the file.
    pub title: String,
    /// Number of requests in the plan.
    pub requests: usize,
    /// Findings; an error is a request that is not in the plan.
    pub findings: Vec<Diag>,
}

/// Makes a plan from a file with this format and name. Returns `None` for a format that is not imported.
pub fn import(
    name: &str,
    bytes: &[u8],
    format: Format,
    load: Load,
    files: &mut Files<'_>,
) -> Option<Imported> {
    let mut findings = Findings::new(name);
    let text = format::text(bytes, &mut findings);
    let mut variables = Variables::default();
    let requests = match format {
        Format::Curl => curl::script(&text, &mut variables, files, &mut findings),
        Format::Urls => urls::requests(&text, &mut findings),
        Format::Jmx | Format::Har | Format::Unknown => return None,
    };
    let title = title(name);
    Some(finish(&requests, &title, load, variables, findings))
}

/// Makes a plan from the arguments of one curl command, without the name `curl`.
pub fn curl_command(arguments: &[String], load: Load, files: &mut Files<'_>) -> Imported {
    let mut findings = Findings::new("");
    let requests = curl::arguments(arguments, files, &mut findings);
    let title =
        requests.first().map_or_else(String::new, |request| word::shown(&request.address.host));
    finish(&requests, &title, load, Variables::default(), findings)
}

/// Makes a plan from URLs of a command line.
pub fn urls(urls: &[String], load: Load) -> Imported {
    let mut findings = Findings::new("");
    let requests = urls::requests_of(urls.iter().map(|url| (0, url.as_str())), &mut findings);
    let title =
        requests.first().map_or_else(String::new, |request| word::shown(&request.address.host));
    finish(&requests, &title, load, Variables::default(), findings)
}

fn finish(
    requests: &[request::Request],
    title: &str,
    load: Load,
    variables: Variables,
    mut findings: Findings,
) -> Imported {
    if requests.is_empty() {
        return Imported { findings: findings.list, ..Imported::default() };
    }
    let text = plan::text(requests, title, load, &variables, &mut findings);
    Imported { text, title: title.to_owned(), requests: requests.len(), findings: findings.list }
}

/// Returns the name of a file without its folder and ending.
fn title(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    if stem.is_empty() || stem == "-" { "Imported".to_owned() } else { stem.to_owned() }
}
