//! jp@gc Redis Data Set: takes a value from a list or set of a Redis server at the start of each iteration of the
//! enclosing loop.
//!
//! This file evaluates the command and splits the value into variables; the engine fetches the value.

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;
use crate::template::flag::{self, Flag};
use crate::vars::VarId;

/// Default port of a Redis server.
const PORT: u16 = 6379;

/// A compiled Redis Data Set.
#[derive(Debug)]
pub struct RedisDataSet {
    name: String,
    host: Template,
    port: Template,
    secure: Flag,
    timeout: Template,
    password: Template,
    database: Template,
    key: Template,
    names: Names,
    delimiter: Template,
    recycle: Flag,
    legacy: Flag,
    data_type: Template,
    most: Template,
    wait: Template,
    blocks: Flag,
}

/// Names of the variables that receive the parts of a value.
#[derive(Debug)]
enum Names {
    Known(Vec<VarId>),
    Text(Template),
}

/// The command that takes a value, possibly with a command that puts it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchCommand {
    /// `LMOVE key key RIGHT LEFT`: moves the last element of the list to the front.
    #[default]
    Rotate,
    /// `LPOP`: removes the first element of the list.
    PopList,
    /// `LPOP`, then `RPUSH`: moves the first element of the list to the end.
    RepushList,
    /// `SRANDMEMBER`: returns a random member of the set without removing it.
    Draw,
    /// `SPOP`: removes a random member of the set.
    PopSet,
    /// `SPOP`, then `SADD`: takes a random member of the set and adds it back.
    ReaddSet,
}

impl FetchCommand {
    /// Appends the arguments of the command that takes a value to `into`.
    pub fn arguments<'a>(self, key: &'a [u8], into: &mut Vec<&'a [u8]>) {
        let name: &[u8] = match self {
            Self::Rotate => b"LMOVE",
            Self::PopList | Self::RepushList => b"LPOP",
            Self::Draw => b"SRANDMEMBER",
            Self::PopSet | Self::ReaddSet => b"SPOP",
        };
        into.extend([name, key]);
        if self == Self::Rotate {
            into.extend([key, b"RIGHT", b"LEFT"]);
        }
    }

    /// Returns the name of the Redis command that puts a taken value back; `None` if no second command is needed.
    pub fn puts_back(self) -> Option<&'static str> {
        match self {
            Self::RepushList => Some("RPUSH"),
            Self::ReaddSet => Some("SADD"),
            Self::Rotate | Self::PopList | Self::Draw | Self::PopSet => None,
        }
    }
}

/// Evaluated settings of one Redis exchange.
#[derive(Debug, Default)]
pub struct RedisCall {
    /// Host to connect to.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// True if the connection uses TLS.
    pub secure: bool,
    /// Timeout in milliseconds for connecting and between two reads; 0 means no limit.
    pub timeout_ms: u32,
    /// Password; empty means no authentication.
    pub password: String,
    /// Number of the Redis database.
    pub database: u32,
    /// Key of the list or set.
    pub key: String,
    /// Command that takes the value.
    pub take: FetchCommand,
    /// Maximum number of connections to the Redis server; 0 means no limit.
    pub most: u32,
    /// Time in milliseconds to wait for a free connection if the maximum is reached; `None` means no limit.
    pub wait_ms: Option<u32>,
    /// Value to put back into the list or set.
    pub back: Option<String>,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> RedisDataSet {
    let names = ctx.prop(id, "variableNames");
    let names = match names.fixed() {
        Some(list) => {
            Names::Known(split_names(list).map(|name| ctx.text.names.intern(name)).collect())
        }
        None => Names::Text(names),
    };
    RedisDataSet {
        name: ctx.doc.element(id).name.clone(),
        host: ctx.prop_or(id, "host", "localhost"),
        port: ctx.prop(id, "port"),
        secure: flag::compile(ctx, id, "ssl", false),
        timeout: ctx.prop(id, "timeout"),
        password: ctx.prop(id, "password"),
        database: ctx.prop(id, "database"),
        key: ctx.prop(id, "redisKey"),
        names,
        delimiter: ctx.prop_or(id, "delimiter", ","),
        recycle: flag::compile(ctx, id, "recycleDataOnUse", true),
        legacy: flag::compile(ctx, id, "plugins.redis.legacy", false),
        data_type: ctx.prop_or(id, "redisDataType", "0"),
        most: ctx.prop_or(id, "maxActive", "8"),
        wait: ctx.prop_or(id, "maxWait", "0"),
        blocks: flag::compile(ctx, id, "blockWhenExhausted", false),
    }
}

/// Splits a list of variable names at commas, and ignores empty names.
fn split_names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|name| !name.is_empty())
}

