//! The end of a run with agents: their rows are fetched and merged, or sent to a destination, and the agents are
//! released.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stats::grouped::things;

use super::bus::Agents;
use super::line::{AgentEvent, nanos};
use super::push::{Rest, RowsTo};
use super::rows::{self, Part};
use super::squeeze::unpack;
use super::wire::{FromAgent, Results, ToAgent};

/// Maximum silence of an agent while its rows are fetched.
const SILENCE: Duration = Duration::from_secs(30);
/// Maximum time for agents to send a file to its destination: the agents' own limit, and time to report the result.
const PUSHED: Duration = Duration::from_secs(31 * 60);
/// Maximum length of the head of a result file, the text before its rows, in bytes.
const HEAD: u64 = 64 << 10;
/// The tag with which the head of an XML result file ends.
const ROOT: &[u8] = b"<testResults";
/// Time for agents to end by themselves after their release.
const LEAVING: Duration = Duration::from_secs(5);

/// Progress of collecting the result files at the end of a run.
#[derive(Debug)]
pub(super) struct End {
    /// Result files that are not collected yet, with their numbers.
    files: VecDeque<(u32, (PathBuf, bool, Results))>,
    /// For each agent: true if it has sent its rows of the next file to the destination; `None` before the agents were
    /// ordered to send these rows.
    pushed: Option<Vec<bool>>,
    /// True if no rows are missing so far.
    is_whole: bool,
}

impl Agents {
    /// Performs the next step of collecting result files: makes agents send the rows of a file to their destination, or
    /// fetches the rows. Finally releases the agents. Returns messages about missing and sent rows; `None` when nothing
    /// is left to do.
    pub(super) fn fetch(&mut self) -> Option<Vec<String>> {
        let end = self.end.get_or_insert_with(|| End {
            files: (0..).zip(std::mem::take(&mut self.results)).collect(),
            pushed: None,
            is_whole: true,
        });
        let skipped =
            |results: &Results| matches!(results, Results::Listener(paths) if paths.is_empty());
        while end.files.front().is_some_and(|(_, (.., on_agent))| skipped(on_agent)) {
            end.files.pop_front();
        }
        let Some((number, (path, are_rows, _))) = end.files.front().cloned() else {
            let whole = end.is_whole;
            if !std::mem::replace(&mut self.left, true) {
                self.leave(whole);
            }
            return None;
        };
        let (pushed, place) = (end.pushed.take(), self.rows_to.clone());
        let (mut complaints, mut notes) = (Vec::new(), Vec::new());
        match (pushed, place) {
            (None, Some(place)) => {
                let sent = self.push(&place, (number, &path, are_rows), &mut complaints);
                notes.extend(said(&path, &sent));
                self.end.as_mut()?.pushed = Some(sent);
            }
            (pushed, _) => {
                let sent = pushed.unwrap_or_else(|| vec![false; self.all.len()]);
                self.fetch_file((number, &path, are_rows), &sent, &mut complaints);
                self.end.as_mut()?.files.pop_front();
            }
        }
        self.end.as_mut()?.is_whole &= complaints.is_empty();
        complaints.extend(notes);
        Some(complaints)
    }

    /// Fetches the rows of a result file from the agents that have not sent them to the destination, and merges the
    /// rows.
    fn fetch_file(
        &mut self,
        (number, path, are_rows): (u32, &Path, bool),
        sent: &[bool],
        complaints: &mut Vec<String>,
    ) {
        let mut parts = Vec::new();
        for worker in (0..self.all.len()).filter(|worker| !sent[*worker]) {
            let agent = &self.all[worker];
            if agent.gone {
                let words = format!(
                    "cannot fetch the rows of agent {} for {}: the agent is lost",
                    agent.name,
                    path.display()
                );
                complaints.push(words);
                continue;
            }
            let part = self.notes_path.with_file_name(format!(".rows-{worker}-{number}"));
            let offset_ms = self.offset_ms(agent);
            if let Err(error) = self.fetch_one(worker, number, &part) {
                let name = &self.all[worker].name;
                complaints.push(format!(
                    "cannot fetch the rows of agent {name} for {}: {error}",
                    path.display()
                ));
            }
            parts.push(Part { path: part, offset_ms });
        }
        if let Err(error) = rows::merge(&parts, path, are_rows) {
            complaints
                .push(format!("cannot merge the rows of agents into {}: {error}", path.display()));
        }
        for part in &parts {
            let _ = std::fs::remove_file(&part.path);
        }
    }

