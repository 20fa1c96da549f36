//! A connection of the hub: 80 bytes, and no heap memory unless input or output is incomplete.
//!
//! Bytes are written immediately, and only the unsent rest is kept. Input is read into a buffer of the hub, and only
//! unconsumed bytes are kept. TLS and compression have their own state on the heap.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustls::ServerConnection;
use wire::websocket::deflate::{Deflate, Window};
use wire::websocket::message::Assembler;

/// The cause of a WebSocket's end, for statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The peer sent a close frame.
    PeerClose,
    /// The peer ended the stream without a close frame.
    PeerFin,
    PeerReset,
    /// The peer was silent too long.
    Silent,
    /// The peer did not read, so too many bytes were queued.
    Slow,
    /// The peer violated the protocol.
    Protocol,
}

/// Names of the causes in statistics, in the order of [`Cause`].
pub(crate) const CAUSES: [&str; 6] =
    ["peer_close", "peer_fin", "peer_reset", "silent", "slow", "protocol"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The upgrade request is incomplete.
    Asking,
    Open,
    /// A plain HTTP request was received, and the service prepares its answer.
    Answering,
    /// This side of the connection is closed, and the peer's close is awaited.
    Closing,
}

/// The compression that was negotiated for a WebSocket, and its state.
#[derive(Debug)]
pub(crate) struct Compression {
    pub(crate) terms: Deflate,
    pub(crate) received: Window,
    pub(crate) sent: Window,
}

#[derive(Debug, Default)]
struct Stash {
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
}

pub(crate) struct Socket {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
    stash: Option<Box<Stash>>,
    pub(crate) assembler: Assembler,
    pub(crate) compression: Option<Box<Compression>>,
    /// Time at which the peer last sent data, or at which this side closed, in milliseconds since the start of the hub.
    pub(crate) heard: u32,
    /// Tag that the service gave to the connection; the hub does not use it.
    pub(crate) tag: [u32; 2],
    /// Number that distinguishes this connection from earlier ones in the same slot.
    pub(crate) generation: u32,
    pub(crate) state: State,
    /// True if the loop waits until the socket is writable.
    pub(crate) waits_to_write: bool,
}

impl Socket {
    pub(crate) fn new(
        stream: TcpStream,
        tls: Option<Box<ServerConnection>>,
        assembler: Assembler,
        heard: u32,
        generation: u32,
    ) -> Self {
        Self {
            stream,
            tls,
            stash: None,
            assembler,
            compression: None,
            heard,
            tag: [u32::MAX; 2],
            generation,
            state: State::Asking,
            waits_to_write: false,
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Moves the kept, unconsumed input of the connection to the start of `buffer`; returns its length.
    pub(crate) fn take_input(&mut self, buffer: &mut [u8]) -> usize {
        let Some(stash) = &mut self.stash else { return 0 };
        let kept = std::mem::take(&mut stash.input);
        if stash.output.is_empty() {
            self.stash = None;
        }
        buffer[..kept.len()].copy_from_slice(&kept);
        kept.len()
    }

    pub(crate) fn keep_input(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.stash.get_or_insert_default().input = rest.to_vec();
        }
    }

    /// Reads once from the socket. `Ok(0)` means the end of the stream; `WouldBlock` means no data, or only TLS records
    /// without plain text.
    pub(crate) fn read(&mut self, buffer: &mut [u8], cipher: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return (&self.stream).read(buffer);
        };
        let room = cipher.len().min(buffer.len());
        let count = (&self.stream).read(&mut cipher[..room])?;
        if count == 0 {
            return Ok(0);
        }
        // Plain text is never longer than its ciphertext, so `buffer` is large enough.
        let mut bytes = &cipher[..count];
        let mut plain = 0;
        let mut ended = false;
        let mut refused = None;
        while !bytes.is_empty() && !ended {
            tls.read_tls(&mut bytes)?;
            match tls.process_new_packets() {
                Ok(state) => {
                    let ready = state.plaintext_bytes_to_read().min(buffer.len() - plain);
                    tls.reader().read_exact(&mut buffer[plain..plain + ready])?;
                    plain += ready;
                    ended = state.peer_has_closed();
                }
                Err(error) => {
                    refused = Some(io::Error::new(ErrorKind::InvalidData, error));
                    break;
                }
            }
        }
        // A TLS alert tells the peer why it was refused, so it is sent before the error is returned.
        self.encrypt(&[])?;
        match refused {
            Some(error) => Err(error),
            None if plain == 0 && ended => Ok(0),
            None if plain == 0 => Err(ErrorKind::WouldBlock.into()),
            None => Ok(plain),
        }
    }

    /// Sends as much to the peer as possible, and queues the rest.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.tls.is_some() {
            return self.encrypt(bytes);
        }
        let mut rest = bytes;
        if self.unsent() == 0 {
            rest = &rest[write_some(&self.stream, rest)?..];
        }
        if !rest.is_empty() {
            self.stash.get_or_insert_default().output.extend_from_slice(rest);
        }
        Ok(())
    }

    fn encrypt(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        tls.writer().write_all(bytes)?;
        if tls.wants_write() {
            let stash = self.stash.get_or_insert_default();
            while tls.wants_write() {
                tls.write_tls(&mut stash.output)?;
            }
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the queued output of the connection.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some(stash) = &mut self.stash else { return Ok(()) };
        stash.written += write_some(&self.stream, &stash.output[stash.written..])?;
        if stash.written == stash.output.len() {
            stash.output = Vec::new();
            stash.written = 0;
            if stash.input.is_empty() {
                self.stash = None;
            }
        } else if stash.written > stash.output.len() / 2 {
            stash.output.drain(..stash.written);
            stash.written = 0;
        }
        Ok(())
    }

    /// Number of bytes queued because the peer has not read enough.
    pub(crate) fn unsent(&self) -> usize {
        self.stash.as_ref().map_or(0, |stash| stash.output.len() - stash.written)
    }

    /// Closes this side properly, with FIN. Queued bytes are lost, because the peer had time to read them.
    pub(crate) fn finish(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        // If the peer has closed, the next epoll event reports it.
        let _ = self.encrypt(&[]);
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Makes the next close of the connection send RST instead of FIN.
    pub(crate) fn abort(&self) {
        // Setting the linger time fails only if the socket is already closed.
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}

fn write_some(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match stream.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_small() {
        assert!(size_of::<Socket>() <= 80, "{}", size_of::<Socket>());
    }
}
