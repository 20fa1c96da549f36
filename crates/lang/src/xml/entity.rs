//! References to characters, and to entities that the document itself declares.
//!
//! Expansion is limited to 64 000 entities, as in Xerces with secure processing, to a nesting depth of 64, and to 64
//! MiB of text.

use std::rc::Rc;

use super::cursor::{Cursor, is_char};
use super::fault::Fault;
use super::read::Reader;

/// Maximum number of entities that a document may expand, as in Xerces.
const MAX_EXPANSIONS: u32 = 64_000;
/// Maximum nesting depth of expanded entities.
const MAX_LEVEL: u32 = 64;
/// Maximum size of the text of all expanded entities, in bytes.
const MAX_GROWN: usize = 64 << 20;

/// The declaration of an XML entity.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// An entity whose text is in the document itself.
    Internal(Rc<str>),
    /// An external entity, which is treated as empty.
    External,
    /// An unparsed entity, which is not XML.
    Unparsed,
}

/// The target of a reference: a character, an entity with its name and text, or nothing.
pub(super) enum Referred {
    Character(char),
    Entity(Box<str>, Rc<str>),
    /// An external or unknown entity, which is treated as empty.
    Nothing,
}

impl Reader {
    /// Parses an entity or character reference, from after its `&`.
    pub(super) fn reference(
        &mut self,
        cursor: &mut Cursor<'_>,
        in_attribute: bool,
        level: u32,
    ) -> Result<Referred, Fault> {
        if cursor.skip("#") {
            return character(cursor).map(Referred::Character);
        }
        let Some(name) = cursor.name() else {
            return Err(cursor.fault(
                "The entity name must immediately follow the '&' in the entity reference.",
            ));
        };
        if !cursor.skip(";") {
            return Err(cursor.fault(format!(
                "The reference to entity \"{name}\" must end with the ';' delimiter."
            )));
        }
        let predefined = match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => return self.expand(name, in_attribute, level),
        };
        Ok(Referred::Character(predefined))
    }

    fn expand(&mut self, name: &str, in_attribute: bool, level: u32) -> Result<Referred, Fault> {
        self.expansions += 1;
        if self.expansions > MAX_EXPANSIONS {
            return Err(Fault::new(
                "The parser has encountered more than \"64,000\" entity expansions in this document; this is the limit imposed by the application.",
            ));
        }
        match self.dtd.entity(name) {
            Some(Entity::Internal(_)) if self.dtd.is_open(name) => Err(Fault::new(format!(
                "Recursive entity reference \"{name}\". (Reference path: {}),",
                self.dtd.path(name)
            ))),
            Some(Entity::Internal(_)) if level >= MAX_LEVEL || self.builder.size() > MAX_GROWN => {
                Err(Fault::new("Entities expand beyond the size limit."))
            }
            Some(Entity::Internal(text)) => Ok(Referred::Entity(name.into(), text)),
            Some(Entity::External) if in_attribute => Err(Fault::new(format!(
                "The external entity reference \"&{name};\" is not permitted in an attribute value."
            ))),
            Some(Entity::External) => Ok(Referred::Nothing),
            Some(Entity::Unparsed) => Err(Fault::new(format!(
                "The unparsed entity reference \"&{name};\" is not permitted."
            ))),
            // The external part of the document type, which was not read, might declare the entity.
            None if self.dtd.may_declare_more() => Ok(Referred::Nothing),
            None => {
                Err(Fault::new(format!("The entity \"{name}\" was referenced, but not declared.")))
            }
        }
    }

    /// Parses a reference in an element's content, from after its `&`.
    pub(super) fn reference_in_content(
        &mut self,
        cursor: &mut Cursor<'_>,
        level: u32,
    ) -> Result<(), Fault> {
        match self.reference(cursor, false, level)? {
            Referred::Character(c) => {
                let mut buffer = [0; 4];
                self.add_text(c.encode_utf8(&mut buffer));
            }
            Referred::Nothing => {}
            Referred::Entity(name, text) => {
                self.dtd.enter(name);
                let base = self.builder.depth();
                self.content(&mut Cursor::new(&text), base, false, level + 1)?;
                self.dtd.leave();
            }
        }
        Ok(())
    }
}

/// Parses a character reference, from after its `&#`.
pub(super) fn character(cursor: &mut Cursor<'_>) -> Result<char, Fault> {
    let is_hex = cursor.skip("x");
    let radix = if is_hex { 16 } else { 10 };
    let digits = cursor.take_while(|c| c.is_digit(radix));
    if digits.is_empty() {
        return Err(cursor.fault(if is_hex {
            "A hexadecimal representation must immediately follow the \"&#x\" in a character reference."
        } else {
            "A decimal representation must immediately follow the \"&#\" in a character reference."
        }));
    }
    if !cursor.skip(";") {
        return Err(cursor.fault("The character reference must end with the ';' delimiter."));
    }
    let number = u32::from_str_radix(digits, radix).ok();
    number.and_then(char::from_u32).filter(|c| is_char(*c)).ok_or_else(|| {
        let shown = if is_hex { format!("x{digits}") } else { digits.into() };
        Fault::new(format!("Character reference \"&#{shown}\" is an invalid XML character."))
    })
}
