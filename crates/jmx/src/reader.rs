//! Reads the text of a plan into a document, in one pass with an explicit stack.
//!
//! Structure: `jmeterTestPlan` contains a `hashTree`. A `hashTree` alternates elements and their `hashTree`s. An
//! element contains properties. A property contains text, properties or other XML. Memory is the text plus the tree.
//! Nesting is limited by [`MAX_LEVELS`] and [`MAX_DEPTH`], so that neither reading nor dropping can exhaust the stack.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::decode::decode;
use crate::document::path_in;
use crate::references::References;
use crate::text::{self, Reference};
use crate::{Diag, Document, Element, ElementId, FileVersion, NotXml, Props, Span, Tagged};

mod property;
mod refer;

use property::{Open, Shape, property_of};

/// Maximum nesting of `hashTree`s, the levels of elements. Deeper elements are reported and skipped. JMeter with Java's
/// default stack size reads more than 600 and fewer than 1 200 levels.
pub const MAX_LEVELS: usize = 1024;
/// Maximum nesting of tags within an element.
pub const MAX_DEPTH: usize = 512;

/// Maximum number of findings that the reader keeps; a broken file of 100 MB could have millions.
const MAX_DIAGS: usize = 500;

/// Parses a plan file. `name` is used only in messages. Fails if the bytes are not XML or have no `jmeterTestPlan`
/// root.
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<(Document, Vec<Diag>), NotXml> {
    let mut diags = Vec::new();
    let source = decode(bytes, &mut diags)?;
    let mut builder = Builder::new(diags, References::find(&source));
    builder.read(&source, Span { start: 0, end: source.len() as u32 })?;
    let Builder { version, elements, roots, mut diags, dropped, references, .. } = builder;
    if dropped > 0 {
        diags.push(Diag::note("more", format!("{dropped} more findings are not shown")));
    }
    Ok((
        Document {
            name: name.to_string(),
            source,
            version,
            elements,
            roots,
            included: Vec::new(),
            references,
        },
        diags,
    ))
}

/// An open XML tag on the reader's stack.
enum Frame {
    Root,
    Tree {
        owner: Option<ElementId>,
        /// The last element of the tree, while its own `hashTree` has not been read.
        last: Option<ElementId>,
    },
    Element(ElementId),
    Prop(Open),
    Tagged(Tagged, u32),
}

struct Builder {
    version: FileVersion,
    /// True for plan files of format 1.0, in which names and values of properties are URL-encoded.
    encoded: bool,
    elements: Vec<Element>,
    roots: Vec<ElementId>,
    diags: Vec<Diag>,
    dropped: usize,
    stack: Vec<Frame>,
    /// Number of open tags within a skipped tag, including that tag.
    skipped: usize,
    /// End position of the last XML event that was read, in bytes.
    end: u32,
    lines: Lines,
    references: References,
    /// Number of bytes of targets that were read in place of reference tags.
    added: usize,
    /// Name that the next tag gets instead of its own: the name of the reference tag for which the next tag is read.
    rename: Option<String>,
}

/// Line counter for increasing positions in the text.
struct Lines {
    at: usize,
    line: u32,
}

impl Lines {
    fn advance(&mut self, source: &str, to: usize) -> u32 {
        if to > self.at {
            self.line += memchr::memchr_iter(b'\n', &source.as_bytes()[self.at..to]).count() as u32;
            self.at = to;
        }
        self.line
    }
}

impl Builder {
    fn new(diags: Vec<Diag>, references: References) -> Self {
        Self {
            version: FileVersion::default(),
            encoded: false,
            elements: Vec::new(),
            roots: Vec::new(),
            diags,
            dropped: 0,
            stack: Vec::new(),
            skipped: 0,
            end: 0,
            lines: Lines { at: 0, line: 1 },
            references,
            added: 0,
            rename: None,
        }
    }

