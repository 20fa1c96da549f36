//! Options of waiting agents, of `throng fleet`, and of runs that choose among waiting agents.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use fleet::remote::simulated::Shape;
use fleet::remote::{Choice, Relays};

/// Options that select the waiting agents of a run, and the relays through which the run reaches its machines.
#[derive(Debug, Default, Args)]
pub(crate) struct ChoiceFlags {
    /// Agents that the run takes from the pool of --fleet nats://…; by default all that are free.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    agents: Option<u32>,
    /// Share of the load for a zone of waiting agents: --zone eu=2 --zone us=1. Agents of other zones are not used.
    #[arg(long, value_name = "ZONE=PART", value_parser = zone, conflicts_with = "workers")]
    zone: Vec<(String, u32)>,
    /// A label that agents must have. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    label: Vec<(String, String)>,
    /// Reach the machines of --fleet through relays, each of which merges the reports of a part of them: a number of
    /// processes on this machine, or machines: ssh:user@a,user@b.
    #[arg(long, value_name = "N|MACHINES", requires = "fleet")]
    relays: Option<String>,
}

impl ChoiceFlags {
    pub(crate) fn relays(&self) -> Result<Option<Relays>, String> {
        self.relays.as_deref().map(Relays::read).transpose()
    }

    pub(crate) fn choice(self) -> Result<Choice, String> {
        for (at, (zone, _)) in self.zone.iter().enumerate() {
            if self.zone[..at].iter().any(|(other, _)| other == zone) {
                return Err(format!("--zone names {zone} twice"));
            }
        }
        Ok(Choice { agents: self.agents, zones: self.zone, labels: self.label })
    }
}

#[derive(Debug, Args)]
pub(crate) struct AgentFlags {
    /// Read a coordinator's orders from standard input, and answer on standard output. Coordinators use this; it is not
    /// for people.
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Wait on a NATS server for runs that reserve this agent: nats://host:4222/pool.
    #[arg(long, value_name = "URL", env = "THRONG_NATS_URL")]
    pub(crate) nats: Option<String>,
    /// The pool to wait in; by default that of the address, or "default".
    #[arg(long, value_name = "NAME", env = "THRONG_AGENT_POOL")]
    pub(crate) pool: Option<String>,
    /// Unique name of the agent; by default the machine's.
    #[arg(long, value_name = "NAME", env = "THRONG_AGENT_NAME")]
    pub(crate) name: Option<String>,
    /// The zone that the agent is in.
    #[arg(long, value_name = "ZONE", env = "THRONG_AGENT_ZONE")]
    pub(crate) zone: Option<String>,
    /// A label of the agent. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// File with the operator's public key: the agent runs only what this key has signed.
    #[arg(long, value_name = "FILE", env = "THRONG_OPERATOR_KEY")]
    pub(crate) operator_key: Option<String>,
    /// A host, an address or a network that the agent may load, with or without a port: a.example, *.example,
    /// 10.0.0.0/8. May be given several times; by default all targets are allowed.
    #[arg(long, value_name = "TARGET", value_delimiter = ',', env = "THRONG_AGENT_ALLOW_TARGET")]
    pub(crate) allow_target: Vec<String>,
    /// End after one run.
    #[arg(long)]
    pub(crate) once: bool,
    /// Take over the part of a run that an agent of this machine works for, or has worked for. For another coordinator.
    #[arg(long, value_name = "RUN", requires = "stdio", hide = true)]
    pub(crate) again: Option<String>,
    /// Run no users, and report made-up samples: labels, samples of each label, seconds. For benches.
    #[arg(long, value_name = "LABELS,SAMPLES,SECONDS", requires = "stdio", hide = true, value_parser = Shape::read)]
    pub(crate) simulated: Option<Shape>,
}

