//! Test module `world`: a user, and everything else that an evaluation environment refers to.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use lang::xml::escaped;
use subject::compile::{Compiled, Settings, compile};
use subject::env::{Env, Scratch, UserIdentity};
use subject::function::Shared;
use subject::http::{Http, Request, Unsendable};
use subject::plan::{Plan, SamplerKind};
use subject::result::SampleResult;
use subject::state::{Memory, RunState};
use subject::template::Template;
use subject::vars::{Names, Vars};

/// One user, with its plan and its run.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) run: Arc<RunState>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) vars: Vars,
    pub(crate) memory: subject::function::Memory,
    pub(crate) notes: Memory,
    pub(crate) core: Scratch,
    pub(crate) group: &'static str,
    pub(crate) sampler: &'static str,
    pub(crate) user: u32,
    pub(crate) iteration: u32,
    pub(crate) now_ms: i64,
}

impl World {
    pub(crate) fn new(compiled: Compiled) -> Self {
        Self::in_folder(compiled, Path::new(""))
    }

    pub(crate) fn in_folder(compiled: Compiled, folder: &Path) -> Self {
        let plan = compiled.plan.expect("a plan");
        let run = Arc::new(RunState::new(&plan, folder, subject::state::Shard::default(), &[]));
        let mut world = Self {
            plan,
            run,
            shared: Arc::new(Shared::default()),
            vars: Vars::default(),
            memory: subject::function::Memory::default(),
            notes: Memory::default(),
            core: Scratch::new(1),
            group: "Users",
            sampler: "",
            user: 0,
            iteration: 1,
            now_ms: 1_700_000_000_000,
        };
        let initial = world.with(Plan::initial_variables);
        world.vars = Vars::new(Arc::new(initial));
        world
    }

    /// Returns the world in which JMeter recorded the tables of expressions: the seventh user of a group in its
    /// first iteration. `names` are the variable names of strings that were compiled without a plan.
    pub(crate) fn named(names: Names, shared: Shared) -> Self {
        let mut world = Self::new(plan_of("", ""));
        world.plan.names = names;
        world.plan.file = "plan.jmx".into();
        world.run = Arc::default();
        world.shared = Arc::new(shared);
        world.vars = Vars::default();
        (world.group, world.sampler, world.user) = ("Group", "GET", 6);
        world.now_ms = 1_732_175_999_007;
        world
    }

    /// Returns a world with one sampler, whose strings contain no expressions.
    pub(crate) fn literal(sampler: &str) -> Self {
        Self::new(plan_of(&sampler.replace('$', "&#36;"), ""))
    }

    pub(crate) fn with<T>(&mut self, work: impl FnOnce(&Plan, &mut Env<'_>) -> T) -> T {
        let who = UserIdentity {
            plan_file: &self.plan.file,
            prefix: "",
            group: self.group,
            tail: "",
            group_number: 1,
            user: self.user,
            iteration: self.iteration,
            sampler: self.sampler,
        };
        let mut env = Env {
            names: &self.plan.names,
            vars: &mut self.vars,
            who,
            memory: &mut self.memory,
            notes: &mut self.notes,
            run: &self.run,
            shared: &self.shared,
            core: &mut self.core,
            clock: &self.now_ms,
        };
        work(&self.plan, &mut env)
    }

    pub(crate) fn http(&self, sampler: usize) -> &Http {
        match &self.plan.samplers[sampler].kind {
            SamplerKind::Http(http) => http,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn render(&mut self, sampler: usize, out: &mut Request) -> Result<(), Unsendable> {
        self.with(|plan, env| match &plan.samplers[sampler].kind {
            SamplerKind::Http(http) => http.render(env, out),
            other => panic!("{other:?}"),
        })
    }

    /// Runs a sampler that needs no network; returns its result and its duration.
    pub(crate) fn sample(&mut self, sampler: usize) -> (SampleResult, u64) {
        let mut result = SampleResult::default();
        result.clear();
        let sleep = self.with(|plan, env| match &plan.samplers[sampler].kind {
            SamplerKind::Debug(debug) => {
                debug.run(env, &mut result);
                0
            }
            SamplerKind::Java(java) => java.run(env, &mut result),
            SamplerKind::Dummy(dummy) => dummy.run(env, &mut result),
            other => panic!("{other:?}"),
        });
        (result, sleep)
    }

    pub(crate) fn eval(&mut self, text: &Template) -> String {
        let mut out = String::new();
        self.with(|_, env| text.eval(env, &mut out));
        out
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.set_named(&self.plan.names, name, value);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.vars.get_named(&self.plan.names, name)
    }
}

/// Compiles a plan with one thread group: `body` is its content, and `beside` contains elements on the level of the
/// group.
pub(crate) fn plan_of(body: &str, beside: &str) -> Compiled {
    compile_source(&source_of(body, beside), &Settings::default())
}

pub(crate) fn compile_source(source: &str, settings: &Settings) -> Compiled {
    let (doc, diags) = jmx::parse("folder/a.jmx", source.as_bytes().to_vec()).expect("a plan");
    assert_eq!(diags, [], "the document of the test is sound");
    compile(&doc, settings)
}

pub(crate) fn source_of(body: &str, beside: &str) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Plan" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree>{body}</hashTree>
{beside}</hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// Escapes a string as in the tables that JMeter recorded.
pub(crate) fn column(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

/// Decodes a column of a recorded table to a string.
pub(crate) fn text_of(column: &str) -> String {
    let mut out = String::new();
    let mut chars = column.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            _ => c,
        });
    }
    out
}

/// Returns an element with string properties, further properties as XML in `more`, and the elements `inner`.
pub(crate) fn element(
    class: &str,
    gui: &str,
    name: &str,
    props: &[(&str, &str)],
    more: &str,
    inner: &str,
) -> String {
    let mut own = String::new();
    for (name, value) in props {
        let _ = write!(own, r#"<stringProp name="{name}">{}</stringProp>"#, escaped(value));
    }
    format!(
        r#"<{class} guiclass="{gui}" testclass="{class}" testname="{name}" enabled="true">{own}{more}</{class}><hashTree>{inner}</hashTree>"#
    )
}

pub(crate) fn http_sampler(props: &[(&str, &str)], more: &str, inner: &str) -> String {
    let method = if props.iter().any(|(name, _)| *name == "HTTPSampler.method") {
        String::new()
    } else {
        r#"<stringProp name="HTTPSampler.method">GET</stringProp>"#.to_string()
    };
    let more =
        format!(r#"{method}<boolProp name="HTTPSampler.use_keepalive">true</boolProp>{more}"#);
    element("HTTPSamplerProxy", "HttpTestSampleGui", "Request", props, &more, inner)
}
