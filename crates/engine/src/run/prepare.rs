//! Evaluation before any user starts: variables, the load of groups, the names of result files.
//!
//! The evaluation happens once, even if the run is distributed over several processes, which receive the values. So
//! a random number of users, or a variable that holds the time, is the same in all of them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use lang::java::{parse_int, parse_long};
use plan::element::{Bounds, key_selection};
use plan::env::{Env, Scratch, UserIdentity};
use plan::function::Shared;
use plan::java_backed::{TextId, Values};
use plan::load::Rate;
use plan::number::{OddNumber, Setting};
use plan::plan::{ControllerKind, Listener, ListenerKind, LoopCount, Plan};
use plan::state::{Memory, RunState};
use plan::vars::{Initial, VarId, Vars};
use stats::jtl::{Columns, unlike_columns, unlike_rows};

use crate::java::EarlyEvaluation;
use crate::reports::line::Line;
use crate::results::feed::BackendSettings;
use crate::results::output::Made;
use crate::results::rows::{self, ResultFile};
use crate::run::error::StartError;
use crate::run::evaluated::{Evaluated, Numbers, value};
use crate::run::monitors;
use crate::run::options::Options;
use crate::run::paces::Paces;
use crate::settings::Settings;
use crate::shared::group::GroupSettings;
use crate::shared::polling::Polls;
use crate::shared::savers::{SaverStart, place};
use crate::time::clock::{Clock, MS, Nanos, SECOND, Zero};

/// The variable that tells whether a user's last sample was successful. The variable starts as true for all users, so
/// that users without failures need no memory for it.
pub(crate) const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// Evaluates the expressions that a run needs before its start. Opens no file or connection and starts no thread.
pub fn evaluate(plan: &Plan, options: &Options) -> Evaluated {
    let (to_log, log) = channel();
    let shared = Shared::new(options.properties.clone(), options.base_dir.clone(), to_log);
    let clock = Clock::new(Zero::now());
    let state = RunState::before(plan);
    let mut texts = Scratch::new(options.seed);
    let (mut memory, mut notes) = (plan::function::Memory::default(), Memory::default());
    let who = UserIdentity {
        plan_file: &plan.file,
        prefix: "",
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
        clock: &clock,
    };
    let mut early = EarlyEvaluation::begin(plan, options.offload.as_deref(), options.facts());
    let initial = initial_variables(plan, early.as_mut(), &mut env);
    let mut complaints = early.map_or(Vec::new(), |early| early.complaints);
    let mut odd_numbers = Vec::new();
    let said = &mut (&mut complaints, &mut odd_numbers);
    let groups = 0..plan.groups.len();
    let groups = groups.map(|group| looping(plan, group, &mut env, options.seed, said)).collect();
    let listeners =
        plan.listeners.iter().map(|listener| evaluated_values(&listener.kind, &mut env)).collect();
    let monitors = monitors::evaluated_values(plan, &mut env);
    let property = |key: &str| shared.property(key).map(String::from);
    let (keys, keys_refused) = match key_selection(&plan.keystores, &mut env, property) {
        Ok(keys) => ((keys.first, keys.last, keys.variable), None),
        Err(problem) => (Default::default(), Some(problem)),
    };
    let java = plan.java_backed.at_start.iter();
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
        odd_numbers,
    }
}

/// Returns the initial variables of users, in the plan's order. Java evaluates the expressions that only Java can
/// evaluate.
fn initial_variables(
    plan: &Plan,
    mut early: Option<&mut EarlyEvaluation<'_>>,
    env: &mut Env<'_>,
) -> plan::vars::Initial {
    let mut initial = plan.initial_variables_after(env, |block, env| {
        let range = plan.java_backed.variables.get(block).copied().unwrap_or_default();
        let texts: Vec<_> = (0..range.count).map(|nth| TextId(range.first + nth)).collect();
        if let Some(early) = early.as_deref_mut() {
            // The Test Plan's own variables are evaluated first, when no variable exists yet.
            early.evaluate(&texts, env, block == 0 && plan.java_backed.begins_blank);
        }
    });
    if let Some(early) = early {
        early.evaluate(&plan.java_backed.at_start, env, false);
    }
    if let Some(variable) = plan.names.find(LAST_SAMPLE_OK) {
        initial.set(variable, "true");
    }
    initial
}

