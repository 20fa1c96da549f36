//! JMeter's elements, one file each: properties, compiled form, the function `compile`, and the element's work
//! during a run.
//!
//! This file only maps each element class to its file.

mod arrivals;
pub(crate) mod auth_manager;
mod backend_listener;
pub(crate) mod cache_manager;
mod concurrency;
mod constant_timer;
pub(crate) mod cookie_manager;
pub(crate) mod counter;
pub(crate) mod csv_data_set;
pub(crate) mod debug_sampler;
pub(crate) mod dns_cache_manager;
mod dummy_sampler;
mod flow_control_action;
mod foreach_controller;
mod http_raw;
mod if_controller;
mod interleave_control;
pub(crate) mod java_sampler;
pub(crate) mod keystore_config;
pub(crate) mod listener;
mod loop_controller;
mod open_model;
mod os_process;
mod pace;
pub(crate) mod parallel_controller;
mod parameterized_controller;
pub(crate) mod perfmon;
pub(crate) mod precise_throughput_timer;
mod profile;
mod random_timer;
pub(crate) mod random_variable;
mod redis_data_set;
mod response_saver;
pub(crate) mod result_action;
pub(crate) mod result_collector;
mod sse_sampler;
mod synchronizing_timer;
mod tcp_sampler;
pub(crate) mod test_plan;
pub(crate) mod thread_group;
pub(crate) mod throughput_controller;
pub(crate) mod throughput_timer;
mod timer;
mod udp_sampler;
pub(crate) mod user_defined_variables;
mod user_parameters;
pub(crate) mod variable_throughput_timer;
pub(crate) mod variables_from_csv;
mod weighted_switch_controller;
mod while_controller;

use jmx::{ElementId, Props, Value};

pub use arrivals::{Arrivals, Bounds};
pub use counter::CounterConfig;
pub use csv_data_set::CsvDataSet;
pub use debug_sampler::{DebugSampler, USER_TOKEN};
pub use dummy_sampler::DummySampler;
pub use http_raw::{HttpRaw, RawCall, take_apart};
pub use java_sampler::JavaSampler;
pub use keystore_config::{KeySelection, KeystoreConfig, selection as key_selection};
pub use os_process::{Command, OsProcess};
pub use pace::{Pace, RateScope, Unknown};
pub use parameterized_controller::Parameters;
pub use perfmon::PerfMon;
pub use precise_throughput_timer::PreciseTimer;
pub use profile::Span;
pub use random_variable::RandomVariable;
pub use redis_data_set::{FetchCommand, RedisCall, RedisDataSet};
pub use response_saver::{ResponseSaver, TRANSACTION};
pub use sse_sampler::{SseCall, SseRequest, SseSampler};
pub use synchronizing_timer::SyncTimer;
pub use tcp_sampler::{Client, TcpCall, TcpSampler};
pub use throughput_controller::ExecutionCounts;
pub use throughput_timer::ThroughputTimer;
pub use timer::{Shape, Timer};
pub use udp_sampler::{Encoder, UdpCall, UdpSampler};
pub use user_parameters::UserParameters;
pub use variable_throughput_timer::ShapingTimer;

use crate::assertion::{self, Assertion};
use crate::compile::{Context, scope};
use crate::extract::{self, Extractor};
use crate::gateway;
use crate::http;
use crate::java_backed::{Job, Role};
use crate::plan::{
    Before, ControllerKind, Managers, Needs, OnIteration, Plan, SamplerKind, Transaction,
};
use crate::script::scripted;
use crate::support::Level;
use crate::template::{Template, TemplateCompiler};
use crate::websocket::{self, Around};

/// Compiles a controller; `None` if it cannot run. `count` is the number of Throughput Controllers compiled before
/// it.
pub(crate) fn controller(
    ctx: &mut Context<'_>,
    id: ElementId,
    count: u32,
) -> Option<ControllerKind> {
    Some(match scope::class(ctx.doc, id) {
        "LoopController" => loop_controller::compile(ctx, id),
        "GenericController"
        | "RecordingController"
        | "ModuleController"
        | "IncludeController"
        | "TestFragmentController" => ControllerKind::Simple,
        "IfController" => if_controller::compile(ctx, id),
        "WhileController" => while_controller::compile(ctx, id),
        "ForeachController" => foreach_controller::compile(ctx, id),
        "OnceOnlyController" => ControllerKind::OnceOnly,
        "InterleaveControl" => interleave_control::compile(ctx, id, false),
        "RandomController" => interleave_control::compile(ctx, id, true),
        "RandomOrderController" => ControllerKind::RandomOrder,
        "SwitchController" => ControllerKind::Switch(ctx.prop(id, "SwitchController.value")),
        "kg.apc.jmeter.control.ParameterizedController" => {
            parameterized_controller::compile(ctx, id)
        }
        "com.blazemeter.jmeter.control.WeightedSwitchController" => {
            weighted_switch_controller::compile(ctx, id)
        }
        "RunTime" => ControllerKind::Runtime(ctx.prop(id, "RunTime.seconds")),
        "CriticalSectionController" => {
            ControllerKind::Critical(ctx.prop(id, "CriticalSectionController.lockName"))
        }
        "ThroughputController" => throughput_controller::compile(ctx, id, count),
        "TransactionController" => ControllerKind::Transaction(Transaction {
            parent: ctx.flag(id, "TransactionController.parent", false),
            include_timers: ctx.flag(id, "TransactionController.includeTimers", true),
            listeners: Vec::new(),
            checks: Vec::new(),
            needs: Needs::default(),
            path: ctx.doc.path(id),
        }),
        _ => return None,
    })
}

