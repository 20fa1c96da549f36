//! Local addresses to connect from: a list of addresses, ranges and interfaces that users take in turn, and
//! addresses that plans name.
//!
//! Each user has a separate local address as long as there are enough, so that a proxy can distinguish users. An
//! address has as many ports per destination as the kernel's range. When none is free, the next address is used.
//! The port is chosen when the destination is known (`ports`), so every address offers its whole range to each
//! destination.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

use plan::element::UdpCall;
use plan::http::{Source, SourceKind};

/// Maximum number of addresses in one range.
const MOST: u32 = 65_536;

/// Number of connections that skip an address that had no free port. Each failed attempt costs 1 to 2 ms of
/// processor time.
const PASSES: u32 = 1000;

/// The local addresses of one core, and the index at which its users start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    addresses: Vec<IpAddr>,
    first: usize,
    /// Number of connections that will still skip each address.
    passes: Vec<u32>,
}

impl Sources {
    /// Creates the list of addresses. `first` is the index of the first address to use, so that cores and processes
    /// start at different addresses.
    pub(crate) fn new(addresses: &[IpAddr], first: usize) -> Self {
        Self { addresses: addresses.to_vec(), first, passes: vec![0; addresses.len()] }
    }

    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Returns the address to connect from; `None` leaves the choice to the kernel. `user` is the user's index in
    /// the core, `tried` the number of addresses that were tried for this connection.
    pub(crate) fn of(&mut self, user: usize, tried: usize, to: SocketAddr) -> Option<IpAddr> {
        let len = self.addresses.len();
        let at = (self.first + user + tried).checked_rem(len)?;
        let mut passed_over = None;
        for at in (at..len).chain(0..at) {
            let (address, passes) = (self.addresses[at], &mut self.passes[at]);
            if address.is_ipv4() != to.is_ipv4() {
                continue;
            }
            if *passes == 0 {
                return Some(address);
            }
            *passes -= 1;
            passed_over = passed_over.or(Some(address));
        }
        passed_over
    }

    /// Skips an address without a free port for the next connections, as long as other addresses are available.
    pub(crate) fn pass_over(&mut self, spent: IpAddr) {
        if let Some(at) = self.addresses.iter().position(|address| *address == spent) {
            self.passes[at] = PASSES;
        }
    }
}

/// Returns true if connecting failed because the local address has no free port.
pub(crate) fn is_exhausted(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(nix::libc::EADDRNOTAVAIL | nix::libc::EADDRINUSE))
}

/// Parses a list such as `127.0.0.2, 10.0.0.1-10.0.0.20, eth1`.
pub fn parse(text: &str) -> Result<Vec<IpAddr>, String> {
    let mut found = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if let Ok(address) = part.parse() {
            found.push(address);
        } else if let Some(range) = range(part)? {
            found.extend(range);
        } else {
            found.extend(of_interface(part)?);
        }
    }
    Ok(found)
}

/// Returns the addresses of `first-last`; `None` if the string is not a range.
fn range(text: &str) -> Result<Option<impl Iterator<Item = IpAddr>>, String> {
    let Some((first, last)) = text.split_once('-') else { return Ok(None) };
    let (Ok(first), Ok(last)) = (first.trim().parse::<Ipv4Addr>(), last.trim().parse::<Ipv4Addr>())
    else {
        return Ok(None);
    };
    let (first, last) = (u32::from(first), u32::from(last));
    if last < first {
        return Err(format!("{text}: the last address is below the first"));
    }
    if last - first >= MOST {
        return Err(format!("{text}: more than {MOST} addresses"));
    }
    Ok(Some((first..=last).map(|address| IpAddr::V4(Ipv4Addr::from(address)))))
}

fn of_interface(name: &str) -> Result<Vec<IpAddr>, String> {
    let all = interfaces().map_err(|error| format!("{name}: {error}"))?;
    let found: Vec<IpAddr> = all
        .into_iter()
        .filter(|(interface, _)| interface == name)
        .filter_map(|(_, address)| address)
        // A link-local address would need its scope.
        .filter(|address| !is_of_link(*address))
        .collect();
    if found.is_empty() {
        return Err(format!(
            "{name}: expected an address, a range of addresses, or an interface with an address"
        ));
    }
    Ok(found)
}

/// Returns this machine's addresses with their interfaces, in the system's order. An interface without address is
/// included too.
fn interfaces() -> std::io::Result<Vec<(String, Option<IpAddr>)>> {
    let all = nix::ifaddrs::getifaddrs()?;
    Ok(all
        .map(|interface| {
            let address = interface.address.and_then(|address| {
                let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
                v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
            });
            (interface.interface_name, address)
        })
        .collect())
}

fn is_of_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// Returns the local address that a plan names. The error is Java's message.
pub(crate) fn address(source: &Source) -> Result<IpAddr, String> {
    let name = &*source.name;
    if source.kind != SourceKind::Host {
        let all = interfaces().map_err(|error| error.to_string())?;
        return of_device(name, source.kind, &all);
    }
    // The machine's own name is in the hosts file, so the resolver needs no network.
    let known = name.parse().ok();
    let known = known.or_else(|| Some((name, 0).to_socket_addrs().ok()?.next()?.ip()));
    known.ok_or_else(|| format!("{name}: Name or service not known"))
}

