//! TCP segments that this machine's connections retransmitted, by destination, as the kernel counts them.
//!
//! Once a second a separate thread lists TCP sockets with their `tcp_info` (`sock_diag`, RFC 3549). It lists at most
//! [`MOST`] sockets, for at most 10 ms. The order is stable, so a larger set is sampled the same way each time.
//! Retransmissions on a connection that opens and closes between two polls are not seen. The list contains the sockets
//! of all programs in the network namespace; the caller selects the destinations that it knows.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::{PACE, is_over, lock};

/// Maximum number of sockets read per second.
pub const MOST: usize = 5_000;
/// Time limit for reading the list of sockets, per second.
const LONGEST: Duration = Duration::from_millis(10);
/// Maximum number of destinations whose retransmissions are stored until [`Retransmits::take`].
const MOST_DESTINATIONS: usize = 1_000;

/// Length of a netlink message header in bytes.
const HEADER: usize = 16;
/// Length of the structure `inet_diag_msg` in bytes.
const MESSAGE: usize = 72;
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const INFO: u16 = 2;
/// Offset of `tcpi_total_retrans` in `tcp_info`: the number of retransmitted segments.
const TOTAL_RETRANS: usize = 100;
/// Offset of `tcpi_bytes_retrans` in `tcp_info`: the number of retransmitted bytes, from Linux 4.19 on.
const BYTES_RETRANS: usize = 208;
const SYN_SENT: u8 = 2;
/// Bit mask of the TCP states in which segments are sent: ESTABLISHED, SYN_SENT, FIN_WAIT1, CLOSE_WAIT, LAST_ACK,
/// CLOSING.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 11;

/// A socket in the kernel's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    pub peer: SocketAddr,
    /// The kernel's identifier of the socket.
    pub cookie: u64,
    /// Number of segments retransmitted since the socket was opened.
    pub again: u32,
    /// True if only SYN segments were retransmitted, and no data.
    pub only_syn: bool,
}

/// Number of segments retransmitted to a destination: data segments and SYN segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Again {
    pub data: u64,
    pub syn: u64,
}

/// A thread that polls this machine's sockets until this value is dropped, and the results.
#[derive(Debug)]
pub struct Retransmits {
    shared: Arc<Mutex<Shared>>,
    _end: Sender<()>,
}

#[derive(Debug, Default)]
struct Shared {
    grown: HashMap<SocketAddr, Again>,
    /// Reason why the kernel's metrics are unavailable.
    why_not: Option<String>,
}

impl Retransmits {
    /// Starts the polling thread.
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let (end, ended) = channel();
        let to = Arc::clone(&shared);
        let follow = move || {
            let mut last = Last::default();
            loop {
                let begun = Instant::now();
                match list(LONGEST) {
                    Ok(sockets) => {
                        let mut shared = lock(&to);
                        for (peer, again) in last.growth(&sockets) {
                            if shared.grown.len() < MOST_DESTINATIONS {
                                let sum = shared.grown.entry(peer).or_default();
                                (sum.data, sum.syn) = (sum.data + again.data, sum.syn + again.syn);
                            }
                        }
                    }
                    Err(error) => {
                        lock(&to).why_not = Some(error.to_string());
                        return;
                    }
                }
                if is_over(&ended, PACE.saturating_sub(begun.elapsed()).max(PACE / 10)) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("retransmits".to_owned()).spawn(follow);
        if let Err(error) = thread {
            lock(&shared).why_not = Some(error.to_string());
        }
        Self { shared, _end: end }
    }

    /// Returns the number of segments retransmitted since the last call, by destination.
    ///
    /// # Errors
    ///
    /// The reason why the kernel's metrics are unavailable.
    pub fn take(&self) -> Result<HashMap<SocketAddr, Again>, String> {
        let mut shared = lock(&self.shared);
        let grown = std::mem::take(&mut shared.grown);
        shared.why_not.clone().map_or(Ok(grown), Err)
    }
}

/// Sockets of the last polls by their kernel identifier: segments retransmitted so far, and number of polls since the
/// socket was listed.
#[derive(Debug, Default)]
pub struct Last {
    seen: HashMap<u64, (u32, u8)>,
    begun: bool,
}

/// Number of consecutive polls without a socket after which the socket is forgotten. A poll misses open sockets if the
/// list takes too long, or if the kernel skips a socket while others open and close. A socket forgotten too early would
/// have its retransmissions counted twice.
const FORGOTTEN: u8 = 5;

impl Last {
    /// Returns the segments retransmitted since the last call, by destination. Destinations without retransmissions are
    /// omitted.
    pub fn growth(&mut self, sockets: &[Listed]) -> HashMap<SocketAddr, Again> {
        let mut found: HashMap<SocketAddr, Again> = HashMap::new();
        self.seen.retain(|_, (_, missing)| {
            *missing += 1;
            *missing <= FORGOTTEN
        });
        for one in sockets {
            let before = self.seen.insert(one.cookie, (one.again, 0)).map_or(0, |(again, _)| again);
            let grown = one.again.saturating_sub(before);
            if grown > 0 && self.begun {
                let again = found.entry(one.peer).or_default();
                *(if one.only_syn { &mut again.syn } else { &mut again.data }) += u64::from(grown);
            }
        }
        self.begun = true;
        found
    }
}

/// Lists the TCP sockets of this network namespace: as many as can be read within `longest`.
fn list(longest: Duration) -> Result<Vec<Listed>, rustix::io::Errno> {
    let begun = Instant::now();
    let mut sockets = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    for family in [AddressFamily::INET, AddressFamily::INET6] {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(SOCK_DIAG),
        )?;
        let to = SocketAddrNetlink::new(0, 0);
        rustix::net::sendto(&socket, &request(family.as_raw() as u8), SendFlags::empty(), &to)?;
        // Closing the netlink socket ends the kernel's list.
        while sockets.len() < MOST && begun.elapsed() < longest {
            let (_, count) = rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty())?;
            if read(&buffer[..count.min(buffer.len())], &mut sockets)? {
                break;
            }
        }
    }
    sockets.truncate(MOST);
    Ok(sockets)
}

