//! Files that requests send: where they are, and what is in them.
//!
//! A core reads a file when a request needs it for the first time, and keeps it: sending allocates and reads nothing
//! afterwards. Files that take more than half a gigabyte together are read anew.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::Unsendable;
use crate::env::Env;
use crate::input;
use crate::template::Template;

/// JMeter's text in place of a file's content.
pub(super) const NOT_SHOWN: &str = "<actual file content, not shown here>";

/// Bytes that a core keeps.
const MOST: usize = 512 << 20;

/// A file of a request.
#[derive(Debug)]
pub(super) struct FileArgument {
    pub(super) path: Template,
    /// Name of the parameter; without one, a single file is the body.
    pub(super) name: Template,
    pub(super) mime: Template,
}

impl FileArgument {
    pub(super) fn is_fixed(&self) -> bool {
        [&self.path, &self.name, &self.mime].iter().all(|text| text.fixed().is_some())
    }
}

/// Files that a core has read, by the path in the plan.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    files: HashMap<Box<str>, Arc<[u8]>>,
    bytes: usize,
}

/// The content of a file. Relative paths are those of the working folder, or else of the plan's.
pub(super) fn content(path: &str, env: &mut Env<'_>) -> Result<Arc<[u8]>, Unsendable> {
    if path.is_empty() {
        let message = "Filename must not be null or empty";
        return Err(Unsendable::new("java.lang.IllegalArgumentException", message));
    }
    if let Some(known) = env.core.files.files.get(path) {
        return Ok(Arc::clone(known));
    }
    let given = Path::new(path);
    let joined;
    let place = if given.is_absolute() || given.exists() {
        given
    } else {
        // What cannot be read there is named with its whole path, as in JMeter.
        let place = env.shared.base_dir.join(given);
        joined = std::path::absolute(&place).unwrap_or(place);
        &joined
    };
    keep(path, place, env).map_err(|error| unreadable(place, &error))
}

/// The content of a file; relative paths are those of the working folder alone.
pub(crate) fn file_content(path: &str, env: &mut Env<'_>) -> io::Result<Arc<[u8]>> {
    match env.core.files.files.get(path) {
        Some(known) => Ok(Arc::clone(known)),
        None => keep(path, Path::new(path), env),
    }
}

/// Reads a file, and keeps what is in it under the path of the plan.
fn keep(path: &str, place: &Path, env: &mut Env<'_>) -> io::Result<Arc<[u8]>> {
    let mut content = Vec::new();
    input::open(place)?.read_to_end(&mut content)?;
    let content: Arc<[u8]> = content.into();
    let files = &mut env.core.files;
    if files.bytes + content.len() > MOST {
        *files = Contents::default();
    }
    files.bytes += content.len();
    files.files.insert(path.into(), Arc::clone(&content));
    Ok(content)
}

fn unreadable(place: &Path, error: &io::Error) -> Unsendable {
    let words = error.to_string();
    let reason = words.split(" (os error").next().unwrap_or(&words);
    let message = format!("{} ({reason})", place.display());
    Unsendable::new("java.io.FileNotFoundException", &message)
}
