//! The parent of a chat with several processes: starts them, counts the rooms, and relays messages.
//!
//! Each process is this program, started with the option `child`, its link as standard input, and its own listeners.
//! The parent holds no connections. If a process dies, its members are lost and the others continue. When the parent
//! ends, the links close, and the processes end too.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use wire::websocket::{Opcode, push_frame};

use super::figures::Figures;
use super::link::{self, Link, down, up};
use super::rooms::Rooms;

const WAKE: u64 = u64::MAX;
const EVENTS: usize = 256;

struct Process {
    child: Child,
    /// Link to the chat process; `None` if the process has ended.
    link: Option<Link>,
    ready: bool,
    figures: Figures,
    /// True if the counters of this process were requested and have not arrived.
    asked: bool,
}

pub(crate) struct Parent {
    epoll: OwnedFd,
    processes: Vec<Process>,
    rooms: Rooms,
    /// Requests for statistics (process and token) that wait for the collection of counters in progress.
    waiting: Vec<(usize, u64)>,
    /// Requests for statistics that arrived during this collection, and need the next one.
    later: Vec<(usize, u64)>,
}

impl Parent {
    /// Starts the processes and waits until all of them listen. Each gets `arguments` and the option
    /// `child=NUMBER:PORT`.
    pub(crate) fn start(
        arguments: &[OsString],
        processes: usize,
        port: u16,
        most_rooms: usize,
        wake: &UnixStream,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut parent = Self {
            epoll,
            processes: Vec::new(),
            rooms: Rooms::new(processes, most_rooms),
            waiting: Vec::new(),
            later: Vec::new(),
        };
        let program = std::env::current_exe()?;
        for number in 0..processes {
            let (ours, theirs) = UnixStream::pair()?;
            let child = Command::new(&program)
                .args(arguments)
                .arg("--option")
                .arg(format!("child={number}:{port}"))
                .stdin(OwnedFd::from(theirs))
                .stdout(Stdio::null())
                .spawn()?;
            let link = Link::new(ours)?;
            link.register(&parent.epoll, number as u64)?;
            parent.processes.push(Process {
                child,
                link: Some(link),
                ready: false,
                figures: Figures::default(),
                asked: false,
            });
        }
        while parent.processes.iter().any(|process| !process.ready) {
            parent.step()?;
            if let Some(number) = parent.processes.iter().position(|own| own.link.is_none()) {
                return Err(io::Error::other(format!("process {number} did not start")));
            }
        }
        epoll::add(&parent.epoll, wake.as_fd(), EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(parent)
    }

    /// Relays messages until the wake pipe delivers a byte or closes, or no process is left.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        while self.processes.iter().any(|process| process.link.is_some()) && self.step()? {}
        Ok(())
    }

    fn step(&mut self) -> io::Result<bool> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            if event.data.u64() == WAKE {
                return Ok(false);
            }
            self.hear(event.data.u64() as usize);
        }
        for number in 0..self.processes.len() {
            let Some(link) = &mut self.processes[number].link else { continue };
            if link.flush(&self.epoll, number as u64).is_err() {
                self.lose(number);
            }
        }
        Ok(true)
    }

    fn hear(&mut self, number: usize) {
        let Some(mut link) = self.processes[number].link.take() else { return };
        let lives = link.receive(|link, kind, body| self.told(number, link, kind, body));
        if lives {
            self.processes[number].link = Some(link);
            // A message may need a reply to the same process, whose link was in use until now.
            self.collect();
        } else {
            drop(link);
            self.lose(number);
        }
    }

    /// Handles a message from process `number`. Its link `own` is missing in the table during the call.
    fn told(&mut self, number: usize, own: &mut Link, kind: u8, body: &[u8]) {
        match kind {
            up::READY => self.processes[number].ready = true,
            up::JOIN => {
                let (token, name) = link::number(body);
                let token = token.to_le_bytes();
                match self.rooms.join(number, &String::from_utf8_lossy(name)) {
                    Some((id, members)) => own.push(
                        down::JOINED,
                        &[&token, &id.to_le_bytes(), &members.to_le_bytes(), name],
                    ),
                    None => own.push(down::FULL, &[&token]),
                }
            }
            up::LEAVE => self.rooms.leave(number, link::room(body).0),
            up::SAY => {
                let (id, text) = link::room(body);
                let Some(message) = self.rooms.say(id, &String::from_utf8_lossy(text)) else {
                    return;
                };
                let mut frame = Vec::new();
                push_frame(&mut frame, Opcode::TEXT, message.as_bytes(), None);
                for process in self.rooms.processes(id) {
                    let link = if process == number {
                        Some(&mut *own)
                    } else {
                        self.processes[process].link.as_mut()
                    };
                    if let Some(link) = link {
                        link.push(down::MESSAGE, &[&id.to_le_bytes(), &frame]);
                    }
                }
            }
            up::STATS => self.later.push((number, link::number(body).0)),
            up::FIGURES => {
                let process = &mut self.processes[number];
                process.figures = Figures::from_bytes(body);
                process.asked = false;
            }
            _ => {}
        }
    }

    /// Answers the waiting requests for statistics if no process's counters are missing, then starts a collection for
    /// later requests.
    fn collect(&mut self) {
        if self.processes.iter().any(|process| process.asked) {
            return;
        }
        let living = || self.processes.iter().filter(|process| process.link.is_some());
        if !self.waiting.is_empty() {
            let mut sum = Figures::default();
            living().for_each(|process| sum.add(process.figures));
            let open: Vec<u64> = living().map(|process| process.figures.open).collect();
            let json = sum.to_json(&open);
            for (number, token) in std::mem::take(&mut self.waiting) {
                if let Some(link) = &mut self.processes[number].link {
                    link.push(down::STATS, &[&token.to_le_bytes(), json.as_bytes()]);
                }
            }
        }
        if !self.later.is_empty() {
            self.waiting = std::mem::take(&mut self.later);
            for process in &mut self.processes {
                if let Some(link) = &mut process.link {
                    link.push(down::FIGURES, &[]);
                    process.asked = true;
                }
            }
        }
    }

    fn lose(&mut self, number: usize) {
        let process = &mut self.processes[number];
        process.link = None;
        process.asked = false;
        self.rooms.forget(number);
        self.collect();
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        for process in &mut self.processes {
            process.link = None;
        }
        for process in &mut self.processes {
            // The process ends because its link closed; a killed process has already ended.
            let _ = process.child.wait();
        }
    }
}
