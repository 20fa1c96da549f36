//! `throng curl`: a run of the request of one curl command.
//!
//! Words before `--` are curl's, but for long options that only `throng run` has. After `--`, all words are options of
//! `throng run`: `--json` and `--fail` exist in both.

use std::ffi::OsString;

use import::CurlWord;

use crate::args::flags;
use crate::args::request::Request;
use crate::inputs::{imported, suggest};

/// Makes the request for the run. The error is a message for the user.
pub(crate) fn request(args: Vec<OsString>) -> Result<Request, String> {
    let Words { curls, own } = divide(args)?;
    let mut request = flags::run_options(&own)?;
    let made = imported::of_curl(&curls)?;
    request.plan.clone_from(&made.name);
    request.made = Some(made);
    Ok(request)
}

/// The words of a command line, divided between curl and `throng run`.
#[derive(Debug, Default, PartialEq)]
struct Words {
    curls: Vec<String>,
    own: Vec<OsString>,
}

fn divide(args: Vec<OsString>) -> Result<Words, String> {
    let mut words = Words::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            words.own.extend(args);
            break;
        }
        let text = arg.to_string_lossy().into_owned();
        if let Some(takes) = own_option(&text) {
            words.own.push(arg);
            if takes {
                words.own.extend(args.next());
            }
            continue;
        }
        let takes = match import::curl_word(&text, false) {
            CurlWord::Unknown => return Err(suggest::unknown_option(&text)),
            CurlWord::Option(takes) => takes,
            CurlWord::Url => false,
        };
        let value = takes.then(|| args.next()).flatten();
        let value = value.map(|value| value.to_string_lossy().into_owned());
        if let Some(meant) = value.as_deref().and_then(|value| of_other_tool(&text, value)) {
            return Err(meant);
        }
        words.curls.push(text);
        words.curls.extend(value);
    }
    Ok(words)
}

/// Returns `None` if a word is not an option of `throng run` alone. Otherwise returns true if its value is the next word.
fn own_option(word: &str) -> Option<bool> {
    let name = word.strip_prefix("--")?;
    let (name, joined) = match name.split_once('=') {
        Some((name, _)) => (name, true),
        None => (name, false),
    };
    if import::curl_word(word, true) != CurlWord::Unknown {
        return None;
    }
    flags::run_option(name).map(|takes| takes && !joined)
}

/// Returns a message for an option that other load testers have and that has another meaning in curl.
fn of_other_tool(option: &str, value: &str) -> Option<String> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = answers::time::parse(value).is_ok();
    let (own, curls) = match option {
        "-c" if is_number => ("--users", "the file for cookies"),
        "-z" if is_time || is_number => ("--duration", "a condition on the time of a file"),
        _ => return None,
    };
    Some(format!("did you mean {own} {value}? In curl, {option} sets {curls}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<(String, String), String> {
        let Words { curls, own } = divide(line.split(' ').map(OsString::from).collect())?;
        let own: Vec<_> = own.iter().map(|word| word.to_string_lossy()).collect();
        Ok((curls.join(" "), own.join(" ")))
    }

    #[test]
    fn options_are_divided_by_name_and_place() {
        for (line, curls, own) in [
            ("h", "h", ""),
            ("--users 5 -d a h --duration=10s -sS", "-d a h -sS", "--users 5 --duration=10s"),
            ("-d --users h --rps 5", "-d --users h", "--rps 5"),
            ("h --json {} --fail -- --json --fail x", "h --json {} --fail", "--json --fail x"),
            ("h --quiet -o x", "h -o x", "--quiet"),
            ("h -c jar -z 2020-01-01", "h -c jar -z 2020-01-01", ""),
        ] {
            assert_eq!(of(line), Ok((curls.to_owned(), own.to_owned())), "{line}");
        }
    }

    #[test]
    fn options_of_other_tools_are_answered() {
        for (line, words) in [
            ("h -c 50", "did you mean --users 50?"),
            ("h -z 10s", "did you mean --duration 10s?"),
            ("h --vus 10", "--users N"),
            ("h --nosuch", "Unknown option --nosuch"),
        ] {
            let error = of(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
