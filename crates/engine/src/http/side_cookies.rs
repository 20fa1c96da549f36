//! Cookies of the parts of a page that are loaded side by side.
//!
//! As in JMeter each part has a copy of the cookies that were there with the page, and goes on with its own; when all parts are
//! loaded, the cookies of each are added to the page's in the order of the links. So a cookie that one part changed is as before again where a
//! part behind it did not change it, and none is deleted. A part gets its copy only when it is sent a cookie.

use plan::plan::{SamplerId, SamplerKind};
use wire::cookie::{Cookie, Jar};

use crate::context::Context;
use crate::http::{cookies, page};
use crate::ids::UserId;
use crate::session::http1::Stash;
use crate::users::NO_USER;

/// Takes the cookies of a response.
pub(crate) fn take_cookies(cx: &mut Context<'_>, index: UserId, id: SamplerId, stash: &Stash) {
    let Some(manager) = cookie_manager(cx, id) else { return };
    let owner = own_jar(cx, index, manager);
    cookies::store_cookies(cx, owner, id, stash);
}

/// Adds the cookies of the parts of a page to the page's: of each link whether it is a part, and the copies by link.
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

/// The owner of the cookies that a response changes: the nearest part that is loaded beside others, which gets its copy here,
/// or the user.
fn own_jar(cx: &mut Context<'_>, index: UserId, manager: u32) -> UserId {
    let mut owner = index;
    while cx.users[owner].branch_of != NO_USER && !page::is_beside_others(cx, owner) {
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
