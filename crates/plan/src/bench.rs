//! A user for unit tests, with everything that evaluating needs, and the escapes of the tables that JMeter recorded.

use crate::env::{Env, Scratch, Who};
use crate::function::{Memory, Shared};
use crate::state;
use crate::text::Text;
use crate::vars::{Names, Vars};

/// The seventh user of a group, in its first iteration.
pub(crate) struct Bench {
    pub(crate) names: Names,
    pub(crate) vars: Vars,
    pub(crate) memory: Memory,
    pub(crate) shared: Shared,
    pub(crate) core: Scratch,
    notes: state::Memory,
    run: state::RunState,
}

impl Bench {
    pub(crate) fn new(names: Names, shared: Shared) -> Self {
        Self {
            names,
            vars: Vars::default(),
            memory: Memory::default(),
            shared,
            core: Scratch::new(1),
            notes: state::Memory::default(),
            run: state::RunState::default(),
        }
    }

    pub(crate) fn with<R>(&mut self, work: impl FnOnce(&mut Env<'_>) -> R) -> R {
        let who = Who {
            plan_file: "plan.jmx",
            group: "Group",
            tail: "",
            group_number: 1,
            user: 6,
            iteration: 1,
            sampler: "GET",
        };
        work(&mut Env {
            names: &self.names,
            vars: &mut self.vars,
            who,
            memory: &mut self.memory,
            notes: &mut self.notes,
            run: &self.run,
            shared: &self.shared,
            core: &mut self.core,
            now_ms: 1_732_175_999_007,
        })
    }

    pub(crate) fn eval(&mut self, text: &Text) -> String {
        let mut out = String::new();
        self.with(|env| text.eval(env, &mut out));
        out
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.set_named(&self.names, name, value);
    }
}

/// A text as a column of a table has it.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

/// The text that a column of a table means.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
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
