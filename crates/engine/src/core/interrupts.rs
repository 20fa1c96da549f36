//! Interrupts samples that take longer than their Sample Timeout allows, whatever their users wait for.

use crate::core::Core;
use crate::http::page;
use crate::ids::UserId;
use crate::users::Wait;
use plan::plan::SamplerKind;

impl Core<'_> {
    /// Interrupts a user's sampler that has taken too long.
    pub(crate) fn interrupt(&mut self, index: UserId) {
        let user = &self.cx.users[index];
        if !user.alive {
            return;
        }
        match user.wait {
            Wait::Session(ticket) => {
                let (sessions, mut around) = self.sessions();
                sessions.interrupt(&mut around, ticket);
            }
            Wait::Page(_) => {
                // JMeter does not interrupt parallel downloads: their samplers are unknown to it.
                if let Some(branch) = page::only_branch(&mut self.cx, index)
                    && let Wait::Session(ticket) = self.cx.users[branch].wait
                {
                    let (sessions, mut around) = self.sessions();
                    sessions.interrupt(&mut around, ticket);
                }
            }
            Wait::Pause(_) => {
                self.cx.timers.wheel.remove(index, &mut self.cx.users);
                self.resume(index);
            }
            Wait::Sleep(id) => {
                let own = self.cx.own_sampler(index).cloned();
                let kind = own.as_deref().unwrap_or(&self.cx.plan.samplers[id.0 as usize].kind);
                let SamplerKind::Java(java) = kind else { return };
                self.cx.timers.wheel.remove(index, &mut self.cx.users);
                let now = self.cx.clock.now();
                let user = &mut self.cx.users[index];
                user.links.deadline = now;
                if let Some(pending) = user.extra().pending.as_deref_mut() {
                    java.interrupt(pending);
                }
                self.resume(index);
            }
            Wait::Java => self.interrupt_java_backed(index),
            Wait::Branches(id) => {
                // The plug-in starts no more branches in this thread, and lets running branches finish.
                let closed = &mut self.cx.users[index].extra().closed;
                if !closed.contains(&id) {
                    closed.push(id);
                }
            }
            _ => {}
        }
    }
}
