//! The machines of a run with `--fleet`: gathers the agents before the run starts, and names them in the summary.

pub(crate) mod about;
mod figures;

use std::collections::HashMap;

use engine::Options;
use fleet::remote::{
    self, About, Agents, Dealt, Former, Gathering, Host, Manifest, Relays, Resuming, Way,
};
use stats::grouped::things;

use crate::args::request::{OVERCOMMIT, Request};
use crate::checks::preflight::Look;
use crate::exit::Exit;
use crate::inputs::properties::Properties;
use crate::operator::interrupt::Interrupt;
use crate::print::log::Level;
use crate::run::kept;
use crate::run::stages::traces::Traces;

/// Property with the time in seconds for which agents keep running without a message from the coordinator.
const GRACE: &str = "throng.fleet.grace";
/// Default time in seconds for which agents keep running without a message from the coordinator.
const GRACE_DEFAULT: u64 = 30;
/// Largest accepted time in seconds for which agents keep running without a message from the coordinator.
const GRACE_MOST: u64 = 3600;

/// Largest number of machines for which the share of the load is printed.
const MOST_SAID: usize = 50;

/// Uncertainty of a machine's clock in milliseconds from which the user is warned.
const CLOCK_WARNED: f64 = 10.0;

/// A run's request for agents.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) properties: &'a Properties,
    pub(crate) options: &'a Options,
    pub(crate) text: &'a [u8],
    /// Number of processes on each machine, if the user set it.
    pub(crate) workers: Option<u32>,
    /// The plan's data files with lines that are divided among the agents.
    pub(crate) dealt: Dealt,
    /// Number of users of the run.
    pub(crate) users: u64,
    /// Largest number of connections that the users hold.
    pub(crate) connections: u64,
    pub(crate) interrupt: &'a Interrupt,
}

