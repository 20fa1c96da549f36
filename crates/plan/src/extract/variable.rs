//! Variables whose names consist of a reference name and a suffix, such as `token_g1` or `link_matchNr`.

use std::fmt::{Arguments, Write};

use crate::env::Env;
use crate::template::Template;
use crate::vars::Names;

/// The variables with one reference name.
pub(super) struct Family {
    name: String,
    stem: usize,
}

impl Family {
    /// Evaluates the reference name into a buffer, which [`Family::end`] returns.
    pub(super) fn new(reference: &Template, env: &mut Env<'_>) -> Self {
        let mut name = env.core.take();
        reference.eval(env, &mut name);
        let stem = name.len();
        Self { name, stem }
    }

    /// Creates the variables' family like [`Family::new`], for a constant reference name.
    pub(super) fn of(reference: &str, env: &mut Env<'_>) -> Self {
        let mut name = env.core.take();
        name.push_str(reference);
        Self { name, stem: reference.len() }
    }

    /// Adds slots for the variables that every extractor sets: the reference name and its `_matchNr`.
    pub(super) fn intern(reference: &str, names: &mut Names) {
        names.intern(reference);
        names.intern(&format!("{reference}_matchNr"));
    }

    pub(super) fn end(self, env: &mut Env<'_>) {
        env.core.give(self.name);
    }

    pub(super) fn reference(&self) -> &str {
        &self.name[..self.stem]
    }

    fn name(&mut self, suffix: Arguments<'_>) -> &str {
        self.name.truncate(self.stem);
        match suffix.as_str() {
            Some(fixed) => self.name.push_str(fixed),
            None => drop(self.name.write_fmt(suffix)),
        }
        &self.name
    }

    /// Sets a variable, or removes it if the value is `None`.
    pub(super) fn put(&mut self, env: &mut Env<'_>, suffix: Arguments<'_>, value: Option<&str>) {
        let name = self.name(suffix);
        match value {
            Some(value) => env.vars.set_named(env.names, name, value),
            None => env.vars.remove_named(env.names, name),
        }
    }

    /// Sets a variable to a number.
    pub(super) fn put_number(&mut self, env: &mut Env<'_>, suffix: Arguments<'_>, value: usize) {
        self.put(env, suffix, Some(itoa::Buffer::new().format(value)));
    }

    pub(super) fn get<'v>(&mut self, env: &'v Env<'_>, suffix: Arguments<'_>) -> Option<&'v str> {
        env.vars.get_named(env.names, self.name(suffix))
    }

    /// Returns the number in a variable; 0 if the variable is undefined or not a number.
    pub(super) fn number(&mut self, env: &Env<'_>, suffix: Arguments<'_>) -> i32 {
        self.get(env, suffix).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Removes the variable `_matchNr` and the numbered variables `_1`, `_2`, … that an earlier run of the extractor
    /// set.
    pub(super) fn clear(&mut self, env: &mut Env<'_>) {
        self.put(env, format_args!("_matchNr"), None);
        let mut index = 1;
        while self.get(env, format_args!("_{index}")).is_some() {
            self.put(env, format_args!("_{index}"), None);
            index += 1;
        }
    }

    /// Removes the match count of an earlier run and returns it.
    pub(super) fn take_count(&mut self, env: &mut Env<'_>) -> i32 {
        let count = self.number(env, format_args!("_matchNr"));
        self.put(env, format_args!("_matchNr"), None);
        count
    }
}

/// Evaluates a template to an integer, as JMeter reads integer properties: a value that is not a number is 0.
pub(super) fn number(text: &Template, env: &mut Env<'_>) -> i32 {
    if let Some(fixed) = text.fixed() {
        return fixed.parse().unwrap_or(0);
    }
    let mut value = env.core.take();
    text.eval(env, &mut value);
    let number = value.parse().unwrap_or(0);
    env.core.give(value);
    number
}
