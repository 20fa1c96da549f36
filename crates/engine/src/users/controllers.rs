//! Controller state: the slots of a user for one controller ([`plan::plan::Controller::slot`]).
//!
//! The initial state of a controller is all zeros. The current child is an index into the plan's list of children
//! (for a Random Order Controller, into its random order). Children that are permanently done stay in that list and
//! are skipped.

use plan::plan::Controller;

use crate::users::User;

/// Stands for the position after the last child.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Flag: the iteration has begun, and the first child was asked for a sampler.
pub(crate) const BEGUN: u32 = 1;
/// Flag: the controller is permanently done.
pub(crate) const DONE: u32 = 1 << 1;
/// Flag: the user is leaving the loop, because of a Break Loop action.
pub(crate) const BROKEN: u32 = 1 << 2;
/// Flag: the parent controller has dropped this controller, because it is permanently done.
pub(crate) const DROPPED: u32 = 1 << 3;
/// Flag: the last returned sampler completed the iteration (Interleave).
pub(crate) const SKIP: u32 = 1 << 4;
/// Flag: a child controller has returned a sampler in this iteration (Interleave).
pub(crate) const GAVE: u32 = 1 << 5;
/// Flag: the controller has moved on from the first child of the iteration (Interleave).
pub(crate) const MOVED: u32 = 1 << 6;
/// Flag: the controller runs in this iteration (Throughput).
pub(crate) const RUNS: u32 = 1 << 7;
/// Flag: the controller has reported its end (Transaction with a parent sample).
pub(crate) const TOLD: u32 = 1 << 8;
/// Flag: the child of this iteration is chosen (Weighted Switch).
pub(crate) const CHOSEN: u32 = 1 << 9;

/// Flag: an arrival has started this iteration (the main loop of a group of arrivals).
pub(crate) const ARRIVED: u32 = 1 << 10;

/// The state of a controller in the slots of a user.
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

    /// Returns the number of iterations so far, as the controller's kind counts them.
    #[inline]
    pub(crate) fn count(&self) -> i32 {
        self.0[2] as i32
    }

    #[inline]
    pub(crate) fn set_count(&mut self, count: i32) {
        self.0[2] = count as u32;
    }

    /// Returns the additional slots, whose meaning depends on the controller's kind.
    #[inline]
    pub(crate) fn more(&mut self) -> &mut [u32] {
        &mut self.0[3..]
    }
}
