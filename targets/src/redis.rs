//! `redis`: lists and sets over RESP2, with one thread for each connection.
//!
//! The target supports the commands that data sets need: PING, AUTH, SELECT, RPUSH, LPUSH, LPOP, LMOVE, LLEN, SADD,
//! SPOP, SRANDMEMBER, SCARD. Error texts equal those of Redis. SPOP and SRANDMEMBER return the members of a set in turn
//! instead of randomly, so that runs are repeatable.

mod command;
mod store;

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::config::{Config, bad};
use crate::error::Error;
use crate::journal::Journal;
use crate::running::Running;
use crate::{catalogue, tls};
use store::Store;

/// Maximum length of a Redis command in bytes.
const LONGEST: usize = 1 << 20;

/// State that all connections of the Redis target share.
struct Shared {
    store: Mutex<Store>,
    /// Password that clients must send with AUTH; if empty, no login is needed.
    password: Vec<u8>,
    /// User name that clients must send with AUTH.
    user: Vec<u8>,
}

pub(crate) fn start(config: &Config) -> Result<Running, Error> {
    let mut store = Store::default();
    for (key, name) in [("list", &b"RPUSH"[..]), ("set", b"SADD")] {
        for entry in config.all(key).filter(|entry| !entry.is_empty()) {
            let Some((into, value)) = entry.split_once('=') else {
                return Err(bad(key, entry, "must be KEY=VALUE"));
            };
            store.run(0, &[name, into.as_bytes(), value.as_bytes()], &mut Vec::new());
        }
    }
    let text = |key: &str| config.text(key).unwrap_or_default().as_bytes().to_vec();
    let user = config.text("user").unwrap_or("default").as_bytes().to_vec();
    let shared = Arc::new(Shared { store: Mutex::new(store), password: text("password"), user });
    let socket = catalogue::listen(config)?;
    let addr = socket.local_addr()?.as_socket().unwrap_or(config.listen);
    let server = config.tls_options()?.map(tls::server).transpose()?;
    let over_tls = server.is_some();
    let (wake, woken) = UnixStream::pair()?;
    let thread = std::thread::Builder::new().name("target-redis".to_owned()).spawn(move || {
        // Accepting fails only if the listener fails, which clients notice.
        let _ = accept(&socket.into(), &woken, &shared, server.as_ref());
    })?;
    let journal = Arc::new(Journal::new(0, None));
    Ok(Running { addr, tls: over_tls, wake: Some(wake), thread: Some(thread), journal })
}

fn accept(
    listener: &TcpListener,
    woken: &UnixStream,
    shared: &Arc<Shared>,
    server: Option<&Arc<ServerConfig>>,
) -> io::Result<()> {
    let mut connections = Vec::new();
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        poll(&mut ready, None)?;
        if !ready[1].revents().is_empty() {
            break;
        }
        let (client, _) = listener.accept()?;
        client.set_nodelay(true)?;
        let (held, closing): (TcpStream, _) = (client.try_clone()?, client.try_clone()?);
        let (shared, server) = (Arc::clone(shared), server.cloned());
        let thread = std::thread::spawn(move || {
            // The client may close at any time, which only ends the connection.
            let _ = match server {
                None => serve(client, &shared),
                Some(server) => ServerConnection::new(server)
                    .map_err(io::Error::other)
                    .and_then(|tls| serve(StreamOwned::new(tls, client), &shared)),
            };
            // Another handle holds the client's socket too, so dropping this one does not close it.
            let _ = closing.shutdown(std::net::Shutdown::Both);
        });
        connections.retain(|(_, thread): &(_, std::thread::JoinHandle<()>)| !thread.is_finished());
        connections.push((held, thread));
    }
    for (socket, thread) in connections {
        let _ = socket.shutdown(std::net::Shutdown::Both);
        let _ = thread.join();
    }
    Ok(())
}

/// Answers Redis commands until the client closes.
fn serve(mut client: impl Read + Write, shared: &Shared) -> io::Result<()> {
    let mut unread = Vec::new();
    let mut piece = vec![0; 16 << 10];
    let mut out = Vec::new();
    let (mut database, mut known) = (0, shared.password.is_empty());
    loop {
        let count = client.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        unread.extend_from_slice(&piece[..count]);
        let mut used = 0;
        loop {
            match command::read(&unread[used..]) {
                Ok(Some((arguments, length))) => {
                    answer(&arguments, shared, &mut database, &mut known, &mut out);
                    used += length;
                }
                Ok(None) if unread.len() - used < LONGEST => break,
                Ok(None) | Err(()) => {
                    out.extend_from_slice(b"-ERR Protocol error\r\n");
                    client.write_all(&out)?;
                    return client.flush();
                }
            }
        }
        unread.drain(..used);
        client.write_all(&out)?;
        client.flush()?;
        out.clear();
    }
}

fn answer(
    arguments: &[&[u8]],
    shared: &Shared,
    database: &mut usize,
    known: &mut bool,
    out: &mut Vec<u8>,
) {
    let name = arguments.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
    match (name.as_slice(), arguments) {
        (b"AUTH", [_, ..]) if shared.password.is_empty() => {
            out.extend_from_slice(
                b"-ERR AUTH <password> called without any password configured for the default user. \
                  Are you sure your configuration is correct?\r\n",
            );
        }
        (b"AUTH", [_, credentials @ ..]) => {
            let (user, password) = match credentials {
                [password] => (&b"default"[..], *password),
                [user, password] => (*user, *password),
                _ => return out.extend_from_slice(b"-ERR syntax error\r\n"),
            };
            if user == shared.user && password == shared.password {
                *known = true;
                out.extend_from_slice(b"+OK\r\n");
            } else {
                out.extend_from_slice(
                    b"-WRONGPASS invalid username-password pair or user is disabled.\r\n",
                );
            }
        }
        _ if !*known => out.extend_from_slice(b"-NOAUTH Authentication required.\r\n"),
        (b"SELECT", [_, number]) => {
            let number = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok());
            match number {
                Some(number) if number < store::DATABASES => {
                    *database = number;
                    out.extend_from_slice(b"+OK\r\n");
                }
                Some(_) => out.extend_from_slice(b"-ERR DB index is out of range\r\n"),
                None => out.extend_from_slice(b"-ERR value is not an integer or out of range\r\n"),
            }
        }
        (b"PING", [_]) => out.extend_from_slice(b"+PONG\r\n"),
        _ => {
            let mut store = shared.store.lock().unwrap_or_else(PoisonError::into_inner);
            store.run(*database, arguments, out);
        }
    }
}
