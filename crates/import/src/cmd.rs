//! Splits commands for the Windows command prompt, such as those of "Copy as cURL (cmd)" in a browser.
//!
//! Two programs read such a line. The command prompt removes carets outside quotes, and joins lines that end with one.
//! The C library of curl then splits words at blanks, and knows only double quotes, with `\"` and `""` for a quote
//! inside.

use crate::shell::Command;
use crate::word;

/// True if the text is a command for the Windows command prompt: it has carets before quotes or at the end of lines.
pub(crate) fn is_cmd(text: &str) -> bool {
    let continued = |line: &str| line.trim_end_matches('\r').ends_with(" ^");
    let mut lines = text.lines().filter(|line| continued(line) || line.contains("^\""));
    // In a shell, such text occurs only inside quotes of the other kind.
    lines.next().is_some_and(|line| !line.contains('\''))
        && !text.lines().any(|line| line.ends_with(" \\"))
}

/// Splits the text into commands.
pub(crate) fn split(text: &str) -> Vec<Command> {
    let text = word::plain(text).replace("\r\n", "\n");
    let lines = command_lines(&text);
    let command = |(line, text): (u32, String)| {
        let words = words(&text);
        (!words.is_empty()).then_some(Command { words, line, input: None })
    };
    lines.into_iter().filter_map(command).collect()
}

/// Removes carets, and splits the text at the ends of lines and at `&` and `|`. Each command has the number of its
/// first line.
fn command_lines(text: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut current = String::new();
    let (mut line, mut first) = (1, 1);
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                quoted = !quoted;
                current.push(c);
            }
            '^' if !quoted => match chars.next() {
                Some('\n') => {
                    line += 1;
                    // The character after a continued line is literal, even the end of a line.
                    if chars.next_if_eq(&'\n').is_some() {
                        line += 1;
                        current.push('\n');
                    }
                }
                Some(c) => current.push(c),
                None => {}
            },
            '\n' | '&' | '|' if !quoted || c == '\n' => {
                found.push((first, std::mem::take(&mut current)));
                line += u32::from(c == '\n');
                (first, quoted) = (line, false);
            }
            _ => current.push(c),
        }
        if current.trim().is_empty() {
            first = line;
        }
    }
    found.push((first, current));
    found
}

/// Splits a command into words as the C library of Windows does.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = None::<String>;
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' if !quoted => found.extend(current.take()),
            '\\' => {
                let mut count = 1;
                while chars.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let current = current.get_or_insert_default();
                let before_quote = chars.peek() == Some(&'"');
                let kept = if before_quote { count / 2 } else { count };
                current.extend(std::iter::repeat_n('\\', kept));
                if before_quote && count % 2 == 1 {
                    chars.next();
                    current.push('"');
                }
            }
            '"' => {
                let current = current.get_or_insert_default();
                if quoted && chars.next_if_eq(&'"').is_some() {
                    current.push('"');
                } else {
                    quoted = !quoted;
                }
            }
            _ => current.get_or_insert_default().push(c),
        }
    }
    found.extend(current);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Vec<String>> {
        split(text).into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn a_copied_command_is_read() {
        let old = "curl \"http://h/a?b=c&d=%20e\" ^\r\n  -H \"accept: */*\" ^\r\n  --data-raw \"{\\\"a\\\":1}\" ^\r\n  --compressed";
        assert!(is_cmd(old));
        assert_eq!(
            of(old),
            [[
                "curl",
                "http://h/a?b=c&d=%20e",
                "-H",
                "accept: */*",
                "--data-raw",
                "{\"a\":1}",
                "--compressed"
            ]]
        );
        let new = "curl ^\"http://h/a?b=^%^20c^&d^\" ^\n  -H ^\"x: a\\^\"b^\" ^\n  --data-raw ^\"a^\n\nb^\"";
        assert!(is_cmd(new));
        assert_eq!(
            of(new),
            [["curl", "http://h/a?b=%20c&d", "-H", "x: a\"b", "--data-raw", "a\nb"]]
        );
    }

    #[test]
    fn quotes_and_backslashes_follow_the_c_library() {
        assert_eq!(
            of(r#"a "b c" d""e "f""g" \\h \"i "j\\" k"#),
            [["a", "b c", "de", "f\"g", r"\\h", "\"i", r"j\", "k"]]
        );
        assert_eq!(of("curl a & curl b\ncurl c"), [["curl", "a"], ["curl", "b"], ["curl", "c"]]);
        let lines: Vec<_> = split("\na ^\nb\nc").iter().map(|command| command.line).collect();
        assert_eq!(lines, [2, 4]);
    }

    #[test]
    fn a_script_of_a_shell_is_told_apart() {
        assert!(!is_cmd("curl 'http://h' \\\n  -d 'a ^\nb'"));
        assert!(!is_cmd("curl -d 'x^\"y' http://h"));
        assert!(!is_cmd("curl http://h"));
    }
}
