//! Evaluation once, before any user starts: variables, the groups' numbers, the names of result files.
//!
//! It happens in one place even where the run is spread over several processes, which get the values: a number of
//! users that is random, or a variable that holds the time, is the same in all of them.

use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::time::Instant;

use lang::java::{parse_int, parse_long};
use plan::element::{Bounds, KeySelection, Span, key_selection};
use plan::env::{Env, Scratch, Who};
use plan::function::Shared;
use plan::hosted::{TextId, Values};
use plan::load::Rate;
use plan::number::Setting;
use plan::plan::{Group, Listener, ListenerKind, Plan};
use plan::state::{Memory, RunState};
use plan::text::Text;
use plan::vars::{Initial, VarId, Vars};
use serde::{Deserialize, Serialize};
use stats::jtl::Columns;

use crate::java::Early;
use crate::reports::line::Line;
use crate::results::feed::BackendSettings;
use crate::results::output::Made;
use crate::results::rows::{self, ResultFile};
use crate::run::asked::Paces;
use crate::run::{Options, StartError, ramp_step, seconds};
use crate::settings::Settings;
use crate::shared::group::GroupSettings;
use crate::shared::polling::Looks;
use crate::shared::savers::{SaverStart, place};
use crate::time::clock::Clock;

/// Values that are known once the plan's texts have been evaluated for the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evaluated {
    pub(super) groups: Vec<Numbers>,
    /// Rates of the groups' timers.
    pub(super) paces: Vec<Paces>,
    /// Starting values of variables, by slot.
    variables: Vec<(u32, String)>,
    /// Values for the whole run of texts that Java has evaluated, by their numbers.
    java: Vec<(u32, String)>,
    /// Texts for the plan's listeners: a file name, digits of a number, or values of parameters.
    listeners: Vec<Vec<String>>,
    /// Texts for the plan's PerfMon collectors.
    pub(super) monitors: Vec<Vec<String>>,
    /// First and last key of the key store, and the variable that chooses one; or why not.
    keys: (i64, i64, String),
    keys_refused: Option<String>,
    /// Properties that evaluating has set.
    pub(crate) properties: Vec<(String, String)>,
    /// Complaints for the user.
    complaints: Vec<Line>,
}

/// The variable that says whether a user's last sample passed. All users start with it true, so that those whose
/// samples pass need no memory for it.
pub(crate) const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// Numbers of a group; times in nanoseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    pub(super) name: String,
    pub(super) users: u32,
    pub(super) step: i64,
    pub(super) delay: i64,
    pub(super) duration: Option<i64>,
    /// Of users with moments of their own, milliseconds.
    pub(super) spans: Option<Vec<Span>>,
    /// Bounds of arrivals, if the spans are such: users, arrivals, and the end.
    pub(super) arrivals: Option<(u32, u64, i64)>,
    /// Most users at once.
    pub(super) at_once: u32,
    /// Users that end before the group does are replaced.
    pub(super) replaces: bool,
    /// The load was given beside the plan.
    pub(super) given: bool,
    /// Arrivals come at this rate, not at the spans.
    pub(super) rate: Option<Vec<plan::load::Phase>>,
    /// Iterations of each user, in place of the plan's: -1 is without end.
    pub(super) loops: Option<i32>,
}

impl Evaluated {
    /// Number of users that the groups ask for at once, all together.
    pub fn users(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.at_once)).sum()
    }

    /// Number of users that each group of the plan asks for at once.
    pub fn at_once_by_group(&self) -> impl Iterator<Item = u64> + '_ {
        self.groups.iter().map(|group| u64::from(group.at_once))
    }

    /// Number of users of each group of the plan.
    pub fn users_by_group(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().map(|group| group.users)
    }

    /// The keys that the plan selects.
    pub(crate) fn keys(&self) -> Result<KeySelection, StartError> {
        if let Some(problem) = &self.keys_refused {
            return Err(StartError::Setting(problem.clone()));
        }
        let (first, last, variable) = self.keys.clone();
        Ok(KeySelection { first, last, variable })
    }

    /// Complaints that the user should be told; nobody else tells them then.
    pub fn take_complaints(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.complaints)
    }
}

