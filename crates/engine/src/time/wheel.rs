//! Timers of one core: a hierarchical wheel whose links are embedded in the waiting objects.
//!
//! The wheel has five levels of 64 slots, and four ticks per millisecond. Insertion, removal and expiry cost a few
//! memory accesses each and no allocation, whatever the number of timers. A timer fires at the first call of `expire`
//! after its deadline, never before it.

use crate::time::clock::{MS, Nanos};

const NONE: u32 = u32::MAX;
const LEVELS: usize = 5;
const SLOTS: usize = 64;
/// Length of a tick in nanoseconds, and the maximum delay that the wheel adds to a timer. With shorter ticks, the
/// core would wake up separately for almost every timer.
const TICK: Nanos = MS / 4;

/// Links of a waiting object to its neighbours in the wheel, embedded in the object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    next: u32,
    prev: u32,
    /// Level and slot, or `NONE` when not in the wheel.
    place: u32,
    /// Time at which the timer fires.
    pub(crate) deadline: Nanos,
}

impl Default for Links {
    fn default() -> Self {
        Self { next: NONE, prev: NONE, place: NONE, deadline: 0 }
    }
}

impl Links {
    /// Returns true if the timer is in the wheel.
    pub(crate) fn armed(&self) -> bool {
        self.place != NONE
    }
}

/// Access to the links of all waiting objects.
pub(crate) trait Waiting {
    /// Index of a waiting object.
    type Id: Copy + From<u32> + Into<u32>;

    fn links(&mut self, id: Self::Id) -> &mut Links;
}

fn links<W: Waiting>(all: &mut W, at: u32) -> &mut Links {
    all.links(at.into())
}

#[derive(Debug)]
pub(crate) struct Wheel {
    heads: [[u32; SLOTS]; LEVELS],
    occupied: [u64; LEVELS],
    /// The tick up to which all timers have expired.
    tick: i64,
    armed: usize,
}

impl Wheel {
    pub(crate) fn new(now: Nanos) -> Self {
        Self { heads: [[NONE; SLOTS]; LEVELS], occupied: [0; LEVELS], tick: now / TICK, armed: 0 }
    }

    /// Inserts a timer that fires at `deadline`. A timer that is in the wheel is moved.
    pub(crate) fn insert<W: Waiting>(&mut self, id: W::Id, deadline: Nanos, all: &mut W) {
        let index = id.into();
        if links(all, index).armed() {
            self.remove(id, all);
        }
        links(all, index).deadline = deadline;
        self.place(index, all);
        self.armed += 1;
    }

    /// Removes a timer if it is in the wheel.
    pub(crate) fn remove<W: Waiting>(&mut self, id: W::Id, all: &mut W) {
        let index = id.into();
        let own = *links(all, index);
        if !own.armed() {
            return;
        }
        let (level, slot) = (own.place as usize / SLOTS, own.place as usize % SLOTS);
        if own.prev == NONE {
            self.heads[level][slot] = own.next;
            if own.next == NONE {
                self.occupied[level] &= !(1 << slot);
            }
        } else {
            links(all, own.prev).next = own.next;
        }
        if own.next != NONE {
            links(all, own.next).prev = own.prev;
        }
        links(all, index).place = NONE;
        self.armed -= 1;
    }

    /// Moves all timers that are due at `now` to `due`.
    pub(crate) fn expire<W: Waiting>(&mut self, now: Nanos, all: &mut W, due: &mut Vec<W::Id>) {
        let target = now / TICK;
        if self.armed == 0 {
            self.tick = self.tick.max(target);
            return;
        }
        while self.tick < target {
            // If the lowest level is empty, ticks are skipped up to the next slot of a higher level.
            if self.occupied[0] == 0 {
                let turn = (self.tick | (SLOTS as i64 - 1)) + 1;
                self.tick = turn.min(target);
            } else {
                self.tick += 1;
            }
            if self.tick % SLOTS as i64 == 0 {
                self.cascade(all);
            }
            self.drain(0, (self.tick % SLOTS as i64) as usize, all, |wheel, all, index| {
                if links(all, index).deadline <= now {
                    due.push(index.into());
                } else {
                    wheel.place(index, all);
                    wheel.armed += 1;
                }
            });
        }
    }

