//! Debug PostProcessor: adds a sub-result that lists properties of the sampler, variables and properties of the
//! run.
//!
//! As in JMeter, the sub-result's bytes count for the sample, but its time does not. Of the sampler, the sub-result
//! shows the properties in the plan without inherited defaults.

use std::fmt::Write;

use jmx::Props;

use crate::element::debug_sampler;
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// A compiled Debug PostProcessor.
#[derive(Debug)]
pub struct DebugPostProcessor {
    name: Template,
    sampler: Template,
    variables: Template,
    properties: Template,
    system: Template,
    /// True in functional mode, in which sub-results keep their own labels.
    functional: bool,
    /// Names and values of the sampler's properties to list; only properties that are plain strings.
    shown: Vec<(String, Template)>,
}

pub(super) fn compile(
    name: &str,
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> DebugPostProcessor {
    compiler.names.intern(debug_sampler::USER_TOKEN);
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    DebugPostProcessor {
        sampler: text("displaySamplerProperties"),
        variables: text("displayJMeterVariables"),
        properties: text("displayJMeterProperties"),
        system: text("displaySystemProperties"),
        name: Template::compile(name, compiler),
        functional: compiler.functional,
        shown: Vec::new(),
    }
}

impl DebugPostProcessor {
    /// Stores the properties of the sampler that the sub-result lists.
    pub(crate) fn show_sampler(&mut self, props: &Props, compiler: &mut TemplateCompiler) {
        let texts = props.iter().filter_map(|prop| Some((prop.name.clone(), prop.text()?)));
        self.shown = texts.map(|(name, text)| (name, Template::compile(text, compiler))).collect();
    }

    /// Runs the post-processor.
    pub fn run(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        let is = |flag: &Template, env: &mut Env<'_>| {
            flag.parsed(env, |text| text.eq_ignore_ascii_case("true"))
        };
        let (mut text, mut request) = (env.core.take(), env.core.take());
        if is(&self.sampler, env) {
            request.push_str("SamplerProperties\n");
            text.push_str("SamplerProperties:\n");
            let evaluated = self.shown.iter().map(|(name, source)| {
                let mut value = String::new();
                source.eval(env, &mut value);
                (&**name, value)
            });
            let evaluated: Vec<_> = evaluated.collect();
            let mut entries: Vec<_> =
                evaluated.iter().map(|(name, value)| (*name, &**value)).collect();
            debug_sampler::write(&mut entries, &mut text);
        }
        if is(&self.variables, env) {
            request.push_str("JMeterVariables\n");
            debug_sampler::write_variables(env, &mut text);
        }
        if is(&self.properties, env) {
            request.push_str("JMeterProperties\n");
            debug_sampler::write_properties(env, &mut text);
        }
        if is(&self.system, env) {
            request.push_str("SystemProperties\n");
            debug_sampler::write_system(&mut text);
        }
        let keeps_name = self.functional
            || env
                .core
                .cache
                .property(env.shared, "subresults.disable_renaming")
                .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        let mut label = env.core.take();
        if keeps_name {
            self.name.eval(env, &mut label);
        } else {
            let _ = write!(label, "{}-{}", result.label, result.sub_count);
        }
        let sub = result.add_sub();
        sub.label.push_str(&label);
        sub.code.push_str("200");
        sub.message.push_str("OK");
        sub.data_type = "text";
        sub.start_ms = env.now_ms();
        sub.bytes = text.len() as u64;
        sub.body.extend_from_slice(text.as_bytes());
        sub.text.push_str(&text);
        sub.sampler_data.push_str(&request);
        sub.tells_sampler_data = true;
        result.bytes += text.len() as u64;
        for buffer in [label, request, text] {
            env.core.give(buffer);
        }
    }
}
