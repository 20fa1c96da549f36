//! State of a user that other modules define: at most one value of each type.
//!
//! A module stores its own type here, and other modules do not depend on that type. The module marks the type with
//! [`Part`]. The state is dropped with the user. Few users have such state, and each of them has few values, so a
//! linear search finds a value. docs/decisions/context.md explains why the values are `dyn Any`.

use std::any::Any;

/// A type in which a module stores its state of a user.
pub(crate) trait Part: Any {}

/// The values that other modules store for a user.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Box<dyn Any>>);

impl Parts {
    pub(crate) fn get<T: Part>(&self) -> Option<&T> {
        self.0.iter().find_map(|part| part.downcast_ref())
    }

    pub(crate) fn get_mut<T: Part>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|part| part.downcast_mut())
    }

    /// Returns the value of this type, created if there is no such value.
    pub(crate) fn or_default<T: Part + Default>(&mut self) -> &mut T {
        let at = self.position::<T>().unwrap_or_else(|| {
            self.0.push(Box::<T>::default());
            self.0.len() - 1
        });
        self.0[at].downcast_mut().expect("the type that was looked for")
    }

    /// Stores a value, and replaces an earlier value of the same type.
    pub(crate) fn put<T: Part>(&mut self, part: Box<T>) {
        match self.position::<T>() {
            Some(at) => self.0[at] = part,
            None => self.0.push(part),
        }
    }

    pub(crate) fn take<T: Part>(&mut self) -> Option<Box<T>> {
        let at = self.position::<T>()?;
        self.0.swap_remove(at).downcast().ok()
    }

    fn position<T: Part>(&self) -> Option<usize> {
        self.0.iter().position(|part| part.is::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Number(u8);
    #[derive(Debug, Default, PartialEq)]
    struct Word(String);
    #[derive(Debug, PartialEq)]
    struct Absent;

    impl Part for Number {}
    impl Part for Word {}
    impl Part for Absent {}

    #[test]
    fn there_is_one_part_of_each_type() {
        let mut parts = Parts::default();
        parts.put(Box::new(Number(1)));
        parts.or_default::<Word>().0 += "a";
        parts.put(Box::new(Number(2)));
        assert_eq!((parts.get(), parts.get::<Absent>()), (Some(&Number(2)), None));
        assert_eq!(parts.take(), Some(Box::new(Number(2))));
        assert_eq!(parts.take::<Number>(), None);
        parts.or_default::<Word>().0 += "b";
        assert_eq!(parts.get_mut::<Word>().map(|word| word.0.as_str()), Some("ab"));
    }
}