/// Compiles a sampler with the config elements in its scope, nearest first; `None` if it cannot run.
pub(crate) fn sampler(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
    managers: Managers,
    around: Around,
) -> Option<SamplerKind> {
    Some(match scope::class(ctx.doc, id) {
        "HTTPSamplerProxy" => {
            SamplerKind::Http(Box::new(http::compile(ctx, id, configs, managers)))
        }
        "DebugSampler" => SamplerKind::Debug(debug_sampler::compile(ctx, id)),
        "TestAction" => match websocket::hold_of(ctx, id, around) {
            Some(hold) => SamplerKind::WebSocket(Box::new(hold)),
            None => SamplerKind::Action(flow_control_action::compile(ctx, id)),
        },
        "TCPSampler" => SamplerKind::Tcp(Box::new(tcp_sampler::compile(ctx, id, configs)?)),
        "SystemSampler" => SamplerKind::Process(Box::new(os_process::compile(ctx, id)?)),
        "JavaSampler" => SamplerKind::Java(java_sampler::compile(ctx, id, configs)?),
        "JSR223Sampler" | "BeanShellSampler" => {
            SamplerKind::Script(scripted(ctx, id, &mut Needs::empty())?)
        }
        "kg.apc.jmeter.samplers.DummySampler" => {
            SamplerKind::Dummy(Box::new(dummy_sampler::compile(ctx, id)))
        }
        "kg.apc.jmeter.samplers.HTTPRawSampler" => {
            SamplerKind::HttpRaw(Box::new(http_raw::compile(ctx, id)))
        }
        "kg.apc.jmeter.samplers.UDPSampler" => {
            SamplerKind::Udp(Box::new(udp_sampler::compile(ctx, id)?))
        }
        "com.jmeter.sse.SSESampler" => SamplerKind::Sse(Box::new(sse_sampler::compile(ctx, id))),
        _ => SamplerKind::WebSocket(Box::new(websocket::compile(ctx, id, configs, around)?)),
    })
}

/// Returns the parts of the response that the sampler itself reads.
pub(crate) fn sampler_needs(kind: &SamplerKind) -> Needs {
    match kind {
        SamplerKind::Http(http) if http.resources.is_some() => {
            // The embedded resources of a page depend on the browser that the request's `User-Agent` header names.
            let agent =
                if http.sets_user_agent() { Needs::REQUEST_HEADERS } else { Needs::empty() };
            Needs::PAGE | agent
        }
        SamplerKind::Script(_) => Needs::LABEL,
        _ => Needs::empty(),
    }
}

/// Compiles the label of a sampler. A missing name, like any missing property, is inherited from the nearest config
/// element with defaults.
pub(crate) fn sampler_name(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
) -> Template {
    let class = scope::class(ctx.doc, id);
    let applies = |config: ElementId| match class {
        "HTTPSamplerProxy" => http::is_defaults(ctx, config),
        _ => {
            websocket::takes_defaults(class) && scope::class(ctx.doc, config) == "ConfigTestElement"
        }
    };
    let mut named = id;
    if ctx.doc.element(id).name.is_empty() {
        let mut defaults = configs.iter().copied().filter(|config| applies(*config));
        named = defaults.find(|id| !ctx.doc.element(*id).name.is_empty()).unwrap_or(id);
    }
    let name = &ctx.doc.element(named).name;
    ctx.text(named, name)
}

/// Compiles a timer; `None` if it cannot run. `count` is the number of throughput timers compiled before it.
pub(crate) fn timer(ctx: &mut Context<'_>, id: ElementId, count: u32) -> Option<Timer> {
    let around = ctx.text.enter(id);
    let made = timer_of(ctx, id, count);
    ctx.text.leave(around);
    made
}

