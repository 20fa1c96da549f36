//! Compiles a script's syntax tree to code: resolves names, and determines which kinds of values a variable may hold at
//! each point.
//!
//! A script is simple if every operation in it is supported for all kinds that its operands may have. Variables are
//! followed through branches; a variable that may be unset is not read. BeanShell keeps its variables from one run to
//! the next. No script that compiles here can notice the old values.

use std::collections::HashMap;

use super::code::{Conversion, Expr, Step};
use super::kind::Kinds;
use super::lex::{Token, Word};
use super::tree::{Node, Stmt};
use super::world::{self, Object, Operation};
use super::{Language, NotSimple, Role, ScriptKind};
use crate::{Reads, Surroundings};

/// Maximum number of local variables of a script: they are on the stack while the script runs.
pub(super) const MOST_LOCALS: usize = 24;

pub(super) type Result<T> = std::result::Result<T, NotSimple>;
/// An expression with the possible kinds of its value.
pub(super) type Typed = (Expr, Kinds);

/// A local variable of a script.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) slot: usize,
    pub(super) kinds: Kinds,
    /// Declared type of the variable, if it has one.
    pub(super) declared: Option<Type>,
    /// Nesting level of the block in which the variable is declared.
    depth: u32,
    /// Kinds that the variable may have at the end of the script, if an element reads it then.
    demand: Option<Kinds>,
}

/// Declared type of a script's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Any,
    Text,
    Int { boxed: bool },
    Long { boxed: bool },
    Double { boxed: bool },
    Bool,
}

/// State of compiling one script.
pub(super) struct Checker<'c> {
    pub(super) place: ScriptKind,
    pub(super) surroundings: &'c mut dyn Surroundings,
    pub(super) locals: HashMap<String, Local>,
    pub(super) aliases: HashMap<String, Object>,
    pub(super) imports: Vec<String>,
    slots: usize,
    /// Slots of undeclared variables: a variable has the same slot in all branches.
    globals: HashMap<String, usize>,
    pub(super) reads: Reads,
    /// Number of enclosing expressions that may not be evaluated.
    pub(super) conditional: u32,
    /// True if the script reads its parameters.
    pub(super) parameters: bool,
    depth: u32,
    prelude: Vec<Step>,
    outputs: HashMap<&'static str, usize>,
}

/// The compiled code of a script, with what the script reads.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) steps: Vec<Step>,
    pub(super) reads: Reads,
    pub(super) outputs: HashMap<&'static str, usize>,
    pub(super) parameters: bool,
}

/// Compiles a script; `words` are the tokens of its text.
pub(super) fn check(
    body: &[Stmt],
    words: &[Word],
    place: ScriptKind,
    surroundings: &mut dyn Surroundings,
) -> Result<Checked> {
    let mut checker = Checker {
        place,
        surroundings,
        locals: HashMap::new(),
        aliases: HashMap::new(),
        imports: Vec::new(),
        slots: 0,
        globals: HashMap::new(),
        reads: Reads::empty(),
        conditional: 0,
        parameters: false,
        depth: 0,
        prelude: Vec::new(),
        outputs: HashMap::new(),
    };
    checker.predefine(words)?;
    let (mut steps, _) = checker.steps(body, true)?;
    let mut all = std::mem::take(&mut checker.prelude);
    all.append(&mut steps);
    Ok(Checked {
        steps: all,
        reads: checker.reads,
        outputs: checker.outputs,
        parameters: checker.parameters,
    })
}

