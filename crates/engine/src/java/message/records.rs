//! Records of messages. Generated from `crates/messages/messages.txt`; to regenerate, run
//! `UPDATE_MESSAGES=1 cargo test -p throng-messages`.

use super::numbers::*;
use crate::java::reader::{Malformed, Reader};
use crate::java::writer::Writer;

/// A request to interrupt a job.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    /// The user that the record names.
    pub user: u64,
    /// True to interrupt only the user's sampler, not its thread.
    pub sampler_only: bool,
}

impl Interruption {
    /// Length of the record in bytes.
    pub const SIZE: usize = 9;

    /// Encodes the record as in messages.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0..8].copy_from_slice(&self.user.to_le_bytes());
        bytes[8] = u8::from(self.sampler_only);
        bytes
    }

    /// Decodes the record from a message.
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let user = u64::from_le_bytes([
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        ]);
        Self { user, sampler_only: bytes[8] != 0 }
    }
}

/// The heap of the JVM, and its garbage collections so far.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Size of the used Java heap in bytes.
    pub used: u64,
    /// Maximum size of the Java heap in bytes.
    pub most: u64,
    /// Number of garbage collections that stopped all threads.
    pub collections: u64,
    /// Total time of the garbage collections that stopped all threads, in milliseconds.
    pub paused_ms: u64,
}

impl Memory {
    /// Length of the record in bytes.
    pub const SIZE: usize = 32;

    /// Encodes the record as in messages.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0..8].copy_from_slice(&self.used.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.most.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.collections.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.paused_ms.to_le_bytes());
        bytes
    }

    /// Decodes the record from a message.
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let used = u64::from_le_bytes([
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        ]);
        let most = u64::from_le_bytes([
            bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15],
        ]);
        let collections = u64::from_le_bytes([
            bytes[16], bytes[17], bytes[18], bytes[19], bytes[20], bytes[21], bytes[22], bytes[23],
        ]);
        let paused_ms = u64::from_le_bytes([
            bytes[24], bytes[25], bytes[26], bytes[27], bytes[28], bytes[29], bytes[30], bytes[31],
        ]);
        Self { used, most, collections, paused_ms }
    }
}

/// The part of the test plan that runs in Java.
#[derive(Clone, Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) properties: Vec<Pair<'a>>,
    /// System properties of the run.
    pub(crate) system: Vec<Pair<'a>>,
    /// JMeter's folder.
    pub(crate) home: &'a str,
    /// Path of the test plan's file.
    pub(crate) plan: &'a str,
    pub(crate) process: u32,
    /// Names of the plan's variables, by slot.
    pub(crate) slots: Vec<&'a str>,
    pub(crate) elements: Vec<Element<'a>>,
    pub(crate) owners: Vec<Owner>,
    /// Expressions. An If Controller's condition in JavaScript has U+0001, controller's name, U+0001 in front.
    pub(crate) texts: Vec<&'a str>,
    pub(crate) groups: Vec<Group<'a>>,
    /// True if elements may read variables by any name.
    pub(crate) reads_any_name: bool,
    pub(crate) insides: Vec<Inside<'a>>,
}

impl Setup<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.list(&self.properties, |out, one| one.write(out));
        out.list(&self.system, |out, one| one.write(out));
        out.text(self.home);
        out.text(self.plan);
        out.int(self.process);
        out.list(&self.slots, |out, one| out.text(one));
        out.list(&self.elements, |out, one| one.write(out));
        out.list(&self.owners, |out, one| one.write(out));
        out.list(&self.texts, |out, one| out.text(one));
        out.list(&self.groups, |out, one| one.write(out));
        out.flag(self.reads_any_name);
        out.list(&self.insides, |out, one| one.write(out));
    }
}

/// A property with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

impl Pair<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.text(self.name);
        out.text(self.value);
    }
}

/// A Java-backed element of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) role: Role,
    pub(crate) class_name: &'a str,
    pub(crate) name: &'a str,
    pub(crate) path: &'a str,
    pub(crate) line: u32,
    pub(crate) reads: u8,
    pub(crate) xml: &'a str,
}

impl Element<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.byte(self.role as u8);
        out.text(self.class_name);
        out.text(self.name);
        out.text(self.path);
        out.int(self.line);
        out.byte(self.reads);
        out.text(self.xml);
    }
}

