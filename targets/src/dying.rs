//! `dying`: serves like `fixed`, then closes its listener and all connections for a while, then serves again on the
//! same port.
//!
//! Each time of serving, a *life*, has its own reactor. Options: `up` and `down` in milliseconds, `times` (0: endless),
//! `size`.

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use socket2::Socket;

use crate::catalogue::listen;
use crate::config::{Config, bad};
use crate::error::Error;
use crate::fixed::Fixed;
use crate::reactor::Reactor;

pub(crate) struct Life {
    /// The user's configuration, with the port that the first life was bound to.
    config: Config,
    tls: Option<Arc<ServerConfig>>,
    up: Duration,
    down: Duration,
    /// Number of further times that the target closes its listener and connections.
    deaths: u64,
}

impl Life {
    pub(crate) fn new(
        config: &Config,
        addr: SocketAddr,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<Self, Error> {
        let up = config.read("up", 5000)?;
        let down = config.read("down", 2000)?;
        if up == 0 || down == 0 {
            return Err(bad("up", &up.to_string(), "neither up nor down may be 0"));
        }
        let times: u64 = config.read("times", 0)?;
        Fixed::new(config)?;
        Ok(Self {
            config: config.clone().listen(addr),
            tls,
            up: Duration::from_millis(up),
            down: Duration::from_millis(down),
            deaths: if times == 0 { u64::MAX } else { times },
        })
    }

    /// Alternates between serving and being down until the target is stopped, which closes the other end of `end`.
    pub(crate) fn live(&mut self, first: Socket, end: &UnixStream) {
        let mut listener = Some(TcpListener::from(first));
        loop {
            let socket =
                listener.take().map_or_else(|| listen(&self.config).map(TcpListener::from), Ok);
            // Another process may have taken the port meanwhile; the next life retries.
            let served = socket.and_then(|socket| self.serve(socket, end));
            if matches!(served, Ok(Over::Stopped)) || waits(end, self.down) {
                return;
            }
        }
    }

    fn serve(&mut self, listener: TcpListener, end: &UnixStream) -> Result<Over, Error> {
        let last = self.deaths == 0;
        self.deaths = self.deaths.saturating_sub(1);
        let service = Box::new(Fixed::new(&self.config)?);
        let (wake, woken) = UnixStream::pair()?;
        let mut reactor = Reactor::new(listener, &woken, self.tls.clone(), service)?;
        let thread =
            std::thread::Builder::new().name("target-life".to_owned()).spawn(move || {
                // If the event loop fails, this life ends early, which is acceptable for this target.
                let _ = reactor.run();
                drop((reactor, woken));
            })?;
        let stopped = if last { waits_for_ever(end) } else { waits(end, self.up) };
        drop(wake);
        // A panic of the event loop's thread was already printed.
        let _ = thread.join();
        Ok(if stopped { Over::Stopped } else { Over::Dead })
    }
}

enum Over {
    Dead,
    Stopped,
}

/// Waits for the given time; returns true if the target was stopped meanwhile.
fn waits(mut end: &UnixStream, time: Duration) -> bool {
    end.set_read_timeout(Some(time)).is_err() || end.read(&mut [0]).is_ok()
}

fn waits_for_ever(mut end: &UnixStream) -> bool {
    let _ = end.set_read_timeout(None);
    let _ = end.read(&mut [0]);
    true
}
