//! Embedded resources of pages: finds them in a page, loads them by branches, and adds them to its result.

use std::fmt::Write;

use lang::links;
use plan::http::{Http, Resources};
use plan::plan::{Needs, SamplerId, SamplerKind};
use plan::result::SampleResult;
use stats::Outcome;

use crate::context::Context;
use crate::http::exchange::{Outgoing, SamplerRequest};
use crate::http::page::{Page, branch, free_branch, page};
use crate::http::{failure, names, side_cookies};
use crate::ids::UserId;
use crate::session::Sessions;
use crate::time::timing::Timing;
use crate::users::Wait;

/// Maximum number of spare results that a core keeps. Additional results of a larger page are freed.
const SPARE: usize = 256;

/// Loads the embedded resources of a page. Returns the completed sample if there is nothing to load.
pub(crate) fn load_page(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    id: SamplerId,
    mut timing: Timing,
    mut result: Box<SampleResult>,
) -> Option<(Timing, Outcome, Box<SampleResult>)> {
    (result.bytes, result.sent) = (timing.received, timing.sent);
    // Sub-results of files are named after the file, not after the sampler.
    let is_file = result.url.starts_with("file:");
    if is_file {
        result.label.clone_from(&result.url);
    }
    let outcome = match begin_page(cx, index, id, timing, &mut result) {
        Begun::Loads(mut page) => {
            page.whole = result;
            let user = &mut cx.users[index];
            user.extra().parts.put(page);
            user.wait = Wait::Page(id);
            fill_branches(outgoing, cx, sessions, index);
            return None;
        }
        Begun::Ends { passed: true } => Outcome::Ok,
        Begun::Ends { passed: false } => Outcome::Status,
    };
    (timing.received, timing.sent) = (result.bytes, result.sent);
    if is_file {
        name_page(cx, index, id, &mut result);
    }
    Some((timing, outcome, result))
}

/// Result of the search for the embedded resources of a page.
enum Begun {
    /// The page has resources to load.
    Loads(Box<Page>),
    /// There is nothing to load; `passed` is the status of the sample.
    Ends { passed: bool },
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
        start_branch(outgoing, cx, sessions, index, id, link);
    }
}

fn start_branch(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    parent: UserId,
    id: SamplerId,
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
    load_link(outgoing, cx, sessions, branch, id, http, &url);
    if let Some(page) = page(cx, parent) {
        page.links[link] = url;
    }
}

fn load_link(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    branch: UserId,
    id: SamplerId,
    http: &Http,
    url: &str,
) {
    names::read(cx, branch, id);
    let mut request = std::mem::take(&mut outgoing.request);
    let rendered = cx.with_env(branch, id, |env| http.render_embedded(url, env, &mut request));
    match rendered {
        Ok(()) => {
            let of = SamplerRequest { user: branch, sampler: id, http, request: &request };
            outgoing.send_rendered(cx, sessions, of, &mut None);
        }
        Err(problem) => {
            let mut result = cx.take_result();
            result.url.push_str(url);
            let (code, message) = (&*problem.code, &*problem.message);
            failure::unsendable(cx, branch, id, code, message, true, result);
        }
    }
    outgoing.request = request;
}

/// Handles the end of a download: adds its result to the page, and starts further downloads.
pub(crate) fn branch_done(
    outgoing: &mut Outgoing,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    branch: UserId,
    timing: &Timing,
    outcome: Outcome,
    mut result: Box<SampleResult>,
) {
    cx.timers.wheel.remove(branch, &mut cx.users);
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

/// Sets the label of a result to the name of its sampler.
fn name_page(cx: &Context<'_>, index: UserId, id: SamplerId, result: &mut SampleResult) {
    result.label.clear();
    result.label.push_str(cx.sampler_name(index, id));
}

/// Finds the embedded resources of a page.
fn begin_page(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: Timing,
    result: &mut SampleResult,
) -> Begun {
    const PASSED: Begun = Begun::Ends { passed: true };
    let plan = cx.plan;
    let SamplerKind::Http(http) = &plan.samplers[id.0 as usize].kind else { return PASSED };
    let Some(resources) = http.resources.as_ref() else { return PASSED };
    if !result.success || result.data_type != "text" {
        return Begun::Ends { passed: result.success };
    }
    let said = match cx.own_sampler(index).map(|own| &**own) {
        Some(SamplerKind::Http(own)) => own.loads_pages,
        _ => None,
    };
    let (on, at_a_time) = cx.with_env(index, id, |env| {
        let on = said.unwrap_or_else(|| resources.are_loaded(env));
        (on, resources.at_a_time(env))
    });
    if !on {
        return PASSED;
    }
    let depth = cx.users[index].extra.as_ref().map_or(0, |extra| extra.depth);
    let needs = plan.samplers[id.0 as usize].needs;
    if i64::from(depth) > cx.run.settings.http.max_frame_depth {
        add_too_deep(cx, result);
        return PASSED;
    }
    let mut found = Vec::new();
    let read = match resources.parsers.of(&result.content_type) {
        Some(parser) if !result.text.is_empty() => {
            let agent = user_agent(&result.request_headers);
            links::find(parser, &result.text, &result.url, agent, &mut found)
        }
        _ => Ok(()),
    };
    if !needs.intersects(Needs::BODY | Needs::TEXT) {
        // The body was needed only for its links.
        result.body.clear();
        result.text.clear();
    }
    if let Err(unreadable) = read {
        let error = error_result(cx, result, unreadable.class, &unreadable.message);
        add_part(result, &error, cx.run.settings.results.keep_sub_labels);
        cx.give_result(error);
        if !cx.run.settings.http.ignore_failed_resources {
            judge(result, false);
        }
        return Begun::Ends { passed: result.success };
    }
    if found.is_empty() {
        return PASSED;
    }
    let mut page = Box::new(Page::new(id, timing, at_a_time, found.len()));
    choose(cx, index, id, resources, found, &mut page, result);
    Begun::Loads(page)
}

/// Selects the links that match the plan's patterns. Links that cannot be loaded get a failed result at once.
fn choose(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    resources: &Resources,
    found: Vec<String>,
    page: &mut Page,
    result: &SampleResult,
) {
    for mut link in found {
        links::escape(&mut link);
        if !cx.with_env(index, id, |env| resources.accepts(&link, env)) {
            continue;
        }
        let broken = (!links::normalize(&mut link)).then(|| {
            let message = format!("{link} URI can not be normalized");
            error_result(cx, result, "java.lang.Exception", &message)
        });
        if broken.is_some() {
            link.clear();
        }
        page.links.push(link);
        page.results.push(broken);
    }
}

/// Adds the error for frames that are nested too deeply. After a redirect, JMeter first replaces the result of the
/// redirect's target by the error, then the whole sample, so the error's label contains the labels of both.
fn add_too_deep(cx: &mut Context<'_>, result: &mut SampleResult) {
    let (class, message) = ("java.lang.Exception", "Maximum frame/iframe nesting depth exceeded.");
    let keep_labels = cx.run.settings.results.keep_sub_labels;
    let error = error_result(cx, result, class, message);
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
    cx.give_result(error);
}

/// Returns a copy of a result, failed with an exception.
fn error_result(
    cx: &mut Context<'_>,
    result: &SampleResult,
    class: &str,
    message: &str,
) -> Box<SampleResult> {
    let mut error = cx.take_result();
    result.show_in(&mut error);
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
    if whole.url.starts_with("file:") {
        name_page(cx, index, id, &mut whole);
    }
    cx.complete_page(index, id, timing, outcome, whole);
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

/// Sets the status of a page, which includes its resources, and JMeter's message if the page has failed.
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
