//! `throng ctl`: changes a running test, through a socket in the folder of its run.
//!
//! Only the folder's owner can access the folder and the socket, and the kernel reports the user of each client. A
//! request is one line. The first character of the answer tells whether the request was carried out. The path of a
//! socket is limited to 107 bytes, so the socket is opened through its open folder; this path also stays valid if
//! the folder is replaced. Clients that send nothing, send invalid data or never read occupy one of at most 64
//! threads until their time limit has passed.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::args::flags::CtlFlags;
use crate::exit::Exit;
use crate::print::terminal;

/// Name of the socket in the run's folder.
const SOCKET: &str = "ctl.sock";
/// Longest request to a running test in bytes.
const LONGEST: usize = 4096;
/// Longest wait for the answer of a running test to a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for a client to send its request, and to receive the answer.
const CLIENTS_TIME: Duration = Duration::from_secs(3);
/// Largest number of simultaneous clients of the control socket.
const MOST_CLIENTS: usize = 64;
/// Largest number of requests that a test carries out in a row before it continues with its own work.
const MOST_AT_ONCE: usize = 16;

/// A request to a running test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Users(Amount),
    Rate(Amount),
    Pause,
    Resume,
    Stop { now: bool },
    Mark(String),
    Status,
}

/// A new number of users or a new rate, or a change of the current value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// The new number or rate.
    To(f64),
    /// The difference to the current number or rate.
    By(f64),
}

impl Amount {
    /// Returns the new number of users or the new rate, from the current value `now`. A decrease ends at 0.
    pub(crate) fn of(self, now: f64) -> f64 {
        match self {
            Self::To(number) => number,
            Self::By(more) => (now + more).max(0.0),
        }
    }
}

const COMMANDS: [&str; 7] = ["users", "rps", "pause", "resume", "stop", "mark", "status"];

impl Command {
    /// Parses a control request. The error is a message for the user.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let (name, rest) = words.split_first().map_or(("", &[][..]), |(name, rest)| (name, rest));
        let one = || match rest {
            [value] => Ok(value.as_str()),
            _ => Err(format!("write {name} and one number, like {name} 100 or {name} +10")),
        };
        match (name, rest) {
            ("users", _) => amount(one()?, true).map(Self::Users),
            ("rps", _) => amount(one()?, false).map(Self::Rate),
            ("pause", []) => Ok(Self::Pause),
            ("resume", []) => Ok(Self::Resume),
            ("stop", []) => Ok(Self::Stop { now: false }),
            ("stop", [now]) if now == "--now" || now == "now" => Ok(Self::Stop { now: true }),
            ("status", []) => Ok(Self::Status),
            ("mark", []) => Err("write mark and a word or more, like mark 'cache cleared'".into()),
            ("mark", words) => Ok(Self::Mark(words.join(" "))),
            (name, _) if COMMANDS.contains(&name) => Err(format!("{name} takes no value")),
            _ => Err(format!(
                "there is no request {name:?}; the requests are {}",
                COMMANDS.join(", ")
            )),
        }
    }

    /// Formats the request as a line for the control socket.
    fn line(&self) -> String {
        let amount = |amount: &Amount| match amount {
            Amount::To(number) => number.to_string(),
            Amount::By(more) => format!("{more:+}"),
        };
        match self {
            Self::Users(users) => format!("users {}", amount(users)),
            Self::Rate(rate) => format!("rps {}", amount(rate)),
            Self::Pause => "pause".into(),
            Self::Resume => "resume".into(),
            Self::Stop { now: false } => "stop".into(),
            Self::Stop { now: true } => "stop --now".into(),
            Self::Mark(text) => format!("mark {}", text.replace(['\n', '\r'], " ")),
            Self::Status => "status".into(),
        }
    }
}

