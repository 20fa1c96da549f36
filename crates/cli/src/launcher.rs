//! A program in place of `java`, for tools that start `java … -jar ApacheJMeter.jar …` themselves, like jmeter-maven-plugin.
//!
//! JMeter's arguments are run as [`shim`] runs them; options of Java are for the Java machine of the run, if it needs one. The
//! real Java gets what Throng refuses before it runs anything, what opens JMeter's window, and every other program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;
use crate::shim::{self, is_executable, quoted};
use crate::terminal;

/// The file's name: another one than `java`, so that a folder which stands in PATH hides no Java.
const NAME: &str = "throng-java";

/// By which a launcher is known: its second line.
const MARK: &str = "# A launcher in place of java, made by throng jmeter install-java.";

/// Set for the real Java, so that one which is the launcher again cannot go round for ever.
const INSIDE: &str = "THRONG_JAVA_LAUNCHER";

/// Options of Java whose value is the next argument.
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

/// Writes the launcher into the folder, or takes it away.
pub(crate) fn install(folder: &Path, remove: bool) -> Exit {
    let path = folder.join(NAME);
    let done = if remove { shim::take(&path, MARK) } else { put(&path) };
    shim::said(done)
}

fn put(path: &Path) -> Result<String, String> {
    shim::put_text(path, MARK, &|program| {
        format!("exec {} jmeter java \"$@\"\n", quoted(program))
    })?;
    Ok(format!("{} starts Throng where a tool is to start java with JMeter", path.display()))
}

/// Runs a command line of Java's: JMeter's by `own`, Throng's reading of its arguments, any other in the real Java.
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

/// Options of Java, and the arguments behind JMeter's jar; `None` for another program, or none.
fn split(args: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if arg == "-jar" {
            let jar = Path::new(args.get(at + 1)?);
            let name = jar.file_name().and_then(OsStr::to_str)?;
            let jmeter = name.starts_with("ApacheJMeter") && name.ends_with(".jar");
            return jmeter.then(|| (&args[..at], &args[at + 2..]));
        }
        // The name of a class, or of a file with more arguments.
        if !arg.as_bytes().starts_with(b"-") {
            return None;
        }
        at += if WITH_VALUE.iter().any(|name| arg == name) { 2 } else { 1 };
    }
    None
}

/// JMeter's arguments, behind Java's options: their system properties are the plan's, too.
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

/// Becomes the real Java. Comes back with `otherwise` if there is none.
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

/// The program of the real Java.
fn java() -> Option<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join("java"));
    home.into_iter().chain(in_path).find(|path| is_executable(path) && !is_launcher(path))
}

/// Also behind a link, or under another name.
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
