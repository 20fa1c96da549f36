//! WebSocket targets: an event loop for very many connections, and the services on it.
//!
//! [`hub`] is the loop, [`socket`] a connection of 80 bytes, [`core`] the operations of services on connections;
//! [`echo`] and [`chat`] are the services. [`odd`], which violates the protocol, runs on the HTTP targets' loop,
//! because it only runs scripts.

pub(crate) mod addresses;
mod chat;
pub(crate) mod core;
pub(crate) mod echo;
pub(crate) mod hub;
pub(crate) mod odd;
pub(crate) mod settings;
pub(crate) mod socket;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use rustix::process::{Resource, Rlimit};
use rustls::ServerConfig;

use crate::config::{Config, bad};
use crate::error::Error;
use crate::journal::Journal;
use crate::running::Running;
use crate::tls;

/// Starts the target `websocket-echo`.
pub(crate) fn start_echo(config: &Config) -> Result<Running, Error> {
    let addresses = addresses::read(config)?;
    let idle_ms = config.read("idle", 0)?;
    let settings = settings::Settings::read(config, idle_ms)?;
    let tls = config.tls_options()?.map(tls::server).transpose()?;
    let backlog = config.read("backlog", 4096)?;
    let listeners = addresses::listen(&addresses, config.listen.port(), backlog, false)?;
    serve(&config.name, listeners, tls, settings, echo::Echo)
}

/// Starts the target `chat`: alone, as one of several processes, or as their parent.
pub(crate) fn start_chat(config: &Config) -> Result<Running, Error> {
    let addresses = addresses::read(config)?;
    let heartbeat: f64 = config.read("heartbeat", 0.0)?;
    if !(0.0..=1e6).contains(&heartbeat) {
        return Err(bad("heartbeat", &heartbeat.to_string(), "must lie between 0 and 1000000"));
    }
    let settings = settings::Settings::read(config, (heartbeat * 1000.0) as u32)?;
    let tls = config.tls_options()?;
    let backlog = config.read("backlog", 4096)?;
    let most_rooms = config.read("rooms", 100_000)?;
    let processes: usize = config.read("processes", 1)?;
    let server = || tls.clone().map(tls::server).transpose();
    if let Some(child) = config.text("child").filter(|text| !text.is_empty()) {
        let (number, port) = child
            .split_once(':')
            .and_then(|(number, port)| Some((number.parse().ok()?, port.parse().ok()?)))
            .ok_or_else(|| bad("child", child, "is for the processes of this target alone"))?;
        let own = share(&addresses, processes, number);
        let listeners = addresses::listen(&own, port, backlog, true)?;
        let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let chat = chat::Chat::child(chat::link::Link::new(stream)?);
        return serve(&config.name, listeners, server()?, settings, chat);
    }
    match processes {
        0 => Err(bad("processes", "0", "there must be one")),
        1 => {
            let port = config.listen.port();
            let listeners = addresses::listen(&addresses, port, backlog, false)?;
            serve(&config.name, listeners, server()?, settings, chat::Chat::alone(most_rooms))
        }
        _ => {
            let Some(arguments) = &config.respawn else {
                let why = "only a program of its own can have several";
                return Err(bad("processes", &processes.to_string(), why));
            };
            // This socket does not listen; it only reserves the port until the processes have bound it.
            let first = SocketAddr::new(addresses[0], config.listen.port());
            let kept = addresses::bind(first, true)?;
            let addr = kept.local_addr()?.as_socket().unwrap_or(first);
            let (wake, woken) = UnixStream::pair()?;
            let mut parent =
                chat::parent::Parent::start(arguments, processes, addr.port(), most_rooms, &woken)?;
            drop(kept);
            let thread = on_thread(&config.name, move || {
                // The loop fails only if epoll itself fails. The target then ends, which its clients notice.
                let _ = parent.run();
                drop((parent, woken));
            })?;
            Ok(running(addr, tls.is_some(), wake, thread))
        }
    }
}

/// Returns the addresses on which process `number` listens: every n-th address, or a shared one if there are fewer
/// addresses than processes.
fn share(addresses: &[IpAddr], processes: usize, number: usize) -> Vec<IpAddr> {
    if addresses.len() < processes {
        return vec![addresses[number % addresses.len()]];
    }
    addresses.iter().copied().skip(number).step_by(processes).collect()
}

/// Raises this process's limit of file descriptors to the maximum, because each connection needs one.
fn raise_limit() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    // If the limit cannot be raised, the target serves as many connections as it can.
    let _ = rustix::process::setrlimit(
        Resource::Nofile,
        Rlimit { current: limit.maximum, maximum: limit.maximum },
    );
}

/// Runs a hub of WebSocket connections on its own thread.
fn serve<S: hub::Service + 'static>(
    name: &str,
    listeners: Vec<TcpListener>,
    tls: Option<Arc<ServerConfig>>,
    settings: settings::Settings,
    service: S,
) -> Result<Running, Error> {
    let addr = listeners.first().map(TcpListener::local_addr).transpose()?;
    let addr = addr.ok_or_else(|| io::Error::other("no address to listen on"))?;
    raise_limit();
    let (wake, woken) = UnixStream::pair()?;
    let over_tls = tls.is_some();
    let mut hub = hub::Hub::new(listeners, &woken, tls, settings, service)?;
    hub.service.begin(&hub.core)?;
    let thread = on_thread(name, move || {
        // The loop fails only if epoll itself fails. The target then ends, which its clients notice.
        let _ = hub.run();
        drop((hub, woken));
    })?;
    Ok(running(addr, over_tls, wake, thread))
}

fn running(addr: SocketAddr, tls: bool, wake: UnixStream, thread: JoinHandle<()>) -> Running {
    let journal = Arc::new(Journal::new(0, None));
    Running { addr, tls, wake: Some(wake), thread: Some(thread), journal }
}

fn on_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    Ok(Builder::new().name(format!("target-{name}")).spawn(work)?)
}
