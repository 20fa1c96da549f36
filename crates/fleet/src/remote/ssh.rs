//! Agents by ssh: the command that starts an agent, and the copying of the program to a machine that does not have it.
//!
//! The program is stored on the machine under its hash, in `~/.cache/throng/HASH/throng`. A shell command looks for it
//! there. If it is missing, the shell requests it, verifies the received bytes by the hash, and only then moves them
//! there. Finally the agent replaces the shell. Nothing else must be installed on the machine.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::process::Command;

use super::hosts::Host;
use super::manifest;
use super::store::is_run;
use super::wire::PIECE;

/// Environment variable that names a program to use instead of `ssh`, with the same arguments.
pub(crate) const PROGRAM: &str = "THRONG_SSH";

/// Output line of the remote shell: the program is not on the machine and must be copied.
const NEEDED: &str = "throng-needed";
/// Output line of the remote shell: the program is on the machine.
const THERE: &str = "throng-there";
/// Output line of the remote shell: the received program was damaged.
const BROKEN: &str = "throng-broken";

/// Maximum number of lines, such as login messages, that are ignored before the expected output line.
const MOST_LINES: usize = 1000;

/// The data for starting this program on other machines: its hash and length.
#[derive(Clone, Debug)]
pub(crate) struct Bootstrap {
    hash: String,
    length: u64,
    name: String,
    /// Name of the run that is taken over.
    takeover: Option<String>,
}

/// The file of the running program, even if another program now has its path.
const SELF: &str = "/proc/self/exe";

/// Returns the hash of this program.
pub(crate) fn program() -> Result<String, String> {
    let hashed = manifest::hash(SELF.as_ref());
    hashed
        .map(|(hash, _)| hash)
        .map_err(|error| format!("cannot read the file of this program: {error}"))
}

impl Bootstrap {
    pub(crate) fn new() -> io::Result<Self> {
        let (hash, length) = manifest::hash(SELF.as_ref())?;
        Ok(Self { hash, length, name: String::new(), takeover: None })
    }

    /// Returns the bootstrap for a machine. Messages show the machine's name.
    pub(crate) fn of(&self, host: &Host) -> Self {
        Self { name: host.to_string(), ..self.clone() }
    }

    /// Returns the bootstrap for agents that work, or have worked, for the run that is taken over.
    pub(crate) fn taking_over(self, run: &str) -> Result<Self, String> {
        if !is_run(run) {
            return Err(format!("invalid run name {run:?}"));
        }
        Ok(Self { takeover: Some(run.to_owned()), ..self })
    }

    /// Returns the command that starts an agent on a machine.
    pub(crate) fn command(&self, host: &Host) -> Command {
        let program = std::env::var_os(PROGRAM).filter(|program| !program.is_empty());
        let mut command = Command::new(program.unwrap_or_else(|| OsString::from("ssh")));
        // ssh must neither ask for a password nor wait for ever for an unreachable machine.
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"]);
        if let Some(port) = host.port {
            command.args(["-p", &port.to_string()]);
        }
        command.arg(&host.name).arg(self.script());
        command
    }

    /// Returns a command line that runs `sh` with the bootstrap script in single quotes, so that any login shell can
    /// execute it.
    fn script(&self) -> String {
        let Self { hash, length, takeover, .. } = self;
        let again = takeover.as_ref().map_or_else(String::new, |run| format!(" --again {run}"));
        format!(
            r#"sh -c 'umask 077; d="${{XDG_CACHE_HOME:-$HOME/.cache}}/throng/{hash}"; p="$d/throng"; n="$p.$$"; if [ ! -x "$p" ]; then mkdir -p "$d" || exit 1; echo {NEEDED}; head -c {length} > "$n"; if [ "$(wc -c < "$n")" -ne {length} ]; then rm -f "$n"; echo {BROKEN}; exit 1; fi; if command -v sha256sum > /dev/null && [ "$(sha256sum < "$n" | cut -c 1-64)" != {hash} ]; then rm -f "$n"; echo {BROKEN}; exit 1; fi; chmod 700 "$n" && mv -f "$n" "$p" || exit 1; fi; echo {THERE}; exec "$p" agent --stdio{again}'"#
        )
    }

    /// Communicates with the remote shell until the agent has replaced it. Calls `alive` whenever data is transferred.
    pub(crate) fn follow(
        &self,
        from: &mut impl BufRead,
        to: &mut impl Write,
        note: &dyn Fn(String),
        alive: &dyn Fn(),
    ) -> io::Result<()> {
        for _ in 0..MOST_LINES {
            let mut line = Vec::new();
            if from.by_ref().take(4096).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            alive();
            match String::from_utf8_lossy(&line).trim() {
                THERE => return Ok(()),
                NEEDED => {
                    let size = self.length.div_ceil(1 << 20);
                    note(format!("{}: copying Throng to this machine ({size} MiB)", self.name));
                    copy(to, alive)?;
                }
                BROKEN => {
                    return Err(io::Error::other(
                        "the copied program is damaged: its length or hash is wrong",
                    ));
                }
                _ => {}
            }
        }
        Err(io::Error::other("the remote shell prints too much, and no agent started"))
    }
}

/// Sends this program's file to the remote shell.
fn copy(to: &mut impl Write, alive: &dyn Fn()) -> io::Result<()> {
    let mut file = File::open(SELF)?;
    let mut buffer = vec![0; PIECE];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return to.flush();
        }
        to.write_all(&buffer[..n])?;
        alive();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bootstrap() -> Bootstrap {
        Bootstrap { hash: "ab12".into(), length: 5, name: "me@a".into(), takeover: None }
    }

    #[test]
    fn the_command_asks_for_nothing_and_names_the_program_by_its_hash() {
        let host = Host { name: "me@a".into(), port: Some(2222), called: None };
        let command = bootstrap().command(&host);
        let args: Vec<_> =
            command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(
            args[..7],
            ["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-p", "2222"]
        );
        assert_eq!(args[7], "me@a");
        assert!(args[8].contains("/throng/ab12") && args[8].contains("head -c 5 "), "{}", args[8]);
        assert_eq!(args[8].matches('\'').count(), 2, "one word for any shell: {}", args[8]);
        let again = bootstrap().taking_over("17-3-ab-0").expect("a name").script();
        assert!(again.ends_with("agent --stdio --again 17-3-ab-0'"), "{again}");
        for run in ["", "a b", "a;b", "$(a)", "../a"] {
            assert!(bootstrap().taking_over(run).is_err(), "{run}");
        }
    }

    #[test]
    fn what_a_login_prints_is_passed_over() {
        let (mut out, alive) = (Vec::new(), || {});
        let said = std::cell::RefCell::new(Vec::new());
        let note = |words: String| said.borrow_mut().push(words);
        let mut from = "Welcome!\n\nthrong-there\nframes".as_bytes();
        bootstrap().follow(&mut from, &mut out, &note, &alive).expect("an agent");
        assert_eq!((from, out.len(), said.borrow().len()), (&b"frames"[..], 0, 0));
        let mut broken = "throng-broken\n".as_bytes();
        assert!(bootstrap().follow(&mut broken, &mut out, &note, &alive).is_err());
        let endless = "x\n".repeat(MOST_LINES + 1);
        assert!(bootstrap().follow(&mut endless.as_bytes(), &mut out, &note, &alive).is_err());
    }
}
