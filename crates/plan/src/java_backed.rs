//! The part of a plan that only Java can do: elements run by their own classes, and texts with functions that run scripts.
//!
//! Both are numbered here and stand in the plan as [`Job`]s: whoever runs a user hands them to a Java machine
//! and lets the user wait. A plan in which nothing is Java-backed needs no Java machine ([`JavaBacked::is_empty`]).

pub(crate) mod reads;

use std::sync::Arc;

use crate::compile::Settings;
use crate::plan::{GroupId, SamplerId};

/// Index of an element in [`JavaBacked::elements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JavaBackedId(pub u32);

/// Index of a text in [`JavaBacked::texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u32);

/// Texts that follow each other in [`JavaBacked::texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextRange {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl TextRange {
    /// Whether there is nothing to evaluate.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
}

/// Begins a text that is the condition of an If Controller in JavaScript; the controller's name follows, this again, and the condition.
pub(crate) const CONDITION: char = '\u{1}';

/// A text of Java's as people know it.
pub fn shown(text: &str) -> &str {
    text.rsplit(CONDITION).next().unwrap_or(text)
}

/// The consequence, in words, of a native element's class that is missing.
pub const WITHOUT_OBJECT: &str = ": the element runs without it, but scripts find no sampler, and what they would change in it has no effect";

/// Something that a Java machine does for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Runs an element.
    Run(JavaBackedId),
    /// Evaluates texts, which the element behind it reads.
    Evaluate(TextRange),
}

/// The work that an element is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Configures samplers.
    Config,
    /// Runs before samplers.
    Before,
    /// Says how long to wait.
    Timer,
    /// Makes a sample.
    Sampler,
    /// Runs after samplers.
    After,
    /// Checks results.
    Assertion,
    /// Is told of results.
    Listener,
    /// Says which sampler is next.
    Controller,
}

bitflags::bitflags! {
    /// The values that an element reads or changes beside variables and properties; no others are carried to Java.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Reads: u8 {
        /// The result: that of the sample before, or of the sample it stands behind.
        const RESULT = 1;
        /// The sampler.
        const SAMPLER = 2;
        /// The sampler's cookies.
        const COOKIES = 4;
        /// The body of the result.
        const BODY = 8;
        /// The result of the sample before by that name, which of a transaction is not its own.
        const PREVIOUS = 16;
    }
}

/// An element that is run by its own class.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its work.
    pub role: Role,
    /// Its class as the file names it, which may be a short name of JMeter's.
    pub class: String,
    /// Its name as in the file.
    pub name: String,
    /// Path of the element, for messages.
    pub path: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Its reads.
    pub reads: Reads,
    /// It runs natively; Java has its object for scripts that look at it, and may be without its class.
    pub native: bool,
    /// The element as in the file, without what stands below it.
    pub xml: Box<str>,
}

/// A sampler that Java knows: because its own class runs it, or because scripts in its scope read or change it.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The sampler.
    pub sampler: SamplerId,
    /// Its element.
    pub element: JavaBackedId,
    /// Config elements in its scope, nearest first: the order in which JMeter adds them to a sampler.
    pub configs: Vec<JavaBackedId>,
    /// Scripts of other samplers may have changed headers that it sends, and none of its own pre-processors tells of its request: Java is
    /// asked for it where they did.
    pub asks_for_headers: bool,
}

/// The part of a plan that only Java can do.
#[derive(Clone, Debug, Default)]
pub struct JavaBacked {
    /// Elements, in the order in which samplers meet them.
    pub elements: Vec<Element>,
    /// Samplers that Java knows.
    pub owners: Vec<Owner>,
    /// By which samplers are compiled that scripts have changed; there where Java knows a native one.
    pub settings: Option<Arc<Settings>>,
    /// Texts with functions that run scripts, as in the file: `${__groovy(…)}`.
    pub texts: Vec<Box<str>>,
    /// Of the texts, those of each block of [`Plan::variables`](crate::plan::Plan::variables): evaluated before the block is.
    pub variables: Vec<TextRange>,
    /// The first of these blocks is the Test Plan's own.
    pub begins_blank: bool,
    /// Of the texts, those that are evaluated once, behind the variables and before any user starts: in the settings of thread groups,
    /// in names of files, in what users share. Their values hold for the whole run ([`RunState::set_java`](crate::state::RunState::set_java)).
    pub at_start: Vec<TextId>,
    /// Config elements that are told of iterations, as far as their classes listen.
    pub iterating: Vec<JavaBackedId>,
    /// Elements that stand in a thread group, with its index, by their numbers: users of others have nothing to do with them.
    pub of_groups: Vec<(JavaBackedId, GroupId)>,
    /// Variables are read by names that are made during the run, or all are shown.
    pub reads_any_name: bool,
    /// Something reads the result of the sample before.
    pub keeps_previous: bool,
    /// Something that looks at a transaction reads the result of the sample before.
    pub previous_of_transactions: bool,
    /// Something asks for the sampler before.
    pub previous_sampler: bool,
}

impl JavaBacked {
    /// Whether the plan needs no Java machine.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.texts.is_empty()
    }

    /// Whether an element has to do with users of the group with that index.
    pub fn concerns(&self, id: JavaBackedId, group: GroupId) -> bool {
        let at = self.of_groups.binary_search_by_key(&id, |(known, _)| *known);
        at.is_ok_and(|at| self.of_groups[at].1 == group) || at.is_err()
    }

    /// The owner of a sampler.
    pub fn owner(&self, sampler: SamplerId) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.sampler == sampler)
    }
}

/// Values that Java said the texts of a user's last job have.
#[derive(Debug, Default)]
pub struct Values {
    values: Vec<(TextId, String)>,
}

impl Values {
    /// The last value of a text.
    pub fn get(&self, id: TextId) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == id).map(|(_, value)| value.as_str())
    }

    /// Sets the value of a text.
    pub fn set(&mut self, id: TextId, value: String) {
        match self.values.iter_mut().find(|(known, _)| *known == id) {
            Some((_, old)) => *old = value,
            None => self.values.push((id, value)),
        }
    }
}
