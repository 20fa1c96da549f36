//! Sends an agent's result rows to a destination instead of to the coordinator: compressed with gzip, with times on the
//! coordinator's clock and with a heading, so that each file is a complete result file.
//!
//! The destination is a URL that accepts HTTP PUT, as object stores do, or a folder that the agent can access. A
//! machine's list of permitted targets also applies here.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::rows::{self, Part};

/// Time limit for connecting to the destination.
const CONNECT: Duration = Duration::from_secs(15);
/// Time limit for the transfer of a file.
const TRANSFER: Duration = Duration::from_secs(30 * 60);
/// Maximum time for which the destination neither accepts data nor responds.
const STALLED: Duration = Duration::from_secs(10);
/// Text at the end of an XML result file.
const TAIL: &str = "</testResults>\n";

/// Progress of a transfer: number of bytes read from the file so far, and true if the transfer was given up.
#[derive(Debug, Default)]
struct Progress {
    bytes: AtomicU64,
    given_up: AtomicBool,
}

/// The body of an HTTP request that sends a file.
struct Body {
    file: File,
    progress: Arc<Progress>,
}

impl io::Read for Body {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.progress.given_up.load(Relaxed) {
            return Err(io::Error::other("the transfer was aborted"));
        }
        let bytes = self.file.read(into)?;
        self.progress.bytes.fetch_add(bytes as u64, Relaxed);
        Ok(bytes)
    }
}

/// The destination for the result rows of a run's agents. Placeholders in braces stand for the run, the agent and the
/// result file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsTo {
    to: String,
    /// Access token, if the destination is a URL that requires one.
    token: Option<String>,
}

impl RowsTo {
    /// Parses a URL or the path of a folder. The error is a message for the user.
    pub fn read(to: &str, token: Option<String>) -> Result<Self, String> {
        let is_address = to.starts_with("http://") || to.starts_with("https://");
        if !is_address && !to.starts_with('/') {
            return Err(format!(
                "invalid destination for rows {to:?}: expected a URL like https://store.example/results/{{run}}/{{agent}}-{{file}}.gz, \
                 or a folder on each machine like /mnt/results"
            ));
        }
        if is_address && !to.contains("{agent}") {
            return Err(format!(
                "{to:?}: add {{agent}} to the URL, or agents would overwrite each other's rows"
            ));
        }
        let to = if is_address || to.contains("{agent}") {
            to.to_owned()
        } else {
            format!("{}/{{run}}-{{agent}}-{{file}}.gz", to.trim_end_matches('/'))
        };
        Ok(Self { to, token })
    }

    /// Returns the order for an agent to send one of its result files. `run`, `agent` and `file` replace the
    /// placeholders.
    pub(super) fn order(&self, (run, agent, file): (&str, &str, &str), rest: Rest) -> Push {
        let is_address = !self.to.starts_with('/');
        let filled = |text: &str| if is_address { escaped(text) } else { flat(text) };
        let to = self.to.replace("{run}", &filled(run)).replace("{agent}", &filled(agent));
        let Rest { number, head, are_rows, offset_ms } = rest;
        let (to, token) = (to.replace("{file}", &filled(file)), self.token.clone());
        Push { number, to, token, head, are_rows, offset_ms }
    }
}

/// The parts of a push order that do not depend on the destination.
pub(super) struct Rest {
    pub(super) number: u32,
    pub(super) head: Vec<u8>,
    pub(super) are_rows: bool,
    pub(super) offset_ms: i64,
}

/// An order for an agent to send a result file to its destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Push {
    /// Number of the result file among all result files of the run.
    pub(super) number: u32,
    pub(super) to: String,
    token: Option<String>,
    /// Text before the rows, which the agent writes at the start of the file.
    #[serde(with = "crate::bytes")]
    head: Vec<u8>,
    /// True if the file contains CSV rows, false if it contains XML elements.
    are_rows: bool,
    /// The coordinator's clock minus the agent's, in ms.
    offset_ms: i64,
}

/// Escapes a run's, agent's or file's name for use in a URL.
fn escaped(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let one = |byte: u8| {
        if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(one).collect()
}

/// Replaces characters of a run's, agent's or file's name that file names cannot contain.
fn flat(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '/' | '\0') { '_' } else { c }).collect()
}

