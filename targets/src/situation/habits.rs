//! The event loop's share of a situation: slow accepts, too many connections, idle cuts, and stalls of everything.

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Counts;
use super::time::{Clock, Windows, ms};
use crate::config::{Config, bad};
use crate::error::Error;
use crate::service::Nanos;

#[derive(Default)]
pub(crate) struct Habits {
    pub(crate) counts: Arc<Counts>,
    clock: Clock,
    started: bool,
    stalls: Option<Windows>,
    /// Number of the last stall, from 1.
    stalled: u64,
    /// Least time between two accepts.
    pub(crate) accept_every: Nanos,
    /// Connections beyond this number are reset; 0: none.
    most: u64,
    pub(crate) idle: Nanos,
    /// Idle connections are cut with RST instead of FIN.
    pub(crate) cut_resets: bool,
}

impl Habits {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let stall = ms(config, "stall", 0.0)?;
        let stalls = Windows::new(config, "stall_at", "stall", "stall_every")?;
        let cut_resets = match config.text("cut").unwrap_or("fin") {
            "fin" => false,
            "rst" => true,
            other => return Err(bad("cut", other, "there are fin and rst")),
        };
        Ok(Self {
            stalls: (stall > 0).then_some(stalls),
            accept_every: ms(config, "accept_every", 0.0)?,
            most: config.read("connections", 0)?,
            idle: ms(config, "idle", 0.0)?,
            cut_resets,
            ..Self::default()
        })
    }

    /// The time that a stall which holds `now` has still to last. Stalls count from the first accept.
    pub(crate) fn stall(&mut self, now: Nanos) -> Option<Duration> {
        let windows = self.stalls?;
        if !self.started {
            return None;
        }
        let at = self.clock.since_first(now);
        let (number, end) = windows.number_and_end(at)?;
        if number + 1 > self.stalled {
            self.stalled = number + 1;
            Counts::add(&self.counts.stalls);
        }
        Some(Duration::from_nanos(end - at))
    }

    /// Counts a new connection. False: there are too many, and it was reset.
    pub(crate) fn admits(&mut self, socket: &TcpStream, open: usize, now: Nanos) -> bool {
        self.started = true;
        self.clock.since_first(now);
        Counts::add(&self.counts.accepted);
        if self.most == 0 || (open as u64) < self.most {
            return true;
        }
        Counts::add(&self.counts.reset);
        // A socket that is already gone cannot be reset, which is as good.
        let _ = socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO));
        false
    }

    pub(crate) fn open(&self, connections: usize) {
        self.counts.open.store(connections as u64, Ordering::Relaxed);
    }
}

/// Does nothing for so long; true when the target was stopped meanwhile.
pub(crate) fn stand_still(mut wake: &UnixStream, time: Duration) -> bool {
    // A time limit of zero would be none.
    let time = time.max(Duration::from_micros(1));
    wake.set_read_timeout(Some(time)).is_err() || wake.read(&mut [0]).is_ok()
}
