//! Messages to a JVM about the run as a whole: its part of the plan, the start and the end of the test.
//!
//! Each message is a blocking call, before the first user starts or after the last user has ended.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use plan::java_backed::{Element, JavaBackedId, Reads, Role, shown};
use plan::plan::{Child, Controller, ControllerKind, Plan};
use plan::vars::{Initial, VarId};

use super::apply::to_line;
use super::message::{self, FIRST_TEXT, Kind, LogLine, Severity};
use super::reader::{Malformed, Reader};
use super::reply::{Changes, Failed, Name, lines, status};
use super::writer::Writer;
use crate::offload::{Finding, Offload, Surroundings};
use crate::reports::line::Line;

/// Property that switches Java to JMeter's functional test mode.
const FUNCTIONAL: &str = "throng.functional";
/// Maximum time for Java's work after the last user has ended.
const PATIENCE: Duration = Duration::from_secs(30);

/// Facts of the run that are sent to Java besides the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunFacts<'a> {
    /// JMeter properties of the run.
    pub(crate) properties: &'a HashMap<String, String>,
    pub(crate) surroundings: &'a Surroundings,
    /// Index of this process's share of the run.
    pub(crate) shard: u32,
}

/// Result of starting the test in Java.
#[derive(Debug)]
pub(crate) struct JavaStart {
    pub(crate) hearing: Subscriptions,
    /// Log lines of Java, and findings that do not prevent the start.
    pub(crate) said: Vec<Line>,
}

/// Java's reply after it has read its part of the plan.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) findings: Vec<Finding>,
    /// Log lines that Java wrote while it read the plan.
    pub(crate) said: Vec<Line>,
    hearing: Subscriptions,
}

/// Elements in Java that are notified of events in a user's execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions {
    /// Elements that are notified when a user starts.
    pub(crate) starting: Arc<[JavaBackedId]>,
    /// Elements that are notified of iterations: their classes implement the listener interface.
    pub(crate) iterating: Arc<[JavaBackedId]>,
    /// Controllers that are notified when a loop is left.
    pub(crate) breaking: Arc<[JavaBackedId]>,
    /// Controllers that are notified of the iterations of enclosing controllers.
    pub(crate) counting: Arc<[JavaBackedId]>,
}

/// Sends Java its part of the plan and starts the test, which may change the initial variables of users. `groups`:
/// names and numbers of users.
pub(crate) fn begin(
    offload: &dyn Offload,
    plan: &Plan,
    facts: RunFacts<'_>,
    groups: &[(String, u32)],
    initial: &mut Initial,
    shared: &plan::function::Shared,
) -> Result<JavaStart, Failed> {
    let Read { findings, mut said, hearing } = set_up(offload, plan, facts, groups)?;
    let mut missing = Vec::new();
    for finding in findings {
        let element = finding.element.and_then(|id| plan.java_backed.elements.get(id as usize));
        let text = finding.text.and_then(|id| plan.java_backed.texts.get(id as usize));
        let of = element.map(|element| &*element.path).or(text.map(|text| shown(text)));
        let of = of.unwrap_or("the JVM");
        let words = match finding.line {
            0 => format!("{of}: {}", finding.message),
            line => format!("{of}, line {line} of the script: {}", finding.message),
        };
        // JMeter also refuses to start without an element's class. A fault in an expression is reported where the
        // expression is used.
        if finding.is_error && element.is_some() {
            missing.push(words);
        } else {
            said.push(words.into());
        }
    }
    if !missing.is_empty() {
        return Err(first_of(missing));
    }
    said.extend(start(offload, plan, initial, shared)?);
    Ok(JavaStart { hearing, said })
}

/// Joins the first five findings, and adds the number of the other findings.
fn first_of(mut missing: Vec<String>) -> String {
    const FEW: usize = 5;
    let more = missing.len().saturating_sub(FEW);
    missing.truncate(FEW);
    if more > 0 {
        missing.push(format!("… and {more} more like this"));
    }
    missing.join("\n  ")
}

