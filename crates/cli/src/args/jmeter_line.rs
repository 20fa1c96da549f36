//! JMeter's own command line, so that scripts written for `jmeter -n -t …` run unchanged.
//!
//! The syntax is that of JMeter's option parser (Avalon): short options bundle (`-nf`), an argument may be attached or
//! follow (`-tplan`, `-t plan`, `-t=plan`), options with two arguments take `-Jk=v`, `-J k=v`, `-J k v` and
//! `--jmeterproperty k=v`, and a missing second argument is empty. Every flag of JMeter 5.6.3 is supported. Long
//! options that only Throng has (`--json`, `--quiet`, `--workers 4`, …) are returned unchanged.

pub(crate) mod remote;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::inputs::suggest;

/// Number and kind of the arguments that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Two,
}

/// An option of JMeter's command line.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) short: char,
    pub(crate) long: &'static str,
    takes: Takes,
    repeats: bool,
}

const fn flag(short: char, long: &'static str, takes: Takes) -> Flag {
    Flag { short, long, takes, repeats: false }
}

const fn repeats(short: char, long: &'static str, takes: Takes) -> Flag {
    Flag { short, long, takes, repeats: true }
}

#[rustfmt::skip]
const FLAGS: &[Flag] = &[
    flag('?', "?", Takes::Nothing),
    flag('h', "help", Takes::Nothing),
    flag('v', "version", Takes::Nothing),
    flag('p', "propfile", Takes::One),
    repeats('q', "addprop", Takes::One),
    flag('t', "testfile", Takes::One),
    flag('l', "logfile", Takes::One),
    flag('i', "jmeterlogconf", Takes::One),
    flag('j', "jmeterlogfile", Takes::One),
    flag('n', "nongui", Takes::Nothing),
    flag('s', "server", Takes::Nothing),
    flag('E', "proxyScheme", Takes::One),
    flag('H', "proxyHost", Takes::One),
    flag('P', "proxyPort", Takes::One),
    flag('N', "nonProxyHosts", Takes::One),
    flag('u', "username", Takes::One),
    flag('a', "password", Takes::One),
    repeats('J', "jmeterproperty", Takes::Two),
    repeats('G', "globalproperty", Takes::Two),
    repeats('D', "systemproperty", Takes::Two),
    repeats('S', "systemPropertyFile", Takes::One),
    flag('f', "forceDeleteResultFile", Takes::Nothing),
    repeats('L', "loglevel", Takes::Two),
    flag('r', "runremote", Takes::Nothing),
    flag('R', "remotestart", Takes::One),
    flag('d', "homedir", Takes::One),
    flag('X', "remoteexit", Takes::Nothing),
    flag('g', "reportonly", Takes::One),
    flag('e', "reportatendofloadtests", Takes::Nothing),
    flag('o', "reportoutputfolder", Takes::One),
];

/// Options that cannot be combined with `-g`.
const NOT_WITH_REPORT: &[char] = &['n', 'r', 'R', 'l'];

/// An option with its arguments, as given on the command line. Missing arguments are empty. Arguments are bytes,
/// because a file name need not be UTF-8.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) flag: &'static Flag,
    pub(crate) first: &'a OsStr,
    pub(crate) second: &'a OsStr,
}

/// Options of a command line, parsed as JMeter parses them.
#[derive(Debug, Default)]
pub(crate) struct Parsed<'a> {
    pub(crate) given: Vec<Given<'a>>,
    /// Options of `throng run` that JMeter does not have, with their arguments.
    pub(crate) own: Vec<OsString>,
}

impl Given<'_> {
    /// Returns the option's name for messages: `-t (--testfile)`.
    pub(crate) fn shown(&self) -> String {
        format!("-{} (--{})", self.flag.short, self.flag.long)
    }
}

/// Function that looks up a long option of `throng run`. It returns `None` if there is no such option, otherwise true
/// if the option takes a value.
pub(crate) type Own<'a> = &'a dyn Fn(&str) -> Option<bool>;

/// Parses the arguments after the program's name. The error is a message for the user.
pub(crate) fn parse<'a>(args: &'a [OsString], own: Own<'_>) -> Result<Parsed<'a>, String> {
    let mut parsed = Parsed::default();
    let mut at = 0;
    while at < args.len() {
        let arg = args[at].as_bytes();
        at += 1;
        let Some(rest) = arg.strip_prefix(b"-") else { return Err(unknown_argument(arg)) };
        match rest.strip_prefix(b"-") {
            Some(b"") => match args.get(at) {
                Some(text) => return Err(unknown_argument(text.as_bytes())),
                None => break,
            },
            Some(long) => at = parse_long(long, args, at, own, &mut parsed)?,
            None if rest.is_empty() => return Err("Malformed option -".to_string()),
            None => at = parse_short(rest, args, at, &mut parsed.given)?,
        }
    }
    check(&parsed.given)?;
    Ok(parsed)
}

fn unknown_argument(text: &[u8]) -> String {
    format!("Unknown arg: {}", String::from_utf8_lossy(text))
}

