//! The load asked for: connections by kind, where they lead, how fast they are opened.
//!
//! Read from the plan by evaluating what can be evaluated before the first user: the groups' numbers
//! and the hosts and ports of samplers. A destination that depends on data of users is counted as
//! unknown. A user holds one WebSocket, and one connection to each HTTP destination of its group:
//! that is the most it holds at once.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use engine::Monitor;
use lang::java::parse_int;
use plan::env::{Env, Scratch, Who};
use plan::function::Shared;
use plan::http::{Destination, Target};
use plan::number::Setting;
use plan::plan::{ControllerKind, Group, LoopCount, Plan, SamplerKind};
use plan::state::{Memory, RunState};
use plan::template::Template;
use plan::vars::Vars;
use plan::websocket;
use serde::Serialize;

use crate::run::monitors::agents;

/// The resources that a run needs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Demand {
    pub(crate) users: u64,
    /// Connections held at once at most, by kind.
    pub(crate) websockets: u64,
    pub(crate) secure_websockets: u64,
    pub(crate) http: u64,
    pub(crate) https: u64,
    /// Host and port, each once.
    pub(crate) destinations: BTreeSet<String>,
    /// Samplers whose destination is known only while they run.
    pub(crate) unknown_destinations: u64,
    /// Groups of which only a run can tell how many users they have; none of theirs are counted.
    pub(crate) unknown_users: u64,
    /// Users whose group holds no connection that is known of.
    pub(crate) unconnected: u64,
    /// Processes that run users, if a number was requested.
    #[serde(skip)]
    pub(crate) workers: Option<u64>,
    /// Settings of groups that are not a number.
    #[serde(skip)]
    pub(crate) odd_numbers: Vec<String>,
    /// A destination is on this machine: both ends of its connections are here.
    pub(crate) local: bool,
    /// Addresses to connect from.
    pub(crate) sources: u64,
    /// Bytes of the largest message that the plan sends over a WebSocket, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<u64>,
    /// Connections opened per second, where the plan or a setting says it.
    pub(crate) per_second: Option<f64>,
    /// PerfMon agents of the plan's collectors, as far as they are known.
    #[serde(skip)]
    pub(crate) agents: Vec<watch::Host>,
}

/// Input beside the plan itself.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) properties: HashMap<String, String>,
    pub(crate) folder: PathBuf,
    /// Users in place of the plan's.
    pub(crate) users: Option<u64>,
    /// Users of each group at once, where a run has worked them out already.
    pub(crate) by_group: Option<Vec<u64>>,
    /// Addresses to connect from, in place of the property's.
    pub(crate) sources: Option<String>,
    /// Bytes of the largest message, in place of the plan's.
    pub(crate) message: Option<u64>,
}

impl Given {
    /// Number of addresses to connect from.
    fn count_sources(&self) -> Result<u64, String> {
        let property = self.properties.get("throng.source.addresses").map(String::as_str);
        let text = self.sources.as_deref().or(property).unwrap_or_default();
        Ok((engine::source_addresses(text)?.len() as u64).max(1))
    }

    fn connect_rate(&self) -> Option<f64> {
        let rate = self.properties.get("throng.connect.rate")?.trim().parse::<f64>().ok()?;
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }
}

/// The demand of so many plain WebSocket users without a plan.
pub(crate) fn without_plan(users: u64, given: &Given) -> Result<Demand, String> {
    Ok(Demand {
        users,
        websockets: users,
        sources: given.count_sources()?,
        message: given.message,
        per_second: given.connect_rate(),
        ..Demand::default()
    })
}

/// Looks at the numbers of a plan without running anything: those that are none.
pub(crate) fn odd_numbers(
    plan: &Plan,
    properties: HashMap<String, String>,
    folder: PathBuf,
) -> Vec<String> {
    let given = Given { properties, folder, ..Given::default() };
    of_plan(plan, &given).map(|demand| demand.odd_numbers).unwrap_or_default()
}

