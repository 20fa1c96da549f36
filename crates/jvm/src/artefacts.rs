//! The jars of JMeter 5.6.3 and of some plug-ins, with the checksum of each file.
//!
//! `artefacts.txt` and `plugins.txt` have one line per file: file name, bytes, SHA-256, group, artefact, version,
//! classifier or `-`. The versions are those in JMeter's release. The published Maven modules name older versions
//! in places.

/// The version of JMeter whose jars are installed.
pub const VERSION: &str = "5.6.3";

const TABLE: &str = include_str!("artefacts.txt");
const PLUGINS: &str = include_str!("plugins.txt");

/// A file of JMeter or of a plug-in, in a Maven repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Artefact {
    /// Name of the file in a JMeter release.
    pub file: &'static str,
    /// The file's length in bytes.
    pub bytes: u64,
    /// The file's SHA-256 in hexadecimal digits.
    pub sha256: &'static str,
    group: &'static str,
    name: &'static str,
    version: &'static str,
    classifier: Option<&'static str>,
}

impl Artefact {
    /// Returns the artefact's path relative to the root of a Maven repository.
    pub fn path(&self) -> String {
        let Self { group, name, version, classifier, .. } = self;
        let group = group.replace('.', "/");
        let classifier = classifier.map(|one| format!("-{one}")).unwrap_or_default();
        format!("{group}/{name}/{version}/{name}-{version}{classifier}.jar")
    }

    /// Returns the artefact's path relative to JMeter's folder.
    pub fn place(&self) -> String {
        let own = self.group == "org.apache.jmeter";
        match self.name {
            "ApacheJMeter" if own => "bin/ApacheJMeter.jar".to_owned(),
            "jorphan" if own => "lib/jorphan.jar".to_owned(),
            name if own => format!("lib/ext/{name}.jar"),
            // JMeter looks for plug-in classes in `lib/ext`.
            _ if matches!(self.group, "kg.apc" | "com.blazemeter") => {
                format!("lib/ext/{}", self.file)
            }
            _ => format!("lib/{}", self.file),
        }
    }

    /// Returns true for the artefact that is unpacked into JMeter's folder instead of being stored there as a jar.
    pub fn is_config(&self) -> bool {
        self.name == "ApacheJMeter_config"
    }
}

/// Returns the artefacts of JMeter.
pub fn artefacts() -> impl Iterator<Item = Artefact> {
    of(TABLE)
}

/// Returns the artefacts of plug-ins, and of the libraries that they need besides JMeter's libraries.
pub fn plugins() -> impl Iterator<Item = Artefact> {
    of(PLUGINS)
}

fn of(table: &'static str) -> impl Iterator<Item = Artefact> {
    table.lines().filter_map(|line| {
        let [file, bytes, sha256, group, name, version, classifier] =
            line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let classifier = Some(classifier).filter(|classifier| *classifier != "-");
        let bytes = bytes.parse().ok()?;
        Some(Artefact { file, bytes, sha256, group, name, version, classifier })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_artefact() {
        let all: Vec<_> = artefacts().chain(plugins()).collect();
        assert_eq!(all.len(), TABLE.lines().chain(PLUGINS.lines()).count());
        let mut places: Vec<_> = all.iter().map(Artefact::place).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), all.len(), "two files at one place");
        for one in &all {
            assert_eq!(one.sha256.len(), 64, "{}", one.file);
            assert!(one.bytes > 0, "{}", one.file);
        }
        assert_eq!(all.iter().filter(|one| one.is_config()).count(), 1);
    }

    #[test]
    fn places_and_paths_are_those_of_jmeter_and_maven() {
        let one = |file: &str| artefacts().find(|one| one.file == file).expect(file);
        let core = one("ApacheJMeter_core-5.6.3.jar");
        assert_eq!(core.place(), "lib/ext/ApacheJMeter_core.jar");
        assert_eq!(
            core.path(),
            "org/apache/jmeter/ApacheJMeter_core/5.6.3/ApacheJMeter_core-5.6.3.jar"
        );
        assert_eq!(one("ApacheJMeter-5.6.3.jar").place(), "bin/ApacheJMeter.jar");
        let data = one("xmlresolver-5.2.1-data.jar");
        assert_eq!(data.place(), "lib/xmlresolver-5.2.1-data.jar");
        assert_eq!(data.path(), "org/xmlresolver/xmlresolver/5.2.1/xmlresolver-5.2.1-data.jar");
    }
}
