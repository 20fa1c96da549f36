//! A connection to a PerfMon server agent over TCP. UDP is used if TCP fails and the plan's properties permit UDP.
//!
//! Input is limited: a line has at most 64 KiB, and more than 1 MiB or 100 lines in a second end the connection.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use super::Agent;

/// Maximum length of a line from the agent in bytes.
const MOST_LINE: usize = 1 << 16;
/// Maximum number of bytes read per second; more end the connection.
const MOST_BYTES: usize = 1 << 20;
/// Maximum number of lines read per second; more end the connection.
const MOST_LINES: usize = 100;
/// Time limit for connecting to the agent, and for its response.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Time limit for a response over UDP. It is shorter, because datagrams get lost.
const PATIENCE_UDP: Duration = Duration::from_secs(1);
/// Maximum length of a command in one datagram. The agent reads 1024 bytes per datagram and joins them.
const MOST_DATAGRAM: usize = 1000;
/// Longest time that a read blocks, so that the caller can check for the end of the run.
const PAUSE: Duration = Duration::from_millis(250);

/// The reason why a connection failed.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Message for the user.
    pub(crate) words: String,
    /// Java exception that the plug-in would write into the rows of a result file.
    pub(super) exception: String,
}

#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    /// Beginning of an incomplete line.
    line: Vec<u8>,
    second: Second,
}

/// Bytes and lines read since the current second began.
#[derive(Debug)]
struct Second {
    begin: Instant,
    bytes: usize,
    lines: usize,
}

#[derive(Debug)]
enum Socket {
    Tcp(BufReader<TcpStream>),
    Udp(UdpSocket),
}

impl Connection {
    /// Connects to an agent, first over TCP, and waits for its answer to `test`.
    pub(crate) fn open(agent: &Agent) -> Result<Self, Refused> {
        let tcp = Self::tcp(agent);
        match tcp {
            Err(refused) if agent.udp => Self::udp(agent).map_err(|also| Refused {
                words: format!("{}; by UDP: {}", refused.words, also.words),
                ..also
            }),
            other => other,
        }
    }

    fn tcp(agent: &Agent) -> Result<Self, Refused> {
        let address = resolved(agent)?;
        let failed = |error: io::Error| refused(agent, &error, exception(&error));
        let socket = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
        socket.set_read_timeout(Some(PAUSE)).map_err(failed)?;
        socket.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let unreachable = "java.io.IOException: Agent is unreachable via TCP";
        Self::new(Socket::Tcp(BufReader::new(socket)))
            .tested(PATIENCE)
            .map_err(|error| refused(agent, &error, unreachable.into()))
    }

    fn udp(agent: &Agent) -> Result<Self, Refused> {
        let address = resolved(agent)?;
        let unreachable = "java.io.IOException: Agent is unreachable via UDP";
        let failed = |error: io::Error| refused(agent, &error, unreachable.into());
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any).map_err(failed)?;
        // The kernel drops datagrams from other senders.
        socket.connect(address).map_err(failed)?;
        socket.set_read_timeout(Some(PAUSE)).map_err(failed)?;
        Self::new(Socket::Udp(socket)).tested(PATIENCE_UDP).map_err(failed)
    }

    fn new(socket: Socket) -> Self {
        Self { socket, line: Vec::new(), second: Second::new() }
    }

    /// Sends `test` to check that the peer is a PerfMon agent.
    fn tested(mut self, patience: Duration) -> io::Result<Self> {
        self.send("test\n")?;
        let asked = Instant::now();
        loop {
            match self.line()? {
                Some(line) if line.starts_with("Yep") => return Ok(self),
                Some(_) => return Err(other("this is not a PerfMon server agent")),
                None if asked.elapsed() > patience => {
                    return Err(other("no answer from the agent"));
                }
                None => {}
            }
        }
    }

    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        match &mut self.socket {
            Socket::Tcp(stream) => stream.get_mut().write_all(text.as_bytes()),
            Socket::Udp(socket) => {
                let mut parts = text.as_bytes().chunks(MOST_DATAGRAM);
                parts.try_for_each(|part| socket.send(part).map(|_| ()))
            }
        }
    }

    /// Returns the agent's next line, or `None` if no line is complete after a quarter of a second.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        let Self { socket, line, second } = self;
        let read = match socket {
            Socket::Tcp(stream) => match stream.fill_buf() {
                Ok([]) => return Err(other("the agent closed the connection")),
                Ok(bytes) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let read = end.map_or(bytes.len(), |end| end + 1);
                    line.extend_from_slice(&bytes[..read]);
                    stream.consume(read);
                    Ok(read)
                }
                Err(error) => Err(error),
            },
            Socket::Udp(socket) => {
                // Each datagram is one line. If the end of a line is lost, the next line must not be joined to it.
                line.resize(MOST_LINE, 0);
                let read = socket.recv(line);
                line.truncate(*read.as_ref().unwrap_or(&0));
                if read.is_ok() && !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                read
            }
        };
        let read = match read {
            Ok(read) => read,
            Err(error) if is_pause(error.kind()) => return Ok(None),
            Err(error) => return Err(error),
        };
        second.add(read, line.ends_with(b"\n"))?;
        if line.ends_with(b"\n") {
            let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
            line.clear();
            return Ok(Some(text));
        }
        if line.len() >= MOST_LINE {
            return Err(other("the agent sends a line without an end"));
        }
        Ok(None)
    }
}

impl Second {
    fn new() -> Self {
        Self { begin: Instant::now(), bytes: 0, lines: 0 }
    }

    fn add(&mut self, bytes: usize, is_line: bool) -> io::Result<()> {
        if self.begin.elapsed() > Duration::from_secs(1) {
            *self = Self::new();
        }
        self.bytes += bytes;
        self.lines += usize::from(is_line);
        if self.bytes > MOST_BYTES || self.lines > MOST_LINES {
            return Err(other("the agent sends more than 1 MiB or 100 lines per second"));
        }
        Ok(())
    }
}

fn is_pause(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn other(words: &str) -> io::Error {
    io::Error::other(words)
}

fn resolved(agent: &Agent) -> Result<SocketAddr, Refused> {
    let host = agent.address.rsplit_once(':').map_or(&*agent.address, |(host, _)| host);
    let unknown = || format!("java.net.UnknownHostException: {host}");
    let found = agent.address.to_socket_addrs();
    let first = found.map_err(|error| refused(agent, &error, unknown()))?.next();
    first.ok_or_else(|| refused(agent, &"the host name does not resolve", unknown()))
}

fn refused(agent: &Agent, error: &dyn Display, exception: String) -> Refused {
    Refused { words: format!("{}: {error}", agent.address), exception }
}

/// Returns the exception that Java's sockets throw if connecting fails with this error.
fn exception(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "java.net.ConnectException: Connection refused".into(),
        ErrorKind::TimedOut => "java.net.ConnectException: Connection timed out".into(),
        ErrorKind::HostUnreachable => "java.net.NoRouteToHostException: No route to host".into(),
        ErrorKind::NetworkUnreachable => "java.net.SocketException: Network is unreachable".into(),
        _ => format!("java.net.SocketException: {error}"),
    }
}
