//! A tag as Lagarto passes it to visitors: name, kind, and the attributes that callers use.

use crate::work;

/// A tag of a page, as the tokenizer passes it on.
#[derive(Debug, Default)]
pub struct Tag<'t> {
    pub name: &'t [u8],
    pub kind: Kind,
    attributes: Vec<(usize, Option<(usize, usize)>)>,
    values: String,
    /// All attributes of the tag; `None` if the tag keeps only the attributes in [`KNOWN`].
    others: Option<Vec<(String, Option<String>)>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Start,
    End,
    SelfClosing,
}

/// Names of the attributes that link extraction uses.
const KNOWN: [&str; 10] =
    ["archive", "background", "code", "codebase", "data", "href", "rel", "src", "style", "type"];

impl<'t> Tag<'t> {
    /// Creates an empty tag. If `keeps_all` is false, only attributes in [`KNOWN`] are kept.
    pub(super) fn new(keeps_all: bool) -> Self {
        Self { others: keeps_all.then(Vec::new), ..Self::default() }
    }

    pub(super) fn start(&mut self, name: &'t [u8], kind: Kind) {
        (self.name, self.kind) = (name, kind);
        self.attributes.clear();
        self.values.clear();
        self.others.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn add(&mut self, name: &[u8], value: Option<&str>) {
        if self.kind == Kind::End {
            return;
        }
        if let Some(others) = &mut self.others {
            let name = String::from_utf8_lossy(name).to_lowercase();
            if !work::spend(others.len() as u64) {
                return;
            }
            if !others.iter().any(|(known, _)| *known == name) {
                others.push((name, value.map(str::to_owned)));
            }
            return;
        }
        let known = KNOWN.iter().position(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        let Some(known) = known else { return };
        if self.attributes.iter().any(|(other, _)| *other == known) {
            return;
        }
        let from = self.values.len();
        let value = value.map(|value| {
            self.values.push_str(value);
            (from, self.values.len())
        });
        self.attributes.push((known, value));
    }

    /// Returns the value of one of the known attributes, if it has one.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let known = KNOWN.iter().position(|known| *known == name)?;
        let (_, value) = self.attributes.iter().find(|(other, _)| *other == known)?;
        value.map(|(from, to)| &self.values[from..to])
    }

    /// Returns all attributes of the tag in order, with names in lower case.
    pub fn attributes(&self) -> &[(String, Option<String>)] {
        self.others.as_deref().unwrap_or_default()
    }

    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}
