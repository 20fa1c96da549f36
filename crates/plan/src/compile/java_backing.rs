//! Adds elements that their own Java classes run, and expressions that Java evaluates, to the plan.
//!
//! Each element is added once, however many samplers it applies to. Expressions are numbered in the order of
//! compilation, so that the expressions of one element are consecutive and one job evaluates them before the element
//! runs. Without `java_backing`, this module adds nothing, and elements that need Java are left out of the plan.

use std::collections::{HashMap, HashSet};

use jmx::{ElementId, Props, Value};

use super::Context;
use super::scope::class;
use crate::java_backed::reads::{Seen, of_script};
use crate::java_backed::{Element, JavaBacked, JavaBackedId, Job, Reads, Role, TextId, TextRange};
use crate::plan::{Needs, SamplerId};
use crate::support::{self, Level};

/// Pre-processor that waits for a value in a queue, which another user puts there.
const FIFO_POP: &str = "kg.apc.jmeter.modifiers.FifoPopPreProcessor";
/// Post-processor that puts a value into a queue.
const FIFO_PUT: &str = "kg.apc.jmeter.modifiers.FifoPutPostProcessor";

/// Elements and expressions that run in Java, in the part of the plan compiled so far.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) java_backed: JavaBacked,
    places: HashMap<ElementId, JavaBackedId>,
    /// Parts of results that each element needs, in addition to its `reads`.
    needs: Vec<Needs>,
    /// Elements that their Java classes run. Other elements are only known to Java.
    run: HashSet<ElementId>,
    /// Objects that expressions read, for expressions that are evaluated before their element runs. All other
    /// expressions are evaluated when the run starts.
    placed: HashMap<u32, Reads>,
    /// HTTP and WebSocket samplers with a Header Manager whose sampler object no pre-processor in Java reads, with the
    /// config elements in their scopes.
    pub(super) unread: Vec<(SamplerId, ElementId, Vec<ElementId>)>,
    /// True if the plan has an element whose users wait in Java for values in a queue. Then values must also be put
    /// into queues in Java.
    pub(super) queues: bool,
    /// True if scripts may enable the download of embedded resources; `None` until this was determined.
    pub(super) loads_pages: Option<bool>,
    /// Parts of a result that elements before the next sampler read; kept for every sample.
    pub(super) of_previous: Needs,
}

