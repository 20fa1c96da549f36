//! An accepted connection: its socket, TLS state, and unfinished input, output and answers.
//!
//! Bytes are written at once and only the unsent rest is kept, so an idle connection has almost no buffers. Dropping a
//! `Connection` closes its socket.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use rustls::ServerConnection;

use crate::answer::Step;
use crate::scratch::Scratch;
use crate::service::Nanos;

/// Maximum number of input bytes that are buffered while an answer is sent. Above it the socket is not read, so that
/// the TCP window closes.
const INPUT_AHEAD: usize = 1 << 20;

pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    tls: Option<Box<ServerConnection>>,
    /// Decrypted input bytes that are not parsed yet.
    pub(crate) input: Vec<u8>,
    /// Output bytes of which the first `written` were written to the socket.
    output: Vec<u8>,
    written: usize,
    /// Remaining steps of the answer that is being sent.
    pub(crate) script: VecDeque<Step>,
    /// True if an answer is being sent.
    pub(crate) busy: bool,
    /// Time at which the last bytes of the connection arrived.
    pub(crate) arrived: Nanos,
    /// Time at which the last byte of the request being answered arrived.
    pub(crate) received: Nanos,
    /// Number of the connection on this target, from 1 in the order of accepting.
    pub(crate) number: u64,
    /// Number of requests on the connection that were answered or are being answered.
    pub(crate) order: u64,
    /// Number of the timer that is in force; earlier timers of this connection are ignored.
    pub(crate) timer: u32,
    /// Time until which the first remaining step of the answer waits; `None` if the step does not wait.
    pub(crate) waits_until: Option<Nanos>,
    /// Time at which the connection is cut if no request arrives; `None` for never.
    pub(crate) cut_at: Option<Nanos>,
    pub(crate) continued: bool,
    pub(crate) stalled: bool,
    /// True if the peer closed its side of the connection.
    pub(crate) ended: bool,
    /// True if this side is closed, and the peer's close is awaited.
    pub(crate) closing: bool,
    pub(crate) interest: EventFlags,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, tls: Option<Box<ServerConnection>>, number: u64) -> Self {
        Self {
            socket,
            tls,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            script: VecDeque::new(),
            busy: false,
            arrived: 0,
            received: 0,
            number,
            order: 0,
            timer: 0,
            waits_until: None,
            cut_at: None,
            continued: false,
            stalled: false,
            ended: false,
            closing: false,
            interest: EventFlags::IN,
        }
    }

    /// True if the connection is idle: no request in progress and no partial request.
    pub(crate) fn rests(&self) -> bool {
        !self.busy && !self.closing && !self.stalled && !self.ended && self.input.is_empty()
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Moves bytes from the socket to `input`. An error means that the connection is unusable.
    pub(crate) fn receive(&mut self, scratch: &mut Scratch) -> io::Result<()> {
        loop {
            let count = match scratch.read(&mut self.socket) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(());
                }
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            match &mut self.tls {
                None if self.closing => {}
                None => self.input.extend_from_slice(&scratch.bytes[..count]),
                Some(tls) => {
                    let decrypted = decrypt(tls, &scratch.bytes[..count], &mut self.input);
                    // A TLS alert tells the peer why it was refused, so it is sent before the error is returned.
                    while tls.wants_write() {
                        tls.write_tls(&mut self.output)?;
                    }
                    let flushed = self.flush();
                    decrypted?;
                    flushed?;
                }
            }
            if count < scratch.bytes.len() || (self.busy && self.input.len() > INPUT_AHEAD) {
                return Ok(());
            }
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.output)?;
            }
            return self.flush().map(|_| ());
        }
        let mut rest = bytes;
        if self.is_flushed() {
            rest = &rest[write_some(&mut self.socket, rest)?..];
        }
        self.output.extend_from_slice(rest);
        Ok(())
    }

    /// Writes pending output of the connection; returns true if all of it was written.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        if self.is_flushed() {
            return Ok(true);
        }
        self.written += write_some(&mut self.socket, &self.output[self.written..])?;
        if self.written < self.output.len() {
            return Ok(false);
        }
        self.output.clear();
        self.output.shrink_to(1 << 16);
        self.written = 0;
        Ok(true)
    }

    /// Closes this side of the connection properly: TLS close_notify, then FIN.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            while tls.wants_write() {
                tls.write_tls(&mut self.output)?;
            }
            self.flush()?;
        }
        self.closing = true;
        self.input = Vec::new();
        self.socket.shutdown(Shutdown::Write)
    }

    /// Makes the next close of the connection send RST instead of FIN.
    pub(crate) fn abort(&self) {
        // Setting the linger time fails only if the socket is already closed.
        let _ = socket2::SockRef::from(&self.socket).set_linger(Some(Duration::ZERO));
    }

    pub(crate) fn wanted(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        let far_ahead = self.busy && self.input.len() > INPUT_AHEAD;
        if !self.ended && !far_ahead {
            wanted |= EventFlags::IN;
        }
        if !self.is_flushed() {
            wanted |= EventFlags::OUT;
        }
        wanted
    }

    fn is_flushed(&self) -> bool {
        self.output.is_empty()
    }
}

fn write_some(socket: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match socket.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

fn decrypt(tls: &mut ServerConnection, mut bytes: &[u8], input: &mut Vec<u8>) -> io::Result<()> {
    while !bytes.is_empty() {
        tls.read_tls(&mut bytes)?;
        let state = tls
            .process_new_packets()
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        let ready = state.plaintext_bytes_to_read();
        if ready > 0 {
            let start = input.len();
            input.resize(start + ready, 0);
            tls.reader().read_exact(&mut input[start..])?;
        }
        if state.peer_has_closed() {
            return Ok(());
        }
    }
    Ok(())
}
