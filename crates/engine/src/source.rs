//! Local addresses to connect from: a list of addresses, ranges and interfaces, used in turn.
//!
//! A local address has as many ports to a destination as the kernel's range; when it has none left, the next address
//! is used. The port is chosen when the destination is known, so that every address gives its range to each of them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The most addresses that one range may name.
const MOST: u32 = 65_536;

/// The addresses of one core, and the one in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    addresses: Vec<IpAddr>,
    at: usize,
}

impl Sources {
    /// `first`: where to begin, so that cores and processes begin at different ones.
    pub(crate) fn new(addresses: &[IpAddr], first: usize) -> Self {
        let at = if addresses.is_empty() { 0 } else { first % addresses.len() };
        Self { addresses: addresses.to_vec(), at }
    }

    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }

    /// The address to connect from; `None` is the kernel's choice.
    pub(crate) fn current(&self, to: SocketAddr) -> Option<IpAddr> {
        let all = self.addresses.iter().cycle().skip(self.at).take(self.addresses.len());
        all.copied().find(|address| address.is_ipv4() == to.is_ipv4())
    }

    /// No port is left at an address: the next one is used from now on.
    pub(crate) fn pass_over(&mut self, spent: IpAddr) {
        if let Some(at) = self.addresses.iter().position(|address| *address == spent) {
            self.at = (at + 1) % self.addresses.len();
        }
    }
}

/// Whether connecting failed because the local address has no port left.
pub(crate) fn is_exhausted(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(nix::libc::EADDRNOTAVAIL | nix::libc::EADDRINUSE))
}

/// Reads a list: `127.0.0.2, 10.0.0.1-10.0.0.20, eth1`.
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

/// The addresses of `first-last`; `None` if the text is no range.
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
    let all = nix::ifaddrs::getifaddrs().map_err(|error| format!("{name}: {error}"))?;
    let found: Vec<IpAddr> = all
        .filter(|interface| interface.interface_name == name)
        .filter_map(|interface| {
            let address = interface.address?;
            let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
        })
        // An address of one link only would need its scope named.
        .filter(|address| !matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local()))
        .collect();
    if found.is_empty() {
        return Err(format!(
            "{name}: neither an address, nor a range of addresses, nor an interface with one"
        ));
    }
    Ok(found)
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
    fn what_is_no_address_is_named() {
        for text in ["127.0.0.9-127.0.0.1", "no-such-interface", "0.0.0.0-255.255.255.255"] {
            assert!(parse(text).expect_err("invalid").starts_with(text));
        }
    }

    #[test]
    fn the_next_address_is_used_when_one_is_spent() {
        let addresses = parse("10.0.0.1-10.0.0.2,::1").expect("valid");
        let mut sources = Sources::new(&addresses, 4);
        let v4: SocketAddr = "10.1.1.1:80".parse().expect("an address");
        let v6: SocketAddr = "[::2]:80".parse().expect("an address");
        assert_eq!(sources.current(v4), Some(addresses[1]));
        assert_eq!(sources.current(v6), Some(addresses[2]));
        sources.pass_over(addresses[1]);
        assert_eq!(sources.current(v4), Some(addresses[0]));
    }
}
