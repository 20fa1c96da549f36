//! One thread per connection, for targets whose work blocks on another server or on a processor.
//!
//! Such a target is a [`Threaded`]: a function from a complete request to the bytes of its answer. This module does the
//! rest: accepting, TLS, reading, `100 Continue`, and closing all connections with the target. A connection costs a
//! thread with a stack of half a mebibyte.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::config::Config;
use crate::error::Error;
use crate::journal::Journal;
use crate::request::{Found, Request};
use crate::running::Running;
use crate::{catalogue, tls};

/// Stack size in bytes of a connection's thread. RSA in an unoptimised build needs the most.
const STACK: usize = 512 << 10;
/// Maximum number of bytes read from the socket at a time.
const PIECE: usize = 16 << 10;
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const BAD: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

pub(crate) trait Threaded: Send + Sync + 'static {
    /// Maximum length in bytes of a request with head and body.
    fn longest(&self) -> usize;

    /// Maximum number of open connections of the target; further ones are reset.
    fn connections(&self) -> usize {
        usize::MAX
    }

    /// Returns the answer to a client's request. The connection closes after the answer unless [`Request::keeps_alive`]
    /// is true.
    fn answer(&self, request: &Request<'_>, client: IpAddr) -> Vec<u8>;
}

/// Starts the target: listens and serves on separate threads until the returned value is dropped.
pub(crate) fn start<T: Threaded>(config: &Config, target: Arc<T>) -> Result<Running, Error> {
    let tls = config.tls_options()?.map(tls::server).transpose()?;
    let over_tls = tls.is_some();
    let socket = catalogue::listen(config)?;
    let addr = socket.local_addr()?.as_socket().unwrap_or(config.listen);
    let (wake, woken) = UnixStream::pair()?;
    let name = format!("target-{}", config.name);
    let thread = Builder::new().name(name.clone()).spawn(move || {
        // Accepting fails only if the listener fails, which clients notice.
        let _ = accept(&socket.into(), &woken, &name, tls.as_ref(), &target);
    })?;
    let journal = Arc::new(Journal::new(0, None));
    Ok(Running { addr, tls: over_tls, wake: Some(wake), thread: Some(thread), journal })
}

fn accept<T: Threaded>(
    listener: &TcpListener,
    woken: &UnixStream,
    name: &str,
    tls: Option<&Arc<ServerConfig>>,
    target: &Arc<T>,
) -> io::Result<()> {
    let mut connections: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        poll(&mut ready, None)?;
        if !ready[1].revents().is_empty() {
            break;
        }
        connections.retain(|(_, thread)| !thread.is_finished());
        let Ok((client, _)) = listener.accept() else {
            // Out of file descriptors, or the peer has already closed. The listener stays readable, so without a pause
            // this loop would spin.
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        if connections.len() >= target.connections() {
            // Setting the linger time fails only if the socket is already closed.
            let _ = socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO));
            continue;
        }
        // If no thread or descriptor is available, the client sees its connection close.
        if let Ok(connection) = spawn(client, name, tls, target) {
            connections.push(connection);
        }
    }
    for (socket, thread) in connections {
        let _ = socket.shutdown(Shutdown::Both);
        let _ = thread.join();
    }
    Ok(())
}

fn spawn<T: Threaded>(
    client: TcpStream,
    name: &str,
    tls: Option<&Arc<ServerConfig>>,
    target: &Arc<T>,
) -> io::Result<(TcpStream, JoinHandle<()>)> {
    client.set_nodelay(true)?;
    let (held, target) = (client.try_clone()?, Arc::clone(target));
    let peer = client.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
    let session = tls.map(|config| ServerConnection::new(Arc::clone(config)));
    let session = session.transpose().map_err(io::Error::other)?;
    let thread = Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
        // The client may close at any time, which only ends the connection.
        let _ = match session {
            None => serve(&mut &client, peer, &*target),
            Some(session) => {
                let mut stream = StreamOwned::new(session, &client);
                serve(&mut stream, peer, &*target).map(|()| {
                    stream.conn.send_close_notify();
                    let _ = stream.flush();
                })
            }
        };
        let _ = client.shutdown(Shutdown::Both);
    })?;
    Ok((held, thread))
}

/// Answers the requests of a connection in sequence until it ends.
fn serve(
    stream: &mut (impl Read + Write),
    client: IpAddr,
    target: &impl Threaded,
) -> io::Result<()> {
    let mut unread = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut continued = false;
    loop {
        let (used, answer, keeps) = match Request::find(&unread) {
            Found::Whole(request, length) => {
                (length, target.answer(&request, client), request.keeps_alive())
            }
            Found::Part { expects } if unread.len() < target.longest() => {
                if expects && !continued {
                    continued = true;
                    stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                }
                match stream.read(&mut piece)? {
                    0 => return Ok(()),
                    count => unread.extend_from_slice(&piece[..count]),
                }
                continue;
            }
            Found::Part { .. } => return stream.write_all(TOO_LARGE),
            Found::Bad => return stream.write_all(BAD),
        };
        stream.write_all(&answer)?;
        if !keeps {
            return stream.flush();
        }
        unread.drain(..used);
        continued = false;
    }
}
