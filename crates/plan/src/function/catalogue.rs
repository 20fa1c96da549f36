//! List of the known functions and their support levels, for the documentation and for `check`.

use super::table::FUNCTIONS;
use super::{Spec, Support};

/// Support level of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The function runs as in JMeter.
    Native,
    /// The function runs comparisons as in JMeter; other scripts need a JVM.
    Comparisons,
    /// The function runs operators, ternaries and string methods as in JMeter; other scripts need Java.
    Expressions,
    /// The function runs simple scripts as in JMeter; other scripts need a JVM.
    Scripts,
    /// The function needs a JVM.
    Jvm,
}

/// Entry for one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name with its underscores.
    pub name: &'static str,
    /// Minimum number of parameters.
    pub min: u8,
    /// Maximum number of parameters; `None` means no limit.
    pub max: Option<u8>,
    /// Support level of the function.
    pub level: Level,
}

/// Returns all functions of JMeter 5.6.3 and of the jp@gc plug-ins, sorted by name.
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
