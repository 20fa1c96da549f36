//! Constant Throughput Timer: keeps a number of samples per minute, for each user or for all users together.
//!
//! JMeter rounds the interval to whole milliseconds, which distorts high rates: 40 000 per minute become 30 000 or
//! 60 000. By default Throng computes intervals in nanoseconds, so that the actual rate is the requested one. A
//! user that is behind schedule does not catch up: its next interval starts now.

use std::sync::atomic::{AtomicI64, Ordering};

use jmx::ElementId;

use super::pace::{Pace, RateScope};
use crate::compile::Context;
use crate::env::Env;
use crate::state::Deal;
use crate::template::Template;

/// A compiled Constant Throughput Timer.
#[derive(Debug)]
pub struct ThroughputTimer {
    /// Index of the timer among the throughput timers of the plan; identifies its shared state.
    pub(crate) at: u32,
    /// Samples per minute.
    throughput: Template,
    mode: Mode,
    /// True if intervals are rounded to whole milliseconds, as in JMeter.
    rounded: bool,
}

/// The calculation mode: the users that share the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Each user has the full rate.
    User,
    /// All users of the run. Each user waits in proportion to their number.
    All,
    /// The users of the group. Each user waits in proportion to their number.
    Group,
    /// All users share one schedule.
    AllShared,
    /// All users of the group share one schedule.
    GroupShared,
}

const MODES: [Mode; 5] = [Mode::User, Mode::All, Mode::Group, Mode::AllShared, Mode::GroupShared];

/// Time at which the last sample of a shared schedule was due, in nanoseconds since 1970; 0 before the first
/// sample.
#[derive(Debug, Default)]
pub(crate) struct Turns(AtomicI64);

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId, at: u32) -> ThroughputTimer {
    // The mode is saved as a number, or as its display name in one of JMeter's languages.
    let source = ctx.props(id).str("calcMode").unwrap_or("0");
    let number = source.parse::<usize>().ok().or_else(|| words(source)).unwrap_or(0);
    let mode = MODES.get(number).copied().unwrap_or_else(|| {
        let message = format!("unknown calculation mode {number}");
        ctx.warn(id, "unknown-mode", message, "each user keeps the rate on its own");
        Mode::User
    });
    let name = if ctx.props(id).get("throughput").is_some() {
        "throughput"
    } else {
        "ConstantThroughputTimer.throughput"
    };
    let rounded = ctx.settings.is("throng.throughput_timer.rounded", false);
    ThroughputTimer { at, throughput: ctx.prop(id, name), mode, rounded }
}

/// Display strings of the modes in JMeter's languages.
const WORDS: [&[&str]; 5] = [
    &[
        "this thread only",
        "Nur dieser Thread",
        "sadece bu iş parçacığı",
        "cette unité seulement",
        "현 쓰레드만",
        "solamente este hilo",
        "只有此线程",
        "este usuário virtual (thread) somente",
    ],
    &[
        "all active threads",
        "Alle aktiven Threads",
        "bütün aktif iş parçacıkları",
        "toutes les unités actives",
        "모든 활성화된 쓰레드들",
        "todos los hilos activos",
        "所有活动线程",
        "todos usuários virtuais (threads) ativos",
    ],
    &[
        "all active threads in current thread group",
        "Alle aktiven Threads in der aktuellen Thread-Gruppe",
        "bu iş parçacığı grubundaki tüm aktif iş parçacıkları",
        "toutes les unités actives dans le groupe d'unités courant",
        "현 쓰레드 그룹 내의 모든 활성화된 쓰레드들",
        "todos los hilos activos en el grupo de hilos actual",
        "当前线程组中的所有活动线程",
        "todos usuários virtuais ativos no grupo de usuários corrente",
    ],
    &[
        "all active threads (shared)",
        "Alle aktiven Threads (Gemeinsam)",
        "tüm iş parçacıkları (paylaşımlı)",
        "toutes les unités actives (partagé)",
        "모드 활성화된 쓰레드들 (공유)",
        "所有活动线程（共享）",
        "todos usuários virtuais ativos (compartilhado)",
    ],
    &[
        "all active threads in current thread group (shared)",
        "Alle aktiven Threads in der aktuellen Thread-Gruppe (gemeinsam)",
        "bu iş paçacığı grubundaki tüm aktif iş parçacıkları (paylaşımlı)",
        "toutes les unités actives dans le groupe d'unités courant (partagé)",
        "현 쓰레드 그룹 내의 모든 활성화된 쓰레드들 (공유)",
        "当前线程组中的所有活动线程（共享）",
        "todos usuários virtuais no grupo de usuários atual (compartillhado)",
    ],
];

fn words(source: &str) -> Option<usize> {
    WORDS.iter().position(|words| words.contains(&source))
}