impl Context<'_> {
    /// Determines, before elements are compiled, what the scripts of the whole plan need.
    pub(super) fn look_ahead(&mut self) {
        let doc = self.doc;
        let mut xml = doc.ids().filter(|id| doc.is_enabled(*id)).map(|id| doc.xml(id));
        self.java_backing.java_backed.previous_sampler =
            xml.any(|xml| xml.contains("reviousSampler"));
        let mut pops = doc.ids().filter(|id| class(doc, *id) == FIFO_POP && doc.is_enabled(*id));
        self.java_backing.queues = self.settings.java_backing && pops.next().is_some();
        let mut transactions = doc.ids().filter(|id| class(doc, *id) == "TransactionController");
        self.text.checks_transactions = transactions
            .any(|id| self.props(id).bool("TransactionController.parent") == Some(true));
    }

    /// Adds an element without a native form to the elements that their Java classes run. Returns `None` if Java is not
    /// allowed, or does not have the class.
    pub(crate) fn host(&mut self, id: ElementId, role: Role) -> Option<JavaBackedId> {
        let name = class(self.doc, id);
        let by_class = support::find(name).is_none_or(|class| class.level == Level::Jvm);
        (by_class || self.settings.has_plugin(name)).then(|| self.host_as_is(id, role))?
    }

    /// Adds an element like `host`, although the element's class is native, because some of its settings have no native
    /// form.
    pub(crate) fn host_as_is(&mut self, id: ElementId, role: Role) -> Option<JavaBackedId> {
        self.settings.java_backing.then(|| {
            self.java_backing.run.insert(id);
            self.enlist(id, role)
        })
    }

    /// Returns true if an element must run in Java although it has a native form, because related elements run in
    /// Java.
    pub(crate) fn belongs_to_java(&self, id: ElementId) -> bool {
        self.java_backing.queues && class(self.doc, id) == FIFO_PUT
    }

    /// Adds an element to the elements that Java knows, unless it already is among them; returns its id.
    pub(super) fn enlist(&mut self, id: ElementId, role: Role) -> JavaBackedId {
        if let Some(at) = self.java_backing.places.get(&id) {
            return *at;
        }
        let seen = self.seen(id, role);
        if matches!(role, Role::Before | Role::Timer | Role::Sampler | Role::Controller) {
            self.note(seen);
        }
        let element = self.doc.element(id);
        let at = JavaBackedId(self.java_backing.java_backed.elements.len() as u32);
        self.java_backing.java_backed.elements.push(Element {
            role,
            class: element.test_class.clone(),
            name: element.name.clone(),
            path: self.doc.path(id),
            line: element.line,
            reads: seen.reads,
            native: false,
            xml: self.doc.xml(id).as_ref().into(),
        });
        self.java_backing.needs.push(seen.needs);
        self.java_backing.places.insert(id, at);
        at
    }

    /// Returns the parts of results that a Java-backed element reads.
    pub(crate) fn java_backed_needs(&self, id: JavaBackedId) -> Needs {
        let needs = self.java_backing.needs.get(id.0 as usize).copied().unwrap_or(Needs::empty());
        // Java computes the size of a result from the parts that it receives.
        if needs.is_empty() { needs } else { needs | Needs::HEADERS }
    }

    /// Returns the id of an element that Java knows.
    pub(super) fn known(&self, id: ElementId) -> Option<JavaBackedId> {
        self.java_backing.places.get(&id).copied()
    }

    /// Returns all elements that Java knows, sorted by id.
    pub(super) fn all_known(&self) -> Vec<(JavaBackedId, ElementId)> {
        let mut all: Vec<_> = self.java_backing.places.iter().map(|(id, at)| (*at, *id)).collect();
        all.sort_unstable();
        all
    }

    /// Returns true if the element's own Java class runs it.
    pub(crate) fn is_java_backed(&self, id: ElementId) -> bool {
        self.java_backing.run.contains(&id)
    }

    /// Returns the objects that a Java job reads, such as result, sampler or cookies.
    pub(super) fn reads(&self, job: Job) -> Reads {
        match job {
            Job::Run(id) => self.java_backing.java_backed.elements[id.0 as usize].reads,
            Job::Evaluate(range) => (range.first..range.first + range.count)
                .filter_map(|at| self.java_backing.placed.get(&at))
                .fold(Reads::empty(), |all, reads| all | *reads),
        }
    }

    /// Marks the parts `seen` of each sample as needed, because an element before the next sampler reads them.
    fn note(&mut self, seen: Seen) {
        if seen.reads.contains(Reads::RESULT) {
            self.java_backing.java_backed.keeps_previous = true;
            self.java_backing.of_previous |= seen.needs;
        }
    }

    /// Returns the parts of a result that an element reads: the parts that its script names, or all parts that an
    /// element in this role may read.
    fn seen(&self, id: ElementId, role: Role) -> Seen {
        let name = class(self.doc, id);
        if is_script(name) {
            let shell = !name.starts_with("JSR223");
            return match script(self.props(id)) {
                Some(script) => of_script(&script, Some(role), shell),
                None => Seen::all(),
            };
        }
        match role {
            Role::Config => Seen::default(),
            Role::Before | Role::After if name.starts_with("JDBC") => Seen::default(),
            Role::Before => Seen::all(),
            // Of JMeter's own classes, only this sampler reads a message from the previous sample.
            Role::Timer | Role::Sampler if name == "JMSSampler" => Seen::result(),
            Role::Timer | Role::Sampler if support::find(name).is_some() => Seen::default(),
            Role::Timer | Role::Sampler => Seen::result(),
            // AutoStop ends the run depending on times and failures of results.
            Role::Listener if name == "kg.apc.jmeter.reporters.AutoStop" => Seen::result(),
            Role::After | Role::Assertion | Role::Listener | Role::Controller => {
                Seen::whole_result()
            }
        }
    }

    /// Returns the position at which the expressions compiled from now on begin.
    pub(crate) fn mark(&self) -> u32 {
        self.text.java_backed.len() as u32
    }

    /// Returns the expressions compiled since `mark`, for a job that evaluates them before their element runs.
    pub(crate) fn since(&mut self, mark: u32) -> TextRange {
        let range = TextRange { first: mark, count: self.mark() - mark };
        for at in range.first..range.first + range.count {
            let seen = of_call(&self.text.java_backed[at as usize]);
            self.java_backing.placed.insert(at, seen.reads);
            self.note(seen);
        }
        range
    }

    /// Returns the expressions compiled since `mark` as a job; `None` if there are none.
    pub(crate) fn evaluate(&mut self, mark: u32) -> Option<Job> {
        let range = self.since(mark);
        (!range.is_empty()).then_some(Job::Evaluate(range))
    }

    /// Discards the expressions compiled since `mark`, because Java runs the element and evaluates them itself.
    pub(crate) fn forget(&mut self, mark: u32) {
        self.text.java_backed.truncate(mark as usize);
    }

    /// Removes the elements that Java knows, and the expressions that it evaluates, from the compilation state and
    /// returns them.
    pub(super) fn take_java_backed(&mut self) -> JavaBacked {
        let mut java_backed = std::mem::take(&mut self.java_backing.java_backed);
        java_backed.texts = std::mem::take(&mut self.text.java_backed);
        let all = 0..java_backed.texts.len() as u32;
        java_backed.at_start =
            all.filter(|at| !self.java_backing.placed.contains_key(at)).map(TextId).collect();
        java_backed
    }
}

/// Returns the parts of a result that the functions in an expression read.
fn of_call(text: &str) -> Seen {
    let mut names = text.split("${__").skip(1).map(|rest| rest.split(['(', '}']).next());
    let known =
        ["groovy", "BeanShell", "javaScript", "jexl2", "jexl3", "P", "property", "threadNum"];
    if names.all(|name| name.is_some_and(|name| known.contains(&name))) {
        // References become values in the script, which are inside quotes or are plain numbers.
        of_script(&text.replace("${", "{"), None, false)
    } else {
        Seen::result()
    }
}

/// Returns true if elements of the class run a script.
pub(super) fn is_script(name: &str) -> bool {
    ["JSR223", "BeanShell", "BSF"].iter().any(|family| name.starts_with(family))
}

/// Returns the script of an element; `None` if it is in a file.
fn script(props: &Props) -> Option<String> {
    let mut script = String::new();
    for prop in props.iter() {
        let Value::Text(_, text) = &prop.value else { continue };
        if prop.name.to_ascii_lowercase().ends_with("filename") && !text.trim().is_empty() {
            return None;
        }
        if prop.name == "script" || prop.name.ends_with(".query") {
            script.push_str(text);
            script.push('\n');
        }
    }
    Some(script)
}
