//! Applies the changes of a Java reply: variables, properties, cookies, the request, and log lines.
//!
//! Nothing here can fail: a change that does not fit the plan, such as a slot that does not exist, is ignored.

use std::sync::Arc;

use plan::java_backed::TextId;
use plan::plan::{SamplerId, SamplerKind};
use plan::vars::VarId;

use super::Reply;
use super::message::{self, LogLine};
use super::reply::{Changes, Name, Out};
use super::request::Changed;
use crate::context::Context;
use crate::ids::UserId;
use crate::reports::Report;
use crate::reports::line::{Line, LogLevel};
use crate::shared::RunShared;
use crate::users::SamplerChange;

/// Applies the changes of a reply that concern all users: properties and the log.
pub(super) fn apply_everywhere(cx: &Context<'_>, reply: &Reply<'_>) {
    set_properties(cx.run, &reply.changes);
    log_lines(cx, &reply.log);
}

pub(super) fn apply_variables(cx: &mut Context<'_>, index: UserId, changes: &Changes<'_>) {
    let names = &cx.plan.names;
    let vars = &mut cx.users.of(index).vars;
    for (name, value) in &changes.variables {
        match (name, value) {
            (Name::Slot(slot), _) if *slot as usize >= names.len() => {}
            (Name::Slot(slot), Some(value)) => vars.set(VarId(*slot), value),
            (Name::Slot(slot), None) => vars.remove(VarId(*slot)),
            (Name::Named(name), Some(value)) => vars.set_named(names, name, value),
            (Name::Named(name), None) => vars.remove_named(names, name),
        }
    }
}

pub(super) fn apply_cookies(cx: &mut Context<'_>, index: UserId, id: SamplerId, reply: &Reply<'_>) {
    let Some(cookies) = &reply.cookies else { return };
    let Some(manager) = cookie_manager(&cx.plan.samplers[id.0 as usize].kind) else {
        return;
    };
    let index = cx.jar_around(index, manager);
    let Some(at) = cx.jar(index, manager) else { return };
    let jar = cx.users[index].extra.as_mut().and_then(|extra| extra.jars[at].as_mut());
    let Some(jar) = jar else { return };
    jar.clear();
    for cookie in cookies {
        jar.add_beside(cookie.clone());
    }
}

/// Replaces the sampler of the current sample by the version that a script has changed, or restores the plan's sampler.
pub(super) fn apply_sampler(cx: &mut Context<'_>, index: UserId, id: SamplerId, reply: &Reply<'_>) {
    let plan = cx.plan;
    let Some(changed) = &reply.sampler else { return };
    let kind = &plan.samplers[id.0 as usize].kind;
    let (made, name, lasting) = match (changed, kind) {
        (Changed::Planned, _) => (None, None, false),
        (Changed::Http(given), SamplerKind::Http(http)) => {
            let made = SamplerKind::Http(Box::new(http.given(given.clone())));
            (Some(made), given.name.clone(), given.lasting)
        }
        (Changed::Http(_), _) => return,
        (Changed::Other(given), _) => {
            (plan::compile::given(plan, id, given), given.name.clone(), given.lasting)
        }
    };
    let user = &mut cx.users[index];
    user.extra().given = SamplerChange { sampler: made.map(Arc::new), label: name };
    user.java().lasting |= lasting;
}

/// Stores the values of evaluated expressions where their readers find them.
pub(super) fn apply_texts(cx: &mut Context<'_>, index: UserId, first: u32, reply: &Reply<'_>) {
    let Out::Texts(texts) = &reply.out else { return };
    let values = cx.users.of(index).notes.java_mut();
    for (id, text) in (first..).zip(texts) {
        values.set(TextId(id), (*text).to_owned());
    }
}

pub(super) fn log_lines(cx: &Context<'_>, lines: &[LogLine<'_>]) {
    for text in lines.iter().map(to_line) {
        let _ = cx.reports.send(Report::Log(text));
    }
}

/// Returns the index of a sampler's cookie manager in the plan's table.
pub(super) fn cookie_manager(kind: &SamplerKind) -> Option<u32> {
    match kind {
        SamplerKind::Http(http) => http.cookies,
        SamplerKind::WebSocket(socket) => socket.cookies,
        _ => None,
    }
}

/// Copies properties that scripts have changed into the run's properties.
pub(super) fn set_properties(run: &RunShared, changes: &Changes<'_>) {
    for change in &changes.properties {
        run.shared.follow_java(change.version, change.name, change.value);
    }
}

/// Converts a log line of Java into a line of the run's events.
pub(super) fn to_line(line: &LogLine<'_>) -> Line {
    let level = match line.level {
        message::LogLevel::Trace => LogLevel::Trace,
        message::LogLevel::Debug => LogLevel::Debug,
        message::LogLevel::Info => LogLevel::Info,
        message::LogLevel::Warn => LogLevel::Warn,
        message::LogLevel::Error => LogLevel::Error,
    };
    let (logger, at_ms) = (Some(line.logger.to_owned()), Some(line.at_ms));
    Line::Log { level, logger, at_ms, text: line.text.to_owned() }
}
