//! Time by phase, of one sample or summed over many samples.
use serde::{Deserialize, Serialize};

/// Time by phase in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Delay from the intended start to the actual start.
    pub late: u64,
    /// Wait for a free connection of a pool.
    pub room: u64,
    /// Lookup of the host name.
    pub dns: u64,
    /// TCP handshake.
    pub connect: u64,
    /// TLS handshake.
    pub tls: u64,
    /// Sending of the request.
    pub send: u64,
    /// From the last byte sent to the first byte of the response.
    pub wait: u64,
    /// From the first byte to the last byte of the response.
    pub receive: u64,
    /// Part of the phases above: time in this process while a response was ready to be read.
    pub lag: u64,
}

impl Phases {
    /// Estimates the phases of a sample from JMeter's three times in nanoseconds. Without a latency, all phases are 0.
    pub const fn of_times(elapsed: u64, latency: u64, connect: u64) -> Self {
        let mut phases = Self {
            late: 0,
            room: 0,
            dns: 0,
            connect: 0,
            tls: 0,
            send: 0,
            wait: 0,
            receive: 0,
            lag: 0,
        };
        if latency > 0 {
            phases.connect = if connect < latency { connect } else { latency };
            phases.wait = latency - phases.connect;
            phases.receive = elapsed.saturating_sub(latency);
        }
        phases
    }

    /// Adds the phases of another sample, or of another sum.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.late = self.late.wrapping_add(other.late);
        self.room = self.room.wrapping_add(other.room);
        self.dns = self.dns.wrapping_add(other.dns);
        self.connect = self.connect.wrapping_add(other.connect);
        self.tls = self.tls.wrapping_add(other.tls);
        self.send = self.send.wrapping_add(other.send);
        self.wait = self.wait.wrapping_add(other.wait);
        self.receive = self.receive.wrapping_add(other.receive);
        self.lag = self.lag.wrapping_add(other.lag);
    }

    /// Returns the phases in the order of the fields.
    pub const fn to_array(&self) -> [u64; 9] {
        [
            self.late,
            self.room,
            self.dns,
            self.connect,
            self.tls,
            self.send,
            self.wait,
            self.receive,
            self.lag,
        ]
    }

    pub const fn from_array(of: [u64; 9]) -> Self {
        let [late, room, dns, connect, tls, send, wait, receive, lag] = of;
        Self { late, room, dns, connect, tls, send, wait, receive, lag }
    }
}
