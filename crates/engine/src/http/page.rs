//! Pages: branches of a user load the embedded resources of a page, at most as many at a time as the plan allows.
//!
//! A branch is a slot among the users, but not a virtual user. It has one exchange (and its redirects) in flight,
//! on a connection of its user, and its result becomes a sub-result of the page. Branches are kept for the next
//! page. A page within a page is loaded by branches of the branch.

use plan::plan::SamplerId;
use plan::result::SampleResult;
use wire::cookie::Jar;

use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::{Timing, TraceId};
use crate::users::{NO_USER, Wait};

/// A page whose resources are being loaded.
#[derive(Debug)]
pub(crate) struct Page {
    pub(super) id: SamplerId,
    /// The result of the page's own request.
    pub(super) whole: Box<SampleResult>,
    pub(super) timing: Timing,
    /// Sum of the lag of all resources, in nanoseconds.
    pub(super) lag: u64,
    /// URLs of the resources in page order, and their results; `None` if a cache had the resource.
    pub(super) links: Vec<String>,
    pub(super) results: Vec<Option<Box<SampleResult>>>,
    /// Cookie jars of resources that received cookies while other resources were in flight, each with the index of
    /// its link.
    pub(super) jars: Vec<(usize, Box<Jar>)>,
    pub(super) next: usize,
    /// The download branch that was started last.
    pub(super) last: UserId,
    pub(super) in_flight: usize,
    pub(super) at_a_time: usize,
    /// True if the end of the run has cut the page.
    pub(super) cut: bool,
}

impl crate::users::Part for Page {}

impl Page {
    pub(super) fn new(id: SamplerId, timing: Timing, at_a_time: usize, links: usize) -> Self {
        Self {
            id,
            whole: Box::default(),
            timing,
            lag: 0,
            links: Vec::with_capacity(links),
            results: Vec::with_capacity(links),
            jars: Vec::new(),
            next: 0,
            last: NO_USER,
            in_flight: 0,
            at_a_time,
            cut: false,
        }
    }
}

/// Returns the page whose resources a user loads.
pub(super) fn page<'c>(cx: &'c mut Context<'_>, index: UserId) -> Option<&'c mut Page> {
    cx.users[index].extra.as_mut()?.parts.get_mut()
}

/// Returns the trace id of the page whose resource a branch loads.
pub(super) fn page_trace(cx: &Context<'_>, branch: UserId) -> Option<TraceId> {
    let parent = cx.users[branch].branch_of;
    if parent == NO_USER {
        return None;
    }
    Some(cx.users[parent].extra.as_ref()?.parts.get::<Page>()?.timing.trace)
}

/// Returns a new branch of a user, which loads the resource with the index `link`.
pub(super) fn branch(cx: &mut Context<'_>, parent: UserId, link: usize) -> UserId {
    let depth = cx.users[parent].extra.as_ref().map_or(0, |extra| extra.depth) + 1;
    let branch = cx.users.branch(parent, cx.clock.now());
    let extra = cx.users[branch].extra();
    (extra.link, extra.depth) = (link, depth);
    branch
}

/// Returns the branch that loads a resource, if the resources of a page are loaded one after another.
pub(crate) fn only_branch(cx: &mut Context<'_>, index: UserId) -> Option<UserId> {
    let page = page(cx, index)?;
    (page.at_a_time == 1 && page.in_flight == 1).then_some(page.last)
}

/// Ends a branch without a result, because the resource is in the user's cache.
pub(crate) fn branch_left_out(cx: &mut Context<'_>, branch: UserId) {
    let (parent, _) = free_branch(cx, branch);
    if let Some(page) = page(cx, parent) {
        page.in_flight -= 1;
    }
}

/// Frees a branch. Returns its user and the index of its resource. If the resource has received cookies, its cookie jar
/// is kept for the page.
pub(super) fn free_branch(cx: &mut Context<'_>, branch: UserId) -> (UserId, usize) {
    let user = &mut cx.users[branch];
    let (parent, link) = (user.branch_of, user.extra().link);
    let jar = user.extra().jars.iter_mut().find_map(Option::take);
    (user.alive, user.branch_of, user.wait) = (false, NO_USER, Wait::Ready);
    cx.users.free_branch(branch);
    if let Some((page, jar)) = page(cx, parent).zip(jar) {
        page.jars.push((link, jar));
    }
    (parent, link)
}

/// Returns true if a branch loads a resource in parallel with others.
pub(crate) fn is_parallel_download(cx: &mut Context<'_>, branch: UserId) -> bool {
    let parent = cx.users[branch].branch_of;
    parent != NO_USER && page(cx, parent).is_some_and(|page| page.at_a_time > 1)
}