/// The demand of a plan.
pub(crate) fn of_plan(plan: &Plan, given: &Given) -> Result<Demand, String> {
    let sources = given.count_sources()?;
    let shared = Shared::inert(given.properties.clone(), given.folder.clone());
    let state = RunState::before(plan);
    let (mut texts, mut vars) = (Scratch::new(1), Vars::default());
    let (mut memory, mut notes) = (plan::function::Memory::default(), Memory::default());
    let who = Who {
        plan_file: &plan.file,
        prefix: "",
        group: "",
        tail: "",
        group_number: 0,
        user: 0,
        iteration: 1,
        sampler: "",
    };
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let mut env = Env {
        names: &plan.names,
        vars: &mut vars,
        who,
        memory: &mut memory,
        notes: &mut notes,
        run: &state,
        shared: &shared,
        core: &mut texts,
        clock: &now_ms,
    };
    plan.initial_variables(&mut env);
    let mut odd_numbers = Vec::new();
    let numbers = plan.groups.iter().map(|group| numbers(plan, group, &mut env, &mut odd_numbers));
    let mut numbers: Vec<_> = numbers.collect();
    for (numbers, users) in numbers.iter_mut().zip(given.by_group.iter().flatten()) {
        numbers.0 = Some(*users);
    }
    let unknown_users = numbers.iter().filter(|(users, _)| users.is_none()).count() as u64;
    let planned: u64 = numbers.iter().filter_map(|(users, _)| *users).sum();
    let mut demand = Demand { unknown_users, odd_numbers, sources, ..Demand::default() };
    let (mut per_second, mut at_once) = (0.0, false);
    for (group, (known, ramp_s)) in plan.groups.iter().zip(numbers) {
        // A group without users opens nothing.
        if known == Some(0) && planned > 0 {
            continue;
        }
        let users = share(known.unwrap_or(0), planned, given.users);
        let held = demand.add_group(plan, group, users, &mut env);
        at_once |= held > 0 && ramp_s <= 0;
        per_second += held as f64 / ramp_s.max(1) as f64;
    }
    demand.agents = agents(&monitors(plan, &mut env), &given.properties);
    demand.message = given.message.or(demand.message);
    demand.users = given.users.unwrap_or(planned);
    let by_plan = (per_second > 0.0 && !at_once).then_some(per_second);
    demand.per_second = match (given.connect_rate(), by_plan) {
        (Some(limit), Some(plan)) => Some(limit.min(plan)),
        (limit, plan) => limit.or(plan),
    };
    Ok(demand)
}

/// Users of a group: its share of those that are wanted in place of the plan's.
fn share(users: u64, planned: u64, wanted: Option<u64>) -> u64 {
    match wanted {
        Some(wanted) if planned > 0 => {
            (u128::from(users) * u128::from(wanted)).div_ceil(planned.into()) as u64
        }
        _ => users,
    }
}

/// Rows of the PerfMon collectors; those of hosts that only a run can tell are left out.
fn monitors(plan: &Plan, env: &mut Env<'_>) -> Vec<Monitor> {
    env.core.thrown = None;
    let mut known = |text: &Template| {
        let mut value = String::new();
        text.eval(env, &mut value);
        let known = env.core.thrown.take().is_none() && !value.contains("${");
        known.then(|| value.trim().to_owned())
    };
    let mut row = |[host, port, kind, parameters]: &[Template; 4]| {
        Some([known(host)?, known(port)?, known(kind)?, known(parameters)?])
    };
    let of = |one: &plan::element::PerfMon| Monitor {
        rows: one.rows.iter().filter_map(&mut row).collect(),
        file: None,
    };
    plan.monitors.iter().map(of).collect()
}

