//! The part of a plan that only Java can run: elements run by their own Java classes, and expressions with functions
//! that run scripts.
//!
//! Both have indexes in this module, to which [`Job`]s in the plan refer. The engine passes a job to a JVM while
//! the user waits. A plan without Java-backed parts needs no JVM ([`JavaBacked::is_empty`]).

pub(crate) mod reads;

use std::sync::Arc;

use crate::compile::Settings;
use crate::plan::{GroupId, SamplerId};

/// Index of an element in [`JavaBacked::elements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JavaBackedId(pub u32);

/// Index of an expression in [`JavaBacked::texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u32);

/// A range of consecutive expressions in [`JavaBacked::texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextRange {
    /// Index of the first expression.
    pub first: u32,
    /// Number of expressions in the range.
    pub count: u32,
}

impl TextRange {
    /// True if the range has no expressions.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
}

/// Marks an expression as the JavaScript condition of an If Controller. The expression consists of the marker, the
/// controller's name, the marker and the condition.
pub(crate) const CONDITION: char = '\u{1}';

/// Returns an expression as written in the plan: without the marker and the controller's name that precede a condition.
pub fn shown(text: &str) -> &str {
    text.rsplit(CONDITION).next().unwrap_or(text)
}

/// Consequence of a missing Java class for an element that runs natively, for messages.
pub const WITHOUT_OBJECT: &str = ": the element runs without it, but scripts get no sampler object, and their changes \
    to it have no effect";

/// Work that a JVM does for a user while the user waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Runs the code of an element.
    Run(JavaBackedId),
    /// Evaluates expressions that the next element reads.
    Evaluate(TextRange),
}

/// The role in which a Java-backed element runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Config element: configures samplers.
    Config,
    /// Pre-processor: runs before samplers.
    Before,
    /// Timer: returns a delay.
    Timer,
    /// Sampler: produces a sample.
    Sampler,
    /// Post-processor: runs after samplers.
    After,
    /// Assertion: checks results.
    Assertion,
    /// Listener: receives results.
    Listener,
    /// Controller: selects the next sampler.
    Controller,
}

bitflags::bitflags! {
    /// Objects that an element reads or changes, besides variables and properties. Only these are transferred to
    /// Java.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Reads: u8 {
        /// The result of the previous sample or, for a post-processor or assertion, of the current sample.
        const RESULT = 1;
        /// The sampler object.
        const SAMPLER = 2;
        /// Cookies of the sampler.
        const COOKIES = 4;
        /// Body of the result.
        const BODY = 8;
        /// Result of the previous sample, which scripts call `prev`. In an element that processes a transaction, `prev`
        /// is not the transaction's result.
        const PREVIOUS = 16;
    }
}

/// An element that Java knows, in most cases because its Java class runs it.
#[derive(Clone, Debug)]
pub struct Element {
    /// Role of the element.
    pub role: Role,
    /// Class as written in the file, possibly as a short name of JMeter.
    pub class: String,
    /// Name of the element in the file.
    pub name: String,
    /// Path of the element, for messages.
    pub path: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Objects that the element reads or changes.
    pub reads: Reads,
    /// True if the element runs natively. Then Java has its object only for scripts that read it, and the class may
    /// be missing.
    pub native: bool,
    /// XML of the element from the file, without its children.
    pub xml: Box<str>,
}

/// A sampler that Java knows, because its Java class runs it, or because scripts in its scope read or change it.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Index of the sampler in the plan.
    pub sampler: SamplerId,
    /// Index of the sampler's element in [`JavaBacked::elements`].
    pub element: JavaBackedId,
    /// Config elements in the sampler's scope, nearest first, in the order in which JMeter adds them to a sampler.
    pub configs: Vec<JavaBackedId>,
    /// True if scripts of other samplers may have changed headers that this sampler sends, and no pre-processor of
    /// this sampler transfers its request. After such a change, the engine requests the headers from Java.
    pub asks_for_headers: bool,
}

/// The part of a plan that only Java can run.
#[derive(Clone, Debug, Default)]
pub struct JavaBacked {
    /// Elements that Java knows; a [`JavaBackedId`] is an index in this list.
    pub elements: Vec<Element>,
    /// Samplers that Java knows.
    pub owners: Vec<Owner>,
    /// Settings for compiling samplers that scripts have changed; `None` if Java knows no natively run sampler.
    pub settings: Option<Arc<Settings>>,
    /// Expressions that Java evaluates because they contain functions that run scripts, as written in the file:
    /// `${__groovy(…)}`.
    pub texts: Vec<Box<str>>,
    /// Range of expressions for each block of [`Plan::variables`](crate::plan::Plan::variables), evaluated before the
    /// block.
    pub variables: Vec<TextRange>,
    /// True if the first block of `variables` belongs to the Test Plan element, so that its expressions are evaluated
    /// before any variable is set.
    pub begins_blank: bool,
    /// Expressions that are evaluated once, after the variables and before any user starts: in settings of thread
    /// groups, in file names, and in elements that users share. Their values are used for the whole run
    /// ([`RunState::set_java`](crate::state::RunState::set_java)).
    pub at_start: Vec<TextId>,
    /// Config elements that are notified of iterations if their classes are listeners for iterations.
    pub iterating: Vec<JavaBackedId>,
    /// Elements inside a thread group, each with its group, sorted by the element's id. Users of other groups do not
    /// use the element.
    pub of_groups: Vec<(JavaBackedId, GroupId)>,
    /// True if the plan reads variables by names that are built at run time, or shows all variables, so that every
    /// variable may be read.
    pub reads_any_name: bool,
    /// True if an element or expression reads the result of the previous sample, so that users must keep it.
    pub keeps_previous: bool,
    /// True if an element that processes a transaction reads the result of the previous sample.
    pub previous_of_transactions: bool,
    /// True if a script may read the sampler that ran before, because the plan mentions `previousSampler`.
    pub previous_sampler: bool,
}

impl JavaBacked {
    /// True if the plan needs no JVM.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.texts.is_empty()
    }

    /// Returns true if users of the group use the element: it is inside this group, or outside of all groups.
    pub fn concerns(&self, id: JavaBackedId, group: GroupId) -> bool {
        let at = self.of_groups.binary_search_by_key(&id, |(known, _)| *known);
        at.is_ok_and(|at| self.of_groups[at].1 == group) || at.is_err()
    }

    /// Returns the entry of a sampler in `owners`; `None` if Java does not know the sampler.
    pub fn owner(&self, sampler: SamplerId) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.sampler == sampler)
    }
}

/// Latest values of a user's expressions that Java evaluated.
#[derive(Debug, Default)]
pub struct Values {
    values: Vec<(TextId, String)>,
}

impl Values {
    /// Returns the latest value of an expression.
    pub fn get(&self, id: TextId) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == id).map(|(_, value)| value.as_str())
    }

    /// Sets the latest value of an expression.
    pub fn set(&mut self, id: TextId, value: String) {
        match self.values.iter_mut().find(|(known, _)| *known == id) {
            Some((_, old)) => *old = value,
            None => self.values.push((id, value)),
        }
    }
}
