//! The properties of an element, in the order of the file.
//!
//! Scalars keep their text whatever their tag says, because JMeter's own rule differs by the reader: a `boolProp` is
//! true only for the word `true`, and a number may be written where an expression is meant. Lookups scan: elements
//! have a dozen properties. A name that occurs twice keeps the last value, as setting a property twice does.

/// Ordered properties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Props(pub(crate) Vec<Prop>);

/// One property.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// The attribute `name`; inside a collection it is often meaningless, and may be empty.
    pub name: String,
    pub value: Value,
    /// Line of its tag, from 1.
    pub line: u32,
}

/// The tag of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    String,
    Bool,
    Int,
    Long,
    Float,
    Double,
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Every scalar, as its text.
    Text(Kind, String),
    /// `elementProp`: an element inside an element.
    Object(Box<Object>),
    /// `collectionProp`.
    List(Vec<Prop>),
    /// `mapProp`: entries by name.
    Map(Vec<Prop>),
    /// `objProp` and every tag not known: its XML.
    Other(Box<Tagged>),
}

/// An element inside a property, such as one header of many.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The attribute `elementType`: its class.
    pub class: String,
    pub gui_class: String,
    pub test_class: String,
    /// The attribute `testname`.
    pub name: Option<String>,
    pub enabled: bool,
    pub props: Props,
}

/// XML without a meaning of its own here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tagged {
    pub tag: String,
    pub attributes: Vec<(String, String)>,
    /// The text before the first child.
    pub text: String,
    pub children: Vec<Tagged>,
}

impl Props {
    /// The property of that name; the last one if the file has several.
    pub fn get(&self, name: &str) -> Option<&Prop> {
        self.0.iter().rev().find(|prop| prop.name == name)
    }

    /// A scalar's text.
    pub fn str(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// A scalar as JMeter reads a boolean: the word `true` in any case, and nothing else, is true.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.str(name).map(|text| text.eq_ignore_ascii_case("true"))
    }

    /// A scalar as a whole number; `None` where the text is none, such as an expression.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.str(name)?.trim().parse().ok()
    }

    /// A scalar as a number.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.str(name)?.trim().parse().ok()
    }

    pub fn object(&self, name: &str) -> Option<&Object> {
        self.get(name)?.object()
    }

    /// The members of a collection or map; none where there is no such property.
    pub fn collection(&self, name: &str) -> &[Prop] {
        self.get(name).map_or(&[], Prop::members)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Prop> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Prop {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(_, text) => Some(text),
            _ => None,
        }
    }

    pub fn object(&self) -> Option<&Object> {
        match &self.value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The members of a collection or map.
    pub fn members(&self) -> &[Prop] {
        match &self.value {
            Value::List(members) | Value::Map(members) => members,
            _ => &[],
        }
    }

    pub fn tagged(&self) -> Option<&Tagged> {
        match &self.value {
            Value::Other(tagged) => Some(tagged),
            _ => None,
        }
    }
}

impl Tagged {
    pub fn child(&self, tag: &str) -> Option<&Tagged> {
        self.children.iter().find(|child| child.tag == tag)
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
