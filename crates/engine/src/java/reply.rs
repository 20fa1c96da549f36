//! Java's replies to jobs, read completely before any change is applied.
//!
//! If a reply cannot be read, the job has failed. Strings are borrowed from the message.

use plan::result::Request;
use wire::cookie::Cookie;

use super::controller_reply::ControllerReply;
use super::message::{self, Act, Assertion, LogLine, NAMED};
use super::reader::{Malformed, Reader};
use super::result::Found;
use super::{cookies, request};
use request::Changed;

impl Act {
    /// Returns true if the job works on the result of a sample.
    pub(crate) fn has_result(self) -> bool {
        matches!(self, Self::After | Self::Assertion | Self::Listener)
    }
}

/// The name of a changed variable: a slot of the plan, or a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name<'a> {
    Slot(u32),
    Named(&'a str),
}

/// The output of a job, besides changes of variables and properties.
#[derive(Debug)]
pub(crate) enum Out<'a> {
    Nothing,
    /// Delay of a timer in milliseconds.
    Delay(i64),
    Texts(Vec<&'a str>),
    Verdicts(Vec<Assertion<'a>>),
    Controller(ControllerReply),
}

/// Changed variables and properties; the beginning of the replies to a job and to the start of the test.
#[derive(Debug, Default)]
pub(crate) struct Changes<'a> {
    /// Changed variables. A variable without a value was removed.
    pub(crate) variables: Vec<(Name<'a>, Option<&'a str>)>,
    /// Changed properties, each with the version that Java gave the change.
    pub(crate) properties: Vec<message::Property<'a>>,
}

/// A reply of Java to a job.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    /// True if an element threw an exception at which JMeter abandons the sample without reporting it.
    pub(crate) gives_up: bool,
    /// Description of the Java `Error` that ends the user, as it would end a thread of JMeter.
    pub(crate) fatal: Option<&'a str>,
    pub(crate) changes: Changes<'a>,
    pub(crate) ask: Request,
    pub(crate) log: Vec<LogLine<'a>>,
    pub(crate) cookies: Option<Vec<Cookie>>,
    pub(crate) result: Option<Found<'a>>,
    pub(crate) sampler: Option<Changed>,
    pub(crate) out: Out<'a>,
}

/// Description of why a job has failed.
pub(crate) type Failed = String;

/// Status at the beginning of a reply of Java.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status<'a> {
    Well,
    /// Java has abandoned the sample of the job.
    GaveUp,
    /// A Java `Error` that ends its user, with its description.
    Fatal(&'a str),
}

/// Reads the status at the beginning of a reply.
pub(crate) fn status<'a>(reader: &mut Reader<'a>) -> Result<Status<'a>, Failed> {
    let words = |reader: &mut Reader<'a>| reader.text().map_err(|malformed| malformed.to_string());
    match message::Status::read(reader).map_err(|malformed| malformed.to_string())? {
        message::Status::Well => Ok(Status::Well),
        message::Status::Failed => Err(words(reader)?.to_owned()),
        message::Status::Abandoned => Ok(Status::GaveUp),
        message::Status::Fatal => Ok(Status::Fatal(words(reader)?)),
    }
}

impl<'a> Reply<'a> {
    /// Reads the reply to a job of the kind `act`.
    pub(crate) fn read(message: &'a [u8], act: Act) -> Result<Self, Failed> {
        let mut reader = Reader::new(message);
        let status = status(&mut reader)?;
        Self::rest(reader, act, status).map_err(|malformed| malformed.to_string())
    }

    /// Checks that the reply contains a value for each expression of the job.
    pub(crate) fn check(&self, texts: u32) -> Result<(), Failed> {
        match &self.out {
            Out::Texts(given) if given.len() != texts as usize => {
                Err("the JVM returned a wrong number of evaluated expressions".into())
            }
            _ => Ok(()),
        }
    }

