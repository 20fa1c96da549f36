//! Cookies of page resources that are loaded in parallel.
//!
//! As in JMeter, each resource starts with a copy of the page's cookies and changes only this copy. When all resources
//! are loaded, the cookies of each copy are added to the page's jar in the order of the links. So a changed cookie gets
//! its old value back if a later resource did not change it, and no cookie is deleted. The copy is made only when a
//! resource receives a cookie.

use plan::plan::{SamplerId, SamplerKind};
use wire::cookie::{Cookie, Jar};

use crate::context::Context;
use crate::http::{cookies, page};
use crate::ids::UserId;
use crate::session::http1::Stash;
use crate::users::NO_USER;

/// Stores the cookies of a response in the jar of its user or of its resource.
pub(crate) fn take_cookies(cx: &mut Context<'_>, index: UserId, id: SamplerId, stash: &Stash) {
    let Some(manager) = cookie_manager(cx, id) else { return };
    let owner = own_jar(cx, index, manager);
    cookies::store_cookies(cx, owner, id, stash);
}

/// Adds the cookies of the resources to the page's jar. `parts` is true for each link that was loaded; `copies` are
/// the jars by index of the link.
pub(crate) fn merge_cookies(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    parts: &[bool],
    mut copies: Vec<(usize, Box<Jar>)>,
) {
    if copies.is_empty() {
        return;
    }
    let Some(manager) = cookie_manager(cx, id) else { return };
    let owner = own_jar(cx, index, manager);
    let before = cookies_in(cx, owner, manager);
    copies.sort_by_key(|(link, _)| *link);
    let mut copies = copies.into_iter().peekable();
    let mut changed = false;
    for (link, _) in parts.iter().enumerate().filter(|(_, is_part)| **is_part) {
        match copies.next_if(|(of, _)| *of == link) {
            Some((_, copy)) => {
                add_cookies(cx, owner, manager, copy.iter());
                changed = true;
            }
            None if changed => {
                add_cookies(cx, owner, manager, before.iter());
                changed = false;
            }
            None => {}
        }
    }
}

/// Returns the owner of the cookie jar that a response changes. This is the nearest resource that is loaded in
/// parallel (its copy of the jar is created now), or else the user.
fn own_jar(cx: &mut Context<'_>, index: UserId, manager: u32) -> UserId {
    let mut owner = index;
    while cx.users[owner].branch_of != NO_USER && !page::is_parallel_download(cx, owner) {
        owner = cx.users[owner].branch_of;
    }
    let from = cx.jar_around(owner, manager);
    let Some(at) = cx.jar(from, manager) else { return owner };
    if from != owner {
        let copy = cx.users[from].extra().jars[at].clone();
        let jars = &mut cx.users[owner].extra().jars;
        if jars.len() <= at {
            jars.resize_with(at + 1, || None);
        }
        jars[at] = copy;
    }
    owner
}

fn cookie_manager(cx: &Context<'_>, id: SamplerId) -> Option<u32> {
    match &cx.plan.samplers[id.0 as usize].kind {
        SamplerKind::Http(http) => http.cookies,
        _ => None,
    }
}

fn cookies_in(cx: &mut Context<'_>, owner: UserId, manager: u32) -> Vec<Cookie> {
    let jars = &cx.users[owner].extra().jars;
    let jar = jars.get(manager as usize).and_then(Option::as_ref);
    jar.map_or(Vec::new(), |jar| jar.iter().cloned().collect())
}

fn add_cookies<'c>(
    cx: &mut Context<'_>,
    owner: UserId,
    manager: u32,
    cookies: impl Iterator<Item = &'c Cookie>,
) {
    for cookie in cookies {
        if cx.run.settings.cookies.save {
            cookies::show_cookie(cx, owner, &cookie.name, &cookie.value);
        }
        if let Some(jar) = &mut cx.users[owner].extra().jars[manager as usize] {
            jar.add(cookie.clone());
        }
    }
}
