//! XPath2 Assertion: checks that an expression finds something in a document, or is true.
//!
//! JMeter uses Xalan to determine whether the expression is Boolean, and evaluates it with Saxon, so that only
//! expressions valid in both work. Expressions with another meaning in XPath 2.0 need a JVM.

use jmx::Props;
use lang::xml::read_for_saxon;
use lang::xpath::{Unusable, Value, XPath};

use super::fail_for_null;
use crate::env::Env;
use crate::extract::{Problem, Scope, fixed_xpath2, xpath_complaint};
use crate::result::{AssertionResult, SampleResult};
use crate::template::{Template, TemplateCompiler};

/// A compiled XPath2 Assertion.
#[derive(Debug)]
pub struct XPath2Assertion {
    query: Template,
    namespaces: Template,
    /// The compiled expression, if it is constant.
    fixed: Option<Result<XPath, Unusable>>,
    negated: bool,
}

pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<XPath2Assertion, Problem> {
    let query = Template::compile(props.str("XPath.xpath").unwrap_or("/"), compiler);
    let namespaces = Template::compile(props.str("XPath.namespaces").unwrap_or(""), compiler);
    Ok(XPath2Assertion {
        fixed: fixed_xpath2(&query, &namespaces)?,
        query,
        namespaces,
        negated: props.bool("XPath.negate").unwrap_or(false),
    })
}

impl XPath2Assertion {
    pub(super) fn run(
        &self,
        scope: &Scope,
        result: &SampleResult,
        env: &mut Env<'_>,
        entry: &mut AssertionResult,
    ) {
        let (mut query, mut namespaces) = (env.core.take(), env.core.take());
        self.query.eval(env, &mut query);
        self.namespaces.eval(env, &mut namespaces);
        entry.say("");
        if let Scope::Variable(name) = scope {
            env.read_named(name, |value| match value.filter(|value| !value.is_empty()) {
                Some(value) => self.check(value, &query, &namespaces, entry),
                None => fail_for_null(entry),
            });
        } else {
            self.check(&result.text, &query, &namespaces, entry);
        }
        env.core.give(query);
        env.core.give(namespaces);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        xpath_complaint(&self.query, self.fixed.as_ref())
    }

    fn check(&self, text: &str, query: &str, namespaces: &str, entry: &mut AssertionResult) {
        if query.is_empty() {
            return;
        }
        let made;
        let parsed = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                made = XPath::parse_second(query, namespaces);
                &made
            }
        };
        let value = match parsed {
            Ok(parsed) => read_for_saxon(text).and_then(|tree| parsed.evaluate(&tree)),
            Err(unusable) => Err(unusable.message().to_owned()),
        };
        let holds = match value {
            Ok(Value::Nodes(nodes)) => !nodes.is_empty(),
            Ok(Value::Boolean(truth)) => truth,
            Ok(Value::Text(_) | Value::Number(_)) => true,
            Err(message) => {
                return entry.fail_with_error(&format!(
                    "Exception occurred computing assertion with XPath:{query}, error:{message}"
                ));
            }
        };
        let nodes = if self.negated { "Nodes" } else { "No Nodes" };
        entry.say(&format!("{nodes} Matched for {query}"));
        entry.failure = holds == self.negated;
    }
}
