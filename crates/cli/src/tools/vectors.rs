//! `throng mgs verify`: tries all settings of RPC Gateway Security, and finds those that produce the captured requests.
//!
//! The file has a table `[[request]]` for each request; `docs/mgs.md` lists its keys. Nothing is sent.

use std::path::Path;

use mgs::hex;
use mgs::recipient;
use mgs::search::{Captured, Found, Way, lines, search};
use toml::{Table, Value};

use crate::args::flags::MgsVerb;
use crate::exit::Exit;
use crate::inputs::suggest::nearest;
use crate::print::terminal;

/// Keys that a `[[request]]` table of the file may have.
const KEYS: [&str; 20] = [
    "name",
    "operation",
    "body",
    "body_hex",
    "body_file",
    "ts",
    "sign",
    "secret",
    "secrets",
    "sent_hex",
    "sent_base64",
    "sent_file",
    "session_key",
    "agreed_secret",
    "ephemeral_key",
    "public_key",
    "public_key_file",
    "private_key",
    "private_key_file",
    "iv",
];

/// Searches the settings for all requests of a file. Exits with 0 if the same settings produce all requests, and
/// with 4 if no settings do.
pub(crate) fn run(verb: MgsVerb) -> Exit {
    let MgsVerb::Verify { vectors } = verb;
    let requests = match read(&vectors) {
        Ok(requests) => requests,
        Err(words) => {
            terminal::error(&format!("{}: {words}", vectors.display()));
            return Exit::Usage;
        }
    };
    let mut common: Option<[Option<Vec<Way>>; 2]> = None;
    let mut all = true;
    for (name, captured) in &requests {
        let found = search(captured);
        terminal::out(&text(name, &found));
        let signed = captured.sign.as_ref().map(|_| found.sign.clone());
        let encrypted = captured.sent.as_ref().map(|_| found.encryption.clone());
        all &= signed.as_ref().is_none_or(|ways| !ways.is_empty());
        all &= encrypted.as_ref().is_none_or(|ways| !ways.is_empty());
        let [sign, encryption] = common.take().unwrap_or_default();
        common = Some([both(sign, signed), both(encryption, encrypted)]);
    }
    let [sign, encryption] = common.unwrap_or_default();
    let ways = [sign, encryption].into_iter().flatten();
    let agree = ways.clone().all(|ways| !ways.is_empty());
    if requests.len() > 1 && agree {
        terminal::out("settings that make all requests:\n");
        for way in ways.filter_map(|ways| ways.into_iter().next()) {
            terminal::out(&indented(&lines(&way)));
        }
    } else if requests.len() > 1 && all {
        terminal::out("no settings make all requests\n");
    }
    if all && agree { Exit::Ok } else { Exit::Criteria }
}

/// Returns the settings that two requests have in common. `None` means that a request gives no information about
/// them.
fn both(known: Option<Vec<Way>>, more: Option<Vec<Way>>) -> Option<Vec<Way>> {
    match (known, more) {
        (Some(known), Some(more)) => {
            Some(known.into_iter().filter(|way| more.contains(way)).collect())
        }
        (known, more) => known.or(more),
    }
}

fn text(name: &str, found: &Found) -> String {
    let mut out = format!("{name}: {} combinations tried\n", found.tried);
    for way in found.sign.iter().chain(&found.encryption) {
        out.push_str(&indented(&lines(way)));
        out.push('\n');
    }
    for note in &found.notes {
        out.push_str(&format!("  {note}\n"));
    }
    out
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat()
}

fn read(path: &Path) -> Result<Vec<(String, Captured)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    if let Some(key) = table.keys().find(|key| *key != "request") {
        return Err(format!("{key} is not known: the file may contain only tables [[request]]"));
    }
    let requests = table.get("request").and_then(Value::as_array);
    let requests = requests.filter(|all| !all.is_empty()).ok_or("there is no table [[request]]")?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut read = Vec::new();
    for (n, request) in requests.iter().enumerate() {
        let table = request.as_table().ok_or("request is not a table: write [[request]]")?;
        let name = table.get("name").and_then(Value::as_str).unwrap_or("");
        let name = if name.is_empty() { format!("request {}", n + 1) } else { name.to_owned() };
        let captured = captured(table, folder).map_err(|words| format!("{name}: {words}"))?;
        read.push((name, captured));
    }
    Ok(read)
}

