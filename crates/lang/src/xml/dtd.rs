//! Document types: the declarations inside the document. External parts are not read, as if they were empty.
//!
//! Entities, defaults and types of attributes are kept, and which elements contain only elements. Nothing is validated.

use std::collections::{HashMap, HashSet};

use super::cursor::{Cursor, is_name, is_space};
use super::entity::{Entity, character};
use super::fault::Fault;
use super::read::Reader;
use super::tree::Attribute;
use crate::work;

/// Maximum number of parameter entities that a document type may expand.
const MAX_PARAMETERS: u32 = 1000;

/// The declarations in a document type definition.
#[derive(Debug, Default)]
pub(super) struct Dtd {
    entities: HashMap<Box<str>, Entity>,
    parameters: HashMap<Box<str>, Entity>,
    attributes: HashMap<Box<str>, Vec<Declared>>,
    elements_only: HashSet<Box<str>>,
    /// Names of the general entities that are being expanded, outermost first.
    open: Vec<Box<str>>,
    /// True if the document type has an external part, which was not read.
    has_more: bool,
    /// Number of parameter entities expanded so far.
    parameters_used: u32,
    pub(super) standalone: bool,
    /// True while the document type is parsed: its comments do not become nodes.
    pub(super) is_being_read: bool,
}

#[derive(Debug)]
struct Declared {
    name: Box<str>,
    kind: AttributeKind,
    default: Option<String>,
}

/// The declared type of an XML attribute.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AttributeKind {
    pub(super) is_id: bool,
    /// True if whitespace at the ends of the value is removed and other whitespace is collapsed.
    pub(super) is_tokens: bool,
}

impl Dtd {
    pub(super) fn entity(&self, name: &str) -> Option<Entity> {
        self.entities.get(name).cloned()
    }

    pub(super) fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|open| **open == *name)
    }

    /// Returns the chain of entities through which an entity refers to itself, as text: `a -> b -> a`.
    pub(super) fn path(&self, name: &str) -> String {
        let mut path = String::new();
        let from = self.open.iter().position(|open| **open == *name).unwrap_or(0);
        for open in &self.open[from..] {
            path.push_str(open);
            path.push_str(" -> ");
        }
        path + name
    }

    pub(super) fn enter(&mut self, name: Box<str>) {
        self.open.push(name);
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    /// Returns true if an external part, which was not read, may declare entities.
    pub(super) fn may_declare_more(&self) -> bool {
        self.has_more && !self.standalone
    }

    pub(super) fn holds_elements_only(&self, element: &str) -> bool {
        self.elements_only.contains(element)
    }

    pub(super) fn attribute_kind(&self, element: &str, name: &str) -> AttributeKind {
        let declared = self.attributes.get(element).into_iter().flatten();
        let mut of_name = declared.filter(|declared| work::spend(1) && *declared.name == *name);
        of_name.next().map_or_else(AttributeKind::default, |declared| declared.kind)
    }

    /// Adds an element's missing attributes that have a declared default.
    pub(super) fn add_defaults(&self, element: &str, attributes: &mut Vec<Attribute>) {
        for declared in self.attributes.get(element).into_iter().flatten() {
            let Some(default) = &declared.default else { continue };
            if !work::spend(attributes.len() as u64) {
                return;
            }
            if !attributes.iter().any(|known| known.name == declared.name) {
                attributes.push(Attribute {
                    name: declared.name.clone(),
                    value: default.clone(),
                    uri: None,
                    is_id: declared.kind.is_id,
                });
            }
        }
    }
}

impl Reader {
    /// Parses a document type, from after `<!DOCTYPE`.
    pub(super) fn doctype(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if !cursor.spaces() {
            return Err(cursor.fault(
                "White space is required after \"<!DOCTYPE\" in the document type declaration.",
            ));
        }
        let Some(name) = cursor.name() else {
            return Err(cursor.fault(
                "The root element type must appear after \"<!DOCTYPE\" in the document type declaration.",
            ));
        };
        cursor.spaces();
        if external_id(cursor)? {
            self.dtd.has_more = true;
            cursor.spaces();
        }
        if cursor.skip("[") {
            self.dtd.is_being_read = true;
            self.subset(cursor, true, 0)?;
            self.dtd.is_being_read = false;
            cursor.spaces();
        }
        if !cursor.skip(">") {
            return Err(cursor.fault(format!(
                "The document type declaration for root element type \"{name}\" must end with '>'."
            )));
        }
        Ok(())
    }

