//! Parameterized Controller (jp@gc): sets variables whenever a sampler is requested from it; otherwise it runs its
//! children like a Simple Controller.
//!
//! If several variables have the same name, the first one is used, as in all lists of variables in JMeter. Cost: all
//! values are evaluated once per sampler below the controller.

use jmx::{ElementId, Value};

use crate::compile::Context;
use crate::env::Env;
use crate::plan::ControllerKind;
use crate::support::Level;
use crate::template::Template;
use crate::template::variable::Variable;

/// Maximum number of variables per controller.
const MOST: usize = 1000;

/// The variables that a controller sets.
#[derive(Debug)]
pub struct Parameters {
    variables: Vec<(Variable, Template)>,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let Some(arguments) = ctx.props(id).object("ParameterizedController") else {
        return ControllerKind::Parameterized(Parameters { variables: Vec::new() });
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    for argument in arguments.props.collection("Arguments.arguments") {
        let Value::Object(argument) = &argument.value else { continue };
        let text = |name: &str| argument.props.str(name).unwrap_or("").to_owned();
        let name = text("Argument.name");
        if pairs.iter().all(|(known, _)| *known != name) {
            pairs.push((name, text("Argument.value")));
        }
    }
    if pairs.len() > MOST {
        let what = format!("it sets {} variables; at most {MOST} are allowed", pairs.len());
        ctx.remark(id, Level::Unsupported, what);
        pairs.truncate(MOST);
    }
    let variables = pairs.iter().map(|(name, value)| {
        let name = ctx.text(id, name);
        (Variable::of(ctx, name), ctx.text(id, value))
    });
    let variables = variables.collect();
    ControllerKind::Parameterized(Parameters { variables })
}

impl Parameters {
    /// Sets the variables. Called each time a sampler is requested from the controller.
    pub fn set(&self, env: &mut Env<'_>) {
        set(&self.variables, env);
    }
}

/// Sets the variables after evaluating all values.
fn set(variables: &[(Variable, Template)], env: &mut Env<'_>) {
    let Some(((name, value), rest)) = variables.split_first() else { return };
    let mut found = env.core.take();
    value.eval(env, &mut found);
    set(rest, env);
    name.set(env, |_, out| out.push_str(&found));
    env.core.give(found);
}
