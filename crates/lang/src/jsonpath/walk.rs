//! Evaluates a path on a document.
//!
//! After a step that may lead to several nodes, missing members are skipped silently. Before the first such step, a
//! missing member is an error. Results borrow from the document; only a step that creates a value copies. The current
//! position is a linked list on the stack, and becomes text only in messages.

use std::borrow::Cow;

use super::failure::Failure;
use super::function;
use super::path::{Path, Token};
use super::relation;
use super::value::{Object, Value};
use crate::work;

pub(super) type Found<'m, 't> = Vec<Cow<'m, Value<'t>>>;
type Walking = Result<(), Failure>;

/// The current position in the document: a step, and the position that contains it.
pub(super) struct Trail<'a> {
    parent: Option<&'a Trail<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Root(bool),
    Name(&'a str),
    Index(i64),
}

impl<'a> Trail<'a> {
    fn then(&'a self, step: Step<'a>) -> Trail<'a> {
        Trail { parent: Some(self), step }
    }

    fn write(&self, out: &mut String) {
        if let Some(parent) = self.parent {
            parent.write(out);
        }
        match self.step {
            Step::Root(true) => out.push('$'),
            Step::Root(false) => out.push('@'),
            Step::Name(name) => out.push_str(&format!("['{name}']")),
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Returns the nodes to which the path leads from `start`. Paths in filters that begin with `$` start at `root`. With
/// `strict`, every member that the path names must exist.
pub(super) fn walk<'m, 't>(
    path: &Path,
    start: &'m Value<'t>,
    root: &Value<'t>,
    strict: bool,
) -> Result<Found<'m, 't>, Failure> {
    let mut walker = Walker { path, root, strict, indexes: Vec::new() };
    let mut found = Vec::new();
    let trail = Trail { parent: None, step: Step::Root(path.from_root) };
    if path.tokens.is_empty() {
        found.push(Cow::Borrowed(start));
    } else {
        walker.step(0, &trail, start, &mut found)?;
    }
    Ok(found)
}

/// Returns the value of a path: one value, or the list of all nodes found.
pub(super) fn value<'m, 't>(
    path: &Path,
    start: &'m Value<'t>,
    root: &Value<'t>,
    strict: bool,
) -> Result<Cow<'m, Value<'t>>, Failure> {
    let mut found = walk(path, start, root, strict)?;
    if !path.is_definite() {
        let found = found.into_iter().take_while(|_| work::spend(COPY));
        return Ok(Cow::Owned(Value::Array(found.map(Cow::into_owned).collect())));
    }
    found.pop().ok_or_else(|| no_results(&path.text()))
}

fn no_results(path: &str) -> Failure {
    Failure::NotFound(format!("No results for path: {path}"))
}

/// Counts the visit of a node as one unit of work. Fails if the work limit is reached.
fn count_step() -> Walking {
    if work::spend(1) { Ok(()) } else { Err(too_long()) }
}

/// Returns the error of an evaluation that exceeds its work limit.
pub(super) fn too_long() -> Failure {
    Failure::Other("The evaluation takes too long.".into())
}

/// Number of work units that are counted for copying a value.
const COPY: u64 = 10;

struct Walker<'a, 't> {
    path: &'a Path,
    root: &'a Value<'t>,
    strict: bool,
    /// For each step of the path: the array index that a scan has last visited there. Empty before the first scan; see
    /// [`Walker::is_wanted`].
    indexes: Vec<i64>,
}

impl<'t> Walker<'_, 't> {
    fn is_leaf(&self, at: usize) -> bool {
        at + 1 == self.path.tokens.len()
    }

    /// Returns true if the steps before step `at` lead to one node at most.
    fn is_upstream_definite(&self, at: usize) -> bool {
        self.path.tokens[..at].iter().all(|token| token.is_definite(false))
    }

    fn fragment(&self, at: usize) -> String {
        let mut out = String::new();
        self.path.tokens[at].write(&mut out);
        out
    }

    /// Returns the path from a step to its end, for messages.
    fn rest(&self, at: usize) -> String {
        let mut out = String::new();
        self.path.tokens[at..].iter().for_each(|token| token.write(&mut out));
        out
    }

    fn step<'m>(
        &mut self,
        at: usize,
        trail: &Trail<'_>,
        model: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        let path = self.path;
        count_step()?;
        match &path.tokens[at] {
            Token::Property { names, .. } => self.property(at, names, trail, model, found),
            Token::Wildcard => self.wildcard(at, trail, model, found),
            Token::Index(indexes) => {
                if self.is_array(at, trail, model)? {
                    for index in indexes {
                        self.index(at, i64::from(*index), trail, model, found)?;
                    }
                }
                Ok(())
            }
            Token::Slice(from, to) => self.slice(at, *from, *to, trail, model, found),
            Token::Filter(filter) => match model {
                Value::Object(_) => {
                    if !relation::accepts(filter, model, self.root)? {
                        return Ok(());
                    }
                    if self.is_leaf(at) {
                        found.push(Cow::Borrowed(model));
                        return Ok(());
                    }
                    self.step(at + 1, trail, model, found)
                }
                Value::Array(values) => {
                    for (index, value) in values.iter().enumerate() {
                        if relation::accepts(filter, value, self.root)? {
                            self.index(at, index as i64, trail, model, found)?;
                        }
                    }
                    Ok(())
                }
                _ if self.is_upstream_definite(at) => {
                    let mut text = format!(
                        "Filter: {} can not be applied to primitives. Current context is: ",
                        self.rest(at)
                    );
                    model.write_java(&mut text);
                    Err(Failure::InvalidPath(text))
                }
                _ => Ok(()),
            },
            Token::Scan => self.scan(at + 1, trail, model, found),
            Token::Function { name, parameters } => {
                let made = function::call(name, parameters, model, self.root)?;
                if self.is_leaf(at) {
                    found.push(Cow::Owned(made));
                    return Ok(());
                }
                let mut behind = Vec::new();
                self.step(at + 1, trail, &made, &mut behind)?;
                let behind: Vec<_> =
                    behind.into_iter().map(|value| Cow::Owned(value.into_owned())).collect();
                found.push(Cow::Owned(made));
                found.extend(behind);
                Ok(())
            }
        }
    }

    fn property<'m>(
        &mut self,
        at: usize,
        names: &[String],
        trail: &Trail<'_>,
        model: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        let Value::Object(object) = model else {
            if !self.is_upstream_definite(at) {
                return Ok(());
            }
            return Err(Failure::NotFound(format!(
                "Expected to find an object with property {} in path {} but found '{}'. This is not a json object \
                 according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                self.fragment(at),
                trail.text(),
                model.class()
            )));
        };
        if names.len() > 1 && self.is_leaf(at) {
            return self.merge(names, trail, object, found);
        }
        for name in names {
            let definite = names.len() == 1 && self.is_upstream_definite(at);
            let trail = trail.then(Step::Name(name));
            match object.get(name) {
                Some(value) => self.member(at, &trail, value, found)?,
                None if self.is_leaf(at) && !self.strict => {}
                None if self.is_leaf(at) => return Err(no_results(&trail.text())),
                None if !definite && !self.strict => {}
                None => {
                    return Err(Failure::NotFound(format!(
                        "Missing property in path {}",
                        trail.text()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Creates an object of the named members of `object`, for a step with several names at the end of a path.
    fn merge<'m>(
        &self,
        names: &[String],
        trail: &Trail<'_>,
        object: &'m Object<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        let mut merged: Vec<(Cow<'t, str>, Value<'t>)> = Vec::new();
        for name in names {
            if let Some(value) = object.get(name) {
                match merged.iter_mut().find(|(known, _)| known == name) {
                    Some(member) => member.1 = value.clone(),
                    None => merged.push((Cow::Owned(name.clone()), value.clone())),
                }
            } else if self.strict {
                let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
                let path = format!("{}[{}]", trail.text(), names.join(", "));
                return Err(Failure::NotFound(format!("Missing property in path {path}")));
            }
        }
        found.push(Cow::Owned(Value::Object(Object(merged))));
        Ok(())
    }

    fn member<'m>(
        &mut self,
        at: usize,
        trail: &Trail<'_>,
        value: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        if !self.is_leaf(at) {
            return self.step(at + 1, trail, value, found);
        }
        if self.is_wanted(at) {
            found.push(Cow::Borrowed(value));
        }
        Ok(())
    }

    /// Returns true if Jayway keeps a member that it finds after an array in a scan. Jayway drops the member unless the
    /// previous step is an index that equals the array's current index.
    fn is_wanted(&self, at: usize) -> bool {
        let Some(index) = self.indexes.get(at) else { return true };
        *index == -1 || at > 0 && self.fragment(at - 1) == format!("[{index}]")
    }

    fn wildcard<'m>(
        &mut self,
        at: usize,
        trail: &Trail<'_>,
        model: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        match model {
            Value::Object(Object(members)) => {
                for (name, value) in members {
                    self.member(at, &trail.then(Step::Name(name)), value, found)?;
                }
            }
            Value::Array(values) => {
                for index in 0..values.len() {
                    match self.index(at, index as i64, trail, model, found) {
                        Err(Failure::NotFound(_)) if !self.strict => {}
                        done => done?,
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn is_array(&self, at: usize, trail: &Trail<'_>, model: &Value<'t>) -> Result<bool, Failure> {
        match model {
            Value::Array(_) => Ok(true),
            _ if !self.is_upstream_definite(at) => Ok(false),
            Value::Null => Err(Failure::NotFound(format!("The path {} is null", trail.text()))),
            other => {
                let mut text = format!(
                    "Filter: {} can only be applied to arrays. Current context is: ",
                    self.rest(at)
                );
                other.write_java(&mut text);
                Err(Failure::NotFound(text))
            }
        }
    }

    /// Applies an index step to an array. Negative indexes count from the end; an index outside the array yields no
    /// node.
    fn index<'m>(
        &mut self,
        at: usize,
        index: i64,
        trail: &Trail<'_>,
        model: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        let Value::Array(values) = model else { return Ok(()) };
        let position = if index < 0 { index + values.len() as i64 } else { index };
        let Some(value) = usize::try_from(position).ok().and_then(|position| values.get(position))
        else {
            return Ok(());
        };
        if self.is_leaf(at) {
            found.push(Cow::Borrowed(value));
            return Ok(());
        }
        match self.step(at + 1, &trail.then(Step::Index(index)), value, found) {
            Err(Failure::Index(_)) => Ok(()),
            done => done,
        }
    }

    fn slice<'m>(
        &mut self,
        at: usize,
        from: Option<i32>,
        to: Option<i32>,
        trail: &Trail<'_>,
        model: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        if !self.is_array(at, trail, model)? {
            return Ok(());
        }
        let Value::Array(values) = model else { return Ok(()) };
        let length = values.len() as i64;
        let from_end =
            |bound: i32| if bound < 0 { length + i64::from(bound) } else { i64::from(bound) };
        let (start, end) = match (from, to) {
            (Some(from), None) => (from_end(from).max(0), length),
            (None, Some(to)) => (0, from_end(to).min(length)),
            // If a slice has both bounds, Jayway does not normalize negative bounds.
            (Some(from), Some(to)) if length > 0 => (i64::from(from), i64::from(to).min(length)),
            _ => return Ok(()),
        };
        // A negative index that is more than `length` before the start yields no node.
        for index in start.max(-length)..end {
            self.index(at, index, trail, model, found)?;
        }
        Ok(())
    }

    /// Applies step `at` to all nodes below `model` to which the step can be applied, outer nodes first.
    fn scan<'m>(
        &mut self,
        at: usize,
        trail: &Trail<'_>,
        model: &'m Value<'t>,
        found: &mut Found<'m, 't>,
    ) -> Walking {
        count_step()?;
        match model {
            Value::Array(values) => {
                if self.scan_takes(at, model)? {
                    if self.is_leaf(at) {
                        self.step(at, trail, model, found)?;
                    } else {
                        for (index, value) in values.iter().enumerate() {
                            self.indexes.resize(self.path.tokens.len(), -1);
                            self.indexes[at + 1] = index as i64;
                            self.step(
                                at + 1,
                                &trail.then(Step::Index(index as i64)),
                                value,
                                found,
                            )?;
                        }
                    }
                }
                for (index, value) in values.iter().enumerate() {
                    self.scan(at, &trail.then(Step::Index(index as i64)), value, found)?;
                }
            }
            Value::Object(Object(members)) => {
                if self.scan_takes(at, model)? {
                    self.step(at, trail, model, found)?;
                }
                for (name, value) in members {
                    self.scan(at, &trail.then(Step::Name(name)), value, found)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn scan_takes(&self, at: usize, model: &Value<'t>) -> Result<bool, Failure> {
        Ok(match (self.path.tokens.get(at), model) {
            (Some(Token::Property { names, .. }), Value::Object(object)) => {
                names.len() > 1 && !self.is_leaf(at)
                    || names.iter().all(|name| object.get(name).is_some())
            }
            (Some(Token::Index(_) | Token::Slice(..)), Value::Array(_)) => true,
            (Some(Token::Wildcard), _) => true,
            (Some(Token::Filter(filter)), _) => relation::accepts(filter, model, self.root)?,
            _ => false,
        })
    }
}
