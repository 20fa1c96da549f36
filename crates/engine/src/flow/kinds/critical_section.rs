//! Critical Section Controller: only one user at a time enters the sections that share the name of a lock.
//!
//! A lock has an owner core, as a barrier has ([`crate::flow::barriers`]). A section inside another section with
//! the same lock is entered immediately.

use plan::template::Template;

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::inbox::OwnerRequest;
use crate::users::{Held, Wait};

/// Enters the section before its first child.
pub(crate) fn before(visit: &mut Visit<'_, '_>, lock: &Template) -> Option<Pull> {
    if visit.is_first() && !enter(visit, lock) { Some(Pull::Later) } else { None }
}

/// Lets a user enter the section. Returns false if the user must wait.
fn enter(visit: &mut Visit<'_, '_>, lock: &Template) -> bool {
    let (index, id) = (visit.index, visit.id);
    if let Some(extra) = &visit.cx.users[index].extra
        && let Some(held) = extra.locks.iter().find(|held| held.controller == id)
    {
        return held.granted;
    }
    let mut name = visit.cx.texts.take();
    lock.eval(&mut visit.env(), &mut name);
    if name.is_empty() {
        visit.cx.texts.give(name);
        return true;
    }
    let waiter = visit.flow.waiter(visit.cx, index);
    let locks = &mut visit.cx.users[index].extra().locks;
    let around = locks.iter().any(|held| *held.name == *name && held.granted);
    let own: Box<str> = name.as_str().into();
    visit.cx.texts.give(name);
    locks.push(Held { controller: id, name: own.clone(), waiter, granted: around, inner: around });
    if around {
        return true;
    }
    visit.flow.ask(visit.cx, OwnerRequest::Lock { name: own, waiter });
    let locks = &visit.cx.users[index].extra().locks;
    if locks.iter().any(|held| held.waiter == waiter && held.granted) {
        return true;
    }
    visit.cx.users[index].wait = Wait::Lock;
    false
}

/// Leaves the section at the end of an iteration.
pub(crate) fn end_iteration(visit: &mut Visit<'_, '_>) {
    visit.state().set_current(0);
    let Some(extra) = &mut visit.cx.users[visit.index].extra else { return };
    let Some(at) = extra.locks.iter().position(|held| held.controller == visit.id) else { return };
    let held = extra.locks.remove(at);
    if !held.inner {
        visit.flow.ask(visit.cx, OwnerRequest::Unlock { name: held.name, waiter: held.waiter });
    }
}
