//! The memory of a user for one controller: a view of its slots ([`plan::plan::Controller::slot`]).
//!
//! All zeros is how a controller begins. Which child is the current one is an index into the plan's list of children (for a Random Order
//! Controller, into its own order); children that are done for good stay in that list and are passed over.

use plan::plan::Controller;

use crate::users::User;

/// No child: behind the last.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Its first child of this iteration has been asked for.
pub(crate) const BEGUN: u32 = 1;
/// It gives nothing any more.
pub(crate) const DONE: u32 = 1 << 1;
/// A loop has been broken out of.
pub(crate) const BROKEN: u32 = 1 << 2;
/// The controller around it has dropped it.
pub(crate) const DROPPED: u32 = 1 << 3;
/// Its iteration is over with the sampler given last (Interleave).
pub(crate) const SKIP: u32 = 1 << 4;
/// A child that is a controller has given a sampler in this iteration (Interleave).
pub(crate) const GAVE: u32 = 1 << 5;
/// It has moved on from the child that the iteration began with (Interleave).
pub(crate) const MOVED: u32 = 1 << 6;
/// It runs in this iteration (Throughput).
pub(crate) const RUNS: u32 = 1 << 7;
/// It has told of its end (Transaction with a parent sample).
pub(crate) const TOLD: u32 = 1 << 8;
/// Its child of this iteration has been chosen (Weighted Switch).
pub(crate) const CHOSEN: u32 = 1 << 9;

/// Its user has come for this iteration (the loop of a group of arrivals).
pub(crate) const ARRIVED: u32 = 1 << 10;

/// The state of a controller: its slots of a user.
#[derive(Debug)]
pub(crate) struct ControllerState<'a>(pub(crate) &'a mut [u32]);

impl<'a> ControllerState<'a> {
    #[inline]
    pub(crate) fn of(user: &'a mut User, controller: &Controller) -> Self {
        let from = controller.slot as usize;
        Self(&mut user.state[from..from + controller.slots as usize])
    }

    #[inline]
    pub(crate) fn current(&self) -> u32 {
        self.0[0]
    }

    #[inline]
    pub(crate) fn set_current(&mut self, child: u32) {
        self.0[0] = child;
    }

    #[inline]
    pub(crate) fn is(&self, flag: u32) -> bool {
        self.0[1] & flag != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, flags: u32) {
        self.0[1] |= flags;
    }

    #[inline]
    pub(crate) fn clear(&mut self, flags: u32) {
        self.0[1] &= !flags;
    }

    /// Iterations so far, as the kind counts them.
    #[inline]
    pub(crate) fn count(&self) -> i32 {
        self.0[2] as i32
    }

    #[inline]
    pub(crate) fn set_count(&mut self, count: i32) {
        self.0[2] = count as u32;
    }

    /// Further slots of the kind.
    #[inline]
    pub(crate) fn more(&mut self) -> &mut [u32] {
        &mut self.0[3..]
    }
}
