//! OS Process Sampler: runs a program on this machine, with arguments, environment variables and redirected files.
//!
//! Programs run only if the user has allowed them when starting the run (`throng.processes.allowed`, set by
//! `--allow-processes`), because a plan may come from an untrusted source. The engine runs programs on threads that
//! are not cores.

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

/// Program to run, with its settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Path or name of the program.
    pub program: String,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Environment variables, in addition to those of this process.
    pub environment: Vec<(String, String)>,
    /// Working directory; empty means the directory of this process.
    pub directory: String,
    /// Exit code of a successful run; `None` if any exit code is a success.
    pub expected: Option<i32>,
    /// File for standard input; empty means no input.
    pub stdin: String,
    /// File for standard output; if empty, the output becomes the response.
    pub stdout: String,
    /// File for standard error; empty means the same target as standard output.
    pub stderr: String,
    /// Time limit in milliseconds; 0 means no limit.
    pub timeout_ms: u64,
}

/// Compiles the sampler; `None` if programs are not allowed.
pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<OsProcess> {
    if !ctx.settings.is("throng.processes.allowed", false) {
        let what = "it runs a program on this machine; allow it with --allow-processes";
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
    /// Evaluates the templates of the command, and returns the command to run.
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
    /// Writes the sampler data as in JMeter. `directory` is the absolute working directory.
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

/// Returns the entries in the iteration order of a `java.util.HashMap` into which they were inserted one by one.
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