impl Asked<'_> {
    /// Gathers the agents and prints how the load is divided. Returns `None` if the run stays on this machine.
    pub(crate) fn gather(&self, traces: &mut Traces<'_>) -> Result<Option<Agents>, Exit> {
        let Some(way) = &self.request.fleet else { return Ok(None) };
        let grace =
            grace(self.properties).map_err(|words| traces.console.fail(&words, Exit::Usage))?;
        let manifest = self.manifest().map_err(|words| {
            traces.note(Level::Error, "throng", &words);
            traces.console.fail(&format!("cannot start: {words}"), Exit::Aborted)
        })?;
        let folder = traces.folder.path().map(ToOwned::to_owned);
        let Some(folder) = folder else {
            let words = "a run with --fleet keeps the agents' reports in its folder, and the folder could not be created: name another place with --runs FOLDER";
            return Err(traces.console.fail(words, Exit::Aborted));
        };
        for note in &manifest.notes {
            traces.warn("fleet", note);
        }
        for words in way_words(way, self.request.relays.as_ref()) {
            say(traces, &words);
        }
        let gathering = Gathering {
            way,
            relays: self.request.relays.as_ref(),
            manifest: &manifest,
            dealt: &self.dealt,
            run: run_name(self.options.seed),
            each: self.workers,
            cores: self.options.cores,
            users: self.users,
            connections: self.users.max(self.connections),
            notes: remote::notes(&folder),
            grace,
            cancelled: &|| self.interrupt.asked() > 0,
        };
        let agents = remote::gather(gathering, &mut |words: &str| say(traces, words));
        let agents = match agents {
            Ok(agents) => agents,
            Err(words) => return Err(self.failed("cannot start", &words, traces)),
        };
        self.fits(&agents, traces)?;
        if let Err(words) = kept::keep(&folder) {
            traces.warn("fleet", &format!("{words}; no other coordinator can take this run over"));
        }
        self.say_dealt(&agents.about(), traces);
        Ok(Some(agents))
    }

    /// Lists the files that the plan names. The error is a message for the user.
    fn manifest(&self) -> Result<Manifest, String> {
        let name = self.request.plan.display().to_string();
        let parsed =
            jmx::parse(&name, self.text.to_vec()).map_err(|jmx::NotXml(found)| found.message);
        let (document, _) = parsed?;
        let properties: HashMap<String, String> = self.options.properties.clone();
        remote::manifest(&document, &properties, &self.request.folder())
            .map_err(|error| format!("the plan's files: {error}"))
    }

    /// Prints how the load is divided among the agents, and which clocks are uncertain.
    fn say_dealt(&self, agents: &[About], traces: &mut Traces<'_>) {
        let whole = matches!(self.request.fleet, Some(Way::Whole(_)));
        for words in deal_words(agents, self.users, whole) {
            say(traces, &words);
        }
        for about in agents.iter().filter(|about| about.clock_bound_ms > CLOCK_WARNED) {
            let About { name, clock_bound_ms, .. } = about;
            let words = format!(
                "the clock of {name} is known only to within {clock_bound_ms:.0} ms: its users may start that much too early or too late"
            );
            traces.warn("fleet", &words);
        }
    }

    /// Takes over the agents of a run whose coordinator has ended.
    pub(crate) fn resume(&self, former: Former, traces: &mut Traces<'_>) -> Result<Agents, Exit> {
        let Some(way) = &self.request.fleet else { return Err(Exit::Usage) };
        let relays = self.request.relays.as_ref();
        let resuming = Resuming { way, relays, cancelled: &|| self.interrupt.asked() > 0 };
        let agents = remote::resume(former, &resuming, &mut |words: &str| say(traces, words));
        match agents {
            Ok(agents) => {
                let words = "the run was taken over from another coordinator: earlier reports are counted again, and agents continue";
                traces.warn("fleet", words);
                Ok(agents)
            }
            Err(words) => Err(self.failed("cannot take the run over", &words, traces)),
        }
    }

    /// Prints the reason why there are no agents, and returns the exit code.
    fn failed(&self, what: &str, words: &str, traces: &mut Traces<'_>) -> Exit {
        traces.note(Level::Error, "throng", words);
        let interrupted = self.interrupt.asked() > 0;
        let exit = if interrupted { Exit::Interrupted } else { Exit::Aborted };
        traces.console.fail(&format!("{what}: {words}"), exit)
    }

    /// Checks that the agents' processes can hold the connections of the run.
    fn fits(&self, agents: &Agents, traces: &mut Traces<'_>) -> Result<(), Exit> {
        let (needed, held) = (self.users.max(self.connections), agents.connections());
        if needed <= held {
            return Ok(());
        }
        let whole = matches!(self.request.fleet, Some(Way::Whole(_)));
        let of = if whole { "each host" } else { "all machines" };
        let words = format!(
            "{needed} connections at once are more than the {held} that the descriptors of {of} allow"
        );
        if self.properties.flag(OVERCOMMIT, false) {
            traces.warn("fleet", &words);
            return Ok(());
        }
        let words = format!("{words}; --overcommit starts the run anyway");
        Err(traces.console.fail(&words, Exit::TooSmall))
    }
}

fn say(traces: &mut Traces<'_>, words: &str) {
    traces.note(Level::Info, "fleet", words);
    traces.console.line(words);
}

fn grace(properties: &Properties) -> Result<u64, String> {
    let Some(text) = properties.get(GRACE).map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(GRACE_DEFAULT);
    };
    let grace = text.parse().ok().filter(|grace| (1..=GRACE_MOST).contains(grace));
    grace.ok_or_else(|| format!("{GRACE} is {text:?}; it must be 1 to {GRACE_MOST} seconds"))
}

/// Returns a name for the run that is unique on all machines.
fn run_name(seed: u64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    format!("{now}-{}-{seed:016x}", std::process::id())
}

/// Returns the messages that are printed before agents are started or searched for.
fn way_words(way: &Way, relays: Option<&Relays>) -> Vec<String> {
    match way {
        Way::Ssh(hosts) if relays.is_some() => {
            let count = relays.map_or(0, Relays::count);
            let relays = things(count as u64, "relay");
            vec![format!(
                "starting {relays}, and agents on {}",
                things(hosts.len() as u64, "machine")
            )]
        }
        Way::Ssh(hosts) => {
            vec![format!("starting agents on {}", things(hosts.len() as u64, "machine"))]
        }
        Way::Whole(hosts) => whole_words(hosts),
        Way::Nats(_) => Vec::new(),
    }
}

