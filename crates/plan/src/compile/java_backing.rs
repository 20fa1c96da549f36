//! Elements that their own classes run in Java, and texts that Java evaluates: how they come into the plan.
//!
//! An element is Java-backed once, however many samplers it applies to. Texts are numbered as they are compiled, so that those of one
//! element follow each other and are evaluated by one job before it. Where java_backing is not allowed nothing here does anything, and what
//! needs Java is left out of the plan.

use std::collections::{HashMap, HashSet};

use jmx::{ElementId, Props, Value};

use super::Context;
use super::scope::class;
use crate::java_backed::reads::{Seen, of_script};
use crate::java_backed::{Element, JavaBacked, JavaBackedId, Job, Reads, Role, TextId, TextRange};
use crate::plan::{Needs, SamplerId};
use crate::support::{self, Level};

/// Waits for what another user puts into a queue.
const FIFO_POP: &str = "kg.apc.jmeter.modifiers.FifoPopPreProcessor";
/// Puts it there.
const FIFO_PUT: &str = "kg.apc.jmeter.modifiers.FifoPutPostProcessor";

/// Elements and texts that have been given to Java so far.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) java_backed: JavaBacked,
    places: HashMap<ElementId, JavaBackedId>,
    /// The needs of each element, beside its flags.
    needs: Vec<Needs>,
    /// Elements that are run by their classes, not only known to Java.
    run: HashSet<ElementId>,
    /// Reads of the texts that are evaluated where they stand; all others are evaluated at the start.
    placed: HashMap<u32, Reads>,
    /// HTTP Requests of which no script reads the sampler before it runs, with the config elements in their scopes.
    pub(super) unread: Vec<(SamplerId, ElementId, Vec<ElementId>)>,
    /// A queue is emptied in Java, by users that wait there; so it is filled there.
    pub(super) queues: bool,
    /// Scripts may have embedded resources loaded, once that was asked.
    pub(super) loads_pages: Option<bool>,
    /// The parts of every result that have to be kept for what stands before samplers.
    pub(super) of_previous: Needs,
}

