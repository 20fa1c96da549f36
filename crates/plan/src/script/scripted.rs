//! Elements that run a script: the properties that contain it, and whether it is simple enough to run natively.
//!
//! An element in the scope of many samplers is compiled once. A script that is not simple is reported for the
//! element, with the reason, and runs in Java.

use std::sync::Arc;

use jmx::{Document, ElementId, Props};

use super::{Language, NotSimple, Role, Script, ScriptKind, compile};
use crate::compile::{Context, Settings, scope};
use crate::env::Env;
use crate::plan::Needs;
use crate::result::{AssertionResult, SampleResult};
use crate::support::Level;
use crate::template::{Template, TemplateCompiler};

/// JMeter property that disables native scripts, so that all scripts run in Java.
pub(crate) const SWITCH: &str = "throng.scripts.native";

/// An element whose script is simple enough to run natively.
#[derive(Debug)]
pub struct Scripted {
    script: Script,
    name: Template,
    parameters: Template,
    source: Box<str>,
}

/// Compiles the script of an element, if it is simple. Adds the parts of results that the script reads to `needs`.
pub(crate) fn scripted(
    ctx: &mut Context<'_>,
    id: ElementId,
    needs: &mut Needs,
) -> Option<Arc<Scripted>> {
    if let Some(known) = ctx.scripts.get(&id) {
        return known.clone().inspect(|known| *needs |= known.script.needs);
    }
    let (place, prefix) = place(scope::class(ctx.doc, id))?;
    if ctx.text.leaves_scripts {
        return None;
    }
    let made = match make(ctx, id, place, prefix) {
        Ok(made) => Some(Arc::new(made)),
        Err(NotSimple { reason }) => {
            ctx.remark(id, Level::Jvm, format!("its script needs Java because of {reason}"));
            None
        }
    };
    ctx.scripts.insert(id, made.clone());
    made.inspect(|made| *needs |= made.script.needs)
}

/// Returns true if a script of the plan may store objects other than strings in the properties: it writes
/// properties and is not simple.
pub(crate) fn puts_objects(doc: &Document) -> bool {
    let writes = |text: &str| {
        let ways = ["props.put", "props[", ".compute", ".merge(", "getJMeterProperties"];
        text.contains("props") && ways.iter().any(|way| text.contains(way))
            || text.contains(ways[4])
    };
    let enabled = doc.ids().filter(|id| doc.is_enabled(*id));
    let mut writing = enabled.filter(|id| writes(&doc.xml(*id)));
    writing.any(|id| {
        let props = &doc.element(id).props;
        let Some((mut place, prefix)) = place(scope::class(doc, id)) else { return true };
        if place.jsr223 {
            match language(props) {
                Ok(language) => place.language = language,
                Err(_) => return true,
            }
        }
        let name = if prefix.is_empty() { "script" } else { "query" };
        let source = props.str(&format!("{prefix}{name}")).unwrap_or("");
        source.contains("${") || compile(source, place, &mut TemplateCompiler::default()).is_err()
    })
}

/// Returns the kind of script that elements of this class contain, and the prefix of the properties with the script.
/// Returns `None` for a class without scripts.
fn place(class: &str) -> Option<(ScriptKind, &'static str)> {
    let (jsr223, rest) = match class.strip_prefix("JSR223") {
        Some(rest) => (true, rest),
        None => (false, class.strip_prefix("BeanShell")?),
    };
    let (role, prefix) = match (rest, jsr223) {
        ("PreProcessor", _) => (Role::Before, ""),
        ("PostProcessor", _) => (Role::After, ""),
        ("Timer", _) => (Role::Timer, ""),
        ("Sampler", true) => (Role::Sampler, ""),
        ("Sampler", false) => (Role::Sampler, "BeanShellSampler."),
        ("Assertion", true) => (Role::Assertion, ""),
        ("Assertion", false) => (Role::Assertion, "BeanShellAssertion."),
        _ => return None,
    };
    Some((ScriptKind { language: Language::BeanShell, role, jsr223 }, prefix))
}

