//! What is evaluated once, before any user starts: variables, the groups' numbers, the names of result files.

use std::path::PathBuf;
use std::time::Instant;

use plan::element::{Memory, RunState};
use plan::env::{Env, Scratch, Who};
use plan::function::Shared;
use plan::plan::{Group, Plan};
use plan::text::Text;
use plan::vars::{Initial, Vars};
use stats::jtl::Columns;

use crate::clock::Clock;
use crate::group::GroupSettings;
use crate::rows::ResultFile;
use crate::run::{Options, StartError, ramp_step, seconds};

pub(crate) struct Prepared {
    pub(crate) groups: Vec<GroupSettings>,
    pub(crate) initial: Initial,
    pub(crate) state: RunState,
    pub(crate) listeners: Vec<ResultFile>,
    /// What the user should be told.
    pub(crate) complaints: Vec<String>,
}

/// The variable that says whether a user's last sample passed. All users start with it true, so that those whose
/// samples pass need no memory for it.
pub(crate) const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

pub(crate) fn prepare(
    plan: &Plan,
    options: &Options,
    shared: &Shared,
    zero: Instant,
) -> Result<Prepared, StartError> {
    let clock = Clock::new(zero);
    let state = RunState::new(plan, &options.base_dir);
    let mut texts = Scratch::new(options.seed);
    let mut memory = plan::function::Memory::default();
    let mut notes = Memory::default();
    let who = Who {
        plan_file: &plan.file,
        group: "",
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
        shared,
        core: &mut texts,
        now_ms: clock.wall_ms(clock.now()),
    };
    let mut initial = plan.initial_variables(&mut env);
    if let Some(variable) = plan.names.find(LAST_SAMPLE_OK) {
        initial.set(variable, "true");
    }
    let mut groups = Vec::new();
    let mut complaints = Vec::new();
    for group in &plan.groups {
        groups.push(settings(group, &mut env, &mut complaints));
    }
    let mut listeners = Vec::new();
    for listener in &plan.listeners {
        let path = evaluate(&listener.file, &mut env);
        let overrides =
            listener.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let columns = Columns::from_properties(|key| options.properties.get(key).cloned())
            .map_err(|error| StartError::Results(format!("{}: {error:?}", listener.name)))?
            .with_save_config(overrides);
        // Relative to the working folder, as JMeter has it; `~/` is the plan's folder.
        let path = match path.strip_prefix("~/") {
            Some(rest) => options.base_dir.join(rest),
            None => PathBuf::from(path),
        };
        listeners.push(ResultFile {
            path,
            columns,
            errors_only: listener.errors_only,
            successes_only: listener.successes_only,
        });
    }
    Ok(Prepared { groups, initial, state, listeners, complaints })
}

fn settings(group: &Group, env: &mut Env<'_>, complaints: &mut Vec<String>) -> GroupSettings {
    let name = evaluate(&group.name, env);
    let number =
        |text: &Text, env: &mut Env<'_>| evaluate(text, env).trim().parse::<i64>().unwrap_or(0);
    let mut users = number(&group.users, env).max(0) as u32;
    let ramp = number(&group.ramp_up, env);
    let (mut delay, mut duration) = (0, None);
    if group.scheduler {
        let delay_s = number(&group.delay, env);
        let duration_s = number(&group.duration, env);
        let invalid = if delay_s < 0 {
            Some(format!("Invalid delay {delay_s} set in Thread Group:{name}"))
        } else if duration_s <= 0 {
            Some(format!("Invalid duration {duration_s} set in Thread Group:{name}"))
        } else {
            None
        };
        if let Some(message) = invalid {
            // As in JMeter, the group does nothing and the others run.
            complaints.push(message);
            users = 0;
        }
        (delay, duration) = (seconds(delay_s.max(0)), Some(seconds(duration_s.max(0))));
    }
    GroupSettings {
        name,
        phase: group.phase,
        number: group.number,
        users,
        step: ramp_step(ramp, users),
        delay,
        duration,
        on_error: group.on_error,
    }
}

fn evaluate(text: &Text, env: &mut Env<'_>) -> String {
    let mut value = String::new();
    text.eval(env, &mut value);
    value
}
