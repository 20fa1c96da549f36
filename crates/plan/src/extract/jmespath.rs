//! JMESPath Extractor: sets one variable to the value of an expression, or one variable per element of its list.
//!
//! Strings are used unchanged, other values as JSON. If the document or expression is invalid, the variable gets
//! its default. Parsing a document allocates memory for all its values.

use std::ops::ControlFlow;

use jmx::Props;
use lang::jmespath::{self, Failure, JmesPath, Value};

use super::Scope;
use super::variable::Family;
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// A compiled JMESPath Extractor.
#[derive(Debug)]
pub struct JmesPathExtractor {
    reference: Template,
    expression: Template,
    /// The compiled expression, if it is constant.
    fixed: Option<Result<JmesPath, Failure>>,
    number: Template,
    default: Template,
    scope: Scope,
}

pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> (JmesPathExtractor, Needs) {
    let scope = Scope::compile(props, "Sample.scope", compiler);
    let needs = scope.needs(Needs::TEXT);
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let expression = text("JMESExtractor.jmesPathExpr");
    let made = JmesPathExtractor {
        reference: text("JMESExtractor.referenceName"),
        fixed: expression.fixed().map(read),
        expression,
        number: text("JMESExtractor.matchNumber"),
        default: text("JMESExtractor.defaultValue"),
        scope,
    };
    if let Some(reference) = made.reference.fixed() {
        Family::intern(reference, &mut compiler.names);
    }
    (made, needs)
}

fn read(expression: &str) -> Result<JmesPath, Failure> {
    JmesPath::new(expression.trim_matches(|c| c <= ' '))
}

impl JmesPathExtractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &SampleResult, env: &mut Env<'_>) {
        let mut number = env.core.take();
        self.number.eval(env, &mut number);
        let wanted = if number.trim().is_empty() { Ok(0) } else { number.parse::<i32>() };
        let Ok(wanted) = wanted else {
            super::gives_up(env, &no_number(&number));
            return env.core.give(number);
        };
        env.core.give(number);
        let mut default = env.core.take();
        self.default.eval(env, &mut default);
        let mut family = Family::new(&self.reference, env);
        family.clear(env);
        let found = self.search(result, env);
        match found.as_deref() {
            None => family.put(env, format_args!(""), Some(&default)),
            Some([]) => {
                family.put(env, format_args!(""), Some(&default));
                family.put(env, format_args!("_matchNr"), Some("0"));
            }
            Some([one]) => {
                let suffix = if wanted < 0 { "_1" } else { "" };
                family.put(env, format_args!("{suffix}"), Some(one));
                family.put(env, format_args!("_matchNr"), Some("1"));
            }
            Some(found) => {
                if wanted < 0 {
                    for (at, value) in found.iter().enumerate() {
                        family.put(env, format_args!("_{}", at + 1), Some(value));
                    }
                } else {
                    let at = match wanted {
                        0 => env.core.random.below(found.len() as u64) as usize,
                        wanted => wanted as usize - 1,
                    };
                    let value = found.get(at).map_or(&*default, |value| value);
                    family.put(env, format_args!(""), Some(value));
                }
                family.put_number(env, format_args!("_matchNr"), found.len());
            }
        }
        env.core.give(default);
        family.end(env);
    }

    /// Returns all values found; `None` if there is no string to search, or if the document or the expression is
    /// invalid.
    fn search(&self, result: &SampleResult, env: &mut Env<'_>) -> Option<Vec<String>> {
        let made;
        let expression = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                made = self.expression.parsed(env, read);
                &made
            }
        };
        let expression = expression.as_ref().ok()?;
        let mut found = Vec::new();
        if let Scope::Variable(name) = &self.scope {
            let collected = env.read_named(name, |value| {
                value.is_some_and(|text| collect(expression, text, &mut found).is_ok())
            });
            return collected.then_some(found);
        }
        let mut searched = 0;
        let mut is_wrong = false;
        self.scope.each(result, |sample| {
            if sample.text.chars().all(char::is_whitespace) {
                return ControlFlow::Continue(());
            }
            searched += 1;
            match collect(expression, &sample.text, &mut found) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => {
                    is_wrong = true;
                    ControlFlow::Break(())
                }
            }
        });
        (searched > 0 && !is_wrong).then_some(found)
    }

    pub(super) fn complaint(&self) -> Option<String> {
        let number = self.number.fixed().unwrap_or_default();
        if !number.trim().is_empty() && number.parse::<i32>().is_err() {
            return Some(format!("{} {}", no_number(number), super::LOST));
        }
        Some(self.fixed.as_ref()?.as_ref().err()?.0.clone())
    }
}

fn no_number(text: &str) -> String {
    format!("the match number of the JMESPath Extractor, '{text}', is not a number.")
}

fn collect(expression: &JmesPath, text: &str, found: &mut Vec<String>) -> Result<(), Failure> {
    match expression.search(&jmespath::read(text)?)? {
        Value::Null => {}
        Value::Array(values) => found.extend(values.iter().map(Value::shown)),
        other => found.push(other.shown()),
    }
    Ok(())
}