/// A sampler that also exists as an object in Java.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) sampler: u32,
    pub(crate) element: u32,
    /// Config elements of the sampler in JMeter's order, the nearest first.
    pub(crate) configs: Vec<u32>,
}

impl Owner {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.int(self.sampler);
        out.int(self.element);
        out.list(&self.configs, |out, one| out.int(*one));
    }
}

/// A thread group with its number of users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) name: &'a str,
    pub(crate) users: u32,
}

impl Group<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.text(self.name);
        out.int(self.users);
    }
}

/// The children of a Java-backed controller.
#[derive(Clone, Debug)]
pub(crate) struct Inside<'a> {
    pub(crate) element: u32,
    /// True if a native element needs notices of the controller's iterations.
    pub(crate) heard: bool,
    pub(crate) children: Vec<Child<'a>>,
}

impl Inside<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.int(self.element);
        out.flag(self.heard);
        out.list(&self.children, |out, one| one.write(out));
    }
}

/// A child of a Java-backed controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child<'a> {
    pub(crate) is_controller: bool,
    /// Number of the child in the plan: of the sampler or of the controller.
    pub(crate) id: u32,
    pub(crate) name: &'a str,
}

impl Child<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.flag(self.is_controller);
        out.int(self.id);
        out.text(self.name);
    }
}

/// A problem that Java has found in the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) severity: Severity,
    /// Number of the element, or FIRST_TEXT minus the number of the text.
    pub(crate) about: i32,
    /// Line of the problem in the script; 0 if unknown.
    pub(crate) line: u32,
    pub(crate) message: &'a str,
}

impl<'a> Finding<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            severity: Severity::read(reader)?,
            about: reader.signed_int()?,
            line: reader.int()?,
            message: reader.text()?,
        })
    }
}

/// The beginning of a job's message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobHead<'a> {
    /// Number of the user; 0 is the test itself.
    pub(crate) user: u64,
    /// Number of the user's group, or NO_GROUP.
    pub(crate) group: u32,
    /// Number of the user in its group, from 0.
    pub(crate) number: u32,
    /// Iteration of the user, from 1.
    pub(crate) iteration: u32,
    pub(crate) flags: u8,
    pub(crate) thread: &'a str,
    pub(crate) label: &'a str,
    pub(crate) now_ms: i64,
    pub(crate) group_active: u32,
    pub(crate) all_active: u32,
    /// Number of users started so far.
    pub(crate) started: u32,
    /// Number of users finished so far.
    pub(crate) finished: u32,
}

impl JobHead<'_> {
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.long(self.user);
        out.int(self.group);
        out.int(self.number);
        out.int(self.iteration);
        out.byte(self.flags);
        out.text(self.thread);
        out.text(self.label);
        out.signed(self.now_ms);
        out.int(self.group_active);
        out.int(self.all_active);
        out.int(self.started);
        out.int(self.finished);
    }
}

/// A changed property.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property<'a> {
    /// Version of the change; native code and Java count their changes separately.
    pub(crate) version: u64,
    pub(crate) name: &'a str,
    /// The property's new value; absent if the property was removed.
    pub(crate) value: Option<&'a str>,
}

impl<'a> Property<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            version: reader.long()?,
            name: reader.text()?,
            value: reader.maybe(Reader::text)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.long(self.version);
        out.text(self.name);
        out.maybe(self.value);
    }
}

/// A line that Java has logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLine<'a> {
    pub(crate) level: LogLevel,
    pub(crate) at_ms: i64,
    pub(crate) logger: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> LogLine<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            level: LogLevel::read(reader)?,
            at_ms: reader.signed()?,
            logger: reader.text()?,
            text: reader.text()?,
        })
    }
}

