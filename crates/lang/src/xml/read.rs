//! Parses a document: declaration, prolog, content, and what follows the root element.

use std::borrow::Cow;

use super::cursor::{Cursor, check, is_char, is_name_start, is_space};
use super::decode::decode;
use super::dtd::Dtd;
use super::fault::Fault;
use super::tree::{Builder, Kind, Tree};

/// Options for parsing a document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// If true, names have namespaces, and prefixes must be declared.
    pub namespaces: bool,
    /// If true, whitespace between elements is dropped if the document type allows only elements there.
    pub drops_blanks: bool,
    /// If true, a document type is an error.
    pub forbids_doctype: bool,
    /// If true, attributes keep the order of the document.
    pub keeps_order: bool,
}

/// The state of parsing a document.
pub(super) struct Reader {
    pub(super) builder: Builder,
    pub(super) options: Options,
    pub(super) dtd: Dtd,
    /// Number of entities expanded so far.
    pub(super) expansions: u32,
    /// Namespace bindings (prefix and URI), innermost last; and the number of bindings at the start of each open
    /// element.
    pub(super) bindings: Vec<(Box<str>, Box<str>)>,
    pub(super) marks: Vec<usize>,
}

/// Parses an XML document from bytes.
pub fn read(bytes: &[u8], options: Options) -> Result<Tree, Fault> {
    let (text, malformed) = decode(bytes)?;
    let text = with_line_ends(&text);
    let mut cursor = Cursor::new(&text);
    let read = document(&mut cursor, options);
    match malformed {
        Some(malformed) if read.is_ok() || cursor.is_at_end() => Err(malformed),
        _ => read,
    }
}

/// Parses an XML document from text; its encoding declaration is ignored.
pub fn read_text(text: &str, options: Options) -> Result<Tree, Fault> {
    let text = with_line_ends(text);
    document(&mut Cursor::new(&text), options)
}

/// Parses a document from text for Saxon, whose messages contain line and column.
pub fn read_for_saxon(text: &str) -> Result<Tree, String> {
    let text = with_line_ends(text);
    let mut cursor = Cursor::new(&text);
    let options = Options { namespaces: true, keeps_order: true, ..Options::default() };
    document(&mut cursor, options).map_err(|fault| {
        const KIND: &str = "org.xml.sax.SAXParseException;";
        let message = fault.message;
        if message == "Premature end of file." {
            return format!("{KIND} {message}");
        }
        let before = &text[..text.len() - cursor.rest().len()];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() + 1;
        format!("{KIND} lineNumber: {line}; columnNumber: {column}; {message}")
    })
}

/// Replaces each line end (CR, or CR LF) by a line feed.
fn with_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

fn document(cursor: &mut Cursor<'_>, options: Options) -> Result<Tree, Fault> {
    if cursor.rest().len() > Builder::MAX_TEXT {
        return Err(Fault::new("The document is too large to be parsed."));
    }
    let mut reader = Reader {
        builder: Builder::new(options.namespaces),
        options,
        dtd: Dtd::default(),
        expansions: 0,
        bindings: Vec::new(),
        marks: Vec::new(),
    };
    if cursor.starts("<?xml") && cursor.rest()[5..].starts_with(is_space) {
        cursor.go(5);
        declaration(cursor, &mut reader.dtd)?;
    }
    reader.prolog(cursor)?;
    reader.content(cursor, 0, true, 0)?;
    reader.epilog(cursor)?;
    Ok(reader.builder.end())
}

