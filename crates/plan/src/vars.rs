//! A user's variables.
//!
//! Every variable name that the plan mentions gets a slot when the plan is compiled. Names that are built at run
//! time (`match_3`, `${__V(a_${n})}`) go to an overflow map, which is absent until used. Setting a slot reuses its
//! buffer, so that a user allocates nothing after its first iterations. Values that all users start with are
//! shared, not copied: a slot refers to the shared value until its first write.

use std::collections::HashMap;
use std::sync::Arc;

/// The slot of a variable whose name the plan mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// All variable names known at compile time, with their slots.
#[derive(Clone, Debug, Default)]
pub struct Names {
    // The names come from the plan and are short, so a fast hash without protection against hash flooding is
    // sufficient.
    by_name: fnv::FnvHashMap<Box<str>, VarId>,
    names: Vec<Box<str>>,
}

impl Names {
    /// Returns the slot of `name`; creates it if needed. Used only during compilation.
    pub fn intern(&mut self, name: &str) -> VarId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = VarId(self.names.len() as u32);
        self.by_name.insert(name.into(), id);
        self.names.push(name.into());
        id
    }

    /// Returns the slot of `name`, if the plan mentions the variable.
    pub fn find(&self, name: &str) -> Option<VarId> {
        self.by_name.get(name).copied()
    }

    /// Returns the variable name of a slot.
    pub fn name(&self, id: VarId) -> &str {
        &self.names[id.0 as usize]
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if the plan mentions no variable.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Variables of every user before its first sample: the evaluated User Defined Variables.
#[derive(Debug, Default)]
pub struct Initial {
    values: Vec<Option<Box<str>>>,
    /// Initial values of variables without a slot.
    named: Vec<(Box<str>, Box<str>)>,
}

impl Initial {
    /// Sets the initial value of a slot.
    pub fn set(&mut self, id: VarId, value: &str) {
        let at = id.0 as usize;
        if self.values.len() <= at {
            self.values.resize(at + 1, None);
        }
        self.values[at] = Some(value.into());
    }

    /// Sets the initial value of a variable by its name.
    pub fn set_named(&mut self, names: &Names, name: &str, value: &str) {
        match names.find(name) {
            Some(id) => self.set(id, value),
            None => self.named.push((name.into(), value.into())),
        }
    }

    /// Returns all slots with an initial value.
    pub fn iter(&self) -> impl Iterator<Item = (VarId, &str)> {
        let all = self.values.iter().enumerate();
        all.filter_map(|(at, value)| Some((VarId(at as u32), value.as_deref()?)))
    }

    /// Returns the initial value of a slot.
    pub fn get(&self, id: VarId) -> Option<&str> {
        self.values.get(id.0 as usize)?.as_deref()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The variable still has its value from [`Initial`].
    #[default]
    Initial,
    Own,
    Removed,
}

#[derive(Debug, Default)]
struct Slot {
    text: String,
    state: State,
}

/// The variables of one user.
#[derive(Debug, Default)]
pub struct Vars {
    initial: Arc<Initial>,
    slots: Vec<Slot>,
    #[expect(
        clippy::box_collection,
        reason = "absent for most users, who should pay for one word"
    )]
    overflow: Option<Box<HashMap<Box<str>, Slot>>>,
}

impl Vars {
    /// Creates the variables of a starting user. Slots are allocated at the first write.
    pub fn new(initial: Arc<Initial>) -> Self {
        let mut vars = Self { initial, slots: Vec::new(), overflow: None };
        vars.begin_named();
        vars
    }

    /// Sets the variables without a slot to their initial values.
    fn begin_named(&mut self) {
        if self.initial.named.is_empty() {
            return;
        }
        let map = self.overflow.get_or_insert_default();
        for (name, value) in &self.initial.named {
            let slot = Slot { text: value.to_string(), state: State::Own };
            map.insert(name.clone(), slot);
        }
    }

    /// Returns the value of a slot; `None` if the variable is undefined.
    pub fn get(&self, id: VarId) -> Option<&str> {
        match self.slots.get(id.0 as usize) {
            None | Some(Slot { state: State::Initial, .. }) => self.initial.get(id),
            Some(Slot { state: State::Removed, .. }) => None,
            Some(slot) => Some(&slot.text),
        }
    }

