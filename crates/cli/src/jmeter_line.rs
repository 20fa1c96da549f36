//! JMeter's own command line, so that scripts written for `jmeter -n -t …` run unchanged.
//!
//! The syntax is that of its Avalon option parser: short options bundle (`-nf`), an argument may be attached or
//! follow (`-tplan`, `-t plan`, `-t=plan`), options with two arguments take `-Jk=v`, `-J k=v`, `-J k v` and
//! `--jmeterproperty k=v`, and a missing second argument is empty. Every flag of JMeter 5.6.3 is known.

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Two,
}

/// One of JMeter's options.
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

/// The options `-g` cannot be combined with.
const NOT_WITH_REPORT: &[char] = &['n', 'r', 'R', 'l'];

/// An option as given. The strings are empty where it takes none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) flag: &'static Flag,
    pub(crate) first: &'a str,
    pub(crate) second: &'a str,
}

impl Given<'_> {
    /// `-t (--testfile)`, as messages name it.
    pub(crate) fn shown(&self) -> String {
        format!("-{} (--{})", self.flag.short, self.flag.long)
    }
}

/// Reads the arguments behind the program's name. The error is a sentence for the user.
pub(crate) fn parse(args: &[String]) -> Result<Vec<Given<'_>>, String> {
    let mut given = Vec::new();
    let mut at = 0;
    while at < args.len() {
        let arg = args[at].as_str();
        at += 1;
        let Some(rest) = arg.strip_prefix('-') else {
            return Err(format!("Unknown arg: {arg}"));
        };
        match rest.strip_prefix('-') {
            Some("") => match args.get(at) {
                Some(text) => return Err(format!("Unknown arg: {text}")),
                None => break,
            },
            Some(long) => at = parse_long(long, args, at, &mut given)?,
            None if rest.is_empty() => return Err("Malformed option -".to_string()),
            None => at = parse_short(rest, args, at, &mut given)?,
        }
    }
    check(&given)?;
    Ok(given)
}

fn parse_long<'a>(
    text: &'a str,
    args: &'a [String],
    at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    let (name, attached) = match text.split_once('=') {
        Some((name, rest)) => (name, Some(rest)),
        None => (text, None),
    };
    let flag = FLAGS
        .iter()
        .find(|flag| flag.long == name)
        .ok_or_else(|| format!("Unknown option --{name}"))?;
    let shown = format!("--{name}");
    match (flag.takes, attached) {
        (Takes::Nothing, Some(rest)) => Err(format!("Unknown arg: {rest}")),
        (Takes::Nothing, None) => {
            given.push(Given { flag, first: "", second: "" });
            Ok(at)
        }
        // `--testfile=` with nothing behind it takes the next argument.
        (Takes::One, attached) => {
            one(flag, attached.filter(|rest| !rest.is_empty()), &shown, args, at, given)
        }
        (Takes::Two, attached) => two(flag, attached, &shown, args, at, given),
    }
}

fn parse_short<'a>(
    text: &'a str,
    args: &'a [String],
    at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    let mut chars = text.chars();
    while let Some(short) = chars.next() {
        let flag = FLAGS
            .iter()
            .find(|flag| flag.short == short)
            .ok_or_else(|| format!("Unknown option -{short}"))?;
        let rest = Some(chars.as_str()).filter(|rest| !rest.is_empty());
        let shown = format!("-{short}");
        match flag.takes {
            Takes::Nothing => given.push(Given { flag, first: "", second: "" }),
            Takes::One => {
                let rest = rest.map(|rest| rest.strip_prefix('=').unwrap_or(rest));
                return one(flag, rest, &shown, args, at, given);
            }
            Takes::Two => return two(flag, rest, &shown, args, at, given),
        }
    }
    Ok(at)
}

/// An option with one argument, attached or next.
fn one<'a>(
    flag: &'static Flag,
    attached: Option<&'a str>,
    shown: &str,
    args: &'a [String],
    at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    if let Some(first) = attached {
        given.push(Given { flag, first, second: "" });
        return Ok(at);
    }
    let first = args.get(at).ok_or_else(|| format!("Missing argument to option {shown}"))?;
    given.push(Given { flag, first, second: "" });
    Ok(at + 1)
}

/// An option with two arguments: `first=second`, or `first` and the next argument unless that is an option.
fn two<'a>(
    flag: &'static Flag,
    attached: Option<&'a str>,
    shown: &str,
    args: &'a [String],
    mut at: usize,
    given: &mut Vec<Given<'a>>,
) -> Result<usize, String> {
    let text = match attached {
        Some(text) => text,
        None => {
            at += 1;
            args.get(at - 1).ok_or_else(|| format!("Missing argument to option {shown}"))?
        }
    };
    let (first, second) = match text.split_once('=') {
        Some((first, second)) => (first, Some(second)),
        None => (text, None),
    };
    if first.is_empty() {
        return Err(format!("Unable to parse first argument for option {shown}"));
    }
    let second = match second {
        Some(second) => second,
        None => match args.get(at) {
            Some(next) if !next.starts_with('-') => {
                at += 1;
                next
            }
            _ => "",
        },
    };
    given.push(Given { flag, first, second });
    Ok(at)
}

/// Combinations that JMeter refuses.
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
