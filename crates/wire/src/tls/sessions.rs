//! Cache of resumable TLS sessions, for one user or for all users.
//!
//! The numbers of servers and of tickets per server are limited. The newest tickets are kept; with TLS 1.3, each ticket
//! is used once. An empty cache allocates only itself. A lookup searches the list linearly, because a user connects to
//! few servers.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Limits of a TLS session cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub servers: usize,
    /// Maximum number of session tickets per server.
    pub tickets: usize,
}

pub(super) struct Sessions {
    limits: Limits,
    servers: Mutex<Vec<Server>>,
}

struct Server {
    name: ServerName<'static>,
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    tickets: Vec<Tls13ClientSessionValue>,
}

impl Sessions {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, servers: Mutex::new(Vec::new()) }
    }

    fn servers(&self) -> MutexGuard<'_, Vec<Server>> {
        // A panic of another thread leaves the list of sessions consistent.
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `change` with the cached sessions of a server. If the cache is full, a new server replaces the oldest one.
    fn with(&self, name: ServerName<'static>, change: impl FnOnce(&mut Server, usize)) {
        if self.limits.servers == 0 {
            return;
        }
        let mut servers = self.servers();
        let at = match servers.iter().position(|server| server.name == name) {
            Some(at) => at,
            None => {
                if servers.len() >= self.limits.servers {
                    servers.remove(0);
                }
                servers.push(Server { name, group: None, tls12: None, tickets: Vec::new() });
                servers.len() - 1
            }
        };
        change(&mut servers[at], self.limits.tickets);
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.with(server_name, |server, _| server.group = Some(group));
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.servers().iter().find(|server| server.name == *server_name)?.group
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.with(server_name, |server, _| server.tls12 = Some(value));
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.servers().iter().find(|server| server.name == *server_name)?.tls12.clone()
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        if let Some(server) = self.servers().iter_mut().find(|server| server.name == *server_name) {
            server.tls12 = None;
        }
    }

    fn insert_tls13_ticket(
        &self,
        server_name: ServerName<'static>,
        value: Tls13ClientSessionValue,
    ) {
        self.with(server_name, |server, most| {
            if server.tickets.len() >= most.max(1) {
                server.tickets.remove(0);
            }
            server.tickets.push(value);
        });
    }

    fn take_tls13_ticket(
        &self,
        server_name: &ServerName<'static>,
    ) -> Option<Tls13ClientSessionValue> {
        self.servers().iter_mut().find(|server| server.name == *server_name)?.tickets.pop()
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // TLS sessions are secret, so they are not printed.
        f.debug_struct("Sessions").field("limits", &self.limits).finish_non_exhaustive()
    }
}
