//! A launcher that replaces `java`, for tools that start `java … -jar ApacheJMeter.jar …` themselves, like
//! jmeter-maven-plugin.
//!
//! JMeter's arguments are run as [`shim`] runs them. Options of Java are used for the JVM of the run, if it needs
//! one. The real Java runs everything else: command lines that Throng refuses before running anything, those that
//! open JMeter's window, and all other programs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;
use crate::print::terminal;
use crate::tools::shim::{self, is_executable, quoted};

/// File name of the launcher. It is not `java`, so that a folder in PATH with the launcher does not hide the real Java.
const NAME: &str = "throng-java";

/// Second line of a launcher script, by which it is recognized.
const MARK: &str = "# A launcher in place of java, made by throng jmeter install-java.";

/// Environment variable that the launcher sets for the real Java. It prevents an endless loop if that program is
/// the launcher itself.
const INSIDE: &str = "THRONG_JAVA_LAUNCHER";

/// Options of Java that take the next argument as their value.
const WITH_VALUE: [&str; 11] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--patch-module",
];

/// Writes the launcher into the folder, or removes it.
pub(crate) fn install(folder: &Path, remove: bool) -> Exit {
    let path = folder.join(NAME);
    let done = if remove { shim::take(&path, MARK) } else { put(&path) };
    shim::said(done)
}

fn put(path: &Path) -> Result<String, String> {
    shim::put_text(path, MARK, &|program| {
        format!("exec {} jmeter java \"$@\"\n", quoted(program))
    })?;
    Ok(format!("{} starts Throng for tools that start JMeter with java", path.display()))
}

/// Runs a command line of Java. If it starts JMeter, Throng runs it by calling `own`. Otherwise the real Java runs
/// it.
pub(crate) fn run(args: &[OsString], own: fn(&[OsString]) -> Exit) -> Exit {
    let Some((options, line)) = split(args) else { return in_java(args, None, Exit::Usage) };
    if shim::opens_a_window(line) {
        return in_java(args, Some("without -n there is a window to open"), Exit::Usage);
    }
    match own(&with_options(options, line)) {
        refused @ (Exit::Usage | Exit::Plan) => in_java(args, Some("Throng refuses this"), refused),
        exit => exit,
    }
}

/// Splits a command line into Java's options and the arguments after JMeter's jar. Returns `None` if it starts another
/// program or no program.
fn split(args: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if arg == "-jar" {
            let jar = Path::new(args.get(at + 1)?);
            let name = jar.file_name().and_then(OsStr::to_str)?;
            let jmeter = name.starts_with("ApacheJMeter") && name.ends_with(".jar");
            return jmeter.then(|| (&args[..at], &args[at + 2..]));
        }
        // The name of a class, or of a file with further arguments.
        if !arg.as_bytes().starts_with(b"-") {
            return None;
        }
        at += if WITH_VALUE.iter().any(|name| arg == name) { 2 } else { 1 };
    }
    None
}

/// Returns JMeter's arguments, with the system properties among Java's options added, because they also apply to the
/// plan.
fn with_options(options: &[OsString], line: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::new();
    if !options.is_empty() {
        let mut all = OsString::from("-Jthrong.jvm.options=");
        for (at, option) in options.iter().enumerate() {
            if at > 0 {
                all.push(jvm::SEPARATOR.to_string());
            }
            all.push(option);
        }
        out.push(all);
    }
    out.extend_from_slice(line);
    out
}

/// Replaces this process with the real Java. Returns `otherwise` if there is none.
fn in_java(args: &[OsString], why: Option<&str>, otherwise: Exit) -> Exit {
    let Some(java) = java().filter(|_| env::var_os(INSIDE).is_none()) else {
        let words = "there is no Java for it: set JAVA_HOME to its folder";
        terminal::error(&why.map_or_else(|| words.to_owned(), |why| format!("{why}, and {words}")));
        return otherwise;
    };
    if let Some(why) = why {
        terminal::err(&format!("{why}: Java runs it instead: {}\n", java.display()));
    }
    terminal::flush();
    let error = Command::new(&java).args(args).env(INSIDE, "1").exec();
    terminal::error(&format!("cannot start {}: {error}", java.display()));
    otherwise
}

/// Returns the path of the real Java.
fn java() -> Option<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join("java"));
    home.into_iter().chain(in_path).find(|path| is_executable(path) && !is_launcher(path))
}

/// Returns true if the file is the launcher, even through a link or under another name.
fn is_launcher(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| shim::is_marked(&path, MARK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_arguments_behind_jmeters_jar_are_jmeters() {
        let args = line(&[
            "-Xms512M",
            "-Da.b=c=d",
            "-Dempty",
            "--add-opens",
            "java.base/java.lang=ALL-UNNAMED",
            "-jar",
            "/x/ApacheJMeter-5.6.3.jar",
            "-n",
            "-t",
            "plan.jmx",
        ]);
        let (options, rest) = split(&args).expect("a line of JMeter's");
        assert_eq!((options.len(), rest), (5, &args[7..]));
        let told = with_options(options, rest);
        let options = "-Jthrong.jvm.options=-Xms512M\n-Da.b=c=d\n-Dempty\n--add-opens\njava.base/java.lang=ALL-UNNAMED";
        let expected = line(&[options, "-n", "-t", "plan.jmx"]);
        assert_eq!(told, expected);
    }

    #[test]
    fn other_programs_are_javas() {
        for words in [
            &["-version"][..],
            &["-jar", "CmdRunner.jar", "-n"],
            &["-cp", "ApacheJMeter.jar", "org.apache.jmeter.NewDriver", "-n"],
            &["-jar"],
            &["Main", "-jar", "ApacheJMeter.jar"],
            &[],
        ] {
            assert!(split(&line(words)).is_none(), "{words:?}");
        }
    }
}