fn make(
    ctx: &mut Context<'_>,
    id: ElementId,
    mut place: ScriptKind,
    prefix: &str,
) -> Result<Scripted, NotSimple> {
    let props = ctx.props(id);
    if place.jsr223 {
        place.language = language(props)?;
    } else {
        no_init_file(place.role, ctx.settings)?;
    }
    let property = |name: &str| props.str(&format!("{prefix}{name}")).unwrap_or("");
    if !property("filename").is_empty() {
        return Err(NotSimple::new("a script file"));
    }
    let source = property(if prefix.is_empty() { "script" } else { "query" });
    if source.contains("${") {
        return Err(NotSimple::new("references that JMeter replaces"));
    }
    if source.is_empty() && place.jsr223 {
        return Err(NotSimple::new("an empty script"));
    }
    let script = compile(source, place, &mut ctx.text)?;
    let mark = ctx.mark();
    let name = ctx.doc.element(id).name.clone();
    let (name, parameters) = (ctx.text(id, &name), ctx.text(id, property("parameters")));
    if ctx.mark() > mark {
        ctx.forget(mark);
        return Err(NotSimple::new("a name or parameters that Java evaluates"));
    }
    Ok(Scripted { script, name, parameters, source: source.into() })
}

fn language(props: &Props) -> Result<Language, NotSimple> {
    match props.str("scriptLanguage").unwrap_or("") {
        "" | "groovy" | "Groovy" => Ok(Language::Groovy),
        "beanshell" | "bsh" | "java" => Ok(Language::BeanShell),
        other => Err(NotSimple::new(format!("the language {other}"))),
    }
}

/// Returns an error if JMeter's properties name a BeanShell init file for this role: the file runs before the script
/// and may redefine names.
fn no_init_file(role: Role, settings: &Settings) -> Result<(), NotSimple> {
    let name = match role {
        Role::Before => "preprocessor",
        Role::After => "postprocessor",
        Role::Timer => "timer",
        Role::Sampler => "sampler",
        Role::Assertion => "assertion",
        Role::Function => "function",
        Role::Listener => "listener",
    };
    let name = format!("beanshell.{name}.init");
    if settings.properties.contains_key(&name) {
        return Err(NotSimple::new(format!("the init file that the property {name} names")));
    }
    Ok(())
}

impl Scripted {
    /// Runs the script as a pre-processor, or as a post-processor of a result.
    pub(crate) fn process(&self, result: Option<&mut SampleResult>, env: &mut Env<'_>) {
        let name = self.name(env);
        self.script.process(&name, &self.parameters, result, env);
        env.core.give(name);
    }

    /// Runs the script as a timer; returns the delay in milliseconds.
    pub(crate) fn delay(&self, env: &mut Env<'_>) -> i64 {
        let name = self.name(env);
        let delay = self.script.delay(&name, &self.parameters, env);
        env.core.give(name);
        delay
    }

    /// Runs the script as a sampler. Fills the result, which already has its label.
    pub fn sample(&self, env: &mut Env<'_>, result: &mut SampleResult) {
        let name = self.name(env);
        self.script.sample(&self.source, &name, &self.parameters, result, env);
        env.core.give(name);
    }

    /// Runs the script as an assertion called `name`.
    pub(crate) fn check(
        &self,
        name: &str,
        result: &mut SampleResult,
        finding: &mut AssertionResult,
        env: &mut Env<'_>,
    ) {
        self.script.check(name, &self.parameters, result, finding, env);
    }

    /// Returns true if the script's source contains `name`.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.source.contains(name)
    }

    /// Returns the template of the element's name.
    pub(crate) fn label(&self) -> &Template {
        &self.name
    }

    fn name(&self, env: &mut Env<'_>) -> String {
        let mut name = env.core.take();
        self.name.eval(env, &mut name);
        name
    }
}
