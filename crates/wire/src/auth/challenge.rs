//! Parser of authentication challenges: each header line is one scheme with parameters, split as in HttpClient's
//! parser.

/// An authentication challenge of a server or proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    scheme: String,
    /// Parameters by name in lower case. If a name occurs more than once, the last value counts.
    params: Vec<(String, Option<String>)>,
}

impl Challenge {
    /// Parses all challenges in the header lines called `name` (lower case) of a response head.
    pub fn all(head: &[u8], name: &str) -> Vec<Self> {
        let lines = head.split(|byte| *byte == b'\n').skip(1);
        lines.filter_map(|line| Self::parse(value_of(line, name)?)).collect()
    }

    /// Parses the value of one challenge header; `None` if it names no scheme.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let text: String = value.iter().map(|byte| char::from(*byte)).collect();
        let text = text.trim_matches(blank);
        let end = text.find(blank).unwrap_or(text.len());
        if end == 0 {
            return None;
        }
        let mut challenge = Self { scheme: text[..end].to_lowercase(), params: Vec::new() };
        let mut rest = &text[end..];
        while !rest.is_empty() {
            let element = quoted_until(rest, ',');
            // Text after a semicolon is a parameter of the list element; HttpClient ignores it.
            let pair = quoted_until(element, ';');
            let (name, value) = match pair.find('=').filter(|at| !pair[..*at].contains('"')) {
                Some(at) => (&pair[..at], Some(unquoted(&pair[at + 1..]))),
                None => (pair, None),
            };
            let name = name.trim_matches(blank).to_lowercase();
            if !name.is_empty() || value.is_some() {
                challenge.put(name, value);
            }
            rest = rest[element.len()..].strip_prefix(',').unwrap_or("");
        }
        Some(challenge)
    }

    fn put(&mut self, name: String, value: Option<String>) {
        match self.params.iter_mut().find(|(known, _)| *known == name) {
            Some(slot) => slot.1 = value,
            None => self.params.push((name, value)),
        }
    }

    /// True if the challenge is of this authentication scheme (name in lower case).
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme == scheme
    }

    /// Returns the value of a challenge parameter by its name in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.as_deref())
    }

    /// True if the authentication challenge has no parameters.
    pub fn is_bare(&self) -> bool {
        self.params.is_empty()
    }
}

fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Returns the text before the first `mark` that is outside quotes.
fn quoted_until(text: &str, mark: char) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        if !quoted && !escaped && c == mark {
            return &text[..at];
        }
        escaped = !escaped && quoted && c == '\\';
    }
    text
}

/// Returns a parameter value without its quotes and escaping backslashes.
fn unquoted(text: &str) -> String {
    let text = text.trim_matches(blank);
    let mut plain = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        if c == '"' && !escaped {
            quoted = !quoted;
        } else if quoted && c == '\\' && !escaped {
            escaped = true;
            continue;
        } else {
            if escaped && c != '"' && c != '\\' {
                plain.push('\\');
            }
            plain.push(c);
        }
        escaped = false;
    }
    plain
}

/// Returns the value of a header line if the header has this name.
fn value_of<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let found = line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
    found.then(|| line[colon + 1..].trim_ascii())
}