    fn rest(mut reader: Reader<'a>, act: Act, status: Status<'a>) -> Result<Self, Malformed> {
        let reader = &mut reader;
        let gives_up = status != Status::Well;
        let fatal = match status {
            Status::Fatal(words) => Some(words),
            Status::Well | Status::GaveUp => None,
        };
        let changes = Changes::read(reader)?;
        let ask = match message::Ask::read(reader)? {
            message::Ask::Nothing => Request::Nothing,
            message::Ask::BreakLoop => Request::BreakLoop,
            message::Ask::NextOfLoop => Request::NextLoopIteration,
            message::Ask::NextOfThread => Request::NextIteration,
            message::Ask::StopUser => Request::StopUser,
            message::Ask::StopTest => Request::StopTest,
            message::Ask::StopTestNow => Request::StopTestNow,
        };
        let log = lines(reader)?;
        let cookies = reader.maybe(|reader| reader.list(cookies::read))?;
        let result = reader.maybe(|reader| Found::read(reader, 0))?;
        let sampler = request::read(reader)?;
        let out = match act {
            _ if gives_up => Out::Nothing,
            Act::Timer => Out::Delay(reader.signed()?),
            Act::Evaluate => Out::Texts(reader.list(Reader::text)?),
            Act::Assertion => Out::Verdicts(reader.list(Assertion::read)?),
            Act::Controller => Out::Controller(ControllerReply::read(reader)?),
            _ => Out::Nothing,
        };
        reader.end()?;
        Ok(Self { gives_up, fatal, changes, ask, log, cookies, result, sampler, out })
    }
}

impl<'a> Changes<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let variables = reader.list(|reader| {
            let name = match reader.int()? {
                NAMED => Name::Named(reader.text()?),
                slot => Name::Slot(slot),
            };
            Ok((name, reader.maybe(Reader::text)?))
        })?;
        let properties = reader.list(message::Property::read)?;
        Ok(Self { variables, properties })
    }
}

/// Reads the log lines of a reply.
pub(crate) fn lines<'a>(reader: &mut Reader<'a>) -> Result<Vec<LogLine<'a>>, Malformed> {
    reader.list(LogLine::read)
}

/// Reads the reply to a job as a core does, for tests of code that creates replies. `act` is the number of the job's
/// act.
///
/// # Errors
///
/// Returns the description of a fault in the reply.
pub fn read_reply(message: &[u8], act: u8) -> Result<(), String> {
    let act = Act::read(&mut Reader::new(&[act])).map_err(|_| "unknown act")?;
    Reply::read(message, act).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::controller_reply::ControllerRequest;
    use super::*;

    /// Returns the beginning of an empty reply, up to and including its result.
    fn nothing(status: u8) -> Vec<u8> {
        let mut reply = vec![status];
        // The lists and options of an empty reply: variables, properties, request, log lines, cookies, result,
        // sampler.
        reply.extend([0; 4 + 4 + 1 + 4 + 1 + 1 + 1]);
        reply
    }

    #[test]
    fn each_act_has_its_own_end() {
        let ends: [(Act, &[u8]); 5] = [
            (Act::Before, &[]),
            (Act::Timer, &[5, 0, 0, 0, 0, 0, 0, 0]),
            (Act::Evaluate, &[1, 0, 0, 0, 1, 0, 0, 0, b'x']),
            (Act::Assertion, &[0, 0, 0, 0]),
            (Act::Controller, &[3, 0, 4, 0, 0, 0]),
        ];
        for (act, end) in ends {
            let mut reply = nothing(0);
            reply.extend(end);
            let read = Reply::read(&reply, act).expect("well formed");
            match (act, read.out) {
                (Act::Timer, Out::Delay(5)) | (Act::Before, Out::Nothing) => {}
                (Act::Evaluate, Out::Texts(texts)) => assert_eq!(texts, ["x"]),
                (Act::Assertion, Out::Verdicts(found)) => assert!(found.is_empty()),
                (Act::Controller, Out::Controller(said)) => {
                    assert_eq!(said, ControllerReply::Asks(ControllerRequest::Next(4)));
                }
                (act, out) => panic!("{act:?}: {out:?}"),
            }
            for end in 0..reply.len() {
                assert!(Reply::read(&reply[..end], act).is_err(), "{act:?} cut at {end}");
            }
            reply.push(0);
            assert!(Reply::read(&reply, act).is_err(), "{act:?} with something behind it");
        }
        assert!(Reply::read(&nothing(2), Act::Timer).expect("given up").gives_up);
        let fatal = [&[3, 2, 0, 0, 0, b'n', b'o'], &nothing(0)[1..]].concat();
        let fatal = Reply::read(&fatal, Act::Before).expect("fatal");
        assert_eq!((fatal.gives_up, fatal.fatal), (true, Some("no")));
        assert!(Reply::read(&nothing(4), Act::Before).is_err());
    }
}
