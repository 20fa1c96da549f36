//! Compiles names and calls: finds the objects that they stand for, and which of their methods are supported.

use super::check::{Checker, Result, Typed};
use super::code::{Conversion, Expr};
use super::express::capital;
use super::kind::Kinds;
use super::method::{self, Method};
use super::tree::Node;
use super::world::{self, Object, Operation};
use super::{NotSimple, Role};

use Kinds as K;

impl Checker<'_> {
    /// Returns the predefined object that a name stands for, such as `vars`; `None` for any other name.
    pub(super) fn builtin(&self, name: &str) -> Option<Object> {
        let place = self.place;
        let element = place.role != Role::Function;
        // An element that runs before a sample would read the previous sample's result, which is not kept.
        let has_result = matches!(place.role, Role::After | Role::Assertion | Role::Listener);
        Some(match name {
            "vars" => Object::Vars,
            "props" => Object::Props,
            "log" => Object::Log,
            "ctx" => Object::Context,
            "OUT" if place.jsr223 || !element && self.groovy() => Object::Out,
            "args" if place.jsr223 => Object::Args,
            "sampler" if place.jsr223 || self.groovy() || place.role == Role::Before => {
                Object::Sampler
            }
            "Sampler" if !element && !self.groovy() => Object::Sampler,
            "prev" if place.role == Role::Assertion && self.surroundings.checks_transactions() => {
                return None;
            }
            "prev" if has_result && element => Object::Result,
            "SampleResult" if matches!(place.role, Role::Sampler | Role::Assertion) => {
                Object::Result
            }
            "Response" if place.role == Role::Assertion && !place.jsr223 => Object::Result,
            "sampleResult" if place.role == Role::Listener => Object::Result,
            "AssertionResult" if place.role == Role::Assertion && place.jsr223 => Object::Finding,
            _ => return None,
        })
    }

    /// Returns the object that an expression stands for, such as `prev` or a class; `None` for an expression with a
    /// value.
    pub(super) fn object(&self, node: &Node) -> Option<Object> {
        if let Some(path) = path(node) {
            if !path.contains('.') {
                if self.locals.contains_key(&path) {
                    return None;
                }
                if let Some(object) =
                    self.aliases.get(&path).copied().or_else(|| self.builtin(&path))
                {
                    return Some(object);
                }
            }
            if let Some(class) = world::class(&path, &self.imports) {
                return Some(Object::Class(class));
            }
        }
        match node {
            Node::Call { on: Some(on), name, args, safe: false } if args.is_empty() => {
                self.member(self.object(on)?, name)
            }
            Node::Field { on, name, safe: false } => match self.object(on)? {
                Object::Class("System") if name == "out" => Some(Object::Out),
                Object::Class(_) => None,
                object if self.groovy() => self.member(object, &format!("get{}", capital(name))),
                _ => None,
            },
            _ => None,
        }
    }

    fn member(&self, on: Object, name: &str) -> Option<Object> {
        Some(match (on, name) {
            (Object::Context, "getThread") => Object::Thread,
            (Object::Context | Object::Thread, "getThreadGroup") => Object::Group,
            (Object::Context, "getVariables") => Object::Vars,
            (Object::Context, "getProperties")
            | (Object::Class("JMeterUtils"), "getJMeterProperties") => Object::Props,
            (Object::Context, "getCurrentSampler") if self.place.role != Role::Function => {
                Object::Sampler
            }
            (Object::Context, "getPreviousResult") => {
                let known =
                    matches!(self.place.role, Role::After | Role::Assertion | Role::Listener);
                return known.then_some(Object::Result);
            }
            (Object::Class("FileServer"), "getFileServer") => Object::FileServer,
            (Object::Class("Thread"), "currentThread") => Object::JavaThread,
            (Object::Class("JMeterContextService"), "getContext") => Object::Context,
            _ => return None,
        })
    }

    pub(super) fn field(
        &mut self,
        node: &Node,
        on: &Node,
        name: &str,
        safe: bool,
    ) -> Result<Typed> {
        if let Some(object) = self.object(on) {
            match object {
                Object::Class("File") if name == "separator" => {
                    return Ok((Expr::Text(std::path::MAIN_SEPARATOR_STR.into()), K::TEXT));
                }
                Object::Props if self.groovy() => {
                    return self.compile_operation(
                        Object::Props,
                        "get",
                        &[Node::Text(name.into())],
                    );
                }
                Object::Class(_) | Object::Vars => {}
                _ if self.groovy() && !safe => {
                    for getter in [format!("get{}", capital(name)), format!("is{}", capital(name))]
                    {
                        if world::find(object, &getter, 0).next().is_some() {
                            return self.compile_operation(object, &getter, &[]);
                        }
                    }
                }
                _ => {}
            }
        }
        let what = path(node).unwrap_or_else(|| name.to_owned());
        Err(NotSimple::new(format!("the property {what}")))
    }

    pub(super) fn call(
        &mut self,
        on: Option<&Node>,
        name: &str,
        args: &[Node],
        safe: bool,
    ) -> Result<Typed> {
        let Some(on) = on else {
            return match (name, args) {
                // BeanShell's `print` ends the line. Groovy's `print` does not end it, and the log has only whole
                // lines.
                ("print", [arg]) if !self.groovy() => self.print(arg),
                ("println", [arg]) if self.groovy() => self.print(arg),
                _ => Err(NotSimple::new(format!("the function {name}"))),
            };
        };
        if let Some(object) = self.object(on) {
            if safe && matches!(object, Object::Class(_)) {
                return Err(NotSimple::new("\u{201c}?.\u{201d} on a class"));
            }
            if let (Object::Out, "println", [arg]) = (object, name, args) {
                return self.print(arg);
            }
            return self.compile_operation(object, name, args);
        }
        let (on, kinds) = self.value(on)?;
        let (args, given) = self.args(args)?;
        let known = method::find(name, args.len()).find(|known| {
            kinds.real().within(known.on)
                && !kinds.real().is_empty()
                && (self.groovy() || !known.groovy)
                && given
                    .iter()
                    .zip(known.args)
                    .all(|(given, wanted)| given.real().within(*wanted) || given.within(*wanted))
        });
        let Some(known) = known else {
            return Err(NotSimple::new(format!("the method {name}")));
        };
        if !self.groovy() && kinds.contains(K::GSTRING) {
            return Err(NotSimple::new(format!("the method {name}")));
        }
        if given.iter().zip(known.args).any(|(given, wanted)| !given.within(*wanted)) {
            self.refuse_unknown_exception("a parameter that may be null")?;
        }
        let harmless = self.groovy() && matches!(known.method, Method::Equals | Method::ToText);
        if kinds.contains(K::NULL) && !safe && !harmless {
            self.refuse_exception("a method call on a value that may be null")?;
        }
        if known.throws {
            self.refuse_exception("a method that may throw")?;
        }
        let null = if safe { kinds & K::NULL } else { K::empty() };
        let code =
            Expr::Method { method: known.method, name: known.name, on: Box::new(on), args, safe };
        Ok((code, known.gives | null))
    }

    fn args(&mut self, args: &[Node]) -> Result<(Vec<Expr>, Vec<Kinds>)> {
        let typed: Result<Vec<_>> = args.iter().map(|arg| self.value(arg)).collect();
        Ok(typed?.into_iter().unzip())
    }

    fn print(&mut self, arg: &Node) -> Result<Typed> {
        let (value, _) = self.value(arg)?;
        Ok((Expr::Operation(Operation::PrintLine, vec![value]), K::VOID))
    }

    /// Compiles a call of an object in the script's surroundings.
    pub(super) fn compile_operation(
        &mut self,
        on: Object,
        name: &str,
        args: &[Node],
    ) -> Result<Typed> {
        let (mut args, given) = self.args(args)?;
        let fits = |known: &&world::Known| {
            let mut both = given.iter().zip(known.args);
            both.all(|(given, wanted)| {
                given.within(*wanted) || given.real().within(*wanted) && !given.real().is_empty()
            })
        };
        let Some(known) = world::find(on, name, args.len()).find(fits) else {
            return Err(NotSimple::new(format!("the method {name}")));
        };
        let whole = matches!(on, Object::Props)
            && matches!(known.operation, Operation::HasProperty | Operation::Property);
        if whole && name != "getProperty" && self.surroundings.has_property_objects() {
            return Err(NotSimple::new("a property that may hold an object other than a string"));
        }
        if given.iter().zip(known.args).any(|(given, wanted)| !given.within(*wanted)) {
            self.check_null_argument(known)?;
        }
        if known.throws {
            self.refuse_exception(name)?;
        }
        if known.operation.changes_result() && self.place.role == Role::Listener {
            return Err(NotSimple::new("a change of a result after it was recorded"));
        }
        if on == Object::Class("String")
            && !self.groovy()
            && given.iter().any(|given| given.contains(K::GSTRING))
        {
            return Err(NotSimple::new("a string with embedded expressions"));
        }
        if on == Object::Props || on == Object::Class("JMeterUtils") {
            self.note_property(args.first());
        }
        if matches!(known.operation, Operation::Put | Operation::Get | Operation::Remove)
            && let Some(Expr::Text(name)) = args.first()
        {
            self.surroundings.mentions_variable(name);
        }
        self.reads |= known.operation.reads();
        if given.iter().any(|given| given.contains(K::GSTRING)) {
            // Groovy converts a `GString` to a `String` if a `String` is required.
            args = args
                .into_iter()
                .map(|arg| match arg {
                    arg @ (Expr::Text(_) | Expr::Join(_)) => arg,
                    arg => Expr::Convert(Conversion::Text, Box::new(arg)),
                })
                .collect();
        }
        Ok((Expr::Operation(known.operation, args), known.gives))
    }

    /// Returns an error if a call cannot run natively because a parameter may be `null`, although the operation
    /// requires a string or number.
    fn check_null_argument(&self, known: &world::Known) -> Result<()> {
        match (known.on, known.operation) {
            // Java's property tables throw for a key or value that is `null`, without a message.
            (Object::Props | Object::Class("JMeterUtils"), Operation::SetProperty) => {
                self.refuse_exception("a property that may be null")
            }
            (Object::Props | Object::Class("JMeterUtils"), _)
            | (_, Operation::ParseDouble | Operation::ParseInt | Operation::ParseLong) => {
                self.refuse_unknown_exception("a parameter that may be null")
            }
            _ => Err(NotSimple::new(format!("null for {}", known.name))),
        }
    }

    /// Reports to the surroundings which property is read.
    fn note_property(&mut self, name: Option<&Expr>) {
        let name = match name {
            Some(Expr::Text(name)) => Some(&**name),
            _ => None,
        };
        self.surroundings.mentions_property(name);
    }
}

/// Returns an expression of names separated by points, such as `a.b.c`, as text; `None` for any other expression.
fn path(node: &Node) -> Option<String> {
    match node {
        Node::Name(name) => Some(name.clone()),
        Node::Field { on, name, safe: false } => Some(format!("{}.{name}", path(on)?)),
        _ => None,
    }
}
