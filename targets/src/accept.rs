//! Accepting connections without blocking, with TLS where the target has it.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustls::{ServerConfig, ServerConnection};

/// The next connection that waits at a listener, if there is one.
pub(crate) fn next(listener: &TcpListener) -> Option<TcpStream> {
    match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok(socket) => {
            let socket = TcpStream::from(socket);
            // A peer that has already gone shows itself at the first read.
            let _ = socket.set_nodelay(true);
            Some(socket)
        }
        Err(Errno::MFILE | Errno::NFILE) => {
            // Out of descriptors: the listener stays readable, and without a pause the target's loop would spin.
            std::thread::sleep(Duration::from_millis(1));
            None
        }
        Err(_) => None,
    }
}

/// The TLS of a new connection. `Err`: it cannot be had, and the connection goes.
pub(crate) fn tls(
    config: Option<&Arc<ServerConfig>>,
) -> Result<Option<Box<ServerConnection>>, rustls::Error> {
    let Some(config) = config else { return Ok(None) };
    let mut tls = ServerConnection::new(Arc::clone(config))?;
    tls.set_buffer_limit(None);
    Ok(Some(Box::new(tls)))
}
