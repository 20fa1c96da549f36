//! Reference tags, which stand for another tag: `<collectionProp reference="../../HeaderManager/collectionProp"/>`.
//!
//! XStream writes a reference if an object occurs a second time; on reading, JMeter uses the object itself. The
//! attribute is a path through the tags of the file: `..`, `.`, names, or `name[2]` for the second child with a name.
//! It is relative to the reference tag, or absolute with a leading `/`. A target must be a tag that was read completely
//! before, and must not be a reference.
//!
//! References are found in a separate pass, which runs only for files that contain the word `reference`.

use std::collections::{BTreeMap, HashMap};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::reader::is_tree;
use crate::{Span, text};

/// Maximum number of bytes that references may add to a file.
pub(crate) const MAX_ADDED: usize = 64 << 20;

/// Targets of a file's reference tags, by the position of the tag.
#[derive(Debug, Clone, Default)]
pub(crate) struct References(BTreeMap<u32, Reference>);

/// An XML tag with the attribute `reference`, which stands for another tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Value of the attribute `reference`: a path to another tag.
    pub(crate) path: String,
    /// True if the target is read under the name of the reference tag, because the tag names a field of an object.
    pub(crate) keeps_name: bool,
    /// Span of the reference from its start tag to its end tag.
    pub(crate) extent: Span,
    pub(crate) target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The target's span from its start tag to its end tag, and the line of the start tag.
    There(Span, u32),
    /// The target contains the reference itself.
    Around,
    /// The target exists but is not allowed at the reference's position, for example an element in place of a property.
    Unfit,
    /// No tag before the reference matches the path.
    Nowhere,
}

impl References {
    pub(crate) fn find(source: &str) -> Self {
        if memchr::memmem::find(source.as_bytes(), b"reference").is_none() {
            return Self::default();
        }
        let mut pass = Pass::default();
        pass.read(source);
        Self(pass.found)
    }

    pub(crate) fn at(&self, start: u32) -> Option<&Reference> {
        self.0.get(&start)
    }

    /// Returns the text of a span with its references replaced by their targets; `None` if it has no references.
    pub(crate) fn expand(&self, source: &str, span: Span) -> Option<String> {
        self.0.range(span.start..span.end).next()?;
        let mut out = String::new();
        self.push(source, span, 0, &mut out);
        Some(out)
    }

    fn push(&self, source: &str, span: Span, depth: usize, out: &mut String) {
        let mut at = span.start;
        for (start, reference) in self.0.range(span.start..span.end) {
            let start = *start;
            out.push_str(text_of(source, Span { start: at, end: start }));
            at = reference.extent.end;
            let Target::There(target, _) = reference.target else { continue };
            if depth >= crate::MAX_DEPTH || out.len() + length(target) > MAX_ADDED {
                continue;
            }
            if !reference.keeps_name {
                self.push(source, target, depth + 1, out);
                continue;
            }
            let (old, new) = (name_at(source, target.start), name_at(source, start));
            let mut inner = String::new();
            self.push(source, target, depth + 1, &mut inner);
            let end = inner.rfind("</").filter(|end| inner[end + 2..].starts_with(old));
            out.push('<');
            out.push_str(new);
            out.push_str(&inner[1 + old.len()..end.unwrap_or(inner.len())]);
            if end.is_some() {
                out.push_str("</");
                out.push_str(new);
                out.push('>');
            }
        }
        out.push_str(text_of(source, Span { start: at, end: span.end }));
    }
}

/// Returns the length of a span in bytes.
pub(crate) fn length(span: Span) -> usize {
    span.end.saturating_sub(span.start) as usize
}

fn text_of(source: &str, span: Span) -> &str {
    source.get(span.start as usize..span.end as usize).unwrap_or("")
}

/// Returns the name of the tag that starts at a position.
pub(crate) fn name_at(source: &str, start: u32) -> &str {
    let text = source.get(start as usize + 1..).unwrap_or("");
    text.split(|char: char| char.is_whitespace() || char == '>' || char == '/').next().unwrap_or("")
}

/// The role of a tag in JMeter, which decides how its child tags are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The tag is a `hashTree` or the root; it contains elements and trees.
    Elements,
    /// The tag is an element, or a property with several members; it contains properties.
    Properties,
    /// The tag is an object; its child tags name the object's fields.
    Fields,
}

/// An XML tag in the pass that finds references.
struct Node {
    parent: Option<u32>,
    holds: Holds,
    /// Span and line of the tag, once its end tag was read; `None` for a reference.
    read: Option<(Span, u32)>,
    open: bool,
    /// True if the tag is a reference or inside a reference, where content is ignored.
    refers: bool,
    start: u32,
    line: u32,
}

#[derive(Default)]
struct Pass {
    nodes: Vec<Node>,
    /// Tags by the number of their parent tag and their part of a path, such as `name[2]`.
    children: HashMap<(u32, String), u32>,
    /// Number of child tags by the number of the parent tag and the name of the children.
    counts: HashMap<(u32, String), u32>,
    at: Option<u32>,
    found: BTreeMap<u32, Reference>,
    line: u32,
    counted: usize,
}

