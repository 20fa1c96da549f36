//! Findings about a plan, as plain data.
//!
//! A [`Diag`] has all parts of a compiler-like message: a stable code, the position in the text, the path of the
//! element, and a help line. Every layer above the reader uses this type.

use std::fmt;

/// A range of bytes in [`Document::source`](crate::Document::source).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// Severity of a finding. Only a finding with severity `Error` keeps the plan from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    /// Returns the severity as a word for users: `error`, `warning` or `note`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diag {
    /// Code of the finding, stable and in kebab case, for scripts and documentation.
    pub code: &'static str,
    pub severity: Severity,
    /// Position of the finding in the text; `None` if the finding has no position.
    pub span: Option<Span>,
    /// Line of the finding in the file, from 1; 0 if the finding has no position.
    pub line: u32,
    pub message: String,
    /// Advice on how to fix the problem that was found.
    pub help: Option<String>,
    /// Path of the element that the finding is about, such as `Test Plan > Users > Login`.
    pub element: Option<String>,
    /// File to which `span` and `line` refer; `None` for the plan file itself.
    pub file: Option<String>,
    /// File that the finding is about, such as a missing file; `None` if the finding is about the file of its position.
    pub subject: Option<String>,
}

impl Diag {
    /// Creates a finding without a position; [`Diag::at`] and [`Diag::on`] set a position.
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
            subject: None,
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

    /// Sets the finding's position in the text.
    pub fn at(mut self, span: Span, line: u32) -> Self {
        self.span = Some(span);
        self.line = line;
        self
    }

    /// Sets the finding's position to an element of the document: its file, span, line and path.
    pub fn on(mut self, document: &crate::Document, id: crate::ElementId) -> Self {
        let element = document.element(id);
        self.span = Some(element.span);
        self.line = element.line;
        self.element = Some(document.path(id));
        self.file = document.file(id).map(str::to_owned);
        self
    }

    /// Sets the file that the finding is about.
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
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

/// The error of parsing: the bytes are not a JMeter plan at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotXml(pub Box<Diag>);

impl fmt::Display for NotXml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotXml {}