    /// Parses declarations up to `]`, or up to the end of a parameter entity.
    fn subset(
        &mut self,
        cursor: &mut Cursor<'_>,
        is_document: bool,
        level: u32,
    ) -> Result<(), Fault> {
        loop {
            cursor.spaces();
            if cursor.is_at_end() {
                return if is_document { Err(Fault::cut()) } else { Ok(()) };
            }
            if is_document && cursor.skip("]") {
                return Ok(());
            }
            if cursor.skip("%") {
                self.parameter(cursor, level)?;
            } else if cursor.skip("<?") {
                self.instruction(cursor)?;
            } else if cursor.starts("<!-") {
                cursor.go(2);
                self.comment(cursor)?;
            } else if cursor.skip("<!ENTITY") {
                self.entity_declaration(cursor)?;
            } else if cursor.skip("<!ELEMENT") {
                self.element_declaration(cursor)?;
            } else if cursor.skip("<!ATTLIST") {
                self.attributes_declaration(cursor)?;
            } else if cursor.skip("<!NOTATION") {
                cursor.take_while(|c| c != '>');
                cursor.skip(">");
            } else {
                return Err(cursor.fault(MARKUP));
            }
        }
    }

    /// Parses a reference to a parameter entity between declarations, from after its `%`, and the declarations in the
    /// entity.
    fn parameter(&mut self, cursor: &mut Cursor<'_>, level: u32) -> Result<(), Fault> {
        let Some(name) = cursor.name() else {
            return Err(cursor.fault(
                "The entity name must immediately follow the '%' in the parameter entity reference.",
            ));
        };
        if !cursor.skip(";") {
            return Err(cursor.fault(format!(
                "The parameter entity reference \"%{name};\" must end with the ';' delimiter."
            )));
        }
        self.dtd.has_more = true;
        self.dtd.parameters_used += 1;
        if level > 20 || self.dtd.parameters_used > MAX_PARAMETERS {
            return Err(Fault::new("Entities expand beyond the size limit."));
        }
        match self.dtd.parameters.get(name).cloned() {
            Some(Entity::Internal(text)) => self.subset(&mut Cursor::new(&text), false, level + 1),
            _ => Ok(()),
        }
    }

    fn entity_declaration(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        space(cursor)?;
        let is_parameter = cursor.skip("%");
        if is_parameter {
            space(cursor)?;
        }
        let Some(name) = cursor.name() else {
            return Err(
                cursor.fault("The name of the entity is required in the entity declaration.")
            );
        };
        space(cursor)?;
        let entity = if let Some(quote @ ('"' | '\'')) = cursor.peek() {
            cursor.go(1);
            let value = entity_value(cursor, quote)?;
            Entity::Internal(value.into())
        } else if external_id(cursor)? {
            cursor.spaces();
            if cursor.skip("NDATA") {
                space(cursor)?;
                cursor.name();
                Entity::Unparsed
            } else {
                Entity::External
            }
        } else {
            return Err(cursor.fault(
                "The external entity declaration must begin with either \"SYSTEM\" or \"PUBLIC\".",
            ));
        };
        cursor.spaces();
        if !cursor.skip(">") {
            return Err(cursor
                .fault(format!("The declaration for the entity \"{name}\" must end with '>'.")));
        }
        // If an entity is declared twice, the first declaration counts.
        let known = if is_parameter { &mut self.dtd.parameters } else { &mut self.dtd.entities };
        known.entry(name.into()).or_insert(entity);
        Ok(())
    }

    fn element_declaration(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        space(cursor)?;
        let Some(name) = cursor.name() else {
            return Err(
                cursor.fault("The element type is required in the element type declaration.")
            );
        };
        space(cursor)?;
        let content = cursor.take_while(|c| c != '>' && c != '<');
        if content.starts_with('(') && !content[1..].trim_start().starts_with("#PCDATA") {
            self.dtd.elements_only.insert(name.into());
        }
        if !cursor.skip(">") {
            return Err(cursor
                .fault(format!("The declaration for element type \"{name}\" must end with '>'.")));
        }
        Ok(())
    }

