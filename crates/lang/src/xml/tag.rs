//! Start and end tags: attributes, their values and defaults, namespaces.

use super::cursor::{Cursor, check, is_char, is_name_start, is_space};
use super::entity::Referred;
use super::fault::Fault;
use super::read::Reader;
use super::tree::{Attribute, Builder};
use crate::work;

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

impl Reader {
    /// Parses a start tag, from after its `<`.
    pub(super) fn start_tag(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let Some(name) = cursor.name() else {
            return Err(cursor.fault(
                "The content of elements must consist of well-formed character data or markup.",
            ));
        };
        if self.options.namespaces {
            check_qualified(name)?;
        }
        let unterminated = || {
            format!(
                "Element type \"{name}\" must be followed by either attribute specifications, \">\" or \"/>\"."
            )
        };
        let mut attributes = Vec::new();
        let is_empty = loop {
            let has_space = cursor.spaces();
            if cursor.skip(">") {
                break false;
            }
            if cursor.skip("/") {
                if cursor.skip(">") {
                    break true;
                }
                return Err(cursor.fault(unterminated()));
            }
            if !has_space || !cursor.peek().is_some_and(is_name_start) {
                return Err(cursor.fault(unterminated()));
            }
            self.attribute(cursor, name, &mut attributes)?;
        };
        self.dtd.add_defaults(name, &mut attributes);
        let mut uri = None;
        self.marks.push(self.bindings.len());
        if self.options.namespaces {
            uri = self.bind(name, &mut attributes)?;
        }
        if !self.options.keeps_order {
            attributes.sort_by(|a, b| a.name.encode_utf16().cmp(b.name.encode_utf16()));
        }
        self.builder.open(name, uri.as_deref(), &attributes);
        if is_empty {
            self.close();
        }
        if self.builder.size() > Builder::MAX_TEXT {
            return Err(Fault::new("The document is too large to be parsed."));
        }
        Ok(())
    }

    /// Parses an end tag, from after its `</`.
    pub(super) fn end_tag(&mut self, cursor: &mut Cursor<'_>, base: usize) -> Result<(), Fault> {
        let name = self.builder.open_name();
        if self.builder.depth() == base {
            return Err(Fault::new(format!(
                "The element \"{name}\" must start and end within the same entity."
            )));
        }
        if !cursor.skip(name) {
            return Err(cursor.fault(format!(
                "The element type \"{name}\" must be terminated by the matching end-tag \"</{name}>\"."
            )));
        }
        cursor.spaces();
        if !cursor.starts(">") {
            return Err(cursor.fault(format!(
                "The end-tag for element type \"{name}\" must end with a '>' delimiter."
            )));
        }
        cursor.go(1);
        self.close();
        Ok(())
    }

    fn close(&mut self) {
        self.builder.close();
        if let Some(mark) = self.marks.pop() {
            self.bindings.truncate(mark);
        }
    }

    fn attribute(
        &mut self,
        cursor: &mut Cursor<'_>,
        element: &str,
        attributes: &mut Vec<Attribute>,
    ) -> Result<(), Fault> {
        let name = cursor.name().unwrap_or("");
        cursor.spaces();
        if !cursor.skip("=") {
            return Err(cursor.fault(format!(
                "Attribute name \"{name}\" associated with an element type \"{element}\" must be followed by the ' = ' character."
            )));
        }
        if !work::spend(attributes.len() as u64 / 4) {
            return Err(Fault::new("There are too many attributes."));
        }
        if attributes.iter().any(|known| *known.name == *name) {
            return Err(Fault::new(format!(
                "Attribute \"{name}\" was already specified for element \"{element}\"."
            )));
        }
        cursor.spaces();
        let Some(quote @ ('"' | '\'')) = cursor.peek() else {
            return Err(cursor.fault(format!(
                "Open quote is expected for attribute \"{name}\" associated with an  element type  \"{element}\"."
            )));
        };
        cursor.go(1);
        let mut value = String::new();
        self.value(cursor, Some(quote), element, name, &mut value, 0)?;
        if !cursor.skip(quote.encode_utf8(&mut [0; 4])) {
            return Err(Fault::cut());
        }
        let kind = self.dtd.attribute_kind(element, name);
        if kind.is_tokens {
            value = value.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        }
        attributes.push(Attribute { name: name.into(), value, uri: None, is_id: kind.is_id });
        Ok(())
    }

