//! The interface to the operating system: an epoll instance and non-blocking sockets. Hot.
//!
//! Sockets are registered once, edge-triggered for both directions. So a request costs one wait (shared with other
//! requests), one receive and one send. Data is received with `recvmsg`, which also returns the kernel's time of
//! arrival. One receive buffer per core serves all connections.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{self, ControlMessageOwned, MsgFlags, TimestampingFlag, sockopt};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::inbox::Wake;
use crate::net::ports::{self, Ports};
use crate::net::source;
use crate::time::clock::{MS, Nanos, SECOND};

/// Size of the receive buffer in bytes. A body of 100 KiB needs at most two or three receive calls.
pub(crate) const SCRATCH: usize = 256 * 1024;
/// Token of the inbox's wake-up events.
pub(crate) const INBOX: u64 = u64::MAX;
/// Maximum number of events per wait.
const EVENTS: usize = 512;

/// The result of one receive call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Number of bytes; 0 is the end of the stream.
    pub(crate) bytes: usize,
    /// Arrival time of the last byte, in nanoseconds since 1970 by the kernel's clock.
    pub(crate) arrival: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) token: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// True if the peer has finished sending: the end of the stream follows the readable data.
    pub(crate) hangup: bool,
}

/// The events of one wait. The waiting thread owns and reuses them.
pub(crate) struct Events(Vec<epoll::Event>);

impl Events {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(EVENTS))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Ready> {
        self.0.iter().map(|&epoll::Event { flags, data }| {
            let failed = EventFlags::ERR | EventFlags::HUP;
            Ready {
                token: data.u64(),
                readable: flags.intersects(EventFlags::IN | EventFlags::RDHUP | failed),
                writable: flags.intersects(EventFlags::OUT | failed),
                hangup: flags.intersects(EventFlags::RDHUP | failed),
            }
        })
    }
}

#[derive(Debug)]
pub(crate) struct Driver {
    epoll: OwnedFd,
    /// True if the kernel can only wait for whole milliseconds.
    coarse: bool,
    ancillary: Vec<u8>,
}