impl RedisDataSet {
    /// Returns the name of the element, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Evaluates the parameters of the Redis request at the start of an iteration.
    pub fn call(&self, call: &mut RedisCall, env: &mut Env<'_>) {
        let number = |text: &Template, env: &mut Env<'_>, default: i64| {
            text.parsed(env, |text| text.trim().parse().unwrap_or(default))
        };
        let into = |text: &Template, env: &mut Env<'_>, out: &mut String| {
            out.clear();
            text.eval(env, out);
        };
        into(&self.host, env, &mut call.host);
        into(&self.password, env, &mut call.password);
        into(&self.key, env, &mut call.key);
        if call.password.trim().is_empty() {
            call.password.clear();
        }
        call.port = number(&self.port, env, PORT.into()).try_into().unwrap_or(PORT);
        call.secure = self.secure.get(env);
        // 2000 ms is the default timeout of Jedis.
        call.timeout_ms = number(&self.timeout, env, 2000).try_into().unwrap_or(2000);
        call.database = number(&self.database, env, 0).try_into().unwrap_or(0);
        // A negative number means an unlimited pool.
        call.most = number(&self.most, env, 8).try_into().unwrap_or(0);
        let wait = number(&self.wait, env, 0);
        call.wait_ms = if self.blocks.get(env) { u32::try_from(wait).ok() } else { Some(0) };
        let set = number(&self.data_type, env, 0) == 1;
        let (recycle, legacy) = (self.recycle.get(env), self.legacy.get(env));
        call.take = match (set, recycle, legacy) {
            (false, false, _) => FetchCommand::PopList,
            (false, true, false) => FetchCommand::Rotate,
            (false, true, true) => FetchCommand::RepushList,
            (true, false, _) => FetchCommand::PopSet,
            (true, true, false) => FetchCommand::Draw,
            (true, true, true) => FetchCommand::ReaddSet,
        };
    }

    /// Splits a value into variables. Surplus values or names are ignored.
    pub fn fill(&self, value: &str, env: &mut Env<'_>) {
        let mut delimiter = env.core.take();
        self.delimiter.eval(env, &mut delimiter);
        match &self.names {
            Names::Known(ids) => {
                for (id, part) in ids.iter().zip(split(value, &delimiter)) {
                    env.vars.set(*id, part);
                }
            }
            Names::Text(text) => {
                let listed = text.parsed(env, str::to_owned);
                for (name, part) in split_names(&listed).zip(split(value, &delimiter)) {
                    env.vars.set_named(env.names, name, part);
                }
            }
        }
        env.core.give(delimiter);
    }
}

/// Splits a value like `JOrphanUtils.split(value, delimiter, false)`: returns the parts between delimiters,
/// including empty parts. An empty value has no parts.
fn split<'a>(value: &'a str, delimiter: &'a str) -> impl Iterator<Item = &'a str> {
    // With an empty delimiter, JMeter loops endlessly; this function returns the value as one part.
    let mut rest = (!value.is_empty()).then_some(value);
    std::iter::from_fn(move || {
        let all = rest.take()?;
        match all.split_once(delimiter).filter(|_| !delimiter.is_empty()) {
            Some((part, behind)) => {
                rest = Some(behind);
                Some(part)
            }
            None => Some(all),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_as_jmeter_does() {
        let parts = |value, by| split(value, by).collect::<Vec<_>>();
        assert_eq!(parts("a,b,c", ","), ["a", "b", "c"]);
        assert_eq!(parts("a", ","), ["a"]);
        assert_eq!(parts(",a,,b,", ","), ["", "a", "", "b", ""]);
        assert_eq!(parts(",", ","), ["", ""]);
        assert_eq!(parts("a::b", "::"), ["a", "b"]);
        assert_eq!(parts("a|b", ","), ["a|b"]);
        assert_eq!(parts("a,b", ""), ["a,b"]);
        assert!(parts("", ",").is_empty());
    }

    #[test]
    fn a_command_asks_for_a_value_and_another_puts_it_back() {
        let said = |take: FetchCommand| {
            let mut arguments = Vec::new();
            take.arguments(b"k", &mut arguments);
            String::from_utf8(arguments.join(&b' ')).expect("text")
        };
        assert_eq!(said(FetchCommand::Rotate), "LMOVE k k RIGHT LEFT");
        assert_eq!(said(FetchCommand::PopList), "LPOP k");
        assert_eq!(said(FetchCommand::RepushList), "LPOP k");
        assert_eq!(said(FetchCommand::Draw), "SRANDMEMBER k");
        assert_eq!(said(FetchCommand::PopSet), "SPOP k");
        assert_eq!(said(FetchCommand::ReaddSet), "SPOP k");
        let back = [FetchCommand::RepushList, FetchCommand::ReaddSet, FetchCommand::Rotate]
            .map(FetchCommand::puts_back);
        assert_eq!(back, [Some("RPUSH"), Some("SADD"), None]);
    }
}