/// Returns the address of a device that Java would find first: IPv6 before IPv4, in each family the last address
/// first, including aliases (`eth0:1`). A link-local address comes last.
fn of_device(
    name: &str,
    kind: SourceKind,
    all: &[(String, Option<IpAddr>)],
) -> Result<IpAddr, String> {
    let is_it = |interface: &str| {
        interface == name
            || interface.strip_prefix(name).is_some_and(|alias| alias.starts_with(':'))
    };
    if !all.iter().any(|(interface, _)| is_it(interface)) {
        return Err(format!("Cannot find interface {name}"));
    }
    let fits = |address: &IpAddr| match kind {
        SourceKind::Host | SourceKind::Device => true,
        SourceKind::DeviceV4 => address.is_ipv4(),
        SourceKind::DeviceV6 => address.is_ipv6(),
    };
    let own = all.iter().rev().filter(|(interface, _)| is_it(interface));
    own.filter_map(|(_, address)| *address)
        .filter(fits)
        .min_by_key(|address| (is_of_link(*address), address.is_ipv4()))
        .ok_or_else(|| format!("Interface {name} does not have address of type {}", kind.class()))
}

/// Returns the local address for a socket, if the plan sets one. The error is Java's exception.
pub(crate) fn bound(call: &UdpCall) -> Result<Option<SocketAddr>, String> {
    let (name, port) = call.bind.clone()?;
    if name.is_empty() {
        return Ok((port > 0).then(|| SocketAddr::from(([0; 4], port))));
    }
    match address(&Source { kind: SourceKind::Host, name }) {
        Ok(ip) => Ok(Some(SocketAddr::new(ip, port))),
        Err(_) => Err("java.nio.channels.UnresolvedAddressException".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_interfaces_are_understood() {
        let text = "127.0.0.9, 127.0.1.1-127.0.1.3 ,::1";
        let found: Vec<String> =
            parse(text).expect("valid").iter().map(ToString::to_string).collect();
        assert_eq!(found, ["127.0.0.9", "127.0.1.1", "127.0.1.2", "127.0.1.3", "::1"]);
        assert!(
            parse("lo").expect("the loopback interface").contains(&IpAddr::V4(Ipv4Addr::LOCALHOST))
        );
        assert!(parse("").expect("nothing").is_empty());
    }

    #[test]
    fn devices_give_the_address_that_java_takes() {
        let all = [
            ("lo", Some("127.0.0.1")),
            ("eth0", Some("10.0.0.1")),
            ("eth0:1", Some("10.0.0.2")),
            ("eth1", None),
            ("eth0", Some("fe80::1")),
            ("eth0", Some("fd00::1")),
            ("eth0", Some("fe80::2")),
        ];
        let all: Vec<_> = all
            .into_iter()
            .map(|(name, address)| (name.to_owned(), address.and_then(|one| one.parse().ok())))
            .collect();
        let of = |name: &str, kind| of_device(name, kind, &all).map(|address| address.to_string());
        assert_eq!(of("eth0", SourceKind::Device).as_deref(), Ok("fd00::1"));
        assert_eq!(of("eth0", SourceKind::DeviceV6).as_deref(), Ok("fd00::1"));
        assert_eq!(of("eth0", SourceKind::DeviceV4).as_deref(), Ok("10.0.0.2"));
        assert_eq!(of("eth0:1", SourceKind::Device).as_deref(), Ok("10.0.0.2"));
        assert_eq!(of("lo", SourceKind::Device).as_deref(), Ok("127.0.0.1"));
        let none = of("lo", SourceKind::DeviceV6).expect_err("it has none");
        assert_eq!(none, "Interface lo does not have address of type Inet6Address");
        let none = of("eth1", SourceKind::Device).expect_err("it has none");
        assert_eq!(none, "Interface eth1 does not have address of type InetAddress");
        let none = of("eth", SourceKind::DeviceV4).expect_err("there is no such device");
        assert_eq!(none, "Cannot find interface eth");
    }

    #[test]
    fn what_is_no_address_is_named() {
        for text in ["127.0.0.9-127.0.0.1", "no-such-interface", "0.0.0.0-255.255.255.255"] {
            assert!(parse(text).expect_err("invalid").starts_with(text));
        }
    }

    #[test]
    fn each_user_has_an_address_and_the_next_one_when_it_is_spent() {
        let addresses = parse("10.0.0.1-10.0.0.2,::1").expect("valid");
        let mut sources = Sources::new(&addresses, 4);
        let v4: SocketAddr = "10.1.1.1:80".parse().expect("an address");
        let v6: SocketAddr = "[::2]:80".parse().expect("an address");
        assert_eq!(sources.of(0, 0, v4), Some(addresses[1]));
        assert_eq!(sources.of(0, 0, v6), Some(addresses[2]));
        assert_eq!(sources.of(0, 1, v4), Some(addresses[0]));
        assert_eq!(sources.of(2, 0, v4), Some(addresses[0]));
        assert_eq!(sources.of(3, 0, v4), Some(addresses[1]));
        assert_eq!(Sources::default().of(3, 1, v4), None);
        // An address without free ports is skipped, unless it is the only one.
        sources.pass_over(addresses[1]);
        assert_eq!(
            (sources.of(0, 0, v4), sources.of(0, 1, v4)),
            (Some(addresses[0]), Some(addresses[0]))
        );
        sources.pass_over(addresses[0]);
        assert_eq!(
            (sources.of(0, 0, v4), sources.of(0, 1, v4)),
            (Some(addresses[1]), Some(addresses[0]))
        );
        for _ in 0..PASSES {
            let _ = sources.of(0, 0, v4);
        }
        assert_eq!(sources.of(3, 0, v4), Some(addresses[1]));
    }
}
