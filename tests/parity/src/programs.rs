//! The two programs that run a plan, and the Java parts that both need.

use crate::case::Case;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Throng, and the JMeter home for plans that need Java.
pub(crate) struct Programs {
    throng: PathBuf,
    home: OnceLock<Option<PathBuf>>,
}

impl Programs {
    pub(crate) fn new(throng: PathBuf) -> Self {
        Self { throng, home: OnceLock::new() }
    }

    /// Returns the JMeter home for plans that need a JVM: the configured home, or the home that `throng jvm install`
    /// created.
    pub(crate) fn home(&self) -> Option<&Path> {
        let installed = || {
            let status = Command::new(&self.throng).args(["jvm", "status"]).output().ok()?;
            let status = String::from_utf8_lossy(&status.stdout).into_owned();
            let (_, folder) = status.split_once(": complete, ")?;
            Some(PathBuf::from(folder.lines().next()?))
        };
        let named = || std::env::var_os("PARITY_JVM_HOME").map(PathBuf::from);
        self.home.get_or_init(|| named().or_else(installed)).as_deref()
    }

    /// Returns the command that runs Throng for a case in a folder.
    pub(crate) fn throng(&self, case: &Case, work: &Path) -> Engine {
        let mut throng = Command::new(&self.throng);
        throng.arg("-n");
        if !case.needs_jvm() {
            // The result must not depend on whether this machine has JMeter's jars.
            throng.env_remove("JMETER_HOME").env("THRONG_CACHE", work.join("no-cache"));
        } else if let Some(home) = self.home() {
            throng.env("JMETER_HOME", home);
            // Additional arguments, for example `-Jthrong.scripts.native=false`, with which Java runs every script.
            let further = std::env::var("PARITY_JVM_ARGS").unwrap_or_default();
            throng.args(further.split_whitespace());
        }
        Engine { command: throng, is_jmeter: false }
    }

    /// Returns the command for a target of the program under test, which listens on a free port.
    pub(crate) fn target(&self, name: &str, options: &[String]) -> Command {
        let mut command = Command::new(&self.throng);
        command.args(["target", name, "--port", "0"]);
        command.args(options.iter().flat_map(|option| ["--option", option]));
        command
    }
}

/// A program that runs plans: JMeter or Throng.
pub(crate) struct Engine {
    pub(crate) command: Command,
    pub(crate) is_jmeter: bool,
}

/// Returns the command that runs JMeter from a JMeter home.
pub(crate) fn jmeter(home: &Path) -> Engine {
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"])
        .args(["-Duser.language=en", "-Duser.region=EN"])
        // The same options as in JMeter's start script; the Parallel Controller needs them.
        .args(["--add-opens", "java.base/java.lang=ALL-UNNAMED"])
        .arg("-jar")
        .arg(home.join("bin/ApacheJMeter.jar"))
        .args(["-n", "-j", "jmeter.log"])
        .env("LC_ALL", "C.UTF-8");
    Engine { command: java, is_jmeter: true }
}

/// True if a JMeter home has a library or plug-in whose name begins with `jar`.
pub(crate) fn has(home: &Path, jar: &str) -> bool {
    let folders = ["lib", "lib/ext"].into_iter();
    let jars =
        folders.flat_map(|folder| std::fs::read_dir(home.join(folder)).into_iter().flatten());
    jars.flatten().any(|file| file.file_name().to_string_lossy().starts_with(jar))
}

/// True if a Java compiler is installed; a plain Java runtime has none.
pub(crate) fn has_javac() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let mut javac = Command::new("javac");
        let asked = javac.arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    })
}

/// Compiles the classes in `java` against the jars of the JMeter home into `classes.jar`.
pub(crate) fn compile(work: &Path, home: &Path) {
    let home = home.display();
    let sources = std::fs::read_dir(work.join("java")).expect("sources").flatten();
    let mut javac: Vec<OsString> = ["-d", "classes", "-cp"].map(OsString::from).to_vec();
    javac.push(format!("{home}/lib/*:{home}/lib/ext/*").into());
    javac.extend(sources.map(|source| source.path().into_os_string()));
    let jar = ["cf", "classes.jar", "-C", "classes", "."].map(OsString::from).to_vec();
    for (program, arguments) in [("javac", javac), ("jar", jar)] {
        let status = Command::new(program).args(arguments).current_dir(work).status();
        assert!(status.is_ok_and(|status| status.success()), "{program} failed");
    }
}