fn amount(text: &str, whole: bool) -> Result<Amount, String> {
    let wrong = || format!("{text:?} is not a valid number; write for example 100, +10 or -10");
    let number: f64 = text.parse().map_err(|_| wrong())?;
    let fits = number.is_finite() && number.abs() <= 50_000_000.0;
    if !fits || whole && number.fract() != 0.0 {
        return Err(wrong());
    }
    Ok(if text.starts_with(['+', '-']) { Amount::By(number) } else { Amount::To(number) })
}

/// Channel on which a running test answers a control request.
pub(crate) type Reply = Sender<Result<String, String>>;

/// Queue of requests to a running test, from all kinds of clients.
#[derive(Debug)]
pub(crate) struct Requests {
    ask: Asker,
    asked: Receiver<(Command, Reply)>,
}

/// Channel on which requests are sent to a running test.
pub(crate) type Asker = Sender<(Command, Reply)>;

impl Requests {
    pub(crate) fn new() -> Self {
        let (ask, asked) = channel();
        Self { ask, asked }
    }

    pub(crate) fn sender(&self) -> Asker {
        self.ask.clone()
    }

    /// Returns the requests that were received since the last call, up to a limit.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (Command, Reply)> + '_ {
        self.asked.try_iter().take(MOST_AT_ONCE)
    }
}

/// Sends a request to a running test, and waits for its answer.
pub(crate) fn asked(command: Command, ask: &Asker) -> Result<String, String> {
    let (reply, answer) = channel();
    let over = || "the test is over".to_string();
    ask.send((command, reply)).map_err(|_| over())?;
    answer.recv_timeout(PATIENCE).map_err(|_| over())?
}

/// The control socket of a running test.
#[derive(Debug)]
pub(crate) struct Server {
    /// The run's folder as an open file.
    folder: File,
}

impl Server {
    /// Opens the socket in the run's folder and accepts clients.
    pub(crate) fn listen(folder: &Path, ask: Asker) -> io::Result<Self> {
        let open = File::open(folder)?;
        let listener = UnixListener::bind(through(&open))?;
        fs::set_permissions(through(&open), Permissions::from_mode(0o600))?;
        let clients = Arc::new(AtomicUsize::new(0));
        std::thread::Builder::new().name("ctl".into()).spawn(move || {
            for stream in listener.incoming().flatten() {
                if clients.load(Ordering::Relaxed) >= MOST_CLIENTS {
                    continue;
                }
                clients.fetch_add(1, Ordering::Relaxed);
                let (ask, client) = (ask.clone(), Arc::clone(&clients));
                let served = std::thread::Builder::new().name("ctl".into()).spawn(move || {
                    let _ = serve(&stream, &ask);
                    client.fetch_sub(1, Ordering::Relaxed);
                });
                if served.is_err() {
                    clients.fetch_sub(1, Ordering::Relaxed);
                }
            }
        })?;
        Ok(Self { folder: open })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(through(&self.folder));
    }
}

/// Returns the path of the socket through its open folder.
fn through(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()))
}

/// Receives one control request from a client and answers it.
fn serve(mut stream: &UnixStream, ask: &Asker) -> io::Result<()> {
    stream.set_write_timeout(Some(CLIENTS_TIME))?;
    let peer = rustix::net::sockopt::socket_peercred(stream)?.uid;
    let answer = if peer == rustix::process::geteuid() || peer.is_root() {
        let line = request(stream)?;
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        Command::parse(&words).and_then(|command| asked(command, ask))
    } else {
        Err("the test is another user's".to_string())
    };
    let text = answer.map_or_else(|error| format!("-{error}"), |text| format!("+{text}"));
    stream.write_all(text.as_bytes())
}

/// Reads the request line of a client within the client's time limit.
fn request(mut stream: &UnixStream) -> io::Result<String> {
    let end = Instant::now() + CLIENTS_TIME;
    let (mut line, mut part) = (Vec::new(), [0; 1024]);
    while !line.contains(&b'\n') && line.len() < LONGEST {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            read => line.extend_from_slice(&part[..read]),
        }
    }
    let line = String::from_utf8_lossy(&line);
    Ok(line
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_whitespace() || !c.is_control())
        .collect())
}