/// Returns the properties that were changed during evaluation.
fn changed_properties(shared: &Shared, options: &Options) -> Vec<(String, String)> {
    shared
        .properties()
        .into_iter()
        .filter(|(key, value)| options.properties.get(&**key).is_none_or(|held| **held != **value))
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

/// Creates the result files of a run of several processes, each with its header. [`close_results`] ends them.
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

/// Returns a warning for each existing result file whose header does not match the columns of the appended rows,
/// and for each file into which two listeners write different columns. Checks the result files of the command line
/// and of the plan's listeners.
pub fn unlike_results(plan: &Plan, options: &Options, evaluated: &Evaluated) -> Vec<String> {
    let settings = Settings::from_properties(|key| options.properties.get(key).cloned());
    let names: Vec<&str> = settings.results.sample_variables.iter().map(|name| &**name).collect();
    // Invalid settings of a listener are reported as an error when the run starts.
    let of_plan = listeners(plan, options, &evaluated.listeners).unwrap_or_default();
    let has_name = |listener: &Listener| match &listener.kind {
        ListenerKind::File(file) => file.file.fixed().is_some(),
        _ => false,
    };
    let of_plan = plan.listeners.iter().map(has_name).zip(of_plan);
    let of_plan = of_plan.filter_map(|(is_fixed, file)| Some((is_fixed, file?)));
    let of_line = roots(plan, &options.results).into_iter().map(|file| (true, file));
    let files: Vec<(bool, ResultFile)> = of_line.chain(of_plan).collect();
    let mut told: Vec<String> = Vec::new();
    for (at, (_, file)) in files.iter().enumerate() {
        let same = files[..at].iter().find(|(_, other)| other.path == file.path);
        let Some((_, other)) = same else { continue };
        if let Some(words) = unlike_columns(&other.columns, &file.columns, &names) {
            told.push(format!(
                "{}: two listeners write rows with different columns into it: {words}; give one of them another file",
                file.path.display()
            ));
        }
    }
    for (is_fixed, file) in files {
        let Some(words) = unlike_rows(&file.path, &file.columns, &names) else { continue };
        // `-f` does not delete a file whose name is an expression.
        let how = if is_fixed { " with -f" } else { "" };
        let shown = file.path.display();
        let words = format!(
            "{shown} already has rows, and {words}; name another file, or delete this one{how}"
        );
        if !told.contains(&words) {
            told.push(words);
        }
    }
    told
}

/// Ends the result files of a run of several processes, after all processes have ended. Returns messages about data
/// that was lost.
pub fn close_results(files: Vec<Made>) -> Vec<Line> {
    rows::close(files)
}

pub(crate) struct Prepared {
    pub(crate) groups: Vec<GroupSettings>,
    pub(crate) initial: Initial,
    pub(crate) state: RunState,
    /// For each listener: its result file, if it writes one.
    pub(crate) listeners: Vec<Option<ResultFile>>,
    pub(crate) savers: Vec<Option<SaverStart>>,
    pub(crate) backends: Vec<(usize, BackendSettings)>,
    pub(crate) complaints: Vec<Line>,
}

/// Builds the state that cores share from the evaluated plan.
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
    let prefix = crate::settings::thread_prefix(&options.properties);
    let groups = plan.groups.iter().zip(evaluated.groups).map(|(group, numbers)| GroupSettings {
        name: numbers.name,
        prefix: Arc::clone(&prefix),
        tail: if numbers.given { "" } else { group.profile.tail() },
        polls: numbers.replaces.then(Polls::new),
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
    let odd_numbers = evaluated.odd_numbers.into_iter().map(|odd| Line::from(odd.message));
    let complaints = evaluated.complaints.into_iter().chain(odd_numbers).collect();
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
        let mut columns = monitors::columns(&listener.name, file, options)?;
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

fn evaluated_values(kind: &ListenerKind, env: &mut Env<'_>) -> Vec<String> {
    match kind {
        ListenerKind::File(file) => vec![value(&file.file, env)],
        ListenerKind::Saver(saver) => {
            vec![value(&saver.digits, env), saver.prefix.known_start(env)]
        }
        ListenerKind::JavaBacked(_) => Vec::new(),
        ListenerKind::Backend(backend) => backend
            .parameters
            .iter()
            .flat_map(|(name, text)| [value(name, env), value(text, env)])
            .collect(),
    }
}

/// Returns the Backend Listeners with their parameters, by the index of the listener in the plan.
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

/// Returns the initial state of listeners that save responses, by the index of the listener in the plan.
fn savers(plan: &Plan, options: &Options, told: &[Vec<String>]) -> Vec<Option<SaverStart>> {
    let now = jiff::Timestamp::now().to_zoned(lang::zone::here());
    let get = |key: &str| options.properties.get(key).cloned();
    let (prefix, anywhere) =
        (crate::settings::base_prefix(get), crate::settings::may_save_anywhere(get));
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

/// Returns the result files that receive every sample, with the plan's settings applied.
pub(crate) fn roots(plan: &Plan, files: &[ResultFile]) -> Vec<ResultFile> {
    let mut files = files.to_vec();
    for file in &mut files {
        functional(plan, &mut file.columns);
    }
    files
}

/// Enables request and response data in XML documents, which JMeter's functional mode always writes.
fn functional(plan: &Plan, columns: &mut Columns) {
    columns.response_data |= plan.functional_mode;
    columns.sampler_data |= plan.functional_mode;
}

/// Messages about the plan's values, and settings of thread groups that are not numbers.
type Said<'a> = (&'a mut Vec<Line>, &'a mut Vec<OddNumber>);

/// Returns the load of a group, and whether its main loop is endless in the plan.
fn looping(
    plan: &Plan,
    group: usize,
    env: &mut Env<'_>,
    seed: u64,
    said: &mut Said<'_>,
) -> Numbers {
    let numbers = numbers(plan, group, env, seed, said);
    let main = plan.groups[group].main;
    let endless = match &plan.controllers[main.0 as usize].kind {
        ControllerKind::Loop { count: LoopCount::Forever, .. } => true,
        ControllerKind::Loop { count: LoopCount::Count(text), .. } => {
            text.known(env).is_some_and(|text| parse_int(&text) == Some(-1))
        }
        _ => false,
    };
    Numbers { endless, ..numbers }
}

fn numbers(
    plan: &Plan,
    number: usize,
    env: &mut Env<'_>,
    seed: u64,
    (complaints, odd_numbers): &mut Said<'_>,
) -> Numbers {
    let group = &plan.groups[number];
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
            course: group.profile.rates(env),
            replaces: group.profile.replaces(),
            ..Numbers::default()
        };
    }
    // As in JMeter, a value that is not a number counts as 0.
    let mut odd = |what: Setting, text: &str| {
        odd_numbers.extend(OddNumber::of(what, text, number, &group.path));
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
        if let Some(setting) = group.refused_time(delay_s, duration_s) {
            let time = if setting == Setting::Delay {
                format!("delay {delay_s}")
            } else {
                format!("duration {duration_s}")
            };
            // As in JMeter, the group does nothing and the other groups run.
            complaints.push(format!("Invalid {time} set in Thread Group:{name}").into());
            users = 0;
        }
        (delay, duration) = (seconds(delay_s.max(0)), Some(seconds(duration_s.max(0))));
    }
    let step = ramp_step(ramp, users);
    Numbers { name, users, step, delay, duration, at_once: users, ..Numbers::default() }
}

/// Time between the starts of two users, in nanoseconds, below which this time is not rounded to milliseconds.
const EXACT_BELOW: Nanos = 10 * MS;

/// Returns the time between the starts of two users, in nanoseconds. JMeter divides the ramp-up in single precision
/// and rounds to milliseconds. If rounding would change the rate by more than a twentieth, the step is exact.
/// Otherwise 100 000 users in 40 seconds would all start at once.
pub(crate) fn ramp_step(ramp_s: i64, users: u32) -> Nanos {
    let exact = seconds(ramp_s.max(0)) / Nanos::from(users.max(1));
    if exact < EXACT_BELOW {
        return exact;
    }
    let step = (ramp_s as f32 * 1000.0 / users.max(1) as f32).round();
    step as Nanos * MS
}

/// Converts seconds to the clock's nanoseconds.
pub(crate) fn seconds(s: i64) -> Nanos {
    s.saturating_mul(SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_jmeter_unless_they_would_vanish() {
        assert_eq!(ramp_step(10, 3), 3_333 * MS);
        assert_eq!(ramp_step(1, 60), 17 * MS);
        assert_eq!(ramp_step(60, 300_000), 200_000);
        assert_eq!(ramp_step(0, 5), 0);
        assert_eq!(ramp_step(-1, 5), 0);
    }
}
