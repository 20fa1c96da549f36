//! Post-processors that copy values of a result into variables.
//!
//! Post-processors run in the order of the plan, also for failed samples. Where JMeter logs an error and continues,
//! Throng does the same; where JMeter throws an exception, the sample is lost as in JMeter. Nearly all of their cost is
//! searching. After the first samples, post-processors allocate memory only where their documentation says so.

mod boundary;
mod css;
mod debug;
mod field;
mod fifo;
pub(crate) mod group_template;
pub(crate) mod html;
mod jmespath;
mod json;
mod matches;
mod plugin_json;
mod regex;
mod scope;
#[cfg(test)]
mod tests;
mod variable;
mod xpath;
mod xpath2;

pub use boundary::BoundaryExtractor;
pub use css::CssExtractor;
pub use debug::DebugPostProcessor;
pub use field::Field;
pub use fifo::FifoPut;
pub use jmespath::JmesPathExtractor;
pub use json::JsonExtractor;
pub use plugin_json::PluginJsonExtractor;
pub use regex::RegexExtractor;
pub use scope::Scope;
pub use xpath::XPathExtractor;
pub use xpath2::XPath2Extractor;

pub(crate) use xpath::{complaint as xpath_complaint, fixed as fixed_xpath, tolerant};
pub(crate) use xpath2::fixed as fixed_xpath2;

use std::sync::Arc;

use jmx::Element;

use crate::env::Env;
use crate::evaluation;
use crate::function::Level;
use crate::java_backed::Job;
use crate::plan::Needs;
use crate::result::{Request, SampleResult};
use crate::script::Scripted;
use crate::template::TemplateCompiler;

/// A compiled post-processor.
#[derive(Debug)]
pub enum Extractor {
    /// Regular Expression Extractor.
    Regex(Box<RegexExtractor>),
    /// JSON Extractor.
    Json(Box<JsonExtractor>),
    /// JMESPath Extractor.
    JmesPath(Box<JmesPathExtractor>),
    /// Boundary Extractor.
    Boundary(Box<BoundaryExtractor>),
    /// JSON Path Extractor of jp@gc.
    PluginJson(Box<PluginJsonExtractor>),
    /// CSS Selector Extractor.
    Css(Box<CssExtractor>),
    /// XPath Extractor.
    XPath(Box<XPathExtractor>),
    /// XPath2 Extractor.
    XPath2(Box<XPath2Extractor>),
    /// Debug PostProcessor.
    Debug(Box<DebugPostProcessor>),
    /// FIFO Put Post-Processor of jp@gc.
    FifoPut(Box<FifoPut>),
    /// A script that runs as a post-processor.
    Script(Arc<Scripted>),
    /// A job that the engine sends to Java.
    Job(Job),
}

