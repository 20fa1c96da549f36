//! Relays: agents whose workers are the agents of a region. Relays connect to these agents in place of the coordinator.
//!
//! The command line specifies their number, for processes on the coordinator's machine, or names machines:
//! `ssh:user@a,user@b`. The machines of the run are divided among the relays as equally as possible.

use std::process::Command;

use stats::grouped::things;

use super::hosts::{self, Host, Way};

/// The relays of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relays {
    /// Relays that are processes on the coordinator's machine; contains their number.
    Here(u32),
    Ssh(Vec<Host>),
}

/// Maximum number of relays of a run.
const MOST: u32 = 256;

impl Relays {
    /// Parses the command line's value. The error is a message for the user.
    pub fn read(text: &str) -> Result<Self, String> {
        if let Some(list) = text.strip_prefix("ssh:") {
            let hosts: Vec<Host> = list
                .split(',')
                .map(|host| hosts::one(host.trim(), "--relays"))
                .collect::<Result<_, _>>()?;
            if hosts.len() > MOST as usize {
                return Err(format!(
                    "--relays names {} machines; at most {MOST} are allowed",
                    hosts.len()
                ));
            }
            return Ok(Self::Ssh(hosts));
        }
        match text.parse() {
            Ok(count) if (1..=MOST).contains(&count) => Ok(Self::Here(count)),
            _ => Err(format!(
                "--relays {text}: expected a number up to {MOST}, or machines like ssh:user@a,user@b:2222"
            )),
        }
    }

    pub fn count(&self) -> usize {
        match self {
            Self::Here(count) => *count as usize,
            Self::Ssh(hosts) => hosts.len(),
        }
    }

    /// Returns the names of the relays.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Here(count) => (1..=*count).map(|number| format!("relay-{number}")).collect(),
            Self::Ssh(hosts) => hosts.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Returns the command that starts a relay on this machine. The command uses the running program, even if the program's
/// file was replaced. `takeover` names the run that the relay takes over.
pub(crate) fn here(takeover: Option<&str>) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", "--stdio"]);
    command.args(takeover.into_iter().flat_map(|run| ["--again", run]));
    command
}

/// Divides the machines of the run among `count` relays. `waiting` lists the names of waiting agents, grouped by zone.
/// The error is a message for the user.
pub(crate) fn divide(way: &Way, count: usize, waiting: &[String]) -> Result<Vec<Way>, String> {
    let all = match way {
        Way::Ssh(hosts) => hosts.len(),
        Way::Nats(_) => waiting.len(),
        Way::Whole(_) => {
            return Err("--relays cannot be combined with -R or -r; use it with --fleet".into());
        }
    };
    if all < count {
        return Err(format!("--relays: {count} relays for {}", things(all as u64, "machine")));
    }
    let part = |number: usize| number * all / count..(number + 1) * all / count;
    let ways = (0..count).map(|number| match way {
        Way::Nats(pools) => {
            let mut names = waiting[part(number)].to_vec();
            names.sort_unstable();
            let agents = u32::try_from(names.len()).ok();
            let mut pools = pools.clone();
            (pools.agents, pools.names) = (agents, names);
            // The selected agents are already in the right zones.
            (pools.zones, pools.labels) = (Vec::new(), Vec::new());
            Way::Nats(pools)
        }
        Way::Ssh(hosts) | Way::Whole(hosts) => Way::Ssh(hosts[part(number)].to_vec()),
    });
    Ok(ways.collect())
}

#[cfg(test)]
mod tests {
    use super::super::hosts::Choice;
    use super::*;

    #[test]
    fn relays_are_a_number_or_machines() {
        assert_eq!(Relays::read("8"), Ok(Relays::Here(8)));
        let two = Relays::read("ssh:me@a, b:2222").expect("machines");
        assert_eq!((two.count(), two.names()), (2, vec!["me@a".to_owned(), "b:2222".to_owned()]));
        assert_eq!(Relays::Here(2).names(), ["relay-1", "relay-2"]);
        for text in ["0", "", "257", "a,b", "ssh:", "ssh:-o"] {
            assert!(Relays::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn each_machine_belongs_to_one_relay() {
        let way = Way::read("ssh:a,b,c,d,e", Choice::default(), 2).expect("machines");
        let parts = divide(&way, 2, &[]).expect("parts");
        let names = |way: &Way| match way {
            Way::Ssh(hosts) => hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        assert_eq!(
            parts.iter().map(names).collect::<Vec<_>>(),
            [vec!["a", "b"], vec!["c", "d", "e"]]
        );
        assert!(divide(&way, 6, &[]).is_err_and(|words| words.contains("6 relays for 5")));
        let whole = Way::whole("a,b").expect("hosts");
        assert!(divide(&whole, 2, &[]).is_err_and(|words| words.contains("cannot be combined")));
        let choice = Choice { agents: Some(5), ..Choice::default() };
        let way = Way::read("nats://x/eu", choice, 2).expect("a pool");
        let waiting: Vec<String> = ["eu1", "eu2", "eu3", "us1", "us2"].map(String::from).into();
        let parts = divide(&way, 2, &waiting).expect("parts");
        let of = |way: &Way| match way {
            Way::Nats(pools) => (pools.agents, pools.names.clone()),
            _ => (None, Vec::new()),
        };
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of(&parts[0]), (Some(2), names(&["eu1", "eu2"])));
        assert_eq!(of(&parts[1]), (Some(3), names(&["eu3", "us1", "us2"])));
    }
}
