//! Operations of scripts on their surroundings: variables, properties, the sample result, the log, user and time.
//!
//! The table lists which object has which method ([`find`]). [`super::act::perform`] executes each [`Operation`].

use lang::log::Level;

use super::kind::Kinds;
use crate::Reads;

/// Meaning of a name or a chain of calls that does not stand for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Object {
    Vars,
    Props,
    Log,
    Context,
    Result,
    Finding,
    Thread,
    Group,
    Sampler,
    JavaThread,
    FileServer,
    Out,
    Args,
    /// A Java class, by its simple name.
    Class(&'static str),
}

/// An operation of a script on its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Get,
    Put,
    Remove,
    Property,
    PropertyOr,
    TrimmedPropertyOr,
    HasProperty,
    SetProperty,
    Log(Level),
    PrintLine,
    UserNumber,
    UserName,
    GroupName,
    SamplerName,
    Iteration,
    BaseDir,
    Now,
    NewId,
    ParseInt,
    ParseLong,
    ParseDouble,
    ParseBool,
    Written,
    Hex,
    Least,
    Greatest,
    Code,
    Message,
    Label,
    IsSuccessful,
    Response,
    Headers,
    Url,
    Elapsed,
    Latency,
    ConnectTime,
    SetCode,
    SetMessage,
    SetLabel,
    SetSuccessful,
    SetIgnore,
    SetSamplerData,
    SetOk,
    SetCodeOk,
    SetMessageOk,
    StopUser,
    StopTest,
    StopTestNow,
    Fail,
    FailWith,
    Argument,
    Parameters,
    ElementName,
}

/// An entry of the table: a method of an object, with the operation that it stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) operation: Operation,
    pub(super) on: Object,
    pub(super) name: &'static str,
    pub(super) args: &'static [Kinds],
    pub(super) gives: Kinds,
    /// True if the method may throw even if no argument is `null`.
    pub(super) throws: bool,
}

const fn known(
    on: Object,
    name: &'static str,
    operation: Operation,
    args: &'static [Kinds],
    gives: Kinds,
) -> Known {
    Known { operation, on, name, args, gives, throws: false }
}

impl Known {
    const fn throwing(self) -> Self {
        Self { throws: true, ..self }
    }
}

const S: Kinds = Kinds::STRING;
const T: Kinds = Kinds::TEXT;
const Q: Kinds = Kinds::NULLABLE;
const SQ: Kinds = Kinds::STRING.union(Kinds::NULL);
const I: Kinds = Kinds::INT;
const L: Kinds = Kinds::LONG;
const D: Kinds = Kinds::DOUBLE;
const B: Kinds = Kinds::BOOL;
const V: Kinds = Kinds::VOID;

use Object::{
    Class, Context, FileServer, Finding, Group, JavaThread, Log, Props, Result, Sampler, Thread,
    Vars,
};