impl Extractor {
    /// Returns true if the extractor's settings allow it to set the variable. A Java job may set
    /// any variable.
    pub fn may_set(&self, variable: &str) -> bool {
        let reference = match self {
            Self::Regex(of) => of.reference(),
            Self::Json(of) => of.references(),
            Self::JmesPath(of) => of.reference(),
            Self::Boundary(of) => of.reference(),
            Self::PluginJson(of) => of.reference(),
            Self::Css(of) => of.reference(),
            Self::XPath(of) => of.reference(),
            Self::XPath2(of) => of.reference(),
            Self::Debug(_) | Self::FifoPut(_) => return false,
            Self::Script(script) => return script.mentions(variable),
            Self::Job(_) => return true,
        };
        // A JSON Extractor has several names; a number or group suffix may follow a name.
        let is_of = |name: &str| {
            let rest = variable.strip_prefix(name.trim()).filter(|_| !name.trim().is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        reference.fixed().is_none_or(|names| names.split(';').any(is_of))
    }
}

/// The reason why an element cannot run natively, with a suggestion for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// True if the element would run in a JVM.
    pub needs_jvm: bool,
    /// Description of the problem.
    pub message: String,
    /// Suggestion for solving the problem.
    pub help: String,
}

/// Compiles a post-processor; `None` for any other element.
pub fn compile(
    element: &Element,
    compiler: &mut TemplateCompiler,
) -> Option<Result<(Extractor, Needs), Problem>> {
    let props = &element.props;
    Some(match element.test_class.rsplit('.').next()? {
        "RegexExtractor" => regex::compile(props, compiler)
            .map(|(made, needs)| (Extractor::Regex(Box::new(made)), needs)),
        "JSONPostProcessor" => {
            let (made, needs) = json::compile(props, compiler);
            Ok((Extractor::Json(Box::new(made)), needs))
        }
        "JMESPathExtractor" => {
            let (made, needs) = jmespath::compile(props, compiler);
            Ok((Extractor::JmesPath(Box::new(made)), needs))
        }
        "BoundaryExtractor" => boundary::compile(props, compiler)
            .map(|(made, needs)| (Extractor::Boundary(Box::new(made)), needs)),
        "JSONPathExtractor" => plugin_json::compile(props, compiler)
            .map(|(made, needs)| (Extractor::PluginJson(Box::new(made)), needs)),
        "HtmlExtractor" => css::compile(props, compiler)
            .map(|(made, needs)| (Extractor::Css(Box::new(made)), needs)),
        "XPathExtractor" => xpath::compile(&element.name, props, compiler)
            .map(|(made, needs)| (Extractor::XPath(Box::new(made)), needs)),
        "XPath2Extractor" => xpath2::compile(&element.name, props, compiler)
            .map(|(made, needs)| (Extractor::XPath2(Box::new(made)), needs)),
        "DebugPostProcessor" => {
            let made = debug::compile(&element.name, props, compiler);
            Ok((Extractor::Debug(Box::new(made)), Needs::SUBS))
        }
        "FifoPutPostProcessor" => {
            let made = fifo::compile(props, compiler);
            Ok((Extractor::FifoPut(Box::new(made)), Needs::empty()))
        }
        _ => return None,
    })
}

/// Marks the sample as lost, as JMeter loses a sample if an extractor throws an exception. Logs each pair of sampler
/// and message once.
fn gives_up(env: &mut Env<'_>, thrown: &str) {
    env.core.lost.get_or_insert_default();
    let text = format!("'{}': {thrown} {LOST}", env.who.sampler);
    if env.core.told.len() < MOST_TOLD && env.core.told.insert(text.as_str().into()) {
        env.shared.log(Level::Error, text);
    }
}

/// End of the message about an extractor that throws an exception, as in JMeter.
const LOST: &str = "As in JMeter the sample is lost: it is sent, but no other post-processor or assertion runs, and it \
    is not in the results";

/// Maximum number of different messages about lost samples that each core logs.
const MOST_TOLD: usize = 100;

impl Extractor {
    /// Runs the extractor. If it exceeds its work limit, it finds nothing, and an assertion result reports this without
    /// failing the sample.
    pub fn run(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        let ((), gave_up) = evaluation::watched(self.kind(), env, |env| self.extract(result, env));
        if let Some(thrown) = env.core.thrown.take() {
            let stops = thrown.stops_user() || thrown.is_error();
            env.core.lost = Some(if stops { Request::StopUser } else { Request::Nothing });
            gives_up(env, &format!("{thrown}."));
        }
        if let Some(why) = gave_up {
            result.add_assertion(self.kind()).fail(&why.to_string());
        }
    }

    /// Returns JMeter's name for this kind of extractor.
    fn kind(&self) -> &'static str {
        match self {
            Self::Regex(_) => "Regular Expression Extractor",
            Self::Json(_) => "JSON Extractor",
            Self::JmesPath(_) => "JSON JMESPath Extractor",
            Self::Boundary(_) => "Boundary Extractor",
            Self::PluginJson(_) => "JSON Path Extractor",
            Self::Css(_) => "CSS Selector Extractor",
            Self::XPath(_) => "XPath Extractor",
            Self::XPath2(_) => "XPath2 Extractor",
            Self::Debug(_) => "Debug PostProcessor",
            Self::FifoPut(_) => "FIFO Put Post-Processor",
            Self::Script(_) | Self::Job(_) => "Script",
        }
    }

    fn extract(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        match self {
            Self::Regex(extractor) => extractor.run(result, env),
            Self::Json(extractor) => extractor.run(result, env),
            Self::JmesPath(extractor) => extractor.run(result, env),
            Self::Boundary(extractor) => extractor.run(result, env),
            Self::PluginJson(extractor) => extractor.run(result, env),
            Self::Css(extractor) => extractor.run(result, env),
            Self::XPath(extractor) => extractor.run(result, env),
            Self::XPath2(extractor) => extractor.run(result, env),
            Self::Debug(debug) => debug.run(result, env),
            Self::FifoPut(put) => put.run(env),
            Self::Script(script) => script.process(Some(result), env),
            Self::Job(_) => {}
        }
    }

    /// Returns a message about an invalid setting that is known before a run, such as an invalid pattern.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Regex(extractor) => extractor.complaint(),
            Self::Json(extractor) => extractor.complaint(),
            Self::JmesPath(extractor) => extractor.complaint(),
            Self::PluginJson(extractor) => extractor.complaint(),
            Self::XPath(extractor) => extractor.complaint(),
            Self::XPath2(extractor) => extractor.complaint(),
            Self::Boundary(extractor) => extractor.complaint(),
            Self::Css(_) | Self::Debug(_) | Self::FifoPut(_) | Self::Script(_) | Self::Job(_) => {
                None
            }
        }
    }
}