fn timer_of(ctx: &mut Context<'_>, id: ElementId, count: u32) -> Option<Timer> {
    Some(match scope::class(ctx.doc, id) {
        "ConstantTimer" => constant_timer::compile(ctx, id),
        "UniformRandomTimer" => random_timer::compile(ctx, id, Shape::Uniform),
        "GaussianRandomTimer" => random_timer::compile(ctx, id, Shape::Gaussian),
        "SyncTimer" => Timer::Sync(synchronizing_timer::compile(ctx, id)),
        "PreciseThroughputTimer" => Timer::Precise(precise_throughput_timer::compile(ctx, id)),
        "PoissonRandomTimer" => random_timer::compile(ctx, id, Shape::Poisson),
        "JSR223Timer" | "BeanShellTimer" => Timer::Script(scripted(ctx, id, &mut Needs::empty())?),
        "ConstantThroughputTimer" => Timer::Throughput(throughput_timer::compile(ctx, id, count)),
        SHAPING => Timer::Shaping(variable_throughput_timer::compile(ctx, id, count)),
        _ => return None,
    })
}

/// Java class of jp@gc's Throughput Shaping Timer.
const SHAPING: &str = "kg.apc.jmeter.timers.VariableThroughputTimer";

/// Compiles an element that acts at the start of an iteration into the plan's tables, and returns its event; `None` for
/// any other element.
pub(crate) fn on_iteration(
    ctx: &mut Context<'_>,
    id: ElementId,
    plan: &mut Plan,
) -> Option<OnIteration> {
    fn add<T>(table: &mut Vec<T>, entry: T) -> u32 {
        table.push(entry);
        (table.len() - 1) as u32
    }
    Some(match scope::class(ctx.doc, id) {
        "CSVDataSet" => OnIteration::Csv(add(&mut plan.csv, csv_data_set::compile(ctx, id))),
        "kg.apc.jmeter.config.redis.RedisDataSet" => {
            OnIteration::Redis(add(&mut plan.redis, redis_data_set::compile(ctx, id)))
        }
        "CounterConfig" => OnIteration::Counter(add(&mut plan.counters, counter::compile(ctx, id))),
        "RandomVariableConfig" => {
            OnIteration::Random(add(&mut plan.randoms, random_variable::compile(ctx, id)))
        }
        "UserParameters" => {
            let entry = user_parameters::compile(ctx, id);
            OnIteration::UserParameters(add(&mut plan.user_parameters, entry))
        }
        "JSR223PreProcessor" | "BeanShellPreProcessor" => {
            let script = scripted(ctx, id, &mut Needs::empty())?;
            OnIteration::Script(add(&mut plan.scripts, script))
        }
        _ => return None,
    })
}

/// Returns the work that an element with this iteration event does before each sampler; `None` if the element acts only
/// at the start of an iteration.
pub(crate) fn before_sampler(event: OnIteration) -> Option<Before> {
    match event {
        OnIteration::UserParameters(at) => Some(Before::UserParameters(at)),
        OnIteration::Script(at) => Some(Before::Script(at)),
        _ => None,
    }
}

/// Compiles the post-processors of a sampler, without post-processors that cannot run.
pub(crate) fn extractors(
    ctx: &mut Context<'_>,
    sampler: ElementId,
    elements: &[ElementId],
    needs: &mut Needs,
) -> Vec<Extractor> {
    let mut found = Vec::new();
    for id in elements {
        if let Some(script) = scripted(ctx, *id, needs) {
            found.push(Extractor::Script(script));
            continue;
        }
        let mark = ctx.mark();
        if is_native(ctx, *id) && !ctx.belongs_to_java(*id) {
            let element = ctx.doc.element(*id);
            let mut made = ctx.text.of_element(*id, |text| extract::compile(element, text));
            if let Some(Ok((Extractor::Debug(debug), _))) = &mut made {
                debug.show_sampler(&ctx.doc.element(sampler).props, &mut ctx.text);
                // Problems in the sampler's templates are reported for the sampler.
                ctx.settle(sampler);
            }
            if let Some(made) = settled(ctx, *id, made, Extractor::complaint, needs) {
                found.extend(ctx.evaluate(mark).map(Extractor::Job));
                found.push(made);
                continue;
            }
        }
        found.extend(java_backed(ctx, *id, Role::After, mark, needs).map(Extractor::Job));
    }
    found
}

