//! Compiles expressions: operators follow the rules of their language, for the kinds that their operands may have.

use super::check::{Checker, Result, Type, Typed};
use super::code::{Conversion, Expr};
use super::kind::Kinds;
use super::tree::{Binary, Node};
use super::world::{Object, Operation};
use super::{NotSimple, Role};

use Kinds as K;

impl Checker<'_> {
    /// Compiles an expression that must have a value.
    pub(super) fn value(&mut self, node: &Node) -> Result<Typed> {
        let (value, kinds) = self.value_or_nothing(node)?;
        if kinds.intersects(K::VOID) {
            return Err(NotSimple::new("a call without a value used as a value"));
        }
        Ok((value, kinds))
    }

    /// Compiles an expression that is used as a condition.
    pub(super) fn condition(&mut self, node: &Node) -> Result<Expr> {
        let (value, kinds) = self.value(node)?;
        if self.groovy() || kinds == K::BOOL {
            return Ok(value);
        }
        Err(NotSimple::new("a condition that may not be a boolean"))
    }

    pub(super) fn value_or_nothing(&mut self, node: &Node) -> Result<Typed> {
        Ok(match node {
            Node::Text(text) => (Expr::Text(text.as_str().into()), K::TEXT),
            Node::Int(value) => (Expr::Int(*value), K::INT),
            Node::Long(value) => (Expr::Long(*value), K::LONG),
            Node::Double(value) => (Expr::Double(*value), K::DOUBLE),
            Node::Bool(value) => (Expr::Bool(*value), K::BOOL),
            Node::Null => (Expr::Null, K::NULL),
            Node::Joined(parts) => {
                let parts: Result<Vec<_>> =
                    parts.iter().map(|part| self.value(part).map(|(part, _)| part)).collect();
                (Expr::Join(parts?), K::GSTRING)
            }
            Node::Name(name) => self.name(name)?,
            Node::Field { on, name, safe } => self.field(node, on, name, *safe)?,
            Node::Call { on, name, args, safe } => self.call(on.as_deref(), name, args, *safe)?,
            Node::New(class) => return Err(NotSimple::new(format!("a new {class}"))),
            Node::Index(on, at) => self.index(on, at)?,
            Node::Not(node) => (Expr::Not(Box::new(self.condition(node)?)), K::BOOL),
            Node::Minus(node) => self.minus(node)?,
            Node::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Node::And(left, right) => {
                let left = self.condition(left)?;
                let right = self.maybe(|checker| checker.condition(right))?;
                (Expr::And(Box::new(left), Box::new(right)), K::BOOL)
            }
            Node::Or(left, right) => {
                let left = self.condition(left)?;
                let right = self.maybe(|checker| checker.condition(right))?;
                (Expr::Or(Box::new(left), Box::new(right)), K::BOOL)
            }
            Node::Choice(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let (then, one) = self.maybe(|checker| checker.value(then))?;
                let (otherwise, other) = self.maybe(|checker| checker.value(otherwise))?;
                let choice = Expr::Choice(Box::new(condition), Box::new(then), Box::new(otherwise));
                (choice, one | other)
            }
            Node::Elvis(left, right) => {
                if !self.groovy() {
                    return Err(NotSimple::new("\u{201c}?:\u{201d}"));
                }
                let (left, one) = self.value(left)?;
                let (right, other) = self.maybe(|checker| checker.value(right))?;
                (Expr::Elvis(Box::new(left), Box::new(right)), one.real() | other)
            }
            Node::As(node, kind) => self.read_as(node, kind)?,
            Node::Cast(node, kind) => self.cast(node, kind)?,
            Node::Assign(target, value) => self.set(target, value)?,
            Node::Change(operator, target, value) => self.change(*operator, target, value)?,
            Node::Step(..) => return Err(NotSimple::new("++ or -- within an expression")),
        })
    }

    /// Compiles an expression that may not be evaluated when the script runs.
    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.conditional += 1;
        let found = read(self);
        self.conditional -= 1;
        found
    }

    fn name(&mut self, name: &str) -> Result<Typed> {
        if let Some(local) = self.locals.get(name) {
            if local.kinds.contains(K::UNSET) {
                return Err(NotSimple::new(format!("the variable {name}, which may not be set")));
            }
            return Ok((Expr::Local(local.slot), local.kinds));
        }
        let jsr223 = self.place.jsr223;
        let element = self.place.role != Role::Function;
        Ok(match name {
            "Parameters" if element => {
                self.parameters = true;
                (Expr::Operation(Operation::Parameters, Vec::new()), K::TEXT)
            }
            "Label" if element => (Expr::Operation(Operation::ElementName, Vec::new()), K::TEXT),
            "FileName" if element => (Expr::Text("".into()), K::TEXT),
            "threadName" if !element && !jsr223 => {
                (Expr::Operation(Operation::UserName, Vec::new()), K::TEXT)
            }
            _ => return Err(NotSimple::new(format!("the name {name}"))),
        })
    }

    fn index(&mut self, on: &Node, at: &Node) -> Result<Typed> {
        match self.object(on) {
            Some(Object::Args) => {
                let (at, kinds) = self.value(at)?;
                if kinds != K::INT {
                    return Err(NotSimple::new("an index that is not an integer"));
                }
                self.refuse_unknown_exception("an index")?;
                self.parameters = true;
                Ok((Expr::Operation(Operation::Argument, vec![at]), K::TEXT))
            }
            Some(Object::Props) if self.groovy() => {
                self.compile_operation(Object::Props, "get", std::slice::from_ref(at))
            }
            _ => Err(NotSimple::new("an index")),
        }
    }

    fn minus(&mut self, node: &Node) -> Result<Typed> {
        let (value, kinds) = self.value(node)?;
        if !kinds.within(K::NUMBER) {
            return Err(NotSimple::new("a negation of a value that may not be a number"));
        }
        // The negative of 0.0 is -0.0, so the value is subtracted from -0.0.
        let zero = if kinds == K::DOUBLE { Expr::Double(-0.0) } else { Expr::Int(0) };
        if kinds.contains(K::DOUBLE) && kinds != K::DOUBLE {
            return Err(NotSimple::new("a negation of a number of unknown type"));
        }
        Ok((Expr::Calculate(Binary::Minus, Box::new(zero), Box::new(value)), kinds))
    }

    fn binary(&mut self, operator: Binary, left: &Node, right: &Node) -> Result<Typed> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        match operator {
            Binary::Plus => self.plus(left, right),
            Binary::Minus | Binary::Times | Binary::Over | Binary::Rest => {
                self.calculate(operator, left, right)
            }
            Binary::Equal | Binary::Unequal => self.equality(operator, left, right),
            _ => self.order(operator, left, right),
        }
    }

    fn plus(&mut self, left: Typed, right: Typed) -> Result<Typed> {
        let ((left, one), (right, two)) = (left, right);
        let join = |left, right| Expr::Join(vec![left, right]);
        if one.within(K::NUMBER) && two.within(K::NUMBER) {
            return self.calculate(Binary::Plus, (left, one), (right, two));
        }
        let refuse = || NotSimple::new("an addition of values of these types");
        if !self.groovy() {
            // In BeanShell a sum is a string if one side is a string.
            return if one == K::TEXT || two == K::TEXT {
                Ok((join(left, right), K::TEXT))
            } else if one.within(K::NULLABLE) && two.within(K::NULLABLE) {
                self.refuse_unknown_exception("an addition of values that may be null")?;
                Ok((Expr::JoinOrThrow(Box::new(left), Box::new(right)), K::TEXT))
            } else {
                Err(refuse())
            };
        }
        let any = K::STRING.union(K::NUMBER).union(K::BOOL).union(K::NULL).union(K::UUID);
        let kinds = if one.within(K::NULLABLE) && !one.is_empty() {
            // In Groovy `null` is appended as the text `null` if the other operand is a string.
            if !two.within(any) || one.contains(K::NULL) && !two.within(K::NULLABLE) {
                return Err(refuse());
            }
            if one.contains(K::NULL) && two.contains(K::NULL) {
                self.refuse_unknown_exception("an addition of values that may be null")?;
                return Ok((Expr::JoinOrThrow(Box::new(left), Box::new(right)), K::TEXT));
            }
            K::TEXT
        } else if one == K::GSTRING && two.within(K::STRING) {
            K::GSTRING
        } else if one.within(K::NUMBER) && two == K::TEXT {
            K::TEXT
        } else {
            return Err(refuse());
        };
        Ok((join(left, right), kinds))
    }

    fn calculate(&mut self, operator: Binary, left: Typed, right: Typed) -> Result<Typed> {
        let ((left, one), (right, two)) = (left, right);
        if !one.within(K::NUMBER) || !two.within(K::NUMBER) {
            return Err(NotSimple::new("arithmetic with a value that may not be a number"));
        }
        let floating = one == K::DOUBLE || two == K::DOUBLE;
        let kinds = if floating {
            K::DOUBLE
        } else if one == K::INT && two == K::INT {
            K::INT
        } else if one.within(K::WHOLE) && two.within(K::WHOLE) && (one == K::LONG || two == K::LONG)
        {
            K::LONG
        } else if one.within(K::WHOLE) && two.within(K::WHOLE) {
            K::WHOLE
        } else {
            K::NUMBER
        };
        if operator == Binary::Over && self.groovy() && !floating {
            return Err(NotSimple::new("a division that returns a BigDecimal"));
        }
        if operator == Binary::Rest && self.groovy() && kinds.contains(K::DOUBLE) {
            return Err(NotSimple::new("a remainder of numbers that are not integers"));
        }
        let safe = matches!(right, Expr::Int(value) if value != 0) || floating;
        if matches!(operator, Binary::Over | Binary::Rest) && !safe {
            self.refuse_exception("a division")?;
        }
        Ok((Expr::Calculate(operator, Box::new(left), Box::new(right)), kinds))
    }

    fn equality(&mut self, operator: Binary, left: Typed, right: Typed) -> Result<Typed> {
        let ((left, one), (right, two)) = (left, right);
        let plain = K::NULL.union(K::BOOL).union(K::NUMBER).union(K::STRING);
        let fine = if self.groovy() {
            one.within(plain) && two.within(plain)
        } else {
            // BeanShell compares two strings by identity.
            one.within(K::NUMBER) && two.within(K::NUMBER)
                || one == K::BOOL && two == K::BOOL
                || one == K::NULL && two.within(K::NULLABLE)
                || two == K::NULL && one.within(K::NULLABLE)
        };
        if !fine {
            return Err(NotSimple::new("a comparison of values of these types"));
        }
        Ok((Expr::Compare(operator, Box::new(left), Box::new(right)), K::BOOL))
    }

    fn order(&mut self, operator: Binary, left: Typed, right: Typed) -> Result<Typed> {
        let ((left, one), (right, two)) = (left, right);
        let both = |kinds: K| one.within(kinds) && two.within(kinds);
        let fine = both(K::NUMBER)
            || self.groovy() && (both(K::NUMBER.union(K::NULL)) || both(K::STRING.union(K::NULL)));
        if !fine {
            return Err(NotSimple::new("a comparison of values of these types"));
        }
        Ok((Expr::Compare(operator, Box::new(left), Box::new(right)), K::BOOL))
    }

    /// Compiles the conversion `x as T`.
    fn read_as(&mut self, node: &Node, kind: &str) -> Result<Typed> {
        let (value, kinds) = self.value(node)?;
        let of_text = kinds.within(K::STRING.union(K::NULL));
        if !of_text && !kinds.real().within(K::NUMBER) {
            return Err(NotSimple::new(format!("a conversion of a value of this type to {kind}")));
        }
        let primitive = matches!(kind, "int" | "long" | "double");
        if primitive && kinds.contains(K::NULL) {
            let word = match kind {
                "int" => "int",
                "long" => "long",
                _ => "double",
            };
            let (conversion, gives) = match (word, of_text) {
                ("int", true) => (Conversion::ReadInt, K::INT),
                ("int", false) => (Conversion::Int, K::INT),
                ("long", true) => (Conversion::ReadLong, K::LONG),
                ("long", false) => (Conversion::Long, K::LONG),
                (_, true) => (Conversion::ReadDouble, K::DOUBLE),
                (_, false) => (Conversion::Double, K::DOUBLE),
            };
            let checked = Expr::Convert(Conversion::NotNull(word), Box::new(value));
            return Ok((Expr::Convert(conversion, Box::new(checked)), gives));
        }
        let (conversion, gives) = match kind {
            "String" => (Conversion::Text, K::TEXT),
            "int" | "Integer" if of_text => (Conversion::ReadInt, K::INT),
            "long" | "Long" if of_text => (Conversion::ReadLong, K::LONG),
            "double" | "Double" if of_text => (Conversion::ReadDouble, K::DOUBLE),
            "int" | "Integer" => (Conversion::Int, K::INT),
            "long" | "Long" => (Conversion::Long, K::LONG),
            "double" | "Double" => (Conversion::Double, K::DOUBLE),
            _ => return Err(NotSimple::new(format!("the type {kind}"))),
        };
        Ok((Expr::Convert(conversion, Box::new(value)), gives | kinds & K::NULL))
    }

    /// Compiles the cast `(T) x`.
    fn cast(&mut self, node: &Node, kind: &str) -> Result<Typed> {
        let (value, kinds) = self.value(node)?;
        let declared = match kind {
            "String" => Type::Text,
            "int" => Type::Int { boxed: false },
            "long" => Type::Long { boxed: false },
            "double" => Type::Double { boxed: false },
            _ => return Err(NotSimple::new(format!("a cast to {kind}"))),
        };
        if self.groovy() {
            return self.fit((value, kinds), declared);
        }
        // BeanShell's casts also narrow numbers.
        let (conversion, gives) = match declared {
            Type::Text if kinds.within(K::NULLABLE) => return Ok((value, kinds)),
            _ if !kinds.within(K::NUMBER) => {
                return Err(NotSimple::new(format!("a cast to {kind}")));
            }
            Type::Int { .. } => (Conversion::Int, K::INT),
            Type::Long { .. } => (Conversion::Long, K::LONG),
            _ => (Conversion::Double, K::DOUBLE),
        };
        Ok((Expr::Convert(conversion, Box::new(value)), gives))
    }

    fn set(&mut self, target: &Node, value: &Node) -> Result<Typed> {
        match target {
            Node::Name(name) => {
                let typed = self.value(value)?;
                self.assign(name, typed)
            }
            Node::Field { on, name, safe: false } if self.groovy() && self.conditional == 0 => {
                let Some(object @ (Object::Result | Object::Finding)) = self.object(on) else {
                    return Err(NotSimple::new(format!("the property {name}")));
                };
                let setter = format!("set{}", capital(name));
                self.compile_operation(object, &setter, std::slice::from_ref(value))
            }
            _ => Err(NotSimple::new("an assignment to an expression of this form")),
        }
    }

    /// Compiles a compound assignment such as `x += y`.
    pub(super) fn change(
        &mut self,
        operator: Binary,
        target: &Node,
        value: &Node,
    ) -> Result<Typed> {
        let Node::Name(name) = target else {
            return Err(NotSimple::new("an assignment to an expression of this form"));
        };
        let typed = self.binary(operator, target, value)?;
        self.assign(name, typed)
    }
}

/// Returns a name with its first letter in upper case.
pub(super) fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + chars.as_str())
        .unwrap_or_default()
}