    /// Orders each agent to send its rows of a result file to the destination. Returns for each agent true if the rows
    /// were sent; otherwise the coordinator fetches them.
    fn push(
        &mut self,
        place: &RowsTo,
        (number, path, are_rows): (u32, &Path, bool),
        complaints: &mut Vec<String>,
    ) -> Vec<bool> {
        let head = head(path, are_rows);
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The name of the run for people: its folder.
        let folder = self.notes_path.parent().and_then(Path::file_name);
        let run =
            folder.map_or_else(|| self.run.0.clone(), |name| name.to_string_lossy().into_owned());
        let mut answers = vec![None::<Result<u64, String>>; self.all.len()];
        for (worker, answer) in answers.iter_mut().enumerate() {
            let agent = &self.all[worker];
            if agent.gone {
                *answer = Some(Err(String::new()));
                continue;
            }
            let offset_ms = self.offset_ms(agent);
            let rest = Rest { number, head: head.clone(), are_rows, offset_ms };
            let order = place.order((&run, &agent.name, &file), rest);
            self.tell(worker as u32, &ToAgent::Push(Box::new(order)));
        }
        let asked = Instant::now();
        while answers.contains(&None) {
            match self.heard.recv_timeout(Duration::from_millis(200)) {
                Ok((from, AgentEvent::Message(message, _))) => {
                    if let FromAgent::Pushed(sent) = *message {
                        answers[from as usize] = Some(sent);
                    }
                }
                Ok((from, AgentEvent::Ended(_))) => self.all[from as usize].gone = true,
                Ok(_) | Err(_) => {}
            }
            let is_late = asked.elapsed() > PUSHED;
            for (agent, answer) in self.all.iter().zip(&mut answers).filter(|(_, of)| of.is_none())
            {
                if is_late {
                    *answer = Some(Err(format!("not finished within {} s", PUSHED.as_secs())));
                } else if agent.gone
                    || nanos(self.clock) - agent.line.last() > SILENCE.as_nanos() as i64
                {
                    *answer = Some(Err("the agent does not respond".into()));
                }
            }
        }
        for (agent, answer) in self.all.iter().zip(&answers) {
            if let Some(Err(words)) = answer
                && !words.is_empty()
            {
                let name = &agent.name;
                complaints.push(format!(
                    "agent {name} could not upload its rows for {file}: {words}; fetching them instead"
                ));
            }
        }
        answers.iter().map(|answer| matches!(answer, Some(Ok(_)))).collect()
    }

    fn fetch_one(&mut self, worker: usize, file: u32, into: &Path) -> io::Result<()> {
        let mut out = File::create(into)?;
        self.tell(worker as u32, &ToAgent::Fetch { file });
        loop {
            match self.heard.recv_timeout(Duration::from_millis(200)) {
                Ok((from, AgentEvent::Message(message, _))) if from as usize == worker => {
                    match *message {
                        FromAgent::Rows(bytes) if bytes.is_empty() => return Ok(()),
                        FromAgent::Rows(bytes) => {
                            out.write_all(&unpack(&bytes).map_err(io::Error::other)?)?;
                        }
                        _ => {}
                    }
                }
                Ok((from, AgentEvent::Ended(words))) => {
                    self.all[from as usize].gone = true;
                    if from as usize == worker {
                        let separator = if words.is_empty() { "" } else { ": " };
                        let words = format!("the connection was closed{separator}{words}");
                        return Err(io::Error::other(words));
                    }
                }
                Ok(_) | Err(_) => {}
            }
            let agent = &self.all[worker];
            if agent.gone || nanos(self.clock) - agent.line.last() > SILENCE.as_nanos() as i64 {
                return Err(io::Error::other("the agent does not respond"));
            }
        }
    }

    /// Releases the agents. The coordinator's notes are deleted if nothing is missing.
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
        // The run is over, so no takeover is possible any more.
        let _ = std::fs::remove_file(super::resume::kept(&self.notes_path));
    }
}

/// Returns the message about rows that were sent to their destination.
fn said(path: &Path, sent: &[bool]) -> Option<String> {
    let (count, all) = (sent.iter().filter(|sent| **sent).count(), sent.len());
    let rest = if count < all { "; the file has the rows of the others" } else { "" };
    let path = path.display();
    (count > 0).then(|| {
        format!("{path}: {count} of {} uploaded their rows{rest}", things(all as u64, "agent"))
    })
}

/// Returns the text before the rows in an existing result file.
fn head(path: &Path, are_rows: bool) -> Vec<u8> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let ends = |at: usize, head: &[u8]| {
        head[at..].iter().position(|byte| *byte == b'\n').map_or(head.len(), |end| at + end + 1)
    };
    let length = match read {
        // A file that an earlier run began may start with rows.
        Ok(_) if are_rows && !head.first().is_some_and(u8::is_ascii_digit) => ends(0, &head),
        Ok(_) if !are_rows => {
            head.windows(ROOT.len()).position(|part| part == ROOT).map_or(0, |at| ends(at, &head))
        }
        _ => 0,
    };
    head.truncate(length);
    head
}

/// Returns the path of the coordinator's notes in a run's folder.
pub fn notes(folder: &Path) -> PathBuf {
    folder.join("fleet.notes")
}
