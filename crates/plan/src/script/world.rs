//! Implements the interfaces that compiled scripts use for a user's [`Env`], for sample results and for the
//! template compiler.

use ::script::{Finding, Reads, Sample, Surroundings, World};
use lang::buffers::Buffers;
use lang::log;

use crate::env::Env;
use crate::function::{self, OutputLine};
use crate::plan::Needs;
use crate::result::{AssertionResult, Request, SampleResult};
use crate::template::TemplateCompiler;

/// Returns the parts of a sample to keep for a script.
pub(super) fn needs(reads: Reads) -> Needs {
    let pairs = [
        (Reads::TEXT, Needs::TEXT),
        (Reads::HEADERS, Needs::HEADERS),
        (Reads::URL, Needs::URL),
        (Reads::LABEL, Needs::LABEL),
    ];
    let read = pairs.into_iter().filter(|(part, _)| reads.contains(*part));
    read.fold(Needs::empty(), |all, (_, need)| all | need)
}

impl Surroundings for TemplateCompiler {
    fn checks_transactions(&self) -> bool {
        self.checks_transactions
    }

    fn has_property_objects(&self) -> bool {
        self.property_objects
    }

    fn mentions_variable(&mut self, name: &str) {
        self.names.intern(name);
    }

    fn mentions_property(&mut self, name: Option<&str>) {
        match name {
            Some(name) => _ = self.properties.insert(name.to_owned()),
            None => self.any_property = true,
        }
    }
}

impl World for Env<'_> {
    type Sample = SampleResult;
    type Finding = AssertionResult;

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.core.buffers
    }

    fn log(&mut self, level: log::Level, logger: &str, text: &str) {
        self.shared.log_as(level, logger, text);
    }

    fn print_line(&mut self, line: String) {
        self.shared.say(OutputLine::Printed(line));
    }

    fn user_number(&self) -> u32 {
        self.who.user
    }

    fn iteration(&self) -> u32 {
        self.who.iteration
    }

    fn group(&self) -> &str {
        self.who.group
    }

    fn sampler(&self) -> &str {
        self.who.sampler
    }

    fn base_dir(&self, out: &mut String) {
        out.push_str(&self.shared.base_dir.to_string_lossy());
    }

    fn now_ms(&self) -> i64 {
        self.now_ms()
    }

    fn new_id(&mut self, out: &mut String) {
        function::write_uuid(self, out);
    }
}

fn replace(field: &mut String, value: &str) {
    field.clear();
    field.push_str(value);
}

impl Sample for SampleResult {
    fn code(&self) -> &str {
        &self.code
    }

    fn message(&self) -> &str {
        &self.message
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn headers(&self) -> &str {
        &self.response_headers
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn is_successful(&self) -> bool {
        self.success
    }

    fn elapsed_ms(&self) -> i64 {
        Self::elapsed_ms(self)
    }

    fn latency(&self) -> u64 {
        self.latency
    }

    fn connect(&self) -> u64 {
        self.connect
    }

    fn set_code(&mut self, value: &str) {
        replace(&mut self.code, value);
    }

    fn set_message(&mut self, value: &str) {
        replace(&mut self.message, value);
    }

    fn set_label(&mut self, value: &str) {
        replace(&mut self.label, value);
    }

    fn set_sampler_data(&mut self, value: &str) {
        replace(&mut self.sampler_data, value);
    }

    fn set_successful(&mut self, value: bool) {
        self.success = value;
    }

    fn set_ignore(&mut self) {
        self.ignore = true;
    }

    fn ask(&mut self, request: ::script::Request) {
        let request = match request {
            ::script::Request::StopUser => Request::StopUser,
            ::script::Request::StopTest => Request::StopTest,
            ::script::Request::StopTestNow => Request::StopTestNow,
        };
        self.request = self.request.max(request);
    }
}

impl Finding for AssertionResult {
    fn set_failure(&mut self, value: bool) {
        self.failure = value;
    }

    fn say(&mut self, message: &str) {
        Self::say(self, message);
    }
}
