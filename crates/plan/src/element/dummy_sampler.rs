//! Dummy Sampler by jp@gc: returns a configured result. Either the sampler waits for the configured time, or it returns
//! immediately and reports the configured time as its duration.

use jmx::ElementId;
use lang::url;

use crate::compile::Context;
use crate::env::Env;
use crate::result::SampleResult;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// A compiled Dummy Sampler.
#[derive(Debug)]
pub struct DummySampler {
    successful: Flag,
    waits: Flag,
    code: Template,
    message: Template,
    request: Template,
    response: Template,
    url: Template,
    time: Template,
    latency: Template,
    connect: Template,
}

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> DummySampler {
    DummySampler {
        successful: flag::compile(ctx, id, "SUCCESFULL", false),
        waits: flag::compile(ctx, id, "WAITING", false),
        code: ctx.prop(id, "RESPONSE_CODE"),
        message: ctx.prop(id, "RESPONSE_MESSAGE"),
        request: ctx.prop(id, "REQUEST_DATA"),
        response: ctx.prop(id, "RESPONSE_DATA"),
        url: ctx.prop(id, "URL"),
        time: ctx.prop(id, "RESPONSE_TIME"),
        latency: ctx.prop(id, "LATENCY"),
        connect: ctx.prop(id, "CONNECT"),
    }
}

impl DummySampler {
    /// Fills the result and returns the nanoseconds that the user must wait. Without simulated waiting, this is 0, and
    /// [`SampleResult::elapsed`] has the configured time.
    pub fn run(&self, env: &mut Env<'_>, result: &mut SampleResult) -> u64 {
        let nanos = |ms: i32| u64::try_from(ms).unwrap_or(0) * 1_000_000;
        let time = nanos(number(&self.time, env));
        self.request.eval(env, &mut result.sampler_data);
        result.tells_sampler_data = true;
        self.code.eval(env, &mut result.code);
        self.message.eval(env, &mut result.message);
        result.success = self.successful.get(env);
        result.data_type = "text";
        self.response.eval(env, &mut result.text);
        result.body.extend_from_slice(result.text.as_bytes());
        result.bytes = result.body.len() as u64;
        let mut source = env.core.take();
        self.url.eval(env, &mut source);
        if !source.is_empty() && url::resolve(None, &source, &mut result.url).is_err() {
            result.url.clear();
        }
        env.core.give(source);
        result.latency = nanos(number(&self.latency, env));
        result.connect = nanos(number(&self.connect, env));
        if self.waits.get(env) {
            return time;
        }
        result.elapsed = time;
        0
    }
}

/// Evaluates a number of milliseconds. As in the plug-in, an invalid number is not an error.
fn number(text: &Template, env: &mut Env<'_>) -> i32 {
    let before = env.core.thrown.take();
    let number = text.int(env);
    env.core.thrown.take_if(|thrown| thrown.is_no_number());
    env.core.thrown = before.or(env.core.thrown.take());
    number
}
