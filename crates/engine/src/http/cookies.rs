//! Cookies of users, and the effects of a new iteration on cookies, caches and connections.

use plan::plan::{SamplerId, SamplerKind};
use wire::cookie::{Origin, Stored};

use crate::context::Context;
use crate::http::lines::value_of;
use crate::ids::UserId;
use crate::session::Sessions;
use crate::session::http1::Stash;
use crate::users::branches::Branches;

/// Prepares a user for its first HTTP sample in an iteration: if the iteration counts as a different user, the
/// connections and TLS sessions of the previous iteration are dropped.
pub(crate) fn refresh_user(cx: &mut Context<'_>, sessions: &mut Sessions, index: UserId) {
    let user = &mut cx.users[index];
    if !std::mem::replace(&mut user.fresh, false) {
        return;
    }
    if user.parallel {
        return refresh_branch(cx, index);
    }
    // Branches also increase the iteration count, but the user's first iteration must still count as the first.
    let is_first = |extra: &crate::users::Extra| extra.new_each_iteration && !extra.again;
    if user.iteration == 1 || user.extra.as_deref().is_some_and(is_first) {
        return;
    }
    let different = !cx.plan.groups[user.group.at()].same_user
        || user.extra.as_ref().is_some_and(|extra| extra.new_each_iteration);
    let settings = &cx.run.settings;
    if (different || settings.http.reset_always) && settings.http.reset_state {
        cx.run.trust.begin();
        if let Some(extra) = user.extra.as_mut() {
            extra.tls = None;
            extra.alias = None;
            extra.owner = 0;
        }
        let closed = sessions.close_clients(&mut cx.around(), index);
        cx.recorder.add(stats::Counter::ConnClosedForNewUser, closed);
    }
}

/// Prepares a parallel branch for its first HTTP sample. In JMeter, a branch that runs once more counts as a different
/// user: HttpClient changes its user token to the name of the branch's thread, and does not reuse connections with
/// other tokens.
fn refresh_branch(cx: &mut Context<'_>, branch: UserId) {
    let (parent, main) = (cx.users[branch].branch_of, cx.users[branch].extra().main);
    let branches = cx.users[parent].extra.as_ref().and_then(|extra| extra.parts.get::<Branches>());
    let (Some(branches), Some(main)) = (branches, main) else { return };
    let owner = u16::try_from(branches.id.0 + 1).unwrap_or(u16::MAX);
    let root = cx.users.of(branch);
    let fresh = root.fresh;
    let extra = root.extra();
    if extra.ran.contains(&main) {
        if cx.run.settings.http.reset_state {
            extra.owner = owner;
        }
        return;
    }
    extra.ran.push(main);
    if fresh && !extra.again && extra.ran.len() == 1 {
        extra.owner = owner;
    }
}

/// Stores the cookies of a response in the user's jar.
pub(crate) fn store_cookies(cx: &mut Context<'_>, index: UserId, id: SamplerId, stash: &Stash) {
    let SamplerKind::Http(http) = &cx.plan.samplers[id.0 as usize].kind else { return };
    let Some(manager) = http.cookies else { return };
    let now_ms = cx.clock.wall_ms(cx.clock.now());
    let Some(at) = cx.jar(index, manager) else { return };
    let Ok(url) = lang::url::absolute(&stash.url) else { return };
    let path = url.path_and_query.split('?').next().unwrap_or("/");
    let path = if path.is_empty() { "/" } else { path };
    let origin = Origin { host: url.host, path, secure: url.scheme.eq_ignore_ascii_case("https") };
    let user = &mut cx.users[index];
    let Some(jar) = user.extra.as_mut().and_then(|extra| extra.jars[at].as_mut()) else {
        return;
    };
    let saves = cx.run.settings.cookies.save;
    let mut shown = Vec::new();
    for line in stash.head.split(|byte| *byte == b'\n') {
        let Some(value) = value_of(line, b"set-cookie") else { continue };
        // Rejected cookies are ignored without a message, as with JMeter's default log level.
        let _ = jar.store(&origin, value, now_ms, |stored| {
            if let (Stored::Set(cookie), true) = (stored, saves) {
                shown.push((cookie.name.clone(), cookie.value.clone()));
            }
        });
    }
    for (name, value) in shown {
        show_cookie(cx, index, &name, &value);
    }
}

/// Sets the variable that holds a cookie's value for the plan.
pub(crate) fn show_cookie(cx: &mut Context<'_>, index: UserId, cookie: &str, value: &str) {
    let mut name = cx.texts.take();
    name.push_str(&cx.run.settings.cookies.prefix);
    name.push_str(cookie);
    cx.users.of(index).vars.set_named(&cx.plan.names, &name, value);
    cx.texts.give(name);
}

/// Begins an iteration of the group: clears the cookies, resolved host names and caches that the plan clears for each
/// iteration.
pub(crate) fn begin_iteration(cx: &mut Context<'_>, index: UserId) {
    let plan = cx.plan;
    let user = &mut cx.users[index];
    user.iteration += 1;
    user.fresh = true;
    if user.iteration > 1 {
        cx.recorder.add(stats::Counter::IterationsDone, 1);
    }
    let same_user = plan.groups[user.group.at()].same_user
        && !user.extra.as_ref().is_some_and(|extra| extra.new_each_iteration);
    let first = user.iteration == 1;
    let Some(extra) = user.extra.as_mut() else { return };
    extra.again = !first;
    for (at, jar) in extra.jars.iter_mut().enumerate() {
        let manager = &plan.cookie_managers[at];
        let clears =
            if manager.controlled_by_group { !same_user } else { manager.clear_each_iteration };
        if clears && !first {
            // The next use creates the cookie jar anew, with the plan's own cookies.
            *jar = None;
        }
    }
    for (manager, names) in plan.dns_managers.iter().zip(&mut extra.names) {
        if manager.clear_each_iteration {
            names.clear();
        }
    }
    for (manager, cache) in plan.cache_managers.iter().zip(&mut extra.caches) {
        let clears =
            if manager.controlled_by_group { !same_user } else { manager.clear_each_iteration };
        if clears {
            *cache = None;
        }
    }
}
