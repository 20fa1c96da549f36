//! The plan as in its file: an arena of elements, and the text that they were read from.
//!
//! The document owns the unchanged text (decoded to UTF-8), so every span can be shown and the file can be written back
//! byte for byte. Elements are in one vector in document order, so dropping a document does not recurse.

use std::borrow::Cow;

use crate::references::References;
use crate::{Props, Span};

/// Index of a plan's element in its [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(pub(crate) u32);

impl ElementId {
    /// Returns the position of the element in document order, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Version attributes of the plan file's root element. Absent attributes are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileVersion {
    /// Attribute `version`: format version of the plan file; `1.2` since JMeter 2.2.
    pub version: String,
    /// Attribute `properties`: format version of the properties in the plan file.
    pub properties: String,
    /// Attribute `jmeter`: version of the JMeter that wrote the plan file.
    pub jmeter: String,
}

/// One element of the plan; JMeter calls it a test element.
#[derive(Debug, Clone)]
pub struct Element {
    /// The element's XML tag, which decides its class in JMeter.
    pub tag: String,
    /// The element's attribute `testclass`; its tag if the attribute is missing.
    pub test_class: String,
    /// The element's attribute `guiclass`; empty if it is missing.
    pub gui_class: String,
    /// The element's attribute `testname`: the name shown to users, which may contain expressions.
    pub name: String,
    /// True if this element itself is enabled. [`Document::is_enabled`] also checks its ancestors.
    pub enabled: bool,
    pub props: Props,
    pub children: Vec<ElementId>,
    pub parent: Option<ElementId>,
    /// Span of the element's start tag.
    pub span: Span,
    /// Span from the start tag to the end tag: the element with its properties, without its children.
    pub extent: Span,
    /// Line of the element's start tag, from 1.
    pub line: u32,
    /// Index in [`Document::included`] of the element's file; `None` for the plan's own file.
    pub file: Option<u32>,
}

/// Another file whose elements were grafted into the document.
#[derive(Debug, Clone)]
pub struct Included {
    /// Name of the included file, for messages.
    pub name: String,
    /// Text of the included file, decoded to UTF-8.
    pub source: String,
    /// Targets of the reference tags in the included file.
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
    /// Returns the file name that was passed to [`parse`](crate::parse).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of the plan file, decoded to UTF-8 and otherwise unchanged.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn version(&self) -> &FileVersion {
        &self.version
    }

    /// Returns the elements at the top level of the plan; usually only the Test Plan.
    pub fn roots(&self) -> &[ElementId] {
        &self.roots
    }

    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.index()]
    }

    /// Returns the files whose elements were grafted into the document.
    pub fn included(&self) -> &[Included] {
        &self.included
    }

    /// Returns the name of an element's file; `None` for the plan's own file.
    pub fn file(&self, id: ElementId) -> Option<&str> {
        Some(&self.included.get(self.element(id).file? as usize)?.name)
    }

    /// Returns the element at a position in document order, from 0; `None` behind the last element.
    pub fn id(&self, index: usize) -> Option<ElementId> {
        (index < self.elements.len()).then_some(ElementId(index as u32))
    }

    /// Iterates over all elements in document order; grafted elements come last.
    pub fn ids(&self) -> impl Iterator<Item = ElementId> + use<> {
        (0..self.elements.len() as u32).map(ElementId)
    }

    /// Returns the number of elements in the document.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// True if the element and all its ancestors are enabled. A disabled element disables all elements below it.
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

    /// Returns the names from the root to the element, such as `Test Plan > Users > Login`. The cost grows with its
    /// depth.
    pub fn path(&self, id: ElementId) -> String {
        path_in(&self.elements, id)
    }

    /// Returns the line of the element's start tag, from 1.
    pub fn line(&self, id: ElementId) -> u32 {
        self.element(id).line
    }

    /// Returns the XML of an element with its properties, without its children. References in its properties are
    /// replaced by the elements of the file that they refer to.
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

    /// Returns the text of a span; empty if the span is not in this document.
    pub fn slice(&self, span: Span) -> &str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

/// Returns the names from the root to an element, such as `Test Plan > Users > Login`.
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
