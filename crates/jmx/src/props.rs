//! The properties of an element, in the order of the file.
//!
//! A scalar keeps its text whatever its tag says, because JMeter interprets it in different ways. For example, a
//! `boolProp` is true only for the word `true`, and a number tag may contain an expression. Lookups are linear, because
//! elements have about a dozen properties. If a name occurs twice, the last value counts, as in JMeter.

/// Properties of an element, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Props(pub(crate) Vec<Prop>);

/// One property of an element: its name and value.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// Attribute `name` of the property. Members of a collection often have a meaningless or empty name.
    pub name: String,
    pub value: Value,
    /// Line of the property's XML tag, from 1.
    pub line: u32,
}

/// The XML tag of a scalar property, such as `stringProp` or `boolProp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    String,
    Bool,
    Int,
    Long,
    Float,
    Double,
}

/// The value of a property of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A scalar property of any kind, with its text.
    Text(Kind, String),
    /// A property `elementProp`: an element inside an element.
    Object(Box<Object>),
    /// A property `collectionProp`: a list of properties.
    List(Vec<Prop>),
    /// A property `mapProp`: a list of properties with different names.
    Map(Vec<Prop>),
    /// A property `objProp`, or a property with an unknown tag; contains its XML.
    Other(Box<Tagged>),
}

/// An element inside a property, such as one header of a Header Manager.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The attribute `elementType` of the inner element: its class.
    pub class: String,
    pub gui_class: String,
    pub test_class: String,
    /// The attribute `testname` of the inner element.
    pub name: Option<String>,
    pub enabled: bool,
    pub props: Props,
}

/// XML of a property that this crate keeps without interpreting it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tagged {
    pub tag: String,
    pub attributes: Vec<(String, String)>,
    /// Text of the XML tag before its first child.
    pub text: String,
    pub children: Vec<Tagged>,
}

impl Props {
    /// Returns the property with this name; the last such property if the file has several.
    pub fn get(&self, name: &str) -> Option<&Prop> {
        self.0.iter().rev().find(|prop| prop.name == name)
    }

    /// Returns the text of the scalar property with this name.
    pub fn str(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// Returns a scalar as a boolean by JMeter's rule: only the word `true`, in any letter case, is true.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.str(name).map(|text| text.eq_ignore_ascii_case("true"))
    }

    /// Returns a scalar as an integer; `None` if the text is not an integer, for example an expression.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.str(name)?.trim().parse().ok()
    }

    /// Returns a scalar as a number; `None` if the text is not a number.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.str(name)?.trim().parse().ok()
    }

    pub fn object(&self, name: &str) -> Option<&Object> {
        self.get(name)?.object()
    }

    /// Returns the members of a collection or map; empty if there is no such property.
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
    /// Returns the text of a scalar property.
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

    /// Returns the members of a collection or map property.
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
