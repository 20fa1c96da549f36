//! Embedded resources of an HTTP Request: the settings that decide whether resources are downloaded, which resources,
//! and how many in parallel.

use std::sync::Arc;

use lang::links::Parsers;

use crate::env::Env;
use crate::pattern::Pattern;
use crate::template::Template;
use crate::template::flag::Flag;

/// Default number of parallel downloads.
const POOL: usize = 6;

/// Settings for the embedded resources of a sampler's pages.
#[derive(Debug)]
pub struct Resources {
    pub(super) enabled: Flag,
    pub(super) concurrent: Flag,
    pub(super) pool: Template,
    /// Pattern that a whole URL must match, and pattern that it must not match; empty patterns are ignored.
    pub(super) allow: Pattern,
    pub(super) exclude: Pattern,
    /// HTML parsers that find the resources in a page, by content type of the page.
    pub parsers: Arc<Parsers>,
}

impl Resources {
    /// Returns true if embedded resources are downloaded.
    pub fn are_loaded(&self, env: &mut Env<'_>) -> bool {
        self.enabled.get(env)
    }

    /// Returns the number of parallel downloads. With 1, they run one after the other on the user's own
    /// connections.
    pub fn at_a_time(&self, env: &mut Env<'_>) -> usize {
        if !self.concurrent.get(env) {
            return 1;
        }
        self.pool.parsed(env, |text| match text.parse::<i32>() {
            Ok(number) => usize::try_from(number).unwrap_or(1).max(1),
            Err(_) => POOL,
        })
    }

    /// Returns true if the resource at `url` is downloaded. The URL is compared after
    /// [`escape`](lang::links::escape). Invalid patterns are ignored.
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
