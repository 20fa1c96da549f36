//! The load of a plan: number of connections by kind, their destinations, and their opening rate.
//!
//! The load is computed from everything that can be evaluated before the first user starts: the numbers of the
//! thread groups, and the hosts and ports of the samplers. A destination that depends on a user's data counts as
//! unknown. A user is assumed to hold one WebSocket and one connection to each HTTP destination of its group, which
//! is the largest number that it holds at the same time.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use engine::Monitor;
use lang::java::{parse_int, parse_long};
use plan::env::{Env, Scratch, UserIdentity};
use plan::function::Shared;
use plan::http::{Destination, Target};
use plan::number::{OddNumber, Setting};
use plan::plan::{ControllerKind, Group, LoopCount, Plan, SamplerKind};
use plan::state::{Memory, RunState};
use plan::template::Template;
use plan::vars::Vars;
use plan::websocket;
use serde::Serialize;

use crate::inputs::perfmon::agents;

/// The resources that a run needs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Demand {
    pub(crate) users: u64,
    /// Largest number of simultaneous WebSockets without TLS.
    pub(crate) websockets: u64,
    /// Largest number of simultaneous WebSockets with TLS.
    pub(crate) secure_websockets: u64,
    /// Largest number of simultaneous HTTP connections without TLS.
    pub(crate) http: u64,
    /// Largest number of simultaneous HTTP connections with TLS.
    pub(crate) https: u64,
    /// Destinations as host and port, without duplicates.
    pub(crate) destinations: BTreeSet<String>,
    /// Number of samplers whose destination is known only during the run.
    pub(crate) unknown_destinations: u64,
    /// Number of thread groups whose number of users is known only during the run. Their users are not counted.
    pub(crate) unknown_users: u64,
    /// Number of users in thread groups without any known connection.
    pub(crate) unconnected: u64,
    /// Number of processes that run users, if the user has set it.
    #[serde(skip)]
    pub(crate) workers: Option<u64>,
    /// Warnings about settings of thread groups that are not numbers.
    #[serde(skip)]
    pub(crate) odd_numbers: Vec<OddNumber>,
    /// True if a destination is on this machine. Then both ends of the connections use its resources.
    pub(crate) local: bool,
    /// Number of local addresses for outgoing connections.
    pub(crate) sources: u64,
    /// Size in bytes of the largest message that the plan sends over a WebSocket, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<u64>,
    /// Number of connections opened per second, if the plan or a setting defines it.
    pub(crate) per_second: Option<f64>,
    /// PerfMon agents of the plan's collectors, if they are known before the run.
    #[serde(skip)]
    pub(crate) agents: Vec<watch::Host>,
}

/// Data for computing the demand, in addition to the plan.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) properties: HashMap<String, String>,
    pub(crate) folder: PathBuf,
    /// Number of users that replaces the plan's number.
    pub(crate) users: Option<u64>,
    /// Simultaneous users of each thread group, if the plan was evaluated for its run or for a load that replaces the
    /// plan's.
    pub(crate) by_group: Option<Vec<u64>>,
    /// Local addresses that override `throng.source.addresses`.
    pub(crate) sources: Option<String>,
    /// Size of the largest message in bytes that overrides the plan's size.
    pub(crate) message: Option<u64>,
    /// Number of processes that run users, if the user has set it.
    pub(crate) workers: Option<u64>,
}

