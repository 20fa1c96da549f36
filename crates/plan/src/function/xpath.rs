//! `__XPath`: each call returns the next node that an expression finds in a file, for all users together.
//!
//! A file is read once per expression, at the first call; reading is retried after an error. A lock protects the
//! positions, because JMeter's function is also synchronized.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use lang::xml::{self, Kind, NodeId, Options, Tree};
use lang::xpath::{Value, XPath};

use super::{Call, Level};
use crate::env::Env;
use crate::template::Outcome;

/// Values of the nodes that expressions found in files, by file and expression.
#[derive(Debug, Default)]
pub(super) struct Nodes(Mutex<HashMap<Key, Found>>);

/// File name and XPath expression.
type Key = (Box<str>, Box<str>);

#[derive(Debug)]
struct Found {
    values: Vec<Option<Box<str>>>,
    /// Number of nodes returned so far in this process.
    taken: u64,
}

/// Runs `__XPath(file, expression)`.
pub(super) fn next(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (file, query) = (call.arg(0, env)?, call.arg(1, env)?);
    let shared = env.shared;
    let mut known = shared.nodes().0.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (file.as_str().into(), query.as_str().into());
    if !known.contains_key(&key) {
        match values(&file, &query) {
            Ok(values) => {
                known.insert(key.clone(), Found { values, taken: 0 });
            }
            Err(words) => shared.log(Level::Warn, format!("__XPath: {file}: {words}")),
        }
    }
    match known.get_mut(&key) {
        Some(found) if !found.values.is_empty() => {
            let row = shared.dealt(found.taken) % found.values.len() as u64;
            found.taken += 1;
            // Java prints a null reference as `null`.
            out.push_str(found.values[row as usize].as_deref().unwrap_or("null"));
        }
        Some(_) => {
            shared.log(Level::Warn, format!("__XPath: there are no nodes: {file} {query}"));
        }
        None => {}
    }
    drop(known);
    env.core.give(file);
    env.core.give(query);
    Ok(())
}

fn values(file: &str, query: &str) -> Result<Vec<Option<Box<str>>>, String> {
    let bytes = crate::input::read(file.as_ref()).map_err(|error| error.to_string())?;
    let tree = xml::read(&bytes, Options::default()).map_err(|fault| fault.message)?;
    let query = XPath::parse(query).map_err(|unusable| unusable.message().to_owned())?;
    match query.evaluate(&tree)? {
        Value::Nodes(nodes) => Ok(nodes.into_iter().map(|id| value(&tree, id)).collect()),
        other => Err(format!("Can not convert {} to a NodeList!", other.kind())),
    }
}

/// Returns the value of a node's first child, or of the node itself if nodes of its kind have no children.
fn value(tree: &Tree, id: NodeId) -> Option<Box<str>> {
    let of = match tree.kind(id) {
        Kind::Element | Kind::Document => tree.children(id).next()?,
        _ => id,
    };
    tree.value(of).map(Into::into)
}
