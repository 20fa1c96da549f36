//! Writes XML in the layout of XStream's pretty printer, which JMeter uses for its result files.
//!
//! Empty elements are self-closing, children are indented by two spaces, and text is on the line of its element.
//! Characters that XML does not allow are written as character references nevertheless (XStream's mode `XML_QUIRKS`).
//! Only the growth of the buffer allocates.
use super::unassigned::is_unassigned;

/// Writes elements into a buffer.
#[derive(Debug)]
pub struct Printer<'o> {
    out: &'o mut Vec<u8>,
    depth: usize,
    /// True if the start tag of the current element still lacks its `>`, so that attributes can be added.
    in_tag: bool,
    /// True if the next tag starts a new line.
    new_line: bool,
    /// True if the current element has neither text nor children so far.
    empty: bool,
}

impl<'o> Printer<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, depth: 0, in_tag: false, new_line: false, empty: false }
    }

    /// Starts an element.
    pub fn start(&mut self, name: &str) {
        self.empty = false;
        self.finish_tag();
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        self.in_tag = true;
        self.depth += 1;
        self.new_line = true;
        self.empty = true;
    }

    /// Writes an attribute of the element whose start tag is open.
    pub fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(b' ');
        push_name(name, self.out);
        self.out.extend_from_slice(b"=\"");
        escape(value, true, self.out);
        self.out.push(b'"');
    }

    /// Writes an attribute whose value is a number.
    pub fn number(&mut self, name: &str, value: impl itoa::Integer) {
        self.out.push(b' ');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"=\"");
        self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self.out.push(b'"');
    }

    /// Writes text of the element. An empty text also counts as text.
    pub fn text(&mut self, text: &str) {
        self.new_line = false;
        self.empty = false;
        self.finish_tag();
        escape(text, false, self.out);
    }

    /// Ends the innermost open element, which must have this name.
    pub fn end(&mut self, name: &str) {
        self.depth = self.depth.saturating_sub(1);
        if self.empty {
            self.out.push(b'/');
            self.new_line = false;
            self.finish_tag();
        } else {
            self.finish_tag();
            self.out.extend_from_slice(b"</");
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b'>');
        }
        self.new_line = true;
    }

    /// Ends the line after the outermost element.
    pub fn end_line(self) {
        self.out.push(b'\n');
    }

    fn finish_tag(&mut self) {
        if self.in_tag {
            self.out.push(b'>');
        }
        self.in_tag = false;
        if self.new_line {
            self.out.push(b'\n');
            self.out.extend(std::iter::repeat_n(b' ', 2 * self.depth));
        }
        self.new_line = false;
        self.empty = false;
    }
}

/// Appends an escaped text. In attributes, tabs and line feeds are escaped too.
fn escape(text: &str, attribute: bool, out: &mut Vec<u8>) {
    let special =
        |b: u8| !(b' '..0x7f).contains(&b) | matches!(b, b'&' | b'<' | b'>' | b'"' | b'\'');
    // No branch per byte, so that the compiler can process sixteen bytes at a time.
    if text.bytes().fold(false, |any, b| any | special(b)) {
        escape_slowly(text, attribute, out);
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

#[cold]
fn escape_slowly(text: &str, attribute: bool, out: &mut Vec<u8>) {
    for c in text.chars() {
        let reference: &[u8] = match c {
            '&' => b"&amp;",
            '<' => b"&lt;",
            '>' => b"&gt;",
            '"' => b"&quot;",
            '\'' => b"&apos;",
            '\t' | '\n' if !attribute => {
                out.push(c as u8);
                continue;
            }
            ' '..='~' => {
                out.push(c as u8);
                continue;
            }
            _ if c.is_control() || is_unassigned(c) => {
                out.extend_from_slice(b"&#x");
                push_hex(c as u32, out);
                out.push(b';');
                continue;
            }
            _ => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        out.extend_from_slice(reference);
    }
}

/// Appends a hexadecimal number without leading zeros, in lower case.
fn push_hex(number: u32, out: &mut Vec<u8>) {
    let digits = (32 - number.leading_zeros()).div_ceil(4).max(1);
    for at in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(number >> (4 * at)) as usize & 15]);
    }
}

/// Appends a name as XStream escapes it: `_` is doubled, `$` becomes `_-`. From the first of these characters or the
/// first non-ASCII character on, characters that XML names do not allow are replaced by their code; earlier characters
/// are not.
fn push_name(name: &str, out: &mut Vec<u8>) {
    let odd = |c: char| c == '$' || c == '_' || c <= '\u{1b}' || c >= '\u{7f}';
    let Some(first) = name.find(odd) else { return out.extend_from_slice(name.as_bytes()) };
    out.extend_from_slice(&name.as_bytes()[..first]);
    for (at, c) in name[first..].char_indices() {
        match c {
            '_' => out.extend_from_slice(b"__"),
            '$' => out.extend_from_slice(b"_-"),
            _ if may_be_in_name(c, first + at == 0) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.extend_from_slice(format!("_.{unit:04x}").as_bytes());
                }
            }
        }
    }
}

/// True for the name characters of XML 1.0, fifth edition, that are one UTF-16 unit.
fn may_be_in_name(c: char, first: bool) -> bool {
    let start = matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}'
        | '\u{fdf0}'..='\u{fffd}');
    start
        || !first
            && matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}'
                | '\u{203f}'..='\u{2040}')
}
