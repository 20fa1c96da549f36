//! Listening on several addresses with one port: `127.0.1.1-127.0.1.52,127.0.2.1`.
//!
//! More addresses allow more connections: a generator can open about 28 000 connections from each of its own addresses
//! to each of these.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

use crate::config::{Config, bad};
use crate::error::Error;

/// Maximum number of addresses to listen on, far above any realistic use.
const MOST: u32 = 65_536;

/// Returns the addresses of the option `listen`, or the configured address.
pub(crate) fn read(config: &Config) -> Result<Vec<IpAddr>, Error> {
    let Some(text) = config.text("listen").filter(|text| !text.is_empty()) else {
        return Ok(vec![config.listen.ip()]);
    };
    let mut addresses = Vec::new();
    for part in text.split(',').map(str::trim) {
        let Some((first, last)) = part.split_once('-') else {
            let address = part.parse::<IpAddr>();
            addresses.push(address.map_err(|why| bad("listen", text, why))?);
            continue;
        };
        let end = |part: &str| {
            let address = part.trim().parse::<Ipv4Addr>();
            address.map(u32::from).map_err(|why| bad("listen", text, format!("{part}: {why}")))
        };
        let (first, last) = (end(first)?, end(last)?);
        if last < first || last - first >= MOST {
            return Err(bad("listen", text, "the range is empty or too long"));
        }
        addresses.extend((first..=last).map(|number| IpAddr::from(Ipv4Addr::from(number))));
    }
    Ok(addresses)
}

/// Binds a socket that does not listen yet. With `shared`, other targets can bind the same address.
pub(crate) fn bind(address: SocketAddr, shared: bool) -> Result<Socket, Error> {
    let open = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        if shared {
            socket.set_reuse_port(true)?;
        }
        socket.bind(&address.into())?;
        Ok(socket)
    };
    open().map_err(|error| Error::Listen(address, error))
}

/// Creates listeners on all addresses with one port; port 0 means that the first listener picks a free one.
pub(crate) fn listen(
    addresses: &[IpAddr],
    mut port: u16,
    backlog: i32,
    shared: bool,
) -> Result<Vec<TcpListener>, Error> {
    let mut listeners = Vec::new();
    for &ip in addresses {
        let address = SocketAddr::new(ip, port);
        let listener = bind(address, shared)?;
        listener.listen(backlog).map_err(|error| Error::Listen(address, error))?;
        let listener = TcpListener::from(listener);
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(listeners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists() {
        let of = |text: &str| read(&Config::new("chat").option("listen", text));
        let texts = |text: &str| {
            of(text).unwrap().iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts("127.0.1.254-127.0.2.1"), "127.0.1.254 127.0.1.255 127.0.2.0 127.0.2.1");
        assert_eq!(texts("127.0.0.9, ::1"), "127.0.0.9 ::1");
        assert_eq!(texts(""), "127.0.0.1");
        for wrong in ["x", "127.0.0.2-127.0.0.1", "1.0.0.0-9.0.0.0", "127.0.0.1-", "::1-::2"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_port_for_all() {
        let addresses = ["127.0.0.1", "127.0.0.2"].map(|text| text.parse().unwrap());
        let listeners = listen(&addresses, 0, 16, false).unwrap();
        let ports: Vec<_> =
            listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        assert_eq!(ports[0], ports[1]);
    }
}
