//! Text of new elements in the form in which JMeter 5.6.3 saves a plan.
//!
//! Two spaces per level; attributes in the order `guiclass`, `testclass`, `testname`, `enabled`; properties in the given
//! order. Escapes are those of XStream: `&quot; &apos; &lt; &gt; &amp; &#xd;`, and hexadecimal references for control
//! characters. An empty text is `<stringProp name="x"></stringProp>`, an empty tree `<hashTree/>`. [`parse`](crate::parse)
//! of the result gives the same names and values. Writing recurses, so the caller keeps elements, collections and other
//! XML well below [`MAX_LEVELS`](crate::MAX_LEVELS) and [`MAX_DEPTH`](crate::MAX_DEPTH).

use crate::Tagged;

/// Text before the first element of a plan, and the start tag of the outermost `hashTree`.
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n  <hashTree>\n";
/// Text after the last element of a plan.
const TAIL: &str = "  </hashTree>\n</jmeterTestPlan>\n";

/// An element to be written: its tag, properties and children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewElement {
    /// XML tag, which decides the class in JMeter, such as `HTTPSamplerProxy`.
    pub tag: String,
    /// Attribute `guiclass`; left out if it is empty.
    pub guiclass: String,
    /// Attribute `testclass`; left out if it is empty.
    pub testclass: String,
    /// Attribute `testname`: the name shown to users; left out if it is empty.
    pub testname: String,
    /// True if the element is enabled. As in JMeter 5.6.3, only a disabled element has the attribute `enabled`.
    pub enabled: bool,
    /// Properties in the order in which they are written.
    pub props: Vec<NewProp>,
    /// Child elements in the order in which they are written.
    pub children: Vec<NewElement>,
}

/// A property to be written: its name and value.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProp {
    /// Attribute `name`; members of a collection may have an empty one.
    pub name: String,
    /// Value, which also decides the property's tag.
    pub value: NewValue,
}

/// The value of a property to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// A `stringProp`.
    String(String),
    /// A `boolProp`.
    Bool(bool),
    /// An `intProp`.
    Int(i32),
    /// A `longProp`.
    Long(i64),
    /// A `doubleProp`, in JMeter's form with the child tags `name`, `value` and `savedValue`.
    Double(f64),
    /// An `elementProp`: an element inside an element.
    Element(Box<NewObject>),
    /// A `collectionProp`: a list of properties.
    Collection(Vec<NewProp>),
    /// An `objProp` or a property with another tag, such as `SampleSaveConfiguration`. The property's name is not
    /// written: the tag's own attributes and child tags hold it.
    Tagged(Box<Tagged>),
}

/// An element inside a property, such as one header of a Header Manager.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewObject {
    /// Attribute `elementType`: the class of the inner element.
    pub class: String,
    /// Attribute `guiclass`; left out if it is empty.
    pub guiclass: String,
    /// Attribute `testclass`; left out if it is empty.
    pub testclass: String,
    /// Attribute `testname`; left out if it is empty.
    pub testname: String,
    /// Properties in the order in which they are written.
    pub props: Vec<NewProp>,
}

impl NewElement {
    /// Creates an enabled element without properties whose `testclass` equals its tag.
    pub fn new(
        tag: impl Into<String>,
        guiclass: impl Into<String>,
        testname: impl Into<String>,
    ) -> Self {
        let tag = tag.into();
        Self {
            testclass: tag.clone(),
            tag,
            guiclass: guiclass.into(),
            testname: testname.into(),
            enabled: true,
            ..Self::default()
        }
    }

    /// Appends a property.
    pub fn with(mut self, prop: NewProp) -> Self {
        self.props.push(prop);
        self
    }

    /// Appends a child element.
    pub fn child(mut self, child: NewElement) -> Self {
        self.children.push(child);
        self
    }
}

impl NewProp {
    /// Creates a `stringProp`.
    pub fn string(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: NewValue::String(value.into()) }
    }

    /// Creates a `boolProp`.
    pub fn bool(name: impl Into<String>, value: bool) -> Self {
        Self { name: name.into(), value: NewValue::Bool(value) }
    }

    /// Creates an `intProp`.
    pub fn int(name: impl Into<String>, value: i32) -> Self {
        Self { name: name.into(), value: NewValue::Int(value) }
    }

    /// Creates a `longProp`.
    pub fn long(name: impl Into<String>, value: i64) -> Self {
        Self { name: name.into(), value: NewValue::Long(value) }
    }

    /// Creates an `elementProp` that has only the attributes `name` and `elementType`, such as a header or an argument.
    pub fn element(name: impl Into<String>, class: impl Into<String>, props: Vec<NewProp>) -> Self {
        Self::object(name, NewObject { class: class.into(), props, ..NewObject::default() })
    }

    /// Creates an `elementProp` with all its attributes, such as the loop controller of a Thread Group.
    pub fn object(name: impl Into<String>, object: NewObject) -> Self {
        Self { name: name.into(), value: NewValue::Element(Box::new(object)) }
    }

    /// Creates a `collectionProp`.
    pub fn collection(name: impl Into<String>, members: Vec<NewProp>) -> Self {
        Self { name: name.into(), value: NewValue::Collection(members) }
    }
}

/// Returns the text of a whole plan file whose only element at the top level is `root`, usually a `TestPlan`.
pub fn write_plan(root: &NewElement) -> String {
    let mut out = String::from(HEAD);
    push_element(&mut out, root, 2);
    out.push_str(TAIL);
    out
}

