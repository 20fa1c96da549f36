//! Regular Expression Extractor.
//!
//! Each match produces a value from the template. The match's groups become `<name>_g0`, `<name>_g1`, …, and their
//! number `<name>_g`. As in JMeter, a group that did not match is an undefined variable, but the word `null` in a
//! template. Variables that an earlier run of the same extractor set are removed.

use std::ops::ControlFlow;

use jmx::Props;
use lang::regexp::Regexp;

use super::group_template::GroupTemplate;
use super::matches::Matches;
use super::variable::{Family, number};
use super::{Field, Problem, Scope};
use crate::env::Env;
use crate::pattern::Pattern;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// A compiled Regular Expression Extractor.
#[derive(Debug)]
pub struct RegexExtractor {
    reference: Template,
    pattern: Pattern,
    template: GroupTemplate,
    number: Template,
    default: Template,
    empty_default: bool,
    field: Field,
    scope: Scope,
}

/// Compiles the properties of a Regular Expression Extractor.
pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<(RegexExtractor, Needs), Problem> {
    let field = Field::parse(props.str("RegexExtractor.useHeaders").unwrap_or("false"))?;
    let scope = Scope::compile(props, "Sample.scope", compiler);
    let needs = scope.needs(field.needs());
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let reference = text("RegexExtractor.refname");
    let template = GroupTemplate::new(text("RegexExtractor.template"));
    let number = text("RegexExtractor.match_number");
    let default = text("RegexExtractor.default");
    let pattern = Pattern::compile(props.str("RegexExtractor.regex").unwrap_or(""), compiler);
    if let (Some(reference), Pattern::Fixed(_, Ok(pattern))) = (reference.fixed(), &pattern) {
        for suffix in ["", "_g", "_matchNr"] {
            compiler.names.intern(&format!("{reference}{suffix}"));
        }
        for group in 0..=pattern.groups() {
            compiler.names.intern(&format!("{reference}_g{group}"));
        }
    }
    let empty_default = props.bool("RegexExtractor.default_empty_value").unwrap_or(false);
    Ok((
        RegexExtractor {
            reference,
            pattern,
            template,
            number,
            default,
            empty_default,
            field,
            scope,
        },
        needs,
    ))
}

impl RegexExtractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &SampleResult, env: &mut Env<'_>) {
        let mut family = Family::new(&self.reference, env);
        let number = number(&self.number, env);
        let mut buffer = env.core.take();
        self.default.eval(env, &mut buffer);
        if !buffer.is_empty() || self.empty_default {
            family.put(env, format_args!(""), Some(&buffer));
        }
        env.core.give(buffer);
        self.pattern.with(env, |regexp, env| {
            // An invalid pattern leaves all other variables unchanged.
            let Ok(regexp) = regexp else { return };
            let found = self.search(regexp, number, result, env).complete();
            let previous = family.take_count(env);
            self.save(&found, number, previous, &mut family, env);
            found.end();
        });
        family.end(env);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        match &self.pattern {
            Pattern::Fixed(_, Err(malformed)) => Some(malformed.to_string()),
            _ => None,
        }
    }

    /// Returns all matches, or only the requested match if the match number is positive.
    fn search(
        &self,
        regexp: &Regexp,
        number: i32,
        result: &SampleResult,
        env: &mut Env<'_>,
    ) -> Matches {
        let mut found = Matches::new(regexp.groups() + 1);
        let mut count = 0;
        let mut search = |text: &str, found: &mut Matches| {
            let mut flow = ControlFlow::Continue(());
            regexp.each(text, |groups| {
                count += 1;
                if number <= 0 || count == number {
                    for group in 0..found.groups() {
                        found.push(groups.group(group));
                    }
                }
                if number > 0 && count == number {
                    flow = ControlFlow::Break(());
                }
                flow
            });
            flow
        };
        if let Scope::Variable(name) = &self.scope {
            env.read_named(name, |value| value.map(|value| search(value, &mut found)));
            return found;
        }
        let mut buffer = env.core.take();
        self.scope.each(result, |sample| search(self.field.of(sample, &mut buffer), &mut found));
        env.core.give(buffer);
        found
    }

    fn save(
        &self,
        found: &Matches,
        number: i32,
        previous: i32,
        family: &mut Family,
        env: &mut Env<'_>,
    ) {
        let mut kept = 0;
        if number >= 0 {
            let chosen = match (found.len(), number) {
                (0, _) => None,
                (count, 0) => Some(env.core.random.below(count as u64) as usize),
                _ => Some(0),
            };
            match chosen {
                Some(chosen) => self.save_match(found, chosen, None, family, env),
                None => remove_groups(None, family, env),
            }
        } else {
            remove_groups(None, family, env);
            kept = found.len();
            family.put_number(env, format_args!("_matchNr"), kept);
            for index in 0..kept {
                self.save_match(found, index, Some(index + 1), family, env);
            }
        }
        for index in kept + 1..=previous.max(0) as usize {
            family.put(env, format_args!("_{index}"), None);
            remove_groups(Some(index), family, env);
        }
    }

    fn save_match(
        &self,
        found: &Matches,
        index: usize,
        suffix: Option<usize>,
        family: &mut Family,
        env: &mut Env<'_>,
    ) {
        let mut value = env.core.take();
        self.template.eval(|group| found.get(index, group), env, &mut value);
        match suffix {
            None => family.put(env, format_args!(""), Some(&value)),
            Some(n) => family.put(env, format_args!("_{n}"), Some(&value)),
        }
        env.core.give(value);
        let count = GroupCount(suffix);
        let previous = family.number(env, format_args!("{count}"));
        for group in 0..found.groups() {
            family.put(env, format_args!("{count}{group}"), found.get(index, group));
        }
        family.put_number(env, format_args!("{count}"), found.groups() - 1);
        for group in found.groups()..=previous.max(0) as usize {
            family.put(env, format_args!("{count}{group}"), None);
        }
    }
}

/// Removes the group variables of an earlier run.
fn remove_groups(suffix: Option<usize>, family: &mut Family, env: &mut Env<'_>) {
    let count = GroupCount(suffix);
    let groups = family.number(env, format_args!("{count}"));
    family.put(env, format_args!("{count}"), None);
    for group in 0..=groups.max(0) {
        family.put(env, format_args!("{count}{group}"), None);
    }
}

/// Suffix of the variable with the number of groups: `_g`, or `_3_g` for the third match.
struct GroupCount(Option<usize>);

impl std::fmt::Display for GroupCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("_g"),
            Some(n) => write!(f, "_{n}_g"),
        }
    }
}
