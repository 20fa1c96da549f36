//! Finds a Java, and its folder, version and library, without starting it.
//!
//! Candidates in order: the requested Java, `JAVA_HOME`, the Java whose `java` is on the path, and the usual folders.
//! Of the usual folders the oldest suitable Java is taken, because JMeter's libraries support it best. The version is
//! read from the file `release`, which every Java has.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The oldest suitable major version of Java.
pub const OLDEST: u32 = 17;

/// Folders that usually contain Java installations as subfolders.
const PLACES: &[&str] = &["/usr/lib/jvm", "/usr/java", "/opt/java", "/opt", "/usr/local"];

/// A suitable Java installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    /// The folder of the Java installation.
    pub home: PathBuf,
    /// Path of the JVM as a shared library.
    pub library: PathBuf,
    /// Major version of the Java: 17 for 17.0.15.
    pub major: u32,
    /// Full version of the Java, such as 17.0.15.
    pub version: String,
    /// How the Java was found.
    pub origin: Origin,
}

/// How the path of a Java or a JMeter was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user named the path, by a flag or a property.
    Asked,
    /// An environment variable named the path.
    Environment,
    /// A folder in `PATH` contains the program.
    Path,
    /// One of the usual folders contains the installation.
    Place,
}

impl Origin {
    /// Returns the origin of the path in words. `flag` and `variable` are the flag and environment variable that can
    /// name the path.
    pub fn words(self, flag: &'static str, variable: &'static str) -> &'static str {
        match self {
            Self::Asked => flag,
            Self::Environment => variable,
            Self::Path => "on the path",
            Self::Place => "in a usual place",
        }
    }
}

/// Places in which a Java installation is searched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// Value of the environment variable `JAVA_HOME`.
    pub java_home: Option<PathBuf>,
    /// Folders in the environment variable `PATH`.
    pub path: Vec<PathBuf>,
    /// Folders that contain Java installations as subfolders.
    pub places: Vec<PathBuf>,
}

impl Surroundings {
    /// Returns the places named in this process's environment, and the usual folders.
    pub(crate) fn here() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places: Vec<PathBuf> = PLACES.iter().map(PathBuf::from).collect();
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
            places.push(home.join(".sdkman/candidates/java"));
            places.push(home.join(".jdks"));
        }
        Self {
            java_home: std::env::var_os("JAVA_HOME")
                .filter(|home| !home.is_empty())
                .map(PathBuf::from),
            path: std::env::split_paths(&path).collect(),
            places,
        }
    }
}

/// Error: no suitable Java was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoJava {
    /// Candidates that were found, with the reason why each is unsuitable.
    pub found: Vec<(PathBuf, String)>,
    asked: bool,
}

impl fmt::Display for NoJava {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.asked {
            let (home, why) = &self.found[0];
            return write!(out, "cannot use {} (from --java-home): {why}", home.display());
        }
        write!(
            out,
            "Java {OLDEST} or later was not found: install one (a JRE is enough), set JAVA_HOME, or give --java-home"
        )?;
        for (home, why) in &self.found {
            write!(out, "\n  {}: {why}", home.display())?;
        }
        Ok(())
    }
}

/// Finds a suitable Java.
///
/// # Errors
///
/// The candidates that were found and rejected.
pub(crate) fn find(asked: Option<&Path>, around: &Surroundings) -> Result<Java, NoJava> {
    if let Some(home) = asked {
        return look(home, Origin::Asked)
            .map_err(|why| NoJava { found: vec![(home.to_owned(), why)], asked: true });
    }
    let mut found = Vec::new();
    let on_path = around.path.iter().filter_map(|folder| of_program(&folder.join("java")));
    let first = around.java_home.iter().cloned().map(|home| (home, Origin::Environment));
    for (home, origin) in first.chain(on_path.map(|home| (home, Origin::Path))) {
        match look(&home, origin) {
            Ok(java) => return Ok(java),
            Err(why) => found.push((home, why)),
        }
    }
    let mut usable = BTreeMap::new();
    for home in around.places.iter().flat_map(|place| folders(place)) {
        match look(&home, Origin::Place) {
            Ok(java) => {
                usable.entry(java.major).or_insert(java);
            }
            // A folder without a file `release` is not a Java.
            Err(why) if home.join("release").is_file() => found.push((home, why)),
            Err(_) => {}
        }
    }
    usable.into_values().next().ok_or(NoJava { found, asked: false })
}

