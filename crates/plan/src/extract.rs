//! Post-processors that take values out of a result into variables.
//!
//! They run in the order of the plan, for failed samples too. None of them can fail: what JMeter logs and goes on
//! from, these go on from. Costs are those of their searches; a warm run allocates only where stated.

mod boundary;
mod field;
pub(crate) mod html;
mod json;
mod matches;
mod regex;
mod scope;
#[cfg(test)]
mod tests;
mod variable;

pub use boundary::BoundaryExtractor;
pub use field::Field;
pub use json::JsonExtractor;
pub use regex::RegexExtractor;
pub use scope::Scope;

use jmx::Element;

use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::text::TextCompiler;

/// A compiled post-processor.
#[derive(Debug)]
pub enum Extractor {
    /// Regular Expression Extractor.
    Regex(Box<RegexExtractor>),
    /// JSON Extractor.
    Json(Box<JsonExtractor>),
    /// Boundary Extractor.
    Boundary(Box<BoundaryExtractor>),
}

/// Why an element cannot run natively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// It would run in a JVM.
    pub needs_jvm: bool,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Compiles a Regular Expression, JSON or Boundary Extractor; `None` for any other element.
pub fn compile(
    element: &Element,
    compiler: &mut TextCompiler,
) -> Option<Result<(Extractor, Needs), Problem>> {
    let props = &element.props;
    Some(match element.test_class.rsplit('.').next()? {
        "RegexExtractor" => regex::compile(props, compiler)
            .map(|(made, needs)| (Extractor::Regex(Box::new(made)), needs)),
        "JSONPostProcessor" => {
            let (made, needs) = json::compile(props, compiler);
            Ok((Extractor::Json(Box::new(made)), needs))
        }
        "BoundaryExtractor" => boundary::compile(props, compiler)
            .map(|(made, needs)| (Extractor::Boundary(Box::new(made)), needs)),
        _ => return None,
    })
}

impl Extractor {
    /// Runs it.
    pub fn run(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        match self {
            Self::Regex(extractor) => extractor.run(result, env),
            Self::Json(extractor) => extractor.run(result, env),
            Self::Boundary(extractor) => extractor.run(result, env),
        }
    }

    /// What in it can be known to go wrong before a run, such as a pattern that cannot be read.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Regex(extractor) => extractor.complaint(),
            Self::Json(extractor) => extractor.complaint(),
            Self::Boundary(_) => None,
        }
    }
}