/// Returns the Java job that replaces a processor that cannot run natively. Templates compiled since `mark` are
/// discarded, because the Java class evaluates them itself.
fn java_backed(
    ctx: &mut Context<'_>,
    id: ElementId,
    role: Role,
    mark: u32,
    needs: &mut Needs,
) -> Option<Job> {
    ctx.forget(mark);
    let java_backed =
        if is_native(ctx, id) { ctx.host_as_is(id, role) } else { ctx.host(id, role) }?;
    *needs |= ctx.java_backed_needs(java_backed);
    Some(Job::Run(java_backed))
}

/// Compiles the assertions that can run.
pub(crate) fn assertions(
    ctx: &mut Context<'_>,
    elements: &[ElementId],
    needs: &mut Needs,
) -> Vec<Assertion> {
    let mut found = Vec::new();
    for id in elements {
        if let Some(script) = scripted(ctx, *id, needs) {
            found.push(Assertion::script(script));
            continue;
        }
        let mark = ctx.mark();
        if is_native(ctx, *id) {
            let element = ctx.doc.element(*id);
            let made = ctx.text.of_element(*id, |text| assertion::compile(element, text));
            if let Some(made) = settled(ctx, *id, made, Assertion::complaint, needs) {
                found.extend(ctx.evaluate(mark).map(Assertion::java_backed));
                found.push(made);
                continue;
            }
        }
        found.extend(
            java_backed(ctx, *id, Role::Assertion, mark, needs).map(Assertion::java_backed),
        );
    }
    found
}

/// True if the support table lists the element's class as native. A plug-in class with the same simple name does
/// not count.
fn is_native(ctx: &Context<'_>, id: ElementId) -> bool {
    crate::support::find(scope::class(ctx.doc, id))
        .is_some_and(|class| class.level == Level::Native)
}

/// Reports the problems of a compiled processor, and adds the parts of results that it reads to `needs`; returns the
/// processor, or `None` if it cannot run.
fn settled<T>(
    ctx: &mut Context<'_>,
    id: ElementId,
    made: Option<Result<(T, Needs), extract::Problem>>,
    complaint: fn(&T) -> Option<String>,
    needs: &mut Needs,
) -> Option<T> {
    ctx.settle(id);
    match made? {
        Ok((made, read)) => {
            *needs |= read;
            if let Some(complaint) = complaint(&made) {
                ctx.warn(id, "cannot-work", complaint, "it behaves in the run as in JMeter");
            }
            Some(made)
        }
        Err(problem) => {
            let hosts = problem.needs_jvm || ctx.settings.java_backing;
            let level = if hosts { Level::Jvm } else { Level::Unsupported };
            ctx.remark(id, level, format!("{}; {}", problem.message, problem.help));
            None
        }
    }
}

/// Finds problems of a single element that lower its support level or limit its function.
pub(crate) fn review(ctx: &mut Context<'_>, id: ElementId) {
    match scope::class(ctx.doc, id) {
        "TestPlan" => test_plan::review(ctx, id),
        "ResultCollector" | "kg.apc.jmeter.vizualizers.CorrectedResultCollector" => {
            result_collector::review(ctx, id);
        }
        "BackendListener" => backend_listener::review(ctx, id),
        perfmon::CLASS => perfmon::review(ctx, id),
        "Summariser" => listener::review_summariser(ctx, id),
        "HTTPSamplerProxy" => http::review(ctx, id),
        "ConfigTestElement" => {
            http::review(ctx, id);
            websocket::review(ctx, id);
            gateway::review(ctx, id);
        }
        "TestAction" => websocket::review_action(ctx, id),
        "IfController" => if_controller::review(ctx, id),
        "AuthManager" => auth_manager::review(ctx, id),
        _ => {}
    }
    gateway::review_script(ctx, id);
    // Java compiles the templates of elements that it runs, and it may have additional functions from plug-ins.
    if ctx.is_java_backed(id) {
        return;
    }
    let (props, name) = (ctx.props(id), &ctx.doc.element(id).name);
    let mut text = TemplateCompiler::of(ctx.settings.java_backing, ctx.text.leaves_scripts);
    Template::compile(name, &mut text);
    read_texts(props, &mut text);
    std::mem::swap(&mut ctx.text.problems, &mut text.problems);
    ctx.settle(id);
}

/// Compiles all templates of an element and drops them, only to find their problems.
fn read_texts(props: &Props, text: &mut TemplateCompiler) {
    for prop in props.iter() {
        read_value(&prop.value, text);
    }
}

fn read_value(value: &Value, text: &mut TemplateCompiler) {
    match value {
        Value::Text(_, source) => drop(Template::compile(source, text)),
        Value::Object(object) => read_texts(&object.props, text),
        Value::List(members) | Value::Map(members) => {
            for member in members {
                read_value(&member.value, text);
            }
        }
        Value::Other(_) => {}
    }
}
