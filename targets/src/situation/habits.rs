//! Faults in the event loop: slow accepts, a connection limit, cuts of idle connections, and stalls of the whole
//! target.

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use socket2::{SockFilter, SockRef};

use super::Counts;
use super::time::{Clock, Windows, ms, share};
use crate::config::{Config, bad};
use crate::error::Error;
use crate::service::Nanos;

#[derive(Default)]
pub(crate) struct Habits {
    pub(crate) counts: Arc<Counts>,
    clock: Clock,
    started: bool,
    stalls: Option<Windows>,
    /// Number of the stall that was counted last, from 1.
    stalled: u64,
    /// Minimum time between two accepted connections, in nanoseconds.
    pub(crate) accept_every: Nanos,
    /// Maximum number of open connections; further ones are reset. 0 for no limit.
    most: u64,
    pub(crate) idle: Nanos,
    /// True if idle connections are cut with RST instead of FIN.
    pub(crate) cut_resets: bool,
    /// Share of incoming network segments that are dropped, 0 to 1.
    loss: f64,
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
            loss: share(config, "loss", 0.0)?,
            cut_resets,
            ..Self::default()
        })
    }

    /// Returns the remaining time of the stall at `now`, if there is one. Stall times count from the first accept.
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

    /// Counts a new connection. Returns false if it exceeds the limit of open connections; then it will be reset.
    pub(crate) fn admits(&mut self, socket: &TcpStream, open: usize, now: Nanos) -> bool {
        self.started = true;
        self.clock.since_first(now);
        Counts::add(&self.counts.accepted);
        if self.loss > 0.0 {
            lose(socket, self.loss);
        }
        if self.most == 0 || (open as u64) < self.most {
            return true;
        }
        Counts::add(&self.counts.reset);
        // Setting the linger time fails only if the socket is already closed.
        let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
        false
    }

    pub(crate) fn open(&self, connections: usize) {
        self.counts.open.store(connections as u64, Ordering::Relaxed);
    }
}

/// Makes the kernel drop a share of a socket's incoming segments, as on a bad line. The peer must resend them.
fn lose(socket: &TcpStream, share: f64) {
    // Classic BPF: load a random number (SKF_AD_OFF + SKF_AD_RANDOM); drop the segment if it is small, else accept all
    // of it.
    const RANDOM: u32 = (-0x1000_i32 + 56).cast_unsigned();
    let least = (share * f64::from(u32::MAX)) as u32;
    let filter = [
        SockFilter::new(0x20, 0, 0, RANDOM),
        SockFilter::new(0x35, 0, 1, least),
        SockFilter::new(0x06, 0, 0, u32::MAX),
        SockFilter::new(0x06, 0, 0, 0),
    ];
    // If the kernel has no socket filters, no segment is dropped.
    let _ = SockRef::from(socket).attach_filter(&filter);
}

/// Waits for a time without handling events, as in a stall; returns true if the target was stopped meanwhile.
pub(crate) fn stand_still(mut wake: &UnixStream, time: Duration) -> bool {
    // A socket timeout of zero would mean no timeout.
    let time = time.max(Duration::from_micros(1));
    wake.set_read_timeout(Some(time)).is_err() || wake.read(&mut [0]).is_ok()
}
