//! WebSocket targets: an event loop that holds very many connections, and what is served on it.
//!
//! [`hub`] is the loop, [`socket`] one connection of 80 bytes, [`core`] what services may do with connections; [`echo`] and
//! [`chat`] are the services. [`odd`], which breaks the protocol, runs on the HTTP targets' loop, for it only plays scripts.

pub(crate) mod addresses;
pub(crate) mod core;
pub(crate) mod echo;
pub(crate) mod hub;
pub(crate) mod settings;
pub(crate) mod socket;

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use rustls::ServerConfig;

use crate::config::Config;
use crate::error::Error;
use crate::journal::Journal;
use crate::running::Running;
use crate::tls;

/// Starts `websocket-echo`.
pub(crate) fn start_echo(config: &Config) -> Result<Running, Error> {
    let addresses = addresses::read(config)?;
    let idle_ms = config.read("idle", 0)?;
    let settings = settings::Settings::read(config, idle_ms)?;
    let tls = config.tls_options()?.map(tls::server).transpose()?;
    let backlog = config.read("backlog", 4096)?;
    let listeners = addresses::listen(&addresses, config.listen.port(), backlog, false)?;
    serve(&config.name, listeners, tls, settings, echo::Echo)
}

/// A hub on a thread of its own.
fn serve<S: hub::Service + 'static>(
    name: &str,
    listeners: Vec<TcpListener>,
    tls: Option<Arc<ServerConfig>>,
    settings: settings::Settings,
    service: S,
) -> Result<Running, Error> {
    let addr = listeners.first().map(TcpListener::local_addr).transpose()?;
    let addr = addr.ok_or_else(|| io::Error::other("no address to listen on"))?;
    let (wake, woken) = UnixStream::pair()?;
    let over_tls = tls.is_some();
    let mut hub = hub::Hub::new(listeners, &woken, tls, settings, service)?;
    let thread = on_thread(name, move || {
        // The loop fails only when epoll itself does; the target is then gone, which its clients see.
        let _ = hub.run();
        drop((hub, woken));
    })?;
    Ok(Running {
        addr,
        tls: over_tls,
        wake: Some(wake),
        thread: Some(thread),
        journal: Arc::new(Journal::new(0, None)),
    })
}

fn on_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    Ok(Builder::new().name(format!("target-{name}")).spawn(work)?)
}
