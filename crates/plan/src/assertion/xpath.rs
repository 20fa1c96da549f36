//! XPath Assertion: checks that an XPath 1.0 expression finds something in a document, or is true.
//!
//! As in JMeter, the bytes of the response are parsed in the encoding that the document declares, or in UTF-8,
//! whatever the response headers declare. Validation needs a JVM.

use jmx::Props;
use lang::tidy;
use lang::xml::{self, Fault, Options, Tree};
use lang::xpath::{Unusable, Value, XPath};

use super::fail_for_null;
use crate::env::Env;
use crate::extract::{Problem, Scope, fixed_xpath, tolerant, xpath_complaint};
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

/// A compiled XPath Assertion.
#[derive(Debug)]
pub struct XPathAssertion {
    query: Template,
    /// The compiled expression, if it is constant.
    fixed: Option<Result<XPath, Unusable>>,
    tolerant: bool,
    options: Options,
    negated: bool,
}

pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<XPathAssertion, Problem> {
    let flag = |name: &str| props.bool(name).unwrap_or(false);
    let tolerant = tolerant(props, "XPath")?;
    if flag("XPath.validate") && !tolerant {
        return Err(Problem {
            needs_jvm: true,
            message: "only Java can validate documents".into(),
            help: "turn off `Validate XML`".into(),
        });
    }
    let query = Template::compile(props.str("XPath.xpath").unwrap_or("/"), compiler);
    Ok(XPathAssertion {
        fixed: fixed_xpath(&query)?,
        query,
        tolerant,
        options: Options {
            namespaces: flag("XPath.namespace"),
            drops_blanks: flag("XPath.whitespace"),
            ..Options::default()
        },
        negated: flag("XPath.negate"),
    })
}

impl XPathAssertion {
    pub(super) fn run(
        &self,
        scope: &Scope,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        let mut query = env.core.take();
        self.query.eval(env, &mut query);
        entry.say("");
        if let Scope::Variable(name) = scope {
            env.read_named(name, |value| {
                self.check(value.unwrap_or("").as_bytes(), &query, entry);
            });
        } else {
            self.check(&result.body, &query, entry);
        }
        env.core.give(query);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        xpath_complaint(&self.query, self.fixed.as_ref())
    }

    fn check(&self, document: &[u8], query: &str, entry: &mut AssertionResult) {
        if document.is_empty() {
            return fail_for_null(entry);
        }
        let tree = match self.read(document) {
            Ok(tree) => tree,
            Err(Fault { message, is_io }) => {
                let kind = if is_io { "IOException" } else { "SAXException" };
                return entry.fail_with_error(&format!("{kind}: {message}"));
            }
        };
        let made;
        let parsed = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                made = XPath::parse(query);
                &made
            }
        };
        let value = match parsed {
            Ok(parsed) => parsed.evaluate(&tree),
            Err(unusable) => Err(unusable.message().to_owned()),
        };
        match value {
            Ok(Value::Nodes(nodes)) if nodes.is_empty() => {
                entry.say(&format!("No Nodes Matched {query}"));
                entry.failure = !self.negated;
            }
            Ok(Value::Nodes(_)) if self.negated => {
                entry.fail("Specified XPath was found... Turn off negate if this is not desired");
            }
            Ok(Value::Nodes(_)) => {}
            Ok(Value::Boolean(truth)) => {
                let nodes = if self.negated { "Nodes" } else { "No Nodes" };
                entry.say(&format!("{nodes} Matched for {query}"));
                entry.failure = truth == self.negated;
            }
            Ok(Value::Text(_) | Value::Number(_)) => {
                entry.fail(&format!("Cannot understand: {query}"));
            }
            Err(message) => {
                entry.fail_with_error(&format!("TransformerException: {message} for: {query}"));
            }
        }
    }

    fn read(&self, document: &[u8]) -> Result<Tree, Fault> {
        if self.tolerant {
            return Ok(tidy::read(&String::from_utf8_lossy(document)));
        }
        xml::read(document, self.options)
    }
}
