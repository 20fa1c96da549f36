//! Number format of Counters and Random Variables: plain, or a pattern of Java's `DecimalFormat`.

use std::fmt::Write;

use jmx::ElementId;
use lang::decimal_format::DecimalFormat;

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// A compiled number format.
#[derive(Debug)]
pub(crate) enum NumberFormat {
    Plain,
    Pattern(DecimalFormat),
    /// A pattern with expressions, parsed at each use.
    Text(Template),
}

impl NumberFormat {
    pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId, name: &str) -> Self {
        let text = ctx.prop(id, name);
        match text.fixed() {
            None => Self::Text(text),
            Some("") => Self::Plain,
            Some(pattern) => {
                let read = DecimalFormat::parse(pattern);
                if read.is_none() {
                    let message = format!("cannot parse the number format {pattern:?}");
                    ctx.warn(
                        id,
                        "bad-number-format",
                        message,
                        "numbers are written without a format, as in JMeter",
                    );
                }
                read.map_or(Self::Plain, Self::Pattern)
            }
        }
    }

    /// Appends `value` to `out` in this format.
    pub(crate) fn write(&self, value: i64, env: &mut Env<'_>, out: &mut String) {
        let read;
        let pattern = match self {
            Self::Plain => None,
            Self::Pattern(pattern) => Some(pattern),
            Self::Text(text) => {
                read = text
                    .parsed(env, |text| DecimalFormat::parse(text).filter(|_| !text.is_empty()));
                read.as_ref()
            }
        };
        match pattern {
            Some(pattern) => pattern.write(value, out),
            None => drop(write!(out, "{value}")),
        }
    }
}
