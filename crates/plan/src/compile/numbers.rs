//! Warns about numeric properties of elements that are not numbers.
//!
//! JMeter silently replaces an invalid number by 0 or by a default. Settings of thread groups are checked as
//! [`Setting`](crate::number::Setting)s, because their values are known only after their expressions have been
//! evaluated.

use jmx::ElementId;
use lang::java::parse_long;

use super::Context;

/// Numeric properties to check: property name, name in messages, and consequence of an invalid number.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("ConstantTimer.delay", "delay", "0 is used"),
    ("HTTPSampler.concurrentPool", "number of parallel downloads", "the default is used"),
    ("HTTPSampler.connect_timeout", "connect timeout", "no timeout is used"),
    ("HTTPSampler.port", "port", "the protocol's default port is used"),
    ("HTTPSampler.response_timeout", "response timeout", "no timeout is used"),
    ("TCPSampler.ctimeout", "connect timeout", "no timeout is used"),
    ("TCPSampler.port", "port", "0 is used"),
    ("TCPSampler.timeout", "response timeout", "no timeout is used"),
];

/// Warns about numeric properties of an element with values that are neither numbers nor expressions.
pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let odd = |(name, what, instead): &(&str, &str, &str)| {
        let text = ctx.props(id).str(name)?;
        // JMeter trims blanks around port numbers.
        let read = if name.ends_with("port") { text.trim() } else { text };
        let is_odd = !read.is_empty() && !read.contains("${") && parse_long(read).is_none();
        is_odd
            .then(|| format!("the {what} {text:?} is not a whole number: {instead}, as in JMeter"))
    };
    let found: Vec<_> = NUMBERS.iter().filter_map(odd).collect();
    for message in found {
        ctx.warn(id, "bad-number", message, "write digits only");
    }
}
