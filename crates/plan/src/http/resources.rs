//! Embedded resources of an HTTP Request: whether, how many at a time, and which.

use std::sync::Arc;

use lang::links::Parsers;

use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::Template;
use crate::template::flag::Flag;

/// Downloads at a time where the plan gives no number.
const POOL: usize = 6;

/// Resources that a sampler loads with its pages.
#[derive(Debug)]
pub struct Resources {
    pub(super) enabled: Flag,
    pub(super) concurrent: Flag,
    pub(super) pool: Template,
    /// Patterns that a whole URL must match, and must not match; empty ones do not count.
    pub(super) allow: Pattern,
    pub(super) exclude: Pattern,
    /// Parsers by type of content.
    pub parsers: Arc<Parsers>,
}

impl Resources {
    /// Whether resources are loaded at all.
    pub fn are_loaded(&self, env: &mut Env<'_>) -> bool {
        self.enabled.get(env)
    }

    /// How many are loaded at a time; 1 is one after another, on connections of the user itself.
    pub fn at_a_time(&self, env: &mut Env<'_>) -> usize {
        if !self.concurrent.get(env) {
            return 1;
        }
        self.pool.parsed(env, |text| match text.parse::<i32>() {
            Ok(number) => usize::try_from(number).unwrap_or(1).max(1),
            Err(_) => POOL,
        })
    }

    /// Whether a link is loaded; it is compared as [`escape`](lang::links::escape) leaves it. A pattern that cannot be
    /// read does not count.
    pub fn accepts(&self, url: &str, env: &mut Env<'_>) -> bool {
        matches(&self.allow, url, true, env) && !matches(&self.exclude, url, false, env)
    }
}

fn matches(pattern: &Pattern, url: &str, default: bool, env: &mut Env<'_>) -> bool {
    let mut text = env.core.take();
    pattern.eval(env, &mut text);
    let empty = text.is_empty();
    env.core.give(text);
    if empty {
        return default;
    }
    pattern.with(env, |pattern, _| pattern.map_or(default, |pattern| pattern.matches(url)))
}
