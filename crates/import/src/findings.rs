//! Findings of an import: what was not taken over, with its line and its consequence.

use jmx::{Diag, Severity};

/// Number of the last findings with which a new one is compared.
const RECENT: usize = 256;

/// Collects findings, and puts the source's name and the current line into each. Equal findings are kept once.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Name of the source; empty if the source is a command line.
    file: String,
    /// Line of the command that is being read, from 1; 0 for a command line.
    pub(crate) line: u32,
    pub(crate) list: Vec<Diag>,
}

impl Findings {
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), line: 0, list: Vec::new() }
    }

    /// Reports a part of the source that is left out, and how requests differ as a result.
    pub(crate) fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.push(Diag::warning(code, message));
    }

    /// Reports a difference without consequence for a load test.
    pub(crate) fn note(&mut self, code: &'static str, message: impl Into<String>) {
        self.push(Diag::note(code, message));
    }

    /// Reports a request that cannot be imported.
    pub(crate) fn error(&mut self, code: &'static str, message: impl Into<String>) {
        self.push(Diag::error(code, message));
    }

    /// Adds a finding at the current line.
    pub(crate) fn push(&mut self, mut diag: Diag) {
        diag.line = self.line;
        if !self.file.is_empty() {
            diag.file = Some(self.file.clone());
        }
        if !self.list.iter().rev().take(RECENT).any(|known| *known == diag) {
            self.list.push(diag);
        }
    }

    /// Number of findings that are errors.
    pub(crate) fn errors(&self) -> usize {
        self.list.iter().filter(|diag| diag.severity == Severity::Error).count()
    }
}
