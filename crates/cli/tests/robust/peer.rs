//! A test server made of a socket and a closure. It can treat a connection in ways that no HTTP library allows.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketType};

/// Starts a server that runs `serve` for each connection on a separate thread until the test ends. Returns the port.
pub(crate) fn peer(serve: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let serve = std::sync::Arc::new(serve);
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let serve = std::sync::Arc::clone(&serve);
            std::thread::spawn(move || serve(&mut connection));
        }
    });
    port
}

/// Starts a server that answers each request with these bytes. Returns the port.
pub(crate) fn answering(answer: impl Into<Vec<u8>>) -> u16 {
    let answer = answer.into();
    peer(move |connection| while request(connection) && connection.write_all(&answer).is_ok() {})
}

/// Starts a server that answers the first request of a connection with these bytes and then sends nothing. It keeps
/// reading, because closing a socket with unread bytes would send a reset.
pub(crate) fn answering_once(answer: impl Into<Vec<u8>>) -> u16 {
    let answer = answer.into();
    peer(move |connection| {
        request(connection);
        let _ = connection.write_all(&answer);
        let _ = connection.shutdown(Shutdown::Write);
        stall(connection);
    })
}

/// Starts a server that sends a head and then repeats the same bytes until the client closes.
pub(crate) fn endless(head: &'static [u8], again: &'static [u8]) -> u16 {
    let block = again.repeat(65_536 / again.len());
    peer(move |connection| {
        request(connection);
        let _ = connection.write_all(head);
        while connection.write_all(&block).is_ok() {}
    })
}

/// Reads the head of a request. Returns false at the end of the connection.
pub(crate) fn request(connection: &mut TcpStream) -> bool {
    head(connection).is_some()
}

/// Reads the head of a request and returns its target.
pub(crate) fn asked(connection: &mut TcpStream) -> Option<String> {
    head(connection)?.split(' ').nth(1).map(str::to_owned)
}

/// Reads the head of a request. Returns `None` at the end of the connection.
pub(crate) fn head(connection: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match connection.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// Accepts a WebSocket upgrade, with these extensions unless the text is empty.
pub(crate) fn open_websocket(connection: &mut TcpStream, extensions: &str) {
    let Some(head) = head(connection) else { return };
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    let key = lines.find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"));
    let accept = wire::websocket::handshake::accept(key.map_or("", |(_, key)| key).as_bytes());
    let extensions = match extensions {
        "" => String::new(),
        some => format!("Sec-WebSocket-Extensions: {some}\r\n"),
    };
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n{extensions}\r\n",
        String::from_utf8_lossy(&accept)
    );
    let _ = connection.write_all(answer.as_bytes());
}

/// Keeps the connection open and sends nothing until the client closes.
pub(crate) fn stall(connection: &mut TcpStream) {
    let _ = connection.set_read_timeout(Some(Duration::from_secs(60)));
    while matches!(connection.read(&mut [0; 1024]), Ok(1..)) {}
}

/// Returns a local port on which nobody listens.
pub(crate) fn closed_port() -> u16 {
    // The socket is bound but does not listen, and stays open until the process ends, so no other test gets the port.
    let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = net::getsockname(&socket).expect("an address");
    std::mem::forget(socket);
    SocketAddrV4::try_from(address).expect("an address of version 4").port()
}
