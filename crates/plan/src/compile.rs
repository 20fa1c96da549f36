//! Compiles the document to the plan: a walk over the tree that gives each controller its children and each sampler
//! its scope.
//!
//! All problems are reported together; only a missing Test Plan prevents a plan. An element that cannot run is left out
//! of the plan and listed in [`Compiled::support`]: the caller decides whether to continue without it. Cost: time and
//! memory in proportion to the number of samplers times the elements in their scopes.

mod around;
mod changes;
mod context;
mod given;
mod glance;
mod java_backing;
mod managers;
mod numbers;
mod owner;
mod parallel;
mod replace;
mod report;
pub(crate) mod scope;
mod timeout;

use std::collections::HashMap;
use std::path::PathBuf;

use jmx::{Diag, Document, ElementId, Included};

pub(crate) use context::Context;
pub use given::{ScriptedSampler, given};

use crate::element::{self, variables_from_csv};
use crate::java_backed::{Job, Role};
use crate::plan::*;
use crate::result::Request;
use crate::support::{Kind, Support};
use scope::{children, class};

/// Property by which a run tells its worker processes that there is no Java, so that elements that need Java are
/// left out.
pub const WITHOUT_JAVA: &str = "throng.jvm.without";

/// Property by which a run tells its worker processes which classes of [`crate::support::OF_PLUGINS`] are available
/// in Java, separated by commas.
pub const PLUGINS: &str = "throng.jvm.plugins";

/// Settings that a compilation depends on, besides the document.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// JMeter's properties, from its files and from the user.
    pub properties: HashMap<String, String>,
    /// Folder of the plan, used to resolve the paths of data files.
    pub folder: PathBuf,
    /// True if elements that only Java can run are compiled for Java ([`Plan::java_backed`]). Otherwise they are
    /// left out and reported.
    pub java_backing: bool,
}

impl Settings {
    /// Returns a property, or `default` if it is not set.
    pub fn property<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.properties.get(name).map_or(default, String::as_str)
    }

    /// Returns true if the JVM has the plug-in class `class`. Without the class, its elements are ignored as in JMeter.
    pub(crate) fn has_plugin(&self, class: &str) -> bool {
        self.java_backing && self.property(PLUGINS, "").split(',').any(|one| one == class)
    }

    /// Returns a Boolean property, parsed as in JMeter.
    pub fn is(&self, name: &str, default: bool) -> bool {
        self.properties.get(name).map_or(default, |value| value.trim().eq_ignore_ascii_case("true"))
    }

    /// Returns a numeric property, or `default` if it is not a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> T {
        self.properties.get(name).and_then(|value| value.trim().parse().ok()).unwrap_or(default)
    }
}

/// Result of compiling a document.
#[derive(Debug)]
pub struct Compiled {
    /// The plan without elements that cannot run; `None` if the document has no Test Plan.
    pub plan: Option<Plan>,
    /// All problems found, in the order of the file.
    pub diags: Vec<Diag>,
    /// Support of each enabled element, in the order of the file.
    pub support: Vec<Support>,
    /// Files that the plan includes, without duplicates.
    pub included: Vec<Included>,
}

/// Stack size in bytes of the compiling thread: each level of the plan's tree needs some stack.
const STACK: usize = 32 << 20;

/// Compiles a document to a plan, on a thread with a large stack.
pub fn compile(doc: &Document, settings: &Settings) -> Compiled {
    std::thread::scope(|scope| {
        let deep = std::thread::Builder::new().name("compile".into()).stack_size(STACK);
        match deep.spawn_scoped(scope, || compile_here(doc, settings)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => compile_here(doc, settings),
        }
    })
}

