//! JSON Extractor: sets several variables, each with its own path, match number and default, separated by `;`.
//!
//! Each response is parsed once for all paths. As in JMeter, the sample is lost if the numbers of names, paths and
//! defaults differ. Parsing a document allocates memory for its arrays and objects.

use jmx::Props;
use lang::jsonpath::{self, Failure, JsonPath, Projection, Value};

use super::Scope;
use super::matches::Matches;
use super::variable::Family;
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler, unreadable};

/// A compiled JSON Extractor.
#[derive(Debug)]
pub struct JsonExtractor {
    references: Template,
    paths: Template,
    numbers: Template,
    defaults: Template,
    concatenate: bool,
    scope: Scope,
    /// The compiled paths, if they are constant.
    fixed: Option<Vec<Result<JsonPath, Failure>>>,
    /// The parts of a document that the paths can reach.
    projection: Option<Projection>,
}

pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> (JsonExtractor, Needs) {
    let scope = Scope::compile(props, "Sample.scope", compiler);
    let needs = scope.needs(Needs::TEXT);
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let references = text("JSONPostProcessor.referenceNames");
    let paths = text("JSONPostProcessor.jsonPathExprs");
    let numbers = text("JSONPostProcessor.match_numbers");
    let defaults = text("JSONPostProcessor.defaultValues");
    if let Some(references) = references.fixed() {
        for reference in split(references) {
            Family::intern(reference.trim(), &mut compiler.names);
        }
    }
    let fixed: Option<Vec<_>> =
        paths.fixed().map(|paths| split(paths).map(|path| JsonPath::new(path.trim())).collect());
    let projection = fixed.as_ref().map(|fixed| {
        let mut projection = Projection::default();
        fixed.iter().flatten().for_each(|path: &JsonPath| path.project(&mut projection));
        projection
    });
    let concatenate = props.bool("JSONPostProcessor.compute_concat").unwrap_or(false);
    let made = JsonExtractor {
        references,
        paths,
        numbers,
        defaults,
        concatenate,
        scope,
        fixed,
        projection,
    };
    (made, needs)
}

/// Splits like Java's `split(";")`: empty parts at the end are dropped, but an empty string is one part.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let trimmed = text.trim_end_matches(';');
    let count = match (text.is_empty(), trimmed.is_empty()) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => usize::MAX,
    };
    trimmed.split(';').take(count)
}

/// Returns the reason why JMeter throws an exception, if it does: different numbers of names, paths and defaults,
/// or invalid or surplus match numbers.
fn uneven([references, paths, defaults, numbers]: [&str; 4]) -> Option<String> {
    let counts = [references, paths, defaults].map(|text| split(text).count());
    let wanted = if numbers.trim().is_empty() { 0 } else { split(numbers).count() };
    if counts[0] != counts[1] || counts[0] != counts[2] || wanted > counts[2] {
        let things = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let [names, paths, defaults] =
            [(0, "name"), (1, "path"), (2, "default")].map(|(at, noun)| things(counts[at], noun));
        let numbers = things(wanted, "match number");
        return Some(format!(
            "the JSON Extractor has {names}, {paths}, {defaults} and {numbers}: it needs the same number of each, \
            separated by semicolons."
        ));
    }
    let wrong = split(numbers).find(|n| wanted > 0 && n.trim().parse::<i32>().is_err())?;
    Some(format!("the match number of the JSON Extractor, '{wrong}', is not a number."))
}

impl JsonExtractor {
    /// Returns the names of the variables that the extractor sets, separated by semicolons.
    pub(super) fn references(&self) -> &Template {
        &self.references
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &SampleResult, env: &mut Env<'_>) {
        let texts = [&self.references, &self.paths, &self.defaults, &self.numbers].map(|text| {
            let mut out = env.core.take();
            text.eval(env, &mut out);
            out
        });
        self.extract(&texts, result, env);
        for text in texts {
            env.core.give(text);
        }
    }

    pub(super) fn complaint(&self) -> Option<String> {
        let texts = [&self.references, &self.paths, &self.defaults, &self.numbers];
        if texts.iter().all(|text| text.fixed().is_some())
            && let Some(thrown) = uneven(texts.map(|text| text.fixed().unwrap_or_default()))
        {
            return Some(format!("{thrown} {}", super::LOST));
        }
        let paths = self.fixed.as_ref()?;
        let wrong = paths.iter().find_map(|path| path.as_ref().err());
        wrong.map(|failure| unreadable("path", self.paths.fixed().unwrap_or(""), failure))
    }