/// Sends Java the part of the plan that it will run. `groups`: names, if known, and numbers of users.
pub(crate) fn set_up(
    offload: &dyn Offload,
    plan: &Plan,
    facts: RunFacts<'_>,
    groups: &[(String, u32)],
) -> Result<Read, Failed> {
    let reply = offload.call(setup(plan, facts, groups))?;
    let mut reader = Reader::new(&reply);
    status(&mut reader)?;
    let read = |reader: &mut Reader<'_>| {
        let findings = reader.list(|reader| {
            let read = message::Finding::read(reader)?;
            Ok(Finding {
                is_error: read.severity == Severity::Error,
                element: u32::try_from(read.about).ok(),
                text: u32::try_from(i64::from(FIRST_TEXT) - i64::from(read.about)).ok(),
                line: read.line,
                message: read.message.to_owned(),
            })
        })?;
        let said = lines(reader)?.iter().map(to_line).collect();
        let mut ids = || {
            let mut ids = reader.list(|reader| Ok(JavaBackedId(reader.int()?)))?;
            ids.retain(|id| (id.0 as usize) < plan.java_backed.elements.len());
            Ok(ids)
        };
        let starting = ids()?.into();
        let listening = ids()?;
        let iterating = plan.java_backed.iterating.iter().copied();
        let iterating = iterating.filter(|id| listening.contains(id)).collect();
        let (breaking, counting) = (ids()?.into(), ids()?.into());
        let hearing = Subscriptions { starting, iterating, breaking, counting };
        Ok(Read { findings, said, hearing })
    };
    read(&mut reader).map_err(|malformed: Malformed| malformed.to_string())
}

fn setup(plan: &Plan, facts: RunFacts<'_>, groups: &[(String, u32)]) -> Vec<u8> {
    let Surroundings { home, system, plan: file } = facts.surroundings;
    let functional = plan.functional_mode.then_some((FUNCTIONAL, "true"));
    let properties = facts.properties.iter().map(|(name, value)| (&**name, &**value));
    let pair = |(name, value)| message::Pair { name, value };
    let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
    let owner = |owner: &plan::java_backed::Owner| message::Owner {
        sampler: owner.sampler.0,
        element: owner.element.0,
        configs: owner.configs.iter().map(|id| id.0).collect(),
    };
    let plan_groups = plan.groups.iter().enumerate().map(|(at, group)| {
        let known = groups.get(at);
        message::Group {
            name: known.map_or(group.name.raw(), |(name, _)| name),
            users: known.map_or(0, |(_, users)| *users),
        }
    });
    let slots = 0..plan.names.len() as u32;
    let mut bytes = vec![Kind::Setup as u8];
    message::Setup {
        properties: properties.chain(functional).map(pair).collect(),
        system: system.iter().map(|(name, value)| pair((name, value))).collect(),
        home,
        plan: &path_text(&file),
        process: facts.shard,
        slots: slots.map(|slot| plan.names.name(VarId(slot))).collect(),
        elements: plan.java_backed.elements.iter().map(element).collect(),
        owners: plan.java_backed.owners.iter().map(owner).collect(),
        texts: plan.java_backed.texts.iter().map(|text| &**text).collect(),
        groups: plan_groups.collect(),
        reads_any_name: plan.java_backed.reads_any_name,
        insides: plan.controllers.iter().filter_map(|one| inside(plan, one)).collect(),
    }
    .write(&mut Writer(&mut bytes));
    bytes
}

