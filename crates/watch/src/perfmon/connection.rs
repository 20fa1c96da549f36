//! A connection to a server agent: TCP, or UDP where the plan's properties permit it and TCP fails.
//!
//! Whatever the agent sends, a line has 64 KiB at most, and more than 1 MiB or 100 lines in a second end the connection.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use super::Agent;

/// Longest line that is read, bytes.
const MOST_LINE: usize = 1 << 16;
/// Most that is read in a second, bytes.
const MOST_BYTES: usize = 1 << 20;
const MOST_LINES: usize = 100;
/// Time limit of a connect, and of an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Time limit of an answer by UDP: datagrams get lost.
const PATIENCE_UDP: Duration = Duration::from_secs(1);
/// Longest command in one datagram: the agent reads 1024 bytes of each, and puts them together.
const MOST_DATAGRAM: usize = 1000;
/// Reading pauses as often, so that its caller can look whether the run is over.
const PAUSE: Duration = Duration::from_millis(250);

/// The reason for which there is no connection.
#[derive(Debug)]
pub(crate) struct Refused {
    /// For the user.
    pub(crate) words: String,
    /// The exception that the plug-in meets, as it stands in its rows.
    pub(super) exception: String,
}

#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    /// Begin of a line whose end is not there yet.
    line: Vec<u8>,
    second: Second,
}

/// Bytes and lines that were read since a second began.
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
    /// A connection whose agent has answered.
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
        // Datagrams of others are dropped by the kernel.
        socket.connect(address).map_err(failed)?;
        socket.set_read_timeout(Some(PAUSE)).map_err(failed)?;
        Self::new(Socket::Udp(socket)).tested(PATIENCE_UDP).map_err(failed)
    }

    fn new(socket: Socket) -> Self {
        Self { socket, line: Vec::new(), second: Second::new() }
    }

    /// Asks the agent whether it is one.
    fn tested(mut self, patience: Duration) -> io::Result<Self> {
        self.send("test\n")?;
        let asked = Instant::now();
        loop {
            match self.line()? {
                Some(line) if line.starts_with("Yep") => return Ok(self),
                Some(_) => return Err(other("what answers there is no PerfMon server agent")),
                None if asked.elapsed() > patience => {
                    return Err(other("the agent does not answer"));
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

    /// The next line, if it is there within a quarter of a second.
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
                // Each datagram is a line. A lost end of one does not join another.
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
            return Err(other("the agent's line has no end"));
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
            return Err(other("the agent sends more than 1 MiB or 100 lines in a second"));
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
    first.ok_or_else(|| refused(agent, &"the name has no address", unknown()))
}

fn refused(agent: &Agent, error: &dyn Display, exception: String) -> Refused {
    Refused { words: format!("{}: {error}", agent.address), exception }
}

/// The exception of Java's sockets for a failed connect.
fn exception(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "java.net.ConnectException: Connection refused".into(),
        ErrorKind::TimedOut => "java.net.ConnectException: Connection timed out".into(),
        ErrorKind::HostUnreachable => "java.net.NoRouteToHostException: No route to host".into(),
        ErrorKind::NetworkUnreachable => "java.net.SocketException: Network is unreachable".into(),
        _ => format!("java.net.SocketException: {error}"),
    }
}