    fn attributes_declaration(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        space(cursor)?;
        let Some(element) = cursor.name() else {
            return Err(cursor.fault(MARKUP));
        };
        loop {
            cursor.spaces();
            if cursor.skip(">") {
                return Ok(());
            }
            let Some(name) = cursor.name() else {
                return Err(cursor.fault(format!(
                    "The attribute name must be specified in the attribute-list declaration for element \"{element}\"."
                )));
            };
            space(cursor)?;
            let word = cursor.take_while(is_name);
            cursor.spaces();
            if word.is_empty() || word == "NOTATION" {
                if !cursor.skip("(") {
                    return Err(cursor.fault(format!(
                        "The attribute type is required in the declaration of attribute \"{name}\" for element \"{element}\"."
                    )));
                }
                cursor.take_while(|c| c == '|' || is_name(c) || is_space(c));
                if !cursor.skip(")") {
                    return Err(cursor.fault(MARKUP));
                }
                cursor.spaces();
            }
            let kind = AttributeKind { is_id: word == "ID", is_tokens: word != "CDATA" };
            let has_default = if cursor.skip("#REQUIRED") || cursor.skip("#IMPLIED") {
                false
            } else {
                if cursor.skip("#FIXED") {
                    space(cursor)?;
                }
                true
            };
            let mut default = None;
            if has_default {
                let Some(quote @ ('"' | '\'')) = cursor.peek() else {
                    return Err(cursor.fault(MARKUP));
                };
                cursor.go(1);
                let mut value = String::new();
                self.value(cursor, Some(quote), element, name, &mut value, 0)?;
                cursor.skip(quote.encode_utf8(&mut [0; 4]));
                default = Some(value);
            }
            let known = self.dtd.attributes.entry(element.into()).or_default();
            if !work::spend(known.len() as u64) {
                return Err(Fault::new("There are too many attributes."));
            }
            if !known.iter().any(|known| *known.name == *name) {
                known.push(Declared { name: name.into(), kind, default });
            }
        }
    }
}

/// Parses the text of an entity up to its closing quote. Resolves character references and keeps other references
/// unchanged.
fn entity_value(cursor: &mut Cursor<'_>, quote: char) -> Result<String, Fault> {
    let mut value = String::new();
    loop {
        value.push_str(cursor.take_while(|c| c != quote && c != '&' && c != '%'));
        match cursor.peek() {
            None => return Err(Fault::cut()),
            Some(c) if c == quote => {
                cursor.go(1);
                return Ok(value);
            }
            Some('&') if cursor.skip("&#") => value.push(character(cursor)?),
            Some('&') => {
                cursor.go(1);
                value.push('&');
            }
            Some(_) => {
                cursor.go(1);
                let name = cursor.name().unwrap_or("");
                return Err(cursor.fault(format!(
                    "The parameter entity reference \"%{name};\" cannot occur within markup in the internal subset of the DTD."
                )));
            }
        }
    }
}

fn space(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    if cursor.spaces() { Ok(()) } else { Err(cursor.fault(MARKUP)) }
}

/// Parses `SYSTEM` or `PUBLIC` with its identifiers; returns false if there is none.
fn external_id(cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
    let is_public = cursor.skip("PUBLIC");
    if !is_public && !cursor.skip("SYSTEM") {
        return Ok(false);
    }
    if !cursor.spaces() {
        return Err(cursor.fault(if is_public {
            "White spaces are required after keyword PUBLIC in DOCTYPE decl."
        } else {
            "White space is required after keyword SYSTEM in DOCTYPE decl."
        }));
    }
    if is_public {
        literal(cursor, "public")?;
        if !cursor.spaces() {
            return Err(cursor.fault("White spaces are required between publicId and systemId."));
        }
    }
    literal(cursor, "system")?;
    Ok(true)
}

fn literal(cursor: &mut Cursor<'_>, which: &str) -> Result<(), Fault> {
    let Some(quote @ ('"' | '\'')) = cursor.peek() else {
        return Err(cursor.fault(format!(
            "The {which} identifier must begin with either a single or double quote character."
        )));
    };
    cursor.go(1);
    cursor.take_while(|c| c != quote);
    if !cursor.skip(quote.encode_utf8(&mut [0; 4])) {
        return Err(cursor
            .fault(format!("The {which} identifier must end with the matching quote character.")));
    }
    Ok(())
}

const MARKUP: &str = "The markup declarations contained or pointed to by the document type declaration must be well-formed.";
