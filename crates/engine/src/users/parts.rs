//! State of a user that belongs to other rooms: at most one value of each type.
//!
//! A room keeps a type of its own there, which no other room needs to know. All of it goes with the user. Few users have
//! any, and those have few: a part is found by a look at each.

use std::any::Any;

/// Parts of a user's state.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Box<dyn Any>>);

impl Parts {
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|part| part.downcast_ref())
    }

    pub(crate) fn get_mut<T: Any>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|part| part.downcast_mut())
    }

    /// The part of that type, made if there is none.
    pub(crate) fn or_default<T: Any + Default>(&mut self) -> &mut T {
        let at = self.position::<T>().unwrap_or_else(|| {
            self.0.push(Box::<T>::default());
            self.0.len() - 1
        });
        self.0[at].downcast_mut().expect("the type that was looked for")
    }

    /// Keeps a part, in place of another of the type.
    pub(crate) fn put<T: Any>(&mut self, part: Box<T>) {
        match self.position::<T>() {
            Some(at) => self.0[at] = part,
            None => self.0.push(part),
        }
    }

    pub(crate) fn take<T: Any>(&mut self) -> Option<Box<T>> {
        let at = self.position::<T>()?;
        self.0.swap_remove(at).downcast().ok()
    }

    fn position<T: Any>(&self) -> Option<usize> {
        self.0.iter().position(|part| part.is::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_part_of_each_type() {
        let mut parts = Parts::default();
        parts.put(Box::new(1_u8));
        *parts.or_default::<String>() += "a";
        parts.put(Box::new(2_u8));
        assert_eq!((parts.get(), parts.get::<u16>()), (Some(&2_u8), None));
        assert_eq!(parts.take(), Some(Box::new(2_u8)));
        assert_eq!(parts.take::<u8>(), None);
        *parts.or_default::<String>() += "b";
        assert_eq!(parts.get_mut::<String>().map(|text| text.as_str()), Some("ab"));
    }
}
