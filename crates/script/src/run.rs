//! Interpreter for the code of compiled scripts.

use std::cmp::Ordering;

use super::check::MOST_LOCALS;
use super::code::{Conversion, Expr, Step};
use super::method::Method;
use super::tree::Binary;
use super::value::{Value, calculate, compare, equal};
use super::{Execution, Language, Outcome, Script, ScriptKind, act, string};
use crate::{Thrown, World};

/// State of a running script.
pub(super) struct Frame<'s, 'a, W: World> {
    pub(super) world: &'a mut W,
    pub(super) stage: Execution<'a, W>,
    pub(super) place: ScriptKind,
    locals: [Value<'s>; MOST_LOCALS],
}

type Computed<'s> = Result<Value<'s>, Thrown>;

pub(super) fn run<W: World>(
    script: &Script,
    world: &mut W,
    stage: Execution<'_, W>,
) -> Result<Outcome, Thrown> {
    let place = script.place;
    let locals = [const { Value::Null }; MOST_LOCALS];
    let mut frame = Frame { world, stage, place, locals };
    let done = frame.steps(&script.steps);
    let outcome = done.map(|value| {
        let value = value.filter(|value| !value.is_null()).map(|value| {
            let mut text = frame.world.buffers().take();
            value.write(&mut text);
            value.drop(frame.world.buffers());
            text
        });
        let outputs = script.outputs.iter().map(|(name, slot)| {
            let mut text = String::new();
            frame.locals[*slot].write(&mut text);
            (*name, text)
        });
        Outcome { value, outputs: outputs.collect() }
    });
    frame.end();
    outcome
}

impl<'s, W: World> Frame<'s, '_, W> {
    /// Returns the buffers of all local variables to the world for reuse.
    fn end(self) {
        for value in self.locals {
            value.drop(self.world.buffers());
        }
    }

    /// Executes statements. Returns the script's value as soon as a statement has returned one.
    fn steps(&mut self, steps: &'s [Step]) -> Result<Option<Value<'s>>, Thrown> {
        for step in steps {
            match step {
                Step::Drop(expr) => self.eval(expr)?.drop(self.world.buffers()),
                Step::Return(None) => return Ok(Some(Value::Null)),
                Step::Return(Some(expr)) => return self.eval(expr).map(Some),
                Step::If(condition, yes, no) => {
                    let branch = if self.truth(condition)? { yes } else { no };
                    if let Some(value) = self.steps(branch)? {
                        return Ok(Some(value));
                    }
                }
            }
        }
        Ok(None)
    }

    fn truth(&mut self, expr: &'s Expr) -> Result<bool, Thrown> {
        let value = self.eval(expr)?;
        let truth = value.truth();
        value.drop(self.world.buffers());
        Ok(truth)
    }

    fn eval(&mut self, expr: &'s Expr) -> Computed<'s> {
        Ok(match expr {
            Expr::Null => Value::Null,
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Int(value) => Value::Int(*value),
            Expr::Long(value) => Value::Long(*value),
            Expr::Double(value) => Value::Double(*value),
            Expr::Text(text) => Value::Fixed(text),
            Expr::Local(slot) => self.locals[*slot].copy(self.world.buffers()),
            Expr::Set(slot, expr) => {
                let value = self.eval(expr)?;
                let copy = value.copy(self.world.buffers());
                std::mem::replace(&mut self.locals[*slot], value).drop(self.world.buffers());
                copy
            }
            Expr::Join(parts) => self.join(parts)?,
            Expr::JoinOrThrow(left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                self.join_or_throw(left, right)?
            }
            Expr::Calculate(operator, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                calculate(*operator, &left, &right)?
            }
            Expr::Compare(operator, left, right) => {
                Value::Bool(self.compare(*operator, left, right)?)
            }
            Expr::Not(expr) => Value::Bool(!self.truth(expr)?),
            Expr::And(left, right) => Value::Bool(self.truth(left)? && self.truth(right)?),
            Expr::Or(left, right) => Value::Bool(self.truth(left)? || self.truth(right)?),
            Expr::Choice(condition, then, otherwise) => {
                let chosen = if self.truth(condition)? { then } else { otherwise };
                self.eval(chosen)?
            }
            Expr::Elvis(left, right) => self.elvis(left, right)?,
            Expr::Convert(conversion, expr) => {
                let value = self.eval(expr)?;
                self.convert(*conversion, value)?
            }
            Expr::Method { method, name, on, args, safe } => {
                let on = self.eval(on)?;
                if *safe && on.is_null() {
                    return Ok(on);
                }
                let (one, two) = self.pair(args)?;
                if on.is_null() {
                    return self.method_of_null(*method, name, one);
                }
                self.method(*method, on, one, two)?
            }
            Expr::Operation(operation, args) => {
                let (one, two) = self.pair(args)?;
                let value = act::perform(self, *operation, &one, &two);
                one.drop(self.world.buffers());
                two.drop(self.world.buffers());
                value?
            }
        })
    }

    fn compare(
        &mut self,
        operator: Binary,
        left: &'s Expr,
        right: &'s Expr,
    ) -> Result<bool, Thrown> {
        let (left, right) = (self.eval(left)?, self.eval(right)?);
        let holds = holds(operator, &left, &right);
        left.drop(self.world.buffers());
        right.drop(self.world.buffers());
        Ok(holds)
    }

    /// Evaluates `left ?: right`: the left value if Groovy takes it for true, else the right value.
    fn elvis(&mut self, left: &'s Expr, right: &'s Expr) -> Computed<'s> {
        let left = self.eval(left)?;
        if left.truth() {
            return Ok(left);
        }
        left.drop(self.world.buffers());
        self.eval(right)
    }

    /// Evaluates up to two parameters of a call.
    fn pair(&mut self, args: &'s [Expr]) -> Result<(Value<'s>, Value<'s>), Thrown> {
        let mut value = |at: usize| args.get(at).map_or(Ok(Value::Null), |arg| self.eval(arg));
        Ok((value(0)?, value(1)?))
    }

    fn join(&mut self, parts: &'s [Expr]) -> Computed<'s> {
        let mut text = self.world.buffers().take();
        for part in parts {
            // A sum of several parts appends to one buffer.
            let value = self.eval(part)?;
            match value {
                Value::Text(first) if text.is_empty() => {
                    self.world.buffers().give(std::mem::replace(&mut text, first));
                }
                value => {
                    value.write(&mut text);
                    value.drop(self.world.buffers());
                }
            }
        }
        Ok(Value::Text(text))
    }

    /// Evaluates BeanShell's `+` if a side is a string or `null`; throws if both are `null`.
    fn join_or_throw(&mut self, left: Value<'s>, right: Value<'s>) -> Computed<'s> {
        if left.is_null() && right.is_null() {
            let message = "illegal use of null value or 'null' literal";
            return Err(Thrown::new("bsh.EvalError", message));
        }
        let mut text = self.world.buffers().take();
        for side in [left, right] {
            side.write(&mut text);
            side.drop(self.world.buffers());
        }
        Ok(Value::Text(text))
    }

    fn method(
        &mut self,
        method: Method,
        on: Value<'s>,
        one: Value<'s>,
        two: Value<'s>,
    ) -> Computed<'s> {
        let value = string::method(method, &on, &one, &two, self.world.buffers());
        for used in [on, one, two] {
            used.drop(self.world.buffers());
        }
        value
    }

