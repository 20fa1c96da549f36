//! Databases of lists and sets, and the execution of Redis commands on them.

use std::collections::{HashMap, VecDeque};

/// Number of Redis databases.
pub(super) const DATABASES: usize = 16;

#[derive(Default)]
pub(super) struct Store {
    databases: [HashMap<Vec<u8>, Value>; DATABASES],
}

enum Value {
    List(VecDeque<Vec<u8>>),
    /// Members of a set; SPOP and SRANDMEMBER return the first one next.
    Set(VecDeque<Vec<u8>>),
}

/// The reply to a Redis command.
enum Reply {
    Count(usize),
    Value(Option<Vec<u8>>),
    Error(String),
}

impl Store {
    /// Executes a Redis command and appends its reply.
    pub(super) fn run(&mut self, database: usize, arguments: &[&[u8]], out: &mut Vec<u8>) {
        let reply = self.reply(database, arguments);
        match reply {
            Reply::Count(count) => out.extend_from_slice(format!(":{count}\r\n").as_bytes()),
            Reply::Value(None) => out.extend_from_slice(b"$-1\r\n"),
            Reply::Value(Some(value)) => {
                out.extend_from_slice(format!("${}\r\n", value.len()).as_bytes());
                out.extend_from_slice(&value);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Error(why) => out.extend_from_slice(format!("-{why}\r\n").as_bytes()),
        }
    }

    fn reply(&mut self, database: usize, arguments: &[&[u8]]) -> Reply {
        let Some((name, rest)) = arguments.split_first() else { return unknown(b"") };
        let upper = name.to_ascii_uppercase();
        let is_set = matches!(upper.as_slice(), b"SADD" | b"SPOP" | b"SRANDMEMBER" | b"SCARD");
        let known = is_set
            || matches!(upper.as_slice(), b"RPUSH" | b"LPUSH" | b"LPOP" | b"LMOVE" | b"LLEN");
        if !known {
            return unknown(name);
        }
        let Some((key, values)) = rest.split_first() else { return arity(name) };
        let all = &mut self.databases[database];
        let wrong = match all.get(*key) {
            Some(Value::List(_)) => is_set,
            Some(Value::Set(_)) => !is_set,
            None => false,
        };
        if wrong {
            let why = "WRONGTYPE Operation against a key holding the wrong kind of value";
            return Reply::Error(why.to_owned());
        }
        let made = || {
            let empty = VecDeque::new();
            if is_set { Value::Set(empty) } else { Value::List(empty) }
        };
        let (Value::List(entry) | Value::Set(entry)) = all.entry(key.to_vec()).or_insert_with(made);
        let reply = match (upper.as_slice(), values) {
            (b"RPUSH", [_, ..]) => {
                entry.extend(values.iter().map(|value| value.to_vec()));
                Reply::Count(entry.len())
            }
            (b"LPUSH", [_, ..]) => {
                for value in values {
                    entry.push_front(value.to_vec());
                }
                Reply::Count(entry.len())
            }
            (b"SADD", [_, ..]) => {
                let before = entry.len();
                for value in values {
                    if entry.iter().all(|member| member != value) {
                        entry.push_back(value.to_vec());
                    }
                }
                Reply::Count(entry.len() - before)
            }
            (b"LPOP" | b"SPOP", []) => Reply::Value(entry.pop_front()),
            (b"LLEN" | b"SCARD", []) => Reply::Count(entry.len()),
            (b"SRANDMEMBER", []) => {
                let turns = usize::from(!entry.is_empty());
                entry.rotate_left(turns);
                Reply::Value(entry.back().cloned())
            }
            (b"LMOVE", [to, from_end, to_end]) if to == key => rotate(entry, from_end, to_end),
            (b"LMOVE", [_, _, _]) => Reply::Error("ERR only a list itself is known here".into()),
            _ => arity(name),
        };
        if entry.is_empty() {
            all.remove(*key);
        }
        reply
    }
}

/// Executes LMOVE for a list that is both source and destination.
fn rotate(list: &mut VecDeque<Vec<u8>>, from: &[u8], to: &[u8]) -> Reply {
    let side = |text: &[u8]| match text.to_ascii_uppercase().as_slice() {
        b"LEFT" => Some(true),
        b"RIGHT" => Some(false),
        _ => None,
    };
    let (Some(from), Some(to)) = (side(from), side(to)) else {
        return Reply::Error("ERR syntax error".into());
    };
    let moved = if from { list.pop_front() } else { list.pop_back() };
    if let Some(value) = &moved {
        if to { list.push_front(value.clone()) } else { list.push_back(value.clone()) }
    }
    Reply::Value(moved)
}

fn unknown(name: &[u8]) -> Reply {
    Reply::Error(format!("ERR unknown command '{}'", name.escape_ascii()))
}

fn arity(name: &[u8]) -> Reply {
    let name = String::from_utf8_lossy(name).to_lowercase();
    Reply::Error(format!("ERR wrong number of arguments for '{name}' command"))
}
