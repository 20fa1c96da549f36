//! `__FileToString` and `__StringToFile`: read and write whole files.
//!
//! A file is read again only if its modification time or length has changed since the core read it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use lang::charset::Charset;

use super::{Call, Level, is_true, trim};
use crate::env::Env;
use crate::root::Root;
use crate::template::{Outcome, Thrown};

/// Runs `__FileToString(file, character set, variable)`.
pub(super) fn read(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (file, name) = (call.arg(0, env)?, call.arg(1, env)?);
    // JMeter checks the character set only if the file exists.
    let charset = match trim(&name) {
        "" => Some(Charset::Utf8),
        name => Charset::named(name),
    };
    match (Path::new(&file).metadata(), charset) {
        (Ok(_), None) => {
            return Err(Thrown::new("java.nio.charset.UnsupportedCharsetException", trim(&name)));
        }
        (Ok(state), Some(charset)) => match env.core.cache.file(&file, &state, charset) {
            Ok(text) => out.push_str(&text),
            Err(error) => unreadable(env, &file, &error, out),
        },
        (Err(error), _) => unreadable(env, &file, &error, out),
    }
    env.core.give(name);
    env.core.give(file);
    call.store(2, env, &out[start..])
}

fn unreadable(env: &Env<'_>, file: &str, error: &std::io::Error, out: &mut String) {
    env.shared.log(Level::Warn, format!("Could not read file: {file} {error}"));
    out.push_str("**ERR**");
}

/// Runs `__StringToFile(file, text, append = true, character set = UTF-8)` and returns true if the file was
/// written. The two characters `\n` become a line break.
pub(super) fn write(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (file, text) = (call.arg(0, env)?, call.arg(1, env)?);
    let (append, charset) = (call.arg(2, env)?, call.arg(3, env)?);
    let append_to = trim(&append).is_empty() || is_true(trim(&append));
    let written = if leaves_folder(call, trim(&file), env) {
        let words = format!(
            "__StringToFile: {} is not written: its name contains extracted or received text and leads out of the \
            folder that the plan names; allow it with throng.save.anywhere=true",
            trim(&file)
        );
        env.shared.unusual(&words);
        Err(words)
    } else {
        encoded(&text, &charset).and_then(|bytes| put(trim(&file), &bytes, append_to, env))
    };
    if let Err(words) = &written {
        env.shared.log(Level::Error, format!("__StringToFile: {words}"));
    }
    out.push_str(if written.is_ok() { "true" } else { "false" });
    for buffer in [charset, append, text, file] {
        env.core.give(buffer);
    }
    Ok(())
}

/// Returns true if a file name with expressions leads outside of the folder that its constant beginning names, and the
/// user has not allowed this (`throng.save.anywhere`).
fn leaves_folder(call: &Call, file: &str, env: &mut Env<'_>) -> bool {
    let name = &call.args()[0];
    if name.fixed().is_some() && !call.late {
        return false;
    }
    let start = if call.late { String::new() } else { name.initial_start(env) };
    !Root::of(Path::new(trim(&start))).holds(Path::new(file))
        && !env
            .shared
            .start_property("throng.save.anywhere")
            .is_some_and(|text| is_true(trim(text)))
}

fn encoded(text: &str, charset: &str) -> Result<Vec<u8>, String> {
    let charset = match charset {
        "" => Charset::Utf8,
        name => Charset::named(name)
            .ok_or_else(|| format!("The encoding of file is not supported: {name}"))?,
    };
    let mut bytes = Vec::new();
    charset.encode(&text.replace("\\n", "\n"), &mut bytes);
    Ok(bytes)
}

fn put(file: &str, bytes: &[u8], append: bool, env: &Env<'_>) -> Result<(), String> {
    if file.is_empty() {
        return Err("File name is empty".into());
    }
    if Path::new(file)
        .parent()
        .is_some_and(|parent| !parent.as_os_str().is_empty() && !parent.is_dir())
    {
        return Err(format!("The parent file of {file} doesn't exist or is not writable"));
    }
    let _alone = env.shared.writing();
    let opened = if append {
        OpenOptions::new().append(true).create(true).open(file)
    } else {
        File::create(file)
    };
    opened
        .and_then(|mut opened| opened.write_all(bytes))
        .map_err(|error| format!("{file}: {error}"))
}
