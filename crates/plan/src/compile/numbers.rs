//! Warns about numeric properties of elements that are not numbers.
//!
//! JMeter silently replaces such a text by 0 or by a default. Settings of thread groups are checked as
//! [`Setting`](crate::number::Setting)s, because their values are known only after their expressions were
//! evaluated.

use jmx::ElementId;
use lang::java::parse_long;

use super::Context;

/// Properties: name, name in messages, and consequence of an invalid number.
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

/// Warns about texts of an element that are neither numbers nor expressions.
pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let odd = |(name, what, instead): &(&str, &str, &str)| {
        let text = ctx.props(id).str(name)?;
        // JMeter trims blanks around ports.
        let read = if name.ends_with("port") { text.trim() } else { text };
        let is_odd = !read.is_empty() && !read.contains("${") && parse_long(read).is_none();
        is_odd.then(|| format!("the {what} is {text:?}, no whole number: {instead}, as in JMeter"))
    };
    let found: Vec<_> = NUMBERS.iter().filter_map(odd).collect();
    for message in found {
        ctx.warn(id, "bad-number", message, "write digits alone");
    }
}
