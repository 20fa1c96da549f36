//! Numbers in messages. Generated from `crates/messages/messages.txt`; to regenerate, run
//! `UPDATE_MESSAGES=1 cargo test -p throng-messages`.

use crate::java::reader::{Malformed, Reader};

/// The kind of a message: its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Sends Java its part of the plan: Setup. The reply is a SetupReply.
    Setup = 1,
    /// Starts the test: a list of Variable. The reply is a StartReply.
    Start = 2,
    /// Work for a user, described by a Job. The reply is a JobReply.
    Job = 3,
    /// A user has ended: its number, a u64. The reply is an EndReply.
    UserEnd = 4,
    /// The test has ended. The reply is an EndReply.
    End = 5,
    /// Interrupts a job, which an Interruption names. The reply is the status.
    Interrupt = 6,
    /// A list of Property, changed by native code while jobs run. The reply is an EndReply.
    Properties = 7,
    /// The reply comes when something ends the JVM (System.exit), which then waits for allow_exit.
    AwaitExit = 8,
    /// Allows the JVM to end.
    AllowExit = 9,
    /// Waits a limited time for threads that the plan started. The reply: status, message about threads left.
    Linger = 10,
    /// Ends the process as System.exit does, with an exit code (a u8). There is no reply.
    ExitWith = 11,
    /// Reads the heap and its collections. The reply is the status and a Memory.
    Memory = 12,
}

/// The status of a reply: its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Java has done the work.
    Well = 0,
    /// The bridge itself failed; the rest of the reply is the reason, a str.
    Failed = 1,
    /// JMeter abandons the sample after an exception. Like well, without the fields that depend on the act.
    Abandoned = 2,
    /// Like abandoned, but a Java Error ends the user. The Error's message, a str, follows the status.
    Fatal = 3,
}

impl Status {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Well,
            1 => Self::Failed,
            2 => Self::Abandoned,
            3 => Self::Fatal,
            _ => return Err(Malformed("unknown status")),
        })
    }
}

/// The kind of work that an element does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// A config element, which configures samplers.
    Config = 0,
    /// A pre-processor, which runs before samplers.
    Before = 1,
    /// A timer, which returns a delay.
    Timer = 2,
    /// A sampler, which makes a sample.
    Sampler = 3,
    /// A post-processor, which runs after samplers.
    After = 4,
    /// An assertion, which checks results.
    Assertion = 5,
    /// A listener, which receives results.
    Listener = 6,
    /// A controller, which chooses the next sampler.
    Controller = 7,
}

/// The data that an element reads besides variables and properties.
pub(crate) struct Reads;

impl Reads {
    /// The current sample's result, or the previous sample's if there is none.
    pub(crate) const RESULT: u8 = 1;
    /// The object of the current sampler.
    pub(crate) const SAMPLER: u8 = 2;
    /// The cookies of the current sampler.
    pub(crate) const COOKIES: u8 = 4;
    /// The body of the sample's result.
    pub(crate) const BODY: u8 = 8;
    /// The previous result (prev), which differs from the processed result only for a transaction's sample.
    pub(crate) const PREVIOUS: u8 = 16;
    /// The element reads nothing: it runs natively, and Java may lack its class.
    pub(crate) const NATIVE: u8 = 32;
}

/// The severity of a problem that Java finds in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Severity {
    /// A warning: the element or script runs nevertheless.
    Warning = 0,
    /// An error: the element or script will not run.
    Error = 1,
}

impl Severity {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Warning,
            1 => Self::Error,
            _ => return Err(Malformed("unknown severity")),
        })
    }
}

/// Number for a finding about the first text. Each further text has the next lower number.
pub(crate) const FIRST_TEXT: i32 = -2;

/// Flags of a job that Java runs.
pub(crate) struct JobFlags;

impl JobFlags {
    /// The job is the first of an iteration.
    pub(crate) const FIRST: u8 = 1;
    /// JMeter would have disabled certificate checks by now, so Java must disable its checks, too.
    pub(crate) const TRUSTS: u8 = 2;
}

/// The job runs before users have variables.
pub(crate) const NO_GROUP: u32 = 4294967295;

