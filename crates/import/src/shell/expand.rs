//! Words: quotes, escapes and variables.

use super::{Shell, Word};

impl Shell<'_> {
    /// Reads a word up to a blank, an operator or the end of the line.
    pub(super) fn word(&mut self) -> Word {
        let mut word = Word { text: String::new(), quoted: false };
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    self.next();
                    word.quoted = true;
                    self.single_quotes(&mut word.text);
                }
                '"' => {
                    self.next();
                    word.quoted = true;
                    self.double_quotes(&mut word.text);
                }
                '$' if self.peek_after(1) == Some('\'') => {
                    self.at_next(2);
                    word.quoted = true;
                    self.ansi_quotes(&mut word.text);
                }
                // Translated text is read as it is.
                '$' if self.peek_after(1) == Some('"') => self.at_next(1),
                '$' => self.dollar(&mut word.text),
                '`' => self.backquotes(&mut word.text),
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') => {}
                        Some(c) => {
                            word.quoted = true;
                            word.text.push(c);
                        }
                        None => word.text.push('\\'),
                    }
                }
                _ => {
                    self.next();
                    word.text.push(c);
                }
            }
        }
        word
    }

    fn single_quotes(&mut self, out: &mut String) {
        while let Some(c) = self.next() {
            if c == '\'' {
                return;
            }
            out.push(c);
        }
        self.unclosed("'");
    }

    fn double_quotes(&mut self, out: &mut String) {
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.next();
                    return;
                }
                '$' => self.dollar(out),
                '`' => self.backquotes(out),
                '\\' => self.escape_in_quotes(out, true),
                _ => {
                    self.next();
                    out.push(c);
                }
            }
        }
        self.unclosed("\"");
    }

    /// Reads a backslash inside double quotes, where it escapes only some characters, or in a here-document.
    pub(super) fn escape_in_quotes(&mut self, out: &mut String, quotes: bool) {
        self.next();
        match self.peek() {
            Some(c @ ('$' | '`' | '\\')) => {
                self.next();
                out.push(c);
            }
            Some('"') if quotes => {
                self.next();
                out.push('"');
            }
            Some('\n') => {
                self.next();
            }
            _ => out.push('\\'),
        }
    }

    /// Reads the text of `$'…'`, which has the escapes of C.
    fn ansi_quotes(&mut self, out: &mut String) {
        // Escapes may name single bytes of a character.
        let mut bytes = Vec::new();
        let mut closed = false;
        while let Some(c) = self.next() {
            match c {
                '\'' => {
                    closed = true;
                    break;
                }
                '\\' => self.ansi_escape(&mut bytes),
                _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        if !closed {
            self.unclosed("$'");
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => out.push_str(&crate::word::plain(text)),
            Err(_) => {
                self.findings.line = self.line;
                self.findings.warn(
                    "not-utf8",
                    "a text is not valid UTF-8: its invalid bytes are sent as U+FFFD; put the bytes into a file and use @FILE",
                );
                out.push_str(&crate::word::plain(&String::from_utf8_lossy(&bytes)));
            }
        }
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>) {
        let Some(c) = self.next() else { return bytes.push(b'\\') };
        let simple = match c {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '?' => c as u8,
            'x' => {
                return match self.digits(16, 2) {
                    Some(number) => bytes.push(number as u8),
                    None => bytes.extend_from_slice(b"\\x"),
                };
            }
            'u' | 'U' => {
                let most = if c == 'u' { 4 } else { 8 };
                let found = self.digits(16, most).map(char::from_u32);
                let c = found.flatten().unwrap_or(char::REPLACEMENT_CHARACTER);
                return bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            'c' => match self.next() {
                Some(c) => (c as u32 & 0x1f) as u8,
                None => b'c',
            },
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3).unwrap_or(0) as u8
            }
            _ => {
                bytes.push(b'\\');
                return bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        };
        bytes.push(simple);
    }

    /// Reads up to `most` digits. Returns `None` if there is none.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            self.next();
            number = Some(number.unwrap_or(0u32).wrapping_mul(radix).wrapping_add(digit));
        }
        number
    }

    /// Reads a `$` outside single quotes, and the variable or substitution after it.
    pub(super) fn dollar(&mut self, out: &mut String) {
        self.next();
        match self.peek() {
            Some(c) if is_name_start(c) => {
                let name = self.name();
                self.variables.push(&name, out);
            }
            Some(c) if c.is_ascii_digit() => {
                self.next();
                self.variables.push(&format!("arg_{c}"), out);
            }
            Some('(') => {
                self.next();
                self.skip_nested('(', ')');
                self.substitution(out);
            }
            Some('{') => {
                self.next();
                self.braces(out);
            }
            _ => out.push('$'),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| is_name_start(*c) || c.is_ascii_digit()) {
            self.next();
            name.push(c);
        }
        name
    }

    /// Reads the rest of `${NAME}`. Of other forms, only the name counts.
    fn braces(&mut self, out: &mut String) {
        let (from, line) = (self.at, self.line);
        let name = self.name();
        let operator = self.peek().is_none_or(|c| ":-=?+#%/^,@[}".contains(c));
        if name.is_empty() || !operator {
            // Text that is no variable, such as an expression of JMeter.
            (self.at, self.line) = (from, line);
            out.push_str("${");
            return;
        }
        if !self.take('}') {
            self.skip_nested('{', '}');
            self.findings.line = line;
            let message =
                format!("${{{name}…}}: only the variable's value is used, no default or operator");
            self.findings.warn("shell-expansion", message);
        }
        self.variables.push(&name, out);
    }

    /// Skips text up to the closing bracket of an open one. Quoted brackets do not count.
    fn skip_nested(&mut self, open: char, close: char) {
        let mut depth = 1;
        let mut quote = None;
        while let Some(c) = self.next() {
            match quote {
                Some(mark) if c == mark => quote = None,
                Some('\'') => {}
                _ if c == '\\' => {
                    self.next();
                }
                Some(_) => {}
                None if c == '\'' || c == '"' => quote = Some(c),
                None if c == open => depth += 1,
                None if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                None => {}
            }
        }
    }

    /// Reads a command substitution in backquotes.
    pub(super) fn backquotes(&mut self, out: &mut String) {
        self.next();
        while let Some(c) = self.next() {
            match c {
                '`' => break,
                '\\' => {
                    self.next();
                }
                _ => {}
            }
        }
        self.substitution(out);
    }

    /// Appends a reference to the result of a command that is not run.
    fn substitution(&mut self, out: &mut String) {
        self.substitutions += 1;
        let name = format!("command_{}", self.substitutions);
        self.variables.push(&name, out);
    }

    fn unclosed(&mut self, mark: &str) {
        self.findings.line = self.line;
        let message = format!("the text after {mark} has no end: it goes to the end of the file");
        self.findings.warn("open-quote", message);
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