    /// Returns the value that a slot's variable had when the user started.
    pub(crate) fn initial(&self, id: VarId) -> Option<&str> {
        self.initial.get(id)
    }

    /// Returns the value of a variable by its name.
    pub fn get_named(&self, names: &Names, name: &str) -> Option<&str> {
        match names.find(name) {
            Some(id) => self.get(id),
            None => match self.overflow.as_ref()?.get(name)? {
                Slot { state: State::Own, text } => Some(text),
                _ => None,
            },
        }
    }

    /// Sets the value of a slot.
    pub fn set(&mut self, id: VarId, value: &str) {
        let text = self.write(id);
        text.clear();
        text.push_str(value);
    }

    /// Returns the buffer of a slot for the caller to overwrite, and marks the variable as defined.
    pub fn write(&mut self, id: VarId) -> &mut String {
        let at = id.0 as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, Slot::default);
        }
        let slot = &mut self.slots[at];
        slot.state = State::Own;
        &mut slot.text
    }

    /// Sets the value of a variable by its name.
    pub fn set_named(&mut self, names: &Names, name: &str, value: &str) {
        if let Some(id) = names.find(name) {
            return self.set(id, value);
        }
        let map = self.overflow.get_or_insert_default();
        let slot = match map.get_mut(name) {
            Some(slot) => slot,
            None => map.entry(name.into()).or_default(),
        };
        slot.state = State::Own;
        slot.text.clear();
        slot.text.push_str(value);
    }

    /// Removes the variable in a slot.
    pub fn remove(&mut self, id: VarId) {
        self.write(id);
        self.slots[id.0 as usize].state = State::Removed;
    }

    /// Removes a variable by its name.
    pub fn remove_named(&mut self, names: &Names, name: &str) {
        if let Some(id) = names.find(name) {
            self.remove(id);
        } else if let Some(slot) = self.overflow.as_mut().and_then(|map| map.get_mut(name)) {
            slot.state = State::Removed;
        }
    }

    /// Returns all defined variables, in no particular order.
    pub fn iter<'a>(&'a self, names: &'a Names) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        let known = (0..names.len() as u32)
            .filter_map(|n| Some((names.name(VarId(n)), self.get(VarId(n))?)));
        known.chain(self.unslotted())
    }

    /// Returns the defined variables without a slot, in no particular order.
    pub fn unslotted(&self) -> impl Iterator<Item = (&str, &str)> {
        let made = self.overflow.iter().flat_map(|map| map.iter());
        made.filter(|(_, slot)| slot.state == State::Own).map(|(name, slot)| (&**name, &*slot.text))
    }

    /// Restores the user's initial values. Buffers are kept for reuse.
    pub fn reset(&mut self) {
        for slot in &mut self.slots {
            slot.state = State::Initial;
        }
        for slot in self.overflow.iter_mut().flat_map(|map| map.values_mut()) {
            slot.state = State::Removed;
        }
        self.begin_named();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_shadow_initial_values_until_reset() {
        let mut names = Names::default();
        let host = names.intern("host");
        let mut initial = Initial::default();
        initial.set(host, "a");
        initial.set_named(&names, "pool", "p");
        let mut vars = Vars::new(Arc::new(initial));
        assert_eq!(vars.get(host), Some("a"));
        vars.set(host, "b");
        vars.set_named(&names, "made_1", "x");
        assert_eq!(vars.get_named(&names, "host"), Some("b"));
        assert_eq!(vars.get_named(&names, "made_1"), Some("x"));
        vars.remove_named(&names, "host");
        vars.remove_named(&names, "pool");
        assert_eq!(vars.get_named(&names, "pool"), None);
        assert_eq!(vars.get(host), None);
        vars.reset();
        assert_eq!(vars.get_named(&names, "pool"), Some("p"));
        assert_eq!((vars.get(host), vars.get_named(&names, "made_1")), (Some("a"), None));
    }
}
