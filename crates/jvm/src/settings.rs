//! Settings of a run's JVM, as properties.
//!
//! Flags become properties. Worker processes of a run get its properties, so they start a JVM with the same
//! settings.

use std::path::PathBuf;

/// Properties that this crate reads.
pub const PROPERTIES: &[&str] = &[
    "jmeter.exit.check.pause",
    "throng.java.home",
    "throng.jmeter.home",
    "throng.jvm.heap",
    "throng.jvm.isolated",
    OPTIONS,
    "throng.jvm.threads",
];

/// Property with the options of the JVM. System properties among them apply to the whole run.
pub const OPTIONS: &str = "throng.jvm.options";

/// Property in which a run passes its system properties to its worker processes, as options of Java, one a line. Users
/// do not set this property.
pub const SYSTEM: &str = "throng.jvm.system";

/// Property in which a run passes its log levels to Java's loggers: `category=LEVEL`, one a line. Users do not set this
/// property.
pub const LEVELS: &str = "throng.jvm.log";

/// Default maximum number of worker threads.
pub const THREADS: usize = 1000;

/// Separator of options in `throng.jvm.options`: one option per line, because an option may contain blanks.
pub const SEPARATOR: char = '\n';

/// Settings of the JVM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `--java-home`: the only Java to use.
    pub java_home: Option<PathBuf>,
    /// `--jmeter-home`: the only JMeter installation whose jars are used.
    pub jmeter_home: Option<PathBuf>,
    /// `--jvm-heap`: maximum size of the heap, as Java writes it.
    pub heap: Option<String>,
    /// `--jvm-isolated`: true if the JVM runs in a child process.
    pub isolated: bool,
    /// System properties of the run, each as an option `-Dname=value`.
    pub system: Vec<String>,
    /// `--jvm-option`: further options of the JVM, which override Throng's own.
    pub options: Vec<String>,
    /// `--jvm-threads`: maximum number of worker threads; 0 means [`THREADS`].
    pub threads: usize,
    /// JMeter's property `search_paths`, with further jars and folders of classes.
    pub search_paths: String,
    /// JMeter's property `user.classpath`, separated like a class path.
    pub user_classpath: String,
    /// JMeter's property `plugin_dependency_paths`, with the libraries of plug-ins.
    pub plugin_dependency_paths: String,
}

impl Settings {
    /// Reads the settings from properties.
    ///
    /// # Errors
    ///
    /// Description of an invalid property.
    pub fn from_properties(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let given = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        let heap = given("throng.jvm.heap").map(|heap| heap.trim().to_owned());
        if let Some(heap) = heap.as_deref().filter(|heap| !is_size(heap)) {
            return Err(format!(
                "invalid size of the Java heap (--jvm-heap, throng.jvm.heap): {heap:?}; write for example 512m or 2g"
            ));
        }
        let threads = match given("throng.jvm.threads") {
            None => 0,
            Some(text) => {
                text.trim().parse::<usize>().ok().filter(|n| (1..=100_000).contains(n)).ok_or_else(
                    || {
                        format!(
                            "invalid number of Java threads (--jvm-threads, throng.jvm.threads): {text:?}; it must be \
                            1 to 100000"
                        )
                    },
                )?
            }
        };
        let lines = |name: &str| -> Vec<String> {
            let text = given(name).unwrap_or_default();
            let lines = text.split(SEPARATOR).map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        Ok(Self {
            java_home: given("throng.java.home").map(PathBuf::from),
            jmeter_home: given("throng.jmeter.home").map(PathBuf::from),
            heap,
            isolated: given("throng.jvm.isolated").is_some_and(|text| text.trim() == "true"),
            system: lines(SYSTEM),
            options: lines(OPTIONS),
            threads,
            search_paths: get("search_paths").unwrap_or_default(),
            user_classpath: get("user.classpath").unwrap_or_default(),
            plugin_dependency_paths: get("plugin_dependency_paths").unwrap_or_default(),
        })
    }
}

/// Returns true for a size as Java accepts it: digits, and a letter for the unit.
fn is_size(text: &str) -> bool {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
    text.len() - digits.len() <= 1
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        let value = |name: &str| pairs.iter().find(|(key, _)| *key == name);
        Settings::from_properties(|name| value(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_set_is_the_default() {
        assert_eq!(read(&[]), Ok(Settings::default()));
        assert_eq!(read(&[("throng.jvm.heap", " ")]), Ok(Settings::default()));
    }

    #[test]
    fn options_stand_one_a_line() {
        let settings = read(&[("throng.jvm.options", "-Da=b c\n-Xss2m\n\n")]).expect("settings");
        assert_eq!(settings.options, ["-Da=b c", "-Xss2m"]);
    }

    #[test]
    fn sizes_and_numbers_are_checked() {
        for good in ["512m", "2G", "1048576"] {
            assert!(read(&[("throng.jvm.heap", good)]).is_ok(), "{good}");
        }
        for bad in ["m", "2gb", "much", "-1g"] {
            assert!(read(&[("throng.jvm.heap", bad)]).unwrap_err().contains("--jvm-heap"), "{bad}");
        }
        for bad in ["0", "-1", "many", "100001"] {
            let error = read(&[("throng.jvm.threads", bad)]).unwrap_err();
            assert!(error.contains("--jvm-threads"), "{bad}");
        }
    }
}
