//! The report of a preflight: all findings as text and as JSON, and the changes of `--fix`.

use std::path::Path;

use serde::Serialize;
use stats::grouped::{count, things};

use super::chain::{Chain, Load, Reckoned};
use super::demand::Demand;
use super::finding::{self, Finding, Severity};
use super::fix::{self, Outcome};
use super::host::Host;
use super::place::Surroundings;
use super::rules;
use super::settings::{self, Setting};
use super::watched::{self, Watched};

/// All results of a preflight.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The worst severity of all findings.
    pub(super) severity: Severity,
    demand: Demand,
    /// Largest number of simultaneous connections.
    connections: u64,
    /// Number of worker processes.
    workers: u64,
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<Reckoned>,
    /// The lines of a settings file, and limits of this machine that are below the kernel's defaults.
    pub(super) settings: Vec<Setting>,
    surroundings: Surroundings,
    /// Results of querying the watched hosts.
    pub(super) watched: Vec<Watched>,
    /// Name of the settings file.
    #[serde(skip)]
    pub(super) file: Option<String>,
    /// True if a load was given. Without a load, no limit is judged.
    #[serde(skip)]
    pub(super) has_load: bool,
    /// Commands that make the changes.
    commands: Vec<String>,
    /// Commands that revert the changes.
    undo: Vec<String>,
}

impl Report {
    pub(super) fn new(demand: Demand, host: &Host, chain: Option<&Chain>) -> Self {
        let findings = rules::findings(&demand, host);
        let connections = demand.connections();
        let http = demand.http.saturating_add(demand.https);
        let chain = chain.map(|chain| chain.reckon(Load { connections, http }));
        let of_chain = chain.as_ref().map(Reckoned::severity);
        let severity = findings.iter().map(|f| f.severity).chain(of_chain).max();
        Self {
            severity: severity.unwrap_or(Severity::Fits),
            connections,
            workers: rules::workers(&demand, host),
            commands: fix::changes(&findings).map(finding::Change::command).collect(),
            undo: fix::changes(&findings).map(finding::Change::undo).collect(),
            findings,
            chain,
            settings: Vec::new(),
            surroundings: host.surroundings.clone(),
            watched: Vec::new(),
            file: None,
            has_load: true,
            demand,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut out = if self.has_load { self.load() } else { String::new() };
        out.push_str(&self.surroundings.text(settings::PLACED));
        if !self.settings.is_empty() {
            out.push_str(&match &self.file {
                Some(file) => format!("\nSettings of {file}\n"),
                None => "\nSettings of this machine below the kernel's own\n".into(),
            });
        }
        out.extend(self.settings.iter().map(Setting::text));
        if !self.findings.is_empty() {
            out.push_str(&match &self.file {
                Some(file) => format!("\nThis machine, with the settings of {file}\n"),
                None => "\nThis machine\n".into(),
            });
        }
        // Limits that are too small are listed first.
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        for finding in findings {
            out.push_str(&finding.text());
        }
        if let Some(chain) = &self.chain {
            out.push('\n');
            out.push_str(&chain.text());
        }
        out.push_str(&watched::text(&self.watched));
        let not_judged = self.chain.as_ref().map(Reckoned::not_judged).unwrap_or_default();
        match self.severity {
            _ if !self.has_load => {}
            Severity::TooSmall => out.push_str("\nIt does not fit.\n"),
            _ if !not_judged.is_empty() => out.push_str(&format!(
                "\nWhat is judged fits. Not judged: {}.\n",
                not_judged.join(", ")
            )),
            Severity::Fits => out.push_str("\nIt fits.\n"),
            Severity::Tight => out.push_str("\nIt fits, but tightly.\n"),
        }
        out.trim_start_matches('\n').to_owned()
    }

    fn load(&self) -> String {
        let d = &self.demand;
        let kinds = [
            (d.websockets, "WebSocket"),
            (d.secure_websockets, "WebSocket with TLS"),
            (d.http, "HTTP"),
            (d.https, "HTTPS"),
        ];
        let held: Vec<_> =
            kinds.iter().filter(|k| k.0 > 0).map(|k| format!("{} {}", count(k.0), k.1)).collect();
        let held = if held.is_empty() { "no connections".into() } else { held.join(", ") };
        let unknown = match d.unknown_users {
            0 => String::new(),
            1 => " and those of 1 group whose number is known only during a run".into(),
            n => format!(" and those of {n} groups whose numbers are known only during a run"),
        };
        let mut out = format!("Load: {}{unknown}, holding at most {held}", things(d.users, "user"));
        if !d.destinations.is_empty() {
            let mut names: Vec<_> = d.destinations.iter().take(5).map(String::as_str).collect();
            if d.destinations.len() > names.len() {
                names.push("…");
            }
            out.push_str(&format!(", to {}", names.join(", ")));
        }
        if self.workers > 1 {
            out.push_str(&format!(", in {} worker processes", count(self.workers)));
        }
        out.push('\n');
        out
    }

    /// Lists the changes that `--fix` would make.
    pub(super) fn plan_of_changes(&self) -> String {
        let mut out = String::from("\n");
        if self.commands.is_empty() {
            out.push_str("Nothing to change.\n");
        }
        for command in &self.commands {
            out.push_str(&format!("would change: {command}\n"));
        }
        push_undo(&mut out, &self.undo);
        out
    }

    /// Makes the changes. Returns a description of the results, and the commands that revert the changes.
    pub(super) fn change(&self, root: &Path) -> String {
        let mut out = String::from("\n");
        let mut undo = Vec::new();
        for change in fix::changes(&self.findings) {
            match fix::apply(change, root) {
                Outcome::Done => {
                    out.push_str(&format!("changed: {}\n", change.command()));
                    undo.push(change.undo());
                }
                Outcome::Left => out.push_str(&format!("already large enough: {}\n", change.key)),
                Outcome::Failed(error) => {
                    out.push_str(&format!("not changed ({error}): {}\n", change.command()));
                }
            }
        }
        if self.commands.is_empty() {
            out.push_str("Nothing to change.\n");
        }
        push_undo(&mut out, &undo);
        out
    }
}

/// Adds the commands that revert the changes.
fn push_undo(out: &mut String, undo: &[String]) {
    for (at, command) in undo.iter().enumerate() {
        let before = if at == 0 { "To undo this:\n" } else { "" };
        out.push_str(&format!("{before}  {command}\n"));
    }
}
