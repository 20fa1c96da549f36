//! Numbers in messages. Made from `crates/messages/messages.txt`, never by hand:
//! `UPDATE_MESSAGES=1 cargo test -p throng-messages`.

use crate::java::reader::{Malformed, Reader};

/// The first byte of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Java reads its part of the plan: Setup. Answered by SetupReply.
    Setup = 1,
    /// The test starts: a list of Variable. Answered by StartReply.
    Start = 2,
    /// Something is done for a user: Job. Answered by JobReply.
    Job = 3,
    /// A user has ended: u64, its number. Answered by EndReply.
    UserEnd = 4,
    /// The test has ended. Answered by EndReply.
    End = 5,
    /// A job is interrupted: Interruption. Answered by the status.
    Interrupt = 6,
    /// A list of Property, changed natively while jobs run. Answered by EndReply.
    Properties = 7,
    /// Answered once something ends the machine (System.exit), which waits from then on.
    AwaitExit = 8,
    /// The machine may end.
    AllowExit = 9,
    /// Answered once no thread of Java's own is left that would keep it, or after a while; behind the status what still runs, UTF-8 to the end.
    Linger = 10,
    /// A code, a u8: the process ends as by System.exit, without an answer.
    ExitWith = 11,
    /// The heap and its collections are asked for. Answered by the status and Memory.
    Memory = 12,
}

/// The first byte of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// It is done.
    Well = 0,
    /// The bridge itself failed; why, a str, is the rest.
    Failed = 1,
    /// An element threw where JMeter abandons the sample; the reply goes on as behind 0, but for what the act answers.
    Abandoned = 2,
    /// The same by an Error, of which the user ends; its words, a str, come first.
    Fatal = 3,
}

impl Status {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Well,
            1 => Self::Failed,
            2 => Self::Abandoned,
            3 => Self::Fatal,
            _ => return Err(Malformed("there is no such status")),
        })
    }
}

/// The work of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// It configures samplers.
    Config = 0,
    /// It runs before samplers.
    Before = 1,
    /// It says how long to wait.
    Timer = 2,
    /// It makes a sample.
    Sampler = 3,
    /// It runs after samplers.
    After = 4,
    /// It checks results.
    Assertion = 5,
    /// It is told of results.
    Listener = 6,
    /// It says which sampler is next.
    Controller = 7,
}

/// Things that an element reads beside variables and properties.
pub(crate) struct Reads;

impl Reads {
    /// The result: that of the sample before, or of the sample it stands behind.
    pub(crate) const RESULT: u8 = 1;
    /// The sampler.
    pub(crate) const SAMPLER: u8 = 2;
    /// The sampler's cookies.
    pub(crate) const COOKIES: u8 = 4;
    /// The body of the result.
    pub(crate) const BODY: u8 = 8;
    /// The result of the sample before by that name, which of a transaction is not its own.
    pub(crate) const PREVIOUS: u8 = 16;
    /// None of these: it runs natively, and Java may be without its class.
    pub(crate) const NATIVE: u8 = 32;
}

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Severity {
    /// It runs.
    Warning = 0,
    /// It will not run.
    Error = 1,
}

impl Severity {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Warning,
            1 => Self::Error,
            _ => return Err(Malformed("there is no such severity")),
        })
    }
}

/// A finding about the first text; one lower is about the next.
pub(crate) const FIRST_TEXT: i32 = -2;

/// Properties of a job.
pub(crate) struct JobFlags;

impl JobFlags {
    /// It is the first of an iteration.
    pub(crate) const FIRST: u8 = 1;
    /// JMeter would trust all servers by now.
    pub(crate) const TRUSTS: u8 = 2;
}

/// The job comes before there are variables.
pub(crate) const NO_GROUP: u32 = 4294967295;

/// The work of a job. Acts below 16 are roles, whose elements run in the order of the ids. A job of "before" without ids only asks for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Act {
    /// Pre-processors run.
    Before = 1,
    /// Timers say how long to wait.
    Timer = 2,
    /// A sampler makes a sample.
    Sampler = 3,
    /// Post-processors run.
    After = 4,
    /// Assertions check the result.
    Assertion = 5,
    /// Listeners are told of the result.
    Listener = 6,
    /// Texts are evaluated.
    Evaluate = 16,
    /// An iteration begins.
    Iteration = 17,
    /// The user starts.
    Start = 18,
    /// A controller is asked for the next sampler.
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
            _ => return Err(Malformed("there is no such act")),
        })
    }
}

/// Requests of scripts; of several the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ask {
    /// Nothing.
    Nothing = 0,
    /// The loop around is left.
    BreakLoop = 1,
    /// The next iteration of the loop around.
    NextOfLoop = 2,
    /// The next iteration of the thread.
    NextOfThread = 3,
    /// The user ends.
    StopUser = 4,
    /// The test ends.
    StopTest = 5,
    /// The test ends at once.
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
            _ => return Err(Malformed("it asks for what there is not")),
        })
    }
}

/// In the place of a slot: the variable's name follows.
pub(crate) const NAMED: u32 = 4294967295;

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum LogLevel {
    /// Trace.
    Trace = 0,
    /// Debug.
    Debug = 1,
    /// Info.
    Info = 2,
    /// Warn.
    Warn = 3,
    /// Error.
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
            _ => return Err(Malformed("there is no such level")),
        })
    }
}