/// Users and ramp-up (seconds) of a group; `None` for users whose number only a run can tell. What is no number goes to `odd`.
fn numbers(
    plan: &Plan,
    group: &Group,
    env: &mut Env<'_>,
    odd: &mut Vec<String>,
) -> (Option<u64>, i64) {
    env.core.thrown = None;
    let passed_over = env.shared.passed_over();
    // The run says why a group without them does not start.
    let Ok(spans) = group.profile.spans(env, 0) else { return (Some(0), 0) };
    if let Some(spans) = spans {
        let ramp = spans.iter().map(|(start, _)| start / 1000).max();
        let at_once = group.profile.at_once(&spans);
        let bounds = group.profile.bounds(&spans, env);
        let users = bounds.map_or(at_once, |bounds| bounds.at_most(at_once));
        let known = env.shared.passed_over() == passed_over;
        return (known.then_some(users.into()), ramp.unwrap_or(0));
    }
    let mut known = |what: Setting, text: &Template| {
        let mut value = String::new();
        text.eval(env, &mut value);
        // What would have to be run for its value gives a reference.
        let known = env.core.thrown.take().is_none() && !value.contains("${");
        if known {
            let words = what.complaint(&value);
            odd.extend(words.map(|words| format!("{}: {words}", group.path)));
        }
        known.then_some(value)
    };
    let users = known(Setting::Threads, &group.users);
    let ramp = known(Setting::RampUp, &group.ramp_up);
    if let ControllerKind::Loop { count: LoopCount::Count(loops), .. } =
        &plan.controllers[group.main.0 as usize].kind
        && loops.fixed().is_none()
    {
        known(Setting::Loops, loops);
    }
    if group.scheduler {
        known(Setting::Delay, &group.delay);
        known(Setting::Duration, &group.duration);
    }
    let users = users.map(|value| parse_int(&value).unwrap_or(0).max(0) as u64);
    (users, ramp.and_then(|value| parse_int(&value)).unwrap_or(0).into())
}

impl Demand {
    pub(crate) fn connections(&self) -> u64 {
        [self.websockets, self.secure_websockets, self.http, self.https]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Sockets on this machine.
    pub(crate) fn sockets(&self) -> u64 {
        self.connections().saturating_mul(if self.local { 2 } else { 1 })
    }

    /// Connections with TLS.
    pub(crate) fn secure(&self) -> u64 {
        self.secure_websockets.saturating_add(self.https)
    }

    /// Notes the size of what a sampler sends; returns whether it opens a connection, and its destination in `call`.
    fn add_socket(
        &mut self,
        socket: &websocket::WebSocket,
        env: &mut Env<'_>,
        call: &mut websocket::Call,
    ) -> Option<bool> {
        self.message = self.message.max(socket.payload_bytes(env, call));
        socket.destination(env, call)
    }

    /// Adds what so many users of the group hold; returns how many connections that is.
    fn add_group(&mut self, plan: &Plan, group: &Group, users: u64, env: &mut Env<'_>) -> u64 {
        let mut call = websocket::Call::default();
        let (mut plain, mut secure) = (BTreeSet::new(), BTreeSet::new());
        let mut opens = None;
        for id in plan.samplers_of(group) {
            let (to, is_socket) = match &plan.samplers[id.0 as usize].kind {
                SamplerKind::Http(http) => match http.destination(env) {
                    Target::File => continue,
                    Target::Unknown => (None, false),
                    Target::Server(to) => (Some(to), false),
                },
                SamplerKind::WebSocket(socket) => match self.add_socket(socket, env, &mut call) {
                    Some(false) => continue,
                    None => (None, true),
                    Some(true) => {
                        let host = std::mem::take(&mut call.host);
                        let to = Destination { host, port: call.port, secure: call.secure };
                        (Some(to), true)
                    }
                },
                _ => continue,
            };
            let is_secure = to.as_ref().is_some_and(|to| to.secure);
            match to.filter(|to| !to.host.contains("${")) {
                Some(Destination { host, port, .. }) => {
                    let place = authority(&host, port);
                    self.local |= is_local(&host);
                    self.destinations.insert(place.clone());
                    if !is_socket {
                        if is_secure {
                            secure.insert(place)
                        } else {
                            plain.insert(place)
                        };
                    }
                }
                None => {
                    self.unknown_destinations += 1;
                    if !is_socket {
                        plain.insert(String::new());
                    }
                }
            }
            if is_socket {
                opens = Some(opens.unwrap_or(false) | is_secure);
            }
        }
        let socket = u64::from(opens.is_some());
        if opens.is_none() && plain.is_empty() && secure.is_empty() {
            self.unconnected = self.unconnected.saturating_add(users);
        }
        match opens {
            Some(true) => self.secure_websockets = self.secure_websockets.saturating_add(users),
            Some(false) => self.websockets = self.websockets.saturating_add(users),
            None => {}
        }
        self.http = self.http.saturating_add(users.saturating_mul(plain.len() as u64));
        self.https = self.https.saturating_add(users.saturating_mul(secure.len() as u64));
        users.saturating_mul(socket + plain.len() as u64 + secure.len() as u64)
    }
}

fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Whether the host is this machine, as far as its name says.
fn is_local(host: &str) -> bool {
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}