/// Splits a string at its first `=`.
fn split(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

fn parse_long<'a>(
    text: &'a [u8],
    args: &'a [OsString],
    at: usize,
    own: Own<'_>,
    parsed: &mut Parsed<'a>,
) -> Result<usize, String> {
    let (name, attached) = split(text);
    let shown = format!("--{}", String::from_utf8_lossy(name));
    let Some(flag) = FLAGS.iter().find(|flag| flag.long.as_bytes() == name) else {
        let takes_value = own(&shown[2..]).ok_or_else(|| suggest::unknown_option(&shown))?;
        return parse_own(&shown, takes_value && attached.is_none(), args, at, parsed);
    };
    let given = &mut parsed.given;
    match (flag.takes, attached) {
        (Takes::Nothing, Some(rest)) => Err(unknown_argument(rest)),
        (Takes::Nothing, None) => {
            given.push(Given { flag, first: OsStr::new(""), second: OsStr::new("") });
            Ok(at)
        }
        // `--testfile=` with an empty value takes the next argument.
        (Takes::One, attached) => {
            one(flag, attached.filter(|rest| !rest.is_empty()), &shown, args, at, given)
        }
        (Takes::Two, attached) => two(flag, attached, &shown, args, at, given),
    }
}

/// Parses a long option of `throng run` that JMeter does not have.
fn parse_own(
    shown: &str,
    takes_next: bool,
    args: &[OsString],
    at: usize,
    parsed: &mut Parsed<'_>,
) -> Result<usize, String> {
    parsed.own.push(args[at - 1].clone());
    if !takes_next {
        return Ok(at);
    }
    let value = args.get(at).ok_or_else(|| format!("Missing argument to option {shown}"))?;
    parsed.own.push(value.clone());
    Ok(at + 1)
}

fn parse_short<'a>(
    text: &'a [u8],
    args: &'a [OsString],
    at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    let mut rest = text;
    while let Some((short, behind)) = rest.split_first() {
        let flag = FLAGS.iter().find(|flag| flag.short == char::from(*short)).ok_or_else(|| {
            let text = String::from_utf8_lossy(rest);
            format!("Unknown option -{}", text.chars().next().unwrap_or_default())
        })?;
        rest = behind;
        let attached = Some(rest).filter(|rest| !rest.is_empty());
        let shown = format!("-{}", flag.short);
        match flag.takes {
            Takes::Nothing => {
                given.push(Given { flag, first: OsStr::new(""), second: OsStr::new("") });
            }
            Takes::One => {
                let attached = attached.map(|rest| rest.strip_prefix(b"=").unwrap_or(rest));
                return one(flag, attached, &shown, args, at, given);
            }
            Takes::Two => return two(flag, attached, &shown, args, at, given),
        }
    }
    Ok(at)
}

/// Parses an option with one argument, which is attached or is the next argument.
fn one<'a>(
    flag: &'static Flag,
    attached: Option<&'a [u8]>,
    shown: &str,
    args: &'a [OsString],
    at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    if let Some(first) = attached {
        given.push(Given { flag, first: OsStr::from_bytes(first), second: OsStr::new("") });
        return Ok(at);
    }
    let first = args.get(at).ok_or_else(|| format!("Missing argument to option {shown}"))?;
    given.push(Given { flag, first, second: OsStr::new("") });
    Ok(at + 1)
}

/// Parses an option with two arguments: `first=second`, or `first` and the next argument unless that is an option.
fn two<'a>(
    flag: &'static Flag,
    attached: Option<&'a [u8]>,
    shown: &str,
    args: &'a [OsString],
    mut at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    let text = match attached {
        Some(text) => text,
        None => {
            at += 1;
            args.get(at - 1)
                .ok_or_else(|| format!("Missing argument to option {shown}"))?
                .as_bytes()
        }
    };
    let (first, second) = split(text);
    if first.is_empty() {
        return Err(format!("Unable to parse first argument for option {shown}"));
    }
    let second = match second {
        Some(second) => OsStr::from_bytes(second),
        None => match args.get(at) {
            Some(next) if !next.as_bytes().starts_with(b"-") => {
                at += 1;
                next
            }
            _ => OsStr::new(""),
        },
    };
    given.push(Given { flag, first: OsStr::from_bytes(first), second });
    Ok(at)
}

/// Refuses the combinations of options that JMeter also refuses.
fn check(given: &[Given<'_>]) -> Result<(), String> {
    let has = |short: char| given.iter().find(|given| given.flag.short == short);
    for (index, option) in given.iter().enumerate() {
        let again = given[..index].iter().any(|earlier| earlier.flag.short == option.flag.short);
        if again && !option.flag.repeats && option.flag.short != 'g' {
            let Flag { short, long, .. } = option.flag;
            return Err(format!("Duplicate options for -{short}/--{long} found."));
        }
    }
    if let Some(report) = has('g')
        && let Some(other) = NOT_WITH_REPORT.iter().find_map(|short| has(*short))
    {
        let (a, b) = (report.flag, other.flag);
        return Err(format!(
            "Incompatible options -{}/--{} and -{}/--{} found.",
            b.short, b.long, a.short, a.long
        ));
    }
    if has('n').is_none() && ['r', 'R', 'X'].iter().any(|short| has(*short).is_some()) {
        return Err("-r and -R and -X are only valid in non-GUI mode".to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
