//! Files that requests send: their paths and contents.
//!
//! A core reads a file at its first use and keeps the content, so that sending it again needs no reads and no
//! allocations. Above a total of 512 MiB, the kept files are dropped and read anew.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::Unsendable;
use crate::env::Env;
use crate::input;
use crate::template::Template;

/// The string that JMeter shows instead of a file's content.
pub(super) const NOT_SHOWN: &str = "<actual file content, not shown here>";

/// Maximum number of bytes of file contents that a core keeps.
const MOST: usize = 512 << 20;

/// A file of a request.
#[derive(Debug)]
pub(super) struct FileArgument {
    pub(super) path: Template,
    /// Name of the parameter. If the only file has no parameter name, the file is the whole body.
    pub(super) name: Template,
    pub(super) mime: Template,
}

impl FileArgument {
    pub(super) fn is_fixed(&self) -> bool {
        [&self.path, &self.name, &self.mime].iter().all(|text| text.fixed().is_some())
    }
}

/// Contents of files that a core has read, by their path in the plan.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    files: HashMap<Box<str>, Arc<[u8]>>,
    bytes: usize,
}

/// Returns the content of a file. Relative paths start in the working directory, or else in the plan's folder.
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
        // As in JMeter, the error message has the absolute path.
        let place = env.shared.base_dir.join(given);
        joined = std::path::absolute(&place).unwrap_or(place);
        &joined
    };
    keep(path, place, env).map_err(|error| unreadable(place, &error))
}

/// Returns the content of a file. Relative paths start only in the working directory.
pub(crate) fn file_content(path: &str, env: &mut Env<'_>) -> io::Result<Arc<[u8]>> {
    match env.core.files.files.get(path) {
        Some(known) => Ok(Arc::clone(known)),
        None => keep(path, Path::new(path), env),
    }
}

/// Reads a file and keeps its content under the path in the plan.
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
