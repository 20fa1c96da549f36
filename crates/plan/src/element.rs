//! JMeter's elements, one file each: properties, compiled form, `compile`, what they do in a run.
//!
//! This file knows which file an element's class belongs to, and nothing else about it.

mod constant_timer;
mod loop_controller;
mod random_timer;
pub(crate) mod result_collector;
pub(crate) mod test_plan;
pub(crate) mod thread_group;
mod timer;
pub(crate) mod user_defined_variables;

use jmx::{ElementId, Props, Value};

pub use timer::{Shape, Timer};

use crate::assertion::Assertion;
use crate::compile::{Context, scope};
use crate::extract::Extractor;
use crate::http;
use crate::plan::{ControllerKind, SamplerKind, Transaction};
use crate::text::{Text, TextCompiler};

/// What changes during a run and is shared by all cores: positions in CSV files, counters, throughput timers.
#[derive(Debug, Default)]
pub struct RunState {}

/// What elements remember for one user.
#[derive(Debug, Default)]
pub struct Memory {}

/// CSV Data Set Config.
#[derive(Debug)]
pub struct CsvDataSet {}
/// Counter.
#[derive(Debug)]
pub struct CounterConfig {}
/// Random Variable.
#[derive(Debug)]
pub struct RandomVariable {}
/// User Parameters.
#[derive(Debug)]
pub struct UserParameters {}
/// Debug Sampler.
#[derive(Debug)]
pub struct DebugSampler {}
/// Java Request.
#[derive(Debug)]
pub struct JavaSampler {}
/// jp@gc Dummy Sampler.
#[derive(Debug)]
pub struct DummySampler {}

/// A controller; `None` if it cannot run.
pub(crate) fn controller(ctx: &mut Context<'_>, id: ElementId) -> Option<ControllerKind> {
    Some(match scope::class(ctx.doc, id) {
        "LoopController" => loop_controller::compile(ctx, id),
        "GenericController" | "RecordingController" => ControllerKind::Simple,
        "OnceOnlyController" => ControllerKind::OnceOnly,
        "TransactionController" => ControllerKind::Transaction(Transaction {
            parent: ctx.flag(id, "TransactionController.parent", false),
            include_timers: ctx.flag(id, "TransactionController.includeTimers", true),
            listeners: Vec::new(),
            checks: Vec::new(),
            path: ctx.doc.path(id),
        }),
        _ => return None,
    })
}

/// A sampler with the configuration in its scope, nearest first; `None` if it cannot run.
pub(crate) fn sampler(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
) -> Option<SamplerKind> {
    Some(match scope::class(ctx.doc, id) {
        "HTTPSamplerProxy" => SamplerKind::Http(Box::new(http::compile(ctx, id, configs, None))),
        _ => return None,
    })
}

/// Timers; those that cannot run are left out.
pub(crate) fn timers(ctx: &mut Context<'_>, elements: &[ElementId]) -> Vec<Timer> {
    let mut found = Vec::new();
    for id in elements {
        found.push(match scope::class(ctx.doc, *id) {
            "ConstantTimer" => constant_timer::compile(ctx, *id),
            "UniformRandomTimer" => random_timer::compile(ctx, *id, Shape::Uniform),
            "GaussianRandomTimer" => random_timer::compile(ctx, *id, Shape::Gaussian),
            _ => continue,
        });
    }
    found
}

/// Post-processors; those that cannot run are left out.
pub(crate) fn extractors(_ctx: &mut Context<'_>, _elements: &[ElementId]) -> Vec<Extractor> {
    Vec::new()
}

/// Assertions; those that cannot run are left out.
pub(crate) fn assertions(_ctx: &mut Context<'_>, _elements: &[ElementId]) -> Vec<Assertion> {
    Vec::new()
}

/// Finds out what in a single element lowers its level, or limits it.
pub(crate) fn review(ctx: &mut Context<'_>, id: ElementId) {
    match scope::class(ctx.doc, id) {
        "TestPlan" => test_plan::review(ctx, id),
        "ResultCollector" | "kg.apc.jmeter.vizualizers.CorrectedResultCollector" => {
            result_collector::review(ctx, id);
        }
        "HTTPSamplerProxy" | "ConfigTestElement" => http::review(ctx, id),
        _ => {}
    }
    let (props, name) = (ctx.props(id), &ctx.doc.element(id).name);
    let mut text = TextCompiler::default();
    Text::compile(name, &mut text);
    read_texts(props, &mut text);
    std::mem::swap(&mut ctx.text.problems, &mut text.problems);
    ctx.settle(id);
}

/// Compiles all texts of an element, for what is found in them.
fn read_texts(props: &Props, text: &mut TextCompiler) {
    for prop in props.iter() {
        read_value(&prop.value, text);
    }
}

fn read_value(value: &Value, text: &mut TextCompiler) {
    match value {
        Value::Text(_, source) => drop(Text::compile(source, text)),
        Value::Object(object) => read_texts(&object.props, text),
        Value::List(members) | Value::Map(members) => {
            members.iter().for_each(|member| read_value(&member.value, text));
        }
        Value::Other(_) => {}
    }
}
