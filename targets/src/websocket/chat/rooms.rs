//! The rooms of a chat: they number messages, and count the members in each process.
//!
//! One instance serves all processes of the target, so the messages of a room have one order and consecutive numbers.
//! Members are only counted here; each process lists its own members.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of a chat room, from 0 in the order of creation.
pub(super) type RoomId = u32;

struct Room {
    name: String,
    sequence: u64,
    /// Number of the room's members in each process.
    members: Vec<u32>,
}

pub(super) struct Rooms {
    by_name: HashMap<String, RoomId>,
    all: Vec<Room>,
    processes: usize,
    most: usize,
}

impl Rooms {
    /// Creates the table of at most `most` rooms.
    pub(super) fn new(processes: usize, most: usize) -> Self {
        Self { by_name: HashMap::new(), all: Vec::new(), processes, most }
    }

    /// Adds a member to a room, which is created if it does not exist. Returns the room and its number of members, or
    /// `None` if there are too many rooms.
    pub(super) fn join(&mut self, process: usize, name: &str) -> Option<(RoomId, u64)> {
        let id = match self.by_name.get(name) {
            Some(&id) => id,
            None if self.all.len() >= self.most => return None,
            None => {
                let id = self.all.len() as RoomId;
                self.by_name.insert(name.to_owned(), id);
                let members = vec![0; self.processes];
                self.all.push(Room { name: name.to_owned(), sequence: 0, members });
                id
            }
        };
        let room = &mut self.all[id as usize];
        room.members[process] += 1;
        Some((id, room.members.iter().map(|&count| u64::from(count)).sum()))
    }

    pub(super) fn leave(&mut self, process: usize, id: RoomId) {
        if let Some(room) = self.all.get_mut(id as usize) {
            room.members[process] = room.members[process].saturating_sub(1);
        }
    }

    /// Removes all room members of a process that has ended.
    pub(super) fn forget(&mut self, process: usize) {
        for room in &mut self.all {
            room.members[process] = 0;
        }
    }

    /// Counts and formats a message for all members of a room: `room NAME SEQUENCE MILLISECONDS TEXT`. The time is that
    /// in the text, or the current time.
    pub(super) fn say(&mut self, id: RoomId, text: &str) -> Option<String> {
        let room = self.all.get_mut(id as usize)?;
        room.sequence += 1;
        let sent_us = sent_us(text).unwrap_or_else(|| {
            // A clock before 1970 yields zero, which cannot be mistaken for a real time.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.as_micros() as u64
        });
        Some(format!("room {} {} {} {text}", room.name, room.sequence, sent_us / 1000))
    }

    /// Iterates over the processes in which the room has members.
    pub(super) fn processes(&self, id: RoomId) -> impl Iterator<Item = usize> + '_ {
        let members = self.all.get(id as usize).map_or(&[][..], |room| &room.members);
        members.iter().enumerate().filter(|(_, count)| **count > 0).map(|(process, _)| process)
    }
}

/// Returns the send time in a text with a word `t=MICROSECONDS`, in µs since 1970.
fn sent_us(text: &str) -> Option<u64> {
    text.split(' ').find_map(|word| word.strip_prefix("t=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted_by_process_and_messages_numbered_by_room() {
        let mut rooms = Rooms::new(3, 2);
        assert_eq!(rooms.join(0, "a"), Some((0, 1)));
        assert_eq!(rooms.join(2, "a"), Some((0, 2)));
        assert_eq!(rooms.join(1, "b"), Some((1, 1)));
        assert_eq!(rooms.join(1, "c"), None);
        assert_eq!(rooms.processes(0).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(
            rooms.say(0, "t=1700000000123456 x").unwrap(),
            "room a 1 1700000000123 t=1700000000123456 x"
        );
        assert_eq!(rooms.say(0, "hi t=5000").unwrap(), "room a 2 5 hi t=5000");
        assert_eq!(rooms.say(1, "t=5000").unwrap(), "room b 1 5 t=5000");
        rooms.leave(2, 0);
        assert_eq!(rooms.processes(0).collect::<Vec<_>>(), [0]);
        rooms.forget(0);
        assert_eq!(rooms.join(1, "a"), Some((0, 1)));
        assert_eq!(rooms.say(9, "x"), None);
        // A string without a valid `t=` gets the time of the clock.
        let said = rooms.say(0, "t=x").unwrap();
        let time: u64 = said.split(' ').nth(3).unwrap().parse().unwrap();
        assert!(time > 1_700_000_000_000);
    }
}