const DEEDS: &[Known] = &[
    known(Vars, "get", Operation::Get, &[S], Q),
    known(Vars, "put", Operation::Put, &[S, SQ], V),
    known(Vars, "putObject", Operation::Put, &[S, Q], V),
    known(Vars, "remove", Operation::Remove, &[S], Q),
    known(Vars, "getThreadName", Operation::UserName, &[], T),
    known(Vars, "getIteration", Operation::Iteration, &[], I),
    // A key that is not a `String` finds no property.
    known(Props, "get", Operation::Property, &[T], Q),
    known(Props, "getProperty", Operation::Property, &[S], Q),
    known(Props, "getProperty", Operation::PropertyOr, &[S, SQ], Q),
    known(Props, "put", Operation::SetProperty, &[T, T], Q),
    known(Props, "setProperty", Operation::SetProperty, &[S, S], Q),
    known(Props, "containsKey", Operation::HasProperty, &[T], B),
    known(Class("JMeterUtils"), "getProperty", Operation::Property, &[S], Q),
    known(Class("JMeterUtils"), "getPropDefault", Operation::TrimmedPropertyOr, &[S, SQ], Q),
    known(Class("JMeterUtils"), "setProperty", Operation::SetProperty, &[S, S], Q),
    known(Log, "info", Operation::Log(Level::Info), &[SQ], V),
    known(Log, "warn", Operation::Log(Level::Warn), &[SQ], V),
    known(Log, "error", Operation::Log(Level::Error), &[SQ], V),
    known(Log, "debug", Operation::Log(Level::Debug), &[SQ], V),
    known(Log, "trace", Operation::Log(Level::Trace), &[SQ], V),
    known(Context, "getThreadNum", Operation::UserNumber, &[], I),
    known(Thread, "getThreadNum", Operation::UserNumber, &[], I),
    known(Thread, "getThreadName", Operation::UserName, &[], T),
    known(JavaThread, "getName", Operation::UserName, &[], T),
    known(Group, "getName", Operation::GroupName, &[], T),
    known(Sampler, "getName", Operation::SamplerName, &[], T),
    known(FileServer, "getBaseDir", Operation::BaseDir, &[], T),
    known(Class("System"), "currentTimeMillis", Operation::Now, &[], L),
    known(Class("UUID"), "randomUUID", Operation::NewId, &[], Kinds::UUID),
    known(Class("Integer"), "parseInt", Operation::ParseInt, &[SQ], I).throwing(),
    known(Class("Integer"), "valueOf", Operation::ParseInt, &[S], I).throwing(),
    known(Class("Long"), "parseLong", Operation::ParseLong, &[SQ], L).throwing(),
    known(Class("Long"), "valueOf", Operation::ParseLong, &[S], L).throwing(),
    known(Class("Double"), "parseDouble", Operation::ParseDouble, &[S], D).throwing(),
    known(Class("Double"), "valueOf", Operation::ParseDouble, &[S], D).throwing(),
    known(Class("Boolean"), "parseBoolean", Operation::ParseBool, &[SQ], B),
    known(Class("Integer"), "toString", Operation::Written, &[I], T),
    known(Class("Integer"), "toHexString", Operation::Hex, &[I], T),
    known(Class("Long"), "toString", Operation::Written, &[Kinds::WHOLE], T),
    known(Class("String"), "valueOf", Operation::Written, &[Kinds::NUMBER.union(B).union(S)], T),
    known(Class("Math"), "min", Operation::Least, &[I, I], I),
    known(Class("Math"), "max", Operation::Greatest, &[I, I], I),
    known(Result, "getResponseCode", Operation::Code, &[], T),
    known(Result, "getResponseMessage", Operation::Message, &[], T),
    known(Result, "getSampleLabel", Operation::Label, &[], T),
    known(Result, "isSuccessful", Operation::IsSuccessful, &[], B),
    known(Result, "getResponseDataAsString", Operation::Response, &[], T),
    known(Result, "getResponseHeaders", Operation::Headers, &[], T),
    known(Result, "getUrlAsString", Operation::Url, &[], T),
    known(Result, "getTime", Operation::Elapsed, &[], L),
    known(Result, "getLatency", Operation::Latency, &[], L),
    known(Result, "getConnectTime", Operation::ConnectTime, &[], L),
    known(Result, "setResponseCode", Operation::SetCode, &[S], V),
    known(Result, "setResponseMessage", Operation::SetMessage, &[S], V),
    known(Result, "setSampleLabel", Operation::SetLabel, &[S], V),
    known(Result, "setSuccessful", Operation::SetSuccessful, &[B], V),
    known(Result, "setIgnore", Operation::SetIgnore, &[], V),
    known(Result, "setResponseCodeOK", Operation::SetCodeOk, &[], V),
    known(Result, "setResponseMessageOK", Operation::SetMessageOk, &[], V),
    known(Result, "setResponseOK", Operation::SetOk, &[], V),
    known(Result, "setSamplerData", Operation::SetSamplerData, &[S], V),
    known(Result, "setStopThread", Operation::StopUser, &[B], V),
    known(Result, "setStopTest", Operation::StopTest, &[B], V),
    known(Result, "setStopTestNow", Operation::StopTestNow, &[B], V),
    known(Finding, "setFailure", Operation::Fail, &[B], V),
    known(Finding, "setFailureMessage", Operation::FailWith, &[S], V),
];

/// Returns the operations of an object by method name and number of parameters.
pub(super) fn find(on: Object, name: &str, args: usize) -> impl Iterator<Item = &'static Known> {
    DEEDS.iter().filter(move |one| one.on == on && one.name == name && one.args.len() == args)
}

