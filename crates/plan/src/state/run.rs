//! State that elements share between all users of a run. During samples, locks are taken in only two cases: for the
//! first use of a data file, and for the list of start times of a Precise Throughput Timer.
//!
//! If the run has several processes, [`Deal`] divides the state that users of all processes share.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Deal, Shard};
use crate::element::csv_data_set::{DealtFile, Sources};
use crate::element::precise_throughput_timer::Moments;
use crate::element::throughput_timer::Turns;
use crate::element::{counter, random_variable, throughput_controller, variable_throughput_timer};
use crate::java_backed::{TextId, Values};
use crate::plan::{ControllerId, ControllerKind, GroupId, OnIteration, Plan};

/// State that elements share between all users of a run.
#[derive(Debug, Default)]
pub struct RunState {
    pub(crate) csv: Sources,
    counters: Box<[counter::Shared]>,
    randoms: Box<[random_variable::JavaRandom]>,
    turns: Turns,
    /// Shared state of each Throughput Shaping Timer, by index of the timer.
    shaping: Box<[variable_throughput_timer::Shared]>,
    shard: Shard,
    /// Start of the run in milliseconds since 1970.
    started_ms: i64,
    groups: Box<[Group]>,
    /// Share of this process in the scheduled samples of Constant Throughput Timers that all groups share, computed
    /// from the number of users of the largest group.
    all: Deal,
    /// Share of this process in the lines of data files that all groups share, computed from the number of users of the
    /// largest group that reads data files.
    files: Deal,
    /// Share of this process in the numbers of each counter, computed from the largest group with the counter.
    counting: Box<[Deal]>,
    /// Share of this process in the numbers of each random variable, computed from the largest group with the variable.
    drawing: Box<[Deal]>,
    throughput: Box<[(throughput_controller::Shared, Deal)]>,
    /// Values of the templates that Java evaluates when the run starts.
    java: Values,
}

/// State that the users of one group share.
#[derive(Debug, Default)]
struct Group {
    active: AtomicU32,
    /// Number of users of the group that run in other processes.
    elsewhere: AtomicU32,
    turns: Turns,
    moments: Mutex<Option<Moments>>,
    deal: Deal,
}

fn many<T: Default>(count: usize) -> Box<[T]> {
    std::iter::repeat_with(T::default).take(count).collect()
}