impl ThroughputTimer {
    /// Returns the rate that the timer keeps; `None` if it is unknown before samples run.
    pub(super) fn pace(&self, env: &mut Env<'_>) -> Option<Pace> {
        let of = match self.mode {
            Mode::User => RateScope::User,
            Mode::All => RateScope::All,
            Mode::Group | Mode::GroupShared => RateScope::Group,
            Mode::AllShared => RateScope::Shared(None),
        };
        // Rounding to whole milliseconds distorts the rate by up to a third.
        let per_second = self.throughput.known(env)?.trim().parse::<f64>().ok()? / 60.0;
        (!self.rounded).then(|| Pace { per_second, schedule: Vec::new(), of })
    }

    /// Returns the time in nanoseconds for which the user waits before its next sample.
    pub(crate) fn delay(&self, env: &mut Env<'_>) -> i64 {
        const MINUTE: f64 = 60e9;
        let interval = MINUTE / self.throughput.double(env);
        if self.rounded {
            return self.rounded_delay(interval / 1e6, env).saturating_mul(1_000_000);
        }
        let now = env.run_ms().saturating_mul(1_000_000);
        let times = match self.mode {
            Mode::User => 1,
            Mode::All => env.run.active(),
            Mode::Group => env.run.active_in(env.notes.group()),
            Mode::AllShared | Mode::GroupShared => {
                let group = (self.mode == Mode::GroupShared).then(|| env.notes.group());
                return env
                    .run
                    .turns(group)
                    .map_or(0, |(turns, deal)| turns.take(now, interval, deal));
            }
        };
        let previous = env.notes.previous(self.at as usize);
        // A throughput of 0 means an infinite interval; the cast saturates at the largest number.
        let target = previous.saturating_add((f64::from(times) * interval) as i64);
        if now > target {
            *previous = now;
            return 0;
        }
        *previous = target;
        target - now
    }
}

impl ThroughputTimer {
    /// Returns the delay in milliseconds, rounded as in JMeter. `interval` is the time per sample in milliseconds. In
    /// the shared modes, this time is counted from the last sample of any user.
    fn rounded_delay(&self, interval: f64, env: &mut Env<'_>) -> i64 {
        let round = |ms: f64| (ms + 0.5).floor() as i64;
        let now = env.run_ms();
        let shared = |group: Option<crate::plan::GroupId>| {
            let (turns, deal) = env.run.turns(group)?;
            let next = |last: i64| now.max(last.saturating_add(round(interval * deal.spacing())));
            let update = |last: i64| Some(next(last));
            let last = turns.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
            let (Ok(last) | Err(last)) = last;
            Some(next(last) - now)
        };
        let delay = match self.mode {
            Mode::User => round(interval),
            Mode::All => round(f64::from(env.run.active()) * interval),
            Mode::Group => round(f64::from(env.run.active_in(env.notes.group())) * interval),
            Mode::AllShared => shared(None).unwrap_or(0),
            Mode::GroupShared => shared(Some(env.notes.group())).unwrap_or(0),
        };
        let previous = env.notes.previous(self.at as usize);
        let target = previous.saturating_add(delay);
        *previous = now.max(target);
        *previous - now
    }
}

impl Turns {
    /// Returns the time in nanoseconds until the next scheduled sample of this process. Each process keeps the part of
    /// the rate that belongs to its users. The first sample of each process is scheduled one interval after the first
    /// sample of the previous process.
    fn take(&self, now: i64, interval: f64, deal: Deal) -> i64 {
        let own = (interval * deal.spacing()) as i64;
        let first = (interval * deal.first()) as i64;
        let due = |last: i64| match last {
            0 => now.saturating_add(first),
            last => now.max(last.saturating_add(own)),
        };
        let (Ok(last) | Err(last)) =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(due(last)));
        due(last) - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Shard;

    #[test]
    fn turns_keep_the_exact_rate() {
        let turns = Turns::default();
        let interval = 60e9 / 40_000.0;
        let (now, all) = (1_000_000_000, Deal::default());
        let delays: Vec<_> = (0..5).map(|_| turns.take(now, interval, all)).collect();
        assert_eq!(delays, [0, 1_500_000, 3_000_000, 4_500_000, 6_000_000]);
        // A late user does not catch up.
        assert_eq!(turns.take(now + 20_000_000, interval, all), 0);
    }

    #[test]
    fn processes_share_the_rate_and_take_turns() {
        let mut due = Vec::new();
        for index in 0..2 {
            let turns = Turns::default();
            due.extend(
                (0..3).map(|_| turns.take(5_000, 1_000.0, Shard { index, count: 2 }.deal(4))),
            );
        }
        due.sort_unstable();
        assert_eq!(due, [0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    }

    #[test]
    fn modes_are_read_in_all_languages() {
        assert_eq!(words("todos usuários virtuais ativos (compartilhado)"), Some(3));
        assert_eq!(words("no mode"), None);
    }
}
