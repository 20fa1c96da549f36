//! Boundary Extractor: finds the text between two boundary strings.
//!
//! The search continues right after each left boundary, so that matches may overlap. An empty boundary means the
//! start or the end of the searched string. Allocates nothing after the first samples.

use jmx::Props;
use std::ops::ControlFlow;

use lang::work;

use super::matches::Matches;
use super::variable::{Family, number};
use super::{Field, Problem, Scope};
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// A compiled Boundary Extractor.
#[derive(Debug)]
pub struct BoundaryExtractor {
    reference: Template,
    left: Template,
    right: Template,
    number: Template,
    default: Template,
    empty_default: bool,
    field: Field,
    scope: Scope,
}

/// Compiles the properties of a Boundary Extractor.
pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<(BoundaryExtractor, Needs), Problem> {
    let field = Field::parse(props.str("BoundaryExtractor.useHeaders").unwrap_or("false"))?;
    let scope = Scope::compile(props, "Sample.scope", compiler);
    let needs = scope.needs(field.needs());
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let made = BoundaryExtractor {
        reference: text("BoundaryExtractor.refname"),
        left: text("BoundaryExtractor.lboundary"),
        right: text("BoundaryExtractor.rboundary"),
        number: text("BoundaryExtractor.match_number"),
        default: text("BoundaryExtractor.default"),
        empty_default: props.bool("BoundaryExtractor.default_empty_value").unwrap_or(false),
        field,
        scope,
    };
    if let Some(reference) = made.reference.fixed() {
        Family::intern(reference, &mut compiler.names);
    }
    Ok((made, needs))
}

const NO_REFERENCE: &str = "the Boundary Extractor has no reference name.";

impl BoundaryExtractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    pub(super) fn complaint(&self) -> Option<String> {
        let empty = self.reference.fixed().is_some_and(str::is_empty);
        empty.then(|| format!("{NO_REFERENCE} {}", super::LOST))
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &SampleResult, env: &mut Env<'_>) {
        let mut family = Family::new(&self.reference, env);
        if family.reference().is_empty() {
            super::gives_up(env, NO_REFERENCE);
            return family.end(env);
        }
        let mut buffer = env.core.take();
        self.default.eval(env, &mut buffer);
        if !buffer.trim().is_empty() || self.empty_default {
            family.put(env, format_args!(""), Some(&buffer));
        }
        env.core.give(buffer);
        let number = number(&self.number, env);
        let previous = family.take_count(env);
        let found = self.search(number, result, env);
        let mut kept = 0;
        if number < 0 {
            kept = found.len();
            family.put_number(env, format_args!("_matchNr"), kept);
            for index in 0..kept {
                family.put(env, format_args!("_{}", index + 1), found.get(index, 0));
            }
        } else if found.len() > 0 {
            let chosen =
                if number == 0 { env.core.random.below(found.len() as u64) as usize } else { 0 };
            family.put(env, format_args!(""), found.get(chosen, 0));
        }
        for index in kept + 1..=previous.max(0) as usize {
            family.put(env, format_args!("_{index}"), None);
        }
        found.end();
        family.end(env);
    }

    /// Returns all matches, or only the requested match if the match number is positive.
    fn search(&self, number: i32, result: &SampleResult, env: &mut Env<'_>) -> Matches {
        let mut found = Matches::new(1);
        let (mut left, mut right) = (env.core.take(), env.core.take());
        self.left.eval(env, &mut left);
        self.right.eval(env, &mut right);
        let mut count = 0;
        let mut collect = |text: &str, all: bool| {
            between(text, &left, &right, &mut |match_| {
                count += 1;
                if all || count == number {
                    found.push(Some(match_));
                }
                if count == number { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            count
        };
        if let Scope::Variable(name) = &self.scope {
            // With an empty boundary, JMeter ignores the match number for a variable.
            let all = number <= 0 || left.is_empty() || right.is_empty();
            env.read_named(name, |value| value.map(|value| collect(value, all)));
        } else {
            let mut buffer = env.core.take();
            self.scope.each(result, |sample| {
                let count = collect(self.field.of(sample, &mut buffer), number <= 0);
                if number > 0 && count >= number {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            env.core.give(buffer);
        }
        env.core.give(left);
        env.core.give(right);
        found
    }
}

/// Calls `visit` for each string between the boundaries, until `visit` breaks.
fn between<'t>(
    text: &'t str,
    left: &str,
    right: &str,
    visit: &mut dyn FnMut(&'t str) -> ControlFlow<()>,
) {
    if text.chars().all(char::is_whitespace) {
        return;
    }
    if left.is_empty() && right.is_empty() {
        let _ = visit(text);
        return;
    }
    if left.is_empty() {
        if let Some(at) = text.find(right) {
            let _ = visit(&text[..at]);
        }
        return;
    }
    if right.is_empty() {
        if let Some(at) = text.find(left) {
            let _ = visit(&text[at + left.len()..]);
        }
        return;
    }
    let (mut from, mut end) = (0, 0);
    while let Some(at) = text[from..].find(left) {
        from += at + left.len();
        // One right boundary may end the matches of several left boundaries.
        if end < from {
            let Some(found) = text[from..].find(right) else { return };
            end = from + found;
        }
        if visit(&text[from..end]).is_break() || !work::spend(1) {
            return;
        }
    }
}