fn captured(table: &Table, folder: &Path) -> Result<Captured, String> {
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant =
            nearest(key, KEYS.into_iter()).map(|known| format!("; {known}?")).unwrap_or_default();
        return Err(format!("{key} is not known{meant}"));
    }
    let at = Fields { table, folder };
    let text = |key: &str| at.text(key).map(Option::unwrap_or_default);
    let mut secrets: Vec<Vec<u8>> =
        at.text("secret")?.into_iter().map(String::into_bytes).collect();
    if let Some(more) = table.get("secrets") {
        let words = "secrets is not a list of strings";
        for secret in more.as_array().ok_or(words)? {
            secrets.push(secret.as_str().ok_or(words)?.as_bytes().to_vec());
        }
    }
    for key in ["operation", "ts"] {
        if table.contains_key("sign") && !table.contains_key(key) {
            return Err(format!("there is no {key}: it is part of the signed data"));
        }
    }
    let body = at.bytes("body", "body_hex", "body_file")?;
    let sent = match at.text("sent_base64")? {
        Some(text) => Some(from_base64(&text)?),
        None => at.bytes("", "sent_hex", "sent_file")?,
    };
    let key = |key: &str, file: &str| -> Result<Option<String>, String> {
        if let Some(text) = at.text(key)? {
            return Ok(Some(text));
        }
        Ok(at.file(file)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let iv =
        at.bytes("", "iv", "")?.map(|iv| iv.try_into().map_err(|_| "iv does not have 16 bytes"));
    let public = key("public_key", "public_key_file")?;
    let private = key("private_key", "private_key_file")?;
    Ok(Captured {
        operation: text("operation")?,
        body: body.ok_or("there is no plain body: set body, body_hex or body_file")?,
        stamp: text("ts")?,
        sign: at.text("sign")?,
        secrets,
        sent,
        session_key: at.bytes("", "session_key", "")?,
        agreed_secret: at.bytes("", "agreed_secret", "")?,
        ephemeral_key: at.bytes("", "ephemeral_key", "")?,
        public_point: public.map(|text| recipient::point_of(&text)).transpose()?,
        private_key: private.map(|text| recipient::private_key(&text)).transpose()?,
        iv: iv.transpose()?,
    })
}

/// Fields of a `[[request]]` table of the file.
struct Fields<'a> {
    table: &'a Table,
    folder: &'a Path,
}

impl Fields<'_> {
    fn text(&self, key: &str) -> Result<Option<String>, String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let wrong = || format!("{key} is not a string");
        self.table.get(key).map(|value| text(value).ok_or_else(wrong)).transpose()
    }

    /// Returns bytes that are given as a string, as hexadecimal digits, or in a file.
    fn bytes(&self, text: &str, digits: &str, file: &str) -> Result<Option<Vec<u8>>, String> {
        if let Some(text) = self.text(text)? {
            return Ok(Some(text.into_bytes()));
        }
        if let Some(text) = self.text(digits)? {
            let wrong = || format!("{digits} is not an even number of hexadecimal digits");
            return hex::parse(&text).map(Some).ok_or_else(wrong);
        }
        self.file(file)
    }

    fn file(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let read = |name: String| {
            let path = self.folder.join(name);
            std::fs::read(&path).map_err(|error| format!("{key}: {}: {error}", path.display()))
        };
        self.text(key)?.map(read).transpose()
    }
}

fn from_base64(text: &str) -> Result<Vec<u8>, String> {
    hex::from_base64(text).ok_or_else(|| "sent_base64 is not base64".to_owned())
}