fn compile_here(doc: &Document, settings: &Settings) -> Compiled {
    let replaced = replace::replace(doc, settings);
    let doc = &*replaced.doc;
    let mut ctx = Context::new(doc, settings);
    replaced.diags.into_iter().for_each(|diag| ctx.report(diag));
    let root = doc.roots().iter().copied().find(|id| class(doc, *id) == "TestPlan");
    let Some(root) = root else {
        let diag = Diag::error("no-test-plan", "the document has no Test Plan")
            .help("save the whole plan from JMeter, not a part of it");
        ctx.report(diag);
        let included = doc.included().to_vec();
        return Compiled { plan: None, diags: ctx.finish().1, support: Vec::new(), included };
    };
    ctx.look_ahead();
    let mut plan = element::test_plan::compile(&mut ctx, root);
    ctx.text.functional = plan.functional_mode;
    if !plan.variables.is_empty() {
        plan.java_backed.variables.push(ctx.since(0));
        plan.java_backed.begins_blank = true;
    }
    let mut walk = Walk {
        ctx,
        plan,
        listeners: HashMap::new(),
        events: HashMap::new(),
        texts: HashMap::new(),
        places: HashMap::new(),
        gateway_of_run: std::cell::OnceCell::new(),
        levels: Vec::new(),
        shared: Vec::new(),
        groups: HashMap::new(),
        controllers: HashMap::new(),
        timeouts: Vec::new(),
        silent: false,
        slots: 0,
        keystores: Vec::new(),
    };
    walk.ctx.text.names.intern("JMeterThread.last_sample_ok");
    walk.variables(root);
    walk.groups(root);
    walk.read_sessions();
    walk.host_the_rest(root);
    walk.plan.asks_for_sampler = walk.ctx.text.asks_for_sampler;
    walk.finish(root)
}

/// State of the walk over the tree.
struct Walk<'a> {
    ctx: Context<'a>,
    plan: Plan,
    /// Index in `Plan::listeners` of each listener compiled so far.
    listeners: HashMap<ElementId, ListenerId>,
    /// Event of each element compiled so far that acts at the start of an iteration.
    events: HashMap<ElementId, OnIteration>,
    /// Job that evaluates the expressions of an element in Java, by element.
    texts: HashMap<ElementId, Job>,
    /// Index of each compiled throughput timer, manager and similar element in its table of the plan.
    places: HashMap<ElementId, u32>,
    /// Index of the mobile gateway that the run's properties describe, `None` if they describe none; unset before its
    /// first use.
    gateway_of_run: std::cell::OnceCell<Option<u32>>,
    /// Elements that apply to samplers, one list per level of the tree, from the group's level down to the current
    /// level.
    levels: Vec<scope::Level>,
    /// Enabled children of the Test Plan except groups. These children also count as children of every group.
    shared: Vec<ElementId>,
    /// Index in `Plan::groups` of each thread group compiled so far.
    groups: HashMap<ElementId, GroupId>,
    /// Index in `Plan::controllers` of each controller compiled so far.
    controllers: HashMap<ElementId, ControllerId>,
    /// Indexes in `Plan::timeouts` of the Sample Timeouts for the samplers of the current JMeter thread, which is a
    /// group or a branch.
    timeouts: Vec<u32>,
    /// True while a branch of a Parallel Controller with a parent sample is compiled; its samples are not passed to
    /// listeners separately.
    silent: bool,
    /// Number of state slots that the current group uses so far.
    slots: u32,
    /// Keystore Configurations of the plan.
    keystores: Vec<ElementId>,
}

