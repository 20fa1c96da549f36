//! A program called `jmeter` that is placed before JMeter's own in `PATH`, so that scripts with `jmeter -n …` use
//! Throng unchanged.
//!
//! The real JMeter runs command lines that Throng refuses before running anything (exit codes 2 and 3), and command
//! lines that open JMeter's window. A line on standard error reports this. A run that has started is never
//! repeated.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;
use crate::print::terminal;

/// Second line of a shim script, by which it is recognized.
const MARK: &str = "# A stand-in for jmeter, made by throng jmeter install-shim.";

/// Environment variable with the folder or program of the real JMeter.
const REAL: &str = "THRONG_JMETER";

/// Environment variable that the shim sets for the real JMeter. It prevents an endless loop if that program calls
/// the shim.
const INSIDE: &str = "THRONG_JMETER_SHIM";

/// Options other than `-n` with which JMeter opens no window.
const WITHOUT_WINDOW: [&str; 9] =
    ["-g", "-v", "-h", "-?", "-s", "--reportonly", "--version", "--help", "--server"];

/// Writes the shim into the folder, or removes it.
pub(crate) fn install(folder: &Path, jmeter: Option<&Path>, remove: bool) -> Exit {
    let path = folder.join("jmeter");
    said(if remove { take(&path, MARK) } else { put(&path, jmeter) })
}

/// Prints the result of an installation or its error.
pub(crate) fn said(done: Result<String, String>) -> Exit {
    match done {
        Ok(words) => {
            terminal::out(&format!("{words}\n"));
            Exit::Ok
        }
        Err(words) => {
            terminal::error(&words);
            Exit::Usage
        }
    }
}

/// Removes a program whose second line is `mark`.
pub(crate) fn take(path: &Path, mark: &str) -> Result<String, String> {
    if !path.exists() {
        return Ok(format!("There was no {}", path.display()));
    }
    if !is_marked(path, mark) {
        return Err(format!("{} was not installed by Throng and is not removed", path.display()));
    }
    fs::remove_file(path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
    Ok(format!("{} is removed", path.display()))
}

fn put(path: &Path, jmeter: Option<&Path>) -> Result<String, String> {
    let real = jmeter
        .map(|given| {
            program_of(given).ok_or_else(|| format!("there is no JMeter in {}", given.display()))
        })
        .transpose()?;
    let real = real.map(|real| {
        let real = fs::canonicalize(&real).unwrap_or(real);
        format!("{REAL}=${{{REAL}:-{}}}\nexport {REAL}\n", quoted(&real))
    });
    let real = real.unwrap_or_default();
    let text = |program: &Path| format!("{real}exec {} jmeter line \"$@\"\n", quoted(program));
    put_text(path, MARK, &text)?;
    Ok(format!("{} uses Throng now, and JMeter for what Throng refuses", path.display()))
}

/// Writes a script whose second line is `mark`. `text` returns the rest of the script, given this program's path.
pub(crate) fn put_text(
    path: &Path,
    mark: &str,
    text: &dyn Fn(&Path) -> String,
) -> Result<(), String> {
    if path.symlink_metadata().is_ok() && !is_marked(path, mark) {
        return Err(format!(
            "{} exists and was not installed by Throng: name another folder; if it must be in PATH, one that comes before this one",
            path.display()
        ));
    }
    let program = env::current_exe()
        .map_err(|error| format!("the path of this program is not known: {error}"))?;
    let text = format!("#!/bin/sh\n{mark}\n{}", text(&program));
    write(path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Quotes a path as a single shell word.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn is_shim(path: &Path) -> bool {
    is_marked(path, MARK)
}

/// True if the file is a script whose second line is `mark`.
pub(crate) fn is_marked(path: &Path, mark: &str) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(200).read_to_end(&mut head));
    read.is_ok() && head.split(|byte| *byte == b'\n').nth(1) == Some(mark.as_bytes())
}

/// Runs JMeter's arguments in Throng by calling `own`, or in the real JMeter.
pub(crate) fn run(args: &[OsString], own: fn(&[OsString]) -> Exit) -> Exit {
    if opens_a_window(args) {
        return in_jmeter(args, "without -n there is a window to open", Exit::Usage);
    }
    match own(args) {
        refused @ (Exit::Usage | Exit::Plan) => in_jmeter(args, "Throng refuses this", refused),
        exit => exit,
    }
}

pub(crate) fn opens_a_window(args: &[OsString]) -> bool {
    !args.iter().filter_map(|arg| arg.to_str()).any(|arg| {
        let bundled = arg.starts_with('-') && !arg.starts_with("--");
        // Options without an argument may be combined in one word: `-nf`.
        let asks =
            |letter| arg[1..].chars().take_while(|at| "nfeXr".contains(*at)).any(|at| at == letter);
        arg == "--nongui" || WITHOUT_WINDOW.contains(&arg) || (bundled && asks('n'))
    })
}

/// Replaces this process with the real JMeter. Returns `otherwise` if there is none.
fn in_jmeter(args: &[OsString], why: &str, otherwise: Exit) -> Exit {
    if env::var_os(INSIDE).is_some() {
        terminal::error(&format!(
            "{why}, and the JMeter that was called for it called this program: set {REAL} to JMeter's own folder"
        ));
        return otherwise;
    }
    let Some(real) = real() else {
        terminal::err(&format!(
            "{why}, and no JMeter was found for it: set {REAL} or JMETER_HOME to its folder\n"
        ));
        return otherwise;
    };
    terminal::err(&format!("{why}: JMeter runs it instead: {}\n", real.display()));
    terminal::flush();
    let error = Command::new(&real).args(args).env(INSIDE, "1").exec();
    terminal::error(&format!("cannot start {}: {error}", real.display()));
    otherwise
}

/// Returns the path of the real JMeter.
fn real() -> Option<PathBuf> {
    let named = [REAL, "JMETER_HOME"];
    let named = named.iter().filter_map(env::var_os).find_map(|path| program_of(Path::new(&path)));
    named.or_else(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).map(|folder| folder.join("jmeter")).find(|path| is_real(path))
    })
}

/// Returns the program in JMeter's folder, or the path itself if it is a program.
fn program_of(path: &Path) -> Option<PathBuf> {
    let inside = [path.join("bin").join("jmeter"), path.join("jmeter")];
    inside.into_iter().chain([path.to_owned()]).find(|path| is_real(path))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

fn is_real(path: &Path) -> bool {
    is_executable(path) && path.file_name() != Some(OsStr::new("throng")) && !is_shim(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_line_without_n_opens_a_window() {
        for text in ["", "-t plan.jmx", "-Jn=1 -t n.jmx", "-l -t", "-tn.jmx"] {
            assert!(opens_a_window(&line(text)), "{text:?}");
        }
        for text in
            ["-n -t p.jmx", "-nf -t p.jmx", "--nongui -t p", "-g out.jtl -o dir", "-v", "--help"]
        {
            assert!(!opens_a_window(&line(text)), "{text:?}");
        }
    }

    #[test]
    fn paths_are_one_word_of_a_shell() {
        assert_eq!(quoted(Path::new("/a b/c'd")), "'/a b/c'\\''d'");
    }
}
