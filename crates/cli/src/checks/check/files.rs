//! Files around plans: the plans in a folder, and missing files that a plan names.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use jmx::{Diag, ElementId};

use crate::inputs::load::Loaded;

/// Code of a finding about a file that cannot be read.
const MISSING: &str = "missing-file";
/// Code of a finding about a file that an Include Controller names, and that cannot be included.
const NOT_INCLUDED: &str = "include-missing";

/// Returns the named plans, and the plans in the named folders and their subfolders in the order of their paths. The
/// error is a message for the user.
pub(super) fn plans(named: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut plans = Vec::new();
    for path in named {
        if !path.is_dir() {
            plans.push(path.clone());
            continue;
        }
        let mut found = Vec::new();
        below(path, &mut found)
            .map_err(|error| format!("cannot read the folder {}: {error}", path.display()))?;
        if found.is_empty() {
            return Err(format!("there is no plan (*.jmx) in the folder {}", path.display()));
        }
        found.sort();
        plans.append(&mut found);
    }
    Ok(plans)
}

/// Adds the plans in a folder and its subfolders. Links to folders are not followed, because they may form a loop.
fn below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            below(&path, found)?;
        } else if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("jmx")) {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns findings about missing files that the plan, or a plan that it includes, reads.
pub(crate) fn missing(
    loaded: &Loaded,
    bytes: Vec<u8>,
    properties: &HashMap<String, String>,
    folder: &Path,
) -> Vec<Diag> {
    let own = std::iter::once((None, bytes));
    let included = loaded.included.iter();
    let included = included.map(|file| (Some(&file.name), file.source.clone().into_bytes()));
    let mut found = Vec::new();
    for (name, bytes) in own.chain(included) {
        let shown = name.map_or(&*loaded.name, |name| name);
        let Ok((document, _)) = jmx::parse(shown, bytes) else { continue };
        for (id, path) in fleet::remote::missing(&document, properties, folder) {
            let mut diag = Diag::warning(MISSING, lack(folder, &path))
                .on(&document, id)
                .help("paths are relative to the folder of the plan");
            diag.file = name.cloned();
            found.push(diag);
        }
    }
    found
}

/// Returns a finding if no user of the main thread groups can send a request, because each group reads a missing data
/// file.
pub(super) fn without_data(
    name: &str,
    bytes: Vec<u8>,
    properties: &HashMap<String, String>,
    folder: &Path,
) -> Option<Diag> {
    let (document, _) = jmx::parse(name, bytes).ok()?;
    let class = |id: &ElementId| document.element(*id).test_class.as_str();
    let missing = fleet::remote::missing(&document, properties, folder);
    let data: Vec<_> = missing.into_iter().filter(|(id, _)| class(id) == "CSVDataSet").collect();
    let is_main = |id: &ElementId| {
        let aside = ["SetupThreadGroup", "PostThreadGroup"];
        class(id).ends_with("ThreadGroup") && !aside.contains(&class(id))
    };
    let mut groups = document.ids().filter(is_main).filter(|id| document.is_enabled(*id));
    let reads = |group: ElementId| {
        let places = [Some(group), document.element(group).parent];
        data.iter().find(|(id, _)| places.contains(&document.element(*id).parent))
    };
    let (id, path) = reads(groups.next()?)?;
    groups.all(|group| reads(group).is_some()).then(|| {
        let words = format!("no user sends a request: {}", lack(folder, path));
        Diag::error("no-samples", words).on(&document, *id)
    })
}

/// Names of missing files of a loaded plan.
#[derive(Debug, Default)]
pub(crate) struct MissingFiles {
    /// Data files and other files that samples need, each with its element and the element's position.
    pub(crate) read: Vec<String>,
    /// Missing files that an Include Controller names. The plan runs without them.
    pub(crate) included: Vec<String>,
}

/// Returns the names of the missing files of a loaded plan.
pub(crate) fn missing_in(loaded: &Loaded) -> MissingFiles {
    let included = loaded.diags.iter().filter(|diag| diag.code == NOT_INCLUDED);
    let name = |diag: &Diag| diag.subject.clone();
    MissingFiles { read: missing_reads(loaded), included: included.filter_map(name).collect() }
}

fn missing_reads(loaded: &Loaded) -> Vec<String> {
    let found = loaded.diags.iter().filter(|diag| diag.code == MISSING);
    let line = |diag: &Diag| {
        let file = diag.file.as_ref().unwrap_or(&loaded.name);
        let element = diag.element.as_deref().map(|path| format!("{path}, ")).unwrap_or_default();
        format!("{} ({element}{file}:{})", diag.message, diag.line)
    };
    found.map(line).collect()
}

/// Describes why a path cannot be read as a data file: the file is missing, or the path is not a regular file.
fn lack(folder: &Path, path: &str) -> String {
    let about = std::fs::metadata(folder.join(path)).or_else(|_| std::fs::metadata(path));
    let kind = match about.map(|about| about.file_type()) {
        Err(_) => return format!("the file {path} is not there"),
        Ok(kind) if kind.is_dir() => "a folder",
        Ok(kind) if kind.is_fifo() => "a pipe",
        Ok(kind) if kind.is_socket() => "a socket",
        Ok(_) => "a device",
    };
    format!("{path} is {kind}, not a data file: its users would stop at once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_their_plans() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/deep")).expect("folders");
        std::fs::create_dir_all(at("none")).expect("folders");
        for name in ["a/two.jmx", "a/deep/one.JMX", "a/other.txt", "z.jmx"] {
            std::fs::write(at(name), "").expect("a file");
        }
        let found = plans(&[at("z.jmx"), at("a")]);
        assert_eq!(found, Ok(vec![at("z.jmx"), at("a/deep/one.JMX"), at("a/two.jmx")]));
        assert!(plans(&[at("none")]).unwrap_err().contains("no plan (*.jmx)"));
    }
}
