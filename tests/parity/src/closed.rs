//! A port that refuses connections.

use std::net::{TcpListener, TcpStream};

/// A port without a listener. No other program can get it, because it is the local port of an open connection.
pub struct Closed {
    pub port: u16,
    _held: (TcpListener, TcpStream, TcpStream),
}

impl Closed {
    pub fn hold() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let client = TcpStream::connect(address).expect("a connection");
        let (server, _) = listener.accept().expect("its other end");
        let port = client.local_addr().expect("a local address").port();
        Self { port, _held: (listener, client, server) }
    }
}