    /// Reads a part of the plan's text into the document: the whole text, or the target of a reference tag.
    fn read(&mut self, source: &str, part: Span) -> Result<(), NotXml> {
        let base = part.start as usize;
        let mut reader = Reader::from_str(&source[base..part.end as usize]);
        reader.config_mut().allow_dangling_amp = true;
        loop {
            let start = base + reader.buffer_position() as usize;
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let at = base + reader.error_position() as usize;
                    return Err(self.broken(source, at, &error));
                }
            };
            let end = base + reader.buffer_position() as usize;
            self.end = end as u32;
            let place =
                EventPosition { span: Span { start: start as u32, end: end as u32 }, line: 0 };
            match event {
                Event::Start(tag) => {
                    let place = place.on_line(self.lines.advance(source, start));
                    if self.refer(source, place)? {
                        // The content of a reference tag is ignored.
                        self.skipped = 1;
                    } else {
                        self.open(&tag, place)?;
                    }
                }
                Event::Empty(tag) => {
                    let place = place.on_line(self.lines.advance(source, start));
                    if self.refer(source, place)? {
                        continue;
                    }
                    self.open(&tag, place)?;
                    self.close();
                    if self.stack.is_empty() {
                        return Ok(());
                    }
                }
                Event::End(_) => {
                    self.close();
                    if self.stack.is_empty() {
                        return Ok(());
                    }
                }
                Event::Text(content) => self.text(&content.into_inner(), source, place),
                Event::CData(content) => {
                    let content = content.into_inner();
                    self.append(|out| text::push_lines(out, &content));
                }
                Event::GeneralRef(name) => self.reference(&name.into_inner(), source, place),
                Event::DocType(_) => {
                    let line = self.lines.advance(source, start);
                    self.report(doctype().at(place.span, line));
                }
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof if base > 0 => return Ok(()),
                Event::Eof => return Err(self.ended(source)),
            }
        }
    }

    /// Builds the error for text that is not well-formed XML.
    fn broken(&mut self, source: &str, at: usize, error: &quick_xml::Error) -> NotXml {
        let at = at.min(source.len());
        let line = self.lines.advance(source, at);
        let span = Span { start: at as u32, end: at as u32 };
        let help = match error {
            quick_xml::Error::Syntax(_) => {
                "the file is truncated, or a quote or bracket is missing"
            }
            _ => "compare with the file as JMeter saved it; JMeter cannot load this one either",
        };
        let message = format!("not well-formed XML: {error}");
        NotXml(Box::new(Diag::error("not-xml", message).at(span, line).help(help)))
    }

    /// Builds the error for text that ends too early.
    fn ended(&mut self, source: &str) -> NotXml {
        let line = self.lines.advance(source, source.len());
        let span = Span { start: source.len() as u32, end: source.len() as u32 };
        let message = if self.stack.is_empty() {
            "not a JMeter plan: there is no jmeterTestPlan element".to_string()
        } else {
            let open = self.innermost().map_or(String::new(), |path| format!(", in {path}"));
            format!("the file is truncated: it ends in the middle of the plan{open}")
        };
        NotXml(Box::new(Diag::error("not-xml", message).at(span, line)))
    }

    fn report(&mut self, diag: Diag) {
        if self.diags.len() < MAX_DIAGS { self.diags.push(diag) } else { self.dropped += 1 }
    }

    /// Reports a finding about the innermost open element.
    fn report_here(&mut self, diag: Diag, place: EventPosition) {
        let mut diag = diag.at(place.span, place.line);
        diag.element = self.innermost();
        self.report(diag);
    }

    /// Returns the path of the innermost open element.
    fn innermost(&self) -> Option<String> {
        let id = self.stack.iter().rev().find_map(|frame| match frame {
            Frame::Element(id) | Frame::Tree { owner: Some(id), .. } => Some(*id),
            _ => None,
        });
        Some(path_in(&self.elements, id?))
    }

    fn open(&mut self, tag: &BytesStart<'_>, place: EventPosition) -> Result<(), NotXml> {
        if self.skipped > 0 {
            self.skipped += 1;
            return Ok(());
        }
        if let Some(most) = self.too_deep() {
            let message = format!(
                "elements are nested more than {most} deep; the elements below are ignored"
            );
            self.report_here(Diag::error("too-deep", message), place);
            self.skipped = 1;
            return Ok(());
        }
        let (own, renamed) = (tag.name(), self.rename.take());
        let name = renamed.as_deref().unwrap_or(own.as_ref());
        let attributes = self.attributes(tag, place);
        if self.stack.is_empty() {
            return self.open_root(name, attributes, place);
        }
        let frame = match self.stack.last() {
            Some(Frame::Root | Frame::Tree { .. }) if is_tree(name) => self.open_tree(place),
            Some(Frame::Root | Frame::Tree { .. }) => self.open_element(name, attributes, place),
            Some(Frame::Element(_)) => self.open_property(name, attributes, place),
            Some(Frame::Prop(open)) => match &open.shape {
                Shape::Scalar(..) => Frame::Tagged(tagged(name, attributes), place.line),
                _ => self.open_property(name, attributes, place),
            },
            Some(Frame::Tagged(..)) | None => Frame::Tagged(tagged(name, attributes), place.line),
        };
        self.stack.push(frame);
        Ok(())
    }

    /// Returns the nesting limit that would be exceeded by opening one more tag, if any.
    fn too_deep(&self) -> Option<usize> {
        // Tree tags are at the bottom of the stack, because an element's tags are closed before its tree begins.
        let is_tree = |frame: &Frame| matches!(frame, Frame::Root | Frame::Tree { .. });
        match self.stack.last() {
            // The root tag does not count as a level.
            Some(last) if is_tree(last) => {
                (self.stack.len() > MAX_LEVELS + 1).then_some(MAX_LEVELS)
            }
            _ if self.stack.len() < MAX_DEPTH => None,
            _ => {
                let own = self.stack.iter().rev().take_while(|frame| !is_tree(frame)).count();
                (own >= MAX_DEPTH).then_some(MAX_DEPTH)
            }
        }
    }

    fn open_root(
        &mut self,
        name: &str,
        attributes: Attributes,
        place: EventPosition,
    ) -> Result<(), NotXml> {
        if name != "jmeterTestPlan" && name != "org.apache.jmeter.save.ScriptWrapper" {
            let help = match name {
                "testResults" => "this is a result file; pass the plan that produced it",
                "html" => "this is a web page; download the plan itself",
                _ => "open the plan in JMeter and save it again",
            };
            let message =
                format!("not a JMeter plan: the root element is {name}, not jmeterTestPlan");
            let diag = Diag::error("not-a-plan", message).at(place.span, place.line).help(help);
            return Err(NotXml(Box::new(diag)));
        }
        for (key, value) in attributes {
            match key.as_str() {
                "version" => self.version.version = value,
                "properties" => self.version.properties = value,
                "jmeter" => self.version.jmeter = value,
                _ => {}
            }
        }
        self.encoded = self.version.version == "1.0";
        self.stack.push(Frame::Root);
        Ok(())
    }

    fn open_tree(&mut self, place: EventPosition) -> Frame {
        let owner = match self.stack.last_mut() {
            Some(Frame::Tree { owner, last }) => match last.take() {
                Some(element) => Some(element),
                None => {
                    let owner = *owner;
                    let diag = Diag::warning("unpaired-tree", "a hashTree follows no element")
                        .help("its elements are treated as if they were one level higher");
                    self.report_here(diag, place);
                    owner
                }
            },
            _ => None,
        };
        Frame::Tree { owner, last: None }
    }

    fn open_element(&mut self, tag: &str, attributes: Attributes, place: EventPosition) -> Frame {
        let (owner, unpaired) = match self.stack.last() {
            Some(Frame::Tree { owner, last }) => (*owner, last.is_some()),
            _ => (None, false),
        };
        if unpaired {
            let diag = Diag::warning(
                "unpaired-element",
                "the previous element is not followed by a hashTree",
            )
            .help("JMeter cannot load this file; the two elements are treated as siblings");
            self.report_here(diag, place);
        }
        let id = ElementId(self.elements.len() as u32);
        let mut element = Element {
            tag: tag.to_string(),
            test_class: String::new(),
            gui_class: String::new(),
            name: String::new(),
            enabled: true,
            props: Props::default(),
            children: Vec::new(),
            parent: owner,
            span: place.span,
            extent: place.span,
            line: place.line,
            file: None,
        };
        let mut class = None;
        for (key, value) in attributes {
            match key.as_str() {
                "class" => class = Some(value),
                "testclass" => element.test_class = value,
                "guiclass" => element.gui_class = value,
                "testname" => element.name = self.decoded(value),
                "enabled" => element.enabled = value.eq_ignore_ascii_case("true"),
                _ => {}
            }
        }
        // JMeter takes the class from the tag or from the attribute `class`, and ignores `testclass`.
        let class = class.unwrap_or_else(|| class_of_tag(tag));
        let differs = !element.test_class.is_empty() && short(&element.test_class) != short(&class);
        let declared = std::mem::replace(&mut element.test_class, class);
        self.elements.push(element);
        match owner {
            Some(owner) => self.elements[owner.index()].children.push(id),
            None => self.roots.push(id),
        }
        if let Some(Frame::Tree { last, .. }) = self.stack.last_mut() {
            *last = Some(id);
        }
        if differs {
            let message = format!(
                "the tag is {tag} but testclass is {declared}; the tag counts, as in JMeter"
            );
            let mut diag = Diag::warning("class-mismatch", message).at(place.span, place.line);
            diag.element = self.path_of(id);
            self.report(diag);
        }
        Frame::Element(id)
    }

    fn path_of(&mut self, id: ElementId) -> Option<String> {
        self.stack.push(Frame::Element(id));
        let path = self.innermost();
        self.stack.pop();
        path
    }

    fn decoded(&self, text: String) -> String {
        if self.encoded { text::url_decode(&text) } else { text }
    }

    fn attributes(&mut self, tag: &BytesStart<'_>, place: EventPosition) -> Attributes {
        let mut out = Attributes::new();
        for attribute in tag.attributes().with_checks(false) {
            match attribute {
                Ok(attribute) => {
                    let (value, bad) = text::attribute_value(&attribute.value);
                    if bad {
                        let message = format!(
                            "the attribute {} contains an invalid reference",
                            attribute.key.as_ref()
                        );
                        let diag = Diag::error("bad-reference", message).help("write & as &amp;");
                        self.report_here(diag, place);
                    }
                    out.push((attribute.key.as_ref().to_string(), value));
                }
                Err(error) => {
                    let diag = Diag::error(
                        "bad-attribute",
                        format!("cannot parse the attributes: {error}"),
                    );
                    self.report_here(diag, place);
                    break;
                }
            }
        }
        out
    }

    fn text(&mut self, content: &str, source: &str, place: EventPosition) {
        // With `allow_dangling_amp`, an XML text event that begins with an ampersand is a bare ampersand.
        if content.starts_with('&') {
            let place = place.on_line(self.lines.advance(source, place.span.start as usize));
            let diag =
                Diag::error("bad-reference", "the text contains a bare &").help("write & as &amp;");
            self.report_here(diag, place);
        }
        self.append(|out| text::push_lines(out, content));
    }

    fn reference(&mut self, name: &str, source: &str, place: EventPosition) {
        let found = text::resolve(name);
        if let Reference::Char(char) = found {
            self.append(|out| out.push(char));
            return;
        }
        let place = place.on_line(self.lines.advance(source, place.span.start as usize));
        let short: String = name.chars().take(40).collect();
        let diag = Diag::error(
            "bad-reference",
            format!("&{short}; is neither a character reference nor an entity predefined in XML"),
        )
        .help("entities are not expanded; write the text itself");
        self.report_here(diag, place);
        match found {
            Reference::Unknown => self.append(|out| {
                out.push('&');
                out.push_str(name);
                out.push(';');
            }),
            _ => self.append(|out| out.push('\u{FFFD}')),
        }
    }

    /// Appends text to the innermost open tag if that is a tag with text. As in XStream, only text before the tag's
    /// first child counts.
    fn append(&mut self, add: impl FnOnce(&mut String)) {
        if self.skipped > 0 {
            return;
        }
        match self.stack.last_mut() {
            Some(Frame::Prop(Open { shape: Shape::Scalar(_, text), .. })) => add(text),
            Some(Frame::Tagged(tagged, _)) if tagged.children.is_empty() => add(&mut tagged.text),
            _ => {}
        }
    }

    fn close(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        let prop = match self.stack.pop() {
            Some(Frame::Prop(open)) => self.finish(open),
            Some(Frame::Tagged(tagged, line)) => match self.stack.last_mut() {
                Some(Frame::Tagged(parent, _)) => return parent.children.push(tagged),
                _ => property_of(tagged, line),
            },
            Some(Frame::Element(id)) => return self.settle(id),
            Some(Frame::Root | Frame::Tree { .. }) | None => return,
        };
        match self.stack.last_mut() {
            Some(Frame::Element(id)) => self.elements[id.index()].props.0.push(prop),
            Some(Frame::Prop(open)) => match &mut open.shape {
                Shape::Object(object) => object.props.0.push(prop),
                Shape::List(members) | Shape::Map(members) => members.push(prop),
                Shape::Scalar(..) => {}
            },
            _ => {}
        }
    }

    /// Completes an element. Properties override XML attributes of the same meaning, because JMeter reads the
    /// properties later.
    fn settle(&mut self, id: ElementId) {
        let element = &mut self.elements[id.index()];
        element.props.0.shrink_to_fit();
        element.extent.end = self.end;
        if let Some(name) = element.props.str("TestElement.name") {
            element.name = name.to_string();
        }
        if let Some(enabled) = element.props.bool("TestElement.enabled") {
            element.enabled = enabled;
        }
        if let Some(class) = element.props.str("TestElement.gui_class") {
            element.gui_class = class.to_string();
        }
    }
}

