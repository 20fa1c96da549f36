//! Time by what it was spent on: of one sample, or summed over many.
use serde::{Deserialize, Serialize};

/// Time by what it was spent on, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// From the intended start to the actual one.
    pub late: u64,
    /// For a connection of a pool.
    pub room: u64,
    pub dns: u64,
    /// TCP, without DNS and TLS.
    pub connect: u64,
    pub tls: u64,
    pub send: u64,
    /// From the last byte sent to the first byte of the answer.
    pub wait: u64,
    pub receive: u64,
    /// Within the phases above: spent in this process while an answer lay ready.
    pub lag: u64,
}

impl Phases {
    /// The phases of a sample of which only JMeter's three times are known, nanoseconds. Without a latency there are none.
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

    /// Adds those of another sample, or of many.
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

    /// In the order of the fields.
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
