//! The list of known functions with how far each is supported: for the documentation and for `check`.

use super::table::FUNCTIONS;
use super::{Spec, Support};

/// How far a function is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Runs as in JMeter.
    Native,
    /// Comparisons run as in JMeter; any other script needs a Java machine.
    Comparisons,
    /// Operators, ternaries and methods of texts run as in JMeter; any other script needs a Java machine.
    Expressions,
    /// Scripts that are simple run as in JMeter; others need a Java machine.
    Scripts,
    /// Needs a Java machine.
    Jvm,
}

/// One function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name with its underscores.
    pub name: &'static str,
    /// Fewest parameters.
    pub min: u8,
    /// Most parameters; `None` is without bound.
    pub max: Option<u8>,
    /// How far it is supported.
    pub level: Level,
}

/// All functions of JMeter 5.6.3 and of the jp@gc plug-ins, in the order of their names.
pub fn catalogue() -> impl Iterator<Item = Entry> {
    FUNCTIONS.iter().map(|spec| Entry {
        name: spec.name,
        min: spec.min,
        max: (spec.max != Spec::ANY).then_some(spec.max),
        level: match spec.support {
            _ if spec.simple.is_some() => Level::Scripts,
            Support::Native(_) => Level::Native,
            Support::Script(..) => Level::Comparisons,
            Support::Jexl(_) => Level::Expressions,
            Support::Jvm => Level::Jvm,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<_> = catalogue().map(|entry| entry.name).collect();
        assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
