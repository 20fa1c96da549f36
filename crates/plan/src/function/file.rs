//! `__FileToString` and `__StringToFile`: whole files.
//!
//! A file that did not change since the core read it is not read again; what changed is told by its time and length.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::{Call, Level, is_true, trim};
use crate::env::Env;
use crate::http::charset::Charset;
use crate::text::{Outcome, Thrown};

/// `__FileToString(file, character set, variable)`.
pub(super) fn read(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (file, name) = (call.arg(0, env)?, call.arg(1, env)?);
    let charset = match trim(&name) {
        "" => Charset::Utf8,
        name => Charset::named(name)
            .ok_or_else(|| Thrown::new("java.nio.charset.UnsupportedCharsetException", name))?,
    };
    match env.core.cache.file(&file, charset) {
        Ok(text) => out.push_str(&text),
        Err(error) => {
            env.shared.log(Level::Warn, format!("Could not read file: {file} {error}"));
            out.push_str("**ERR**");
        }
    }
    env.core.give(name);
    env.core.give(file);
    call.store(2, env, &out[start..])
}

/// `__StringToFile(file, text, append = true, character set = UTF-8)`: whether it was written. Two characters `\n`
/// become a line end.
pub(super) fn write(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let (file, text) = (call.arg(0, env)?, call.arg(1, env)?);
    let (append, charset) = (call.arg(2, env)?, call.arg(3, env)?);
    let append_to = trim(&append).is_empty() || is_true(trim(&append));
    let written = encoded(&text, &charset).and_then(|bytes| put(trim(&file), &bytes, append_to, env));
    if let Err(words) = &written {
        env.shared.log(Level::Error, format!("__StringToFile: {words}"));
    }
    out.push_str(if written.is_ok() { "true" } else { "false" });
    for buffer in [charset, append, text, file] {
        env.core.give(buffer);
    }
    Ok(())
}

fn encoded(text: &str, charset: &str) -> Result<Vec<u8>, String> {
    let charset = match charset {
        "" => Charset::Utf8,
        name => Charset::named(name).ok_or_else(|| format!("The encoding of file is not supported: {name}"))?,
    };
    let mut bytes = Vec::new();
    charset.encode(&text.replace("\\n", "\n"), &mut bytes);
    Ok(bytes)
}

fn put(file: &str, bytes: &[u8], append: bool, env: &Env<'_>) -> Result<(), String> {
    if file.is_empty() {
        return Err("File name is empty".into());
    }
    if Path::new(file).parent().is_some_and(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        return Err(format!("The parent file of {file} doesn't exist or is not writable"));
    }
    let _alone = env.shared.writing();
    let opened = if append { OpenOptions::new().append(true).create(true).open(file) } else { File::create(file) };
    opened.and_then(|mut opened| opened.write_all(bytes)).map_err(|error| format!("{file}: {error}"))
}

/// The text in the bytes of a file; what is not in the character set becomes U+FFFD.
pub(super) fn decoded(bytes: &[u8], charset: Charset) -> String {
    let wide = |pairs: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = pairs.chunks(2).map(|pair| pair.try_into().map_or(0xfffd, unit));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match charset {
        Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Charset::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        Charset::Ascii => bytes
            .iter()
            .map(|byte| if byte.is_ascii() { char::from(*byte) } else { char::REPLACEMENT_CHARACTER })
            .collect(),
        Charset::Utf16 => match bytes {
            [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
            [0xfe, 0xff, rest @ ..] | rest => wide(rest, u16::from_be_bytes),
        },
        Charset::Utf16Be => wide(bytes, u16::from_be_bytes),
        Charset::Utf16Le => wide(bytes, u16::from_le_bytes),
        Charset::Other(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
