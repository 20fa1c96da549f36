//! Members of a JSON object during parsing, for JSONPath and JMESPath.
//!
//! Members keep the order of their first appearance. Small objects are searched linearly. Larger objects get a table of
//! their keys, so that parsing stays linear.

use std::collections::HashMap;
use std::hash::Hash;

/// Minimum number of members of an object for which repeated keys are found with a table.
const FEW: usize = 24;

/// Adds a member to an object; a repeated key keeps its position and gets the new value.
pub(crate) fn insert<K: Clone + Eq + Hash, V>(
    members: &mut Vec<(K, V)>,
    many: &mut Option<HashMap<K, usize>>,
    key: K,
    value: V,
) {
    let known = if members.len() < FEW {
        members.iter().position(|(name, _)| *name == key)
    } else {
        let table = many.get_or_insert_with(|| {
            members.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect()
        });
        let known = table.get(&key).copied();
        if known.is_none() {
            table.insert(key.clone(), members.len());
        }
        known
    };
    match known {
        Some(at) => members[at].1 = value,
        None => members.push((key, value)),
    }
}
