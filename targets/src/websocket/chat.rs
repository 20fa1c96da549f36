//! `chat`: rooms that send every message of a member to all members.
//!
//! A connection is in at most one room. [`rooms`] numbers the rooms and orders their messages. It is in this process,
//! or, if the target has several processes, in their parent ([`parent`]), which a [`link`] connects. A member is listed
//! once the parent has counted it, so each message reaches exactly the members at the time of its numbering, once. All
//! messages that a member gets in one turn of the loop are sent in one write.

pub(super) mod figures;
pub(super) mod link;
pub(super) mod parent;
pub(super) mod rooms;

use std::collections::HashMap;
use std::io;

use rustix::event::epoll::EventFlags;
use wire::websocket::{Opcode, push_frame};

use super::core::{Core, token};
use super::hub::{LINK, Service, plain_answer};
use figures::Figures;
use link::{Link, down, up};
use rooms::{RoomId, Rooms};

/// Tag of a connection that is not in a room.
const NOWHERE: u32 = u32::MAX;
/// Maximum length of a room's name in bytes.
const LONGEST_NAME: usize = 64;

/// Location of the room counters: this process or the parent.
enum Home {
    Here(Rooms),
    Parent(Link),
}

/// The part of a chat room that concerns this process.
#[derive(Default)]
struct Local {
    /// Slots of the connections in this process that are members of the room.
    members: Vec<u32>,
    /// Frames that were not sent to the room's members yet.
    pending: Vec<u8>,
    /// Number of pending frames.
    count: u64,
}

pub(crate) struct Chat {
    home: Home,
    rooms: Vec<Local>,
    /// Chat rooms whose members must still be sent pending frames in this turn.
    spoken: Vec<RoomId>,
    /// Connections that wait for the parent to let them join a room, by token, with the messages that they sent
    /// meanwhile.
    joining: HashMap<u64, Vec<String>>,
    figures: Figures,
}

impl Chat {
    /// Creates a chat in this process alone, with at most `most_rooms` rooms.
    pub(super) fn alone(most_rooms: usize) -> Self {
        Self::new(Home::Here(Rooms::new(1, most_rooms)))
    }

    /// Creates a chat in one of several processes; `link` leads to the parent.
    pub(super) fn child(link: Link) -> Self {
        Self::new(Home::Parent(link))
    }

    fn new(home: Home) -> Self {
        let (rooms, spoken, joining) = (Vec::new(), Vec::new(), HashMap::new());
        Self { home, rooms, spoken, joining, figures: Figures::default() }
    }

    fn join(&mut self, core: &mut Core, slot: usize, name: &str) {
        match &mut self.home {
            Home::Here(rooms) => match rooms.join(0, name) {
                Some((id, members)) => self.enter(core, slot, id, name, members),
                None => core.answer(slot, true, b"error too many rooms"),
            },
            Home::Parent(link) => {
                let token = token(slot, core.sockets[slot].generation);
                link.push(up::JOIN, &[&token.to_le_bytes(), name.as_bytes()]);
                self.joining.entry(token).or_default();
            }
        }
    }

    /// Adds a connection to a room's members in this process, after the room's counter was increased.
    fn enter(&mut self, core: &mut Core, slot: usize, id: RoomId, name: &str, mut members: u64) {
        let tag = core.sockets[slot].tag;
        if tag[0] == id {
            // The connection was already a member and is now counted twice, so one count is removed.
            self.uncount(id);
            members -= 1;
        } else {
            self.leave(core, tag);
            if self.rooms.len() <= id as usize {
                self.rooms.resize_with(id as usize + 1, Local::default);
            }
            // Earlier messages are sent before the new member is added, so it does not get them.
            self.spread(core, id);
            let local = &mut self.rooms[id as usize];
            core.sockets[slot].tag = [id, local.members.len() as u32];
            local.members.push(slot as u32);
            self.figures.joined += 1;
        }
        core.answer(slot, true, format!("joined {name} {members}").as_bytes());
    }

    fn leave(&mut self, core: &mut Core, [id, place]: [u32; 2]) {
        if id == NOWHERE {
            return;
        }
        self.spread(core, id);
        let members = &mut self.rooms[id as usize].members;
        members.swap_remove(place as usize);
        if let Some(&moved) = members.get(place as usize)
            && let Some(socket) = core.sockets.get_mut(moved as usize)
        {
            socket.tag[1] = place;
        }
        self.uncount(id);
    }

    fn uncount(&mut self, id: RoomId) {
        match &mut self.home {
            Home::Here(rooms) => rooms.leave(0, id),
            Home::Parent(link) => link.push(up::LEAVE, &[&id.to_le_bytes()]),
        }
    }

    fn say(&mut self, id: RoomId, text: &str) {
        self.figures.said += 1;
        match &mut self.home {
            Home::Here(rooms) => {
                if let Some(message) = rooms.say(id, text) {
                    let mut frame = Vec::new();
                    push_frame(&mut frame, Opcode::TEXT, message.as_bytes(), None);
                    self.hear(id, &frame);
                }
            }
            Home::Parent(link) => link.push(up::SAY, &[&id.to_le_bytes(), text.as_bytes()]),
        }
    }

