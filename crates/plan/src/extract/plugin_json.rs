//! JSON Path Extractor of the jp@gc plug-ins, the predecessor of JMeter's own extractor: one path, one variable.
//!
//! For a list, the variable has the JSON of the list, `<name>_1`, `<name>_2`, … have its elements, and
//! `<name>_matchNr` has their number. An invalid document, a path without a value and an empty list give the
//! default.

use jmx::Props;
use lang::java::write_double_plain;
use lang::jsonpath::{self, Failure, JsonPath, Projection, Value};

use super::Problem;
use super::variable::Family;
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler, unreadable};

/// A compiled JSON Path Extractor.
#[derive(Debug)]
pub struct PluginJsonExtractor {
    reference: Template,
    path: Template,
    default: Template,
    /// Name of the variable to search instead of the response.
    variable: Option<Template>,
    /// The compiled path, if it is constant.
    fixed: Option<Result<JsonPath, Failure>>,
    projection: Projection,
}

pub(super) fn compile(
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<(PluginJsonExtractor, Needs), Problem> {
    if props.str("INPUT_FORMAT") == Some("YAML") {
        return Err(Problem {
            needs_jvm: false,
            message: "YAML is not supported".into(),
            help: "extract from JSON".into(),
        });
    }
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let (reference, path, default) = (text("VAR"), text("JSONPATH"), text("DEFAULT"));
    let variable = (props.str("SUBJECT") == Some("VAR")).then(|| text("VARIABLE"));
    if let Some(reference) = reference.fixed() {
        Family::intern(reference, &mut compiler.names);
    }
    let fixed = path.fixed().map(JsonPath::new);
    let mut projection = Projection::WHOLE;
    if let Some(Ok(fixed)) = &fixed {
        projection = Projection::default();
        fixed.project(&mut projection);
    }
    let needs = if variable.is_some() { Needs::empty() } else { Needs::TEXT };
    Ok((PluginJsonExtractor { reference, path, default, variable, fixed, projection }, needs))
}

impl PluginJsonExtractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &SampleResult, env: &mut Env<'_>) {
        let mut family = Family::new(&self.reference, env);
        let mut path = env.core.take();
        self.path.eval(env, &mut path);
        let mut copied = env.core.take();
        if let Some(variable) = &self.variable {
            // The string is copied, because variables are set while the document refers to it.
            let mut name = env.core.take();
            variable.eval(env, &mut name);
            copied.push_str(env.vars.get_named(env.names, &name).unwrap_or(""));
            env.core.give(name);
        }
        let text = if self.variable.is_some() { &*copied } else { &*result.text };
        if self.extract(&path, text, &mut family, env).is_none() {
            let mut default = env.core.take();
            self.default.eval(env, &mut default);
            family.put(env, format_args!(""), Some(&default));
            family.put(env, format_args!("_matchNr"), Some("0"));
            clear(&mut family, env);
            env.core.give(default);
        }
        env.core.give(copied);
        env.core.give(path);
        family.end(env);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        let failure = self.fixed.as_ref()?.as_ref().err()?;
        Some(unreadable("path", self.path.fixed().unwrap_or(""), failure))
    }

    /// Sets the variables. Returns `None` if there is no value.
    fn extract(
        &self,
        path: &str,
        text: &str,
        family: &mut Family,
        env: &mut Env<'_>,
    ) -> Option<()> {
        if text.is_empty() {
            return None;
        }
        let made;
        let compiled = match &self.fixed {
            Some(fixed) => fixed.as_ref().ok()?,
            None => {
                made = JsonPath::new(path).ok()?;
                &made
            }
        };
        let document = jsonpath::read_for(text, &self.projection).ok()?;
        let value = compiled.value(&document).ok()?;
        let mut shown = env.core.take();
        if let Value::Array(values) = value.as_ref() {
            if values.is_empty() {
                env.core.give(shown);
                return None;
            }
            value.write_json(&mut shown);
            family.put(env, format_args!(""), Some(&shown));
            family.put_number(env, format_args!("_matchNr"), values.len());
            clear(family, env);
            for (n, value) in values.iter().enumerate() {
                shown.clear();
                show(value, &mut shown);
                family.put(env, format_args!("_{}", n + 1), Some(&shown));
            }
        } else {
            show(&value, &mut shown);
            family.put(env, format_args!(""), Some(&shown));
        }
        env.core.give(shown);
        Some(())
    }
}

/// Removes the variables `<name>_1`, `<name>_2`, … that an earlier list has set.
fn clear(family: &mut Family, env: &mut Env<'_>) {
    let mut index = 1;
    while family.get(env, format_args!("_{index}")).is_some() {
        family.put(env, format_args!("_{index}"), None);
        index += 1;
    }
}

/// Appends a value as the string that the plug-in stores in a variable.
fn show(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Double(value) => write_double_plain(*value, out),
        Value::Object(_) => value.write_json_hashed(out),
        other => other.write_java(out),
    }
}
