//! The steps of an exchange between its start and its response, from which the phases of its sample are computed.

use stats::Phases;

use crate::time::clock::Nanos;

/// Times of the steps of an exchange in µs; 0 means that the step did not happen. Values saturate at 71 minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Milestones {
    /// Time spent waiting for a connection of a pool.
    pub(crate) room: u32,
    /// Time from the start until the addresses of the name were known.
    pub(crate) dns: u32,
    /// Time from the start until the TCP connection was established and TLS began.
    pub(crate) tcp: u32,
    /// Duration of the TLS handshake.
    pub(crate) tls: u32,
    /// Time from the start to the first byte of the response's head.
    pub(crate) first: u32,
}

/// The times of an exchange from which its phases are computed, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    /// Time from the start until the connection was ready; 0 if it was open before.
    pub(crate) connect: Nanos,
    /// Time at which the last byte was sent; 0 if no byte was sent.
    pub(crate) sent_at: Nanos,
    pub(crate) reused: bool,
}

impl Milestones {
    pub(crate) const NONE: Self = Self { room: 0, dns: 0, tcp: 0, tls: 0, first: 0 };

    /// Converts a duration in nanoseconds to µs.
    #[inline]
    pub(crate) fn micros(length: Nanos) -> u32 {
        // At least 1, because 0 means that the step did not happen.
        u32::try_from(length / 1000).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the sample's phases. The remaining time of a failed exchange is assigned to its last step.
    #[inline]
    pub(crate) fn phases(&self, times: &Times) -> Phases {
        let nanos = |micros: u32| u64::from(micros) * 1000;
        let elapsed = (times.end - times.start).max(0) as u64;
        let sent = match times.sent_at {
            0 => elapsed,
            at => ((at - times.start).max(0) as u64).min(elapsed),
        };
        let first = match self.first {
            0 => elapsed,
            first => nanos(first).clamp(sent, elapsed),
        };
        let mut phases =
            Phases { wait: first - sent, receive: elapsed - first, ..Phases::default() };
        if times.reused {
            phases.room = nanos(self.room).min(sent);
            phases.send = sent - phases.room;
            return phases;
        }
        self.opening(times.connect, sent, &mut phases);
        phases
    }

    /// Splits the first `sent` nanoseconds of an exchange into the phases of opening the connection and of sending.
    fn opening(&self, connect: Nanos, sent: u64, phases: &mut Phases) {
        let nanos = |micros: u32| u64::from(micros) * 1000;
        let mut left = sent;
        let mut take = |wanted: u64| {
            let taken = wanted.min(left);
            left -= taken;
            taken
        };
        phases.room = take(nanos(self.room));
        phases.dns = take(nanos(self.dns).saturating_sub(phases.room));
        let before = phases.room + phases.dns;
        match (self.tcp, connect.max(0) as u64) {
            // Without TLS: the TCP connection was established when the exchange failed or was complete.
            (0, 0) => phases.connect = take(u64::MAX),
            (0, ready) => phases.connect = take(ready.saturating_sub(before)),
            (tcp, ready) => {
                phases.connect = take(nanos(tcp).saturating_sub(before));
                let handshake = match (self.tls, ready) {
                    (0, 0) => u64::MAX,
                    (0, ready) => ready.saturating_sub(nanos(tcp)),
                    (tls, _) => nanos(tls),
                };
                phases.tls = take(handshake);
            }
        }
        phases.send = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1000;

    fn times(end: Nanos, connect: Nanos, sent_at: Nanos, reused: bool) -> Times {
        Times { start: 1_000_000, end: 1_000_000 + end, connect, sent_at, reused }
    }

    fn sum(p: &Phases) -> u64 {
        p.room + p.dns + p.connect + p.tls + p.send + p.wait + p.receive
    }

    #[test]
    fn phases_of_an_exchange_add_up_to_its_time() {
        let steps = Milestones { room: 0, dns: 10, tcp: 30, tls: 40, first: 200 };
        let phases = steps.phases(&times(300_000, 71_000, 1_000_000 + 90_000, false));
        assert_eq!((phases.dns, phases.connect, phases.tls), (10 * US, 20 * US, 40 * US));
        assert_eq!((phases.send, phases.wait, phases.receive), (20 * US, 110 * US, 100 * US));
        assert_eq!(sum(&phases), 300_000);
    }

    #[test]
    fn a_reused_connection_has_neither_opening_nor_sending() {
        let steps = Milestones { first: 200, ..Milestones::NONE };
        let phases = steps.phases(&times(300_000, 0, 1_000_000, true));
        assert_eq!(phases, Phases { wait: 200 * US, receive: 100 * US, ..Phases::default() });
    }

    #[test]
    fn a_failure_spent_its_time_where_it_was() {
        let connecting = Milestones { dns: 10, ..Milestones::NONE };
        let phases = connecting.phases(&times(300_000, 0, 0, false));
        assert_eq!((phases.dns, phases.connect, sum(&phases)), (10 * US, 290 * US, 300_000));
        let shaking = Milestones { tcp: 30, ..Milestones::NONE };
        let phases = shaking.phases(&times(300_000, 0, 0, false));
        assert_eq!((phases.connect, phases.tls, sum(&phases)), (30 * US, 270 * US, 300_000));
        let waiting = Milestones::NONE.phases(&times(300_000, 50_000, 1_060_000, false));
        assert_eq!((waiting.connect, waiting.send, waiting.wait), (50 * US, 10 * US, 240 * US));
    }
}