/// The work of a job. An act below 16 runs the elements in ids, in order; before without ids reads the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Act {
    /// Run pre-processors.
    Before = 1,
    /// Run timers, which return delays.
    Timer = 2,
    /// Run a sampler, which makes a sample.
    Sampler = 3,
    /// Run post-processors.
    After = 4,
    /// Run assertions, which check the result.
    Assertion = 5,
    /// Send the result to listeners.
    Listener = 6,
    /// Evaluate texts with functions of Java.
    Evaluate = 16,
    /// Notify elements of the start of an iteration.
    Iteration = 17,
    /// Notify elements of the start of the user.
    Start = 18,
    /// Ask a controller for the next sampler.
    Controller = 19,
}

impl Act {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            1 => Self::Before,
            2 => Self::Timer,
            3 => Self::Sampler,
            4 => Self::After,
            5 => Self::Assertion,
            6 => Self::Listener,
            16 => Self::Evaluate,
            17 => Self::Iteration,
            18 => Self::Start,
            19 => Self::Controller,
            _ => return Err(Malformed("unknown act")),
        })
    }
}

/// A request of a script; of several requests the highest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ask {
    /// The script requests nothing.
    Nothing = 0,
    /// The script requests to leave the innermost loop.
    BreakLoop = 1,
    /// The script requests the next iteration of the innermost loop.
    NextOfLoop = 2,
    /// The script requests the next iteration of the thread.
    NextOfThread = 3,
    /// The script requests the end of the user.
    StopUser = 4,
    /// The script requests the end of the test.
    StopTest = 5,
    /// The script requests the end of the test at once.
    StopTestNow = 6,
}

impl Ask {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Nothing,
            1 => Self::BreakLoop,
            2 => Self::NextOfLoop,
            3 => Self::NextOfThread,
            4 => Self::StopUser,
            5 => Self::StopTest,
            6 => Self::StopTestNow,
            _ => return Err(Malformed("unknown request")),
        })
    }
}

/// Stands in place of a slot for a variable without a slot; the variable's name follows.
pub(crate) const NAMED: u32 = 4294967295;

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum LogLevel {
    /// Level of trace lines.
    Trace = 0,
    /// Level of debug lines.
    Debug = 1,
    /// Level of information lines.
    Info = 2,
    /// Level of warnings.
    Warn = 3,
    /// Level of errors.
    Error = 4,
}

impl LogLevel {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Trace,
            1 => Self::Debug,
            2 => Self::Info,
            3 => Self::Warn,
            4 => Self::Error,
            _ => return Err(Malformed("unknown log level")),
        })
    }
}

/// Flags of a result.
pub(crate) struct ResultFlags;

impl ResultFlags {
    /// The sample is successful.
    pub(crate) const SUCCESS: u32 = 1;
    /// The sample is ignored.
    pub(crate) const IGNORED: u32 = 2;
    /// The sample is an HTTP sample.
    pub(crate) const HTTP: u32 = 4;
    /// The sample requests the end of the user.
    pub(crate) const STOP_USER: u32 = 8;
    /// The sample requests the end of the test.
    pub(crate) const STOP_TEST: u32 = 16;
    /// The sample requests the end of the test at once.
    pub(crate) const STOP_TEST_NOW: u32 = 32;
    /// The data of the sample are text.
    pub(crate) const TEXT: u32 = 64;
    /// The data of the sample are binary.
    pub(crate) const BINARY: u32 = 128;
    /// The message contains the body of the result.
    pub(crate) const BODY: u32 = 256;
}

/// The point at which the user continues after the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ResultAction {
    /// The user continues with the next element.
    GoOn = 0,
    /// The user continues with the next iteration of the thread.
    NextOfThread = 1,
    /// The user continues with the next iteration of the innermost loop.
    NextOfLoop = 2,
    /// The user continues after the innermost loop.
    BreakLoop = 3,
}

impl ResultAction {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::GoOn,
            1 => Self::NextOfThread,
            2 => Self::NextOfLoop,
            3 => Self::BreakLoop,
            _ => return Err(Malformed("unknown action")),
        })
    }
}

/// Attributes that a server has set explicitly in a cookie.
pub(crate) struct CookieFlags;

impl CookieFlags {
    /// The server has set the cookie's path.
    pub(crate) const PATH_GIVEN: u8 = 1;
    /// The server has set the cookie's domain.
    pub(crate) const DOMAIN_GIVEN: u8 = 2;
}

