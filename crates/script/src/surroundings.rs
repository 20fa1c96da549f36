//! Traits for a script's surroundings: the plan at compile time, a user's world at run time.

use lang::buffers::Buffers;
use lang::log::Level;
use lang::variables::Variables;

bitflags::bitflags! {
    /// Parts of a sample result that a script uses, beyond the parts that are always available.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Reads: u8 {
        /// The body of the response as text.
        const TEXT = 1;
        /// The header lines of the response.
        const HEADERS = 2;
        /// The URL of the sample as text.
        const URL = 4;
        /// The label of the sample, because the script may change it.
        const LABEL = 8;
    }
}

/// The plan around a script, as the compiler uses it.
pub trait Surroundings {
    /// Returns true if the assertion may check a transaction; then `prev` is not the checked sample.
    fn checks_transactions(&self) -> bool;
    /// Returns true if properties may hold objects other than strings.
    fn has_property_objects(&self) -> bool;
    /// Reports that the script uses a variable.
    fn mentions_variable(&mut self, name: &str);
    /// Reports that the script reads or writes a property; `None` if its name is computed at run time.
    fn mentions_property(&mut self, name: Option<&str>);
}

/// The world of a running script: its user, the user's variables, and the state that all users share.
pub trait World: Variables {
    /// Type of the sample result.
    type Sample: Sample;
    /// Type of the result that an assertion changes.
    type Finding: Finding;

    /// Returns the reusable buffers for strings that the script creates.
    fn buffers(&mut self) -> &mut Buffers;
    /// Writes a line to the log under the name of a logger.
    fn log(&mut self, level: Level, logger: &str, text: &str);
    /// Writes a line to standard output.
    fn print_line(&mut self, line: String);
    /// Returns the number of the user within its group, from 0.
    fn user_number(&self) -> u32;
    /// Returns the iteration of the group's main loop, from 1.
    fn iteration(&self) -> u32;
    /// Returns the name of the thread group.
    fn group(&self) -> &str;
    /// Returns the name of the current sampler.
    fn sampler(&self) -> &str;
    /// Appends the folder of the plan to `out`.
    fn base_dir(&self, out: &mut String);
    /// Returns the wall clock in milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// Appends a random UUID to `out`.
    fn new_id(&mut self, out: &mut String);
}

/// An action that a script requests through its sample result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The script requests the end of its user.
    StopUser,
    /// The script requests the end of the run, after the samples in flight.
    StopTest,
    /// The script requests the immediate end of the run.
    StopTestNow,
}

/// A sample result, as scripts read and change it.
pub trait Sample {
    /// Returns the response code of the sample.
    fn code(&self) -> &str;
    /// Returns the response message of the sample.
    fn message(&self) -> &str;
    /// Returns the sample's label.
    fn label(&self) -> &str;
    /// Returns the response body as text; available with [`Reads::TEXT`].
    fn text(&self) -> &str;
    /// Returns the response headers; available with [`Reads::HEADERS`].
    fn headers(&self) -> &str;
    /// Returns the sample's URL; available with [`Reads::URL`].
    fn url(&self) -> &str;
    /// Returns true if the sample counts as passed.
    fn is_successful(&self) -> bool;
    /// Returns the sample's elapsed time in whole milliseconds.
    fn elapsed_ms(&self) -> i64;
    /// Returns the sample's latency in nanoseconds.
    fn latency(&self) -> u64;
    /// Returns the sample's time until its connection was established, in nanoseconds.
    fn connect(&self) -> u64;
    /// Sets the response code of the sample.
    fn set_code(&mut self, value: &str);
    /// Sets the response message of the sample.
    fn set_message(&mut self, value: &str);
    /// Sets the sample's label.
    fn set_label(&mut self, value: &str);
    /// Sets the text of the request, which listeners show.
    fn set_sampler_data(&mut self, value: &str);
    /// Sets whether the sample counts as passed.
    fn set_successful(&mut self, value: bool);
    /// Excludes the sample from all reports.
    fn set_ignore(&mut self);
    /// Requests an action; the strongest request counts.
    fn ask(&mut self, request: Request);
}

/// The result of an assertion, as scripts change it.
pub trait Finding {
    /// Sets whether the assertion fails.
    fn set_failure(&mut self, value: bool);
    /// Sets the assertion's message.
    fn say(&mut self, message: &str);
}

/// Context of one execution of a script: the script's element and its sample.
pub struct Execution<'a, W: World> {
    /// The sample result that the script reads or, for a sampler, fills.
    pub result: Option<&'a mut W::Sample>,
    /// The assertion's result, if the script is an assertion.
    pub finding: Option<&'a mut W::Finding>,
    /// Name of the element that runs the script.
    pub name: &'a str,
    /// Evaluated parameters; may be empty if the script does not read them.
    pub parameters: &'a str,
}
