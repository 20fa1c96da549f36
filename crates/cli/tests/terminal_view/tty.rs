//! A pseudo-terminal that runs the program, and an emulated screen with the text that a person would see.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, Winsize, tcflow, tcsetwinsize};

use crate::program::Program;

/// A pseudo-terminal on which no program runs yet.
pub(crate) struct Tty {
    controller: OwnedFd,
    size: (u16, u16),
}

/// A program that runs on its pseudo-terminal.
pub(crate) struct Run {
    controller: OwnedFd,
    child: Child,
    screen: Arc<Mutex<Screen>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Tty {
    pub(crate) fn new(columns: u16, rows: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).expect("a terminal of ours");
        unlockpt(&controller).expect("an open terminal");
        resize(&controller, columns, rows);
        Self { controller, size: (columns, rows) }
    }

    /// Starts the program with standard output and standard error on this terminal.
    pub(crate) fn run(self, program: &Program, line: &[&str], settings: &[(&str, &str)]) -> Run {
        let Self { controller, size } = self;
        let name = ptsname(&controller, Vec::new()).expect("its name");
        let name = name.to_str().expect("text");
        let side = || OpenOptions::new().read(true).write(true).open(name).expect("its other side");
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command.args(line).current_dir(program.path(".")).stdin(Stdio::null());
        command.stdout(side()).stderr(side());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "CI"] {
            command.env_remove(name);
        }
        command.env("TERM", "xterm").env("LANG", "en_US.UTF-8").envs(settings.iter().copied());
        let child = command.spawn().expect("the program starts");
        drop(command);
        let screen = Arc::new(Mutex::new(Screen::new(size)));
        let shown = Arc::clone(&screen);
        let mut from = File::from(controller.try_clone().expect("a second handle"));
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading from the terminal fails once the program has ended.
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                shown.lock().expect("a screen").take(&bytes[..read]);
            }
        });
        Run { controller, child, screen, reader: Some(reader) }
    }
}

impl Run {
    fn now(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().expect("a screen")
    }

    /// Returns the visible lines of the screen and the lines that scrolled out above.
    pub(crate) fn screen(&mut self) -> String {
        self.now().text()
    }

    /// Returns all bytes that the program wrote to the terminal.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.now().raw).into_owned()
    }

    /// Returns the terminal modes that the program changed and did not restore.
    pub(crate) fn modes(&self) -> Vec<String> {
        self.now().modes.clone()
    }

    pub(crate) fn column(&self) -> usize {
        self.now().column
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        resize(&self.controller, columns, rows);
        self.now().resize((columns, rows));
    }

    /// Stops the terminal's output as Ctrl-S does, or continues it as Ctrl-Q does.
    pub(crate) fn stop_output(&self, stop: bool) {
        let name = ptsname(&self.controller, Vec::new()).expect("its name");
        let name = name.to_str().expect("text");
        let side = OpenOptions::new().read(true).write(true).open(name).expect("its other side");
        tcflow(side, if stop { Action::OOff } else { Action::OOn }).expect("a terminal");
    }

    /// Sends SIGINT to the program, as Ctrl-C does.
    pub(crate) fn interrupt(&mut self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).expect("it runs");
        std::thread::sleep(Duration::from_millis(50));
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }

    /// Waits for the program's end. Returns the exit code and the final screen.
    pub(crate) fn finish(&mut self) -> (i32, String) {
        let end = Instant::now() + Duration::from_secs(90);
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > end {
                let _ = self.child.kill();
                panic!("it never ends:\n{}", self.screen());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        if let Some(reader) = self.reader.take() {
            reader.join().expect("what it has sent");
        }
        (status.code().unwrap_or(-1), self.screen())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn resize(controller: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(controller, size).expect("a size");
}

/// Emulates the terminal sequences that the program uses. Any other sequence fails the test.
struct Screen {
    raw: Vec<u8>,
    /// Bytes of an incomplete character or escape sequence.
    open: Vec<u8>,
    lines: Vec<Vec<char>>,
    /// Line of the cursor. The cursor cannot move above the screen.
    line: usize,
    column: usize,
    size: (usize, usize),
    modes: Vec<String>,
}

impl Screen {
    fn new((columns, rows): (u16, u16)) -> Self {
        Self {
            raw: Vec::new(),
            open: Vec::new(),
            lines: vec![Vec::new()],
            line: 0,
            column: 0,
            size: (columns.into(), rows.into()),
            modes: Vec::new(),
        }
    }

    /// Changes the size without rewrapping existing lines, as some terminals do.
    fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.size = (columns.into(), rows.into());
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| {
            let line: String = line.iter().collect();
            line.trim_end().to_owned() + "\n"
        });
        lines.collect::<String>().trim_end().to_owned()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.open.extend_from_slice(bytes);
        let open = std::mem::take(&mut self.open);
        let whole = match std::str::from_utf8(&open) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let mut rest = std::str::from_utf8(&open[..whole]).expect("text");
        while let Some(char) = rest.chars().next() {
            let length = if char == '\x1b' {
                let Some(end) = rest[1..].find(|c: char| c.is_ascii_alphabetic()) else { break };
                self.obey(&rest[1..end + 2]);
                end + 2
            } else {
                self.put(char);
                char.len_utf8()
            };
            rest = &rest[length..];
        }
        self.open = open[whole - rest.len()..].to_vec();
    }

    fn put(&mut self, char: char) {
        match char {
            '\r' => self.column = 0,
            '\n' => {
                self.line += 1;
                if self.line == self.lines.len() {
                    self.lines.push(Vec::new());
                }
            }
            _ => {
                if self.column >= self.size.0 {
                    if self.modes.iter().any(|mode| mode == "?7l") {
                        self.column = self.size.0 - 1;
                    } else {
                        self.column = 0;
                        self.put('\n');
                    }
                }
                let line = &mut self.lines[self.line];
                if line.len() <= self.column {
                    line.resize(self.column + 1, ' ');
                }
                line[self.column] = char;
                self.column += 1;
            }
        }
    }

    fn obey(&mut self, sequence: &str) {
        let body = sequence.strip_prefix('[').unwrap_or_else(|| panic!("{sequence:?}"));
        let (number, last) = body.split_at(body.len() - 1);
        match (number, last) {
            (_, "m") => {}
            (n, "A") => {
                let up: usize = n.parse().expect("a number");
                let top = self.lines.len().saturating_sub(self.size.1);
                self.line = self.line.saturating_sub(up).max(top);
            }
            ("", "K") => self.lines[self.line].truncate(self.column),
            ("", "J") => {
                self.lines[self.line].truncate(self.column);
                self.lines.truncate(self.line + 1);
            }
            ("?7", "l") | ("?2026", "h") => self.modes.push(body.to_owned()),
            ("?7", "h") => self.modes.retain(|mode| mode != "?7l"),
            ("?2026", "l") => self.modes.retain(|mode| mode != "?2026h"),
            _ => panic!("an unknown sequence: {sequence:?}"),
        }
    }
}