fn element(element: &Element) -> message::Element<'_> {
    let role = match element.role {
        Role::Config => message::Role::Config,
        Role::Before => message::Role::Before,
        Role::Timer => message::Role::Timer,
        Role::Sampler => message::Role::Sampler,
        Role::After => message::Role::After,
        Role::Assertion => message::Role::Assertion,
        Role::Listener => message::Role::Listener,
        Role::Controller => message::Role::Controller,
    };
    let mut reads = if element.native { message::Reads::NATIVE } else { 0 };
    for (what, flag) in [
        (Reads::RESULT, message::Reads::RESULT),
        (Reads::SAMPLER, message::Reads::SAMPLER),
        (Reads::COOKIES, message::Reads::COOKIES),
        (Reads::BODY, message::Reads::BODY),
        (Reads::PREVIOUS, message::Reads::PREVIOUS),
    ] {
        if element.reads.contains(what) {
            reads |= flag;
        }
    }
    message::Element {
        role,
        class_name: &element.class,
        name: &element.name,
        path: &element.path,
        line: element.line,
        reads,
        xml: &element.xml,
    }
}

/// Returns the description of the children of a controller that its Java class runs.
fn inside<'a>(plan: &'a Plan, controller: &'a Controller) -> Option<message::Inside<'a>> {
    let ControllerKind::JavaBacked(element) = controller.kind else { return None };
    let child = |child: &Child| {
        let (is_controller, id, name) = match child {
            Child::Sampler(id) => (false, id.0, &plan.samplers[id.0 as usize].name),
            Child::Controller(id) => (true, id.0, &plan.controllers[id.0 as usize].name),
        };
        message::Child { is_controller, id, name: name.raw() }
    };
    let heard = !controller.on_iteration.is_empty();
    let children = controller.children.iter().map(child).collect();
    Some(message::Inside { element: element.0, heard, children })
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Starts the test in Java; changes in the reply apply to all users. Returns what Java has logged.
fn start(
    offload: &dyn Offload,
    plan: &Plan,
    initial: &mut Initial,
    shared: &plan::function::Shared,
) -> Result<Vec<Line>, Failed> {
    let mut message = Vec::new();
    let mut out = Writer(&mut message);
    out.byte(Kind::Start as u8);
    let mut list = out.begin();
    for (slot, value) in initial.iter() {
        list.count += 1;
        out.int(slot.0);
        out.text(value);
    }
    out.end(list);
    let reply = offload.call(message)?;
    let mut reader = Reader::new(&reply);
    status(&mut reader)?;
    let malformed = |malformed: Malformed| malformed.to_string();
    let changes = Changes::read(&mut reader).map_err(malformed)?;
    let said = lines(&mut reader).map_err(malformed)?;
    for (name, value) in &changes.variables {
        match (name, value) {
            (_, None) => {}
            (Name::Slot(slot), Some(_)) if *slot as usize >= plan.names.len() => {}
            (Name::Slot(slot), Some(value)) => initial.set(VarId(*slot), value),
            (Name::Named(name), Some(value)) => initial.set_named(&plan.names, name, value),
        }
    }
    for change in &changes.properties {
        shared.follow_java(change.version, change.name, change.value);
    }
    Ok(said.iter().map(to_line).collect())
}

/// Ends the test in Java, and waits a limited time for work that still runs there. Returns lines for the log.
pub(crate) fn end(offload: Arc<dyn Offload>) -> Vec<Line> {
    let (done, ended) = channel();
    let call = std::thread::Builder::new().name("java-end".into()).spawn(move || {
        let _ = done.send(offload.call(vec![Kind::End as u8]));
    });
    let reply = match call {
        Ok(_) => ended
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| Err(format!("it did not end within {} s", PATIENCE.as_secs()))),
        Err(error) => Err(error.to_string()),
    };
    match reply
        .and_then(|message| read_end_reply(&message).map(|said| said.iter().map(to_line).collect()))
    {
        Ok(said) => said,
        Err(failed) => {
            vec![format!("JVM, at the end of the test: {failed}").into()]
        }
    }
}

/// Reads the reply to the message that the test or a user has ended.
pub(super) fn read_end_reply(message: &[u8]) -> Result<Vec<LogLine<'_>>, Failed> {
    let mut reader = Reader::new(message);
    status(&mut reader)?;
    lines(&mut reader).map_err(|malformed| malformed.to_string())
}
