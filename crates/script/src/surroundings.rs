//! The surroundings of a script, seen through traits: the plan while it is compiled, a user's world while it runs.

use lang::buffers::Buffers;
use lang::log::Level;
use lang::variables::Variables;

bitflags::bitflags! {
    /// Parts of a sample result that a script reads, beyond those that are always there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Reads: u8 {
        /// The body as text.
        const TEXT = 1;
        /// Header lines.
        const HEADERS = 2;
        /// The URL as text.
        const URL = 4;
        /// The script may give the sample another label.
        const LABEL = 8;
    }
}

/// The plan around a script, as the compiler asks about it and reports to it.
pub trait Surroundings {
    /// Whether an assertion may be about a transaction, of which `prev` is not the sample.
    fn checks_transactions(&self) -> bool;
    /// Whether properties may hold objects other than texts.
    fn has_property_objects(&self) -> bool;
    /// The script mentions a variable.
    fn mentions_variable(&mut self, name: &str);
    /// The script reads or writes a property; `None` if its name is made while the script runs.
    fn mentions_property(&mut self, name: Option<&str>);
}

/// The world of a running script: one user, its variables, and what all users share.
pub trait World: Variables {
    /// The sample result of this world.
    type Sample: Sample;
    /// The result of an assertion.
    type Finding: Finding;

    /// Buffers for texts that the script makes.
    fn buffers(&mut self) -> &mut Buffers;
    /// Writes a line into the log under the name of a logger.
    fn log(&mut self, level: Level, logger: &str, text: &str);
    /// Writes a line to standard output.
    fn print_line(&mut self, line: String);
    /// Number of the user within its group, from 0.
    fn user_number(&self) -> u32;
    /// Iteration of the group's main loop, from 1.
    fn iteration(&self) -> u32;
    /// Name of the thread group.
    fn group(&self) -> &str;
    /// Name of the sampler that runs.
    fn sampler(&self) -> &str;
    /// Appends the folder of the plan.
    fn base_dir(&self, out: &mut String);
    /// Wall clock, milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// Appends a random UUID.
    fn new_id(&mut self, out: &mut String);
}

/// An action that a script asks for by its sample result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// End this user.
    StopUser,
    /// End the run after the samples in flight.
    StopTest,
    /// End the run at once.
    StopTestNow,
}

/// A sample result, as scripts read and change it.
pub trait Sample {
    /// Response code.
    fn code(&self) -> &str;
    /// Response message.
    fn message(&self) -> &str;
    /// Label.
    fn label(&self) -> &str;
    /// Body as text, if [`Reads::TEXT`].
    fn text(&self) -> &str;
    /// Response headers, if [`Reads::HEADERS`].
    fn headers(&self) -> &str;
    /// URL, if [`Reads::URL`].
    fn url(&self) -> &str;
    /// Whether the sample counts as passed.
    fn is_successful(&self) -> bool;
    /// Elapsed time, whole milliseconds.
    fn elapsed_ms(&self) -> i64;
    /// Latency, nanoseconds.
    fn latency(&self) -> u64;
    /// Time to the established connection, nanoseconds.
    fn connect(&self) -> u64;
    /// Sets the response code.
    fn set_code(&mut self, value: &str);
    /// Sets the response message.
    fn set_message(&mut self, value: &str);
    /// Sets the label.
    fn set_label(&mut self, value: &str);
    /// Sets the request as listeners show it.
    fn set_sampler_data(&mut self, value: &str);
    /// Sets whether the sample counts as passed.
    fn set_successful(&mut self, value: bool);
    /// Leaves the sample out of all reports.
    fn set_ignore(&mut self);
    /// Asks for an action; the strongest one counts.
    fn ask(&mut self, request: Request);
}

/// The result of an assertion, as scripts change it.
pub trait Finding {
    /// Sets whether the assertion fails.
    fn set_failure(&mut self, value: bool);
    /// Sets the message.
    fn say(&mut self, message: &str);
}

/// The element around a script in one run.
pub struct Stage<'a, W: World> {
    /// The result that the script stands behind or makes.
    pub result: Option<&'a mut W::Sample>,
    /// The result of the assertion that the script is.
    pub finding: Option<&'a mut W::Finding>,
    /// Name of the element.
    pub name: &'a str,
    /// Evaluated parameters, if the script reads them.
    pub parameters: &'a str,
}