/// Parses the XML declaration, from after `<?xml`.
fn declaration(cursor: &mut Cursor<'_>, dtd: &mut Dtd) -> Result<(), Fault> {
    let mut known = ["version", "encoding", "standalone"].into_iter().peekable();
    loop {
        cursor.spaces();
        if cursor.skip("?>") {
            break;
        }
        let Some(name) = cursor.name() else {
            let message = match known.peek() {
                Some(&"version") => "The version is required in the XML declaration.",
                _ => "A pseudo attribute name is expected.",
            };
            return Err(cursor.fault(message));
        };
        if known.peek() == Some(&"version") && name != "version" {
            return Err(Fault::new("The version is required in the XML declaration."));
        }
        let Some(expected) = known.find(|known| *known == name) else {
            return Err(cursor.fault("A pseudo attribute name is expected."));
        };
        cursor.spaces();
        if !cursor.skip("=") {
            return Err(cursor.fault(format!(
                "The ' = ' character must follow \"{expected}\" in the XML declaration."
            )));
        }
        cursor.spaces();
        let value = match cursor.peek() {
            Some(quote @ ('"' | '\'')) => {
                cursor.go(1);
                let value = cursor.take_while(|c| c != quote);
                cursor.skip(quote.encode_utf8(&mut [0; 4]));
                value
            }
            _ => {
                return Err(cursor.fault(format!(
                    "The value following \"{expected}\" in the XML declaration must be a quoted string."
                )));
            }
        };
        match expected {
            "version" if !matches!(value, "1.0" | "1.1") => {
                return Err(Fault::new(format!(
                    "XML version \"{value}\" is not supported, only XML 1.0 is supported."
                )));
            }
            "standalone" if !matches!(value, "yes" | "no") => {
                return Err(Fault::new(format!(
                    "The standalone document declaration value must be \"yes\" or \"no\", not \"{value}\"."
                )));
            }
            "standalone" => dtd.standalone = value == "yes",
            _ => {}
        }
    }
    if known.peek() == Some(&"version") {
        return Err(Fault::new("The version is required in the XML declaration."));
    }
    Ok(())
}

impl Reader {
    /// Parses the part of a document before the root element.
    fn prolog(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let mut has_doctype = false;
        loop {
            cursor.spaces();
            let Some(c) = cursor.peek() else {
                return Err(Fault::new("Premature end of file."));
            };
            if c == '&' {
                return Err(Fault::new("Reference is not allowed in prolog."));
            }
            if !cursor.skip("<") {
                return Err(Fault::new("Content is not allowed in prolog."));
            }
            if cursor.skip("?") {
                self.instruction(cursor)?;
            } else if cursor.skip("!") {
                if cursor.starts("-") {
                    self.comment(cursor)?;
                } else if cursor.skip("DOCTYPE") {
                    if self.options.forbids_doctype {
                        return Err(Fault::new(
                            "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/disallow-doctype-decl\" set to true.",
                        ));
                    }
                    if std::mem::replace(&mut has_doctype, true) {
                        return Err(Fault::new("Already seen doctype."));
                    }
                    self.doctype(cursor)?;
                } else {
                    return Err(cursor.fault(IN_PROLOG));
                }
            } else if cursor.peek().is_some_and(is_name_start) {
                return self.start_tag(cursor);
            } else {
                return Err(cursor.fault(IN_PROLOG));
            }
        }
    }

    /// Parses the part of a document after the root element.
    fn epilog(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        loop {
            cursor.spaces();
            if cursor.is_at_end() {
                return Ok(());
            }
            if !cursor.skip("<") {
                return Err(Fault::new("Content is not allowed in trailing section."));
            }
            if cursor.skip("?") {
                self.instruction(cursor)?;
            } else if cursor.starts("!-") {
                cursor.go(1);
                self.comment(cursor)?;
            } else {
                return Err(cursor.fault(
                    "The markup in the document following the root element must be well-formed.",
                ));
            }
        }
    }

    /// Parses the content of elements, until the root element is closed or, in an entity, until the end of the text.
    pub(super) fn content(
        &mut self,
        cursor: &mut Cursor<'_>,
        base: usize,
        is_document: bool,
        level: u32,
    ) -> Result<(), Fault> {
        loop {
            if is_document && self.builder.depth() == 0 {
                return Ok(());
            }
            let Some(c) = cursor.peek() else {
                return if self.builder.depth() == base { Ok(()) } else { Err(Fault::cut()) };
            };
            match c {
                '&' => {
                    cursor.go(1);
                    self.reference_in_content(cursor, level)?;
                }
                '<' => {
                    cursor.go(1);
                    self.markup(cursor, base)?;
                }
                _ => self.characters(cursor)?,
            }
        }
    }

    fn characters(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let rest = cursor.rest();
        let mut end = memchr::memchr2(b'<', b'&', rest.as_bytes()).unwrap_or(rest.len());
        let closing = rest[..end].find("]]>");
        end = closing.unwrap_or(end);
        let wrong = rest[..end].find(|c| !is_char(c));
        let text = cursor.go(wrong.unwrap_or(end));
        self.add_text(text);
        if wrong.is_some() {
            let c = cursor.peek().unwrap_or_default();
            return check(c, |number| {
                format!(
                    "An invalid XML character (Unicode: 0x{number}) was found in the element content of the document."
                )
            });
        }
        if closing.is_some() {
            return Err(Fault::new(
                "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.",
            ));
        }
        Ok(())
    }

