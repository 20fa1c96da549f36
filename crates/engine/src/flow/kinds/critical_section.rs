//! Critical Section Controller: one user at a time, by the name of a lock.
//!
//! A lock has an owner core, as a barrier has ([`crate::flow::barriers`]). A section inside of another with the same lock is entered at once.

use plan::plan::{ControllerId, ControllerKind};
use plan::text::Text;

use crate::core::Core;
use crate::ids::UserId;
use crate::inbox::Ask;
use crate::users::controllers as state;
use crate::users::{Held, Wait};

impl Core<'_> {
    /// Whether a controller is a Critical Section that is to be entered.
    pub(crate) fn may_enter(&mut self, index: UserId, id: ControllerId) -> bool {
        let ControllerKind::Critical(lock) = &self.cx.controller(id).kind else { return true };
        self.cx.controller_state(index, id).is(state::BEGUN) || self.enter_section(index, id, lock)
    }

    /// A user comes to a Critical Section. False: it waits.
    pub(crate) fn enter_section(&mut self, index: UserId, id: ControllerId, lock: &Text) -> bool {
        if let Some(extra) = &self.cx.users[index].extra
            && let Some(held) = extra.locks.iter().find(|held| held.controller == id)
        {
            return held.granted;
        }
        let mut name = self.cx.texts.take();
        lock.eval(&mut self.cx.env(index, ""), &mut name);
        if name.is_empty() {
            self.cx.texts.give(name);
            return true;
        }
        let ticket = self.ticket(index);
        let locks = &mut self.cx.users[index].extra().locks;
        let around = locks.iter().any(|held| *held.name == *name && held.granted);
        let own: Box<str> = name.as_str().into();
        self.cx.texts.give(name);
        locks.push(Held {
            controller: id,
            name: own.clone(),
            ticket,
            granted: around,
            inner: around,
        });
        if around {
            return true;
        }
        self.ask(Ask::Lock { name: own, ticket });
        let locks = &self.cx.users[index].extra().locks;
        if locks.iter().any(|held| held.ticket == ticket && held.granted) {
            return true;
        }
        self.cx.users[index].wait = Wait::Lock;
        false
    }

    /// A user leaves a Critical Section.
    pub(crate) fn leave_section(&mut self, index: UserId, id: ControllerId) {
        let Some(extra) = &mut self.cx.users[index].extra else { return };
        let Some(at) = extra.locks.iter().position(|held| held.controller == id) else { return };
        let held = extra.locks.remove(at);
        if !held.inner {
            self.ask(Ask::Unlock { name: held.name, ticket: held.ticket });
        }
    }
}