/// Evaluates what a run of the plan starts with. Nothing is opened or started.
pub fn evaluate(plan: &Plan, options: &Options) -> Evaluated {
    let (to_log, log) = channel();
    let shared = Shared::new(options.properties.clone(), options.base_dir.clone(), to_log);
    let clock = Clock::new(Instant::now());
    let state = RunState::before(plan);
    let mut texts = Scratch::new(options.seed);
    let mut memory = plan::function::Memory::default();
    let mut notes = Memory::default();
    let who = Who {
        plan_file: &plan.file,
        group: "",
        tail: "",
        group_number: 0,
        user: 0,
        iteration: 0,
        sampler: "",
    };
    let mut first = Vars::default();
    let mut env = Env {
        names: &plan.names,
        vars: &mut first,
        who,
        memory: &mut memory,
        notes: &mut notes,
        run: &state,
        shared: &shared,
        core: &mut texts,
        now_ms: clock.wall_ms(clock.now()),
    };
    let mut early = Early::begin(plan, options.offload.as_deref(), options.facts());
    let initial = initial_variables(plan, early.as_mut(), &mut env);
    let mut complaints = early.map_or(Vec::new(), |early| early.complaints);
    let groups = plan.groups.iter();
    let groups =
        groups.map(|group| numbers(group, &mut env, options.seed, &mut complaints)).collect();
    let listeners = plan.listeners.iter().map(|listener| told(&listener.kind, &mut env)).collect();
    let monitors = super::monitors::told(plan, &mut env);
    let property = |key: &str| shared.property(key).map(String::from);
    let (keys, keys_refused) = match key_selection(&plan.keystores, &mut env, property) {
        Ok(keys) => ((keys.first, keys.last, keys.variable), None),
        Err(problem) => (Default::default(), Some(problem)),
    };
    let java = plan.hosted.at_start.iter();
    let java = java.filter_map(|id| Some((id.0, env.notes.java()?.get(*id)?.to_owned()))).collect();
    let variables = initial.iter().map(|(id, value)| (id.0, value.to_string())).collect();
    complaints.extend(log.try_iter().map(Line::from));
    Evaluated {
        groups,
        paces: plan.groups.iter().map(|group| Paces::of(plan, group, &mut env)).collect(),
        variables,
        java,
        listeners,
        monitors,
        keys,
        keys_refused,
        properties: changed_properties(&shared, options),
        complaints,
    }
}

/// The variables that users start with, in the plan's order; what Java must say is asked of it.
fn initial_variables(
    plan: &Plan,
    mut early: Option<&mut Early<'_>>,
    env: &mut Env<'_>,
) -> plan::vars::Initial {
    let mut initial = plan.initial_variables_after(env, |block, env| {
        let range = plan.hosted.variables.get(block).copied().unwrap_or_default();
        let texts: Vec<_> = (0..range.count).map(|nth| TextId(range.first + nth)).collect();
        if let Some(early) = early.as_deref_mut() {
            // The Test Plan's own come first, before anything is there.
            early.evaluate(&texts, env, block == 0 && plan.hosted.begins_blank);
        }
    });
    if let Some(early) = early {
        early.evaluate(&plan.hosted.at_start, env, false);
    }
    if let Some(variable) = plan.names.find(LAST_SAMPLE_OK) {
        initial.set(variable, "true");
    }
    initial
}

