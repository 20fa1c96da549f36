//! Installs the plug-in for JMeter's window: a jar that is embedded in the program and written to the `lib/ext` of a
//! JMeter.
//!
//! Throng's own jar is recognized by the class of its menu. Another author's file of that name is never replaced or
//! removed. A file next to the jar holds the path of the program that installed it, which the plug-in starts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::home::{self, HomeOrigin};
use crate::install::write;
use crate::java::Origin;

/// The plug-in's jar, built from `jmeter/`.
const JAR: &[u8] = include_bytes!("../../../jmeter/throng-jmeter.jar");
/// Name of the plug-in's jar in `lib/ext`.
const NAME: &str = "throng-jmeter.jar";
/// Name of the file next to the jar that holds the program's path.
const RECORD: &str = "throng-jmeter.program";
/// The class by which a jar is recognized as a version of Throng's plug-in.
const MENU: &str = "dev/throng/jmeter/ThrongMenu.class";

/// The change to a JMeter's `lib/ext`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The plug-in was installed; there was no plug-in before.
    Installed,
    /// Another version of the plug-in was replaced.
    Replaced,
    /// This version of the plug-in was already installed.
    Already,
    /// The plug-in was removed.
    Removed,
    /// There was no plug-in to remove.
    None,
}

/// Result of installing or removing the plug-in in a JMeter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The change to the JMeter's `lib/ext`.
    pub change: Change,
    /// Path of the plug-in's jar.
    pub jar: PathBuf,
    /// Version of the JMeter installation, if its jars contain the version.
    pub version: Option<String>,
}

/// Installs the plug-in into the JMeter in that folder, with `program` as the program that it starts.
///
/// # Errors
///
/// A message for the user: the folder is not a JMeter, another author's jar has the name, or the folder is not
/// writable.
pub fn install_plugin(folder: &Path, program: &Path) -> Result<Window, String> {
    let (ext, version) = extensions(folder)?;
    let jar = ext.join(NAME);
    let change = match fs::read(&jar) {
        Ok(content) if content == JAR => Change::Already,
        Ok(_) => {
            check_is_plugin(&jar)?;
            Change::Replaced
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Change::Installed,
        Err(error) => return Err(format!("cannot read {}: {error}", jar.display())),
    };
    if change != Change::Already {
        write(&jar, JAR)?;
    }
    let record = program.as_os_str().as_encoded_bytes();
    if fs::read(ext.join(RECORD)).ok().as_deref() != Some(record) {
        write(&ext.join(RECORD), record)?;
    }
    Ok(Window { change, jar, version })
}

/// Removes the plug-in from the JMeter in that folder.
///
/// # Errors
///
/// A message for the user, as from [`install_plugin`].
pub fn remove_plugin(folder: &Path) -> Result<Window, String> {
    let (ext, version) = extensions(folder)?;
    let jar = ext.join(NAME);
    let is_there = jar.symlink_metadata().is_ok();
    if is_there {
        check_is_plugin(&jar)?;
    }
    let remove = |path: &Path| match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", path.display()))
        }
        _ => Ok(()),
    };
    remove(&jar)?;
    remove(&ext.join(RECORD))?;
    let change = if is_there { Change::Removed } else { Change::None };
    Ok(Window { change, jar, version })
}

/// Returns the `lib/ext` of the JMeter in a folder, and JMeter's version.
fn extensions(folder: &Path) -> Result<(PathBuf, Option<String>), String> {
    let no = |why: &str| {
        format!(
            "{} is not a JMeter installation with a GUI: {why}. Name the folder that contains JMeter's bin and lib.",
            folder.display()
        )
    };
    if !folder.is_dir() {
        return Err(no("the folder does not exist"));
    }
    let home = home::look(folder, HomeOrigin::Own(Origin::Asked))
        .ok_or_else(|| no("it has no lib/ext/ApacheJMeter_core.jar"))?;
    if !home.folder.join("bin/ApacheJMeter.jar").is_file() {
        return Err(no("it has no bin/ApacheJMeter.jar"));
    }
    Ok((home.folder.join("lib/ext"), home.version))
}

/// Refuses a jar that is not a version of this plug-in.
fn check_is_plugin(jar: &Path) -> Result<(), String> {
    let is_ours = fs::File::open(jar)
        .ok()
        .and_then(|file| zip::ZipArchive::new(file).ok())
        .is_some_and(|archive| archive.index_for_name(MENU).is_some());
    if is_ours {
        return Ok(());
    }
    Err(format!(
        "{} is not this plug-in, so it was not changed. Move it to another folder if you do not need it.",
        jar.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_jar_is_known_as_ours() {
        let folder = tempfile::tempdir().expect("a folder");
        let jar = folder.path().join(NAME);
        fs::write(&jar, JAR).expect("a file");
        assert_eq!(check_is_plugin(&jar), Ok(()));
        fs::write(&jar, "no jar").expect("a file");
        assert!(check_is_plugin(&jar).is_err());
    }
}
