//! Which parser reads which type of content: the properties `HTTPResponse.parsers`, `NAME.types` and `NAME.className`.

/// The parser of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// As HTML.
    Html,
    /// As a style sheet.
    Css,
    /// As a style sheet; one that cannot be read has no links.
    LenientCss,
}

/// Parsers by type of content.
#[derive(Debug)]
pub struct Parsers {
    types: Vec<(Box<str>, Option<Parser>)>,
    /// Parser classes that are not there; pages are read by the default one.
    pub replaced: Vec<String>,
}

const PACKAGE: &str = "org.apache.jmeter.protocol.http.parser.";

impl Parsers {
    /// Reads the properties; `property` gives one, or its default.
    pub fn new<'p>(property: impl Fn(&str, &'p str) -> &'p str) -> Self {
        let mut parsers = Self { types: Vec::new(), replaced: Vec::new() };
        let lenient = property("httpsampler.ignore_failed_embedded_resource", "false");
        let lenient = lenient.trim().eq_ignore_ascii_case("true");
        for name in property("HTTPResponse.parsers", "htmlParser wmlParser cssParser").split(' ') {
            let (class, types) = match name {
                "htmlParser" => (
                    "org.apache.jmeter.protocol.http.parser.LagartoBasedHtmlParser",
                    "text/html application/xhtml+xml application/xml text/xml",
                ),
                "wmlParser" => {
                    ("org.apache.jmeter.protocol.http.parser.RegexpHTMLParser", "text/vnd.wap.wml")
                }
                "cssParser" => ("org.apache.jmeter.protocol.http.parser.CssParser", "text/css"),
                _ => ("", ""),
            };
            let class = property(&format!("{name}.className"), class);
            let parser = match class.strip_prefix(PACKAGE) {
                Some("LagartoBasedHtmlParser") => Some(Parser::Html),
                Some("CssParser") if lenient => Some(Parser::LenientCss),
                Some("CssParser") => Some(Parser::Css),
                Some("JsoupBasedHtmlParser" | "JTidyHTMLParser" | "RegexpHTMLParser") => {
                    if name != "wmlParser" && !parsers.replaced.iter().any(|known| known == class) {
                        parsers.replaced.push(class.to_string());
                    }
                    Some(Parser::Html)
                }
                _ if class.is_empty() => continue,
                _ => {
                    parsers.replaced.push(class.to_string());
                    None
                }
            };
            for kind in property(&format!("{name}.types"), types).split(' ') {
                if !kind.is_empty() {
                    parsers.types.retain(|(known, _)| **known != *kind);
                    parsers.types.push((kind.into(), parser));
                }
            }
        }
        parsers
    }

    /// The parser for a `Content-Type`, parameters and all.
    pub fn of(&self, content_type: &str) -> Option<Parser> {
        let mut pieces = content_type.split([' ', ';']);
        let kind = pieces.find(|piece| !piece.is_empty())?;
        let found = self.types.iter().find(|(known, _)| known.eq_ignore_ascii_case(kind));
        // A type that is not written in lower case is never found.
        found.filter(|(known, _)| !known.contains(|c: char| c.is_ascii_uppercase()))?.1
    }
}
