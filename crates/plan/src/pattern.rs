//! Regular expressions in a plan, fixed or made of expressions.

use lang::regexp::{Malformed, Regexp};

use crate::env::Env;
use crate::template::{Template, TemplateCompiler};

/// A pattern in a plan: fixed, or with `${…}` in it.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// Known when the plan is compiled.
    Fixed(Box<str>, Result<Box<Regexp>, Malformed>),
    /// Known when it is evaluated.
    Made(Template),
}

impl Pattern {
    /// Compiles the text of a pattern.
    pub(crate) fn compile(source: &str, compiler: &mut TemplateCompiler) -> Self {
        let text = Template::compile(source, compiler);
        match text.fixed() {
            Some(fixed) => Self::Fixed(fixed.into(), Regexp::new(fixed).map(Box::new)),
            None => Self::Made(text),
        }
    }

    /// The text of the pattern.
    pub(crate) fn eval(&self, env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Fixed(text, _) => out.push_str(text),
            Self::Made(text) => text.eval(env, out),
        }
    }

    /// Gives the pattern that `text` is, which was evaluated from it, to `work`.
    pub(crate) fn of<R>(
        &self,
        text: &str,
        work: impl FnOnce(Result<&Regexp, &Malformed>) -> R,
    ) -> R {
        match self {
            Self::Fixed(_, regexp) => work(regexp.as_deref()),
            Self::Made(_) => work(Regexp::remembered(text).as_deref()),
        }
    }

    /// Gives the pattern to `work`, together with the environment that evaluating it needed.
    pub(crate) fn with<'e, R>(
        &self,
        env: &mut Env<'e>,
        work: impl FnOnce(Result<&Regexp, &Malformed>, &mut Env<'e>) -> R,
    ) -> R {
        match self {
            Self::Fixed(_, regexp) => work(regexp.as_deref(), env),
            Self::Made(text) => {
                let mut pattern = env.core.take();
                text.eval(env, &mut pattern);
                let made = Regexp::remembered(&pattern);
                env.core.give(pattern);
                work(made.as_deref(), env)
            }
        }
    }
}
