//! A program called `jmeter` in front of JMeter's own in `PATH`: scripts that call `jmeter -n …` use Throng unchanged.
//!
//! A command line that Throng refuses before it runs anything (exit codes 2 and 3), and one that opens JMeter's window, is
//! given to the real JMeter, and a line on standard error says so. A run that began is never repeated.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Exit;
use crate::terminal;

/// By which a shim is known: its second line.
const MARK: &str = "# A stand-in for jmeter, made by throng jmeter install-shim.";

/// The real JMeter: its folder or its program.
const REAL: &str = "THRONG_JMETER";

/// Set for the real JMeter, so that one which is a script around the shim cannot go round for ever.
const INSIDE: &str = "THRONG_JMETER_SHIM";

/// Options with which JMeter opens no window, apart from `-n`.
const WITHOUT_WINDOW: [&str; 9] =
    ["-g", "-v", "-h", "-?", "-s", "--reportonly", "--version", "--help", "--server"];

/// Writes the program into the folder, or takes it away.
pub(crate) fn install(folder: &Path, jmeter: Option<&Path>, remove: bool) -> Exit {
    let path = folder.join("jmeter");
    said(if remove { take(&path, MARK) } else { put(&path, jmeter) })
}

/// Prints the words about what was done, or not.
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
        return Err(format!("{} is no stand-in of Throng's: it stays", path.display()));
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

/// Writes a script whose second line is `mark` and whose rest is `text` of this program's path.
pub(crate) fn put_text(
    path: &Path,
    mark: &str,
    text: &dyn Fn(&Path) -> String,
) -> Result<(), String> {
    if path.symlink_metadata().is_ok() && !is_marked(path, mark) {
        return Err(format!(
            "{} is there and no stand-in of Throng's: name another folder, and if it is to stand in PATH, one before that",
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

/// A path as one word of a shell.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn is_shim(path: &Path) -> bool {
    is_marked(path, MARK)
}

/// Whether it is a script whose second line is `mark`.
pub(crate) fn is_marked(path: &Path, mark: &str) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(200).read_to_end(&mut head));
    read.is_ok() && head.split(|byte| *byte == b'\n').nth(1) == Some(mark.as_bytes())
}

/// Runs JMeter's arguments: by `own`, Throng's reading of them, or in the real JMeter.
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
        // Options without an argument may stand in one word: -nf.
        let asks =
            |letter| arg[1..].chars().take_while(|at| "nfeXr".contains(*at)).any(|at| at == letter);
        arg == "--nongui" || WITHOUT_WINDOW.contains(&arg) || (bundled && asks('n'))
    })
}

/// Becomes the real JMeter. Comes back with `otherwise` if there is none.
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

/// The program of the real JMeter.
fn real() -> Option<PathBuf> {
    let named = [REAL, "JMETER_HOME"];
    let named = named.iter().filter_map(env::var_os).find_map(|path| program_of(Path::new(&path)));
    named.or_else(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).map(|folder| folder.join("jmeter")).find(|path| is_real(path))
    })
}

/// The program, of JMeter's folder or itself.
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
