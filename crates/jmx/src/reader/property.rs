//! Properties while they are read: the value shape of each tag, and the property that results from a closed tag.

use super::{Attributes, Builder, EventPosition, Frame, short, tagged};
use crate::{Diag, Kind, Object, Prop, Props, Tagged, Value};

/// A property whose end tag has not been read.
pub(super) struct Open {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) shape: Shape,
}

/// The value of a property, as far as it has been read.
pub(super) enum Shape {
    Scalar(Kind, String),
    Object(Box<Object>),
    List(Vec<Prop>),
    Map(Vec<Prop>),
}

impl Builder {
    pub(super) fn open_property(
        &mut self,
        tag: &str,
        attributes: Attributes,
        place: EventPosition,
    ) -> Frame {
        let plain = tag.strip_prefix("org.apache.jmeter.testelement.property.").unwrap_or(tag);
        let named = attributes.iter().any(|(key, _)| key == "name");
        let shape = match plain {
            "stringProp" | "StringProperty" => Shape::Scalar(Kind::String, String::new()),
            "boolProp" | "BooleanProperty" => Shape::Scalar(Kind::Bool, String::new()),
            "intProp" | "IntegerProperty" => Shape::Scalar(Kind::Int, String::new()),
            "longProp" | "LongProperty" => Shape::Scalar(Kind::Long, String::new()),
            "floatProp" | "FloatProperty" if named => Shape::Scalar(Kind::Float, String::new()),
            "doubleProp" | "DoubleProperty" if named => Shape::Scalar(Kind::Double, String::new()),
            "collectionProp" | "CollectionProperty" => Shape::List(Vec::new()),
            "mapProp" | "MapProperty" => Shape::Map(Vec::new()),
            "elementProp" | "TestElementProperty" => return self.open_object(attributes, place),
            _ => return Frame::Tagged(tagged(tag, attributes), place.line),
        };
        let name = attributes.into_iter().find(|(key, _)| key == "name");
        let name = name.map_or(String::new(), |(_, value)| self.decoded(value));
        Frame::Prop(Open { name, line: place.line, shape })
    }

    fn open_object(&self, attributes: Attributes, place: EventPosition) -> Frame {
        let mut name = String::new();
        let mut object = Object {
            class: String::new(),
            gui_class: String::new(),
            test_class: String::new(),
            name: None,
            enabled: true,
            props: Props::default(),
        };
        for (key, value) in attributes {
            match key.as_str() {
                "name" => name = self.decoded(value),
                "elementType" => object.class = value,
                "guiclass" => object.gui_class = value,
                "testclass" => object.test_class = value,
                "testname" => object.name = Some(self.decoded(value)),
                "enabled" => object.enabled = value.eq_ignore_ascii_case("true"),
                _ => {}
            }
        }
        if object.class.is_empty() {
            object.class.clone_from(&object.test_class);
        }
        Frame::Prop(Open { name, line: place.line, shape: Shape::Object(Box::new(object)) })
    }

    pub(super) fn finish(&mut self, open: Open) -> Prop {
        let Open { name, line, shape } = open;
        let value = match shape {
            Shape::Scalar(kind, text) => {
                let text = if kind == Kind::String { self.decoded(text) } else { text };
                self.check_scalar(&name, kind, &text, line);
                Value::Text(kind, text)
            }
            Shape::Object(object) => Value::Object(object),
            Shape::List(members) => Value::List(members),
            Shape::Map(members) => Value::Map(members),
        };
        Prop { name, value, line }
    }

    fn check_scalar(&mut self, name: &str, kind: Kind, text: &str, line: u32) {
        let diag = match kind {
            Kind::Int if text.parse::<i32>().is_err() => bad_number(name, "intProp", text),
            Kind::Long if text.parse::<i64>().is_err() => bad_number(name, "longProp", text),
            _ => return,
        };
        let mut diag = Diag { line, ..diag };
        diag.element = self.innermost();
        self.report(diag);
    }
}

fn bad_number(name: &str, tag: &str, text: &str) -> Diag {
    let shown: String = text.chars().take(40).collect();
    Diag::warning(
        "bad-number",
        format!("the {tag} {name} contains {shown:?}, which is not a number"),
    )
    .help("JMeter cannot load this file; write it as a stringProp")
}

/// Converts the XML of a property that the reader does not interpret to a property. Its name is the text of the child
/// `name`, or the attribute `name`. Numbers that JMeter writes as
/// `<doubleProp><name>…</name><value>…</value></doubleProp>` become scalars.
pub(super) fn property_of(tagged: Tagged, line: u32) -> Prop {
    let name =
        tagged.child("name").map(|child| child.text.as_str()).or_else(|| tagged.attribute("name"));
    let name = name.unwrap_or("").to_string();
    let kind = match short(&tagged.tag) {
        "floatProp" | "FloatProperty" => Some(Kind::Float),
        "doubleProp" | "DoubleProperty" => Some(Kind::Double),
        _ => None,
    };
    let value = match (kind, tagged.child("value")) {
        (Some(kind), Some(value)) => Value::Text(kind, value.text.clone()),
        _ => Value::Other(Box::new(tagged)),
    };
    Prop { name, value, line }
}
