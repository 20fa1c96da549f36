//! Finds the jars of JMeter: a tester's own installation, or the set installed by `throng jvm install`.
//!
//! Both are folders with `bin`, `lib` and `lib/ext`, as JMeter has them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::artefacts::VERSION;
use crate::cache;
use crate::java::Origin;

/// A JMeter installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The folder of the JMeter installation.
    pub folder: PathBuf,
    /// How the JMeter installation was found.
    pub origin: HomeOrigin,
    /// Version of the JMeter installation, if its jars contain the version.
    pub version: Option<String>,
}

/// How a JMeter installation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeOrigin {
    /// A JMeter installation given by the user.
    Own(Origin),
    /// The set installed by `throng jvm install`.
    Installed,
}

impl HomeOrigin {
    /// Returns the flag, variable or command by which the JMeter was found, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Own(origin) => origin.words("--jmeter-home", "JMETER_HOME"),
            Self::Installed => "throng jvm install",
        }
    }
}

/// Error: no jars of JMeter were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoHome {
    /// A folder that the user named but is not a JMeter home, with the flag or variable that named it.
    named: Option<(PathBuf, &'static str)>,
}

impl fmt::Display for NoHome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((folder, by)) = &self.named {
            return write!(
                out,
                "{} (from {by}) is not a JMeter installation: it has no lib/ext/ApacheJMeter_core.jar",
                folder.display()
            );
        }
        out.write_str(
            "JMeter's jars were not found: name an installation with --jmeter-home or JMETER_HOME, or run `throng jvm \
            install` once to download them",
        )
    }
}

/// Finds a JMeter: first the requested one, then `JMETER_HOME`, then the installed set in `cache`.
///
/// # Errors
///
/// The path that was named and is not a JMeter home, or that no JMeter was found.
pub(crate) fn find(
    asked: Option<&Path>,
    variable: Option<&Path>,
    cache: Option<&Path>,
) -> Result<Home, NoHome> {
    for (named, origin) in [(asked, Origin::Asked), (variable, Origin::Environment)] {
        let Some(folder) = named else { continue };
        let origin = HomeOrigin::Own(origin);
        return look(folder, origin)
            .ok_or_else(|| NoHome { named: Some((folder.to_owned(), origin.words())) });
    }
    cache
        .and_then(|cache| look(&installed(cache), HomeOrigin::Installed))
        .ok_or(NoHome { named: None })
}

/// Finds a JMeter like [`find`], with the environment of this process.
///
/// # Errors
///
/// The same as those of [`find`].
pub(crate) fn find_here(asked: Option<&Path>) -> Result<Home, NoHome> {
    let variable = variable();
    // The run's properties contain `JMETER_HOME`, too; that folder was not requested by a flag.
    let asked = asked.filter(|asked| Some(*asked) != variable.as_deref());
    find(asked, variable.as_deref(), cache::folder().as_deref())
}

/// Returns the value of the environment variable `JMETER_HOME`, if it is not empty.
pub fn variable() -> Option<PathBuf> {
    std::env::var_os("JMETER_HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns the folder in which `throng jvm install` puts JMeter's jars.
pub fn installed(cache: &Path) -> PathBuf {
    cache.join("jvm").join(format!("jmeter-{VERSION}"))
}

/// Returns the JMeter installation in a folder; `None` if the folder contains none.
pub(crate) fn look(folder: &Path, origin: HomeOrigin) -> Option<Home> {
    // The working folder does not change, but elements may ask for the absolute path.
    let folder = folder.canonicalize().ok()?;
    let core = core_jar(&folder)?;
    Some(Home { version: version(&core), folder, origin })
}

/// Finds JMeter's core jar. The jar's name has no version in a release, and has the version in a Maven repository.
fn core_jar(folder: &Path) -> Option<PathBuf> {
    let ext = folder.join("lib/ext");
    let plain = ext.join("ApacheJMeter_core.jar");
    if plain.is_file() {
        return Some(plain);
    }
    let entries = std::fs::read_dir(&ext).ok()?.flatten().map(|entry| entry.path());
    let mut jars: Vec<_> = entries
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("ApacheJMeter_core-") && name.ends_with(".jar")
        })
        .collect();
    jars.sort();
    jars.into_iter().next()
}

/// Returns JMeter's version from the jar's manifest, or else from its name.
fn version(jar: &Path) -> Option<String> {
    let by_name = || {
        let name = jar.file_stem()?.to_string_lossy().into_owned();
        Some(name.strip_prefix("ApacheJMeter_core-")?.to_owned())
    };
    let manifest = || {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(jar).ok()?).ok()?;
        let text = std::io::read_to_string(archive.by_name("META-INF/MANIFEST.MF").ok()?).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Implementation-Version:"))?;
        Some(line.trim().to_owned())
    };
    manifest().or_else(by_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn jmeter(at: &Path, jar: &str) -> PathBuf {
        fs::create_dir_all(at.join("lib/ext")).expect("a folder");
        fs::write(at.join("lib/ext").join(jar), "").expect("a file");
        at.canonicalize().expect("a path")
    }

    #[test]
    fn a_testers_own_jmeter_comes_before_the_installed_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = jmeter(&folder.path().join("own"), "ApacheJMeter_core.jar");
        let other = jmeter(&folder.path().join("other"), "ApacheJMeter_core-5.6.3.jar");
        let set = jmeter(&installed(folder.path()), "ApacheJMeter_core.jar");
        let cache = Some(folder.path());
        let found = |asked: Option<&Path>, variable: Option<&Path>| {
            find(asked, variable, cache).map(|home| (home.folder, home.origin))
        };
        let by = HomeOrigin::Own;
        assert_eq!(found(Some(&own), Some(&other)), Ok((own, by(Origin::Asked))));
        assert_eq!(found(None, Some(&other)), Ok((other.clone(), by(Origin::Environment))));
        assert_eq!(found(None, None), Ok((set, HomeOrigin::Installed)));
        let version = find(Some(&other), None, None).expect("a home").version;
        assert_eq!(version.as_deref(), Some("5.6.3"));
    }

    #[test]
    fn what_is_named_and_no_jmeter_is_not_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        jmeter(&installed(folder.path()), "ApacheJMeter_core.jar");
        let none = folder.path().join("none");
        let cache = Some(folder.path());
        let asked = find(Some(&none), None, cache).unwrap_err().to_string();
        assert!(asked.contains("--jmeter-home"), "{asked}");
        let variable = find(None, Some(&none), cache).unwrap_err().to_string();
        assert!(variable.contains("JMETER_HOME"), "{variable}");
    }

    #[test]
    fn without_any_both_ways_are_named() {
        let words = find(None, None, None).unwrap_err().to_string();
        for way in ["--jmeter-home", "JMETER_HOME", "throng jvm install"] {
            assert!(words.contains(way), "{words}");
        }
    }
}
