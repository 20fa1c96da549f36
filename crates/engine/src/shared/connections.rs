//! The settings of a run that a core's connections need.

use crate::net;
use crate::net::ports::Ports;
use crate::shared::RunShared;

impl RunShared {
    /// Returns the arguments from which a core builds its connections.
    pub(crate) fn connections(&self, core: u32) -> net::Parts<'_> {
        let settings = &self.settings;
        let (rank, ranks) = (self.rank(core), self.ranks());
        let seed = self.seed.rotate_left(29) ^ u64::from(std::process::id());
        net::Parts {
            sources: &settings.connect.sources,
            allowed: settings.connect.allowed.clone(),
            ports: Ports::new(self.ports.clone(), rank, ranks, seed),
            rank,
            ranks,
            connect_rate: settings.connect.rate,
            backoff: settings.websocket.backoff,
            address_life: settings.connect.address_life,
            resolver: self.resolver.clone(),
            inbox: self.inbox(core),
        }
    }
}