impl Driver {
    pub(crate) fn new(wake: &Wake) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        // The inbox's events are edge-triggered, so they need not be read.
        let once = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, wake, EventData::new_u64(INBOX), once)?;
        epoll::add(&epoll, wake.alarm(), EventData::new_u64(INBOX), once)?;
        Ok(Self {
            epoll,
            coarse: false,
            ancillary: nix::cmsg_space!([nix::sys::time::TimeSpec; 3]),
        })
    }

    /// Waits for events, for at most `timeout` if it is given.
    pub(crate) fn wait(&mut self, events: &mut Events, timeout: Option<Nanos>) -> io::Result<()> {
        let timeout = timeout.map(|timeout| {
            // Kernels before 5.11 lack `epoll_pwait2`. For them, the older call is used, which waits for whole
            // milliseconds.
            let timeout = if self.coarse { (timeout + MS - 1) / MS * MS } else { timeout };
            Timespec { tv_sec: timeout / SECOND, tv_nsec: (timeout % SECOND) as _ }
        });
        events.0.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut events.0), timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(rustix::io::Errno::NOSYS) if !self.coarse => {
                self.coarse = true;
                Ok(())
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Starts a connection to `to` with a port of `ports`, from the local address `from` if given, and registers it
    /// under `token`.
    pub(crate) fn connect(
        &self,
        to: SocketAddr,
        from: Option<IpAddr>,
        ports: &mut Ports,
        token: u64,
    ) -> io::Result<OwnedFd> {
        let socket = Socket::new(
            Domain::for_address(to),
            Type::STREAM.nonblocking().cloexec(),
            Some(Protocol::TCP),
        )?;
        socket.set_tcp_nodelay(true)?;
        // On kernels without receive timestamps, the only effect is that the generator's lag is not measured.
        let _ = socket::setsockopt(&socket, sockopt::Timestamping, &stamps());
        if let Some(from) = from {
            // The kernel chooses the port at connect time, when it knows the destination: this makes far more ports
            // usable.
            let _ = socket::setsockopt(&socket, sockopt::IpBindAddressNoPort, &true);
            socket.bind(&SockAddr::from(SocketAddr::new(from, 0)))?;
        }
        connect_by(&socket, to, from, ports)?;
        self.register(socket, token)
    }

    /// Opens a UDP socket that is connected to `to`, from the local address `from` if given, and registers it under
    /// `token`.
    pub(crate) fn connect_datagram(
        &self,
        to: SocketAddr,
        from: Option<SocketAddr>,
        token: u64,
    ) -> io::Result<OwnedFd> {
        let kind = Type::DGRAM.nonblocking().cloexec();
        let socket = Socket::new(Domain::for_address(to), kind, Some(Protocol::UDP))?;
        let _ = socket::setsockopt(&socket, sockopt::Timestamping, &stamps());
        if let Some(from) = from {
            socket.bind(&SockAddr::from(from))?;
        }
        socket.connect(&SockAddr::from(to))?;
        self.register(socket, token)
    }

    fn register(&self, socket: Socket, token: u64) -> io::Result<OwnedFd> {
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, EventData::new_u64(token), interest)?;
        Ok(socket.into())
    }

    /// Receives into `buffer`; `None` if there is no data.
    pub(crate) fn receive(
        &mut self,
        fd: &OwnedFd,
        buffer: &mut [u8],
    ) -> io::Result<Option<Received>> {
        self.take(fd, buffer, MsgFlags::empty())
    }

    /// Discards up to `buffer.len()` bytes of input: the kernel drops them without copying.
    pub(crate) fn discard(
        &mut self,
        fd: &OwnedFd,
        buffer: &mut [u8],
    ) -> io::Result<Option<Received>> {
        self.take(fd, buffer, MsgFlags::MSG_TRUNC)
    }

    fn take(
        &mut self,
        fd: &OwnedFd,
        buffer: &mut [u8],
        flags: MsgFlags,
    ) -> io::Result<Option<Received>> {
        let mut parts = [IoSliceMut::new(buffer)];
        match socket::recvmsg::<()>(fd.as_raw_fd(), &mut parts, Some(&mut self.ancillary), flags) {
            Ok(message) => {
                let arrival = message.cmsgs().ok().and_then(|mut all| {
                    all.find_map(|part| match part {
                        ControlMessageOwned::ScmTimestampsns(times) => {
                            Some(times.system.tv_sec() * 1_000_000_000 + times.system.tv_nsec())
                        }
                        _ => None,
                    })
                });
                Ok(Some(Received { bytes: message.bytes, arrival: arrival.filter(|at| *at > 0) }))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Connects from the next local port of this core. If [`ports::TRIES`] consecutive ports are taken, the kernel
/// chooses a port.
fn connect_by(
    socket: &Socket,
    to: SocketAddr,
    from: Option<IpAddr>,
    ports: &mut Ports,
) -> io::Result<()> {
    let address = SockAddr::from(to);
    let begin = || match socket.connect(&address) {
        Err(error) if error.raw_os_error() == Some(Errno::EINPROGRESS as i32) => Ok(()),
        begun => begun,
    };
    for tried in 0..ports::TRIES {
        let Some(port) = ports.next(from, to) else { break };
        if let Err(errno) = ports::ask_for(socket, port) {
            if tried == 0 && matches!(errno, Errno::ENOPROTOOPT | Errno::EOPNOTSUPP) {
                ports.leave_to_kernel();
                break;
            }
            return Err(errno.into());
        }
        match begin() {
            Err(error) if source::is_exhausted(&error) => {}
            begun => return begun,
        }
    }
    if !ports.are_dealt() {
        return begin();
    }
    ports::ask_for(socket, 0)?;
    begin()?;
    if let Some(own) = socket.local_addr()?.as_socket() {
        ports.found(from, to, own.port());
    }
    Ok(())
}

fn stamps() -> TimestampingFlag {
    TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
}

/// Sends as many bytes as the socket accepts; returns 0 if it currently accepts none.
pub(crate) fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    match socket::send(fd.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
        Ok(n) => Ok(n),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(0),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns true if data can be received. An error is the pending error of the socket, which the kernel reports only
/// once.
pub(crate) fn has_input(fd: &OwnedFd) -> io::Result<bool> {
    match socket::recv(fd.as_raw_fd(), &mut [0], MsgFlags::MSG_PEEK) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns true if a connection attempt has succeeded or failed.
pub(crate) fn has_settled(fd: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(fd, PollFlags::OUT)];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&none)).is_ok_and(|ready| ready > 0)
}

/// Returns the result of a connection attempt after its socket became writable.
pub(crate) fn connect_result(fd: &OwnedFd) -> io::Result<()> {
    match socket::getsockopt(fd, sockopt::SocketError)? {
        0 if is_own_peer(fd) => Err(Errno::ECONNREFUSED.into()),
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Returns true if a socket is connected to itself. If nothing listens on a local port in the ephemeral range, the
/// kernel may choose that very port as the source, and the connection succeeds without a server.
fn is_own_peer(fd: &OwnedFd) -> bool {
    match (rustix::net::getsockname(fd), rustix::net::getpeername(fd)) {
        (Ok(own), Ok(peer)) => Some(own) == peer,
        _ => false,
    }
}

/// Configures a socket to send a reset instead of a FIN when it is closed, so that the connection leaves no TIME_WAIT.
pub(crate) fn reset(fd: &OwnedFd) {
    let _ = socket::setsockopt(fd, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 });
}

/// Sets how many seconds the close of a socket waits until unsent data is sent; 0 resets the connection.
pub(crate) fn linger(fd: &OwnedFd, seconds: u16) {
    let linger = nix::libc::linger { l_onoff: 1, l_linger: seconds.into() };
    let _ = socket::setsockopt(fd, sockopt::Linger, &linger);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::ports::Range;

    /// Connects to a listener, from the local address `from` if given. Returns the socket and its port; `None` if the
    /// kernel does not support requests for a port.
    fn connected(
        driver: &Driver,
        ports: &mut Ports,
        to: SocketAddr,
        from: Option<IpAddr>,
    ) -> Option<(OwnedFd, u16)> {
        let fd = driver.connect(to, from, ports, 7).expect("a connection");
        let own = rustix::net::getsockname(&fd).expect("an address");
        let own = SocketAddr::try_from(own).expect("of the internet");
        ports.are_dealt().then_some((fd, own.port()))
    }

    #[test]
    fn ports_are_dealt_out_in_turn_and_those_taken_are_passed_over() {
        let driver = Driver::new(&Wake::new().expect("a descriptor")).expect("a driver");
        for (listen, from) in [
            ("127.0.0.1:0", None),
            ("127.0.0.1:0", Some("127.0.0.9")),
            ("[::1]:0", None),
            ("[::1]:0", Some("::1")),
        ] {
            let Ok(listener) = std::net::TcpListener::bind(listen) else {
                println!("skipped: there is no {listen}");
                continue;
            };
            let to = listener.local_addr().expect("an address");
            let from = from.map(|from| from.parse().expect("an address"));
            let mut ports = Ports::new(Range::of_system(), 0, 1, 1);
            let first = connected(&driver, &mut ports, to, from);
            let Some((_first, port)) = first else { return println!("skipped: before Linux 6.3") };
            // Another socket holds the requested port, so the next free one is used.
            ports.found(from, to, port - 1);
            let (_second, next) = connected(&driver, &mut ports, to, from).expect("as before");
            assert_ne!(next, port);
            ports.found(from, to, port - 1);
            let (_third, third) = connected(&driver, &mut ports, to, from).expect("as before");
            assert!(third != port && third != next, "{third}");
        }
    }

    #[test]
    fn where_none_of_those_tried_is_free_the_kernel_searches() {
        let driver = Driver::new(&Wake::new().expect("a descriptor")).expect("a driver");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = listener.local_addr().expect("an address");
        let mut ports = Ports::new(Range::of_system(), 0, 1, 1);
        let mut held = Vec::new();
        let Some((fd, port)) = connected(&driver, &mut ports, to, None) else {
            return println!("skipped: before Linux 6.3");
        };
        held.push(fd);
        for _ in 0..2 * ports::TRIES {
            held.push(connected(&driver, &mut ports, to, None).expect("as before").0);
        }
        ports.found(None, to, port - 1);
        let (_fd, found) = connected(&driver, &mut ports, to, None).expect("as before");
        assert_ne!(found, port);
        let behind = ports.next(None, to).expect("a port");
        assert!(behind == found + 1 || behind == found + 2, "it goes on behind {found}: {behind}");
    }

    #[test]
    fn a_connection_to_itself_counts_as_refused() {
        let socket =
            Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).expect("a socket");
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        socket.bind(&any.into()).expect("a port");
        let own = socket.local_addr().expect("an address");
        socket.connect(&own).expect("TCP allows it");
        let error = connect_result(&socket.into()).expect_err("nobody is there");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);

        let listener = std::net::TcpListener::bind(any).expect("a port");
        let to = listener.local_addr().expect("an address");
        let other = std::net::TcpStream::connect(to).expect("a connection");
        connect_result(&other.into()).expect("it stands");
    }
}
