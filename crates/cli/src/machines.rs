//! The machines of a run with `--fleet`: agents are gathered before it starts, and are in its summary.

pub(crate) mod about;

use std::collections::HashMap;

use engine::Options;
use fleet::remote::{self, About, Agents, Dealt, Gathering, Way};

use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::log::Level;
use crate::preflight::Look;
use crate::properties::Properties;
use crate::request::{OVERCOMMIT, Request};
use crate::run::traces::Traces;

/// Seconds for which agents go on without a word of the coordinator.
const GRACE: &str = "throng.fleet.grace";
const GRACE_DEFAULT: u64 = 30;
const GRACE_MOST: u64 = 3600;

/// Error of a clock from which on the user is warned, ms.
const CLOCK_WARNED: f64 = 10.0;

/// The request of a run for agents.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) properties: &'a Properties,
    pub(crate) options: &'a Options,
    pub(crate) text: &'a [u8],
    /// Processes on each machine, if that was asked for.
    pub(crate) workers: Option<u32>,
    /// The plan's data files, whose lines are dealt out.
    pub(crate) dealt: Dealt,
    pub(crate) users: u64,
    pub(crate) connections: u64,
    pub(crate) interrupt: &'a Interrupt,
}

impl Asked<'_> {
    /// Gathers the agents, and says how the load is dealt. `None`: the run is on this machine.
    pub(crate) fn gather(&self, traces: &mut Traces<'_>) -> Result<Option<Agents>, Exit> {
        let Some(way) = &self.request.fleet else { return Ok(None) };
        let grace =
            grace(self.properties).map_err(|words| traces.console.fail(&words, Exit::Usage))?;
        let mut fail = |words: String| {
            traces.note(Level::Error, "throng", &words);
            traces.console.fail(&format!("cannot start: {words}"), Exit::Aborted)
        };
        let name = self.request.plan.display().to_string();
        let parsed =
            jmx::parse(&name, self.text.to_vec()).map_err(|jmx::NotXml(found)| found.message);
        let (document, _) = parsed.map_err(&mut fail)?;
        let properties: HashMap<String, String> = self.options.properties.clone();
        let manifest = remote::manifest(&document, &properties, &self.request.folder());
        let manifest = manifest.map_err(|error| fail(format!("the plan's files: {error}")))?;
        let folder = traces.folder.path().map(ToOwned::to_owned);
        let Some(folder) = folder else {
            let words = "a run with --fleet needs its folder, for what agents have reported";
            return Err(traces.console.fail(words, Exit::Aborted));
        };
        for note in &manifest.notes {
            traces.warn("fleet", note);
        }
        if let Way::Ssh(hosts) = way {
            say(traces, &format!("starting agents on {} machines", hosts.len()));
        }
        let gathering = Gathering {
            way,
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
            Err(words) => {
                traces.note(Level::Error, "throng", &words);
                let interrupted = self.interrupt.asked() > 0;
                let exit = if interrupted { Exit::Interrupted } else { Exit::Aborted };
                return Err(traces.console.fail(&format!("cannot start: {words}"), exit));
            }
        };
        self.fits(&agents, traces)?;
        for words in deal_words(&agents.about(), self.users) {
            say(traces, &words);
        }
        for about in agents.about().iter().filter(|about| about.clock_bound_ms > CLOCK_WARNED) {
            let About { name, clock_bound_ms, .. } = about;
            let words = format!(
                "the clock of {name} is known to {clock_bound_ms:.0} ms only: its start may be so much off"
            );
            traces.warn("fleet", &words);
        }
        Ok(Some(agents))
    }

    /// Whether the agents' processes can hold the connections.
    fn fits(&self, agents: &Agents, traces: &mut Traces<'_>) -> Result<(), Exit> {
        let (needed, held) = (self.users.max(self.connections), agents.connections());
        if needed <= held {
            return Ok(());
        }
        let words = format!(
            "{needed} connections at once are more than the {held} that the descriptors of all machines allow"
        );
        if self.properties.flag(OVERCOMMIT, false) {
            traces.warn("fleet", &words);
            return Ok(());
        }
        let words = format!("{words}; --overcommit starts the run all the same");
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

/// A name that no other run has on any machine.
fn run_name(seed: u64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    format!("{now}-{}-{seed:016x}", std::process::id())
}

/// How the load is dealt.
fn deal_words(agents: &[About], users: u64) -> Vec<String> {
    let all: u64 = agents.iter().map(|about| u64::from(about.shares)).sum();
    let line = |about: &About| {
        let About { processors, shares, cores, clock_bound_ms, clock_offset_ms, .. } = about;
        let zone =
            if about.zone.is_empty() { String::new() } else { format!(" in {}", about.zone) };
        let name = format!("{}{zone}", about.name);
        let part = (users * u64::from(*shares)).div_ceil(all.max(1));
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
            "  {name}: {processors} processors, {shares} of {all} shares (about {part} users), processes of {cores} threads; \
             clock known to {clock_bound_ms:.2} ms{off}"
        )
    };
    let heading = "the load is dealt by processors and descriptors".to_owned();
    std::iter::once(heading).chain(agents.iter().map(line)).collect()
}

/// Facts of this machine give way to those of the machines that the users are on.
pub(crate) fn instead(found: &mut Look, agents: &[About]) {
    if agents.is_empty() {
        return;
    }
    found.processors = agents.iter().map(|about| u64::from(about.processors)).sum();
    found.memory = agents.iter().map(|about| about.memory).sum();
    (found.ports, found.ports_each) = (None, 0);
    found.warnings.clear();
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_dealing_is_said_with_the_bound_of_each_clock() {
        let about = |name: &str, shares, clock_offset_ms| About {
            name: name.into(),
            zone: if name == "b" { "eu".into() } else { String::new() },
            processors: 2 * shares,
            descriptors: 1024,
            memory: 1 << 30,
            shares,
            cores: 2,
            clock_bound_ms: 0.25,
            clock_offset_ms,
        };
        let agents = [about("a", 2, 0), about("b", 1, -70)];
        let words = deal_words(&agents, 9);
        assert!(words[1].contains("a: 4 processors, 2 of 3 shares (about 6 users)"), "{words:?}");
        assert!(words[2].contains("b in eu: "), "{words:?}");
        assert!(words[2].ends_with("clock known to 0.25 ms, 70 ms ahead"), "{words:?}");
        let json: Value =
            serde_json::from_str(&about::into_json("{}".into(), &agents)).expect("JSON");
        assert_eq!(
            (&json["agents"][1]["name"], &json["agents"][1]["clock_bound_ms"]),
            (&"b".into(), &0.25.into())
        );
    }
}