/// The properties that are not as they were given.
fn changed_properties(shared: &Shared, options: &Options) -> Vec<(String, String)> {
    shared
        .properties()
        .into_iter()
        .filter(|(key, value)| options.properties.get(&**key).is_none_or(|held| **held != **value))
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

/// Makes the result files of a run of several processes, each with its header. They are ended by [`close_results`].
pub fn create_results(
    plan: &Plan,
    options: &Options,
    evaluated: &Evaluated,
) -> Result<Vec<Made>, StartError> {
    let settings = Settings::from_properties(|key| options.properties.get(key).cloned());
    if let Some(complaint) = settings.complaint {
        return Err(StartError::Setting(complaint));
    }
    let mut files = roots(plan, &options.results);
    files.extend(listeners(plan, options, &evaluated.listeners)?.into_iter().flatten());
    rows::create(&files, &settings.results.sample_variables)
        .map_err(|error| StartError::Results(error.to_string()))
}

/// Ends the result files of a run of several processes, when all of these have ended. Returns what was lost, in words.
pub fn close_results(files: Vec<Made>) -> Vec<Line> {
    rows::close(files)
}

pub(crate) struct Prepared {
    pub(crate) groups: Vec<GroupSettings>,
    pub(crate) initial: Initial,
    pub(crate) state: RunState,
    /// The result file of each listener that has one.
    pub(crate) listeners: Vec<Option<ResultFile>>,
    pub(crate) savers: Vec<Option<SaverStart>>,
    pub(crate) backends: Vec<(usize, BackendSettings)>,
    pub(crate) complaints: Vec<Line>,
}

/// Makes what the cores share of what was evaluated.
pub(crate) fn prepare(
    plan: &Plan,
    options: &Options,
    evaluated: Evaluated,
) -> Result<Prepared, StartError> {
    let users: Vec<u32> = evaluated.users_by_group().collect();
    let mut state = RunState::new(plan, &options.base_dir, options.shard, &users);
    let mut java = Values::default();
    for (id, value) in &evaluated.java {
        java.set(TextId(*id), value.clone());
    }
    state.set_java(java);
    let mut initial = Initial::default();
    for (slot, value) in &evaluated.variables {
        initial.set(VarId(*slot), value);
    }
    let told = &evaluated.listeners;
    let listeners = listeners(plan, options, told)?;
    let savers = savers(plan, options, told);
    let backends = backends(plan, &evaluated);
    let groups = plan.groups.iter().zip(evaluated.groups).map(|(group, numbers)| GroupSettings {
        name: numbers.name,
        tail: if numbers.given { "" } else { group.profile.tail() },
        looks: numbers.replaces.then(Looks::new),
        rate: numbers.rate.map(|phases| Rate::new(phases).into()),
        loops: numbers.loops,
        arrivals: numbers.arrivals.map(|(users, arrivals, end)| Bounds { users, arrivals, end }),
        number: group.number,
        users: numbers.users,
        step: numbers.step,
        delay: numbers.delay,
        duration: numbers.duration,
        spans: numbers.spans.map(Into::into),
        on_error: group.on_error,
    });
    let groups = groups.collect();
    let complaints = evaluated.complaints;
    Ok(Prepared { groups, initial, state, listeners, savers, backends, complaints })
}

fn listeners(
    plan: &Plan,
    options: &Options,
    told: &[Vec<String>],
) -> Result<Vec<Option<ResultFile>>, StartError> {
    let prefix = crate::settings::base_prefix(|key| options.properties.get(key).cloned());
    let mut files = Vec::new();
    for (listener, told) in plan.listeners.iter().zip(told) {
        let (ListenerKind::File(file), [path]) = (&listener.kind, &told[..]) else {
            files.push(None);
            continue;
        };
        let mut columns = super::monitors::columns(&listener.name, file, options)?;
        functional(plan, &mut columns);
        files.push(Some(ResultFile {
            path: place(path, &prefix, &options.base_dir),
            columns,
            errors_only: file.errors_only,
            successes_only: file.successes_only,
        }));
    }
    Ok(files)
}

fn told(kind: &ListenerKind, env: &mut Env<'_>) -> Vec<String> {
    match kind {
        ListenerKind::File(file) => vec![value(&file.file, env)],
        ListenerKind::Saver(saver) => {
            vec![value(&saver.digits, env), saver.prefix.known_start(env)]
        }
        ListenerKind::Hosted(_) => Vec::new(),
        ListenerKind::Backend(backend) => backend
            .parameters
            .iter()
            .flat_map(|(name, text)| [value(name, env), value(text, env)])
            .collect(),
    }
}

/// Backend Listeners with their parameters, by the place of the listener in the plan.
pub(crate) fn backends(plan: &Plan, evaluated: &Evaluated) -> Vec<(usize, BackendSettings)> {
    let told = &evaluated.listeners;
    let with = |(at, (listener, told)): (usize, (&Listener, &Vec<String>))| {
        let ListenerKind::Backend(backend) = &listener.kind else { return None };
        let parameters = told.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        let settings = BackendSettings {
            name: listener.name.clone(),
            kind: backend.client,
            parameters: parameters.collect(),
        };
        Some((at, settings))
    };
    plan.listeners.iter().zip(told).enumerate().filter_map(with).collect()
}

/// The state of savers of responses at the start, by the place of the listener in the plan.
fn savers(plan: &Plan, options: &Options, told: &[Vec<String>]) -> Vec<Option<SaverStart>> {
    let now = jiff::Timestamp::now().to_zoned(lang::zone::here());
    let get = |key: &str| options.properties.get(key).cloned();
    let (prefix, anywhere) = (crate::settings::base_prefix(get), crate::settings::anywhere(get));
    let with = |(listener, told): (&Listener, &Vec<String>)| {
        let ListenerKind::Saver(saver) = &listener.kind else { return None };
        Some(SaverStart {
            stamp: if saver.stamped {
                now.strftime("%Y%m%d-%H%M_").to_string()
            } else {
                String::new()
            },
            digits: told.first().and_then(|text| text.trim().parse().ok()).unwrap_or(0).min(64),
            numbers: AtomicU64::new(0),
            root: (!anywhere).then(|| {
                let start = told.get(1).map_or("", String::as_str);
                plan::root::Root::of(&place(start, &prefix, &options.base_dir))
            }),
        })
    };
    plan.listeners.iter().zip(told).map(with).collect()
}

/// Result files that get every sample, as the plan wants them.
pub(crate) fn roots(plan: &Plan, files: &[ResultFile]) -> Vec<ResultFile> {
    let mut files = files.to_vec();
    for file in &mut files {
        functional(plan, &mut file.columns);
    }
    files
}

/// In functional mode documents hold what was sent and received, whatever else is set.
fn functional(plan: &Plan, columns: &mut Columns) {
    columns.response_data |= plan.functional_mode;
    columns.sampler_data |= plan.functional_mode;
}

fn numbers(group: &Group, env: &mut Env<'_>, seed: u64, complaints: &mut Vec<Line>) -> Numbers {
    let name = value(&group.name, env);
    let spans = group.profile.spans(env, seed).unwrap_or_else(|problem| {
        complaints.push(format!("Thread Group:{name} does not start: {problem}").into());
        Some(Vec::new())
    });
    if let Some(spans) = spans {
        let bounds = group.profile.bounds(&spans, env);
        let at_once = group.profile.at_once(&spans);
        return Numbers {
            name,
            users: spans.len() as u32,
            at_once: bounds.map_or(at_once, |bounds| bounds.at_most(at_once)),
            arrivals: bounds.map(|bounds| (bounds.users, bounds.arrivals, bounds.end)),
            spans: Some(spans),
            replaces: group.profile.replaces(),
            ..Numbers::default()
        };
    }
    // As in JMeter, what is no number counts as 0.
    let mut odd = |what: Setting, text: &str| {
        let complaint = what.complaint(text);
        complaints.extend(complaint.map(|words| format!("{}: {words}", group.path).into()));
    };
    let text = value(&group.users, env);
    odd(Setting::Threads, &text);
    let mut users = parse_int(&text).unwrap_or(0).max(0) as u32;
    let text = value(&group.ramp_up, env);
    odd(Setting::RampUp, &text);
    let ramp = parse_int(&text).unwrap_or(0).into();
    let (mut delay, mut duration) = (0, None);
    if group.scheduler {
        let text = value(&group.delay, env);
        odd(Setting::Delay, &text);
        let delay_s = parse_long(&text).unwrap_or(0);
        let text = value(&group.duration, env);
        odd(Setting::Duration, &text);
        let duration_s = parse_long(&text).unwrap_or(0);
        // Where threads are made when they start, nobody looks whether the delay is one.
        let invalid = if delay_s < 0 && !group.delayed_start {
            Some(format!("Invalid delay {delay_s} set in Thread Group:{name}"))
        } else if duration_s <= 0 {
            Some(format!("Invalid duration {duration_s} set in Thread Group:{name}"))
        } else {
            None
        };
        if let Some(message) = invalid {
            // As in JMeter, the group does nothing and the others run.
            complaints.push(message.into());
            users = 0;
        }
        (delay, duration) = (seconds(delay_s.max(0)), Some(seconds(duration_s.max(0))));
    }
    let step = ramp_step(ramp, users);
    Numbers { name, users, step, delay, duration, at_once: users, ..Numbers::default() }
}

pub(super) fn value(text: &Text, env: &mut Env<'_>) -> String {
    let mut value = String::new();
    text.eval(env, &mut value);
    value
}
