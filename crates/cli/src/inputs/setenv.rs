//! Reads the variables that JMeter's `bin/setenv.sh` sets, without running the script.
//!
//! It supports assignments, one per line: `NAME=value`, with or without `export`, with any kind of quotes, with
//! `$NAME`, `${NAME}` and `${NAME:-value}` in the value, and `: "${NAME:=value}"`. Other lines are reported by
//! number and have no effect.

use std::collections::BTreeMap;

/// Variables that a script sets, and the numbers of the lines that are not supported.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) strange: Vec<usize>,
}

/// Parses a script. `outside` returns variables of the environment.
pub(crate) fn read(text: &str, outside: &dyn Fn(&str) -> Option<String>) -> Script {
    let mut script = Script::default();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let mut line = line.trim().to_owned();
        while line.ends_with('\\') {
            line.pop();
            let Some((_, more)) = lines.next() else { break };
            line.push_str(more.trim());
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let known = |name: &str| script.variables.get(name).cloned().or_else(|| outside(name));
        match assignments(&line, &known) {
            Some(found) => script.variables.extend(found),
            None => script.strange.push(at + 1),
        }
    }
    script
}

type Known<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the variables that a line sets, or `None` if the line is not an assignment.
fn assignments(line: &str, known: Known<'_>) -> Option<Vec<(String, String)>> {
    if let Some(rest) = line.strip_prefix(": ") {
        let mut set = Vec::new();
        let (_, rest) = word(rest.trim_start(), known, &mut set)?;
        return is_end(rest).then_some(set);
    }
    let exported = line.strip_prefix("export ").map(str::trim_start);
    let mut rest = exported.unwrap_or(line);
    let mut found = Vec::new();
    while !is_end(rest) {
        let name = name(rest)?;
        let Some(value) = rest[name.len()..].strip_prefix('=') else {
            // `export NAME` without a value exports an existing variable.
            exported?;
            rest = rest[name.len()..].trim_start();
            continue;
        };
        let (text, after) = word(value, known, &mut found)?;
        found.push((name.to_owned(), text));
        if !after.is_empty() && !after.starts_with([' ', '\t', ';']) {
            return None;
        }
        rest = after.trim_start().trim_start_matches(';').trim_start();
    }
    Some(found)
}

fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

/// Returns the name of a shell variable at the start of a string.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let name = &text[..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Resolves the quotes and variables of the first word. Returns the word and the remaining string.
fn word<'t>(
    text: &'t str,
    known: Known<'_>,
    set: &mut Vec<(String, String)>,
) -> Option<(String, &'t str)> {
    let (mut out, mut quoted, mut rest) = (String::new(), false, text);
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        match c {
            '"' => quoted = !quoted,
            '\'' if !quoted => {
                let (inside, after) = behind.split_once('\'')?;
                out.push_str(inside);
                rest = after;
                continue;
            }
            '\\' => {
                let escaped = behind.chars().next()?;
                if quoted && !matches!(escaped, '"' | '$' | '`' | '\\') {
                    out.push('\\');
                }
                out.push(escaped);
                rest = &behind[escaped.len_utf8()..];
                continue;
            }
            '$' => {
                rest = variable(behind, known, set, &mut out)?;
                continue;
            }
            ' ' | '\t' | ';' if !quoted => break,
            '`' => return None,
            '|' | '&' | '<' | '>' | '(' | ')' if !quoted => return None,
            c => out.push(c),
        }
        rest = behind;
    }
    (!quoted).then_some((out, rest))
}

/// Resolves a variable after a `$`. Returns its value and the remaining string.
fn variable<'t>(
    text: &'t str,
    known: Known<'_>,
    set: &mut Vec<(String, String)>,
    out: &mut String,
) -> Option<&'t str> {
    let Some(inside) = text.strip_prefix('{') else {
        let name = name(text)?;
        out.push_str(&known(name).unwrap_or_default());
        return Some(&text[name.len()..]);
    };
    let (inside, after) = inside.split_once('}')?;
    let name = name(inside)?;
    let there = known(name);
    let rest = &inside[name.len()..];
    let default =
        [":-", ":=", "-", "="].iter().find_map(|sign| Some((*sign, rest.strip_prefix(sign)?)));
    match default {
        None if rest.is_empty() => out.push_str(&there.unwrap_or_default()),
        None => return None,
        Some((sign, default)) => {
            let there = there.filter(|value| !sign.starts_with(':') || !value.is_empty());
            let value = match there {
                Some(value) => value,
                // Quotes in a default value are separate from the quotes around the variable.
                None => {
                    let value = defaulted(default, known)?;
                    if sign.ends_with('=') {
                        set.push((name.to_owned(), value.clone()));
                    }
                    value
                }
            };
            out.push_str(&value);
        }
    }
    Some(after)
}

fn defaulted(text: &str, known: Known<'_>) -> Option<String> {
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if text.contains(['$', '`']) {
        let quoted = format!("\"{text}\"");
        return word(&quoted, known, &mut Vec::new()).map(|(value, _)| value);
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Script {
        read(text, &|name| (name == "OUTSIDE").then(|| "from outside".to_owned()))
    }

    fn variables(text: &str) -> Vec<(String, String)> {
        let script = set(text);
        assert_eq!(script.strange, [0; 0], "{text}");
        script.variables.into_iter().collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        expected.iter().map(own).collect()
    }

    #[test]
    fn assignments_are_read() {
        let text = "#!/bin/sh\n# memory\nexport HEAP=\"-Xms2g -Xmx4g\"  # enough\nJVM_ARGS='-Da=$b -Dc'\n\nGC_ALGO=-XX:+UseParallelGC\nexport JVM_ARGS";
        let expected = [
            ("GC_ALGO", "-XX:+UseParallelGC"),
            ("HEAP", "-Xms2g -Xmx4g"),
            ("JVM_ARGS", "-Da=$b -Dc"),
        ];
        assert_eq!(variables(text), pairs(&expected));
        assert_eq!(
            variables("A=1 B=2; C=\"x\"'y'z"),
            pairs(&[("A", "1"), ("B", "2"), ("C", "xyz")])
        );
    }

    #[test]
    fn variables_are_those_before_and_those_outside() {
        let text = "A=1\nB=\"$A ${OUTSIDE} ${NONE}\"\nB=\"$B \\$A\"\nC=one\\\n  two";
        let expected = [("A", "1"), ("B", "1 from outside  $A"), ("C", "onetwo")];
        assert_eq!(variables(text), pairs(&expected));
    }

    #[test]
    fn defaults_stand_where_nothing_is() {
        let text = ": \"${HEAP:=\"-Xmx2g -Xms1g\"}\"\n: ${OUTSIDE:=no}\nX=${NONE:-\"$HEAP\"}\nY=\"${OUTSIDE:-no}\"";
        let expected = [("HEAP", "-Xmx2g -Xms1g"), ("X", "-Xmx2g -Xms1g"), ("Y", "from outside")];
        assert_eq!(variables(text), pairs(&expected));
    }

    #[test]
    fn what_is_no_assignment_is_told_and_not_run() {
        let text = "A=1\nif [ -z \"$A\" ]; then\n  A=2\nfi\nB=$(nproc)\nC=`uname`\nulimit -n 9\nD=\"open\nE=${A%x}";
        let script = set(text);
        assert_eq!(script.strange, [2, 4, 5, 6, 7, 8, 9]);
        assert_eq!(script.variables.get("A").map(String::as_str), Some("2"));
    }
}
