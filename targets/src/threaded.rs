//! A thread for each connection, for targets whose work blocks: on another server, or on a processor.
//!
//! Such a target is a [`Threaded`]: a function from a whole request to the bytes of its answer. Everything else is here: accepting, TLS,
//! reading, `100 Continue`, and the end of all connections with the target. A connection costs a thread with a stack of half a mebibyte.

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

/// Bytes of stack of a connection's thread. RSA in an unoptimised build takes the most.
const STACK: usize = 512 << 10;
/// Bytes asked of the socket at a time.
const PIECE: usize = 16 << 10;
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
const BAD: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

pub(crate) trait Threaded: Send + Sync + 'static {
    /// Bytes of a request, head and body, at most.
    fn longest(&self) -> usize;

    /// Connections open at once, at most; further ones are reset.
    fn connections(&self) -> usize {
        usize::MAX
    }

    /// The answer to a request of that client. The connection ends behind it unless [`Request::keeps_alive`].
    fn answer(&self, request: &Request<'_>, client: IpAddr) -> Vec<u8>;
}

/// Listens and serves on threads of its own until the target is stopped.
pub(crate) fn start<T: Threaded>(config: &Config, target: Arc<T>) -> Result<Running, Error> {
    let tls = config.tls_options()?.map(tls::server).transpose()?;
    let over_tls = tls.is_some();
    let socket = catalogue::listen(config)?;
    let addr = socket.local_addr()?.as_socket().unwrap_or(config.listen);
    let (wake, woken) = UnixStream::pair()?;
    let name = format!("target-{}", config.name);
    let thread = Builder::new().name(name.clone()).spawn(move || {
        // It fails only when the listener does; its clients see that.
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
            // Out of descriptors, or the peer has gone already: the listener stays readable, and without a pause this would spin.
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        if connections.len() >= target.connections() {
            // A socket that is already gone cannot be reset, which is as good.
            let _ = socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO));
            continue;
        }
        // Where no further thread or descriptor can be had, the client sees its connection close.
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
        // The client may go at any time: then the connection is over.
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

/// Answers the requests of a connection, one after the other, until it ends.
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
