//! Local ports of connections, assigned by the core itself.
//!
//! The kernel searches its port range for a port that is free for a destination, first among odd or even ports
//! only. Once half of the range is taken, each `connect` checks thousands of ports, which takes 1 to 2 ms of
//! processor time. Here each pair of source and destination has a cursor, and a connection gets the port after the
//! last one. This takes 21 µs, from the first connection to the last of 28 000. The port is requested with
//! `IP_LOCAL_PORT_RANGE` (Linux 6.3), as a range of one port; [docs/decisions/local-ports.md] explains why not with
//! `bind`. The cores of a run start in separate parts of the range. A taken port costs a system call. After
//! [`TRIES`] consecutive taken ports, the kernel searches, and the cursor continues after the port that it found.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use nix::sys::socket;
use nix::{libc, setsockopt_impl, sockopt_impl};
use plan::random::Random;
use socket2::Socket;

/// Number of ports tried for a connection before the kernel searches.
pub(crate) const TRIES: u32 = 64;
/// Maximum number of pairs of source and destination with a cursor; above this the table is cleared.
const PAIRS: usize = 4096;

/// The system's range of local ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    low: u16,
    high: u16,
    /// `ip_local_reserved_ports`: first and last port of each reserved interval.
    reserved: Vec<(u16, u16)>,
}

impl Range {
    /// Reads `ip_local_port_range` and `ip_local_reserved_ports`, which also apply to IPv6. `None` if they cannot be
    /// read.
    pub(crate) fn of_system() -> Option<Self> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"));
        let range = read("ip_local_port_range").ok()?;
        Self::parse(&range, &read("ip_local_reserved_ports").unwrap_or_default())
    }

    fn parse(range: &str, reserved: &str) -> Option<Self> {
        let mut ends = range.split_ascii_whitespace().map(str::parse::<u16>);
        let (low, high) = (ends.next()?.ok()?, ends.next()?.ok()?);
        let runs = reserved.trim().split(',').filter_map(|run| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        });
        let mut reserved: Vec<(u16, u16)> = runs.collect();
        reserved.sort_unstable();
        (low > 0 && low <= high).then_some(Self { low, high, reserved })
    }

    fn is_reserved(&self, port: u16) -> bool {
        self.reserved.iter().any(|(first, last)| (*first..=*last).contains(&port))
    }
}

/// The local ports of one core.
#[derive(Debug)]
pub(crate) struct Ports {
    /// Range of local ports; `None` if the kernel chooses the port.
    range: Option<Range>,
    /// First and last port of this core's own part of the range.
    first: u16,
    last: u16,
    /// Cursors: the next port for each pair of source and destination.
    cursors: HashMap<(Option<IpAddr>, SocketAddr), u16>,
    random: Random,
}

sockopt_impl!(
    /// Socket option for the allowed ports: the first port in the lower 16 bits, the last in the upper; 0 is the
    /// system's range.
    LocalPortRange,
    SetOnly,
    libc::IPPROTO_IP,
    IP_LOCAL_PORT_RANGE,
    u32
);

/// Number of the socket option `IP_LOCAL_PORT_RANGE`, which `libc` does not define.
const IP_LOCAL_PORT_RANGE: libc::c_int = 51;

/// Makes the kernel connect the socket from this local port; 0 lets the kernel search the whole range.
pub(crate) fn ask_for(socket: &Socket, port: u16) -> nix::Result<()> {
    socket::setsockopt(socket, LocalPortRange, &(u32::from(port) | u32::from(port) << 16))
}

impl Ports {
    /// Returns ports without a range: the kernel chooses all ports.
    pub(crate) fn of_kernel() -> Self {
        Self::new(None, 0, 1, 0)
    }

    /// Returns the ports of the core with the rank `rank`. Without `range`, the kernel chooses all ports.
    pub(crate) fn new(range: Option<Range>, rank: u32, ranks: u32, seed: u64) -> Self {
        let (mut first, mut last) = (0, 0);
        if let Some(range) = &range {
            let (low, all) = (u64::from(range.low), u64::from(range.high - range.low) + 1);
            let begin = |rank: u32| all * u64::from(rank) / u64::from(ranks.max(1));
            first = (low + begin(rank)) as u16;
            // If a machine has more cores than ports, several cores share a port.
            last =
                (low + begin(rank + 1).max(begin(rank) + 1) - 1).min(u64::from(range.high)) as u16;
        }
        Self { range, first, last, cursors: HashMap::new(), random: Random::new(seed) }
    }

