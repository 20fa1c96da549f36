//! `throng fleet up`: runs a NATS server for agents, with keys and configuration, until Ctrl-C.
//!
//! The server is a separate program that is searched for in `PATH`. It runs in the foreground and ends together
//! with this process.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fleet::nats::{Files, Setup, var};

use crate::args::flags::UpFlags;
use crate::exit::Exit;
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;

/// Default name of the NATS server's program.
const SERVER: &str = "nats-server";
/// Largest number of agents that `--agents` accepts as a number instead of names.
const MOST: usize = 10_000;
/// Longest wait until the NATS server listens.
const LISTENS: Duration = Duration::from_secs(30);
/// Longest wait until the NATS server ends by itself.
const ENDS: Duration = Duration::from_secs(5);

/// Advice on installing a NATS server.
const MISSING: &str = "it is NATS's server, one program without dependencies. Get it by one of:\n  \
     apt-get install nats-server                                  # Debian, Ubuntu\n  \
     go install github.com/nats-io/nats-server/v2@latest          # into ~/go/bin\n  \
     https://github.com/nats-io/nats-server/releases              # a binary\n\
     and name it by --server if it is not in PATH";

pub(crate) fn run(flags: &UpFlags) -> Exit {
    let agents = match names(&flags.agents) {
        Ok(agents) => agents,
        Err(words) => return failed(&words, Exit::Usage),
    };
    // Checks that the port is free, because another server on this port could be mistaken for the new one.
    if let Err(error) = std::net::TcpListener::bind(flags.listen) {
        return failed(&format!("--listen {}: {error}", flags.listen), Exit::Aborted);
    }
    let setup = Setup {
        folder: flags.folder.clone(),
        listen: flags.listen,
        hosts: flags.host.clone(),
        agents,
    };
    let files = match setup.write() {
        Ok(files) => files,
        Err(words) => return failed(&words, Exit::Usage),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let mut server = match start(&flags.server, &files.config) {
        Ok(server) => server,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let words = format!("{} is not there: {MISSING}", flags.server.display());
            return failed(&words, Exit::Usage);
        }
        Err(error) => {
            return failed(&format!("{}: {error}", flags.server.display()), Exit::Aborted);
        }
    };
    let begun = Instant::now();
    let mut said = false;
    while interrupt.asked() == 0 {
        if let Ok(Some(status)) = server.try_wait() {
            return failed(&format!("the server has ended: {status}"), Exit::Aborted);
        }
        if !said && listens(flags) {
            said = true;
            terminal::out(&lines(flags, &setup, &files));
        }
        if !said && begun.elapsed() > LISTENS {
            let _ = server.kill();
            let _ = server.wait();
            return failed("the server does not listen", Exit::Aborted);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    end(&mut server);
    Exit::Ok
}

fn failed(words: &str, exit: Exit) -> Exit {
    terminal::error(words);
    exit
}

/// Returns the names of the agents: the listed names, or numbered names if a number is given.
fn names(given: &[String]) -> Result<Vec<String>, String> {
    let [number] = given else { return Ok(given.to_vec()) };
    match number.parse::<usize>() {
        Ok(number) if (1..=MOST).contains(&number) => {
            Ok((1..=number).map(|n| format!("a{n}")).collect())
        }
        Ok(_) => Err(format!("--agents is 1 to {MOST}, or names")),
        Err(_) => Ok(given.to_vec()),
    }
}

/// Starts the NATS server. If its default name is not found in PATH, starts the program in `/usr/sbin`, the folder to
/// which Debian installs it.
fn start(program: &Path, config: &Path) -> io::Result<Child> {
    match start_by(program, config) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && program == Path::new(SERVER) => {
            start_by(Path::new("/usr/sbin/nats-server"), config)
        }
        started => started,
    }
}

fn start_by(program: &Path, config: &Path) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("-c").arg(config);
    // The server logs to standard error. It has its own process group, because Ctrl-C is only meant for this
    // process, which then stops the server.
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.spawn()
}

/// True if the NATS server listens at its address.
fn listens(flags: &UpFlags) -> bool {
    let mut address = flags.listen;
    if address.ip().is_unspecified() {
        let loopback = if address.is_ipv4() { "127.0.0.1" } else { "::1" };
        if let Ok(ip) = loopback.parse() {
            address.set_ip(ip);
        }
    }
    std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok()
}

fn end(server: &mut Child) {
    if let Some(pid) = i32::try_from(server.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    let until = Instant::now() + ENDS;
    while Instant::now() < until {
        if !matches!(server.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = server.kill();
    let _ = server.wait();
}

/// Returns the command lines with which agents and runs use the server.
fn lines(flags: &UpFlags, setup: &Setup, files: &Files) -> String {
    let port = flags.listen.port();
    let host = match (flags.host.first(), flags.listen.ip().is_unspecified()) {
        (Some(host), _) => host.clone(),
        (None, false) => flags.listen.ip().to_string(),
        (None, true) => rustix::system::uname().nodename().to_string_lossy().into_owned(),
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let url = format!("nats://{host}:{port}");
    let (ca, operator) = (files.ca.display(), files.operator.display());
    let (secret, public) = (files.operator_secret.display(), files.operator_public.display());
    let (seal, count) = (files.seal.display(), setup.agents.len());
    let (name, key) = (&setup.agents[0], files.agents[0].display());
    format!(
        "the NATS server listens on {}; Ctrl-C ends it\n\n\
         An agent, on its machine, with copies of the four files ({count} agents have keys: {}):\n  \
         {}={key} {}={ca} {}={public} {}={seal} \\\n    throng agent --nats {url} --name {name}\n\n\
         A run:\n  {}={operator} {}={ca} {}={secret} {}={seal} \\\n    throng run plan.jmx --fleet {url} --agents 1\n",
        flags.listen,
        list(&setup.agents),
        var::CREDS,
        var::CA,
        var::OPERATOR,
        var::SEAL,
        var::CREDS,
        var::CA,
        var::OPERATOR_SECRET,
        var::SEAL,
    )
}

fn list(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 6 => format!("{first} … {last}"),
        names => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_named_or_counted() {
        let given =
            |texts: &[&str]| names(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(given(&["3"]), Ok(vec!["a1".into(), "a2".into(), "a3".into()]));
        assert_eq!(given(&["eu", "us"]), Ok(vec!["eu".into(), "us".into()]));
        assert!(given(&["0"]).is_err() && given(&["10001"]).is_err());
    }
}
