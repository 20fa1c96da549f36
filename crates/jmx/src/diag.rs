//! Findings about a plan, as plain data.
//!
//! A [`Diag`] carries everything needed to show it like a compiler's message: a stable code, the place in the text,
//! the path of the element in the tree and a help line. Every layer above the reader uses the same type.

use std::fmt;

/// A range of bytes in [`Document::source`](crate::Document::source).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// Severity of a [`Diag`]. Only an `Error` keeps a plan from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    /// The word shown to people: `error`, `warning` or `note`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diag {
    /// A stable identifier in kebab case, for scripts and documentation.
    pub code: &'static str,
    pub severity: Severity,
    /// Position in the text; `None` when the finding has none.
    pub span: Option<Span>,
    /// Line in the file, from 1; 0 when the finding has no place in it.
    pub line: u32,
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// Path of the element, as `Test Plan > Users > Login`.
    pub element: Option<String>,
    /// The file that `span` and `line` are about, where it is not the plan's own.
    pub file: Option<String>,
}

impl Diag {
    /// A finding without a place; add one with [`Diag::at`] or [`Diag::on`].
    pub fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            span: None,
            line: 0,
            message: message.into(),
            help: None,
            element: None,
            file: None,
        }
    }

    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, message)
    }

    /// Sets the place in the text.
    pub fn at(mut self, span: Span, line: u32) -> Self {
        self.span = Some(span);
        self.line = line;
        self
    }

    /// Sets the place to an element of the document: its file, span, line and path.
    pub fn on(mut self, document: &crate::Document, id: crate::ElementId) -> Self {
        let element = document.element(id);
        self.span = Some(element.span);
        self.line = element.line;
        self.element = Some(document.path(id));
        self.file = document.file(id).map(str::to_owned);
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity.word(), self.code)?;
        if self.line > 0 {
            write!(f, " line {}", self.line)?;
        }
        if let Some(element) = &self.element {
            write!(f, " ({element})")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The bytes are not a JMeter plan at all; the only way for reading to fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotXml(pub Box<Diag>);

impl fmt::Display for NotXml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotXml {}