impl Checker<'_> {
    pub(super) fn groovy(&self) -> bool {
        self.place.language == Language::Groovy
    }

    /// Refuses an operation that may throw with a message that is not known, if the script's result would show the
    /// message.
    pub(super) fn refuse_unknown_exception(&self, what: &str) -> Result<()> {
        if matches!(self.place.role, Role::Sampler | Role::Assertion) {
            return Err(NotSimple::new(format!(
                "{what}; the text of its exception would be part of the result"
            )));
        }
        Ok(())
    }

    /// Allows an operation that may throw in Groovy, because Groovy's message is known; otherwise the same as
    /// `refuse_unknown_exception`.
    pub(super) fn refuse_exception(&self, what: &str) -> Result<()> {
        if self.groovy() { Ok(()) } else { self.refuse_unknown_exception(what) }
    }

    /// Defines the variables that a BeanShell element sets before a script and reads after it.
    fn predefine(&mut self, words: &[Word]) -> Result<()> {
        use Kinds as K;
        if self.place.jsr223 || self.groovy() {
            return Ok(());
        }
        let printed = K::TEXT.union(K::BOOL).union(K::NUMBER);
        let all: Vec<(&'static str, Expr, Kinds, bool)> = match self.place.role {
            Role::Sampler => vec![
                ("ResponseCode", Expr::Text("200".into()), K::TEXT, true),
                ("ResponseMessage", Expr::Text("OK".into()), K::TEXT, true),
                ("IsSuccess", Expr::Bool(true), K::BOOL, true),
            ],
            Role::Assertion => vec![
                ("ResponseCode", Expr::Operation(Operation::Code, Vec::new()), K::TEXT, false),
                (
                    "ResponseMessage",
                    Expr::Operation(Operation::Message, Vec::new()),
                    K::TEXT,
                    false,
                ),
                ("SampleLabel", Expr::Operation(Operation::Label, Vec::new()), K::TEXT, false),
                (
                    "Successful",
                    Expr::Operation(Operation::IsSuccessful, Vec::new()),
                    K::BOOL,
                    false,
                ),
                (
                    "ResponseHeaders",
                    Expr::Operation(Operation::Headers, Vec::new()),
                    K::TEXT,
                    false,
                ),
                ("FailureMessage", Expr::Text("".into()), K::TEXT, true),
                ("Failure", Expr::Bool(false), K::BOOL, true),
            ],
            _ => Vec::new(),
        };
        for (name, value, kinds, output) in all {
            if !words.iter().any(|word| matches!(&word.token, Token::Name(found) if found == name))
            {
                continue;
            }
            if let Expr::Operation(operation, _) = &value {
                self.reads |= operation.reads();
            }
            let slot = self.slot()?;
            let demand = output.then_some(printed);
            self.locals
                .insert(name.into(), Local { slot, kinds, declared: None, depth: 0, demand });
            self.prelude.push(Step::Drop(Expr::Set(slot, Box::new(value))));
            if output {
                self.outputs.insert(name, slot);
            }
        }
        Ok(())
    }

    fn slot(&mut self) -> Result<usize> {
        if self.slots == MOST_LOCALS {
            return Err(NotSimple::new("too many variables"));
        }
        self.slots += 1;
        Ok(self.slots - 1)
    }

    /// Compiles statements, and returns whether the code after them is reachable. `tail` is true if the value of the
    /// last statement is the value of the script.
    fn steps(&mut self, body: &[Stmt], tail: bool) -> Result<(Vec<Step>, bool)> {
        let (mut found, mut reached) = (Vec::new(), true);
        let last = body.iter().rposition(|stmt| !matches!(stmt, Stmt::Import(_)));
        for (at, stmt) in body.iter().enumerate() {
            if !reached {
                // Groovy's compiler and BeanShell both accept unreachable statements. Scripts with unreachable
                // statements are too rare to be supported here.
                return Err(NotSimple::new("unreachable statements"));
            }
            reached = self.step(stmt, tail && Some(at) == last, &mut found)?;
        }
        Ok((found, reached))
    }

    fn step(&mut self, stmt: &Stmt, tail: bool, out: &mut Vec<Step>) -> Result<bool> {
        match stmt {
            Stmt::Import(path) => {
                if !world::is_harmless(path) {
                    return Err(NotSimple::new(format!("the class {path}")));
                }
                self.imports.push(path.clone());
            }
            Stmt::Do(Node::Step(operator, target)) => {
                if tail && self.place.role.reads_value() {
                    return Err(NotSimple::new("a script whose value is that of ++ or --"));
                }
                let (changed, _) = self.change(*operator, target, &Node::Int(1))?;
                out.push(Step::Drop(changed));
            }
            Stmt::Do(Node::Assign(target, value)) if self.alias(target, value, None)? => {}
            Stmt::Do(node) => {
                let (value, _) = self.value_or_nothing(node)?;
                if tail && self.place.role.reads_value() {
                    if matches!(node, Node::Assign(target, _) if matches!(**target, Node::Field { .. }))
                    {
                        return Err(NotSimple::new(
                            "a script whose value is that of an assignment to a property",
                        ));
                    }
                    out.push(Step::Return(Some(value)));
                } else {
                    out.push(Step::Drop(value));
                }
            }
            Stmt::Declare(kind, names) => {
                for (at, (name, value)) in names.iter().enumerate() {
                    let last = tail && at + 1 == names.len();
                    self.declare(kind.as_deref(), name, value.as_ref(), last, out)?;
                }
            }
            Stmt::Block(body) => return self.block(body, tail && self.groovy(), out),
            Stmt::Return(value) => {
                let value = match value {
                    Some(node) => Some(self.value_or_nothing(node)?.0),
                    None => None,
                };
                out.push(Step::Return(value));
                return Ok(false);
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                // In BeanShell a branch has no value.
                let tail = tail && self.groovy();
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let ways = (&**then, otherwise.as_deref());
                let reached = self.branches(ways, tail, (&mut yes, &mut no))?;
                out.push(Step::If(condition, yes, no));
                return Ok(reached);
            }
        }
        Ok(true)
    }

    /// Compiles the two branches of a condition, and returns whether the code after them is reachable.
    fn branches(
        &mut self,
        (then, otherwise): (&Stmt, Option<&Stmt>),
        tail: bool,
        (yes, no): (&mut Vec<Step>, &mut Vec<Step>),
    ) -> Result<bool> {
        let before = self.locals.clone();
        let yes_reached = self.branch(then, tail, yes)?;
        let after = std::mem::replace(&mut self.locals, before);
        let no_reached = match otherwise {
            Some(otherwise) => self.branch(otherwise, tail, no)?,
            None => true,
        };
        if yes_reached && no_reached {
            self.join(after);
        } else if yes_reached {
            self.locals = after;
        }
        Ok(yes_reached || no_reached)
    }

    fn branch(&mut self, stmt: &Stmt, tail: bool, out: &mut Vec<Step>) -> Result<bool> {
        match stmt {
            Stmt::Block(body) => self.block(body, tail, out),
            Stmt::Declare(..) | Stmt::Import(_) => {
                Err(NotSimple::new("a declaration without a block as a branch"))
            }
            other => {
                self.depth += 1;
                let reached = self.step(other, tail, out)?;
                self.depth -= 1;
                Ok(reached)
            }
        }
    }

    fn block(&mut self, body: &[Stmt], tail: bool, out: &mut Vec<Step>) -> Result<bool> {
        self.depth += 1;
        let (steps, reached) = self.steps(body, tail)?;
        out.extend(steps);
        self.depth -= 1;
        let depth = self.depth;
        self.locals.retain(|_, local| local.depth <= depth);
        Ok(reached)
    }

    /// Merges the kinds of variables where two branches meet.
    fn join(&mut self, other: HashMap<String, Local>) {
        for (name, local) in &mut self.locals {
            if !other.contains_key(name) {
                local.kinds |= Kinds::UNSET;
            }
        }
        for (name, local) in other {
            match self.locals.get_mut(&name) {
                Some(here) => here.kinds |= local.kinds,
                None => {
                    let kinds = local.kinds | Kinds::UNSET;
                    self.locals.insert(name, Local { kinds, ..local });
                }
            }
        }
    }

    fn declare(
        &mut self,
        kind: Option<&str>,
        name: &str,
        value: Option<&Node>,
        tail: bool,
        out: &mut Vec<Step>,
    ) -> Result<()> {
        if let Some(value) = value {
            let target = Node::Name(name.into());
            if self.alias(&target, value, kind)? {
                return Ok(());
            }
        }
        let declared = match kind {
            None => Type::Any,
            Some(kind) => self.type_of(kind)?,
        };
        if self.locals.contains_key(name)
            || self.builtin(name).is_some()
            || self.aliases.contains_key(name)
        {
            return Err(NotSimple::new(format!("a second declaration of {name}")));
        }
        let (value, kinds) = match value {
            Some(node) => {
                let typed = self.value(node)?;
                self.fit(typed, declared)?
            }
            // Groovy initializes variables with `null` or 0.
            None if self.groovy() && matches!(declared, Type::Any | Type::Text) => {
                (Expr::Null, Kinds::NULL)
            }
            None => {
                let slot = self.slot()?;
                self.locals.insert(
                    name.into(),
                    Local {
                        slot,
                        kinds: Kinds::UNSET,
                        declared: Some(declared),
                        depth: self.depth,
                        demand: None,
                    },
                );
                return Ok(());
            }
        };
        let slot = self.slot()?;
        self.locals.insert(
            name.into(),
            Local { slot, kinds, declared: Some(declared), depth: self.depth, demand: None },
        );
        let set = Expr::Set(slot, Box::new(value));
        // A declaration has no value in BeanShell.
        let counts = tail && self.groovy() && self.place.role.reads_value();
        out.push(if counts { Step::Return(Some(set)) } else { Step::Drop(set) });
        Ok(())
    }

    /// Makes a name an alias of an object that is not a value. Returns false if `value` is a value.
    fn alias(&mut self, target: &Node, value: &Node, kind: Option<&str>) -> Result<bool> {
        let Node::Name(name) = target else { return Ok(false) };
        let Some(object) = self.object(value) else { return Ok(false) };
        let taken = self.locals.contains_key(name)
            || self.builtin(name).is_some()
            || self.aliases.contains_key(name);
        if self.depth > 0 || self.conditional > 0 || taken || matches!(object, Object::Class(_)) {
            return Err(NotSimple::new(format!("the variable {name}, which is not a plain value")));
        }
        // An unknown declared type is assumed to be right: a wrong one would throw at the first run of the plan.
        if kind.is_some_and(|kind| self.type_of(kind).is_ok()) {
            return Err(NotSimple::new(format!("the variable {name}, which is not a plain value")));
        }
        self.aliases.insert(name.clone(), object);
        Ok(true)
    }

    fn type_of(&self, name: &str) -> Result<Type> {
        let name = name.strip_prefix("java.lang.").unwrap_or(name);
        Ok(match name {
            "Object" if self.groovy() => Type::Any,
            "String" => Type::Text,
            "int" => Type::Int { boxed: false },
            "long" => Type::Long { boxed: false },
            "double" => Type::Double { boxed: false },
            "boolean" => Type::Bool,
            "Integer" if self.groovy() => Type::Int { boxed: true },
            "Long" if self.groovy() => Type::Long { boxed: true },
            "Double" if self.groovy() => Type::Double { boxed: true },
            "Boolean" if self.groovy() => Type::Bool,
            _ => return Err(NotSimple::new(format!("the type {name}"))),
        })
    }

    /// Converts a value to the declared type of the variable that it is assigned to.
    pub(super) fn fit(&mut self, (value, kinds): Typed, declared: Type) -> Result<Typed> {
        use Kinds as K;
        let refuse = || NotSimple::new("a value whose type is not that of its variable");
        if kinds.intersects(K::VOID) {
            return Err(NotSimple::new("a call without a value used as a value"));
        }
        let number = |word: &'static str, boxed: bool, conversion, kind: Kinds, value: Expr| {
            let value = if boxed || !kinds.contains(K::NULL) {
                value
            } else {
                self.refuse_exception("a number that may be null")?;
                Expr::Convert(Conversion::NotNull(word), Box::new(value))
            };
            let null = if boxed { kinds & K::NULL } else { K::empty() };
            Ok((Expr::Convert(conversion, Box::new(value)), kind | null))
        };
        if !self.groovy() {
            // BeanShell widens numbers and converts nothing else.
            let allowed = match declared {
                Type::Any => K::all(),
                Type::Text => K::NULLABLE,
                Type::Int { .. } => K::INT,
                Type::Long { .. } => K::WHOLE,
                Type::Double { .. } => K::NUMBER,
                Type::Bool => K::BOOL,
            };
            if !kinds.within(allowed) {
                return Err(refuse());
            }
        }
        match declared {
            Type::Any => Ok((value, kinds)),
            Type::Text if kinds.within(K::NULLABLE) => Ok((value, kinds)),
            Type::Text => {
                let text = Expr::Convert(Conversion::Text, Box::new(value));
                Ok((text, K::TEXT | kinds & K::NULL))
            }
            Type::Bool if kinds == K::BOOL => Ok((value, kinds)),
            Type::Bool => Err(refuse()),
            _ if !kinds.real().within(K::NUMBER) => Err(refuse()),
            Type::Int { boxed } => number("int", boxed, Conversion::Int, K::INT, value),
            Type::Long { boxed } => number("long", boxed, Conversion::Long, K::LONG, value),
            Type::Double { boxed } => number("double", boxed, Conversion::Double, K::DOUBLE, value),
        }
    }

    /// Compiles an assignment to a variable.
    pub(super) fn assign(&mut self, name: &str, typed: Typed) -> Result<Typed> {
        if self.conditional > 0 {
            return Err(NotSimple::new("an assignment within a condition"));
        }
        if self.builtin(name).is_some() || self.aliases.contains_key(name) {
            return Err(NotSimple::new(format!("an assignment to the predefined variable {name}")));
        }
        let known = self.locals.get(name).cloned();
        let (slot, declared) = match &known {
            Some(local) => (local.slot, local.declared),
            None => match self.globals.get(name) {
                Some(slot) => (*slot, None),
                None => {
                    let slot = self.slot()?;
                    self.globals.insert(name.into(), slot);
                    (slot, None)
                }
            },
        };
        let (value, kinds) = self.fit(typed, declared.unwrap_or(Type::Any))?;
        let demand = known.as_ref().and_then(|local| local.demand);
        if demand.is_some_and(|demand| !kinds.within(demand)) {
            return Err(NotSimple::new(format!("an assignment to {name} that changes its type")));
        }
        match self.locals.get_mut(name) {
            Some(local) => local.kinds = kinds,
            None => {
                // An undeclared variable belongs to the whole script.
                self.locals.insert(
                    name.into(),
                    Local { slot, kinds, declared: None, depth: 0, demand: None },
                );
            }
        }
        Ok((Expr::Set(slot, Box::new(value)), kinds))
    }
}
