//! A connection to a peer: its socket, its TLS state, and its unsent output. Hot.
//!
//! The connections of every protocol contain a transport. It has no buffer unless input or output is incomplete.

use std::io;
use std::os::fd::OwnedFd;

use wire::tls::{Client, Handshake, Progress};

use crate::net::driver;
use crate::time::clock::{Nanos, thread_cpu};

/// A connection to a peer.
#[derive(Debug, Default)]
pub(crate) struct Transport {
    pub(crate) fd: Option<OwnedFd>,
    /// Generation, which distinguishes the successive sockets of a slot.
    pub(crate) generation: u32,
    // TLS and unsent output are boxed together, because most connections have neither.
    layers: Option<Box<Layers>>,
}

#[derive(Debug, Default)]
struct Layers {
    tls: Option<Tls>,
    unsent: Option<Box<Unsent>>,
}

const _: () = assert!(size_of::<Transport>() == 16);

/// The TLS state of a connection.
#[derive(Debug)]
pub(crate) struct Tls {
    pub(crate) client: Client,
    /// Encrypted input with incomplete TLS records.
    pub(crate) sealed: Vec<u8>,
    /// Decrypted input that no session has used yet.
    pub(crate) plain: Vec<u8>,
    pub(crate) effort: HandshakeCost,
}

/// The duration and processor time of a handshake so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandshakeCost {
    /// Time at which the TLS handshake began.
    pub(crate) began: Nanos,
    /// Processor time of the handshake so far, in nanoseconds.
    pub(crate) cpu: u64,
}

/// Output that did not fit the socket's buffer.
#[derive(Debug)]
struct Unsent {
    bytes: Vec<u8>,
    /// Number of bytes at the start of `bytes` that have been sent meanwhile.
    gone: usize,
}

/// The result of one step of a handshake.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) progress: Result<Progress, wire::tls::Error>,
    /// Number of handshake bytes that this step has passed to the kernel, or the error of sending.
    pub(crate) sent: io::Result<usize>,
    pub(crate) effort: HandshakeCost,
    /// The kind of handshake, once it is known.
    pub(crate) kind: Handshake,
}

/// Reason why bytes could not be sent.
#[derive(Debug)]
pub(crate) enum Unwritten {
    Socket(io::Error),
    Tls(wire::tls::Error),
}

impl Transport {
    /// Returns true if all output has been passed to the kernel.
    pub(crate) fn all_sent(&self) -> bool {
        self.layers.as_ref().is_none_or(|layers| layers.unsent.is_none())
    }

    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.layers.as_ref()?.tls.as_ref()
    }

    pub(crate) fn tls_mut(&mut self) -> Option<&mut Tls> {
        self.layers.as_mut()?.tls.as_mut()
    }

    /// Closes the socket and drops all state of the connection.
    pub(crate) fn close(&mut self) {
        *self = Self { generation: self.generation.wrapping_add(1), ..Self::default() };
    }

    /// Sends as much of the TLS close notification as the socket accepts. `out` is a buffer.
    pub(crate) fn send_close_notify(&mut self, out: &mut Vec<u8>) {
        if let Some(tls) = self.tls_mut() {
            out.clear();
            tls.client.close(out);
            let _ = self.fd.as_ref().map(|fd| driver::send(fd, out));
        }
    }

    /// Sends bytes, with TLS as records. Returns the number of bytes that were passed to the kernel. `sealed` is a
    /// buffer.
    pub(crate) fn send(&mut self, bytes: &[u8], sealed: &mut Vec<u8>) -> Result<usize, Unwritten> {
        let Some(tls) = self.tls_mut() else {
            return self.send_raw(bytes).map_err(Unwritten::Socket);
        };
        sealed.clear();
        tls.client.write(bytes, sealed).map_err(Unwritten::Tls)?;
        self.send_raw(sealed).map_err(Unwritten::Socket)
    }

    /// Passes bytes to the kernel without encryption, and keeps the bytes that do not fit. Returns the number of bytes
    /// that were passed to the kernel.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if let Some(unsent) = self.layers.as_mut().and_then(|layers| layers.unsent.as_mut()) {
            unsent.bytes.extend_from_slice(bytes);
            return Ok(0);
        }
        let Some(fd) = self.fd.as_ref() else { return Err(gone()) };
        let sent = driver::send(fd, bytes)?;
        if sent == bytes.len() {
            return Ok(sent);
        }
        let unsent = Unsent { bytes: bytes[sent..].to_vec(), gone: 0 };
        self.layers.get_or_insert_default().unsent = Some(Box::new(unsent));
        // The socket may have free space by now. Without a second try, an edge-triggered event could be missed.
        Ok(if sent == 0 { 0 } else { sent + self.flush()? })
    }

    /// Sends unsent output. Returns the number of bytes that were passed to the kernel.
    pub(crate) fn flush(&mut self) -> io::Result<usize> {
        let mut all = 0;
        let Some(fd) = self.fd.as_ref() else { return Err(gone()) };
        let Some(layers) = self.layers.as_mut() else { return Ok(0) };
        while let Some(unsent) = &mut layers.unsent {
            let sent = driver::send(fd, &unsent.bytes[unsent.gone..])?;
            if sent == 0 {
                return Ok(all);
            }
            all += sent;
            unsent.gone += sent;
            if unsent.gone == unsent.bytes.len() {
                layers.unsent = None;
            }
        }
        if layers.tls.is_none() {
            self.layers = None;
        }
        Ok(all)
    }

    /// Starts a TLS handshake on the connection. `began` is the present time.
    pub(crate) fn start_tls(&mut self, client: Client, began: Nanos) {
        let effort = HandshakeCost { began, cpu: 0 };
        self.layers.get_or_insert_default().tls =
            Some(Tls { client, sealed: Vec::new(), plain: Vec::new(), effort });
    }

    /// Continues a TLS handshake with bytes from the server, and sends the client's next messages. `cpu` is the
    /// thread's processor time before this call, `out` a buffer. Returns `None` if the connection has no TLS.
    pub(crate) fn handshake(
        &mut self,
        incoming: &mut [u8],
        out: &mut Vec<u8>,
        cpu: u64,
    ) -> Option<Step> {
        out.clear();
        let tls = self.tls_mut()?;
        let plain = &mut tls.plain;
        let progress =
            tls.client.advance(incoming, out, &mut |bytes| plain.extend_from_slice(bytes));
        let sent = self.send_raw(out);
        let tls = self.tls_mut()?;
        tls.effort.cpu += thread_cpu() - cpu;
        let kind = tls.client.kind().unwrap_or(Handshake::Full);
        Some(Step { progress, sent, effort: tls.effort, kind })
    }
}

/// Appends `part` to `all`, truncated so that `all` has at most `most` bytes. Returns the number of omitted bytes.
pub(crate) fn keep_part(all: &mut Vec<u8>, part: &[u8], most: usize) -> usize {
    let fits = part.len().min(most.saturating_sub(all.len()));
    if all.capacity() - all.len() < fits && all.capacity() > most / 2 {
        // Growing by the usual factor would exceed the limit.
        all.reserve_exact(most - all.len());
    }
    all.extend_from_slice(&part[..fits]);
    part.len() - fits
}

/// Returns the error for a closed socket.
fn gone() -> io::Error {
    io::ErrorKind::NotConnected.into()
}