impl RunState {
    /// Creates the state of a run that has not started. Data files with constant names are read now, so that no
    /// user waits for them; an error is reported by the first user that needs the file. `users` has the number of
    /// users of each group, in all processes.
    pub fn new(plan: &Plan, folder: &Path, shard: Shard, users: &[u32]) -> Self {
        let csv = Sources::new(folder);
        plan.csv.iter().for_each(|element| element.preload(&csv));
        let (mut files, mut all) = (0, 0);
        let mut counting = vec![0; plan.counters.len()];
        let mut drawing = vec![0; plan.randoms.len()];
        let mut throughput = vec![0; plan.throughput_controllers as usize];
        for (group, users) in users.iter().enumerate() {
            all = all.max(*users);
            for event in events(plan, group) {
                match event {
                    OnIteration::Csv(_) => files = files.max(*users),
                    OnIteration::Counter(at) => raise(&mut counting, *at, *users),
                    OnIteration::Random(at) => raise(&mut drawing, *at, *users),
                    OnIteration::UserParameters(_)
                    | OnIteration::Script(_)
                    | OnIteration::Redis(_) => {}
                    OnIteration::Controller(id) => {
                        if let ControllerKind::Throughput(controller) =
                            &plan.controllers[id.0 as usize].kind
                        {
                            raise(&mut throughput, controller.at, *users);
                        }
                    }
                }
            }
        }
        let deals = |most: Vec<u32>| most.into_iter().map(|users| shard.deal(users)).collect();
        Self {
            csv,
            counters: many(plan.counters.len()),
            randoms: many(plan.randoms.len()),
            turns: Turns::default(),
            shaping: many(plan.throughput_timers as usize),
            shard,
            started_ms: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as i64),
            groups: (0..plan.groups.len())
                .map(|at| Group {
                    deal: shard.deal(users.get(at).copied().unwrap_or(0)),
                    ..Group::default()
                })
                .collect(),
            all: shard.deal(all),
            files: shard.deal(files),
            counting: deals(counting),
            drawing: deals(drawing),
            throughput: throughput
                .into_iter()
                .map(|users| (throughput_controller::Shared::default(), shard.deal(users)))
                .collect(),
            java: Values::default(),
        }
    }

    /// Creates state for evaluations before any user starts. No data file is read.
    pub fn before(plan: &Plan) -> Self {
        Self { groups: many(plan.groups.len()), ..Self::default() }
    }

    /// Sets the values of templates that Java evaluated at the start
    /// ([`JavaBacked::at_start`](crate::java_backed::JavaBacked::at_start)).
    pub fn set_java(&mut self, values: Values) {
        self.java = values;
    }

    /// Returns the value of a template that Java evaluated at the start, valid for the whole run.
    pub(crate) fn java(&self, id: TextId) -> Option<&str> {
        self.java.get(id)
    }

    /// Counts a started user of a group.
    pub fn user_started(&self, group: GroupId) {
        if let Some(group) = self.groups.get(group.at()) {
            group.active.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts an ended user of a group.
    pub fn user_ended(&self, group: GroupId) {
        if let Some(group) = self.groups.get(group.at()) {
            let _ = group
                .active
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        }
    }

    /// Sets the number of users of a group that run in other processes.
    pub fn users_elsewhere(&self, group: GroupId, users: u32) {
        if let Some(group) = self.groups.get(group.at()) {
            group.elsewhere.store(users, Ordering::Relaxed);
        }
    }

    /// Returns the number of running users, in all processes.
    pub fn active(&self) -> u32 {
        self.groups.iter().map(Group::active).sum()
    }

    /// Returns the number of running users of a group, in all processes.
    pub fn active_in(&self, group: GroupId) -> u32 {
        self.groups.get(group.at()).map_or(0, Group::active)
    }

    /// Returns the counter that all users share, and this process's share of its numbers.
    pub(crate) fn counter(&self, at: usize) -> Option<(&counter::Shared, Deal)> {
        Some((self.counters.get(at)?, *self.counting.get(at)?))
    }

    /// Returns the random generator that all users share, and this process's share of its numbers.
    pub(crate) fn random(&self, at: usize) -> Option<(&random_variable::JavaRandom, Deal)> {
        Some((self.randoms.get(at)?, *self.drawing.get(at)?))
    }

    /// Returns the shared execution count of a Throughput Controller, and this process's share of it.
    pub(crate) fn throughput(&self, at: usize) -> Option<(&throughput_controller::Shared, Deal)> {
        self.throughput.get(at).map(|(shared, deal)| (shared, *deal))
    }

    /// Returns this process's share of the lines of a data file that users of all groups, or of one group, share.
    pub(crate) fn lines(&self, group: Option<GroupId>) -> Deal {
        match group {
            None => self.files,
            Some(group) => self.groups.get(group.at()).map_or(self.files, |group| group.deal),
        }
    }

    /// Returns the start of the run in milliseconds since 1970.
    pub(crate) fn started_ms(&self) -> i64 {
        self.started_ms
    }

    /// Returns the scheduled times of a group's Precise Throughput Timers, and this process's share of these times.
    pub(crate) fn moments(&self, group: GroupId) -> Option<(&Mutex<Option<Moments>>, Deal)> {
        self.groups.get(group.at()).map(|group| (&group.moments, group.deal))
    }

    /// Returns the shared state of a Throughput Shaping Timer, and this process's share of the run.
    pub(crate) fn shaping(
        &self,
        timer: u32,
    ) -> Option<(&variable_throughput_timer::Shared, Shard)> {
        self.shaping.get(timer as usize).map(|shared| (shared, self.shard))
    }

    /// Returns the schedule that Constant Throughput Timers of all users, or of the users of one group, share, and this
    /// process's share of the scheduled samples.
    pub(crate) fn turns(&self, group: Option<GroupId>) -> Option<(&Turns, Deal)> {
        match group {
            None => Some((&self.turns, self.all)),
            Some(group) => self.groups.get(group.at()).map(|group| (&group.turns, group.deal)),
        }
    }
}

impl Group {
    fn active(&self) -> u32 {
        let here = self.active.load(Ordering::Relaxed);
        here.saturating_add(self.elsewhere.load(Ordering::Relaxed))
    }
}

/// Returns the elements that act at each iteration of any controller in a group, such as data files and counters.
fn events(plan: &Plan, group: usize) -> impl Iterator<Item = &OnIteration> {
    let main = plan.groups[group].main;
    let inside = move |mut at: usize| loop {
        if ControllerId(at as u32) == main {
            return true;
        }
        match plan.controllers[at].parent {
            Some(parent) => at = parent.0 as usize,
            None => return false,
        }
    };
    let all = plan.controllers.iter().enumerate();
    all.filter(move |(at, _)| inside(*at)).flat_map(|(_, controller)| &controller.on_iteration)
}

/// Returns the names of the plan's data files, each with the division of its lines among the users of all
/// processes. The division is `None` if each user reads the file separately, or if the file's format is not
/// constant. `users` has the number of users of each group. The list is empty if the name of any data file is not
/// constant.
pub fn dealt_files(plan: &Plan, users: &[u32]) -> Vec<(String, Option<DealtFile>)> {
    let reads = |group: usize| {
        events(plan, group).filter_map(|event| match event {
            OnIteration::Csv(at) => plan.csv.get(*at as usize),
            _ => None,
        })
    };
    let groups = || (0..plan.groups.len()).zip(users.iter().copied());
    let readers = groups().filter(|(group, _)| reads(*group).next().is_some());
    let all = readers.map(|(_, users)| users).max().unwrap_or(0);
    let mut found = Vec::new();
    for (group, own) in groups() {
        for element in reads(group) {
            match element.dealt(GroupId(group as u32), all, own) {
                Ok(file) => found.push((file.file.clone(), Some(file))),
                Err(Some(name)) => found.push((name.to_owned(), None)),
                Err(None) => return Vec::new(),
            }
        }
    }
    found
}

fn raise(most: &mut [u32], at: u32, users: u32) {
    if let Some(most) = most.get_mut(at as usize) {
        *most = users.max(*most);
    }
}