    /// Calls a method on `null`. In Groovy `null` is an object with two methods.
    fn method_of_null(&mut self, method: Method, name: &str, one: Value<'s>) -> Computed<'s> {
        let groovy = self.place.language == Language::Groovy;
        match method {
            Method::Equals if groovy => {
                let same = Value::Bool(one.is_null());
                one.drop(self.world.buffers());
                Ok(same)
            }
            Method::ToText if groovy => Ok(Value::Fixed("null")),
            _ => {
                let message = format!("Cannot invoke method {name}() on null object");
                Err(Thrown::new("java.lang.NullPointerException", message))
            }
        }
    }

    fn convert(&mut self, conversion: Conversion, value: Value<'s>) -> Computed<'s> {
        if let Conversion::NotNull(word) = conversion {
            if !value.is_null() {
                return Ok(value);
            }
            let boxed = match word {
                "int" => "java.lang.Integer",
                "long" => "java.lang.Long",
                _ => "java.lang.Double",
            };
            let message = format!(
                "Cannot cast object 'null' with class 'null' to class '{word}'. Try '{boxed}' instead"
            );
            return Err(Thrown::new(
                "org.codehaus.groovy.runtime.typehandling.GroovyCastException",
                message,
            ));
        }
        if value.is_null() {
            return Ok(value);
        }
        let made = match conversion {
            Conversion::Int => Value::Int(value.int()),
            Conversion::Long => Value::Long(value.long()),
            Conversion::Double => Value::Double(value.double()),
            Conversion::ReadInt => Value::Int(string::int(string::trim(&value))?),
            Conversion::ReadLong => Value::Long(string::long(string::trim(&value))?),
            Conversion::ReadDouble => Value::Double(string::double(string::trim(&value))?),
            Conversion::Text | Conversion::NotNull(_) => {
                return Ok(value.into_text(self.world.buffers()));
            }
        };
        value.drop(self.world.buffers());
        Ok(made)
    }
}

fn holds(operator: Binary, left: &Value<'_>, right: &Value<'_>) -> bool {
    let order = || compare(left, right);
    match operator {
        Binary::Equal => equal(left, right),
        Binary::Unequal => !equal(left, right),
        Binary::Less => order() == Some(Ordering::Less),
        Binary::LessOrEqual => order().is_some_and(Ordering::is_le),
        Binary::Greater => order() == Some(Ordering::Greater),
        _ => order().is_some_and(Ordering::is_ge),
    }
}
