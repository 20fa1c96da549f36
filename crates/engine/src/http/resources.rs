//! Embedded resources of pages: finds them in a page, loads them by branches, and adds them to its result.

use std::fmt::Write;

use lang::links;
use plan::http::{Http, Resources};
use plan::plan::{Needs, SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Outcome;

use crate::context::Context;
use crate::http::exchange::Outgoing;
use crate::http::page::{Page, branch, free_branch, page};
use crate::http::{failure, names, side_cookies};
use crate::ids::UserId;
use crate::session::Sessions;
use crate::time::timing::Timing;
use crate::users::Wait;

/// Maximum number of spare results that a core keeps. Additional results of a larger page are freed.
const SPARE: usize = 256;

/// Loads the embedded resources of the page in the core's current result. Returns `Some` with the completed sample
/// if there is nothing to load.
pub(crate) fn load_page(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    (index, id): (UserId, SamplerId),
    mut timing: Timing,
) -> Option<(Timing, Outcome)> {
    (cx.result.bytes, cx.result.sent) = (timing.received, timing.sent);
    // Sub-results of files are named after the file, not after the sampler.
    let is_file = cx.result.url.starts_with("file:");
    if is_file {
        cx.result.label.clone_from(&cx.result.url);
    }
    let begun = begin_page(cx, index, id, timing);
    (timing.received, timing.sent) = (cx.result.bytes, cx.result.sent);
    let outcome = match begun {
        None => {
            fill_branches(outgoing, cx, sessions, index);
            return None;
        }
        Some(true) => Outcome::Ok,
        Some(false) => Outcome::Status,
    };
    if is_file {
        name_page(cx, index, id);
    }
    Some((timing, outcome))
}

/// Starts branches while there are resources to load, and ends the page when all are loaded.
fn fill_branches(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
) {
    loop {
        let Some(page) = page(cx, index) else { return };
        let more = !page.cut && page.next < page.links.len();
        if !more && page.in_flight == 0 {
            return end_page(cx, index);
        }
        if !more || page.in_flight >= page.at_a_time {
            return;
        }
        let link = page.next;
        page.next += 1;
        if page.results[link].is_some() {
            continue;
        }
        page.in_flight += 1;
        let id = page.id;
        start_branch(outgoing, cx, sessions, (index, id), link);
    }
}

fn start_branch(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    (parent, id): (UserId, SamplerId),
    link: usize,
) {
    let plan = cx.plan;
    let SamplerKind::Http(http) = &plan.samplers[id.0 as usize].kind else { return };
    let branch = branch(cx, parent, link);
    let url = match page(cx, parent) {
        Some(page) => {
            page.last = branch;
            std::mem::take(&mut page.links[link])
        }
        None => return,
    };
    load_link(outgoing, cx, sessions, (branch, id), http, &url);
    if let Some(page) = page(cx, parent) {
        page.links[link] = url;
    }
}

fn load_link(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    (branch, id): (UserId, SamplerId),
    http: &Http,
    url: &str,
) {
    names::read(cx, branch, id);
    let mut request = std::mem::take(&mut outgoing.request);
    let rendered = cx.with_env(branch, id, |env, _| http.render_embedded(url, env, &mut request));
    match rendered {
        Ok(()) => {
            outgoing.send_rendered(cx, sessions, (branch, id), http, &request);
        }
        Err(problem) => {
            cx.result.clear();
            cx.result.url.push_str(url);
            failure::unsendable(cx, branch, id, &problem.code, &problem.message, true);
        }
    }
    outgoing.request = request;
}

/// Handles the end of a branch, whose result is the core's current result.
pub(crate) fn branch_done(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    branch: UserId,
    (timing, outcome): (&Timing, Outcome),
) {
    cx.timers.wheel.remove(branch, &mut cx.users);
    let mut result = cx.lend_result();
    (result.elapsed, result.latency, result.connect) =
        (timing.elapsed(), timing.latency, timing.connect);
    (result.bytes, result.sent, result.idle) = (timing.received, timing.sent, timing.idle);
    let (parent, link) = free_branch(cx, branch);
    if let Some(page) = page(cx, parent) {
        page.results[link] = Some(result);
        page.in_flight -= 1;
        page.lag += timing.lag;
        page.timing.end = page.timing.end.max(timing.end);
        page.cut |= outcome == Outcome::CutByEnd;
    }
    fill_branches(outgoing, cx, sessions, parent);
}

/// Sets the label of the core's current result to the name of its sampler.
fn name_page(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let mut label = std::mem::take(&mut cx.result.label);
    label.clear();
    label.push_str(cx.sampler_name(index, id));
    cx.result.label = label;
}

/// Finds the embedded resources of a page. If there are none to load, returns `Some`, with true if the sample is
/// successful.
fn begin_page(cx: &mut Context<'_>, index: UserId, id: SamplerId, timing: Timing) -> Option<bool> {
    let plan = cx.plan;
    let SamplerKind::Http(http) = &plan.samplers[id.0 as usize].kind else { return Some(true) };
    let Some(resources) = http.resources.as_ref() else { return Some(true) };
    if !cx.result.success || cx.result.data_type != "text" {
        return Some(cx.result.success);
    }
    let said = match cx.own_sampler(index).map(|own| &**own) {
        Some(SamplerKind::Http(own)) => own.loads_pages,
        _ => None,
    };
    let (on, at_a_time) = cx.with_env(index, id, |env, _| {
        let on = said.unwrap_or_else(|| resources.are_loaded(env));
        (on, resources.at_a_time(env))
    });
    if !on {
        return Some(true);
    }
    let depth = cx.users[index].extra.as_ref().map_or(0, |extra| extra.depth);
    let needs = plan.samplers[id.0 as usize].needs;
    if i64::from(depth) > cx.run.settings.http.max_frame_depth {
        add_too_deep(cx);
        return Some(true);
    }
    let mut found = Vec::new();
    let read = match resources.parsers.of(&cx.result.content_type) {
        Some(parser) if !cx.result.text.is_empty() => {
            let agent = user_agent(&cx.result.request_headers);
            links::find(parser, &cx.result.text, &cx.result.url, agent, &mut found)
        }
        _ => Ok(()),
    };
    if !needs.intersects(Needs::BODY | Needs::TEXT) {
        // The body was needed only for its links.
        cx.result.body.clear();
        cx.result.text.clear();
    }
    if let Err(unreadable) = read {
        let error = error_result(cx, unreadable.class, &unreadable.message);
        add_part(&mut cx.result, &error, cx.run.settings.results.keep_sub_labels);
        cx.spare_results.push(error);
        if !cx.run.settings.http.ignore_failed_resources {
            judge(&mut cx.result, false);
        }
        return Some(cx.result.success);
    }
    if found.is_empty() {
        return Some(true);
    }
    let mut page = Box::new(Page::new(id, timing, at_a_time, found.len()));
    choose(cx, index, id, resources, found, &mut page);
    page.whole = cx.lend_result();
    let user = &mut cx.users[index];
    user.extra().parts.put(page);
    user.wait = Wait::Page(id);
    None
}

/// Selects the links that match the plan's patterns. Links that cannot be loaded get a failed result at once.
fn choose(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    resources: &Resources,
    found: Vec<String>,
    page: &mut Page,
) {
    for mut link in found {
        links::escape(&mut link);
        if !cx.with_env(index, id, |env, _| resources.accepts(&link, env)) {
            continue;
        }
        let broken = (!links::normalize(&mut link)).then(|| {
            let message = format!("{link} URI can not be normalized");
            error_result(cx, "java.lang.Exception", &message)
        });
        if broken.is_some() {
            link.clear();
        }
        page.links.push(link);
        page.results.push(broken);
    }
}

/// Adds the error that frames are nested too deeply. JMeter first replaces the result of the redirect's target by
/// this error, and then the whole sample, under the names of both.
fn add_too_deep(cx: &mut Context<'_>) {
    let (class, message) = ("java.lang.Exception", "Maximum frame/iframe nesting depth exceeded.");
    let keep_labels = cx.run.settings.results.keep_sub_labels;
    let error = error_result(cx, class, message);
    let result = &mut cx.result;
    let n = result.sub_count;
    add_part(result, &error, keep_labels);
    if n > 0 {
        put_error(&mut result.subs[n - 1], class, message);
        let label = if keep_labels {
            format!("{}->{}", result.subs[0].url, result.url)
        } else {
            format!("{0}->{0}-{n}", result.label)
        };
        result.subs[n].label = label;
    }
    cx.spare_results.push(error);
}

/// Returns a copy of the core's current result, failed with an exception.
fn error_result(cx: &mut Context<'_>, class: &str, message: &str) -> Box<SampleResult> {
    let mut error = cx.spare_results.pop().unwrap_or_default();
    error.clear();
    cx.result.show_in(&mut error);
    put_error(&mut error, class, message);
    error
}

/// Completes the sample of a page after all resources are loaded, with the resources as sub-results.
fn end_page(cx: &mut Context<'_>, index: UserId) {
    let Some(mut page) = cx.users[index].extra().parts.take::<Page>() else { return };
    let id = page.id;
    cx.users[index].wait = Wait::Ready;
    if !page.jars.is_empty() {
        // The URLs of links that cannot be loaded were cleared before.
        let parts: Vec<bool> = page.links.iter().map(|link| !link.is_empty()).collect();
        side_cookies::merge_cookies(cx, index, id, &parts, std::mem::take(&mut page.jars));
    }
    let keep_labels = cx.run.settings.results.keep_sub_labels;
    let mut whole = std::mem::take(&mut page.whole);
    if whole.sub_count == 0 {
        contain(&mut whole, keep_labels);
    }
    let mut passed = whole.success;
    for part in page.results.drain(..).flatten() {
        add_part(&mut whole, &part, keep_labels);
        passed &= part.success;
        if cx.spare_results.len() < SPARE {
            cx.spare_results.push(part);
        }
    }
    if !cx.run.settings.http.ignore_failed_resources {
        judge(&mut whole, passed);
    }
    let mut timing = page.timing;
    (timing.received, timing.sent) = (whole.bytes, whole.sent);
    // Resources were loaded in parallel, so each contributes its share of the summed lag.
    timing.lag += page.lag / page.at_a_time.min(page.links.len().max(1)) as u64;
    let outcome = match (page.cut, whole.success) {
        (true, _) => Outcome::CutByEnd,
        (false, true) => Outcome::Ok,
        (false, false) => Outcome::Status,
    };
    let is_file = whole.url.starts_with("file:");
    cx.return_result(whole);
    if is_file {
        name_page(cx, index, id);
    }
    cx.complete_page(index, id, timing, outcome);
}

/// Fails a result with an exception.
fn put_error(result: &mut SampleResult, class: &str, message: &str) {
    result.body.clear();
    result.text.clear();
    result.code.clear();
    result.message.clear();
    let _ = write!(result.code, "Non HTTP response code: {class}");
    let _ = write!(result.message, "Non HTTP response message: {message}");
    result.success = false;
    result.data_type = "text";
}

/// Adds a copy of a page as its first sub-result, as in JMeter's container of a page and its resources.
fn contain(whole: &mut SampleResult, keep_labels: bool) {
    let mut page = SampleResult::default();
    page.clear();
    whole.show_in(&mut page);
    let (bytes, sent, elapsed) = (whole.bytes, whole.sent, whole.elapsed);
    let headers_size = whole.headers_size;
    page.raw = true;
    add_part(whole, &page, keep_labels);
    (whole.bytes, whole.sent, whole.elapsed) = (bytes, sent, elapsed);
    whole.headers_size = headers_size;
}

/// Adds the result of a resource, with its own sub-results.
fn add_part(whole: &mut SampleResult, part: &SampleResult, keep_labels: bool) {
    whole.bytes += part.bytes;
    whole.headers_size += part.headers_size;
    whole.sent += part.sent;
    let n = whole.sub_count;
    let mut label = std::mem::take(&mut whole.label);
    let length = label.len();
    let _ = write!(label, "-{n}");
    let sub = whole.add_sub();
    copy_all(part, sub);
    sub.label.clear();
    sub.label.push_str(if keep_labels { &sub.url } else { &label });
    label.truncate(length);
    whole.label = label;
}

fn copy_all(from: &SampleResult, to: &mut SampleResult) {
    from.show_in(to);
    to.label.push_str(&from.label);
    to.raw = from.raw;
    for part in from.subs() {
        let sub = to.add_sub();
        copy_all(part, sub);
        sub.deep = true;
    }
}

/// Sets whether the page is successful, considering its resources, and JMeter's message if it is not.
fn judge(whole: &mut SampleResult, passed: bool) {
    whole.success = passed;
    if passed {
        return;
    }
    whole.message.clear();
    whole.message.push_str("Embedded resource download error:");
    let message = &mut whole.message;
    for part in whole.subs[..whole.sub_count].iter().filter(|part| !part.success) {
        let _ = write!(message, "{} code:{} message:{}, ", part.url, part.code, part.message);
    }
}

/// Returns the value of `User-Agent` from request headers in JMeter's format.
fn user_agent(headers: &str) -> &str {
    let mut lines = headers.lines();
    lines.find_map(|line| line.strip_prefix("User-Agent: ")).unwrap_or_default().trim()
}