    /// Returns the next port to try; `None` if the kernel must choose.
    pub(crate) fn next(&mut self, from: Option<IpAddr>, to: SocketAddr) -> Option<u16> {
        let range = self.range.as_ref()?;
        let key = (from, to);
        let start = match self.cursors.get(&key) {
            Some(port) => *port,
            None => {
                if self.cursors.len() >= PAIRS {
                    self.cursors.clear();
                }
                // The cursor starts at a random port, so that two runs on one machine do not use the same ports
                // in the same order.
                let own = u64::from(self.last - self.first) + 1;
                self.first + self.random.below(own) as u16
            }
        };
        let mut port = start;
        for _ in 0..=u16::MAX {
            let found = port;
            // After the end of its own part or of the whole range, a core returns to the start of its part.
            let at_end = port == self.last || port >= range.high;
            port = if at_end { self.first } else { port + 1 };
            // A connection from a listener's own address with the listener's port would be connected to itself.
            if found != to.port() && !range.is_reserved(found) {
                self.cursors.insert(key, port);
                return Some(found);
            }
            if port == start {
                break;
            }
        }
        None
    }

    /// Moves the cursor past a port that the kernel found free, because the ports after it are likely to be free
    /// too.
    pub(crate) fn found(&mut self, from: Option<IpAddr>, to: SocketAddr, port: u16) {
        if let Some(range) = self.range.as_ref() {
            let next = if port >= range.high { self.first } else { port + 1 };
            self.cursors.insert((from, to), next);
        }
    }

    /// Returns true if the core assigns ports itself.
    pub(crate) fn are_dealt(&self) -> bool {
        self.range.is_some()
    }

    /// Leaves the choice to the kernel, because the kernel does not support requests for one port (before Linux
    /// 6.3).
    pub(crate) fn leave_to_kernel(&mut self) {
        self.range = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to() -> SocketAddr {
        "127.0.0.1:80".parse().expect("an address")
    }

    fn range(reserved: &str) -> Range {
        Range::parse("40000\t40009\n", reserved).expect("a range")
    }

    fn taken(ports: &mut Ports, to: SocketAddr, count: usize) -> Vec<u16> {
        (0..count).map(|_| ports.next(None, to).expect("a port")).collect()
    }

    #[test]
    fn ranges_and_reserved_ports_are_read_as_the_kernel_writes_them() {
        assert_eq!(range("").reserved, []);
        assert_eq!(
            range("8080,40001,40005-40007\n").reserved,
            [(8080, 8080), (40001, 40001), (40005, 40007)]
        );
        assert_eq!(Range::parse("", ""), None);
        assert_eq!(Range::parse("60000 50000", ""), None);
    }

    #[test]
    fn every_port_comes_once_before_one_comes_again() {
        let mut ports = Ports::new(Some(range("")), 0, 1, 7);
        let mut first = taken(&mut ports, to(), 10);
        let again = taken(&mut ports, to(), 10);
        assert_eq!(first, again);
        first.sort_unstable();
        assert_eq!(first, (40000..=40009).collect::<Vec<u16>>());
        // Another destination has its own cursor.
        let other = taken(&mut ports, "127.0.0.2:80".parse().expect("an address"), 10);
        assert_eq!(other.len(), 10);
        assert_eq!(taken(&mut ports, to(), 1), again[..1]);
    }

    #[test]
    fn reserved_ports_and_that_of_the_destination_are_left_out() {
        let mut ports = Ports::new(Some(range("40001,40005-40007")), 0, 1, 7);
        let mut all = taken(&mut ports, "127.0.0.1:40009".parse().expect("an address"), 5);
        all.sort_unstable();
        assert_eq!(all, [40000, 40002, 40003, 40004, 40008]);
        let mut none = Ports::new(Some(range("40000-40009")), 0, 1, 7);
        assert_eq!(none.next(None, to()), None);
    }

    #[test]
    fn cores_have_parts_of_the_range_that_do_not_meet() {
        let mut all = Vec::new();
        for rank in 0..3 {
            let mut ports = Ports::new(Some(range("")), rank, 3, 1);
            let own = u64::from(ports.last - ports.first) + 1;
            all.extend(taken(&mut ports, to(), own as usize));
        }
        all.sort_unstable();
        assert_eq!(all, (40000..=40009).collect::<Vec<u16>>());
        let mut many = Ports::new(Some(range("")), 63, 64, 1);
        assert_eq!(taken(&mut many, to(), 2), [40009, 40009]);
    }

    #[test]
    fn behind_what_the_kernel_found_it_goes_on_and_then_returns() {
        let mut ports = Ports::new(Some(range("")), 0, 2, 1);
        ports.found(None, to(), 40007);
        assert_eq!(taken(&mut ports, to(), 4), [40008, 40009, 40000, 40001]);
        ports.found(None, to(), 40009);
        assert_eq!(taken(&mut ports, to(), 1), [40000]);
    }

    #[test]
    fn cursors_are_bounded() {
        let mut ports = Ports::new(Some(range("")), 0, 1, 1);
        for n in 0..10_000u16 {
            ports.next(None, SocketAddr::from(([127, 0, 0, 1], n + 1)));
        }
        assert!(ports.cursors.len() <= PAIRS);
    }
}