impl Operation {
    /// Returns the parts of the result that the operation uses, beyond the parts that are always available.
    pub(super) fn reads(self) -> Reads {
        match self {
            Self::Response => Reads::TEXT,
            Self::Headers => Reads::HEADERS,
            Self::Url => Reads::URL,
            Self::SetLabel => Reads::LABEL,
            _ => Reads::empty(),
        }
    }

    /// Returns true if the operation changes the sample result.
    pub(super) fn changes_result(self) -> bool {
        matches!(
            self,
            Self::SetCode
                | Self::SetMessage
                | Self::SetLabel
                | Self::SetSuccessful
                | Self::SetIgnore
                | Self::SetSamplerData
                | Self::SetOk
                | Self::SetCodeOk
                | Self::SetMessageOk
                | Self::StopUser
                | Self::StopTest
                | Self::StopTestNow
        )
    }
}

/// Classes that scripts may use: package, name, and true if the class needs no import.
const CLASSES: [(&str, &str, bool); 14] = [
    // Package, name, and true if the class needs no import.
    ("java.lang", "System", true),
    ("java.lang", "Integer", true),
    ("java.lang", "Long", true),
    ("java.lang", "Double", true),
    ("java.lang", "Boolean", true),
    ("java.lang", "String", true),
    ("java.lang", "Math", true),
    ("java.lang", "Thread", true),
    ("java.lang", "Object", true),
    ("java.util", "UUID", true),
    ("java.io", "File", true),
    ("org.apache.jmeter.util", "JMeterUtils", false),
    ("org.apache.jmeter.services", "FileServer", false),
    ("org.apache.jmeter.threads", "JMeterContextService", false),
];

/// Returns the class that a name stands for, with or without its package.
pub(super) fn class(name: &str, imports: &[String]) -> Option<&'static str> {
    let (package, last) = name.rsplit_once('.').unwrap_or(("", name));
    let (home, class, always) = CLASSES.iter().find(|(_, class, _)| *class == last)?;
    let imported = || {
        imports
            .iter()
            .any(|import| import == &format!("{home}.{class}") || import == &format!("{home}.*"))
    };
    (package == *home || package.is_empty() && (*always || imported())).then_some(*class)
}

/// Returns true if an import does nothing but make names available.
pub(super) fn is_harmless(import: &str) -> bool {
    let (package, class) = import.rsplit_once('.').unwrap_or(("", import));
    let known = CLASSES.iter().any(|(home, name, _)| *home == package && *name == class);
    let all = ["java.util", "java.io", "java.text", "java.lang", "java.net", "java.math"];
    known || class == "*" && all.contains(&package) || IMPORTS.contains(&import)
}

/// Classes that scripts often import without using them.
const IMPORTS: [&str; 34] = [
    "java.util.Random",
    "java.util.Date",
    "java.util.List",
    "java.util.Map",
    "java.util.HashMap",
    "java.util.ArrayList",
    "java.util.Arrays",
    "java.util.Calendar",
    "java.util.Properties",
    "java.util.TimeZone",
    "java.util.regex.Pattern",
    "java.util.regex.Matcher",
    "java.util.concurrent.TimeUnit",
    "java.util.concurrent.ThreadLocalRandom",
    "java.text.SimpleDateFormat",
    "java.text.DateFormat",
    "java.io.IOException",
    "java.io.FileWriter",
    "java.io.BufferedReader",
    "java.net.URLEncoder",
    "java.net.URLDecoder",
    "java.net.URL",
    "java.time.LocalDate",
    "java.time.LocalDateTime",
    "java.time.format.DateTimeFormatter",
    "org.apache.jmeter.samplers.SampleResult",
    "org.apache.jmeter.assertions.AssertionResult",
    "org.apache.jmeter.threads.JMeterContext",
    "org.apache.jmeter.threads.JMeterVariables",
    "org.apache.jmeter.threads.JMeterThread",
    "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy",
    "org.apache.jmeter.protocol.http.control.Header",
    "org.apache.jmeter.protocol.http.control.HeaderManager",
    "org.apache.jmeter.protocol.http.control.CookieManager",
];
