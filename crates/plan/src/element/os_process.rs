//! OS Process Sampler: a program of this machine, with its arguments, environment and files.
//!
//! Programs run only where the user allowed it at the start (`throng.processes.allowed`, set by `--allow-processes`): a
//! plan from elsewhere must not. The engine runs them on threads that are no cores.

use std::fmt::Write;

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::support::Level;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// A compiled OS Process Sampler.
#[derive(Debug)]
pub struct OsProcess {
    command: Template,
    arguments: Vec<Template>,
    environment: Vec<(Template, Template)>,
    directory: Template,
    checks: Flag,
    expected: Template,
    stdin: Template,
    stdout: Template,
    stderr: Template,
    timeout: Template,
}

/// One run of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program, by path or by name.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables of its environment, besides those of this process.
    pub environment: Vec<(String, String)>,
    /// Working directory; empty is that of this process.
    pub directory: String,
    /// The exit code that passes, if any does not.
    pub expected: Option<i32>,
    /// Files for its standard streams; empty is none: no input, and output that becomes the response.
    pub stdin: String,
    /// Where output goes.
    pub stdout: String,
    /// Where error output goes; empty is where output goes.
    pub stderr: String,
    /// Milliseconds it may take; 0 is without limit.
    pub timeout_ms: u64,
}

/// The sampler; `None` if it may not run.
pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<OsProcess> {
    if !ctx.settings.is("throng.processes.allowed", false) {
        let what = "it runs a program of this machine, which --allow-processes permits";
        ctx.remark(id, Level::Unsupported, what);
        return None;
    }
    let text = |ctx: &mut Context<'_>, name: &str| {
        let value = ctx.props(id).str(name).unwrap_or("").to_owned();
        ctx.text(id, &value)
    };
    let pairs = |ctx: &mut Context<'_>, name: &str| {
        let mut pairs = Vec::new();
        let Some(object) = ctx.props(id).object(name) else { return pairs };
        for argument in object.props.collection("Arguments.arguments") {
            let Some(argument) = argument.object() else { continue };
            let key = ctx.text(id, argument.props.str("Argument.name").unwrap_or(""));
            let value = ctx.text(id, argument.props.str("Argument.value").unwrap_or(""));
            pairs.push((key, value));
        }
        pairs
    };
    Some(OsProcess {
        command: text(ctx, "SystemSampler.command"),
        arguments: pairs(ctx, "SystemSampler.arguments").into_iter().map(|(_, v)| v).collect(),
        environment: pairs(ctx, "SystemSampler.environment"),
        directory: text(ctx, "SystemSampler.directory"),
        checks: flag::compile(ctx, id, "SystemSampler.checkReturnCode", false),
        expected: text(ctx, "SystemSampler.expectedReturnCode"),
        stdin: text(ctx, "SystemSampler.stdin"),
        stdout: text(ctx, "SystemSampler.stdout"),
        stderr: text(ctx, "SystemSampler.stderr"),
        timeout: text(ctx, "SystemSampler.timeout"),
    })
}

impl OsProcess {
    /// The program to run now.
    pub fn command(&self, env: &mut Env<'_>) -> Command {
        let mut text = |text: &Template| text.parsed(env, str::to_owned);
        let mut environment: Vec<(String, String)> = Vec::new();
        for (name, value) in &self.environment {
            let (name, value) = (text(name), text(value));
            match environment.iter_mut().find(|(known, _)| *known == name) {
                Some((_, old)) => *old = value,
                None => environment.push((name, value)),
            }
        }
        let blank_is_none =
            |path: String| if path.trim().is_empty() { String::new() } else { path };
        Command {
            program: text(&self.command),
            arguments: self.arguments.iter().map(&mut text).collect(),
            environment,
            directory: text(&self.directory),
            stdin: blank_is_none(text(&self.stdin)),
            stdout: blank_is_none(text(&self.stdout)),
            stderr: blank_is_none(text(&self.stderr)),
            expected: self.checks.get(env).then(|| self.expected.int(env)),
            timeout_ms: u64::try_from(self.timeout.long(env)).unwrap_or(0),
        }
    }
}

impl Command {
    /// Writes JMeter's sampler data. `directory` is the absolute working directory.
    pub fn write_sampler_data(&self, directory: &str, out: &mut String) {
        let _ = write!(out, "Working Directory: {directory}\nEnvironment: {{");
        for (n, (name, value)) in in_java_order(&self.environment).into_iter().enumerate() {
            let _ = write!(out, "{}{name}={value}", if n > 0 { ", " } else { "" });
        }
        let _ = write!(out, "}}\nExecuting: {}", self.program);
        for argument in &self.arguments {
            let _ = write!(out, " {argument}");
        }
    }
}

/// Entries in the order in which a `java.util.HashMap` gives them that was filled one by one.
fn in_java_order(entries: &[(String, String)]) -> Vec<&(String, String)> {
    let hash = |name: &str| {
        let hash = name.encode_utf16().fold(0u32, |h, c| h.wrapping_mul(31).wrapping_add(c.into()));
        hash ^ (hash >> 16)
    };
    let mut buckets = 16;
    while entries.len() as u64 * 4 > buckets * 3 {
        buckets *= 2;
    }
    let mut ordered: Vec<_> = entries.iter().collect();
    ordered.sort_by_key(|(name, _)| u64::from(hash(name)) & (buckets - 1));
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampler_data_has_the_environment_in_the_order_of_a_hash_map() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let command = Command {
            program: "ls".into(),
            arguments: vec!["-l".into(), "a b".into()],
            environment: vec![pair("ZZ", "1"), pair("B", "2"), pair("A", "3")],
            ..Command::default()
        };
        let mut text = String::new();
        command.write_sampler_data("/home", &mut text);
        assert_eq!(
            text,
            "Working Directory: /home\nEnvironment: {ZZ=1, A=3, B=2}\nExecuting: ls -l a b"
        );
    }
}
