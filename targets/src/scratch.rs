//! The reactor's read buffer, with the kernel's receive times.
//!
//! One buffer serves all connections. With `stamped`, each read also returns the time at which the last byte arrived
//! (`SO_TIMESTAMPING`, software receive timestamps). With it, the arrival of a request is exact even if this process
//! had to wait for a processor. Cost: one control message per read.

use std::io::{self, IoSliceMut, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, TimestampingFlag, Timestamps, recvmsg, setsockopt, sockopt,
};

const SIZE: usize = 1 << 16;

pub(crate) struct Scratch {
    pub(crate) bytes: Vec<u8>,
    control: Vec<u8>,
    stamped: bool,
    /// Time between the arrival of the last read's last byte and the read; zero if the kernel reports no timestamp.
    pub(crate) age: Duration,
}

impl Scratch {
    pub(crate) fn new(stamped: bool) -> Self {
        Self {
            bytes: vec![0; SIZE],
            control: nix::cmsg_space!(Timestamps),
            stamped,
            age: Duration::ZERO,
        }
    }

    /// Enables receive timestamps on a new connection. If the kernel does not support them, every age is zero.
    pub(crate) fn prepare(&self, socket: &TcpStream) {
        if self.stamped {
            let software = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
            let _ = setsockopt(
                socket,
                sockopt::Timestamping,
                &(software | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE),
            );
        }
    }

    pub(crate) fn read(&mut self, socket: &mut TcpStream) -> io::Result<usize> {
        if !self.stamped {
            return socket.read(&mut self.bytes);
        }
        let mut parts = [IoSliceMut::new(&mut self.bytes)];
        let message = recvmsg::<()>(
            socket.as_raw_fd(),
            &mut parts,
            Some(&mut self.control),
            MsgFlags::empty(),
        )?;
        let arrived = message.cmsgs().ok().and_then(|mut messages| {
            messages.find_map(|message| match message {
                ControlMessageOwned::ScmTimestampsns(stamps) => Some(Duration::from(stamps.system)),
                _ => None,
            })
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.age = arrived
            .filter(|arrived| !arrived.is_zero())
            .map_or(Duration::ZERO, |arrived| now.saturating_sub(arrived));
        Ok(message.bytes)
    }
}
