//! XPath2 Extractor: extracts strings and values of XML with an XPath expression, like Saxon.
//!
//! Only expressions with the same meaning in XPath 1.0 are evaluated natively; other expressions and fragments need
//! a JVM. Every failure becomes an assertion result, which does not fail the sample. As in JMeter, a scope with
//! sub-results searches the main result once for each sub-result.

use std::ops::ControlFlow;

use jmx::Props;
use lang::xml::read_for_saxon;
use lang::xpath::{Unusable, Value, XPath};

use super::matches::Matches;
use super::variable::{Family, number};
use super::xpath::{complaint, save, set_default};
use super::{Problem, Scope};
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// A compiled XPath2 Extractor.
#[derive(Debug)]
pub struct XPath2Extractor {
    name: Template,
    reference: Template,
    query: Template,
    namespaces: Template,
    /// The compiled expression, if it is constant.
    fixed: Option<Result<XPath, Unusable>>,
    number: Template,
    default: Template,
    scope: Scope,
}

pub(super) fn compile(
    name: &str,
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<(XPath2Extractor, Needs), Problem> {
    if props.bool("XPathExtractor2.fragment").unwrap_or(false) {
        return Err(Problem {
            needs_jvm: true,
            message: "only Saxon writes fragments".into(),
            help: "extract text instead of fragments, or use an XPath Extractor".into(),
        });
    }
    let scope = Scope::compile(props, "Sample.scope", compiler);
    // The main result is searched in every scope.
    let needs = scope.needs(Needs::TEXT);
    let mut text = |name: &str, default: &str| {
        let name = format!("XPathExtractor2.{name}");
        Template::compile(props.str(&name).unwrap_or(default), compiler)
    };
    let (query, namespaces) = (text("xpathQuery", ""), text("namespaces", ""));
    let made = XPath2Extractor {
        fixed: fixed(&query, &namespaces)?,
        reference: text("refname", ""),
        number: text("matchNumber", "0"),
        default: text("default", ""),
        query,
        namespaces,
        name: Template::compile(name, compiler),
        scope,
    };
    if let Some(reference) = made.reference.fixed() {
        Family::intern(reference, &mut compiler.names);
    }
    Ok((made, needs))
}

/// Compiles the expression, if it is constant. The error means that the expression needs unsupported features.
pub(crate) fn fixed(
    query: &Template,
    namespaces: &Template,
) -> Result<Option<Result<XPath, Unusable>>, Problem> {
    let (Some(query), Some(namespaces)) = (query.fixed(), namespaces.fixed()) else {
        return Ok(None);
    };
    if query.is_empty() {
        return Ok(None);
    }
    match XPath::parse_second(query, namespaces) {
        Err(Unusable::Beyond(message)) => Err(Problem {
            needs_jvm: true,
            message,
            help: "use an expression that XPath 1.0 supports".into(),
        }),
        parsed => Ok(Some(parsed)),
    }
}

impl XPath2Extractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        let mut family = Family::new(&self.reference, env);
        let previous = set_default(&self.default, &mut family, env);
        let mut found = Matches::new(1);
        match self.search(result, env, &mut found) {
            Ok(()) => save(&found, previous, &mut family, env),
            Err(message) => {
                let mut name = env.core.take();
                self.name.eval(env, &mut name);
                let entry = result.add_assertion(&name);
                entry.fail(&format!("{message}\nSee log file for further details."));
                env.core.give(name);
            }
        }
        found.end();
        family.end(env);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        complaint(&self.query, self.fixed.as_ref())
    }

    fn search(
        &self,
        result: &SampleResult,
        env: &mut Env<'_>,
        found: &mut Matches,
    ) -> Result<(), String> {
        let number = number(&self.number, env);
        let (mut query, mut namespaces) = (env.core.take(), env.core.take());
        self.query.eval(env, &mut query);
        self.namespaces.eval(env, &mut namespaces);
        let made;
        let parsed = match &self.fixed {
            _ if query.is_empty() => return Ok(()),
            Some(fixed) => fixed,
            None => {
                made = XPath::parse_second(&query, &namespaces);
                &made
            }
        };
        env.core.give(query);
        env.core.give(namespaces);
        if let Scope::Variable(name) = &self.scope {
            let value = env.read_named(name, |value| value.unwrap_or("").to_owned());
            return if value.is_empty() {
                Ok(())
            } else {
                collect(&value, parsed, number, env, found)
            };
        }
        let mut outcome = Ok(());
        self.scope.each(result, |_| {
            outcome = collect(&result.text, parsed, number, env, found);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome
    }
}

fn collect(
    text: &str,
    query: &Result<XPath, Unusable>,
    number: i32,
    env: &mut Env<'_>,
    found: &mut Matches,
) -> Result<(), String> {
    let query = query.as_ref().map_err(|unusable| unusable.message().to_owned())?;
    let tree = read_for_saxon(text)?;
    let value = query.evaluate(&tree)?;
    let count = match &value {
        Value::Nodes(nodes) => nodes.len(),
        _ => 1,
    };
    let chosen = match number {
        ..0 => 0..count,
        // Java reports the index -1 as out of bounds.
        0 if count == 0 => return Err("-1".into()),
        0 => {
            let at = env.core.random.below(count as u64) as usize;
            at..at + 1
        }
        number if number as usize <= count => number as usize - 1..number as usize,
        _ => 0..0,
    };
    match &value {
        Value::Nodes(nodes) => {
            for id in &nodes[chosen] {
                found.push_with(|out| {
                    tree.write_string(*id, out);
                    true
                });
            }
        }
        other => chosen.for_each(|_| found.push(Some(&other.text(&tree)))),
    }
    Ok(())
}
