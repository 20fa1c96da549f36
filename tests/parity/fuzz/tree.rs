//! A plan as a tree that can be shrunk and written as JMX: elements with properties and child elements.
//!
//! This module does not interpret elements.

use std::fmt::Write as _;

use lang::xml::escaped;

/// A property of an element, as in JMX.
#[derive(Clone, PartialEq)]
pub(crate) enum Property {
    /// `<stringProp name="…">…</stringProp>` and other scalar properties.
    Leaf { tag: &'static str, name: String, value: String },
    /// `elementProp` and `collectionProp`; `class` is the type of an `elementProp`.
    Group { tag: &'static str, name: String, class: String, items: Vec<Property> },
    /// A piece of JMX that is not modified.
    Verbatim(String),
}

/// An element and its children.
#[derive(Clone, PartialEq)]
pub(crate) struct Element {
    pub(crate) class: String,
    gui: String,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) properties: Vec<Property>,
    pub(crate) children: Vec<Element>,
}

impl Property {
    pub(crate) fn string(name: &str, value: impl Into<String>) -> Self {
        Self::leaf("stringProp", name, value)
    }

    pub(crate) fn leaf(tag: &'static str, name: &str, value: impl Into<String>) -> Self {
        Self::Leaf { tag, name: name.to_owned(), value: value.into() }
    }

    pub(crate) fn list(name: &str, items: Vec<Property>) -> Self {
        Self::Group { tag: "collectionProp", name: name.to_owned(), class: String::new(), items }
    }

    pub(crate) fn object(name: &str, class: &str, items: Vec<Property>) -> Self {
        Self::Group { tag: "elementProp", name: name.to_owned(), class: class.to_owned(), items }
    }

    /// Returns the value if this is a scalar property with this name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self {
            Self::Leaf { name: own, value, .. } if own == name => Some(value),
            _ => None,
        }
    }

    fn mentions(&self, text: &str) -> bool {
        match self {
            Self::Leaf { value, .. } | Self::Verbatim(value) => value.contains(text),
            Self::Group { items, .. } => items.iter().any(|item| item.mentions(text)),
        }
    }

    fn objects<'a>(&'a self, of: &str, found: &mut Vec<&'a [Property]>) {
        let Self::Group { class, items, .. } = self else { return };
        if class == of {
            found.push(items);
        }
        for item in items {
            item.objects(of, found);
        }
    }

    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Leaf { tag, name, value } => {
                let _ =
                    writeln!(out, "<{tag} name=\"{}\">{}</{tag}>", escaped(name), escaped(value));
            }
            Self::Group { tag, name, class, items } => {
                let _ = write!(out, "<{tag} name=\"{}\"", escaped(name));
                if !class.is_empty() {
                    let _ = write!(out, " elementType=\"{class}\"");
                    if class == "Cookie" {
                        let _ = write!(out, " testname=\"{}\"", escaped(name));
                    }
                    if class == "LoopController" {
                        out.push_str(" guiclass=\"LoopControlPanel\" testclass=\"LoopController\"");
                    }
                }
                out.push_str(">\n");
                for item in items {
                    item.write(out);
                }
                let _ = writeln!(out, "</{tag}>");
            }
            Self::Verbatim(text) => {
                out.push_str(text);
                out.push('\n');
            }
        }
    }
}

impl Element {
    pub(crate) fn new(class: &str, gui: &str, name: impl Into<String>) -> Self {
        Self {
            class: class.to_owned(),
            gui: gui.to_owned(),
            name: name.into(),
            enabled: true,
            properties: Vec::new(),
            children: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    pub(crate) fn string(self, name: &str, value: impl Into<String>) -> Self {
        self.with(Property::string(name, value))
    }

    pub(crate) fn flag(self, name: &str, value: bool) -> Self {
        self.with(Property::leaf("boolProp", name, value.to_string()))
    }

    pub(crate) fn int(self, name: &str, value: i64) -> Self {
        self.with(Property::leaf("intProp", name, value.to_string()))
    }

    pub(crate) fn holding(mut self, children: Vec<Element>) -> Self {
        self.children = children;
        self
    }

    /// True if a property value of the element contains a string.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.properties.iter().any(|property| property.mentions(text))
    }

    /// Finds the properties of all objects of a class within the element, without its child elements.
    pub(crate) fn objects<'a>(&'a self, class: &str, found: &mut Vec<&'a [Property]>) {
        for property in &self.properties {
            property.objects(class, found);
        }
    }

    /// Returns the number of elements in this subtree, including the root.
    pub(crate) fn count(&self) -> usize {
        1 + self.children.iter().map(Self::count).sum::<usize>()
    }

    /// Calls `see` for the element and all elements below it.
    pub(crate) fn each<'a>(&'a self, see: &mut dyn FnMut(&'a Element)) {
        see(self);
        self.children.iter().for_each(|child| child.each(see));
    }

    /// Returns the text of a direct property of the element.
    pub(crate) fn value(&self, wanted: &str) -> Option<&str> {
        self.properties.iter().find_map(|property| match property {
            Property::Leaf { name, value, .. } if name == wanted => Some(value.as_str()),
            _ => None,
        })
    }

    fn write(&self, out: &mut String) {
        let class = &self.class;
        let _ = writeln!(
            out,
            "<{class} guiclass=\"{}\" testclass=\"{class}\" testname=\"{}\" enabled=\"{}\">",
            self.gui,
            escaped(&self.name),
            self.enabled
        );
        self.properties.iter().for_each(|property| property.write(out));
        let _ = write!(out, "</{class}>\n<hashTree>\n");
        self.children.iter().for_each(|child| child.write(out));
        out.push_str("</hashTree>\n");
    }

    /// Writes the plan as JMeter saves it, except for the indentation.
    pub(crate) fn jmx(&self) -> String {
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n<hashTree>\n",
        );
        self.write(&mut out);
        out.push_str("</hashTree>\n</jmeterTestPlan>\n");
        out
    }
}