/// A sample's result without its body, assertions and sub-results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultHead<'a> {
    pub(crate) flags: u32,
    pub(crate) action: ResultAction,
    pub(crate) label: &'a str,
    pub(crate) code: &'a str,
    pub(crate) message: &'a str,
    pub(crate) url: &'a str,
    pub(crate) request_headers: &'a str,
    pub(crate) sampler_data: &'a str,
    pub(crate) method: &'a str,
    pub(crate) cookies: &'a str,
    pub(crate) query: &'a str,
    pub(crate) redirect: &'a str,
    pub(crate) response_headers: &'a str,
    pub(crate) content_type: &'a str,
    pub(crate) encoding: &'a str,
    pub(crate) file: &'a str,
    pub(crate) thread: &'a str,
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
    pub(crate) elapsed_ms: u64,
    pub(crate) latency_ms: u64,
    pub(crate) connect_ms: u64,
    pub(crate) idle_ms: u64,
    pub(crate) bytes: u64,
    pub(crate) headers_size: u64,
    pub(crate) body_size: u64,
    pub(crate) sent: u64,
    pub(crate) count: u32,
    pub(crate) errors: u32,
    pub(crate) group_active: u32,
    pub(crate) all_active: u32,
}

impl<'a> ResultHead<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            flags: reader.int()?,
            action: ResultAction::read(reader)?,
            label: reader.text()?,
            code: reader.text()?,
            message: reader.text()?,
            url: reader.text()?,
            request_headers: reader.text()?,
            sampler_data: reader.text()?,
            method: reader.text()?,
            cookies: reader.text()?,
            query: reader.text()?,
            redirect: reader.text()?,
            response_headers: reader.text()?,
            content_type: reader.text()?,
            encoding: reader.text()?,
            file: reader.text()?,
            thread: reader.text()?,
            start_ms: reader.signed()?,
            end_ms: reader.signed()?,
            elapsed_ms: reader.long()?,
            latency_ms: reader.long()?,
            connect_ms: reader.long()?,
            idle_ms: reader.long()?,
            bytes: reader.long()?,
            headers_size: reader.long()?,
            body_size: reader.long()?,
            sent: reader.long()?,
            count: reader.int()?,
            errors: reader.int()?,
            group_active: reader.int()?,
            all_active: reader.int()?,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.int(self.flags);
        out.byte(self.action as u8);
        out.text(self.label);
        out.text(self.code);
        out.text(self.message);
        out.text(self.url);
        out.text(self.request_headers);
        out.text(self.sampler_data);
        out.text(self.method);
        out.text(self.cookies);
        out.text(self.query);
        out.text(self.redirect);
        out.text(self.response_headers);
        out.text(self.content_type);
        out.text(self.encoding);
        out.text(self.file);
        out.text(self.thread);
        out.signed(self.start_ms);
        out.signed(self.end_ms);
        out.long(self.elapsed_ms);
        out.long(self.latency_ms);
        out.long(self.connect_ms);
        out.long(self.idle_ms);
        out.long(self.bytes);
        out.long(self.headers_size);
        out.long(self.body_size);
        out.long(self.sent);
        out.int(self.count);
        out.int(self.errors);
        out.int(self.group_active);
        out.int(self.all_active);
    }
}

/// The verdict of an assertion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assertion<'a> {
    pub(crate) name: &'a str,
    pub(crate) failure: bool,
    pub(crate) error: bool,
    pub(crate) message: Option<&'a str>,
}

impl<'a> Assertion<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            name: reader.text()?,
            failure: reader.flag()?,
            error: reader.flag()?,
            message: reader.maybe(Reader::text)?,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.text(self.name);
        out.flag(self.failure);
        out.flag(self.error);
        out.maybe(self.message);
    }
}

/// A cookie of a user's Cookie Manager.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    pub(crate) domain: &'a str,
    pub(crate) path: &'a str,
    pub(crate) secure: bool,
    /// Expiry in milliseconds since 1970, or 0 if the cookie has none.
    pub(crate) expires_ms: i64,
    pub(crate) flags: u8,
    pub(crate) version: i32,
}

impl<'a> Cookie<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            name: reader.text()?,
            value: reader.text()?,
            domain: reader.text()?,
            path: reader.text()?,
            secure: reader.flag()?,
            expires_ms: reader.signed()?,
            flags: reader.byte()?,
            version: reader.signed_int()?,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.text(self.name);
        out.text(self.value);
        out.text(self.domain);
        out.text(self.path);
        out.flag(self.secure);
        out.signed(self.expires_ms);
        out.byte(self.flags);
        out.signed_int(self.version);
    }
}

