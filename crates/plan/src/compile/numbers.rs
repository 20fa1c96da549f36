//! Properties of elements that are numbers: says which are none.
//!
//! JMeter takes such a text for 0, or for what is usual, without a word. Those of thread groups are
//! [`Setting`](crate::number::Setting)s, for what they come to is known only when their expressions have been evaluated.

use jmx::ElementId;
use lang::java::parse_long;

use super::Context;

/// A property, what it is called, and what a text that is no number stands for.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("ConstantTimer.delay", "delay", "it is 0"),
    ("HTTPSampler.concurrentPool", "number of parallel downloads", "it is the usual one"),
    ("HTTPSampler.connect_timeout", "connect timeout", "there is none"),
    ("HTTPSampler.port", "port", "it is the protocol's own"),
    ("HTTPSampler.response_timeout", "response timeout", "there is none"),
    ("TCPSampler.ctimeout", "connect timeout", "there is none"),
    ("TCPSampler.port", "port", "it is 0"),
    ("TCPSampler.timeout", "response timeout", "there is none"),
];

/// Warns of the texts of an element that are no number and hold no expression.
pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let odd = |(name, what, instead): &(&str, &str, &str)| {
        let text = ctx.props(id).str(name)?;
        // Ports are read without blanks around them.
        let read = if name.ends_with("port") { text.trim() } else { text };
        let is_odd = !read.is_empty() && !read.contains("${") && parse_long(read).is_none();
        is_odd.then(|| format!("the {what} is {text:?}, no whole number: {instead}, as in JMeter"))
    };
    let found: Vec<_> = NUMBERS.iter().filter_map(odd).collect();
    for message in found {
        ctx.warn(id, "bad-number", message, "write digits alone");
    }
}
