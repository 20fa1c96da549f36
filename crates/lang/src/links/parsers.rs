//! Chooses the parser for a content type by the properties `HTTPResponse.parsers`, `NAME.types` and `NAME.className`.

/// A parser that finds the links of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// Parses content as an HTML page.
    Html,
    /// Parses content as a style sheet.
    Css,
    /// Parses content as a style sheet; an unreadable one has no links.
    LenientCss,
}

/// The parsers for links, by content type.
#[derive(Debug)]
pub struct Parsers {
    types: Vec<(Box<str>, Option<Parser>)>,
    /// Names of parser classes in the properties that are unknown. The default parser is used instead.
    pub replaced: Vec<String>,
}

const PACKAGE: &str = "org.apache.jmeter.protocol.http.parser.";

impl Parsers {
    /// Creates the table from properties; `property` returns a property's value or the given default.
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

    /// Returns the parser for a `Content-Type` header, which may have parameters.
    pub fn of(&self, content_type: &str) -> Option<Parser> {
        let mut pieces = content_type.split([' ', ';']);
        let kind = pieces.find(|piece| !piece.is_empty())?;
        let found = self.types.iter().find(|(known, _)| known.eq_ignore_ascii_case(kind));
        // As in JMeter, a type with capital letters in the property is never found.
        found.filter(|(known, _)| !known.contains(|c: char| c.is_ascii_uppercase()))?.1
    }
}
