//! CSS Selector Extractor with jsoup: extracts strings or attributes of the elements that match a selector.
//!
//! Each extractor parses each response once. As in JMeter, an invalid selector only sets the default value.
//! Unsupported features of selectors, and the implementation Jodd, need a JVM.

use std::ops::ControlFlow;

use jmx::Props;
use lang::jsoup::{Document, Selector};

use super::matches::Matches;
use super::variable::{Family, number};
use super::{Problem, Scope};
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// A compiled CSS Selector Extractor.
#[derive(Debug)]
pub struct CssExtractor {
    reference: Template,
    selector: Template,
    /// The compiled selector, if it is constant.
    fixed: Option<Selector>,
    attribute: Template,
    number: Template,
    default: Template,
    empty_default: bool,
    scope: Scope,
}

pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<(CssExtractor, Needs), Problem> {
    let needs_jvm = |message: String| Problem {
        needs_jvm: true,
        message,
        help: "use a selector of tags, ids, classes, attributes and positions, with JSOUP".into(),
    };
    match props.str("HtmlExtractor.extractor_impl").unwrap_or("") {
        "" | "JSOUP" => {}
        "JODD" => return Err(needs_jvm("the implementation JODD runs in a JVM only".into())),
        other => return Err(needs_jvm(format!("JMeter has no implementation {other}"))),
    }
    let scope = Scope::compile(props, "Sample.scope", compiler);
    let needs = scope.needs(Needs::TEXT);
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let selector = text("HtmlExtractor.expr");
    let attribute = text("HtmlExtractor.attribute");
    let fixed = match selector.fixed() {
        Some(source) => Some(Selector::parse(source).map_err(|problem| needs_jvm(problem.0))?),
        None => None,
    };
    if attribute.raw().trim().to_ascii_lowercase().starts_with("abs:") {
        return Err(needs_jvm("only jsoup resolves links (abs:)".into()));
    }
    let made = CssExtractor {
        reference: text("HtmlExtractor.refname"),
        selector,
        fixed,
        attribute,
        number: text("HtmlExtractor.match_number"),
        default: text("HtmlExtractor.default"),
        empty_default: props.bool("HtmlExtractor.default_empty_value").unwrap_or(false),
        scope,
    };
    if let Some(reference) = made.reference.fixed() {
        Family::intern(reference, &mut compiler.names);
    }
    Ok((made, needs))
}

impl CssExtractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &SampleResult, env: &mut Env<'_>) {
        let mut family = Family::new(&self.reference, env);
        let mut buffer = env.core.take();
        self.default.eval(env, &mut buffer);
        if !buffer.is_empty() || self.empty_default {
            family.put(env, format_args!(""), Some(&buffer));
        }
        env.core.give(buffer);
        let number = number(&self.number, env);
        if let Some(found) = self.search(number, result, env).map(Matches::complete) {
            save(&found, number, &mut family, env);
            found.end();
        }
        family.end(env);
    }

    /// Returns the matches up to number `number`, which the extractor requests; `None` if the selector is invalid.
    fn search(&self, number: i32, result: &SampleResult, env: &mut Env<'_>) -> Option<Matches> {
        let made;
        let selector = match &self.fixed {
            Some(selector) => selector,
            None => {
                made = self.selector.parsed(env, |source| Selector::parse(source).ok())?;
                &made
            }
        };
        let mut attribute = env.core.take();
        self.attribute.eval(env, &mut attribute);
        let mut found = Matches::new(1);
        let flow = |found: &Matches| {
            if number > 0 && found.len() as i64 == i64::from(number) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let mut collect = |text: &str| {
            let wanted = (!attribute.trim().is_empty()).then_some(&*attribute);
            Document::parse(text).select(selector, wanted, |value| {
                found.push(Some(value));
                flow(&found)
            });
            flow(&found)
        };
        if let Scope::Variable(name) = &self.scope {
            env.read_named(name, |value| value.filter(|text| !text.is_empty()).map(collect));
        } else {
            self.scope.each(result, |sample| collect(&sample.text));
        }
        env.core.give(attribute);
        Some(found)
    }
}

fn save(found: &Matches, number: i32, family: &mut Family, env: &mut Env<'_>) {
    let previous = family.take_count(env);
    let mut kept = 0;
    if number >= 0 {
        let count = found.len();
        let chosen = match number {
            0 if count > 0 => Some(env.core.random.below(count as u64) as usize),
            0 => None,
            number => Some(number as usize - 1),
        };
        if let Some(value) = chosen.and_then(|chosen| found.get(chosen, 0)) {
            family.put(env, format_args!(""), Some(value));
        }
    } else {
        kept = found.len();
        family.put_number(env, format_args!("_matchNr"), kept);
        for index in 0..kept {
            // If an element lacks the attribute, the variable keeps its old value.
            if let Some(value) = found.get(index, 0) {
                family.put(env, format_args!("_{}", index + 1), Some(value));
            }
        }
    }
    for index in kept + 1..=previous.max(0) as usize {
        family.put(env, format_args!("_{index}"), None);
    }
}