fn request(family: u8) -> Vec<u8> {
    let length = (HEADER + 56) as u32;
    let mut out = Vec::with_capacity(length as usize);
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(&BY_FAMILY.to_ne_bytes());
    // The flags NLM_F_REQUEST and NLM_F_DUMP.
    out.extend_from_slice(&0x301u16.to_ne_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&[family, 6, 1 << (INFO - 1), 0]);
    out.extend_from_slice(&STATES.to_ne_bytes());
    out.extend_from_slice(&[0; 48]);
    out
}

/// Parses the sockets in a netlink datagram and appends them to `sockets`. Returns true at the end of the list.
///
/// # Errors
///
/// The kernel refused the request.
pub fn read(mut bytes: &[u8], sockets: &mut Vec<Listed>) -> Result<bool, rustix::io::Errno> {
    while let Some(header) = bytes.get(..HEADER) {
        let length = number(header, 0) as usize;
        let kind = short(header, 4);
        if kind == ERROR && number(bytes, HEADER) != 0 {
            let code = (number(bytes, HEADER) as i32).saturating_neg();
            return Err(rustix::io::Errno::from_raw_os_error(code.clamp(1, 4095)));
        }
        if kind == DONE || kind == ERROR || length < HEADER || length > bytes.len() {
            return Ok(true);
        }
        if kind == BY_FAMILY {
            sockets.extend(listed(&bytes[HEADER..length]));
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

fn listed(bytes: &[u8]) -> Option<Listed> {
    let message = bytes.get(..MESSAGE)?;
    let port = u16::from_be_bytes([message[6], message[7]]);
    let address = &message[24..40];
    let peer = match message[0] {
        2 => IpAddr::from(<[u8; 4]>::try_from(&address[..4]).ok().map(Ipv4Addr::from)?),
        10 => IpAddr::from(<[u8; 16]>::try_from(address).ok().map(Ipv6Addr::from)?).to_canonical(),
        _ => return None,
    };
    let mut attributes = &bytes[MESSAGE..];
    let (mut again, mut only_syn) = (0, message[1] == SYN_SENT);
    while let Some(head) = attributes.get(..4) {
        let (length, kind) = (short(head, 0) as usize, short(head, 2));
        let Some(value) = attributes.get(4..length.max(4)) else { break };
        if kind == INFO && value.len() >= TOTAL_RETRANS + 4 {
            again = number(value, TOTAL_RETRANS);
            only_syn |= value.get(BYTES_RETRANS..BYTES_RETRANS + 8).is_some_and(|n| n == [0; 8]);
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
    }
    let cookie = u64::from(number(message, 44)) | u64::from(number(message, 48)) << 32;
    Some(Listed { peer: SocketAddr::new(peer, port), cookie, again, only_syn })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_connection_of_this_machine_is_listed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let _client = TcpStream::connect(server).unwrap();
        // Without a kernel list, or with more sockets than the limit, the test cannot check anything.
        let Ok(mut sockets) = list(PATIENCE) else { return };
        for _ in 0..100 {
            if sockets.len() > MOST / 2 || sockets.iter().any(|one| one.peer == server) {
                break;
            }
            // The kernel's list is no atomic snapshot: it may skip a socket while others open and close.
            sockets = list(PATIENCE).unwrap();
        }
        if sockets.len() <= MOST / 2 {
            let found = sockets.iter().find(|one| one.peer == server).unwrap();
            assert_eq!(found.again, 0);
        }
    }

    #[test]
    fn growth_is_by_destination() {
        let peer: SocketAddr = "10.0.0.7:80".parse().unwrap();
        let one = |cookie, only_syn, again| Listed { peer, cookie, again, only_syn };
        let mut last = Last::default();
        assert!(last.growth(&[one(1, false, 9), one(2, true, 1)]).is_empty());
        let second = [one(1, false, 12), one(2, true, 2), one(3, false, 1)];
        assert_eq!(
            last.growth(&second).into_iter().collect::<Vec<_>>(),
            [(peer, Again { data: 4, syn: 1 })]
        );
        assert!(last.growth(&second).is_empty());
        assert!(last.growth(&second[1..]).is_empty());
        assert!(last.growth(&second).is_empty(), "counted again after a look that missed it");
    }

    #[test]
    fn a_refusal_is_an_error() {
        let mut bytes = vec![0; HEADER + 4];
        bytes[..4].copy_from_slice(&(HEADER as u32 + 4).to_ne_bytes());
        bytes[4..6].copy_from_slice(&ERROR.to_ne_bytes());
        bytes[HEADER..].copy_from_slice(&(-1i32).to_ne_bytes());
        assert_eq!(read(&bytes, &mut Vec::new()), Err(rustix::io::Errno::PERM));
    }

    proptest! {
        #[test]
        fn no_answer_of_the_kernel_is_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..300), length in 0u32..300) {
            let mut bytes = bytes;
            if bytes.len() >= 6 {
                bytes[..4].copy_from_slice(&length.to_ne_bytes());
                bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
            }
            let _ = read(&bytes, &mut Vec::new());
        }
    }
}