    /// Adds text to the open element, unless it is whitespace that [`Options::drops_blanks`] drops.
    pub(super) fn add_text(&mut self, text: &str) {
        let is_dropped = self.options.drops_blanks
            && self.dtd.holds_elements_only(self.builder.open_name())
            && text.chars().all(is_space);
        if !is_dropped {
            self.builder.text(text);
        }
    }

    /// Parses markup in content, from after its `<`.
    fn markup(&mut self, cursor: &mut Cursor<'_>, base: usize) -> Result<(), Fault> {
        if cursor.skip("/") {
            self.end_tag(cursor, base)
        } else if cursor.skip("?") {
            self.instruction(cursor)
        } else if cursor.skip("!") {
            if cursor.starts("-") {
                self.comment(cursor)
            } else if cursor.skip("[CDATA[") {
                self.cdata(cursor)
            } else if cursor.skip("DOCTYPE") {
                Err(cursor.fault("A DOCTYPE is not allowed in content."))
            } else {
                Err(cursor.fault(IN_CONTENT))
            }
        } else if cursor.peek().is_some_and(is_name_start) {
            self.start_tag(cursor)
        } else {
            Err(cursor.fault(IN_CONTENT))
        }
    }

    fn cdata(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let rest = cursor.rest();
        let end = rest.find("]]>");
        let text = &rest[..end.unwrap_or(rest.len())];
        if let Some(c) = text.chars().find(|c| !is_char(*c)) {
            return check(c, |number| {
                format!(
                    "An invalid XML character (Unicode: 0x{number}) was found in the CDATA section."
                )
            });
        }
        cursor.go(text.len());
        if !cursor.skip("]]>") {
            return Err(Fault::cut());
        }
        self.builder.leaf(Kind::CData, "", text);
        Ok(())
    }

    /// Parses a comment, from its first dash.
    pub(super) fn comment(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if !cursor.skip("--") {
            return Err(cursor.fault("Comment must start with \"<!--\"."));
        }
        let rest = cursor.rest();
        let end = rest.find("--").unwrap_or(rest.len());
        if let Some(at) = rest[..end].find(|c| !is_char(c)) {
            cursor.go(at);
            let c = cursor.peek().unwrap_or_default();
            return check(c, |number| {
                format!("An invalid XML character (Unicode: 0x{number}) was found in the comment.")
            });
        }
        let text = cursor.go(end);
        if !cursor.skip("--") {
            return Err(Fault::cut());
        }
        if !cursor.skip(">") {
            return Err(cursor.fault("The string \"--\" is not permitted within comments."));
        }
        if !self.dtd.is_being_read {
            self.builder.leaf(Kind::Comment, "", text);
        }
        Ok(())
    }

    /// Parses a processing instruction, from after its `<?`.
    pub(super) fn instruction(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let Some(target) = cursor.name() else {
            return Err(
                cursor.fault("The processing instruction must begin with the name of the target.")
            );
        };
        if target.eq_ignore_ascii_case("xml") {
            return Err(Fault::new(
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
            ));
        }
        if !cursor.starts("?>") && !cursor.spaces() {
            return Err(cursor.fault(
                "White space is required between the processing instruction target and data.",
            ));
        }
        let rest = cursor.rest();
        let end = rest.find("?>").unwrap_or(rest.len());
        if let Some(c) = rest[..end].chars().find(|c| !is_char(*c)) {
            return check(c, |number| {
                format!(
                    "An invalid XML character (Unicode: 0x{number}) was found in the processing instruction."
                )
            });
        }
        let data = cursor.go(end);
        if !cursor.skip("?>") {
            return Err(Fault::cut());
        }
        if !self.dtd.is_being_read {
            self.builder.leaf(Kind::Instruction, target, data);
        }
        Ok(())
    }
}

const IN_PROLOG: &str =
    "The markup in the document preceding the root element must be well-formed.";
const IN_CONTENT: &str =
    "The content of elements must consist of well-formed character data or markup.";
