//! Expressions that Java evaluates before any user starts: in the plan's variables, in thread groups and files, and
//! in state that users share.
//!
//! Each evaluation is a blocking call on behalf of the test itself ([`USER`]). If an expression cannot be
//! evaluated, its value is empty, and a warning gives the reason.

use plan::env::Env;
use plan::java_backed::TextId;
use plan::vars::VarId;

use super::apply::to_line;
use super::message::{JobHead, Kind, NAMED, NO_GROUP};
use super::reply::Out;
use super::session::{self, RunFacts};
use super::writer::Writer;
use super::{Act, Reply};
use crate::offload::Offload;
use crate::reports::line::Line;

/// Number in messages that stands for the test itself instead of a user.
const USER: u64 = 0;

/// Evaluates expressions in Java before the run starts.
#[derive(Debug)]
pub(crate) struct EarlyEvaluation<'a> {
    offload: &'a dyn Offload,
    /// Version of the properties that Java has received last.
    properties: u64,
    /// Warnings for the person who runs the test.
    pub(crate) complaints: Vec<Line>,
}

impl<'a> EarlyEvaluation<'a> {
    /// Sends Java its part of the plan. Returns `None` if no expression needs Java or if there is no JVM.
    pub(crate) fn begin(
        plan: &plan::plan::Plan,
        offload: Option<&'a dyn Offload>,
        facts: RunFacts<'_>,
    ) -> Option<Self> {
        let java_backed = &plan.java_backed;
        let blocks = java_backed.variables.iter().any(|range| !range.is_empty());
        if !blocks && java_backed.at_start.is_empty() {
            return None;
        }
        let offload = offload?;
        let mut complaints = Vec::new();
        // Java's findings about the plan are reported when the run starts.
        if let Err(failed) = session::set_up(offload, plan, facts, &[]) {
            let text = format!("the JVM cannot read its part of the plan: {failed}");
            complaints.push(text.into());
        }
        Some(Self { offload, properties: 0, complaints })
    }

    /// Sends expressions to Java for evaluation, and stores their values in the environment. `blank` is true if there
    /// are no variables yet, not even slots for them.
    pub(crate) fn evaluate(&mut self, texts: &[TextId], env: &mut Env<'_>, blank: bool) {
        if texts.is_empty() {
            return;
        }
        let message = self.message(texts, env, blank);
        let reply = self.offload.call(message);
        let read = reply.as_deref().map_err(Clone::clone).and_then(|message| {
            let reply = Reply::read(message, Act::Evaluate)?;
            reply.check(texts.len() as u32)?;
            Ok(reply)
        });
        let reply = match read {
            Ok(reply) => reply,
            Err(failed) => {
                return self.complaints.push(format!("JVM, before the run: {failed}").into());
            }
        };
        for change in &reply.changes.properties {
            env.shared.follow_java(change.version, change.name, change.value);
        }
        self.complaints.extend(reply.log.iter().map(to_line));
        if let Out::Texts(values) = &reply.out {
            for (id, value) in texts.iter().zip(values) {
                env.notes.java_mut().set(*id, (*value).to_owned());
            }
        }
    }

    fn message(&mut self, texts: &[TextId], env: &Env<'_>, blank: bool) -> Vec<u8> {
        let mut message = Vec::new();
        let mut out = Writer(&mut message);
        out.byte(Kind::Job as u8);
        JobHead {
            user: USER,
            group: if blank { NO_GROUP } else { 0 },
            number: 0,
            iteration: 0,
            flags: 0,
            thread: "StandardJMeterEngine",
            label: "",
            now_ms: env.now_ms(),
            group_active: 0,
            all_active: 0,
            started: 0,
            finished: 0,
        }
        .write(&mut out);
        let mut list = out.begin();
        for slot in 0..env.names.len() as u32 {
            if let Some(value) = env.vars.get(VarId(slot)) {
                list.count += 1;
                out.int(slot);
                out.text(value);
            }
        }
        for (name, value) in env.vars.unslotted() {
            list.count += 1;
            out.int(NAMED);
            out.text(name);
            out.text(value);
        }
        out.end(list);
        (self.properties, _) = out.properties(env.shared, self.properties);
        out.int(0);
        // The message has no results, samplers or cookies.
        for _ in 0..5 {
            out.flag(false);
        }
        out.byte(Act::Evaluate as u8);
        out.ids(texts.iter().map(|id| id.0));
        message
    }
}