    /// Parses an attribute's value up to its quote, or to the end of an entity's text.
    pub(super) fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        quote: Option<char>,
        element: &str,
        name: &str,
        out: &mut String,
        level: u32,
    ) -> Result<(), Fault> {
        while let Some(c) = cursor.peek().filter(|c| Some(*c) != quote) {
            cursor.go(c.len_utf8());
            match c {
                '<' => {
                    return Err(Fault::new(format!(
                        "The value of attribute \"{name}\" associated with an element type \"{element}\" must not contain the '<' character."
                    )));
                }
                '&' => match self.reference(cursor, true, level)? {
                    Referred::Character(c) => out.push(c),
                    Referred::Nothing => {}
                    Referred::Entity(entity, text) => {
                        if out.len() > 64 << 20 {
                            return Err(Fault::new("Entities expand beyond the size limit."));
                        }
                        self.dtd.enter(entity);
                        let mut inner = Cursor::new(&text);
                        self.value(&mut inner, None, element, name, out, level + 1)?;
                        self.dtd.leave();
                    }
                },
                c if is_space(c) => out.push(' '),
                c if is_char(c) => out.push(c),
                c => {
                    return check(c, |number| {
                        format!(
                            "An invalid XML character (Unicode: 0x{number}) was found in the value of attribute \"{name}\" and element is \"{element}\"."
                        )
                    });
                }
            }
        }
        Ok(())
    }

    /// Adds the namespaces that a start tag declares, and resolves the prefixes of its attributes. Returns the
    /// namespace of the element.
    fn bind(
        &mut self,
        element: &str,
        attributes: &mut [Attribute],
    ) -> Result<Option<Box<str>>, Fault> {
        self.declare(attributes)?;
        let uri = self.bind_element(element)?;
        self.bind_attributes(element, attributes)?;
        Ok(uri)
    }

    fn declare(&mut self, attributes: &mut [Attribute]) -> Result<(), Fault> {
        for attribute in attributes.iter_mut() {
            let prefix = match attribute.name.strip_prefix("xmlns:") {
                Some(prefix) => prefix.to_owned(),
                None if *attribute.name == *"xmlns" => String::new(),
                None => continue,
            };
            let uri = &attribute.value;
            if prefix == "xmlns" || uri == XMLNS {
                return Err(Fault::new(
                    "The prefix \"xmlns\" cannot be bound to any namespace explicitly; neither can the namespace for \"xmlns\" be bound to any prefix explicitly.",
                ));
            }
            if (prefix == "xml") != (uri == XML) {
                return Err(Fault::new(
                    "The prefix \"xml\" cannot be bound to any namespace other than its usual namespace; neither can the namespace for \"xml\" be bound to any prefix other than \"xml\".",
                ));
            }
            if uri.is_empty() && !prefix.is_empty() {
                return Err(Fault::new(format!(
                    "The value of the attribute \"prefix=\"xmlns\",localpart=\"{prefix}\",rawname=\"{}\"\" is invalid. Prefixed namespace bindings may not be empty.",
                    attribute.name
                )));
            }
            self.bindings.push((prefix.into(), uri.as_str().into()));
            attribute.uri = Some(XMLNS.into());
        }
        Ok(())
    }

    fn bind_element(&self, element: &str) -> Result<Option<Box<str>>, Fault> {
        let prefix = element.split_once(':').map(|(prefix, _)| prefix);
        if prefix == Some("xmlns") {
            return Err(Fault::new(format!(
                "Element \"{element}\" cannot have \"xmlns\" as its prefix."
            )));
        }
        let uri = self.bound(prefix.unwrap_or("")).map(Into::into);
        if let (Some(prefix), None) = (prefix, &uri) {
            return Err(Fault::new(format!(
                "The prefix \"{prefix}\" for element \"{element}\" is not bound."
            )));
        }
        Ok(uri)
    }

    fn bind_attributes(&self, element: &str, attributes: &mut [Attribute]) -> Result<(), Fault> {
        for at in 0..attributes.len() {
            let name = attributes[at].name.clone();
            let Some((prefix, local)) = name.split_once(':').filter(|(p, _)| *p != "xmlns") else {
                continue;
            };
            let Some(bound) = self.bound(prefix) else {
                return Err(Fault::new(format!(
                    "The prefix \"{prefix}\" for attribute \"{name}\" associated with an element type \"{element}\" is not bound."
                )));
            };
            if !work::spend(at as u64) {
                return Err(Fault::new("There are too many attributes."));
            }
            let is_known = attributes[..at].iter().any(|known| {
                known.uri.as_deref() == Some(bound)
                    && known.name.split_once(':').is_some_and(|(_, other)| other == local)
            });
            if is_known {
                return Err(Fault::new(format!(
                    "Attribute \"{local}\" bound to namespace \"{bound}\" was already specified for element \"{element}\"."
                )));
            }
            attributes[at].uri = Some(bound.into());
        }
        Ok(())
    }

    fn bound(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML);
        }
        let mut bindings = self.bindings.iter().rev().take_while(|_| work::spend(1));
        let uri = bindings.find(|(known, _)| **known == *prefix).map(|(_, uri)| &**uri);
        uri.filter(|uri| !uri.is_empty())
    }
}

/// Checks a qualified name: at most one colon, and not at its start or end.
fn check_qualified(name: &str) -> Result<(), Fault> {
    let mut parts = name.split(':');
    let (first, second, third) = (parts.next().unwrap_or(""), parts.next(), parts.next());
    let unterminated = |name: &str| {
        Err(Fault::new(format!(
            "Element type \"{name}\" must be followed by either attribute specifications, \">\" or \"/>\"."
        )))
    };
    match (first, second, third) {
        ("", _, _) => unterminated("null"),
        (_, Some(""), _) => Err(Fault::new(
            "Element or attribute do not match QName production: QName::=(NCName':')?NCName.",
        )),
        (first, Some(second), Some(_)) => unterminated(&format!("{first}:{second}")),
        _ => Ok(()),
    }
}
