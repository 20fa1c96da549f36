//! What a reply changes: variables, properties, cookies, the request; and what it has for the log.
//!
//! Nothing here can fail: what does not fit the plan (a slot that there is not) is passed over.

use std::sync::Arc;

use plan::hosted::TextId;
use plan::http::Http;
use plan::plan::{SamplerId, SamplerKind};
use plan::vars::VarId;

use super::Reply;
use super::reply::{Changes, Line, Name, Out};
use crate::core::Core;
use crate::run::{Report, RunShared};
use crate::wheel::Index;

impl Core<'_> {
    /// What counts for all users: properties and the log.
    pub(super) fn apply_everywhere(&mut self, reply: &Reply<'_>) {
        set_properties(self.run, &reply.changes);
        self.log_lines(&reply.log);
    }

    pub(super) fn apply_variables(&mut self, index: Index, changes: &Changes<'_>) {
        let names = &self.plan.names;
        let vars = &mut self.users.of(index).vars;
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

    pub(super) fn apply_cookies(&mut self, index: Index, id: SamplerId, reply: &Reply<'_>) {
        let Some(cookies) = &reply.cookies else { return };
        let SamplerKind::Http(http) = &self.plan.samplers[id.0 as usize].kind else { return };
        let Some(manager) = http.cookies else { return };
        let index = self.jar_around(index, manager);
        let Some(at) = self.jar(index, manager) else { return };
        let jar = self.users[index].extra.as_mut().and_then(|extra| extra.jars[at].as_mut());
        let Some(jar) = jar else { return };
        jar.clear();
        for cookie in cookies {
            jar.add(cookie.clone());
        }
    }

    /// The request of this sample is another one now.
    pub(super) fn apply_request(&mut self, index: Index, id: SamplerId, reply: &Reply<'_>) {
        let Some(given) = &reply.request else { return };
        let SamplerKind::Http(http) = &self.plan.samplers[id.0 as usize].kind else { return };
        let java = self.users[index].java();
        java.request = Some(Arc::new(http.given(given.clone())));
        java.label.clone_from(&given.name);
        java.lasting |= given.lasting;
    }

    /// The request of the sample under way, if scripts have changed it.
    pub(crate) fn own_request(&self, index: Index) -> Option<Arc<Http>> {
        let user = &self.users[self.users.owner(index)];
        user.extra.as_ref()?.java.as_ref()?.request.clone()
    }

    /// Keeps what texts were evaluated to, for whoever reads them next.
    pub(super) fn apply_texts(&mut self, index: Index, first: u32, reply: &Reply<'_>) {
        let Out::Texts(texts) = &reply.out else { return };
        let values = self.users.of(index).notes.java_mut();
        for (id, text) in (first..).zip(texts) {
            values.set(TextId(id), (*text).to_owned());
        }
    }

    pub(super) fn log_lines(&self, lines: &[Line<'_>]) {
        for text in lines.iter().map(told) {
            let _ = self.reports.send(Report::Log(text));
        }
    }
}

/// Takes over the properties that scripts have changed.
pub(super) fn set_properties(run: &RunShared, changes: &Changes<'_>) {
    for (name, value) in &changes.properties {
        run.shared.follow_java(name, *value);
    }
}

/// A line of Java's as the run's events have it.
pub(super) fn told(line: &Line<'_>) -> String {
    let level = match line.level {
        0 => "Trace",
        1 => "Debug",
        2 => "Info",
        3 => "Warn",
        _ => "Error",
    };
    format!("{level}: {}", plan::function::line_of(line.logger, Some(line.at_ms), line.text))
}