/// The subcommands of `throng fleet`.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetVerb {
    /// Start a NATS server for agents, create its TLS certificate, keys and permissions, and print the commands that
    /// use it.
    Up(UpFlags),
    /// Take over a run whose coordinator was killed while its agents continue, and finish it.
    Resume(ResumeFlags),
    /// Print the Kubernetes objects of waiting agents, the same as the Helm chart in deploy/helm.
    Manifest(ManifestFlags),
}

#[derive(Debug, Args)]
pub(crate) struct ResumeFlags {
    /// Folder of the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ManifestFlags {
    /// Prefix of object names.
    #[arg(long, value_name = "NAME", default_value = "throng")]
    pub(crate) name: String,
    /// Number of agents, each a pod.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) agents: u32,
    /// Prefix of the agents' names; the suffix is their index from 0.
    #[arg(long, value_name = "TEXT", default_value = "k")]
    pub(crate) prefix: String,
    /// Container image with Throng.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// NATS server on which the agents wait: nats://host:4222.
    #[arg(long, value_name = "URL")]
    pub(crate) nats: Option<String>,
    /// Run a NATS server beside the agents, with the files of the Secret throng-nats.
    #[arg(long)]
    pub(crate) with_nats: bool,
    /// The pool to wait in.
    #[arg(long, value_name = "NAME", value_parser = token)]
    pub(crate) pool: Option<String>,
    /// The zone of the agents.
    #[arg(long, value_name = "ZONE", value_parser = token)]
    pub(crate) zone: Option<String>,
    /// Folder of `throng fleet up`: its certificate and the agents' keys are printed as a Secret. Without this folder,
    /// the Secret throng-keys must already exist.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keys: Option<PathBuf>,
    /// A target that the agents may load, as for `throng agent`. May be given several times.
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    pub(crate) allow_target: Vec<String>,
    /// Processors of an agent, as Kubernetes writes them: 2, 500m.
    #[arg(long, value_name = "CPU")]
    pub(crate) cpu: Option<String>,
    /// Memory of an agent: 2Gi.
    #[arg(long, value_name = "MEMORY")]
    pub(crate) memory: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpFlags {
    /// Address that the server listens on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4222")]
    pub(crate) listen: SocketAddr,
    /// Name or address by which agents reach this machine, for the certificate. May be given several times.
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,
    /// Names of the agents, or their number: each gets its own key.
    #[arg(long, value_name = "NAMES|N", value_delimiter = ',', default_value = "8")]
    pub(crate) agents: Vec<String>,
    /// Folder for keys, certificate and configuration; existing ones are reused.
    #[arg(long, value_name = "FOLDER", default_value = "throng-fleet")]
    pub(crate) folder: PathBuf,
    /// Program of the NATS server: a path, or a name in PATH.
    #[arg(long, value_name = "PROGRAM", default_value = "nats-server")]
    pub(crate) server: PathBuf,
}

fn zone(text: &str) -> Result<(String, u32), String> {
    let (zone, part) = text.split_once('=').ok_or("write it like eu=2")?;
    let part = part.parse().ok().filter(|part| (1..=1_000).contains(part));
    Ok((token(zone)?, part.ok_or("a part is 1 to 1000")?))
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it like size=large")?;
    Ok((token(name)?, token(value)?))
}

fn token(text: &str) -> Result<String, String> {
    if fleet::nats::is_token(text) {
        return Ok(text.to_owned());
    }
    Err(format!("{text:?} is not a valid name: {}", fleet::nats::TOKEN_WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_labels_are_names_with_values() {
        assert_eq!(zone("eu=2"), Ok(("eu".into(), 2)));
        assert_eq!(label("size=large"), Ok(("size".into(), "large".into())));
        for bad in ["eu", "eu=0", "eu=x", "e.u=1", ">=1", "=1", "eu=1001"] {
            assert!(zone(bad).is_err(), "{bad}");
        }
        for bad in ["size", "size=", "a b=c", "a=b\r\nPUB x 0", "a=*"] {
            assert!(label(bad).is_err(), "{bad}");
        }
    }
}
