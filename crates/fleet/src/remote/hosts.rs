//! The machines of a run as the command line names them: `ssh:user@a,user@b:2222,[::1]:22`; or the server on which
//! agents wait: `nats://host:4222/pool`; or a list in JMeter's format: `a,b:1099`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::nats::{Pools, Server};

/// The machines of a run, and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    Ssh(Vec<Host>),
    /// Hosts that are reached by ssh, each of which runs the whole plan independently of the others.
    Whole(Vec<Host>),
    Nats(Box<Pools>),
}

impl Way {
    /// Parses the machines of a run. `choice` selects among waiting agents, and `relays` is the number of relays. The
    /// error is a message for the user.
    pub fn read(text: &str, choice: Choice, relays: usize) -> Result<Self, String> {
        if !Server::is_one(text) {
            if choice != Choice::default() {
                return Err(
                    "--agents, --zone and --label select agents that wait on a NATS server: use them with \
                            --fleet nats://host:4222/pool"
                        .into(),
                );
            }
            return hosts(text, relays.max(1)).map(Self::Ssh);
        }
        let server = Server::read(text).map_err(|words| format!("--fleet {words}"))?;
        let Choice { agents, zones, labels } = choice;
        if agents.is_some_and(|agents| (agents as usize) < zones.len()) {
            return Err("--agents must be at least the number of zones".into());
        }
        let names = Vec::new();
        Ok(Self::Nats(Box::new(Pools { server, agents, zones, labels, names })))
    }

    /// Parses JMeter's list of hosts (`-R`, `remote_hosts`), each of which runs the whole plan. A port in the list is
    /// the port of JMeter's registry; it stays in the host's name, and ssh uses its own settings. The error is a
    /// message for the user.
    pub fn whole(text: &str) -> Result<Self, String> {
        let mut hosts: Vec<Host> = Vec::new();
        for text in text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let host = one(text, "-R")?;
            let host = Host { port: None, called: Some(text.to_owned()), ..host };
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        match hosts.len() {
            0 => Err("-R and -r need hosts: use -R a,b, or set the property remote_hosts".into()),
            n if n > MOST => Err(format!("-R and -r name {n} hosts; at most {MOST} are allowed")),
            _ => Ok(Self::Whole(hosts)),
        }
    }

    /// Returns how many times the plan's load is generated: once, or once per host.
    pub fn copies(&self) -> u32 {
        match self {
            Self::Whole(hosts) => hosts.len() as u32,
            Self::Ssh(_) | Self::Nats(_) => 1,
        }
    }
}

/// The user's selection among the agents that wait in a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub agents: Option<u32>,
    /// Zones with their weights: the load of a zone is proportional to its weight.
    pub zones: Vec<(String, u32)>,
    pub labels: Vec<(String, String)>,
}

/// A machine that is reached by ssh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// `user@host`, or an alias in ssh's configuration.
    pub name: String,
    pub port: Option<u16>,
    /// Name of the machine in JMeter's list, if it differs from the ssh name.
    pub called: Option<String>,
}

/// Maximum number of machines that a coordinator or a relay reaches by ssh. With more, receiving their messages takes
/// more than half a processor.
pub(crate) const MOST: usize = 256;

/// Parses the machines of a fleet. The error is a message for the user.
fn hosts(text: &str, relays: usize) -> Result<Vec<Host>, String> {
    let Some(list) = text.strip_prefix("ssh:") else {
        return Err(format!(
            "--fleet {text}: expected ssh:user@a,user@b:2222 or nats://host:4222/pool"
        ));
    };
    let hosts =
        list.split(',').map(|host| one(host.trim(), "--fleet")).collect::<Result<Vec<_>, _>>()?;
    if hosts.len() > MOST * relays {
        let most = MOST * relays;
        return Err(format!(
            "--fleet names {} machines; at most {most} are allowed with ssh ({MOST} for each relay)",
            hosts.len()
        ));
    }
    for (at, host) in hosts.iter().enumerate() {
        if hosts[..at].contains(host) {
            return Err(format!(
                "--fleet names {host} twice; use --workers to run more processes on each machine"
            ));
        }
    }
    Ok(hosts)
}