impl Push {
    /// Compresses the existing file among `files`, and sends it. `scratch` is the path of a temporary file, which is
    /// removed. Returns the compressed length in bytes.
    pub(super) fn carry_out(
        &self,
        files: &[PathBuf],
        allowed: &str,
        scratch: &Path,
    ) -> Result<u64, String> {
        let is_address = !self.to.starts_with('/');
        if is_address && !allowed.is_empty() && !permitted(&self.to, allowed)? {
            return Err("the agent's machine does not permit this target".into());
        }
        let sent = self.pack(files, scratch).and_then(|length| {
            let done =
                if is_address { self.put(scratch) } else { keep(scratch, Path::new(&self.to)) };
            done.map(|()| length)
        });
        let _ = fs::remove_file(scratch);
        sent
    }

    /// Writes the compressed result file to `into`. Returns the compressed length in bytes.
    fn pack(&self, files: &[PathBuf], into: &Path) -> Result<u64, String> {
        let odd = |error: io::Error| format!("cannot compress the rows: {error}");
        let parts = files.iter().filter(|path| path.exists());
        let parts: Vec<Part> =
            parts.map(|path| Part { path: path.clone(), offset_ms: self.offset_ms }).collect();
        let pack = || {
            let file = BufWriter::with_capacity(256 << 10, File::create(into)?);
            let mut out = GzEncoder::new(file, Compression::fast());
            out.write_all(&self.head)?;
            rows::merge_into(&parts, &mut out, self.are_rows)?;
            if !self.are_rows {
                out.write_all(TAIL.as_bytes())?;
            }
            let mut file = out.finish()?;
            file.flush()?;
            file.stream_position()
        };
        pack().map_err(odd)
    }

    /// Sends the compressed file by HTTP PUT. Gives up if the peer neither accepts data nor responds for [`STALLED`].
    fn put(&self, from: &Path) -> Result<(), String> {
        let file = File::open(from).map_err(|error| error.to_string())?;
        let progress = Arc::new(Progress::default());
        let body = Body { file, progress: Arc::clone(&progress) };
        let (order, (answer, answered)) = (self.clone(), channel());
        // A blocked write cannot be cancelled; its thread ends at the time limit of the transfer.
        let sends = std::thread::Builder::new().name("rows".into()).spawn(move || {
            let _ = answer.send(order.send(body));
        });
        sends.map_err(|error| format!("cannot start a thread: {error}"))?;
        loop {
            let before = progress.bytes.load(Relaxed);
            match answered.recv_timeout(STALLED) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the transfer was aborted".into());
                }
                Err(RecvTimeoutError::Timeout) if progress.bytes.load(Relaxed) > before => {}
                Err(RecvTimeoutError::Timeout) => {
                    progress.given_up.store(true, Relaxed);
                    let (secs, sent) = (STALLED.as_secs(), stats::grouped::bytes(before));
                    return Err(format!("no progress for {secs} s after {sent}"));
                }
            }
        }
    }

    fn send(&self, body: Body) -> Result<(), String> {
        let length = body.file.metadata().map_err(|error| error.to_string())?.len();
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(TRANSFER))
            .max_redirects(0)
            .user_agent(concat!("throng/", env!("CARGO_PKG_VERSION")));
        let agent: ureq::Agent = if self.to.starts_with("https:") {
            config.tls_config(trust::by_roots_of_system()).build().into()
        } else {
            config.build().into()
        };
        let mut request = agent.put(&self.to).header("Content-Type", "application/gzip");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        request = request.header("Content-Length", length.to_string());
        let answer =
            request.send(ureq::SendBody::from_owned_reader(body)).map_err(|error| match error {
                ureq::Error::StatusCode(status) => format!("HTTP status {status}"),
                error => error.to_string(),
            })?;
        if answer.status().is_success() {
            return Ok(());
        }
        Err(format!("HTTP status {}", answer.status().as_u16()))
    }
}

/// True if the machine's list of permitted targets contains the host of a URL.
fn permitted(to: &str, allowed: &str) -> Result<bool, String> {
    let uri: ureq::http::Uri = to.parse().map_err(|_| format!("invalid URL {to:?}"))?;
    let host = uri.host().unwrap_or_default();
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    engine::permits(allowed, host, uri.port_u16().unwrap_or(default))
}