impl Given {
    /// Returns the number of local addresses for outgoing connections.
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

/// Returns the demand of plain WebSocket users without a plan.
pub(crate) fn without_plan(users: u64, given: &Given) -> Result<Demand, String> {
    Ok(Demand {
        users,
        websockets: users,
        sources: given.count_sources()?,
        message: given.message,
        per_second: given.connect_rate(),
        workers: given.workers,
        ..Demand::default()
    })
}

/// Returns the resources that a run of the plan needs. Does not run anything.
pub(crate) fn of_plan(plan: &Plan, given: &Given) -> Result<Demand, String> {
    let sources = given.count_sources()?;
    let shared = Shared::inert(given.properties.clone(), given.folder.clone());
    let state = RunState::before(plan);
    let (mut texts, mut vars) = (Scratch::new(1), Vars::default());
    let (mut memory, mut notes) = (plan::function::Memory::default(), Memory::default());
    let who = UserIdentity {
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
    let numbers =
        (0..plan.groups.len()).map(|group| numbers(plan, group, &mut env, &mut odd_numbers));
    let mut numbers: Vec<_> = numbers.collect();
    replace_users(&mut numbers, given);
    let unknown_users = numbers.iter().filter(|(users, _)| users.is_none()).count() as u64;
    let planned: u64 = numbers.iter().filter_map(|(users, _)| *users).sum();
    let workers = given.workers;
    let mut demand = Demand { unknown_users, workers, odd_numbers, sources, ..Demand::default() };
    let (mut per_second, mut at_once) = (0.0, false);
    for (group, (known, ramp_s)) in plan.groups.iter().zip(numbers) {
        // A thread group without users opens no connections.
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

/// Replaces the plan's numbers of users by those of the evaluated groups. Where no number is known, groups with an
/// unknown one get equal shares of the total that overrides the plan's number.
fn replace_users(numbers: &mut [(Option<u64>, i64)], given: &Given) {
    for (numbers, users) in numbers.iter_mut().zip(given.by_group.iter().flatten()) {
        numbers.0 = Some(*users);
    }
    if given.users.is_some() && numbers.iter().all(|(users, _)| users.unwrap_or(0) == 0) {
        for (users, _) in numbers {
            *users = users.or(Some(1));
        }
    }
}

/// Returns the number of users of a thread group: its share of the total that overrides the plan's number.
fn share(users: u64, planned: u64, wanted: Option<u64>) -> u64 {
    match wanted {
        Some(wanted) if planned > 0 => {
            (u128::from(users) * u128::from(wanted)).div_ceil(planned.into()) as u64
        }
        _ => users,
    }
}

/// Returns the rows of the plan's PerfMon collectors. Leaves out hosts that are known only during the run.
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

/// Returns the number of users and the ramp-up in seconds of a thread group. The number of users is `None` if it is
/// known only during the run. Adds warnings about settings that are not numbers to `odd`.
fn numbers(
    plan: &Plan,
    number: usize,
    env: &mut Env<'_>,
    odd: &mut Vec<OddNumber>,
) -> (Option<u64>, i64) {
    let group = &plan.groups[number];
    env.core.thrown = None;
    let passed_over = env.shared.passed_over();
    // The run reports why a thread group with a wrong schedule does not start.
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
        // A value that is only known in a running test remains a `${…}` reference.
        let known = env.core.thrown.take().is_none() && !value.contains("${");
        if known {
            odd.extend(OddNumber::of(what, &value, number, &group.path));
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
    let mut users = users.map(|value| parse_int(&value).unwrap_or(0).max(0) as u64);
    if group.scheduler {
        let mut seconds = |what: Setting, text: &Template| {
            known(what, text).map(|value| parse_long(&value).unwrap_or(0))
        };
        let times =
            (seconds(Setting::Delay, &group.delay), seconds(Setting::Duration, &group.duration));
        // A wrong time is reported by the run, which starts no user of the group.
        if let (Some(delay_s), Some(duration_s)) = times
            && group.refused_time(delay_s, duration_s).is_some()
        {
            users = Some(0);
        }
    }
    (users, ramp.and_then(|value| parse_int(&value)).unwrap_or(0).into())
}

impl Demand {
    pub(crate) fn connections(&self) -> u64 {
        [self.websockets, self.secure_websockets, self.http, self.https]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns the number of sockets that the connections use on this machine: two each if a destination is on this
    /// machine.
    pub(crate) fn sockets(&self) -> u64 {
        self.connections().saturating_mul(if self.local { 2 } else { 1 })
    }

    /// Returns the number of connections with TLS.
    pub(crate) fn secure(&self) -> u64 {
        self.secure_websockets.saturating_add(self.https)
    }

    /// Counts a sampler's message for the largest message. Returns true if the sampler opens a connection, whose
    /// destination is then in `call`; `None` if that is known only during the run.
    fn add_socket(
        &mut self,
        socket: &websocket::WebSocket,
        env: &mut Env<'_>,
        call: &mut websocket::Call,
    ) -> Option<bool> {
        self.message = self.message.max(socket.payload_bytes(env, call));
        socket.destination(env, call)
    }

    /// Adds the connections of `users` users of a thread group. Returns the number of these connections.
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

/// True if the host is `localhost`, a loopback address or the unspecified address. Other addresses of this machine are
/// not recognized.
fn is_local(host: &str) -> bool {
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}