/// Returns messages that explain -R and -r, and a message if ports are ignored.
fn whole_words(hosts: &[Host]) -> Vec<String> {
    let count = hosts.len();
    let mut words = vec![format!(
        "each of {count} hosts runs the whole plan, as JMeter has it for -R and -r (--fleet would divide its users); \
         ssh reaches it, no jmeter-server is used, and nothing of the run stays there running, with or without -X"
    )];
    let names = hosts.iter().map(ToString::to_string);
    // An IPv6 address without a port ends with its bracket.
    let has_port =
        |name: &String| name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let ports: Vec<String> = names.filter(has_port).collect();
    if !ports.is_empty() {
        words.push(format!(
            "the ports of {} are those of JMeter's servers and are not used: ssh has its own (~/.ssh/config)",
            ports.join(", ")
        ));
    }
    words
}

/// Returns JMeter's list of engines, if each host runs the whole plan (`-R` or `-r`).
pub(crate) fn engines(request: &Request) -> Option<String> {
    let Some(Way::Whole(hosts)) = &request.fleet else { return None };
    Some(hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// Returns the number of users as a phrase; with `-R` or `-r` it adds that each host has this number.
pub(crate) fn on_each(request: &Request, users: u64) -> String {
    let users = things(users, "user");
    match &request.fleet {
        Some(Way::Whole(hosts)) => format!("{users} on each of {} hosts", hosts.len()),
        _ => users,
    }
}

/// Describes how the load is divided. If `whole` is true, each agent runs all users.
fn deal_words(agents: &[About], users: u64, whole: bool) -> Vec<String> {
    let all: u64 = agents.iter().map(|about| u64::from(about.shares)).sum();
    let line = |about: &About| {
        let About { processors, shares, cores, clock_bound_ms, clock_offset_ms, .. } = about;
        let zone =
            if about.zone.is_empty() { String::new() } else { format!(" in {}", about.zone) };
        let relay = about.relay.as_ref().map_or_else(String::new, |relay| format!(" by {relay}"));
        let name = format!("{}{zone}{relay}", about.name);
        let threads = things((*cores).into(), "thread");
        let part = if whole {
            let (users, processes) = (things(users, "user"), things((*shares).into(), "process"));
            format!("{users} in {processes} of {threads}")
        } else {
            let part = (users * u64::from(*shares)).div_ceil(all.max(1));
            format!(
                "{shares} of {all} shares (about {}), processes of {threads}",
                things(part, "user")
            )
        };
        let off = if *clock_offset_ms == 0 {
            String::new()
        } else {
            format!(
                ", {} ms {}",
                clock_offset_ms.abs(),
                if *clock_offset_ms > 0 { "behind" } else { "ahead" }
            )
        };
        format!(
            "  {name}: {processors} processors, {part}; clock known to {clock_bound_ms:.2} ms{off}"
        )
    };
    let heading = "load is split by CPUs and file descriptors".to_owned();
    let heading = (!whole).then_some(heading);
    let rest = agents.len().saturating_sub(MOST_SAID);
    let rest = (rest > 0).then(|| format!("  and {rest} more, which the run's summary.json has"));
    heading.into_iter().chain(agents.iter().take(MOST_SAID).map(line)).chain(rest).collect()
}

/// Replaces the facts about this machine by those about the agents' machines, which run the users.
pub(crate) fn instead(found: &mut Look, agents: &[About]) {
    if agents.is_empty() {
        return;
    }
    found.processors = agents.iter().map(|about| u64::from(about.processors)).sum();
    found.memory = agents.iter().map(|about| about.memory).sum();
    (found.ports, found.ports_each, found.receive_buffer) = (None, 0, 0);
    found.warnings.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dealing_is_said_with_the_bound_of_each_clock() {
        let about = figures::tests::about;
        let a = About { processors: 4, shares: 2, ..about("a", "") };
        let agents = [a, About { clock_offset_ms: -70, ..about("b", "eu") }];
        let words = deal_words(&agents, 9, false);
        assert!(words[1].contains("a: 4 processors, 2 of 3 shares (about 6 users)"), "{words:?}");
        assert!(words[2].contains("b in eu: "), "{words:?}");
        assert!(words[2].ends_with("clock known to 0.25 ms, 70 ms ahead"), "{words:?}");
        let Ok(Way::Whole(hosts)) = Way::whole("a,b:1099,[::1]") else { panic!("hosts") };
        let words = whole_words(&hosts);
        assert!(words[0].starts_with("each of 3 hosts runs the whole plan"), "{words:?}");
        assert!(words[1].starts_with("the ports of b:1099 are"), "{words:?}");
        let words = deal_words(&agents, 9, true);
        assert!(words[0].contains("a: 4 processors, 9 users in 2 processes of 2"), "{words:?}");
    }
}