/// Runs `throng ctl`.
pub(crate) fn run(flags: &CtlFlags) -> Exit {
    match ask(flags) {
        Ok(text) => {
            terminal::out(&format!("{text}\n"));
            Exit::Ok
        }
        Err(message) => {
            terminal::error(&message);
            Exit::Usage
        }
    }
}

fn ask(flags: &CtlFlags) -> Result<String, String> {
    let words = &flags.words;
    let named = words.first().filter(|first| !COMMANDS.contains(&first.as_str()));
    let is_folder = |name: &String| Path::new(name).is_dir() || flags.runs.join(name).is_dir();
    let (folder, words) = match named {
        Some(name) if is_folder(name) => (Some(name), &words[1..]),
        Some(name) if words.len() > 1 => {
            return Err(format!("{name} is neither a request nor the folder of a run"));
        }
        _ => (None, &words[..]),
    };
    let command = Command::parse(words)?;
    let mut stream = match folder {
        Some(name) => {
            let path = Some(PathBuf::from(name)).filter(|path| path.is_dir());
            let path = path.unwrap_or_else(|| flags.runs.join(name));
            connect(&path).map_err(|_| format!("no test runs in {}", path.display()))?
        }
        None => only(&flags.runs)?,
    };
    let failed = |error: io::Error| format!("the test does not answer: {error}");
    stream.set_read_timeout(Some(2 * PATIENCE)).map_err(failed)?;
    writeln!(stream, "{}", command.line()).map_err(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(failed)?;
    match answer.split_at_checked(1) {
        Some(("+", text)) => Ok(text.to_string()),
        Some(("-", text)) => Err(text.to_string()),
        _ => Err("the test has ended".into()),
    }
}

fn connect(folder: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(through(&File::open(folder)?))
}

/// Returns true if a test is running in this folder, so that its socket accepts connections.
pub(crate) fn is_running(folder: &Path) -> bool {
    connect(folder).is_ok()
}

/// Connects to the only running test in the folders of `runs`. Returns an error if there is not exactly one.
fn only(runs: &Path) -> Result<UnixStream, String> {
    let folders = fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> =
        folders.filter_map(|folder| Some((connect(&folder).ok()?, folder))).collect();
    let shown = runs.display();
    match found.len() {
        1 => Ok(found.remove(0).0),
        0 => {
            Err(format!("no test runs in {shown}: name its folder, throng ctl FOLDER …, or --runs"))
        }
        _ => {
            let names = found.iter().map(|(_, folder)| folder.display().to_string());
            let names = names.collect::<Vec<_>>().join("\n  ");
            Err(format!("several tests run: name one, throng ctl FOLDER …\n  {names}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        Command::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn requests_are_read_as_they_are_sent() {
        for line in [
            "users 100",
            "users +10",
            "users -5",
            "rps 12.5",
            "pause",
            "resume",
            "stop",
            "stop --now",
            "mark a b",
            "status",
        ] {
            let command = parsed(line).expect(line);
            assert_eq!(command.line(), line);
        }
        assert_eq!(
            (Amount::By(-5.0).of(3.0), Amount::By(2.0).of(3.0), Amount::To(7.0).of(3.0)),
            (0.0, 5.0, 7.0)
        );
    }

    #[test]
    fn mistakes_are_sentences() {
        for (line, words) in [
            ("users", "one number"),
            ("users many", "is not a valid number"),
            ("users 1.5", "is not a valid number"),
            ("rps inf", "is not a valid number"),
            ("pause now", "takes no value"),
            ("mark", "a word or more"),
            ("go", "there is no request \"go\""),
            ("", "there is no"),
        ] {
            assert!(parsed(line).unwrap_err().contains(words), "{line}");
        }
    }
}