    fn extract(
        &self,
        [references, paths, defaults, numbers]: &[String; 4],
        result: &SampleResult,
        env: &mut Env<'_>,
    ) {
        if let Some(thrown) = uneven([references, paths, defaults, numbers]) {
            return super::gives_up(env, &thrown);
        }
        // Without match numbers, every match is chosen at random.
        let numbers = if numbers.trim().is_empty() { "" } else { numbers };
        let mut variable = env.core.take();
        if let Scope::Variable(name) = &self.scope {
            // The string is copied, because variables are set while the document refers to it.
            env.read_named(name, |value| variable.push_str(value.unwrap_or("")));
        }
        let mut documents: Vec<Result<Value<'_>, ()>> = Vec::new();
        if matches!(self.scope, Scope::Variable(_)) {
            documents.push(self.parse(&variable));
        } else {
            self.scope.each(result, |sample| {
                if !sample.text.chars().all(char::is_whitespace) {
                    documents.push(self.parse(&sample.text));
                }
                std::ops::ControlFlow::Continue(())
            });
        }
        let mut numbers = split(numbers).map(|number| number.trim().parse().unwrap_or(0));
        for (at, ((reference, path), default)) in
            split(references).zip(split(paths)).zip(split(defaults)).enumerate()
        {
            let mut family = Family::of(reference.trim(), env);
            let number = numbers.next().unwrap_or(0);
            family.clear(env);
            if documents.is_empty() {
                family.put(env, format_args!(""), Some(default));
            } else {
                let made;
                let path = match &self.fixed {
                    Some(fixed) => &fixed[at],
                    None => {
                        made = JsonPath::new(path.trim());
                        &made
                    }
                };
                match find(path, &documents) {
                    Some(found) => {
                        self.save(&found, number, default, &mut family, env);
                        found.end();
                    }
                    None => family.put(env, format_args!(""), Some(default)),
                }
            }
            family.end(env);
        }
        drop(documents);
        env.core.give(variable);
    }

    /// Parses a document, as far as the paths can reach. An empty string is an error, as in Jayway.
    fn parse<'t>(&self, text: &'t str) -> Result<Value<'t>, ()> {
        let read = match &self.projection {
            _ if text.is_empty() => return Err(()),
            Some(projection) => jsonpath::read_for(text, projection),
            None => jsonpath::read(text),
        };
        read.map_err(|_| ())
    }

    fn save(
        &self,
        found: &Matches,
        number: i32,
        default: &str,
        family: &mut Family,
        env: &mut Env<'_>,
    ) {
        let count = found.len();
        let value = |index: usize| found.get(index, 0).unwrap_or(default);
        let concatenates = number < 0 && self.concatenate;
        match (count, number) {
            (0, _) => {
                family.put(env, format_args!(""), Some(default));
                family.put(env, format_args!("_matchNr"), Some("0"));
                if concatenates {
                    family.put(env, format_args!("_ALL"), Some(""));
                }
                return;
            }
            (_, ..0) => {
                let mut all = env.core.take();
                for index in 0..count {
                    family.put(env, format_args!("_{}", index + 1), Some(value(index)));
                    if index > 0 {
                        all.push(',');
                    }
                    all.push_str(value(index));
                }
                if concatenates {
                    family.put(env, format_args!("_ALL"), Some(&all));
                }
                env.core.give(all);
            }
            (1, _) => family.put(env, format_args!(""), Some(value(0))),
            (_, 0) => {
                let chosen = env.core.random.below(count as u64) as usize;
                family.put(env, format_args!(""), Some(value(chosen)));
            }
            (_, number) => {
                // A match number beyond the last match gives the default.
                family.put(env, format_args!(""), Some(value(number as usize - 1)));
            }
        }
        if number != 0 {
            family.put_number(env, format_args!("_matchNr"), count);
        }
    }
}

/// Returns all values at the path; `None` if JMeter logs an error and uses the default.
fn find(path: &Result<JsonPath, Failure>, documents: &[Result<Value<'_>, ()>]) -> Option<Matches> {
    let path = path.as_ref().ok()?;
    let mut matches = Matches::new(1);
    for document in documents {
        let Ok(document) = document else {
            matches.end();
            return None;
        };
        match path.list(document) {
            Ok(found) => found.iter().for_each(|value| matches.push_with(|out| write(value, out))),
            Err(Failure::NotFound(_)) => {}
            Err(_) => {
                matches.end();
                return None;
            }
        }
    }
    Some(matches)
}

/// Appends a value as the string that JMeter stores in a variable. Returns false for null.
fn write(value: &Value<'_>, out: &mut String) -> bool {
    match value {
        Value::Null => return false,
        Value::Object(_) => value.write_json_hashed(out),
        other => other.write_java(out),
    }
    true
}
