//! The variable that an element sets: a slot if its name is constant, otherwise looked up by name.

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;
use crate::vars::VarId;

/// Target variable of an element.
#[derive(Debug)]
pub(crate) enum Variable {
    Known(VarId),
    Named(Template),
}

impl Variable {
    /// Compiles the property that holds the variable's name.
    pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId, property: &str) -> Self {
        let text = ctx.prop(id, property);
        Self::of(ctx, text)
    }

    pub(crate) fn of(ctx: &mut Context<'_>, name: Template) -> Self {
        match name.fixed() {
            Some(fixed) => Self::Known(ctx.text.names.intern(fixed)),
            None => Self::Named(name),
        }
    }

    /// Sets the variable to the string that `write` appends.
    pub(crate) fn set(&self, env: &mut Env<'_>, write: impl FnOnce(&mut Env<'_>, &mut String)) {
        let mut value = env.core.take();
        write(env, &mut value);
        match self {
            Self::Known(id) => env.vars.set(*id, &value),
            Self::Named(text) => {
                let mut name = env.core.take();
                text.eval(env, &mut name);
                env.vars.set_named(env.names, &name, &value);
                env.core.give(name);
            }
        }
        env.core.give(value);
    }
}
