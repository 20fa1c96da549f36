//! Lists the samplers and listeners whose objects Java gets: samplers and listeners that their Java classes run, and
//! samplers that scripts read or change.
//!
//! Java receives a sampler with the config elements in its scope, and merges them as JMeter does. A natively run
//! sampler is listed only if an element in its scope reads or changes it.

use std::sync::Arc;

use jmx::ElementId;

use super::scope::{self, children, class};
use super::{Settings, Walk};
use crate::assertion::Assertion;
use crate::element::auth_manager;
use crate::element::{Timer, USER_TOKEN};
use crate::extract::Extractor;
use crate::java_backed::{JavaBackedId, Job, Owner, Reads, Role};
use crate::plan::{
    Before, ControllerId, ControllerKind, GroupId, Listener, ListenerKind, Needs, Sampler,
    SamplerId, SamplerKind,
};
use crate::support::{Kind, Level};

/// Classes of native config elements that samplers in Java read.
const CONFIGS: &[&str] = &[
    "ConfigTestElement",
    "HeaderManager",
    "CookieManager",
    "CacheManager",
    "AuthManager",
    "DNSCacheManager",
    "LoginConfig",
    "JavaConfig",
];

impl Walk<'_> {
    /// Returns true if an HTTP Request needs an authentication scheme that only Java supports. All samplers with
    /// the same manager then run in Java, and share cookies there.
    pub(super) fn asks_for_java(&self, id: ElementId, configs: &[ElementId]) -> bool {
        let doc = self.ctx.doc;
        let manager = || configs.iter().rev().find(|id| class(doc, **id) == "AuthManager");
        self.ctx.settings.java_backing
            && class(doc, id) == "HTTPSamplerProxy"
            && manager().is_some_and(|manager| auth_manager::asks_for_kerberos(&self.ctx, *manager))
    }

    /// Compiles a sampler without a native form. Discards its expressions since `mark`, because its Java class
    /// evaluates them.
    pub(super) fn java_backed_sampler(&mut self, id: ElementId, mark: u32) -> Option<SamplerKind> {
        self.ctx.forget(mark);
        // Some settings of these native classes have no native form. Samplers of other native classes get here only if
        // the user has not allowed their work, such as running programs.
        let partly =
            ["HTTPSamplerProxy", "JavaSampler", "TCPSampler", "kg.apc.jmeter.samplers.UDPSampler"];
        let java_backed = if partly.contains(&class(self.ctx.doc, id)) {
            self.ctx.host_as_is(id, Role::Sampler)
        } else {
            self.ctx.host(id, Role::Sampler)
        };
        java_backed.map(SamplerKind::JavaBacked)
    }

    /// Compiles a controller that its Java class runs. Not supported inside a branch, because Java sees a branch as
    /// another user.
    pub(super) fn java_backed_controller(
        &mut self,
        id: ElementId,
        around: ControllerId,
    ) -> Option<ControllerKind> {
        let mut at = Some(around);
        while let Some(outer) = at {
            let outer = &self.plan.controllers[outer.0 as usize];
            if matches!(outer.kind, ControllerKind::Branch) {
                let what = "a controller that runs in Java cannot run in a Parallel Controller: move its children into \
                    another controller";
                self.ctx.remark(id, Level::Unsupported, what);
                return None;
            }
            at = outer.parent;
        }
        self.ctx.host(id, Role::Controller).map(ControllerKind::JavaBacked)
    }

    /// Compiles a listener that its Java class runs.
    pub(super) fn java_backed_listener(&mut self, id: ElementId) -> Option<Listener> {
        let java_backed = if class(self.ctx.doc, id) == "BackendListener" {
            self.ctx.host_as_is(id, Role::Listener)
        } else {
            self.ctx.host(id, Role::Listener)
        };
        let name = self.ctx.doc.element(id).name.clone();
        java_backed.map(|id| Listener { name, kind: ListenerKind::JavaBacked(id) })
    }

    /// Adds a sampler to the samplers that Java knows, if its Java class runs it, or if an element reads or changes its
    /// object.
    pub(super) fn own(&mut self, at: SamplerId, id: ElementId, configs: &[ElementId]) {
        let sampler = &self.plan.samplers[at.0 as usize];
        let element = match sampler.kind {
            SamplerKind::JavaBacked(element) => element,
            SamplerKind::Parallel(_) => {
                if self.is_read(sampler) {
                    let what = "scripts in its scope get no sampler object and cannot change it";
                    self.ctx.remark(id, Level::Native, what);
                }
                return;
            }
            _ => {
                let headers = configs.iter().any(|id| class(self.ctx.doc, *id) == "HeaderManager");
                let sends =
                    matches!(sampler.kind, SamplerKind::Http(_) | SamplerKind::WebSocket(_));
                if headers && sends && !self.is_read_before(sampler) {
                    self.ctx.java_backing.unread.push((at, id, configs.to_vec()));
                }
                if !self.ctx.java_backing.java_backed.previous_sampler && !self.is_read(sampler) {
                    return;
                }
                self.known_only(id)
            }
        };
        self.enlist_owner(at, id, element, configs);
    }

    /// Adds a natively run sampler to the elements that Java knows, so that scripts get its object.
    fn known_only(&mut self, id: ElementId) -> JavaBackedId {
        let at = self.ctx.enlist(id, Role::Sampler);
        let java_backed = &mut self.ctx.java_backing.java_backed;
        java_backed.elements[at.0 as usize].native = true;
        if java_backed.settings.is_none() {
            let settings = Settings { java_backing: false, ..self.ctx.settings.clone() };
            java_backed.settings = Some(Arc::new(settings));
        }
        at
    }

    /// Adds a sampler to the samplers that Java knows (`owners`), with those config elements in its scope that Java
    /// merges into the sampler's object.
    fn enlist_owner(
        &mut self,
        at: SamplerId,
        id: ElementId,
        element: JavaBackedId,
        configs: &[ElementId],
    ) {
        let java_backed =
            matches!(self.plan.samplers[at.0 as usize].kind, SamplerKind::JavaBacked(_));
        let mut found = Vec::new();
        for config in configs {
            let name = class(self.ctx.doc, *config);
            if super::java_backing::is_script(class(self.ctx.doc, id)) {
                break;
            }
            if CONFIGS.contains(&name) {
                let at = self.ctx.enlist(*config, Role::Config);
                found.push(at);
                if java_backed && name.ends_with("Manager") {
                    self.iterates(*config, at);
                }
            } else {
                found.extend(self.ctx.host(*config, Role::Config));
            }
        }
        let owner = Owner { sampler: at, element, configs: found, asks_for_headers: false };
        self.ctx.java_backing.java_backed.owners.push(owner);
    }

    /// Adds samplers to the samplers that Java knows, if scripts in the scope of other samplers may change a Header
    /// Manager that both have in scope.
    pub(super) fn share_headers(&mut self) {
        let unread = std::mem::take(&mut self.ctx.java_backing.unread);
        if unread.is_empty() || !self.ctx.scripts_touch_headers() {
            return;
        }
        for (at, id, configs) in unread {
            let doc = self.ctx.doc;
            let mut managers = configs.iter().filter(|id| class(doc, **id) == "HeaderManager");
            if !managers.any(|id| self.ctx.known(*id).is_some()) {
                continue;
            }
            if self.ctx.java_backing.java_backed.owner(at).is_none() {
                let element = self.known_only(id);
                self.enlist_owner(at, id, element, &configs);
            }
            let owners = &mut self.ctx.java_backing.java_backed.owners;
            if let Some(owner) = owners.iter_mut().find(|owner| owner.sampler == at) {
                owner.asks_for_headers = true;
            }
        }
    }

    /// Registers an element for notifications about iterations, of its group or of all groups.
    fn iterates(&mut self, id: ElementId, at: JavaBackedId) {
        debug_assert_eq!(self.ctx.known(id), Some(at));
        let java_backed = &mut self.ctx.java_backing.java_backed;
        if !java_backed.iterating.contains(&at) {
            java_backed.iterating.push(at);
        }
    }

    /// Returns the thread group that contains an element.
    fn group_of(&self, id: ElementId) -> Option<GroupId> {
        let mut around = self.ctx.doc.element(id).parent;
        while let Some(id) = around {
            if scope::kind(self.ctx.doc, id) == Kind::Group {
                // A group that does not run has no users to notify.
                return Some(self.groups.get(&id).copied().unwrap_or(GroupId(u32::MAX)));
            }
            around = self.ctx.doc.element(id).parent;
        }
        None
    }

    /// Returns true if a pre-processor in Java reads the sampler object.
    fn is_read_before(&self, sampler: &Sampler) -> bool {
        sampler.before.iter().any(|one| match one {
            Before::Job(job) => self.ctx.reads(*job).contains(Reads::SAMPLER),
            Before::UserParameters(_) | Before::Script(_) => false,
        })
    }

    /// Returns true if any Java job in the sampler's scope reads the sampler object.
    fn is_read(&self, sampler: &Sampler) -> bool {
        let reads = |job: Job| self.ctx.reads(job).contains(Reads::SAMPLER);
        let before = sampler.before.iter().filter_map(|one| match one {
            Before::Job(job) => Some(*job),
            Before::UserParameters(_) | Before::Script(_) => None,
        });
        let timers = sampler.timers.iter().filter_map(|timer| match timer {
            Timer::Job(job) => Some(*job),
            _ => None,
        });
        let after = sampler.after.iter().filter_map(|one| match one {
            Extractor::Job(job) => Some(*job),
            _ => None,
        });
        let checks = sampler.checks.iter().filter_map(Assertion::job);
        let listeners = sampler.listeners.iter().filter_map(|listener| {
            match self.plan.listeners[listener.0 as usize].kind {
                ListenerKind::JavaBacked(id) => Some(Job::Run(id)),
                _ => None,
            }
        });
        let own = Job::Evaluate(sampler.evaluates);
        before.chain(timers).chain(after).chain(checks).chain(listeners).chain([own]).any(reads)
    }

    /// Adds all other config elements without a native form, wherever they are in the plan, to the elements that Java
    /// runs. Makes samplers keep all parts of results that elements read before the next sampler.
    pub(super) fn host_the_rest(&mut self, root: ElementId) {
        let doc = self.ctx.doc;
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if scope::is_unused_fragment(doc, id) || scope::kind(doc, id) == Kind::Other {
                continue;
            }
            if scope::kind(doc, id) == Kind::Config
                && let Some(at) = self.ctx.host(id, Role::Config)
            {
                self.iterates(id, at);
            }
            open.extend(children(doc, id).into_iter().rev());
        }
        let needs = self.ctx.java_backing.of_previous;
        if needs != Needs::empty() {
            self.plan.samplers.iter_mut().for_each(|sampler| sampler.needs |= needs);
        }
    }

    /// Makes Java choose client keys for HTTPS connections of scripts, if the plan selects keys and server
    /// certificates are not checked.
    fn host_keys(&mut self) {
        let hosts = !self.ctx.java_backing.java_backed.elements.is_empty() || self.ctx.mark() > 0;
        let verify = self.ctx.settings.property("throng.tls.verify", "").trim().to_owned();
        if !self.ctx.settings.java_backing || !hosts || !matches!(verify.as_str(), "" | "false") {
            return;
        }
        for id in std::mem::take(&mut self.keystores) {
            let at = self.ctx.enlist(id, Role::Config);
            self.ctx.java_backing.java_backed.elements[at.0 as usize].native = true;
        }
    }

    /// Moves the elements that Java knows, and the expressions that it evaluates, from the compilation state into the
    /// plan.
    pub(super) fn take_java_backed(&mut self) {
        self.share_headers();
        self.host_keys();
        let of_groups = self.ctx.all_known().into_iter();
        let of_groups = of_groups.filter_map(|(at, id)| Some((at, self.group_of(id)?)));
        self.ctx.java_backing.java_backed.of_groups = of_groups.collect();
        if !self.ctx.java_backing.java_backed.elements.is_empty() {
            let reads_any_name = self.ctx.reads_any_name();
            self.ctx.java_backing.java_backed.reads_any_name = reads_any_name;
            if reads_any_name {
                self.ctx.text.names.intern(USER_TOKEN);
            }
        }
        let variables = std::mem::take(&mut self.plan.java_backed.variables);
        let begins_blank = self.plan.java_backed.begins_blank;
        self.plan.java_backed = self.ctx.take_java_backed();
        self.plan.java_backed.variables = variables;
        self.plan.java_backed.begins_blank = begins_blank;
        let controllers = &self.plan.controllers;
        let has_transactions =
            controllers.iter().any(|one| matches!(one.kind, ControllerKind::Transaction(_)));
        let reads = |one: &crate::java_backed::Element| {
            matches!(one.role, Role::Assertion | Role::Listener)
                && one.reads.contains(Reads::PREVIOUS)
        };
        let java_backed = &mut self.plan.java_backed;
        java_backed.previous_of_transactions =
            has_transactions && java_backed.elements.iter().any(reads);
    }
}