/// Properties of a result.
pub(crate) struct ResultFlags;

impl ResultFlags {
    /// It is successful.
    pub(crate) const SUCCESS: u32 = 1;
    /// It is ignored.
    pub(crate) const IGNORED: u32 = 2;
    /// It is one of HTTP.
    pub(crate) const HTTP: u32 = 4;
    /// The user is to end.
    pub(crate) const STOP_USER: u32 = 8;
    /// The test is to end.
    pub(crate) const STOP_TEST: u32 = 16;
    /// The test is to end at once.
    pub(crate) const STOP_TEST_NOW: u32 = 32;
    /// Its data are text.
    pub(crate) const TEXT: u32 = 64;
    /// Its data are binary.
    pub(crate) const BINARY: u32 = 128;
    /// A body follows.
    pub(crate) const BODY: u32 = 256;
}

/// Where the user goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ResultAction {
    /// With what follows.
    GoOn = 0,
    /// With the next iteration of the thread.
    NextOfThread = 1,
    /// With the next iteration of the loop around.
    NextOfLoop = 2,
    /// Behind the loop around.
    BreakLoop = 3,
}

impl ResultAction {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::GoOn,
            1 => Self::NextOfThread,
            2 => Self::NextOfLoop,
            3 => Self::BreakLoop,
            _ => return Err(Malformed("there is no such action")),
        })
    }
}

/// Attributes that a cookie was given.
pub(crate) struct CookieFlags;

impl CookieFlags {
    /// Its path.
    pub(crate) const PATH_GIVEN: u8 = 1;
    /// Its domain.
    pub(crate) const DOMAIN_GIVEN: u8 = 2;
}

/// The form in which a sampler follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SamplerForm {
    /// Nobody looked.
    Unseen = 0,
    /// A Request.
    Http = 1,
    /// A Given, of another class.
    Element = 2,
    /// It is as planned.
    Planned = 3,
}

impl SamplerForm {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Unseen,
            1 => Self::Http,
            2 => Self::Element,
            3 => Self::Planned,
            _ => return Err(Malformed("there is no such form of a sampler")),
        })
    }
}

/// Options of a request.
pub(crate) struct RequestFlags;

impl RequestFlags {
    /// Redirects are followed, each as a sub-result.
    pub(crate) const FOLLOW_REDIRECTS: u16 = 1;
    /// Redirects are followed silently.
    pub(crate) const AUTO_REDIRECTS: u16 = 2;
    /// The connection is kept.
    pub(crate) const KEEP_ALIVE: u16 = 4;
    /// The body is multipart.
    pub(crate) const MULTIPART: u16 = 8;
    /// Multipart as browsers do it.
    pub(crate) const COMPATIBLE: u16 = 16;
    /// The body is raw.
    pub(crate) const RAW: u16 = 32;
    /// Embedded resources are loaded.
    pub(crate) const LOADS_EMBEDDED: u16 = 64;
    /// The response is its MD5 sum.
    pub(crate) const MD5: u16 = 128;
    /// Headers that other samplers send are not the plan's any more.
    pub(crate) const LASTING: u16 = 256;
}

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Turn {
    /// A new one: the next sampler.
    Next = 0,
    /// The one at the top goes on.
    GoOn = 1,
}

/// The answer to what a controller asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Answer {
    /// Nothing; the number is 1 if the child is done.
    Nothing = 0,
    /// A sampler.
    Sampler = 1,
    /// The sample of a transaction.
    Transaction = 2,
}

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Tell {
    /// It is initialised.
    Initialize = 1,
    /// A loop has ended.
    EndOfLoop = 2,
    /// The next iteration of its loop is asked for.
    NextLoop = 3,
    /// Its loop is left.
    BreakLoop = 4,
    /// The controller around it begins an iteration.
    Iteration = 5,
}

/// The kind of a controller's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SaidKind {
    /// It has nothing more in this iteration.
    Nothing = 0,
    /// A sampler.
    Sampler = 1,
    /// The sample of a transaction below it that is complete.
    Transaction = 2,
    /// It asks for something first.
    Asks = 3,
}

impl SaidKind {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.byte()? {
            0 => Self::Nothing,
            1 => Self::Sampler,
            2 => Self::Transaction,
            3 => Self::Asks,
            _ => return Err(Malformed("a controller says what there is not")),
        })
    }
}

/// Things that a controller asks for before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Need {
    /// A child's next sampler.
    Next = 0,
    /// That a child is initialised.
    Initialize = 1,
    /// That a child hears of the end of its loop.
    EndOfLoop = 2,
    /// Whether a child is done.
    IsDone = 3,
    /// That its own iteration begins.
    Begins = 4,
    /// The same, where iterations count from one.
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
            _ => return Err(Malformed("a controller asks for what there is not")),
        })
    }
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Frame {
    /// A thread begins, and its name; the answer is its number in the system (i64).
    Begin = 0,
    /// A message, or its reply.
    Call = 1,
    /// A thread is no longer needed.
    Leave = 2,
    /// In the place of a reply: why there is none, UTF-8.
    None = 3,
}
