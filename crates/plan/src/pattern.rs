//! Regular expressions of a plan, constant or built from expressions.

use lang::regexp::{Malformed, Regexp};

use crate::env::Env;
use crate::template::{Template, TemplateCompiler};

/// A regular expression of a plan: constant, or with `${…}` in it.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// A constant pattern, compiled with the plan.
    Fixed(Box<str>, Result<Box<Regexp>, Malformed>),
    /// A pattern that is built at each evaluation.
    Made(Template),
}

impl Pattern {
    /// Compiles the source of a pattern.
    pub(crate) fn compile(source: &str, compiler: &mut TemplateCompiler) -> Self {
        let text = Template::compile(source, compiler);
        match text.fixed() {
            Some(fixed) => Self::Fixed(fixed.into(), Regexp::new(fixed).map(Box::new)),
            None => Self::Made(text),
        }
    }

    /// Appends the source of the pattern, with its expressions evaluated.
    pub(crate) fn eval(&self, env: &mut Env<'_>, out: &mut String) {
        match self {
            Self::Fixed(text, _) => out.push_str(text),
            Self::Made(text) => text.eval(env, out),
        }
    }

    /// Passes the compiled pattern to `work`. `text` is its evaluated source.
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

    /// Evaluates the pattern and passes it to `work`, together with the environment.
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