/// An HTTP sampler, with its properties as texts.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) protocol: &'a str,
    pub(crate) domain: &'a str,
    pub(crate) port: &'a str,
    pub(crate) path: &'a str,
    pub(crate) method: &'a str,
    pub(crate) encoding: &'a str,
    pub(crate) connect_timeout: &'a str,
    pub(crate) response_timeout: &'a str,
    /// Pattern of the URLs of embedded resources.
    pub(crate) embedded: &'a str,
    pub(crate) flags: u16,
    pub(crate) arguments: Vec<Argument<'a>>,
    pub(crate) files: Vec<SentFile<'a>>,
    pub(crate) headers: Vec<Header<'a>>,
    /// Name of the sampler, if a script has changed it.
    pub(crate) name: Option<&'a str>,
}

impl<'a> Request<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            protocol: reader.text()?,
            domain: reader.text()?,
            port: reader.text()?,
            path: reader.text()?,
            method: reader.text()?,
            encoding: reader.text()?,
            connect_timeout: reader.text()?,
            response_timeout: reader.text()?,
            embedded: reader.text()?,
            flags: reader.short()?,
            arguments: reader.list(Argument::read)?,
            files: reader.list(SentFile::read)?,
            headers: reader.list(Header::read)?,
            name: reader.maybe(Reader::text)?,
        })
    }
}

/// A parameter of an HTTP request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    pub(crate) encode: bool,
    pub(crate) equals: bool,
    pub(crate) content_type: &'a str,
}

impl<'a> Argument<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            name: reader.text()?,
            value: reader.text()?,
            encode: reader.flag()?,
            equals: reader.flag()?,
            content_type: reader.text()?,
        })
    }
}

/// A file that an HTTP request uploads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFile<'a> {
    pub(crate) path: &'a str,
    pub(crate) name: &'a str,
    pub(crate) mime: &'a str,
}

impl<'a> SentFile<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self { path: reader.text()?, name: reader.text()?, mime: reader.text()? })
    }
}

/// A header of an HTTP request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> Header<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self { name: reader.text()?, value: reader.text()? })
    }
}

/// A sampler of a class other than HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Given<'a> {
    /// The sampler as XML, with evaluated properties.
    pub(crate) xml: &'a str,
    /// The headers, if the sampler has a Header Manager.
    pub(crate) headers: Option<Vec<Header<'a>>>,
    /// Name of the sampler, if a script has changed it.
    pub(crate) name: Option<&'a str>,
    /// True if a script has changed headers that other samplers also send.
    pub(crate) lasting: bool,
}

impl<'a> Given<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            xml: reader.text()?,
            headers: reader.maybe(|reader| reader.list(Header::read))?,
            name: reader.maybe(Reader::text)?,
            lasting: reader.flag()?,
        })
    }
}

/// A question to a Java-backed controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) element: u32,
    /// Number of open calls that enclose this call.
    pub(crate) depth: u32,
    pub(crate) turn: Turn,
    /// The answer to the controller's request, if the call continues.
    pub(crate) answer: Answer,
    /// Number of the sampler or transaction, or 1 if the child is done.
    pub(crate) number: u32,
}

impl Question {
    pub(crate) const WORDS: usize = 5;

    pub(crate) const fn words(self) -> [u32; Self::WORDS] {
        [self.element, self.depth, self.turn as u32, self.answer as u32, self.number]
    }
}

/// A notice to a Java-backed controller, sent before a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    pub(crate) element: u32,
    pub(crate) what: Tell,
    /// Twice the number of the iteration, plus 1 if iterations count from 1.
    pub(crate) number: u32,
}

impl Notice {
    pub(crate) const WORDS: usize = 3;

    pub(crate) const fn words(self) -> [u32; Self::WORDS] {
        [self.element, self.what as u32, self.number]
    }
}

/// The head of each message and reply in the streams of a child process.
#[derive(Clone, Copy, Debug)]
pub struct FrameHead {
    /// Length of the frame's content in bytes.
    pub length: u32,
    /// Number of the thread that carries the message.
    pub thread: u32,
    /// Kind of the frame: Frame.
    pub kind: u8,
}

impl FrameHead {
    /// Length of the record in bytes.
    pub const SIZE: usize = 9;

    /// Encodes the record as in messages.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.thread.to_le_bytes());
        bytes[8] = self.kind;
        bytes
    }

    /// Decodes the record from a message.
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let thread = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        Self { length, thread, kind: bytes[8] }
    }
}