/// Returns the lines of an element and of its `hashTree`, indented by `level` times two spaces. The children of a plan's
/// outermost `hashTree` have level 2, their children level 3.
pub fn write_element(element: &NewElement, level: usize) -> String {
    let mut out = String::new();
    push_element(&mut out, element, level);
    out
}

/// Returns the lines of a property, indented by `level` times two spaces. The properties of an element of level 2 have
/// level 3.
pub fn write_prop(prop: &NewProp, level: usize) -> String {
    let mut out = String::new();
    push_prop(&mut out, prop, level);
    out
}

/// Appends text with the escapes of a tag's text. Line feeds and tabs stay.
pub fn push_text(out: &mut String, text: &str) {
    push_escaped(out, text, false);
}

/// Appends text with the escapes of an attribute's value. Line feeds and tabs become references.
pub fn push_attribute_value(out: &mut String, text: &str) {
    push_escaped(out, text, true);
}

fn push_escaped(out: &mut String, text: &str, attribute: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' if !attribute => out.push(c),
            _ if c.is_control() || is_noncharacter(c) => {
                out.push_str(&format!("&#x{:x};", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
}

/// True for code points that Unicode reserves forever, which Java's `Character.isDefined` refuses.
fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE
}

fn push_element(out: &mut String, element: &NewElement, level: usize) {
    indent(out, level);
    out.push('<');
    out.push_str(&element.tag);
    push_unless_empty(out, "guiclass", &element.guiclass);
    push_unless_empty(out, "testclass", &element.testclass);
    push_unless_empty(out, "testname", &element.testname);
    if !element.enabled {
        push_attribute(out, "enabled", "false");
    }
    push_props(out, &element.tag, &element.props, level);
    indent(out, level);
    if element.children.is_empty() {
        out.push_str("<hashTree/>\n");
        return;
    }
    out.push_str("<hashTree>\n");
    for child in &element.children {
        push_element(out, child, level + 1);
    }
    indent(out, level);
    out.push_str("</hashTree>\n");
}

/// Completes a start tag, and appends the properties and the end tag.
fn push_props(out: &mut String, tag: &str, props: &[NewProp], level: usize) {
    if props.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for prop in props {
        push_prop(out, prop, level + 1);
    }
    indent(out, level);
    push_end(out, tag);
}

fn push_prop(out: &mut String, prop: &NewProp, level: usize) {
    let name = &*prop.name;
    match &prop.value {
        NewValue::String(value) => push_scalar(out, "stringProp", name, value, level),
        NewValue::Bool(value) => push_scalar(out, "boolProp", name, &value.to_string(), level),
        NewValue::Int(value) => push_scalar(out, "intProp", name, &value.to_string(), level),
        NewValue::Long(value) => push_scalar(out, "longProp", name, &value.to_string(), level),
        NewValue::Double(value) => push_double(out, name, *value, level),
        NewValue::Element(object) => {
            push_named(out, "elementProp", name, level);
            push_attribute(out, "elementType", &object.class);
            push_unless_empty(out, "guiclass", &object.guiclass);
            push_unless_empty(out, "testclass", &object.testclass);
            push_unless_empty(out, "testname", &object.testname);
            push_props(out, "elementProp", &object.props, level);
        }
        NewValue::Collection(members) => {
            push_named(out, "collectionProp", name, level);
            push_props(out, "collectionProp", members, level);
        }
        NewValue::Tagged(tagged) => push_tagged(out, tagged, level),
    }
}

fn push_scalar(out: &mut String, tag: &str, name: &str, value: &str, level: usize) {
    push_named(out, tag, name, level);
    out.push('>');
    push_text(out, value);
    push_end(out, tag);
}

fn push_double(out: &mut String, name: &str, value: f64, level: usize) {
    let child = |tag: &str, text: String| Tagged { tag: tag.to_owned(), text, ..Tagged::default() };
    let children = vec![
        child("name", name.to_owned()),
        child("value", format!("{value:?}")),
        child("savedValue", "0.0".to_owned()),
    ];
    push_tagged(
        out,
        &Tagged { tag: "doubleProp".to_owned(), children, ..Tagged::default() },
        level,
    );
}

fn push_tagged(out: &mut String, tagged: &Tagged, level: usize) {
    indent(out, level);
    out.push('<');
    out.push_str(&tagged.tag);
    for (name, value) in &tagged.attributes {
        push_attribute(out, name, value);
    }
    if tagged.children.is_empty() {
        if tagged.text.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push('>');
        push_text(out, &tagged.text);
        push_end(out, &tagged.tag);
        return;
    }
    out.push('>');
    push_text(out, tagged.text.trim_end());
    out.push('\n');
    for child in &tagged.children {
        push_tagged(out, child, level + 1);
    }
    indent(out, level);
    push_end(out, &tagged.tag);
}

/// Appends a start tag with the attribute `name`, without the closing `>`.
fn push_named(out: &mut String, tag: &str, name: &str, level: usize) {
    indent(out, level);
    out.push('<');
    out.push_str(tag);
    push_attribute(out, "name", name);
}

fn push_unless_empty(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        push_attribute(out, name, value);
    }
}

fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_attribute_value(out, value);
    out.push('"');
}

fn push_end(out: &mut String, tag: &str) {
    out.push_str("</");
    out.push_str(tag);
    out.push_str(">\n");
}

fn indent(out: &mut String, level: usize) {
    for _ in 0..level {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests;
