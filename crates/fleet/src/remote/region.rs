//! The additional tasks of a relay compared with an agent: it connects to the agents of its region in place of the
//! coordinator, forwards files to them, and acts as their coordinator during the run.
//!
//! For the coordinator, the relay is one agent: the measurements of its agents are merged once a second and reported in
//! the relay's own account. So merging, accounting and losses work as without relays, on one more level.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use super::bus::Agents;
use super::gather::Gather;
use super::store::{RunFolder, Store};
use super::wire::{Assignment, ReachedAgent, Region, RelayAssignment, Results};
use crate::account::Limits;
use crate::nats::{self, LentCredentials};

/// The agents of a relay while they are being prepared.
pub(super) struct RelayAgents<'a> {
    gather: Gather<'a>,
    serve: RelayAssignment,
    grace: u64,
    run: (String, u32),
}

impl<'a> RelayAgents<'a> {
    /// Starts or reserves the agents of a region and measures the differences of the clocks. Refuses if `allowed`, the
    /// list of targets that the relay's machine permits, is not empty.
    pub(super) fn reach(
        region: Region,
        (cancelled, allowed): (&'a dyn Fn() -> bool, &str),
        note: &mut dyn FnMut(&str),
    ) -> Result<Self, String> {
        if !allowed.is_empty() {
            return Err("a machine that permits only certain targets cannot be a relay".into());
        }
        let Region { way, credentials, grace } = region;
        let mut gather = if credentials.is_empty() {
            Gather::start(&way, (nats::env, grace), cancelled, note)?
        } else {
            let lent = LentCredentials::new(credentials)
                .map_err(|error| format!("cannot store the credentials of the run: {error}"))?;
            Gather::start(&way, (|name: &str| lent.var(name), grace), cancelled, note)?
        };
        gather.meet(note)?;
        Ok(Self { gather, serve: RelayAssignment::default(), grace, run: <_>::default() })
    }

    pub(super) fn met(&self) -> Vec<ReachedAgent> {
        self.gather.met()
    }

    pub(super) fn serve(&mut self, serve: &RelayAssignment) {
        self.serve.clone_from(serve);
    }

    /// Forwards to each agent the files that it needs. The relay's store contains all of them.
    pub(super) fn pass_on(
        &mut self,
        (run, depth): (&str, u32),
        store: &Store,
        note: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        self.run = (run.to_owned(), depth);
        self.gather.serve(&self.serve.agents, |hash| store.file(hash));
        self.gather.send_files((run, depth), note)
    }

    /// Returns the prepared agents as the workers of a bus.
    pub(super) fn into_agents(
        self,
        place: &RunFolder,
        assignment: &Assignment,
    ) -> Result<Agents, String> {
        let parts = self.serve.agents.iter().map(|served| (served.shares.clone(), served.cores));
        let (agents, ear) = self.gather.into_parts(parts);
        let limits = Limits { ahead: self.serve.ahead, grace: self.grace };
        let words = |error: io::Error| format!("cannot create the relay's notes: {error}");
        let agents =
            Agents::new(agents, ear, limits, &place.root.join("fleet.notes")).map_err(words)?;
        let results = results(place, assignment);
        Ok(agents.of_relay(
            self.run,
            results.map_err(|error| format!("cannot create the result files: {error}"))?,
        ))
    }
}

/// Creates empty result files for the rows of all agents, at the paths where the coordinator expects them.
fn results(
    place: &RunFolder,
    assignment: &Assignment,
) -> io::Result<Vec<(PathBuf, bool, Results)>> {
    let mut files = Vec::new();
    for (on_agent, are_rows) in assignment.results.iter().zip(&assignment.rows) {
        let path = match on_agent {
            Results::All(number) => Some(place.root.join(format!("rows-{number}"))),
            Results::Listener(paths) => paths.first().map(|path| place.plan.join(path)),
        };
        if let Some(path) = &path {
            fs::create_dir_all(path.parent().unwrap_or(&place.root))?;
            File::create(path)?;
        }
        files.push((path.unwrap_or_default(), *are_rows, on_agent.clone()));
    }
    Ok(files)
}