impl Context<'_> {
    /// Takes note of what scripts anywhere ask for.
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

    /// A host for an element that has no native form: its own class, if that is allowed and feasible.
    pub(crate) fn host(&mut self, id: ElementId, role: Role) -> Option<JavaBackedId> {
        let name = class(self.doc, id);
        let by_class = support::find(name).is_none_or(|class| class.level == Level::Jvm);
        (by_class || self.settings.has_plugin(name)).then(|| self.host_as_is(id, role))?
    }

    /// The same for an element whose class is native, but not with all that it asks for.
    pub(crate) fn host_as_is(&mut self, id: ElementId, role: Role) -> Option<JavaBackedId> {
        self.settings.java_backing.then(|| {
            self.java_backing.run.insert(id);
            self.enlist(id, role)
        })
    }

    /// Whether an element has to be where others are that Java runs, though there is a native form.
    pub(crate) fn belongs_to_java(&self, id: ElementId) -> bool {
        self.java_backing.queues && class(self.doc, id) == FIFO_PUT
    }

    /// Makes an element known to Java.
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

    /// The parts of results that a Java-backed element reads.
    pub(crate) fn java_backed_needs(&self, id: JavaBackedId) -> Needs {
        let needs = self.java_backing.needs.get(id.0 as usize).copied().unwrap_or(Needs::empty());
        // Java counts the bytes of a result by what it is given of it.
        if needs.is_empty() { needs } else { needs | Needs::HEADERS }
    }

    /// An element that is known to Java.
    pub(super) fn known(&self, id: ElementId) -> Option<JavaBackedId> {
        self.java_backing.places.get(&id).copied()
    }

    /// All elements that are known to Java, by their numbers.
    pub(super) fn all_known(&self) -> Vec<(JavaBackedId, ElementId)> {
        let mut all: Vec<_> = self.java_backing.places.iter().map(|(id, at)| (*at, *id)).collect();
        all.sort_unstable();
        all
    }

    /// Whether an element is run by its own class.
    pub(crate) fn is_java_backed(&self, id: ElementId) -> bool {
        self.java_backing.run.contains(&id)
    }

    /// The reads of a job.
    pub(super) fn reads(&self, job: Job) -> Reads {
        match job {
            Job::Run(id) => self.java_backing.java_backed.elements[id.0 as usize].reads,
            Job::Evaluate(range) => (range.first..range.first + range.count)
                .filter_map(|at| self.java_backing.placed.get(&at))
                .fold(Reads::empty(), |all, reads| all | *reads),
        }
    }

    /// Takes note of what something reads of the sample before.
    fn note(&mut self, seen: Seen) {
        if seen.reads.contains(Reads::RESULT) {
            self.java_backing.java_backed.keeps_previous = true;
            self.java_backing.of_previous |= seen.needs;
        }
    }

    /// The reads of an element: what its script names, or what elements of its kind may.
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
            // Of those that are known one takes a message from the sample before.
            Role::Timer | Role::Sampler if name == "JMSSampler" => Seen::result(),
            Role::Timer | Role::Sampler if support::find(name).is_some() => Seen::default(),
            Role::Timer | Role::Sampler => Seen::result(),
            // Ends a run by times and failures.
            Role::Listener if name == "kg.apc.jmeter.reporters.AutoStop" => Seen::result(),
            Role::After | Role::Assertion | Role::Listener | Role::Controller => {
                Seen::whole_result()
            }
        }
    }

    /// Where texts compiled from now on begin.
    pub(crate) fn mark(&self) -> u32 {
        self.text.java_backed.len() as u32
    }

    /// The texts compiled since a mark, for a job that evaluates them where they stand.
    pub(crate) fn since(&mut self, mark: u32) -> TextRange {
        let range = TextRange { first: mark, count: self.mark() - mark };
        for at in range.first..range.first + range.count {
            let seen = of_call(&self.text.java_backed[at as usize]);
            self.java_backing.placed.insert(at, seen.reads);
            self.note(seen);
        }
        range
    }

    /// The same as a job; `None` if there are none.
    pub(crate) fn evaluate(&mut self, mark: u32) -> Option<Job> {
        let range = self.since(mark);
        (!range.is_empty()).then_some(Job::Evaluate(range))
    }

    /// Forgets the texts since a mark: the element is Java-backed, with its texts.
    pub(crate) fn forget(&mut self, mark: u32) {
        self.text.java_backed.truncate(mark as usize);
    }

    /// Everything that has been given to Java, with the texts.
    pub(super) fn take_java_backed(&mut self) -> JavaBacked {
        let mut java_backed = std::mem::take(&mut self.java_backing.java_backed);
        java_backed.texts = std::mem::take(&mut self.text.java_backed);
        let all = 0..java_backed.texts.len() as u32;
        java_backed.at_start =
            all.filter(|at| !self.java_backing.placed.contains_key(at)).map(TextId).collect();
        java_backed
    }
}

/// The reads of the functions of a text.
fn of_call(text: &str) -> Seen {
    let mut names = text.split("${__").skip(1).map(|rest| rest.split(['(', '}']).next());
    let known =
        ["groovy", "BeanShell", "javaScript", "jexl2", "jexl3", "P", "property", "threadNum"];
    if names.all(|name| name.is_some_and(|name| known.contains(&name))) {
        // References are the values of texts, which stand in quotes or are plain numbers.
        of_script(&text.replace("${", "{"), None, false)
    } else {
        Seen::result()
    }
}

/// Whether elements of a class run a script.
pub(super) fn is_script(name: &str) -> bool {
    ["JSR223", "BeanShell", "BSF"].iter().any(|family| name.starts_with(family))
}

/// The script of an element; `None` if it is in a file.
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
