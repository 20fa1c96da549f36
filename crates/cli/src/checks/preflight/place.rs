//! The place at which a kernel setting is changed: this machine, a container's network namespace, or the
//! container's host.
//!
//! Most settings below `net` belong to the network namespace. A few of them, and all settings of `fs` and `kernel`,
//! apply to the whole host. A separate network namespace does not contain `tcp_mem`, which distinguishes it from the
//! host's.

use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use serde::Serialize;

/// The place at which a kernel setting is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// This machine, which is not a container.
    #[default]
    Machine,
    /// The network namespace of this container.
    Namespace,
    /// The network namespace of this container, but only when the container starts, because the setting is
    /// read-only inside the container.
    NamespaceAtStart,
    /// The host, for all its containers.
    Host,
    /// The host, with a setting that this container can write.
    HostFromHere,
}

/// Facts about the program's environment that decide where settings are changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Surroundings {
    /// True in a container, which does not control all settings.
    pub(crate) is_container: bool,
    /// True if the network namespace differs from the host's.
    pub(crate) own_network: bool,
    /// True if kernel settings cannot be written, not even by root.
    pub(crate) is_read_only: bool,
}

/// Settings below `net` that apply to the whole host.
const HOSTS: [&str; 10] = [
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.rmem_default",
    "net.core.wmem_default",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
    "net.ipv4.tcp_max_orphans",
    "net.netfilter.nf_conntrack_max",
];

/// True if each network namespace has its own value of the setting.
fn is_of_namespace(key: &str) -> bool {
    key.starts_with("net.") && !HOSTS.contains(&key) && key != "net.nf_conntrack_max"
}

impl Surroundings {
    pub(crate) fn now() -> Self {
        let shows = |file: &str| Path::new("/proc/sys/net/ipv4").join(file).exists();
        let own_network = shows("ip_local_port_range") && !shows("tcp_mem");
        let settings = Path::new("/proc/sys/kernel/threads-max");
        let is_read_only = access(settings, Access::WRITE_OK) == Err(Errno::ROFS);
        // A container with the host's network and with writable settings is treated as the host itself.
        Self { is_container: own_network || is_read_only, own_network, is_read_only }
    }

    /// Returns the place of a setting, given its name for `sysctl`.
    pub(crate) fn place(&self, key: &str) -> Place {
        match (self.is_container, is_of_namespace(key) && self.own_network, self.is_read_only) {
            (false, ..) => Place::Machine,
            (true, true, false) => Place::Namespace,
            (true, true, true) => Place::NamespaceAtStart,
            // From another network namespace, the host's network settings are read-only.
            (true, false, false) if !key.starts_with("net.") => Place::HostFromHere,
            (true, false, _) => Place::Host,
        }
    }

    /// Describes the places of the settings that preflight reads. Returns an empty string outside of a container.
    pub(crate) fn text(&self, keys: &[&'static str]) -> String {
        if !self.is_container {
            return String::new();
        }
        let (mut own, mut hosts) = (Vec::new(), Vec::new());
        for key in keys {
            match self.place(key) {
                Place::Host | Place::HostFromHere => hosts.push(*key),
                _ => own.push(*key),
            }
        }
        let way = if self.is_read_only {
            "read-only here: set them when the container is started, with docker run --sysctl KEY=VALUE or securityContext.sysctls of a pod"
        } else {
            "they can be set here, with sysctl -w"
        };
        let mut out = String::from("\nSettings in this container\n");
        if !own.is_empty() {
            let own = own.join(", ");
            out.push_str(&format!("  of its network namespace: {own}\n            {way}\n"));
        }
        let shared = if self.own_network { "" } else { ", whose network the container shares" };
        let sealed = if self.is_read_only { "; read-only here: set them on the host" } else { "" };
        let hosts = hosts.join(", ");
        out.push_str(&format!(
            "  of the host{shared}: {hosts}\n            all containers of the host share them{sealed}\n"
        ));
        out
    }
}

impl Place {
    /// Describes how a setting is changed. `command` is the `sysctl` command.
    pub(crate) fn way(self, key: &str, value: &str, command: &str) -> String {
        match self {
            Self::Machine | Self::Namespace => command.to_owned(),
            Self::NamespaceAtStart => format!(
                "start the container with --sysctl {key}=\"{value}\" (a pod: securityContext.sysctls); it is read-only inside the container"
            ),
            Self::HostFromHere => format!("{command} (the host's: all its containers share it)"),
            Self::Host => {
                format!("on the host of this container: {command} (all its containers share it)")
            }
        }
    }

    /// Describes the owner of a setting. Returns an empty string on a machine that is not a container.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Machine => "",
            Self::Namespace => "; of this container's network namespace",
            Self::NamespaceAtStart => {
                "; of this container's network namespace, read-only inside the container"
            }
            Self::Host | Self::HostFromHere => "; of the host, for all its containers",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_their_place() {
        let at = |own_network, is_read_only| Surroundings {
            is_container: true,
            own_network,
            is_read_only,
        };
        let keys = ["net.core.somaxconn", "net.ipv4.tcp_rmem", "net.ipv4.tcp_mem", "fs.file-max"];
        let places = |of: Surroundings| keys.map(|key| of.place(key));
        let open = Place::HostFromHere;
        let (host, here, start) = (Place::Host, Place::Namespace, Place::NamespaceAtStart);
        assert_eq!(places(Surroundings::default()), [Place::Machine; 4]);
        assert_eq!(places(at(true, false)), [here, here, host, open]);
        assert_eq!(places(at(true, true)), [start, start, host, host]);
        assert_eq!(places(at(false, true)), [host; 4]);
        assert_eq!(Surroundings::default().text(&keys), "");
        let text = at(true, true).text(&keys);
        for words in [
            "of its network namespace: net.core.somaxconn, net.ipv4.tcp_rmem\n",
            "of the host: net.ipv4.tcp_mem, fs.file-max\n",
            "read-only here",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(at(false, false).text(&keys).contains("of the host, whose network"));
        let way = start.way("a.b", "1 2", "sysctl -w a.b=\"1 2\"");
        assert!(way.contains("--sysctl a.b=\"1 2\""), "{way}");
    }
}