/// Copies the compressed file to a destination folder. Afterwards the file is complete there or absent.
fn keep(from: &Path, to: &Path) -> Result<(), String> {
    let odd = |error: io::Error| format!("{}: {error}", to.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(odd)?;
    }
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let copied = File::open(from).and_then(|file| {
        let mut out = File::create(&part)?;
        io::copy(&mut BufReader::new(file), &mut out)?;
        out.sync_all()
    });
    copied.and_then(|()| fs::rename(&part, to)).map_err(|error| {
        let _ = fs::remove_file(&part);
        odd(error)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn rest(head: &str, are_rows: bool, offset_ms: i64) -> Rest {
        Rest { number: 0, head: head.into(), are_rows, offset_ms }
    }

    #[test]
    fn places_are_addresses_or_folders() {
        let read = |to: &str| RowsTo::read(to, None);
        for bad in ["", "results", "ftp://a/{agent}", "https://store.example/all.gz"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let order = |to: &str| {
            let place = read(to).expect("a place");
            place.order(("run 1", "me@a:22", "out/a.jtl"), rest("", true, 0)).to
        };
        assert_eq!(
            order("https://store.example/{run}/{agent}-{file}.gz?x=1"),
            "https://store.example/run%201/me%40a%3A22-out%2Fa.jtl.gz?x=1"
        );
        assert_eq!(order("/mnt/results/"), "/mnt/results/run 1-me@a:22-out_a.jtl.gz");
        assert_eq!(order("/mnt/{agent}/rows.gz"), "/mnt/me@a:22/rows.gz");
    }

    /// Decompresses a file that was sent to a folder, and returns its content.
    fn kept(files: &[&str], rest: Rest) -> String {
        let folder = std::env::temp_dir().join(format!(
            "throng-push-{}-{}",
            std::process::id(),
            rest.are_rows
        ));
        fs::create_dir_all(&folder).expect("a folder");
        let path = |(at, text): (usize, &&str)| {
            let path = folder.join(format!("rows-{at}"));
            fs::write(&path, text).expect("a file");
            path
        };
        let mut files: Vec<PathBuf> = files.iter().enumerate().map(path).collect();
        files.push(folder.join("was never written"));
        let place = RowsTo::read(&format!("{}/sub", folder.display()), None).expect("a place");
        let push = place.order(("r", "a1", "out.jtl"), rest);
        let length = push.carry_out(&files, "10.0.0.0/8", &folder.join("scratch"));
        let there = fs::read(folder.join("sub/r-a1-out.jtl.gz")).expect("it is there");
        assert_eq!(length, Ok(there.len() as u64));
        assert!(!folder.join("scratch").exists());
        let mut text = String::new();
        flate2::read::GzDecoder::new(&there[..]).read_to_string(&mut text).expect("gzip");
        let _ = fs::remove_dir_all(folder);
        text
    }

    #[test]
    fn a_file_stands_for_itself() {
        let rows = "1700000000101,a\n1700000000105,\"two\nlines\"\n";
        assert_eq!(
            kept(&[rows], rest("timeStamp,label\n", true, -100)),
            "timeStamp,label\n1700000000001,a\n1700000000005,\"two\nlines\"\n"
        );
        assert_eq!(
            kept(&["<a/>\n"], rest("<testResults>\n", false, 7)),
            "<testResults>\n<a/>\n</testResults>\n"
        );
    }

    #[test]
    fn a_machine_that_limits_its_targets_limits_this() {
        let place = RowsTo::read("http://store.example:81/{agent}", None).expect("a place");
        let push = place.order(("r", "a1", "f"), rest("", true, 0));
        let scratch = std::env::temp_dir().join(format!("throng-push-{}", std::process::id()));
        for allowed in ["a.example", "store.example:80", "10.0.0.0/8"] {
            let refused = push.carry_out(&[], allowed, &scratch).expect_err(allowed);
            assert!(refused.contains("does not permit"), "{refused}");
        }
        for allowed in ["store.example", "*.example:81"] {
            assert_eq!(permitted(&push.to, allowed), Ok(true), "{allowed}");
        }
    }
}