/// The form in which a message contains the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SamplerForm {
    /// No script has used the sampler.
    Unseen = 0,
    /// The message contains an HTTP sampler, as a Request.
    Http = 1,
    /// The message contains a sampler of another class, as a Given.
    Element = 2,
    /// The sampler is unchanged from the plan.
    Planned = 3,
}

impl SamplerForm {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Unseen,
            1 => Self::Http,
            2 => Self::Element,
            3 => Self::Planned,
            _ => return Err(Malformed("unknown form of sampler")),
        })
    }
}

/// Options of an HTTP request.
pub(crate) struct RequestFlags;

impl RequestFlags {
    /// The sampler follows redirects, each as a sub-result.
    pub(crate) const FOLLOW_REDIRECTS: u16 = 1;
    /// The sampler follows redirects without sub-results.
    pub(crate) const AUTO_REDIRECTS: u16 = 2;
    /// The sampler keeps the connection open.
    pub(crate) const KEEP_ALIVE: u16 = 4;
    /// The sampler sends the body as multipart.
    pub(crate) const MULTIPART: u16 = 8;
    /// The sampler sends multipart bodies as browsers do.
    pub(crate) const COMPATIBLE: u16 = 16;
    /// The sampler sends the body unchanged.
    pub(crate) const RAW: u16 = 32;
    /// The sampler loads embedded resources.
    pub(crate) const LOADS_EMBEDDED: u16 = 64;
    /// The sampler replaces the response by its MD5 sum.
    pub(crate) const MD5: u16 = 128;
    /// A script has changed headers that other samplers also send.
    pub(crate) const LASTING: u16 = 256;
}

/// The kind of a question to a Java-backed controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Turn {
    /// A new call to a controller, for the next sampler.
    Next = 0,
    /// The innermost open call to a controller continues.
    GoOn = 1,
}

/// The answer to a request that a Java-backed controller has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Answer {
    /// The answer is no sampler; the number is 1 if the child is done.
    Nothing = 0,
    /// The answer is the number of a sampler.
    Sampler = 1,
    /// The answer is the number of a transaction, whose sample is complete.
    Transaction = 2,
}

/// The kind of a notice to a Java-backed controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Tell {
    /// The controller is initialised.
    Initialize = 1,
    /// The controller's loop has ended.
    EndOfLoop = 2,
    /// The controller's loop starts its next iteration.
    NextLoop = 3,
    /// The controller's loop is left.
    BreakLoop = 4,
    /// The controller around this controller begins an iteration.
    Iteration = 5,
}

/// The kind of a Java-backed controller's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SaidKind {
    /// The controller has no more samplers in this iteration.
    Nothing = 0,
    /// The controller has chosen the next sampler.
    Sampler = 1,
    /// The controller has chosen the complete sample of a transaction below it.
    Transaction = 2,
    /// The controller requests something before it can choose.
    Asks = 3,
}

impl SaidKind {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Nothing,
            1 => Self::Sampler,
            2 => Self::Transaction,
            3 => Self::Asks,
            _ => return Err(Malformed("unknown reply of a controller")),
        })
    }
}

/// A request of a Java-backed controller, which must be answered before it can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Need {
    /// Return the next sampler of a child.
    Next = 0,
    /// Initialise a child controller.
    Initialize = 1,
    /// Notify a child of the end of its loop.
    EndOfLoop = 2,
    /// Return 1 if a child is done.
    IsDone = 3,
    /// Begin the controller's iteration, counted from 0.
    Begins = 4,
    /// Begin the controller's iteration, counted from 1.
    BeginsFromOne = 5,
}

impl Need {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Next,
            1 => Self::Initialize,
            2 => Self::EndOfLoop,
            3 => Self::IsDone,
            4 => Self::Begins,
            5 => Self::BeginsFromOne,
            _ => return Err(Malformed("unknown request of a controller")),
        })
    }
}

/// The kind of a frame in the streams of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Frame {
    /// A thread begins; the content is its name, the reply its number in the operating system (i64).
    Begin = 0,
    /// A message or its reply.
    Call = 1,
    /// The thread of the frame is no longer needed.
    Leave = 2,
    /// Sent instead of a reply; the content is the reason, in UTF-8.
    None = 3,
}