    /// Returns the time at which `expire` must be called next; `None` if the wheel is empty.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        if self.armed == 0 {
            return None;
        }
        let mut span = 1;
        for occupied in self.occupied {
            let turn = self.tick / span;
            if occupied != 0 {
                let position = (turn % SLOTS as i64) as u32;
                let ahead = occupied.rotate_right(position + 1).trailing_zeros() + 1;
                // At the end of a level's round, a higher level may move timers down.
                let ahead = ahead.min(SLOTS as u32 - position);
                return Some((turn + i64::from(ahead)) * span * TICK);
            }
            span *= SLOTS as i64;
        }
        None
    }

    fn place(&mut self, index: u32, all: &mut impl Waiting) {
        // The first tick after the timer's deadline.
        let due = (links(all, index).deadline + TICK - 1).div_euclid(TICK).max(self.tick + 1);
        let ahead = (due - self.tick).min((SLOTS as i64).pow(LEVELS as u32) - 1);
        let due = self.tick + ahead;
        let mut level = 0;
        while level + 1 < LEVELS && ahead >= (SLOTS as i64).pow(level as u32 + 1) {
            level += 1;
        }
        let slot = (due / (SLOTS as i64).pow(level as u32) % SLOTS as i64) as usize;
        let head = self.heads[level][slot];
        if head != NONE {
            links(all, head).prev = index;
        }
        let own = links(all, index);
        (own.next, own.prev, own.place) = (head, NONE, (level * SLOTS + slot) as u32);
        self.heads[level][slot] = index;
        self.occupied[level] |= 1 << slot;
    }

    /// Moves timers of a higher level down when the time range of their slot begins.
    fn cascade(&mut self, all: &mut impl Waiting) {
        let mut span = SLOTS as i64;
        for level in 1..LEVELS {
            let slot = (self.tick / span % SLOTS as i64) as usize;
            self.drain(level, slot, all, |wheel, all, index| {
                // A timer that is due at this tick must not wait for the next one.
                if links(all, index).deadline <= wheel.tick * TICK {
                    wheel.place_now(index, all);
                } else {
                    wheel.place(index, all);
                }
                wheel.armed += 1;
            });
            if slot != 0 {
                break;
            }
            span *= SLOTS as i64;
        }
    }

    fn place_now(&mut self, index: u32, all: &mut impl Waiting) {
        let slot = (self.tick % SLOTS as i64) as usize;
        let head = self.heads[0][slot];
        if head != NONE {
            links(all, head).prev = index;
        }
        let own = links(all, index);
        (own.next, own.prev, own.place) = (head, NONE, slot as u32);
        self.heads[0][slot] = index;
        self.occupied[0] |= 1 << slot;
    }

    fn drain<W: Waiting>(
        &mut self,
        level: usize,
        slot: usize,
        all: &mut W,
        mut each: impl FnMut(&mut Self, &mut W, u32),
    ) {
        let mut index = std::mem::replace(&mut self.heads[level][slot], NONE);
        self.occupied[level] &= !(1 << slot);
        while index != NONE {
            let own = links(all, index);
            let next = own.next;
            own.place = NONE;
            self.armed -= 1;
            each(self, all, index);
            index = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Waiting for Vec<Links> {
        type Id = u32;

        fn links(&mut self, index: u32) -> &mut Links {
            &mut self[index as usize]
        }
    }

    #[test]
    fn fires_in_time_and_never_early() {
        let mut random = plan::random::Random::new(3);
        let mut wheel = Wheel::new(0);
        let mut all: Vec<Links> = vec![Links::default(); 2_000];
        let mut deadlines = Vec::new();
        for index in 0..all.len() as u32 {
            // Deadlines from zero to five hours use all levels.
            let span = [2_000, 3_000_000, 9_000_000_000, 18_000_000_000_000][index as usize % 4];
            let deadline = random.below(span) as i64;
            wheel.insert(index, deadline, &mut all);
            deadlines.push(deadline);
        }
        let mut fired = vec![false; all.len()];
        let mut due = Vec::new();
        while let Some(next) = wheel.next_due() {
            wheel.expire(next, &mut all, &mut due);
            for index in due.drain(..) {
                let deadline = deadlines[index as usize];
                assert!(deadline <= next, "{index} fired early");
                assert!(deadline >= next - TICK, "{index} fired late: {deadline} at {next}");
                assert!(
                    !std::mem::replace(&mut fired[index as usize], true),
                    "{index} fired twice"
                );
            }
        }
        assert!(fired.iter().all(|f| *f));
    }

    #[test]
    fn exact_to_the_tick_when_looked_at_every_tick() {
        let mut wheel = Wheel::new(5 * MS);
        let mut all: Vec<Links> = vec![Links::default(); 500];
        for index in 0..500u32 {
            wheel.insert(index, 5 * MS + i64::from(index) * 37 * MS / 10, &mut all);
        }
        let mut due = Vec::new();
        let mut count = 0;
        for tick in 21..9_000 {
            let now = tick * TICK;
            wheel.expire(now, &mut all, &mut due);
            for index in due.drain(..) {
                let deadline = all[index as usize].deadline;
                assert!(deadline <= now && deadline >= now - TICK, "{deadline} at {now}");
                count += 1;
            }
        }
        assert_eq!(count, 500);
    }

    #[test]
    fn removed_timers_do_not_fire() {
        let mut wheel = Wheel::new(0);
        let mut all: Vec<Links> = vec![Links::default(); 10];
        for index in 0..10 {
            wheel.insert(index, 10 * MS, &mut all);
        }
        for index in [0, 9, 4, 5] {
            wheel.remove(index, &mut all);
        }
        wheel.insert(1, 20 * MS, &mut all);
        let mut due = Vec::new();
        wheel.expire(15 * MS, &mut all, &mut due);
        due.sort_unstable();
        assert_eq!(due, [2, 3, 6, 7, 8]);
        due.clear();
        wheel.expire(25 * MS, &mut all, &mut due);
        assert_eq!(due, [1]);
        assert_eq!(wheel.next_due(), None);
    }
}
