//! curl's patterns in addresses: `{a,b}`, `[1-3]`, `[a-z]`, with steps such as `[0-100:10]`.

use crate::word;

/// Largest number of addresses that one pattern may name.
pub(super) const MOST: usize = 1000;

/// A part of an address with a pattern: the texts that it stands for.
type Choices = Vec<String>;

/// Returns all addresses that an address with patterns stands for; the last pattern varies first.
pub(super) fn expand(text: &str) -> Result<Vec<String>, String> {
    let parts = parts(text)?;
    let mut count = 1usize;
    for choices in &parts {
        count = count.saturating_mul(choices.len());
    }
    if count > MOST {
        return Err(format!(
            "{}: the pattern names {count} URLs, at most {MOST} are imported",
            word::shown(text)
        ));
    }
    let mut all = vec![String::new()];
    for choices in &parts {
        let with = |before: &String| {
            let before = before.clone();
            choices.iter().map(move |choice| before.clone() + choice).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

fn parts(text: &str) -> Result<Vec<Choices>, String> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' if after.starts_with(['{', '}', '[', ']']) => {
                literal.push_str(&after[..1]);
                rest = &after[1..];
            }
            '[' if address_end(after).is_some() => {
                let end = address_end(after).unwrap_or(0);
                literal.push('[');
                literal.push_str(&after[..end]);
                rest = &after[end..];
            }
            '[' | '{' => {
                let close = if c == '[' { ']' } else { '}' };
                let wrong =
                    |why: &str| format!("{}: {why}; -g sends {c} as it is", word::shown(text));
                let Some(end) = closing(after, close) else {
                    return Err(wrong(&format!("{c} has no {close}")));
                };
                let inside = &after[..end];
                let choices = if c == '[' { range(inside) } else { set(inside) };
                let choices =
                    choices.ok_or_else(|| wrong(&format!("{inside} is not a pattern of curl")))?;
                parts.push(vec![std::mem::take(&mut literal)]);
                parts.push(choices);
                rest = &after[end + 1..];
            }
            '}' | ']' => {
                return Err(format!(
                    "{}: {c} without its beginning; -g sends {c} as it is",
                    word::shown(text)
                ));
            }
            _ => {
                literal.push(c);
                rest = after;
            }
        }
    }
    parts.push(vec![literal]);
    Ok(parts)
}

/// Returns the end of an IPv6 address, with its bracket, or of an empty pair of brackets.
fn address_end(after: &str) -> Option<usize> {
    let end = after.find(']')?;
    let inside = &after[..end];
    let address = inside.split('%').next().unwrap_or_default();
    let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
    (is_address || inside.is_empty()).then_some(end + 1)
}

/// Returns the position of the closing bracket, which no backslash escapes.
fn closing(text: &str, close: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == close && !escaped;
        escaped = c == '\\' && !escaped;
        found.then_some(at)
    })
}

fn set(inside: &str) -> Option<Choices> {
    if inside.is_empty() {
        return None;
    }
    let mut choices = vec![String::new()];
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        let last = choices.last_mut()?;
        match c {
            ',' => choices.push(String::new()),
            '{' | '[' => return None,
            '\\' => last.extend(chars.next()),
            _ => last.push(c),
        }
        if choices.len() > MOST {
            break;
        }
    }
    Some(choices)
}

fn range(inside: &str) -> Option<Choices> {
    let (ends, step) = inside.split_once(':').unwrap_or((inside, "1"));
    let step: u64 = step.parse().ok().filter(|step| *step > 0)?;
    let (first, last) = ends.split_once('-')?;
    let mut letters = (first.chars(), last.chars());
    if let (Some(from), None, Some(to), None) =
        (letters.0.next(), letters.0.next(), letters.1.next(), letters.1.next())
        && from.is_ascii_alphabetic()
        && to.is_ascii_alphabetic()
    {
        let one = |code: u32| char::from_u32(code).map(String::from);
        let range = (from as u32..=to as u32).step_by(usize::try_from(step).ok()?);
        return Some(range.filter_map(one).collect()).filter(|all: &Choices| !all.is_empty());
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return None;
    }
    let (from, to): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    if from > to {
        return None;
    }
    // One number too many shows that the pattern is too large.
    let width = if first.starts_with('0') { first.len().min(20) } else { 0 };
    let numbers = (from..=to).step_by(usize::try_from(step).ok()?).take(MOST + 1);
    Some(numbers.map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_expanded() {
        for (text, expected) in [
            ("h/a", vec!["h/a"]),
            ("h/{a,b}", vec!["h/a", "h/b"]),
            ("h/{a,b}/[1-2]", vec!["h/a/1", "h/a/2", "h/b/1", "h/b/2"]),
            ("h/[08-10]", vec!["h/08", "h/09", "h/10"]),
            ("h/[0-9:4]x", vec!["h/0x", "h/4x", "h/8x"]),
            ("h/[a-e:2]", vec!["h/a", "h/c", "h/e"]),
            ("http://[::1]/", vec!["http://[::1]/"]),
            ("h/\\{a\\}\\[1\\]", vec!["h/{a}[1]"]),
            ("h/{a\\,b,}", vec!["h/a,b", "h/"]),
        ] {
            assert_eq!(expand(text).as_deref(), Ok(&expected.map_strings()[..]), "{text}");
        }
    }

    trait Strings {
        fn map_strings(&self) -> Vec<String>;
    }

    impl Strings for Vec<&str> {
        fn map_strings(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }

    #[test]
    fn large_and_broken_patterns_are_refused() {
        assert_eq!(expand("h/[1-1000]").map(|all| all.len()), Ok(1000));
        for (text, words) in [
            ("h/[1-1001]", "1001 URLs"),
            ("h/[1-100]/[1-100]", "10000 URLs"),
            ("h/[1-18446744073709551615]", "at most 1000"),
            ("h/{a", "has no }"),
            ("h/[1-", "has no ]"),
            ("h/[x]", "not a pattern"),
            ("h/[3-1]", "not a pattern"),
            ("h/{a,{b}}", "not a pattern"),
            ("h/a}", "without its beginning"),
        ] {
            let error = expand(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
