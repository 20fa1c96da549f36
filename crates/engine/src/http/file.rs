//! `file:` URLs: an HTTP Request that reads a file or folder of this machine, with the results of JMeter's file
//! implementation.
//!
//! JMeter treats every file as an HTML page. The page of a folder lists its names.

use plan::http::Request;
use plan::plan::{Needs, SamplerId};
use stats::Outcome;

use crate::context::Context;
use crate::files::Wanted;
use crate::http::failure;
use crate::ids::UserId;
use crate::inbox::results::Content;
use crate::time::timing::Timing;
use crate::users::Wait;

/// State of a user that waits for the content of a file.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Ticket of the read, which distinguishes this read from reads of earlier users of the same slot.
    ticket: u64,
    timing: Timing,
    url: String,
    /// Content encoding that the plan sets for the request; empty means UTF-8.
    charset: String,
    sampler_data: String,
}

impl crate::users::Part for Reading {}

/// Starts reading the file that a request names.
pub(crate) fn begin_file(cx: &mut Context<'_>, index: UserId, id: SamplerId, request: &Request) {
    let timing = cx.begin_timing(index);
    cx.users.tickets += 1;
    let ticket = cx.users.tickets;
    let mut sampler_data = String::new();
    request.write_sampler_data("", &mut sampler_data);
    let most = cx.run.settings.bodies.max_file;
    let wanted = Wanted {
        path: request.target.clone(),
        host: request.host.clone(),
        most,
        ticket,
        user: index,
        reply_to: cx.run.inbox(cx.index),
    };
    let reading = Reading {
        ticket,
        timing,
        url: request.url.clone(),
        charset: request.charset.clone(),
        sampler_data,
    };
    let user = &mut cx.users[index];
    user.extra().parts.put(Box::new(reading));
    user.wait = Wait::File(id);
    if !cx.run.files.ask(wanted) {
        end_file(cx, index, id, Err(("java.io.IOException", "Resource unavailable".into())));
    }
}

/// Handles the content of a file that was read: builds the result and completes the sample.
pub(crate) fn on_file(cx: &mut Context<'_>, index: UserId, content: Content) {
    let user = &cx.users[index];
    let Wait::File(id) = user.wait else { return };
    let reading = user.extra.as_ref().and_then(|extra| extra.parts.get::<Reading>());
    if reading.is_some_and(|reading| reading.ticket == content.ticket) {
        end_file(cx, index, id, content.result);
    }
}

fn end_file(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    content: Result<(Vec<u8>, u64), (&'static str, String)>,
) {
    let user = &mut cx.users[index];
    user.wait = Wait::Ready;
    let Some(reading) = user.extra().parts.take::<Reading>() else { return };
    let mut timing = reading.timing;
    timing.end = cx.clock.now();
    let needs = cx.plan.samplers[id.0 as usize].needs;
    let mut result = cx.take_result();
    result.start_ms = cx.clock.wall_ms(timing.start);
    result.http = true;
    result.method.push_str("GET");
    result.url.push_str(&reading.url);
    result.sampler_data.push_str(&reading.sampler_data);
    let (body, total) = match content {
        Ok(content) => content,
        Err((class, message)) => {
            result.code = format!("Non HTTP response code: {class}");
            result.message = format!("Non HTTP response message: {message}");
            // JMeter does not measure the duration of failed reads.
            timing.end = timing.start;
            return failure::fail_result(cx, index, id, timing, Outcome::File, true, result);
        }
    };
    result.label.push_str(cx.sampler_name(index, id));
    result.code.push_str("200");
    result.message.push_str("OK");
    result.data_type = "text";
    // JMeter ignores the character set that the page itself declares.
    let charset = if reading.charset.is_empty() { "UTF-8" } else { &reading.charset };
    result.content_type.push_str("text/html; charset=");
    result.content_type.push_str(charset);
    result.encoding.push_str(charset);
    if needs.intersects(Needs::TEXT | Needs::PAGE) {
        lang::charset::decode_into(Some(charset), &body, &mut result.text);
    }
    result.body = body;
    timing.received = total;
    cx.conclude(index, id, timing, Outcome::Ok, Some(result));
}

/// Ends the sample of a file that is still being read, because the run ends at once.
pub(crate) fn cut_file(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let user = &mut cx.users[index];
    user.wait = Wait::Ready;
    let Some(reading) = user.extra().parts.take::<Reading>() else { return };
    let timing = Timing { end: cx.clock.now(), ..reading.timing };
    let mut result = cx.take_result();
    result.url.push_str(&reading.url);
    result.code.push_str("Non HTTP response code: java.io.IOException");
    result.message.push_str("Non HTTP response message: Stream closed");
    failure::fail_result(cx, index, id, timing, Outcome::CutByEnd, true, result);
}