type Attributes = Vec<(String, String)>;

/// Position of an XML event in the text.
#[derive(Clone, Copy)]
struct EventPosition {
    span: Span,
    line: u32,
}

impl EventPosition {
    fn on_line(self, line: u32) -> Self {
        Self { line, ..self }
    }
}

/// True for the tags of a `hashTree`: its short name, and the class names of older files.
pub fn is_tree(tag: &str) -> bool {
    tag == "hashTree"
        || tag
            .strip_prefix("org.apache.jorphan.collections.")
            .is_some_and(|tag| tag.ends_with("HashTree"))
}

/// Returns the class name that a tag encodes: XStream writes `$` as `_-`, `_` as `__`, and any other character that is
/// invalid in tags as `_.` and four hexadecimal digits.
fn class_of_tag(tag: &str) -> String {
    let (mut class, mut rest) = (String::with_capacity(tag.len()), tag);
    while let Some(at) = rest.find('_') {
        class.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let digits = escape.strip_prefix('.').and_then(|escape| escape.get(..4));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let (c, length) = match (escape.as_bytes().first(), code.and_then(char::from_u32)) {
            (Some(b'_'), _) => ('_', 1),
            (Some(b'-'), _) => ('$', 1),
            (_, Some(c)) => (c, 5),
            _ => ('_', 0),
        };
        class.push(c);
        rest = &escape[length..];
    }
    class.push_str(rest);
    class
}

/// Returns the name of a Java class without its package.
fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn tagged(tag: &str, attributes: Attributes) -> Tagged {
    Tagged { tag: tag.to_string(), attributes, text: String::new(), children: Vec::new() }
}

fn doctype() -> Diag {
    Diag::error("doctype", "the file has a DOCTYPE; plans have none")
        .help("remove the DOCTYPE; entities are not expanded and nothing is downloaded")
}

#[cfg(test)]
mod tests;
