//! The class path: the bridge, then the jars of JMeter and the entries of properties and plan, in JMeter's order.
//!
//! JMeter adds `lib`, `lib/ext` and `lib/junit`, each sorted by name; then `search_paths`, `user.classpath` and
//! `plugin_dependency_paths`; and at the start of a test the entries of the test plan. A folder stands for itself and
//! for the jars in it. JMeter loads some of these with separate class loaders below a common one; here they are one
//! path.

use std::path::{Path, PathBuf};

use crate::settings::Settings;

/// A class path, with warnings about its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassPath {
    /// Jars and folders of the class path, without duplicates.
    pub entries: Vec<PathBuf>,
    /// Warnings about entries of the class path that cannot be read.
    pub warnings: Vec<String>,
}

impl ClassPath {
    /// Builds the class path of a JMeter, with the entries of properties and test plan. Relative names start at this
    /// process's working folder, as in JMeter.
    pub fn new(
        bridge: Option<&Path>,
        home: &Path,
        settings: &Settings,
        of_plan: &[String],
    ) -> Self {
        let mut path = Self::default();
        path.entries.extend(bridge.map(Path::to_owned));
        for folder in ["lib", "lib/ext", "lib/junit"] {
            path.add_jars(&home.join(folder));
        }
        // Some plug-ins need the launcher's class `NewDriver`.
        for launcher in ["bin/ApacheJMeter.jar"].map(|name| home.join(name)) {
            if launcher.is_file() {
                path.add(launcher);
            }
        }
        let named = [
            ("search_paths", settings.search_paths.split(';')),
            ("user.classpath", settings.user_classpath.split(':')),
            ("plugin_dependency_paths", settings.plugin_dependency_paths.split(';')),
        ];
        for (property, entries) in named {
            for entry in entries.filter(|entry| !entry.is_empty()) {
                path.add_named(entry, &format!("the property {property}"));
            }
        }
        for entry in of_plan {
            path.add_named(entry, "the test plan's class path");
        }
        path
    }

    /// Returns the class path as one string for Java's option `-cp`.
    pub fn joined(&self) -> String {
        let names: Vec<_> = self.entries.iter().map(|entry| entry.to_string_lossy()).collect();
        names.join(":")
    }

    fn add_named(&mut self, entry: &str, by: &str) {
        let path = std::path::absolute(entry).unwrap_or_else(|_| PathBuf::from(entry));
        if path.is_dir() {
            self.add(path.clone());
            self.add_jars(&path);
        } else if path.is_file() && std::fs::File::open(&path).is_ok() {
            self.add(path);
        } else if entry.trim().is_empty() {
            self.warnings.push(format!("{by} has a blank entry"));
        } else {
            // Show the entry as written in the property or plan, with control characters escaped.
            let from = if Path::new(entry).is_absolute() {
                ""
            } else {
                " (relative to the working directory)"
            };
            let shown = |letter: char| match letter {
                letter if letter.is_control() => letter.escape_debug().to_string(),
                letter => letter.to_string(),
            };
            let entry: String = entry.chars().map(shown).collect();
            self.warnings.push(format!("cannot read {entry}{from}, an entry of {by}"));
        }
    }

    fn add_jars(&mut self, folder: &Path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut jars: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().ends_with(".jar") && path.is_file())
            .filter(|path| !is_binding(path))
            .collect();
        jars.sort();
        for jar in jars {
            self.add(jar);
        }
    }

    /// Adds an entry unless the class path contains it. Java would ignore the second of two equal entries.
    fn add(&mut self, entry: PathBuf) {
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }
}

/// Returns true for Log4j's binding of SLF4J. The class path leaves this binding out: the bridge has its own binding,
/// and SLF4J warns about two.
fn is_binding(jar: &Path) -> bool {
    jar.file_name().unwrap_or_default().to_string_lossy().starts_with("log4j-slf4j")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn jars_stand_in_jmeters_order_and_folders_for_their_jars() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let files = [
            "home/lib/b.jar",
            "home/lib/a.jar",
            "home/lib/notes.txt",
            "home/lib/log4j-slf4j-impl-2.22.1.jar",
            "home/lib/ext/x.jar",
            "home/lib/junit/test.jar",
            "home/bin/ApacheJMeter.jar",
            "more/one.jar",
            "more/below/two.jar",
            "single.jar",
            "plan.jar",
        ];
        for file in files {
            let file = root.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, "").expect("a file");
        }
        let name = |file: &str| root.join(file).display().to_string();
        let settings = Settings {
            search_paths: format!("{};{}", name("more"), "C:\\libs\\absent.jar"),
            user_classpath: format!("{}:{}", name("single.jar"), name("more")),
            ..Settings::default()
        };
        let path = ClassPath::new(
            Some(Path::new("/bridge.jar")),
            &root.join("home"),
            &settings,
            &[name("plan.jar")],
        );
        let short: Vec<_> = path
            .entries
            .iter()
            .map(|entry| entry.strip_prefix(root).unwrap_or(entry).display().to_string())
            .collect();
        assert_eq!(
            short,
            [
                "/bridge.jar",
                "home/lib/a.jar",
                "home/lib/b.jar",
                "home/lib/ext/x.jar",
                "home/lib/junit/test.jar",
                "home/bin/ApacheJMeter.jar",
                "more",
                "more/one.jar",
                "single.jar",
                "plan.jar",
            ]
        );
        let [warning] = &path.warnings[..] else { panic!("{:?}", path.warnings) };
        assert!(
            warning.starts_with("cannot read C:\\libs\\absent.jar")
                && warning.ends_with("an entry of the property search_paths"),
            "{warning}"
        );
    }
}
