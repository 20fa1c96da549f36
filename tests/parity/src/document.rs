//! Makes two XML result files comparable by the same rules as CSV rows: attributes of samples are masked. The rest is
//! kept as written, including blanks and line ends.
//!
//! If a sample has no answer, JMeter's response data is a Java stack trace. Its messages are kept, and its code
//! positions are removed.

use crate::normal::{Rules, digits_masked};

/// Returns the file with its variable parts masked.
pub(crate) fn normal(text: &str, rules: &Rules) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = ["<sample ", "<httpSample "].iter().filter_map(|tag| rest.find(tag)).min()
    {
        let end = at + rest[at..].find('>').unwrap_or(rest.len() - at);
        out.push_str(&rest[..at]);
        out.push_str(&tag(&rest[at..end], rules));
        rest = &rest[end..];
    }
    out.push_str(rest);
    let out = without_frames(&out);
    if rules.users { by_thread(&out) } else { out }
}

/// Masks a start tag, given without its `>`.
fn tag(text: &str, rules: &Rules) -> String {
    let value = |name: &str| {
        let from = text.find(&format!(" {name}=\""))? + name.len() + 3;
        let length = text[from..].find('"')?;
        Some(&text[from..from + length])
    };
    let unanswered = value("rc").is_some_and(|code| code.starts_with("Non HTTP response code"));
    let failed = value("s") == Some("false");
    let varies = value("lb").is_some_and(|label| rules.varies.iter().any(|l| l == label));
    let sizes = varies || unanswered || (rules.traces && failed);
    let mut masked = text.to_owned();
    for (name, mask) in [
        ("t", true),
        ("it", true),
        ("lt", true),
        ("ct", true),
        ("ts", true),
        ("by", sizes),
        ("sby", varies),
        ("ng", rules.users),
        ("na", rules.users),
    ] {
        if let Some(value) = value(name).filter(|_| mask) {
            let shown = match (rules.round, value.parse::<u64>()) {
                (Some(step), Ok(ms)) if name.len() < 3 && name != "ts" && name.ends_with('t') => {
                    format!("{}", (ms + step / 2) / step * step)
                }
                _ => digits_masked(value),
            };
            masked = masked.replacen(
                &format!(" {name}=\"{value}\""),
                &format!(" {name}=\"{shown}\""),
                1,
            );
        }
    }
    masked
}

/// Removes the lines of a stack trace that name positions in the code.
fn without_frames(text: &str) -> String {
    let frame = |line: &str| {
        let known = ["\tat ", "\t... ", "Caused by: "];
        known.iter().any(|start| line.starts_with(start))
    };
    text.split_inclusive('\n').filter(|line| !frame(line)).collect()
}

/// Sorts the outermost samples by thread name.
fn by_thread(text: &str) -> String {
    let mut pieces: Vec<String> = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if ["<sample ", "<httpSample ", "\n"].iter().any(|start| line.starts_with(start)) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("never empty").push_str(line);
    }
    let user = |piece: &String| {
        let at = piece.find(" tn=\"").unwrap_or(0);
        piece[at..].split('"').nth(1).map(str::to_owned)
    };
    let samples = pieces.len().saturating_sub(1).max(1);
    pieces[1..samples].sort_by_key(user);
    pieces.concat()
}