impl Pass {
    /// Reads all tags of a file and finds its references. Stops silently where the text is not well-formed XML, because
    /// the main reader reports that error.
    fn read(&mut self, source: &str) {
        self.line = 1;
        let mut reader = Reader::from_str(source);
        reader.config_mut().allow_dangling_amp = true;
        loop {
            let start = reader.buffer_position() as u32;
            let Ok(event) = reader.read_event() else { return };
            let end = reader.buffer_position() as u32;
            match event {
                Event::Start(tag) => self.open(&tag, source, start),
                Event::Empty(tag) => {
                    self.open(&tag, source, start);
                    self.close(end);
                }
                Event::End(_) => self.close(end),
                Event::Eof => return,
                _ => {}
            }
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>, source: &str, start: u32) {
        let name = tag.name().as_ref().to_owned();
        let passed = &source.as_bytes()[self.counted..start as usize];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u32;
        self.counted = start as usize;
        let id = self.nodes.len() as u32;
        let parent = self.at;
        let around = parent.map(|parent| &self.nodes[parent as usize]);
        let holds = match around.map(|around| around.holds) {
            None => Holds::Elements,
            Some(Holds::Elements) if is_tree(&name) => Holds::Elements,
            Some(Holds::Elements) => Holds::Properties,
            Some(Holds::Properties) if holds_properties(&name) => Holds::Properties,
            Some(_) => Holds::Fields,
        };
        let keeps_name = around.is_some_and(|around| around.holds == Holds::Fields);
        let in_one = around.is_some_and(|around| around.refers);
        let path = tag.attributes().with_checks(false).flatten().find_map(|attribute| {
            (attribute.key.as_ref() == "reference")
                .then(|| text::attribute_value(&attribute.value).0)
        });
        let refers = path.is_some() || in_one;
        self.nodes.push(Node {
            parent,
            holds,
            read: None,
            open: true,
            refers,
            start,
            line: self.line,
        });
        if let Some(parent) = parent {
            let count = self.counts.entry((parent, name.clone())).or_insert(0);
            *count += 1;
            let part = if *count == 1 { name } else { format!("{name}[{count}]") };
            self.children.insert((parent, part), id);
        } else {
            self.children.entry((u32::MAX, name)).or_insert(id);
        }
        self.at = Some(id);
        if let Some(path) = path.filter(|_| !in_one) {
            let target = self.resolve(id, &path);
            let extent = Span { start, end: start };
            self.found.insert(start, Reference { path, keeps_name, extent, target });
        }
    }

    fn close(&mut self, end: u32) {
        let Some(id) = self.at else { return };
        let node = &mut self.nodes[id as usize];
        node.open = false;
        if !node.refers {
            node.read = Some((Span { start: node.start, end }, node.line));
        }
        if let Some(reference) = self.found.get_mut(&node.start) {
            reference.extent.end = end;
        }
        self.at = node.parent;
    }

    /// Returns two flags: true if a tag is an element or a tree, and true if the tag contains elements.
    fn sort(&self, node: &Node) -> (bool, bool) {
        let around = node.parent.map(|parent| self.nodes[parent as usize].holds);
        (around == Some(Holds::Elements), node.holds == Holds::Elements)
    }

    /// Resolves a path like XStream's `Path`: parts are pushed on a stack, and only the whole path is looked up.
    fn resolve(&self, from: u32, path: &str) -> Target {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let relative = match path.strip_prefix('/') {
            Some(absolute) => absolute,
            None => {
                let mut at = Some(from);
                while let Some(id) = at {
                    parts.push(Part::Known(id));
                    at = self.nodes[id as usize].parent;
                }
                parts.reverse();
                path
            }
        };
        let is_relative = relative.len() == path.len();
        for part in relative.split('/') {
            match part {
                ".." if is_relative => {
                    if parts.pop().is_none() {
                        return Target::Nowhere;
                    }
                }
                "." if is_relative => {}
                name => parts.push(Part::Name(name.strip_suffix("[1]").unwrap_or(name))),
            }
        }
        let mut at = None;
        for part in parts {
            let next = match part {
                Part::Known(id) => Some(id),
                Part::Name(name) => {
                    self.children.get(&(at.unwrap_or(u32::MAX), name.to_owned())).copied()
                }
            };
            let Some(next) = next else { return Target::Nowhere };
            at = Some(next);
        }
        let Some(node) = at.map(|at| &self.nodes[at as usize]) else { return Target::Nowhere };
        match node.read {
            Some(_) if self.sort(node) != self.sort(&self.nodes[from as usize]) => Target::Unfit,
            Some((span, line)) => Target::There(span, line),
            None if node.open && !node.refers => Target::Around,
            None => Target::Nowhere,
        }
    }
}

enum Part<'a> {
    Known(u32),
    Name(&'a str),
}

/// True if a property tag contains other properties.
fn holds_properties(tag: &str) -> bool {
    let plain = tag.strip_prefix("org.apache.jmeter.testelement.property.").unwrap_or(tag);
    matches!(
        plain,
        "collectionProp"
            | "CollectionProperty"
            | "mapProp"
            | "MapProperty"
            | "elementProp"
            | "TestElementProperty"
    )
}
