//! User Parameters: each user sets the values of its own column, at each sampler in scope or once per iteration.

use jmx::{ElementId, Prop};

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;
use crate::template::flag::{self, Flag};
use crate::template::variable::Variable;

/// Compiled User Parameters.
#[derive(Debug)]
pub struct UserParameters {
    names: Vec<Variable>,
    /// Columns of values; the users of a group are assigned to the columns in turn.
    columns: Vec<Vec<Template>>,
    per_iteration: Flag,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> UserParameters {
    let props = ctx.props(id);
    let texts = |ctx: &mut Context<'_>, members: &[Prop]| -> Vec<Template> {
        members.iter().map(|member| ctx.text(id, member.text().unwrap_or(""))).collect()
    };
    let names = texts(ctx, props.collection("UserParameters.names"));
    let columns = props.collection("UserParameters.thread_values");
    UserParameters {
        names: names.into_iter().map(|name| Variable::of(ctx, name)).collect(),
        columns: columns.iter().map(|column| texts(ctx, column.members())).collect(),
        per_iteration: flag::compile(ctx, id, "UserParameters.per_iteration", false),
    }
}

impl UserParameters {
    /// Sets the values when an iteration starts, if they are set once per iteration.
    pub(crate) fn at_iteration(&self, env: &mut Env<'_>) {
        if self.per_iteration.get(env) {
            self.set(env);
        }
    }

    /// Sets the values before a sampler in scope, unless they are set once per iteration.
    pub(crate) fn at_sampler(&self, env: &mut Env<'_>) {
        if !self.per_iteration.get(env) {
            self.set(env);
        }
    }

    fn set(&self, env: &mut Env<'_>) {
        if self.columns.is_empty() {
            return;
        }
        let column = &self.columns[env.who.user as usize % self.columns.len()];
        for (name, value) in self.names.iter().zip(column) {
            name.set(env, |env, out| value.eval(env, out));
        }
    }
}