impl Walk<'_> {
    /// Compiles the elements that apply to the whole plan, wherever they are: User Defined Variables and Keystore
    /// Configurations.
    fn variables(&mut self, root: ElementId) {
        for id in self.enabled_below(root) {
            if class(self.ctx.doc, id) == "Arguments" {
                let mark = self.ctx.mark();
                let block = element::user_defined_variables::compile(&mut self.ctx, id);
                self.plan.variables.push(block);
                let range = self.ctx.since(mark);
                self.plan.java_backed.variables.push(range);
            } else if variables_from_csv::CLASSES.contains(&class(self.ctx.doc, id)) {
                let mark = self.ctx.mark();
                let block = variables_from_csv::compile(&mut self.ctx, id);
                self.plan.variables.push(block);
                let range = self.ctx.since(mark);
                self.plan.java_backed.variables.push(range);
            } else if class(self.ctx.doc, id) == "KeystoreConfig" {
                let config = element::keystore_config::compile(&mut self.ctx, id);
                self.keystores.push(id);
                self.plan.keystores.push(config);
            }
        }
    }

    /// Returns the enabled elements below `root`, in the order of the file.
    fn enabled_below(&self, root: ElementId) -> Vec<ElementId> {
        let (doc, mut found) = (self.ctx.doc, Vec::new());
        let mut open = children(doc, root);
        open.reverse();
        while let Some(id) = open.pop() {
            found.push(id);
            open.extend(children(doc, id).into_iter().rev());
        }
        found
    }

    fn groups(&mut self, root: ElementId) {
        let doc = self.ctx.doc;
        let (groups, shared): (Vec<_>, Vec<_>) =
            children(doc, root).into_iter().partition(|id| scope::kind(doc, *id) == Kind::Group);
        for id in &shared {
            self.warn_of_shared(*id);
        }
        // A summariser deeper in the tree would summarise only a part of the run.
        for id in shared.iter().filter(|id| class(doc, **id) == "Summariser") {
            self.plan.summarisers.push(doc.element(*id).name.clone());
        }
        for id in self.enabled_below(root) {
            if class(doc, id) == element::perfmon::CLASS {
                let monitor = element::perfmon::compile(&mut self.ctx, id);
                self.plan.monitors.push(monitor);
            }
        }
        self.shared = shared;
        self.plan.has_main_group = doc.element(root).children.iter().any(|id| {
            let phase = element::thread_group::phase(class(doc, *id));
            scope::kind(doc, *id) == Kind::Group && matches!(phase, None | Some(Phase::Main))
        });
        let mut numbers = HashMap::new();
        for id in groups {
            let phase = element::thread_group::phase(class(doc, id));
            // Groups that cannot run are still counted in the group numbers of user names.
            let number = numbers.entry(phase.unwrap_or(Phase::Main) as u8).or_insert(0u32);
            *number += 1;
            if let Some(phase) = phase {
                let number = *number;
                self.group(id, phase, number);
            }
        }
    }

    fn group(&mut self, id: ElementId, phase: Phase, number: u32) {
        let own = children(self.ctx.doc, id);
        self.slots = 0;
        self.groups.insert(id, GroupId(self.plan.groups.len() as u32));
        // Children of the Test Plan follow the group's own children.
        let all = own.iter().chain(&self.shared).copied();
        self.levels = vec![scope::level(self.ctx.doc, all.clone())];
        self.timeouts = self.timeouts_below(all.collect());
        let mark = self.ctx.mark();
        let kind = element::thread_group::main_loop(&mut self.ctx, id);
        let main = self.open(id, kind, None, mark);
        if !element::thread_group::names_its_loop(&self.ctx, id) {
            self.plan.controllers[main.0 as usize].name =
                crate::template::Template::Fixed("".into());
        }
        self.body(&own, main);
        for id in self.shared.clone() {
            self.shared_by_groups(id, main);
        }
        self.close(main, &own);
        // JMeter drops empty controllers: in a group without samplers, users end immediately, even in endless loops.
        let controllers = &mut self.plan.controllers[main.0 as usize..];
        let works = controllers.iter().any(|one| {
            let holds = |child: &Child| matches!(child, Child::Sampler(_));
            one.children.iter().any(holds) || matches!(one.kind, ControllerKind::Transaction(_))
        });
        if !works {
            controllers[0].children.clear();
        }
        let mut group = element::thread_group::compile(&mut self.ctx, id, phase, number);
        (group.main, group.slots) = (main, self.slots);
        self.plan.has_groups_aside |= phase != Phase::Main;
        self.plan.groups.push(group);
    }

    /// Adds a sampler or controller that is a child of the Test Plan to a group. JMeter runs it after the group's
    /// own elements, without its children.
    fn shared_by_groups(&mut self, id: ElementId, main: ControllerId) {
        match scope::kind(self.ctx.doc, id) {
            Kind::Sampler => self.sampler_with(id, &[], main),
            Kind::Controller
                if class(self.ctx.doc, id) != "TestFragmentController"
                    && !element::parallel_controller::is(self.ctx.doc, id) =>
            {
                self.controller_with(id, &[], main);
            }
            _ => {}
        }
    }

    /// Warns about a sampler or controller that is a child of the Test Plan.
    fn warn_of_shared(&mut self, id: ElementId) {
        let doc = self.ctx.doc;
        let runs = match scope::kind(doc, id) {
            Kind::Sampler => "it runs in every thread group, after the group's own elements",
            Kind::Controller if class(doc, id) != "TestFragmentController" => {
                "it runs in every thread group, after the group's own elements"
            }
            _ => return,
        };
        let holds = !children(doc, id).is_empty();
        let below = if holds { "; the elements below it have no effect" } else { "" };
        let message = format!("{runs}{below}, as in JMeter");
        self.ctx.warn(id, "outside-groups", message, "move it into a thread group");
    }

    fn body(&mut self, elements: &[ElementId], around: ControllerId) {
        for id in elements {
            match scope::kind(self.ctx.doc, *id) {
                Kind::Controller => self.controller(*id, around),
                Kind::Sampler => self.sampler(*id, around),
                _ => {}
            }
        }
    }

    fn controller(&mut self, id: ElementId, around: ControllerId) {
        if element::parallel_controller::is(self.ctx.doc, id) {
            return self.parallel(id, around);
        }
        self.controller_with(id, &children(self.ctx.doc, id), around);
    }

    /// Compiles a controller with the given children.
    fn controller_with(&mut self, id: ElementId, own: &[ElementId], around: ControllerId) {
        let count = self.plan.throughput_controllers;
        let mark = self.ctx.mark();
        let kind = element::controller(&mut self.ctx, id, count);
        let Some(kind) = kind.or_else(|| self.java_backed_controller(id, around)) else { return };
        if matches!(kind, ControllerKind::Throughput(_)) {
            self.plan.throughput_controllers += 1;
        }
        self.levels.push(scope::level(self.ctx.doc, own.iter().copied()));
        let controller = self.open(id, kind, Some(around), mark);
        self.plan.controllers[around.0 as usize].children.push(Child::Controller(controller));
        self.body(own, controller);
        self.close(controller, own);
        self.levels.pop();
    }

    /// Adds a controller to the plan before its children are compiled. The last entry of `levels` contains the
    /// controller's children. The expressions compiled since `mark` belong to the controller.
    fn open(
        &mut self,
        id: ElementId,
        mut kind: ControllerKind,
        parent: Option<ControllerId>,
        mark: u32,
    ) -> ControllerId {
        let name = self.ctx.doc.element(id).name.clone();
        let name = self.ctx.text(id, &name);
        let evaluates = self.ctx.since(mark);
        if let ControllerKind::Transaction(transaction) = &mut kind {
            let scope = scope::of_transaction(&self.levels);
            transaction.listeners = self.listeners(&scope.listeners);
            transaction.checks =
                element::assertions(&mut self.ctx, &scope.checks, &mut transaction.needs);
            transaction.needs |= self.shown(&transaction.listeners);
        }
        let controller = ControllerId(self.plan.controllers.len() as u32);
        let slot = self.slots;
        let holds = |id: &ElementId| {
            matches!(scope::kind(self.ctx.doc, *id), Kind::Controller | Kind::Sampler)
        };
        let most = children(self.ctx.doc, id).iter().filter(|id| holds(id)).count();
        let slots = kind.slots(most as u32);
        self.slots += slots;
        self.plan.controllers.push(Controller {
            name,
            kind,
            parent,
            slot,
            slots,
            children: Vec::new(),
            evaluates,
            on_iteration: Vec::new(),
            index: None,
        });
        self.controllers.insert(id, controller);
        controller
    }

    /// Sets the events at the start of a controller's iterations, after its children have been compiled.
    fn close(&mut self, controller: ControllerId, own: &[ElementId]) {
        self.plan.controllers[controller.0 as usize].on_iteration = self.on_iteration(own);
    }

    /// Returns the events at the start of a controller's iterations: events of elements below it that are not below
    /// another controller. The event of the last element in the tree comes first, as in JMeter.
    fn on_iteration(&mut self, own: &[ElementId]) -> Vec<OnIteration> {
        let mut found = Vec::new();
        for child in own {
            self.find_on_iteration(*child, &mut found);
        }
        if self.levels.len() == 1 {
            for child in self.shared.clone() {
                found.extend(self.event(child));
            }
        }
        found.reverse();
        found
    }

    fn find_on_iteration(&mut self, id: ElementId, found: &mut Vec<OnIteration>) {
        if matches!(scope::kind(self.ctx.doc, id), Kind::Controller | Kind::Group) {
            let made = self.controllers.get(&id).copied();
            let listens = |id: &ControllerId| {
                let kind = &self.plan.controllers[id.0 as usize].kind;
                kind.iterates()
                    || matches!(
                        kind,
                        ControllerKind::OnceOnly
                            | ControllerKind::Throughput(_)
                            | ControllerKind::JavaBacked(_)
                    )
            };
            found.extend(made.filter(listens).map(OnIteration::Controller));
            return;
        }
        for child in children(self.ctx.doc, id) {
            self.find_on_iteration(child, found);
        }
        found.extend(self.event(id));
    }

    /// Returns the event of an element at the start of an iteration; `None` if it has none. The element is compiled
    /// once: if it is a child of the Test Plan, all groups share its event.
    fn event(&mut self, id: ElementId) -> Option<OnIteration> {
        if let Some(event) = self.events.get(&id) {
            return Some(*event);
        }
        let mark = self.ctx.mark();
        let event = element::on_iteration(&mut self.ctx, id, &mut self.plan)?;
        self.events.insert(id, event);
        // Only User Parameters can wait for Java during an iteration. Java evaluates the expressions of all other
        // elements when the run starts.
        if matches!(event, OnIteration::UserParameters(_))
            && let Some(texts) = self.ctx.evaluate(mark)
        {
            self.texts.insert(id, texts);
        }
        Some(event)
    }

    fn sampler(&mut self, id: ElementId, around: ControllerId) {
        self.sampler_with(id, &children(self.ctx.doc, id), around);
    }

    /// Compiles a sampler with the given children.
    fn sampler_with(&mut self, id: ElementId, own: &[ElementId], around: ControllerId) {
        self.levels.push(scope::level(self.ctx.doc, own.iter().copied()));
        let scope = scope::collect(&self.levels);
        let on_failure = self.on_failure(around);
        self.levels.pop();
        let managers = self.managers(&scope.configs);
        let near = self.around(&scope.configs, managers.cookies);
        let mark = self.ctx.mark();
        let made = if self.asks_for_java(id, &scope.configs) {
            None
        } else {
            element::sampler(&mut self.ctx, id, &scope.configs, managers, near)
        };
        let Some(mut kind) = made.or_else(|| self.java_backed_sampler(id, mark)) else { return };
        let changes = self.changes(&scope.before);
        if let SamplerKind::Http(http) = &mut kind {
            http.change(changes);
        }
        self.put(id, around, kind, &scope, on_failure, mark);
    }

    /// Adds a sampler with the elements in its scope to a controller. The expressions compiled since `mark` belong to
    /// the sampler.
    fn put(
        &mut self,
        id: ElementId,
        around: ControllerId,
        kind: SamplerKind,
        scope: &scope::Scope,
        on_failure: OnFailure,
        mark: u32,
    ) {
        let name = element::sampler_name(&mut self.ctx, id, &scope.configs);
        let evaluates = self.ctx.since(mark);
        let mut needs = element::sampler_needs(&kind);
        let after = element::extractors(&mut self.ctx, id, &scope.after, &mut needs);
        let checks = element::assertions(&mut self.ctx, &scope.checks, &mut needs);
        let listeners = self.listeners(&scope.listeners);
        needs |= self.shown(&listeners);
        let timers = scope.timers.iter().flat_map(|id| self.timer(*id)).collect();
        let before = scope.before.iter().flat_map(|id| self.before(*id)).collect();
        let timeouts = if timeout::applies(&kind) { self.timeouts.clone() } else { Vec::new() };
        let path = self.ctx.doc.path(id);
        let sampler = SamplerId(self.plan.samplers.len() as u32);
        self.plan.controllers[around.0 as usize].children.push(Child::Sampler(sampler));
        self.plan.samplers.push(Sampler {
            name,
            kind,
            controller: around,
            before,
            timeouts,
            timers,
            evaluates,
            after,
            checks,
            listeners,
            on_failure,
            needs,
            path,
        });
        self.own(sampler, id, &scope.configs);
    }

    /// Returns the parts of a sample that result files contain: files of the listeners in scope, and the command
    /// line's result file, which the properties configure.
    fn shown(&self, listeners: &[ListenerId]) -> Needs {
        use element::listener::needs;
        use element::result_collector::needs_by_properties;
        let (settings, functional) = (self.ctx.settings, self.plan.functional_mode);
        let always = Needs::ROW | Needs::URL;
        let beyond = needs_by_properties(settings, functional).difference(always);
        listeners.iter().fold(beyond, |all, listener| {
            let listener = &self.plan.listeners[listener.0 as usize];
            all | match listener.kind {
                ListenerKind::JavaBacked(id) => self.ctx.java_backed_needs(id),
                _ => needs(listener, settings, functional),
            }
        })
    }

    /// Returns the stop and the loop control that a failure of a sampler requests. The last entry of `levels` has the
    /// sampler's children. Inside a transaction with a parent sample, listeners at the transaction's level and above
    /// do not see the sampler.
    fn on_failure(&self, around: ControllerId) -> OnFailure {
        if self.silent {
            return OnFailure::default();
        }
        let mut own = self.levels.len() - 1;
        let mut from = 0;
        let mut at = Some(around);
        while let Some(id) = at {
            let controller = &self.plan.controllers[id.0 as usize];
            if matches!(&controller.kind, ControllerKind::Transaction(one) if one.parent) {
                from = own;
                break;
            }
            if matches!(controller.kind, ControllerKind::Branch) {
                break;
            }
            own = own.saturating_sub(1);
            at = controller.parent;
        }
        // Listeners are notified from the innermost level outwards. If several listeners request loop controls, the
        // last request applies.
        let elements = self.levels[from..].iter().rev().flatten();
        let asked = elements.filter_map(|(_, id)| element::result_action::compile(&self.ctx, *id));
        let mut on_failure = OnFailure::default();
        for request in asked {
            if request >= Request::StopUser {
                on_failure.stop = request.max(on_failure.stop);
            } else if request != Request::Nothing {
                on_failure.leave = request;
            }
        }
        on_failure
    }

    /// Compiles a timer, preceded by a job that evaluates its expressions in Java if needed.
    fn timer(&mut self, id: ElementId) -> Vec<element::Timer> {
        let at = self.places.get(&id).copied().unwrap_or(self.plan.throughput_timers);
        let mark = self.ctx.mark();
        let Some(timer) = element::timer(&mut self.ctx, id, at) else {
            let java_backed = self.ctx.host(id, Role::Timer).map(Job::Run);
            return java_backed.into_iter().map(element::Timer::Job).collect();
        };
        if matches!(timer, element::Timer::Throughput(_) | element::Timer::Shaping(_))
            && self.places.insert(id, at).is_none()
        {
            self.plan.throughput_timers += 1;
        }
        let texts = self.ctx.evaluate(mark).map(element::Timer::Job);
        texts.into_iter().chain([timer]).collect()
    }

    /// Returns the work of an element that runs before a sampler, preceded by a job that evaluates its expressions
    /// in Java if needed.
    fn before(&mut self, id: ElementId) -> Vec<Before> {
        let Some(event) = self.event(id) else {
            let java_backed = self.ctx.host(id, Role::Before).map(Job::Run);
            return java_backed.into_iter().map(Before::Job).collect();
        };
        let texts = self.texts.get(&id).copied().map(Before::Job);
        texts.into_iter().chain(element::before_sampler(event)).collect()
    }

    /// Returns the ids of the listeners among `elements` that process results. Adds listeners that are not in the
    /// plan's table to the table.
    fn listeners(&mut self, elements: &[ElementId]) -> Vec<ListenerId> {
        let mut found = Vec::new();
        for id in elements {
            if let Some(listener) = self.listeners.get(id) {
                found.push(*listener);
            } else if let Some(listener) = element::listener::compile(&mut self.ctx, *id)
                .or_else(|| self.java_backed_listener(*id))
            {
                let at = ListenerId(self.plan.listeners.len() as u32);
                self.plan.listeners.push(listener);
                self.listeners.insert(*id, at);
                found.push(at);
            }
        }
        found
    }

    fn finish(mut self, root: ElementId) -> Compiled {
        let support = report::support(&mut self.ctx, root);
        let doc = self.ctx.doc;
        (self.plan.hash, self.plan.text_hash) = report::hashes(doc, self.ctx.settings);
        let mut samplers = self.plan.samplers.iter();
        let shows = samplers.any(|sampler| matches!(sampler.kind, SamplerKind::Debug(_)));
        // Scripts may read any of these variables, so each variable needs a slot.
        let hosts = !self.ctx.java_backing.java_backed.elements.is_empty() || self.ctx.mark() > 0;
        if shows || hosts {
            self.name_what_jmeter_sets();
        }
        self.take_java_backed();
        let (text, diags) = self.ctx.finish();
        self.plan.names = text.names;
        for controller in &mut self.plan.controllers {
            let is_transaction = matches!(controller.kind, ControllerKind::Transaction(_));
            self.plan.names_call |= is_transaction && controller.name.calls();
            let Some(name) = controller.name.fixed() else { continue };
            controller.index = self.plan.names.find(&format!("__jm__{name}__idx"));
        }
        Compiled { plan: Some(self.plan), diags, support, included: doc.included().to_vec() }
    }

    /// Assigns slots to the variables that JMeter itself sets, so that Debug Samplers list them and scripts can
    /// read them.
    fn name_what_jmeter_sets(&mut self) {
        let names = &mut self.ctx.text.names;
        for name in crate::state::START_VARIABLES {
            names.intern(name);
        }
        if self
            .plan
            .samplers
            .iter()
            .any(|sampler| matches!(sampler.kind, SamplerKind::WebSocket(_)))
        {
            names.intern(crate::websocket::wording::LAST_FRAME_FINAL);
        }
        for controller in &self.plan.controllers {
            let iterates = controller.kind.iterates();
            if let Some(name) = controller.name.fixed().filter(|_| iterates) {
                names.intern(&format!("__jm__{name}__idx"));
            }
        }
    }
}
