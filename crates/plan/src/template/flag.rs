//! A check box. JMeter saves it as `boolProp`, or as `stringProp` if its value is an expression.

use jmx::{ElementId, Kind, Prop, Value};

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// A compiled check box.
#[derive(Clone, Debug)]
pub(crate) enum Flag {
    Fixed(bool),
    Text(Template),
}

impl Default for Flag {
    fn default() -> Self {
        Self::Fixed(false)
    }
}

impl Flag {
    /// Returns true if the check box is checked. Evaluates its expression if it has one.
    pub(crate) fn get(&self, env: &mut Env<'_>) -> bool {
        match self {
            Self::Fixed(value) => *value,
            Self::Text(text) => text.parsed(env, |text| text.eq_ignore_ascii_case("true")),
        }
    }
}

/// Compiles the check box that the property `name` of an element holds; `default` applies if the property is missing.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId, name: &str, default: bool) -> Flag {
    match ctx.props(id).get(name) {
        Some(prop) => of_prop(ctx, id, prop),
        None => Flag::Fixed(default),
    }
}

pub(crate) fn of_prop(ctx: &mut Context<'_>, id: ElementId, prop: &Prop) -> Flag {
    match &prop.value {
        Value::Text(Kind::String, text) if text.contains("${") => Flag::Text(ctx.text(id, text)),
        value => {
            Flag::Fixed(matches!(value, Value::Text(_, text) if text.eq_ignore_ascii_case("true")))
        }
    }
}
