//! Accepts connections without blocking, with TLS if the target uses it.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustls::{ServerConfig, ServerConnection};

/// Accepts the next connection that waits at a listener, if there is one.
pub(crate) fn next(listener: &TcpListener) -> Option<TcpStream> {
    match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok(socket) => {
            let socket = TcpStream::from(socket);
            // If the peer has already closed, the first read reports it.
            let _ = socket.set_nodelay(true);
            Some(socket)
        }
        Err(Errno::MFILE | Errno::NFILE) => {
            // Out of file descriptors. The listener stays readable, so without a pause the target's loop would spin.
            std::thread::sleep(Duration::from_millis(1));
            None
        }
        Err(_) => None,
    }
}

/// Creates the TLS state of a new connection. `Err`: TLS cannot be set up, and the connection is dropped.
pub(crate) fn tls(
    config: Option<&Arc<ServerConfig>>,
) -> Result<Option<Box<ServerConnection>>, rustls::Error> {
    let Some(config) = config else { return Ok(None) };
    let mut tls = ServerConnection::new(Arc::clone(config))?;
    tls.set_buffer_limit(None);
    Ok(Some(Box::new(tls)))
}