/// Returns the Java folder that contains a program `java`, following symbolic links.
fn of_program(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok().filter(|real| real.is_file())?;
    Some(real.parent()?.parent()?.to_owned())
}

fn folders(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut found: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// Returns the Java in a folder, or the reason why the Java is unsuitable.
fn look(home: &Path, origin: Origin) -> Result<Java, String> {
    let release = std::fs::read_to_string(home.join("release")).map_err(|_| {
        if home.is_dir() {
            "it has no `release` file".to_owned()
        } else {
            "it is not a folder".to_owned()
        }
    })?;
    let version = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))
        .map(|version| version.trim().trim_matches('"').to_owned())
        .ok_or("its `release` file names no version")?;
    let major = major(&version).ok_or_else(|| format!("its version {version:?} cannot be read"))?;
    if major < OLDEST {
        return Err(format!("it is Java {version}; {OLDEST} or later is needed"));
    }
    let library = library(home).ok_or("it has no JVM library (lib/server)")?;
    Ok(Java { home: home.to_owned(), library, major, version, origin })
}

fn library(home: &Path) -> Option<PathBuf> {
    let name = format!("{}jvm{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    ["lib/server", "jre/lib/server", "lib/client"]
        .iter()
        .map(|folder| home.join(folder).join(&name))
        .find(|library| library.is_file())
}

/// Returns the major version of a Java: 8 for 1.8.0_432, 17 for 17.0.15.
fn major(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Creates a folder that looks like a Java of that version.
    fn java(at: &Path, version: &str) -> PathBuf {
        let name = format!("{}jvm{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        for folder in ["bin", "lib/server"] {
            fs::create_dir_all(at.join(folder)).expect("a folder");
        }
        fs::write(at.join("release"), format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n"))
            .expect("a file");
        fs::write(at.join("lib/server").join(name), "").expect("a file");
        fs::write(at.join("bin/java"), "").expect("a file");
        at.to_owned()
    }

    #[test]
    fn the_environment_comes_before_the_path_and_that_before_usual_places() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let named = java(&root.join("named"), "21.0.1");
        let on_path = java(&root.join("path"), "19");
        let places = root.join("places");
        java(&places.join("new"), "25");
        java(&places.join("old"), "11.0.2");
        let oldest = java(&places.join("right"), "17.0.15");
        fs::create_dir_all(places.join("something else")).expect("a folder");
        let mut around = Surroundings {
            java_home: Some(named.clone()),
            path: vec![root.join("nothing"), on_path.join("bin")],
            places: vec![places],
        };
        let found = |around: &Surroundings| find(None, around).map(|java| (java.home, java.major));
        assert_eq!(found(&around), Ok((named, 21)));
        around.java_home = None;
        assert_eq!(found(&around), Ok((on_path, 19)));
        around.path.clear();
        assert_eq!(found(&around), Ok((oldest, 17)));
    }

    #[test]
    fn what_will_not_do_is_named_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = java(&folder.path().join("old"), "1.8.0_432");
        let bare = folder.path().join("bare");
        fs::create_dir_all(&bare).expect("a folder");
        fs::write(bare.join("release"), "JAVA_VERSION=\"17\"").expect("a file");
        let around = Surroundings {
            java_home: Some(old.clone()),
            places: vec![folder.path().to_owned()],
            ..Surroundings::default()
        };
        let words = find(None, &around).unwrap_err().to_string();
        assert!(words.contains("it is Java 1.8.0_432; 17 or later is needed"), "{words}");
        assert!(words.contains("no JVM library"), "{words}");
        let words = find(Some(&old), &around).unwrap_err().to_string();
        assert!(words.contains("--java-home"), "{words}");
    }

    #[test]
    fn versions_of_all_ages_are_read() {
        for (version, expected) in [("1.8.0_432", 8), ("11", 11), ("17.0.15", 17), ("25-ea", 25)] {
            assert_eq!(major(version), Some(expected));
        }
        assert_eq!(major("x"), None);
    }
}
