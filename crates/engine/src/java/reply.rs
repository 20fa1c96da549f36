//! What Java answers to a job, read in one pass before anything of it is carried out.
//!
//! A reply that cannot be read is a failed job. Texts are borrowed from the message.

use plan::result::Request;
use wire::cookie::Cookie;

use super::controller::Said;
use super::reader::{Malformed, Reader};
use super::result::{Found, Verdict};
use super::{cookies, request};
use request::Changed;

/// A variable with a name of its own.
pub(crate) const NAMED: u32 = u32::MAX;

/// What a job does. The numbers are those of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Act {
    Before = 1,
    Timer = 2,
    Sampler = 3,
    After = 4,
    Assertion = 5,
    Listener = 6,
    /// Evaluates texts.
    Evaluate = 16,
    /// Tells of an iteration.
    Iteration = 17,
    /// Tells of a user's start.
    Start = 18,
    /// Asks a controller.
    Controller = 19,
}

impl Act {
    /// Whether it belongs to a sample that has a result.
    pub(crate) fn has_result(self) -> bool {
        matches!(self, Self::After | Self::Assertion | Self::Listener)
    }
}

/// Which variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name<'a> {
    Slot(u32),
    Named(&'a str),
}

/// What a script logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// 0 is trace, 4 an error.
    pub(crate) level: u8,
    /// When, in milliseconds since 1970.
    pub(crate) at_ms: i64,
    pub(crate) logger: &'a str,
    pub(crate) text: &'a str,
}

/// What comes of a job beside changes.
#[derive(Debug)]
pub(crate) enum Out<'a> {
    Nothing,
    /// Milliseconds.
    Delay(i64),
    Texts(Vec<&'a str>),
    Verdicts(Vec<Verdict<'a>>),
    Said(Said),
}

/// What two kinds of replies begin with.
#[derive(Debug, Default)]
pub(crate) struct Changes<'a> {
    /// Without a value: removed.
    pub(crate) variables: Vec<(Name<'a>, Option<&'a str>)>,
    /// With the number that Java gave the change.
    pub(crate) properties: Vec<(u64, &'a str, Option<&'a str>)>,
}

/// A reply to a job.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    /// Something threw where JMeter gives up the sample and tells nobody of it.
    pub(crate) gives_up: bool,
    /// It was an `Error` of Java's, of which JMeter's threads end; in words.
    pub(crate) fatal: Option<&'a str>,
    pub(crate) changes: Changes<'a>,
    pub(crate) ask: Request,
    pub(crate) log: Vec<Line<'a>>,
    pub(crate) cookies: Option<Vec<Cookie>>,
    pub(crate) result: Option<Found<'a>>,
    pub(crate) sampler: Option<Changed>,
    pub(crate) out: Out<'a>,
}

/// Why a job has failed, in words.
pub(crate) type Failed = String;

/// How Java did what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status<'a> {
    Well,
    /// It gave up on the way.
    GaveUp,
    /// An `Error` of Java's that ends its user; in words.
    Fatal(&'a str),
}

/// Reads whether Java did what it was asked for.
pub(crate) fn status<'a>(reader: &mut Reader<'a>) -> Result<Status<'a>, Failed> {
    let words = |reader: &mut Reader<'a>| reader.text().map_err(|malformed| malformed.to_string());
    match reader.byte().map_err(|malformed| malformed.to_string())? {
        0 => Ok(Status::Well),
        1 => Err(words(reader)?.to_owned()),
        2 => Ok(Status::GaveUp),
        3 => Ok(Status::Fatal(words(reader)?)),
        _ => Err(Malformed("there is no such status").to_string()),
    }
}

impl<'a> Reply<'a> {
    /// Reads the reply to a job that did `act`.
    pub(crate) fn read(message: &'a [u8], act: Act) -> Result<Self, Failed> {
        let mut reader = Reader::new(message);
        let status = status(&mut reader)?;
        Self::rest(reader, act, status).map_err(|malformed| malformed.to_string())
    }

    /// Whether what it says fits what was asked for: so many texts.
    pub(crate) fn check(&self, texts: u32) -> Result<(), Failed> {
        match &self.out {
            Out::Texts(given) if given.len() != texts as usize => {
                Err("the Java machine gave another number of texts than it was asked for".into())
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
        let ask = match reader.byte()? {
            0 => Request::Nothing,
            1 => Request::BreakLoop,
            2 => Request::NextLoopIteration,
            3 => Request::NextIteration,
            4 => Request::StopUser,
            5 => Request::StopTest,
            6 => Request::StopTestNow,
            _ => return Err(Malformed("it asks for what there is not")),
        };
        let log = lines(reader)?;
        let cookies = reader.maybe(|reader| reader.list(cookies::read))?;
        let result = reader.maybe(|reader| Found::read(reader, 0))?;
        let sampler = request::read(reader)?;
        let out = match act {
            _ if gives_up => Out::Nothing,
            Act::Timer => Out::Delay(reader.signed()?),
            Act::Evaluate => Out::Texts(reader.list(Reader::text)?),
            Act::Assertion => Out::Verdicts(reader.list(Verdict::read)?),
            Act::Controller => Out::Said(Said::read(reader)?),
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
        let properties = reader
            .list(|reader| Ok((reader.long()?, reader.text()?, reader.maybe(Reader::text)?)))?;
        Ok(Self { variables, properties })
    }
}

/// Reads what was logged.
pub(crate) fn lines<'a>(reader: &mut Reader<'a>) -> Result<Vec<Line<'a>>, Malformed> {
    reader.list(|reader| {
        let (level, at_ms) = (reader.byte()?, reader.signed()?);
        Ok(Line { level, at_ms, logger: reader.text()?, text: reader.text()? })
    })
}

/// Reads the reply to a job that did what the number stands for, as a core would; for tests of whoever writes replies.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn read_reply(message: &[u8], act: u8) -> Result<(), String> {
    let acts = [
        Act::Before,
        Act::Timer,
        Act::Sampler,
        Act::After,
        Act::Assertion,
        Act::Listener,
        Act::Evaluate,
        Act::Iteration,
        Act::Start,
        Act::Controller,
    ];
    let act = acts.into_iter().find(|one| *one as u8 == act).ok_or("there is no such act")?;
    Reply::read(message, act).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::controller::Ask;
    use super::*;

    /// A reply that says nothing, as far as its result.
    fn nothing(status: u8) -> Vec<u8> {
        let mut reply = vec![status];
        // No variables, no properties, nothing asked, no log, no cookies, no result, no request.
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
                (Act::Controller, Out::Said(said)) => assert_eq!(said, Said::Asks(Ask::Next(4))),
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