    /// Queues a frame for all members of a room in this process; it is sent at the end of the turn.
    fn hear(&mut self, id: RoomId, frame: &[u8]) {
        let Some(local) = self.rooms.get_mut(id as usize) else { return };
        if local.count == 0 {
            self.spoken.push(id);
        }
        local.pending.extend_from_slice(frame);
        local.count += 1;
    }

    /// Sends the pending frames of a room to its members in this process.
    fn spread(&mut self, core: &mut Core, id: RoomId) {
        let Some(local) = self.rooms.get_mut(id as usize) else { return };
        if local.count == 0 {
            return;
        }
        let frames = std::mem::take(&mut local.pending);
        for &slot in &local.members {
            core.send(slot as usize, &frames);
        }
        let sent = local.count * local.members.len() as u64;
        local.count = 0;
        self.figures.receivers += sent;
        core.figures.messages_out += sent;
    }

    /// Handles a message from the parent process.
    fn told(&mut self, core: &mut Core, kind: u8, body: &[u8]) {
        match kind {
            down::JOINED => {
                let (token, rest) = link::number(body);
                let (id, rest) = link::room(rest);
                let (members, name) = link::number(rest);
                let name = String::from_utf8_lossy(name);
                let said = self.joining.remove(&token).unwrap_or_default();
                let Some(slot) = slot_of(core, token) else {
                    // The connection that wanted to join was closed meanwhile.
                    return self.uncount(id);
                };
                self.enter(core, slot, id, &name, members);
                core.flush_answers(slot);
                for text in said {
                    self.say(id, &text);
                }
            }
            down::FULL => {
                let (token, _) = link::number(body);
                self.joining.remove(&token);
                if let Some(slot) = slot_of(core, token) {
                    core.answer(slot, true, b"error too many rooms");
                    core.flush_answers(slot);
                }
            }
            down::MESSAGE => {
                let (id, frame) = link::room(body);
                self.hear(id, frame);
            }
            down::FIGURES => {
                let figures = self.figures.with(core).to_bytes();
                if let Home::Parent(link) = &mut self.home {
                    link.push(up::FIGURES, &[&figures]);
                }
            }
            down::STATS => {
                let (token, json) = link::number(body);
                if let Some(slot) = slot_of(core, token) {
                    plain_answer(core, slot, &String::from_utf8_lossy(json));
                }
            }
            _ => {}
        }
    }
}

/// Returns the slot of the connection with this token; `None` if it was closed meanwhile.
fn slot_of(core: &Core, wanted: u64) -> Option<usize> {
    let slot = (wanted & u64::from(u32::MAX)) as usize;
    let socket = core.sockets.get(slot)?;
    (token(slot, socket.generation) == wanted).then_some(slot)
}

impl Service for Chat {
    fn begin(&mut self, core: &Core) -> io::Result<()> {
        let Home::Parent(link) = &mut self.home else { return Ok(()) };
        link.register(&core.epoll, LINK)?;
        link.push(up::READY, &[]);
        link.flush(&core.epoll, LINK)
    }

    fn message(&mut self, core: &mut Core, slot: usize, text: bool, payload: &[u8]) {
        // The hub has already checked that text is valid UTF-8.
        let command = if text { std::str::from_utf8(payload).unwrap_or_default() } else { "" };
        match command.split_once(' ').unwrap_or((command, "")) {
            ("say", said) => {
                let socket = &core.sockets[slot];
                if let Some(waiting) = self.joining.get_mut(&token(slot, socket.generation)) {
                    waiting.push(said.to_owned());
                } else if socket.tag[0] == NOWHERE {
                    core.answer(slot, true, b"error in no room");
                } else {
                    self.say(socket.tag[0], said);
                }
            }
            ("ping", "") => core.answer(slot, true, b"pong"),
            ("join", name) => {
                if name.is_empty() || name.len() > LONGEST_NAME || name.contains(' ') {
                    core.answer(slot, true, b"error a room's name is one word of 1 to 64 bytes");
                } else {
                    self.join(core, slot, name);
                }
            }
            _ => core.answer(slot, true, b"error there are: join ROOM, say TEXT, ping"),
        }
    }

    fn stats(&mut self, core: &mut Core, slot: usize) -> Option<String> {
        match &mut self.home {
            Home::Here(_) => Some(self.figures.with(core).to_json(&[core.figures.open])),
            Home::Parent(link) => {
                let token = token(slot, core.sockets[slot].generation);
                link.push(up::STATS, &[&token.to_le_bytes()]);
                None
            }
        }
    }

    fn gone(&mut self, core: &mut Core, tag: [u32; 2]) {
        self.leave(core, tag);
    }

    fn linked(&mut self, core: &mut Core, _flags: EventFlags) -> bool {
        // Messages are collected first, because handling them needs the link that is borrowed here.
        let mut messages = Vec::new();
        let Home::Parent(link) = &mut self.home else { return true };
        let lives = link.receive(|_, kind, body| messages.push((kind, body.to_vec())));
        for (kind, body) in messages {
            self.told(core, kind, &body);
        }
        lives
    }

    fn turn(&mut self, core: &mut Core) -> bool {
        for id in std::mem::take(&mut self.spoken) {
            self.spread(core, id);
        }
        match &mut self.home {
            Home::Here(_) => true,
            Home::Parent(link) => link.flush(&core.epoll, LINK).is_ok(),
        }
    }
}
