//! The end of a run with agents: their rows are fetched and merged, and they leave.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::bus::Agents;
use super::line::{Heard, nanos};
use super::rows::{self, Part};
use super::squeeze::unpack;
use super::wire::{FromAgent, Results, ToAgent};

/// Longest silence of an agent whose rows are fetched.
const SILENCE: Duration = Duration::from_secs(30);
/// Time for agents to end by themselves.
const LEAVING: Duration = Duration::from_secs(5);

impl Agents {
    /// Fetches the rows of all agents and lets them go. Returns sentences about rows that could not be had.
    pub(super) fn fetch(&mut self) -> Vec<String> {
        let mut complaints = Vec::new();
        let results = std::mem::take(&mut self.results);
        for (number, (path, are_rows, on_agent)) in (0..).zip(&results) {
            if matches!(on_agent, Results::Listener(paths) if paths.is_empty()) {
                continue;
            }
            let mut parts = Vec::new();
            for worker in 0..self.all.len() {
                let agent = &self.all[worker];
                if agent.gone {
                    let words = format!("rows of {} for {} stay there", agent.name, path.display());
                    complaints.push(words);
                    continue;
                }
                let part = self.notes_path.with_file_name(format!(".rows-{worker}-{number}"));
                let offset_ms = self.offset_ms(agent);
                if let Err(error) = self.fetch_one(worker, number, &part) {
                    let name = &self.all[worker].name;
                    complaints.push(format!("rows of {name} for {}: {error}", path.display()));
                }
                parts.push(Part { path: part, offset_ms });
            }
            if let Err(error) = rows::merge(&parts, path, *are_rows) {
                complaints.push(format!("rows of the agents for {}: {error}", path.display()));
            }
            for part in &parts {
                let _ = std::fs::remove_file(&part.path);
            }
        }
        self.leave(complaints.is_empty());
        complaints
    }

    fn fetch_one(&mut self, worker: usize, file: u32, into: &Path) -> io::Result<()> {
        let mut out = File::create(into)?;
        self.tell(worker as u32, &ToAgent::Fetch { file });
        loop {
            match self.heard.recv_timeout(Duration::from_millis(200)) {
                Ok((from, Heard::Message(message, _))) if from as usize == worker => match *message
                {
                    FromAgent::Rows(bytes) if bytes.is_empty() => return Ok(()),
                    FromAgent::Rows(bytes) => {
                        out.write_all(&unpack(&bytes).map_err(io::Error::other)?)?;
                    }
                    _ => {}
                },
                Ok((from, Heard::Ended(words))) => {
                    self.all[from as usize].gone = true;
                    if from as usize == worker {
                        return Err(io::Error::other(format!("its connection ended {words}")));
                    }
                }
                Ok(_) | Err(_) => {}
            }
            let agent = &self.all[worker];
            if agent.gone || nanos(self.clock) - agent.line.last() > SILENCE.as_nanos() as i64 {
                return Err(io::Error::other("it is not heard any more"));
            }
        }
    }

    /// Lets the agents go. The notes are needed only where something is missing.
    fn leave(&mut self, whole: bool) {
        let mut left = true;
        for worker in 0..self.all.len() {
            left &= !self.all[worker].gone;
            self.tell(worker as u32, &ToAgent::Leave);
        }
        let until = Instant::now() + LEAVING;
        for agent in self.all.iter_mut().filter(|agent| !agent.gone) {
            agent.line.end(until.saturating_duration_since(Instant::now()));
            agent.gone = true;
        }
        if whole && left {
            let _ = std::fs::remove_file(&self.notes_path);
        }
        // The run is over: nobody takes it over.
        let _ = std::fs::remove_file(super::resume::kept(&self.notes_path));
    }
}

/// The file of the coordinator's notes in a run's folder.
pub fn notes(folder: &Path) -> PathBuf {
    folder.join("fleet.notes")
}
