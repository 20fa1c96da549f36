//! Conditions of If controllers.

use crate::env::Env;

/// A compiled condition.
#[derive(Debug)]
pub enum Condition {
    /// An expression that must evaluate to `true`.
    Expression(crate::text::Text),
}

impl Condition {
    /// Whether it holds.
    pub fn holds(&self, env: &mut Env<'_>) -> bool {
        let Self::Expression(text) = self;
        let mut value = env.core.take();
        text.eval(env, &mut value);
        let holds = value.eq_ignore_ascii_case("true");
        env.core.give(value);
        holds
    }
}
