//! `tls-front`: terminates TLS in front of another server and forwards bytes in both directions, with one thread for
//! each connection.
//!
//! The first request of a connection gets a header that describes the connection: `X-TLS: TLSv1_3 full www.example.org
//! CN=anna`, with `-` for no name or no certificate. With the option `clients`, clients are asked for a certificate. A
//! client may send none; otherwise its certificate must be in that file.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection};

use crate::config::{Config, bad};
use crate::error::Error;
use crate::journal::Journal;
use crate::running::Running;
use crate::{catalogue, tls};

pub(crate) fn start(config: &Config) -> Result<Running, Error> {
    let to: u16 = config.read("to", 0)?;
    let to = SocketAddr::from(([127, 0, 0, 1], to));
    let socket = catalogue::listen(config)?;
    let addr = socket.local_addr()?.as_socket().unwrap_or(config.listen);
    let options = Config { tls: Some(config.tls.clone().unwrap_or_default()), ..config.clone() };
    let options = options.tls_options()?.unwrap_or_default();
    let server = match config.text("clients").filter(|file| !file.is_empty()) {
        None => tls::server(options)?,
        Some(file) => tls::asking(options, clients(file)?)?,
    };
    let (wake, woken) = UnixStream::pair()?;
    let thread = std::thread::Builder::new().name("target-front".to_owned()).spawn(move || {
        // Accepting fails only if the listener fails, which clients notice.
        let _ = accept(&socket.into(), &woken, to, &server);
    })?;
    let journal = Arc::new(Journal::new(0, None));
    Ok(Running { addr, tls: true, wake: Some(wake), thread: Some(thread), journal })
}

/// Creates a verifier that accepts clients without a certificate, and those whose certificate is in a key store or PEM
/// file or was issued by one there.
fn clients(file: &str) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    let refused = |why: &dyn std::fmt::Display| bad("clients", file, why);
    let bytes = std::fs::read(file).map_err(|error| refused(&error))?;
    let store =
        wire::tls::keystore::read(&bytes, Some("secret")).map_err(|error| refused(&error))?;
    let own = store.keys.into_iter().filter_map(|entry| entry.chain.into_iter().next());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(store.trusted.into_iter().chain(own));
    let provider = Arc::new(aws_lc_rs::default_provider());
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .allow_unauthenticated()
        .build()
        .map_err(|error| refused(&error))
}

fn accept(
    listener: &std::net::TcpListener,
    woken: &UnixStream,
    to: SocketAddr,
    server: &Arc<ServerConfig>,
) -> io::Result<()> {
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        poll(&mut ready, None)?;
        if !ready[1].revents().is_empty() {
            return Ok(());
        }
        let (client, _) = listener.accept()?;
        let server = Arc::clone(server);
        std::thread::spawn(move || {
            // Client or backend may close at any time, which only ends the connection.
            let _ = pass(&client, to, server);
        });
    }
}

/// Forwards bytes between a client and the backend until one of them closes.
fn pass(client: &TcpStream, to: SocketAddr, server: Arc<ServerConfig>) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut tls = ServerConnection::new(server).map_err(io::Error::other)?;
    let mut socket = client;
    shake_hands(client, &mut tls)?;
    let mut header = Some(header(&tls));
    let mut backend = TcpStream::connect(to)?;
    backend.set_nodelay(true)?;
    let mut buffer = vec![0; 64 << 10];
    let mut head = Vec::new();
    let mut closed = false;
    loop {
        // Bytes that arrived together with the end of the handshake are already decrypted.
        let state = tls.process_new_packets().map_err(io::Error::other)?;
        let mut plain = vec![0; state.plaintext_bytes_to_read()];
        tls.reader().read_exact(&mut plain)?;
        match &header {
            None => backend.write_all(&plain)?,
            Some(line) => {
                head.extend_from_slice(&plain);
                if let Some(end) = head.windows(2).position(|pair| pair == b"\r\n") {
                    backend.write_all(&head[..end + 2])?;
                    backend.write_all(line.as_bytes())?;
                    backend.write_all(&head[end + 2..])?;
                    header = None;
                }
            }
        }
        if closed || state.peer_has_closed() {
            return Ok(());
        }
        while tls.wants_write() {
            tls.write_tls(&mut socket)?;
        }
        let mut ready = [PollFd::new(client, PollFlags::IN), PollFd::new(&backend, PollFlags::IN)];
        poll(&mut ready, None)?;
        let (from_client, from_backend) =
            (!ready[0].revents().is_empty(), !ready[1].revents().is_empty());
        if from_client {
            closed = tls.read_tls(&mut socket)? == 0;
        }
        if from_backend {
            match backend.read(&mut buffer) {
                Ok(0) => {
                    tls.send_close_notify();
                    tls.write_tls(&mut socket)?;
                    client.shutdown(std::net::Shutdown::Write)?;
                    while socket.read(&mut buffer)? > 0 {}
                    return Ok(());
                }
                Ok(n) => tls.writer().write_all(&buffer[..n])?,
                Err(error) => {
                    // A reset of the backend is forwarded as a reset.
                    socket2::SockRef::from(client).set_linger(Some(std::time::Duration::ZERO))?;
                    return Err(error);
                }
            }
        }
    }
}

fn shake_hands(client: &TcpStream, tls: &mut ServerConnection) -> io::Result<()> {
    let mut socket = client;
    while tls.is_handshaking() {
        if let Err(error) = tls.complete_io(&mut socket) {
            let _ = tls.write_tls(&mut socket);
            // Closes this side first, so that the alert arrives before the connection ends.
            let _ = client.shutdown(std::net::Shutdown::Write);
            let _ = socket.read(&mut [0; 256]);
            return Err(error);
        }
    }
    Ok(())
}

/// Builds the header with which the backend learns the client's TLS version, kind of handshake, server name and
/// certificate.
fn header(tls: &ServerConnection) -> String {
    let version = tls.protocol_version().map_or_else(String::new, |version| format!("{version:?}"));
    let kind = match tls.handshake_kind() {
        Some(HandshakeKind::Resumed) => "resumed",
        _ => "full",
    };
    let name = tls.server_name().unwrap_or("-");
    let client = tls.peer_certificates().and_then(<[_]>::first).map_or("-".into(), common_name);
    format!("X-TLS: {version} {kind} {name} {client}\r\n")
}

/// Returns `CN=…` of a certificate's subject: the last common name in the certificate.
fn common_name(certificate: &CertificateDer<'_>) -> String {
    // Object identifier 2.5.4.3, followed by type and length of the text.
    let mark = [6, 3, 0x55, 4, 3];
    let at = certificate.windows(mark.len()).rposition(|window| window == mark);
    let text = at.and_then(|at| {
        let text = certificate.get(at + mark.len()..)?;
        text.get(2..2 + usize::from(*text.get(1)?))
    });
    format!("CN={}", String::from_utf8_lossy(text.unwrap_or_default()))
}
