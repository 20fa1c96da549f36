//! The plan as its file says it: an arena of elements over the text they were read from.
//!
//! The document owns the text unchanged (after decoding to UTF-8), so that every span can be shown and the file can
//! be written back byte for byte. Elements sit in one vector in document order; dropping it does not recurse.

use std::borrow::Cow;

use crate::references::References;
use crate::{Props, Span};

/// Index of an element in its [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(pub(crate) u32);

impl ElementId {
    /// Position in document order, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The attributes of the root: which JMeter wrote the file. Each is empty when absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileVersion {
    /// Format of the file; `1.2` since JMeter 2.2.
    pub version: String,
    /// Format of the properties.
    pub properties: String,
    /// Version of JMeter.
    pub jmeter: String,
}

/// One element of the plan: what JMeter calls a test element.
#[derive(Debug, Clone)]
pub struct Element {
    /// The XML tag, which is what decides the element's class in JMeter.
    pub tag: String,
    /// The attribute `testclass`, or the tag where it is missing.
    pub test_class: String,
    /// The attribute `guiclass`; empty where it is missing.
    pub gui_class: String,
    /// The attribute `testname`: the name shown to people, which may hold expressions.
    pub name: String,
    /// Whether this element itself is enabled; see [`Document::is_enabled`] for its ancestors.
    pub enabled: bool,
    pub props: Props,
    pub children: Vec<ElementId>,
    pub parent: Option<ElementId>,
    /// The start tag.
    pub span: Span,
    /// From the start tag to the end tag: the element with its properties, without its children.
    pub extent: Span,
    /// Line of the start tag, from 1.
    pub line: u32,
    /// Index in [`Document::included`] of its file; `None` is the plan's own file.
    pub file: Option<u32>,
}

/// Another file that elements were grafted from.
#[derive(Debug, Clone)]
pub struct Included {
    /// Its name as it is shown.
    pub name: String,
    /// Its text, decoded to UTF-8.
    pub source: String,
    pub(crate) references: References,
}

/// A parsed plan file.
#[derive(Debug, Clone)]
pub struct Document {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) version: FileVersion,
    pub(crate) elements: Vec<Element>,
    pub(crate) roots: Vec<ElementId>,
    pub(crate) included: Vec<Included>,
    pub(crate) references: References,
}

impl Document {
    /// The file name given to [`parse`](crate::parse).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, decoded to UTF-8 and otherwise untouched.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn version(&self) -> &FileVersion {
        &self.version
    }

    /// The elements of the outermost tree: usually just the Test Plan.
    pub fn roots(&self) -> &[ElementId] {
        &self.roots
    }

    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.index()]
    }

    /// Files that elements were grafted from.
    pub fn included(&self) -> &[Included] {
        &self.included
    }

    /// The name of the file an element was read from; `None` is the plan's own.
    pub fn file(&self, id: ElementId) -> Option<&str> {
        Some(&self.included.get(self.element(id).file? as usize)?.name)
    }

    /// All elements in document order; grafted ones come last.
    pub fn ids(&self) -> impl Iterator<Item = ElementId> + use<> {
        (0..self.elements.len() as u32).map(ElementId)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether the element and all its ancestors are enabled: a disabled element disables what is below it.
    pub fn is_enabled(&self, id: ElementId) -> bool {
        let mut at = Some(id);
        while let Some(id) = at {
            let element = self.element(id);
            if !element.enabled {
                return false;
            }
            at = element.parent;
        }
        true
    }

    /// The names from the root down, as `Test Plan > Users > Login`. Costs the depth of the element.
    pub fn path(&self, id: ElementId) -> String {
        path_in(&self.elements, id)
    }

    /// Line of the element's start tag, from 1.
    pub fn line(&self, id: ElementId) -> u32 {
        self.element(id).line
    }

    /// An element as its file has it, with its properties and without its children. Elements that its properties refer to elsewhere in the
    /// file replace the references.
    pub fn xml(&self, id: ElementId) -> Cow<'_, str> {
        let element = self.element(id);
        let (source, references) = match element.file.map(|file| self.included.get(file as usize)) {
            Some(Some(file)) => (&file.source, &file.references),
            Some(None) => return Cow::Borrowed(""),
            None => (&self.source, &self.references),
        };
        let extent = element.extent;
        references.expand(source, extent).map_or_else(
            || {
                let text = source.get(extent.start as usize..extent.end as usize);
                Cow::Borrowed(text.unwrap_or(""))
            },
            Cow::Owned,
        )
    }

    /// The text of a span; empty if it does not lie in this document.
    pub fn slice(&self, span: Span) -> &str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

/// The names from the root down to an element, as `Test Plan > Users > Login`.
pub(crate) fn path_in(elements: &[Element], id: ElementId) -> String {
    let mut names = Vec::new();
    let mut at = Some(id);
    while let Some(id) = at {
        let element = &elements[id.index()];
        names.push(if element.name.is_empty() { &*element.tag } else { &*element.name });
        at = element.parent;
    }
    names.reverse();
    names.join(" > ")
}
