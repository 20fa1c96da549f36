//! `throng jvm`: downloads the jars that scripts and plug-ins need, and shows which are installed.

use std::io;
use std::path::Path;

use jvm::{Home, Installed, Progress, Repository, Settings};

use crate::args::flags::JvmVerb;
use crate::exit::Exit;
use crate::inputs::properties::Properties;
use crate::print::terminal;
use crate::print::tty::{self, Stream};

pub(crate) fn run(verb: JvmVerb) -> Exit {
    match verb {
        JvmVerb::Install { repository, plugins } => install(repository.as_deref(), plugins),
        JvmVerb::Status { properties, machine } => {
            let mut sources = properties.sources();
            machine.add_to(&mut sources);
            match Properties::load_or_tell(&sources) {
                Some(properties) => status(&properties),
                None => Exit::Usage,
            }
        }
    }
}

fn fail(words: &str, exit: Exit) -> Exit {
    terminal::error(words);
    exit
}

fn install(repository: Option<&str>, plugins: bool) -> Exit {
    let Some(cache) = jvm::cache_folder() else {
        return fail(
            "there is no folder for the jars: set HOME, XDG_CACHE_HOME or THRONG_CACHE",
            Exit::Usage,
        );
    };
    let repository = Repository::new(repository.filter(|url| !url.is_empty()));
    let jmeter = format!("JMeter {}", jvm::VERSION);
    if let Err(exit) = tell(&format!("{jmeter} is"), jvm::install(&cache, &repository, &show)) {
        return exit;
    }
    if !plugins {
        return Exit::Ok;
    }
    let done = jvm::install_plugins(&cache, &repository, &show);
    tell("The jars of plug-ins are", done).map_or_else(|exit| exit, |()| Exit::Ok)
}

/// Prints the result of an installation. `Err` is the exit code after a failure.
fn tell(what: &str, done: Result<Installed, String>) -> Result<(), Exit> {
    match done {
        Ok(Installed::Already(folder)) => {
            say(&format!("{what} already installed: {}", folder.display()));
            Ok(())
        }
        Ok(Installed::Made(folder)) => {
            say(&format!("{what} installed: {}", folder.display()));
            Ok(())
        }
        Err(words) => {
            let words = format!(
                "{words}\n  Downloaded files are kept; run the same command again to continue. --repository names another repository."
            );
            Err(fail(&words, Exit::Aborted))
        }
    }
}

/// Prints the progress: a line that is overwritten on a terminal, otherwise a line for every quarter.
fn show(progress: Progress) {
    let Progress { files, of_files, bytes, of_bytes } = progress;
    let mib = |bytes: u64| bytes >> 20;
    let line = format!("{files} of {of_files} files, {} of {} MiB", mib(bytes), mib(of_bytes));
    if tty::renews_lines(&io::stderr()) {
        terminal::renew(Stream::Err, &line);
        if files == of_files {
            terminal::err("\n");
        }
    } else if files % of_files.div_ceil(4) == 0 || files == of_files {
        terminal::err(&format!("{line}\n"));
    }
}

fn say(line: &str) {
    terminal::out(&format!("{line}\n"));
}

/// Prints the Java and the jars that a run would use, and what is missing.
fn status(properties: &Properties) -> Exit {
    let settings = match Settings::from_properties(|key| properties.get(key).map(str::to_owned)) {
        Ok(settings) => settings,
        Err(words) => return fail(&words, Exit::Usage),
    };
    let java = jvm::java(&settings);
    match &java {
        Ok(java) => say(&format!(
            "Java:   {} in {} ({})\n        {}",
            java.version,
            java.home.display(),
            java.origin.words("--java-home", "JAVA_HOME"),
            java.library.display()
        )),
        Err(no) => say(&format!("Java:   none: {no}")),
    }
    let home = jvm::home(&settings);
    match &home {
        Ok(home) => say(&format!("JMeter: {}", describe(home, &settings))),
        Err(no) => say(&format!("JMeter: none: {no}")),
    }
    if let Some(cache) = jvm::cache_folder() {
        let folder = jvm::installed(&cache);
        say(&format!("Set of `throng jvm install`: {}", set(&folder)));
        say(&format!("Plug-ins of `throng jvm install --plugins`: {}", plugins(&folder)));
    }
    if java.is_ok() && home.is_ok() { Exit::Ok } else { Exit::Plan }
}

fn describe(home: &Home, settings: &Settings) -> String {
    let version = home.version.as_deref().unwrap_or("of an unknown version");
    let path = jvm::ClassPath::new(None, &home.folder, settings, &[]);
    let mut out = format!(
        "{version} in {} ({})\n        {} jars and folders of classes",
        home.folder.display(),
        home.origin.words(),
        path.entries.len()
    );
    for warning in path.warnings {
        out.push_str("\n        ");
        out.push_str(&warning);
    }
    out
}

fn set(folder: &Path) -> String {
    if !folder.is_dir() {
        return "not installed".to_owned();
    }
    let missing = jvm::missing(folder);
    match &missing[..] {
        [] => format!("complete, {}", folder.display()),
        [first, ..] => format!(
            "{} files are missing or broken, {} first; `throng jvm install` repairs it, {}",
            missing.len(),
            first.place(),
            folder.display()
        ),
    }
}

fn plugins(folder: &Path) -> String {
    let (missing, all) = (jvm::missing_plugins(folder).len(), jvm::plugins().count());
    match missing {
        0 => "complete".to_owned(),
        missing if missing == all => "not installed".to_owned(),
        missing => format!("{missing} of {all} files are missing or broken"),
    }
}