pub(crate) fn one(text: &str, option: &str) -> Result<Host, String> {
    let (name, port) = match text.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (text, None),
    };
    let (user, host) = name.split_once('@').map_or((None, name), |(user, host)| (Some(user), host));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let odd = |part: &str| {
        // ssh would read a name that begins with a dash as an option.
        part.is_empty()
            || part.starts_with('-')
            || part.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    if odd(bare) || user.is_some_and(odd) || (bare == host && host.contains([':', '[', ']'])) {
        return Err(format!(
            "{option}: invalid machine {text:?}; expected user@host or user@host:2222"
        ));
    }
    let port = port.map(|port| match port.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("{option}: invalid port {port:?} in {text}")),
    });
    let name = user.map_or_else(|| bare.to_owned(), |user| format!("{user}@{bare}"));
    Ok(Host { name, port: port.transpose()?, called: None })
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.called, self.port) {
            (Some(called), _) => f.write_str(called),
            (None, Some(port)) => write!(f, "{}:{port}", self.name),
            (None, None) => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_names_with_or_without_users_and_ports() {
        let host = |name: &str, port| Host { name: name.into(), port, called: None };
        assert_eq!(
            hosts("ssh:me@a,b:2222, me@[::1]:22,c", 1),
            Ok(vec![
                host("me@a", None),
                host("b", Some(2222)),
                host("me@::1", Some(22)),
                host("c", None)
            ])
        );
        for (text, words) in [
            ("a,b", "expected ssh:"),
            ("ssh:", "invalid machine"),
            ("ssh:a,,b", "invalid machine"),
            ("ssh:-oProxyCommand=x", "invalid machine"),
            ("ssh:me@-x", "invalid machine"),
            ("ssh:a b", "invalid machine"),
            ("ssh:::1", "invalid machine"),
            ("ssh:a:0", "invalid port"),
            ("ssh:a:ssh", "invalid port"),
            ("ssh:a,b,a", "twice"),
        ] {
            let error = hosts(text, 1).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(matches!(Way::read("ssh:a", Choice::default(), 0), Ok(Way::Ssh(_))));
        let two = Choice { agents: Some(2), ..Choice::default() };
        let nats = Way::read("nats://x/eu", two.clone(), 0).expect("a way");
        assert!(matches!(nats, Way::Nats(pools) if pools.agents == Some(2)));
        assert!(Way::read("ssh:a", two, 0).is_err_and(|error| error.contains("agents that wait")));
        let many: Vec<String> = (0..257).map(|n| format!("h{n}")).collect();
        assert!(
            hosts(&format!("ssh:{}", many.join(",")), 1)
                .is_err_and(|error| error.contains("257 machines"))
        );
    }

    #[test]
    fn hosts_of_jmeter_keep_their_names_and_ssh_its_own_port() {
        let Ok(Way::Whole(hosts)) = Way::whole(" a, me@b:1099,,[::1]:1099,a,a:1100") else {
            panic!("hosts")
        };
        let names: Vec<_> = hosts.iter().map(|host| (host.name.as_str(), host.port)).collect();
        assert_eq!(names, [("a", None), ("me@b", None), ("::1", None), ("a", None)]);
        let called: Vec<_> = hosts.iter().map(ToString::to_string).collect();
        assert_eq!(called, ["a", "me@b:1099", "[::1]:1099", "a:1100"]);
        assert_eq!(Way::Whole(hosts).copies(), 4);
        for (text, words) in [
            ("", "need hosts"),
            (" , ", "need hosts"),
            ("-o", "-R: invalid machine \"-o\""),
            ("a:x", "invalid port"),
        ] {
            assert!(Way::whole(text).is_err_and(|error| error.contains(words)), "{text}");
        }
    }
}
