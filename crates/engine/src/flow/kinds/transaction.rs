//! Transaction Controller: reports its children as one sample. The measurement is in
//! [`sample::transaction`](crate::sample::transaction).

use plan::plan::{ControllerId, Transaction};

use crate::flow::search::{Pull, Walk};
use crate::users::controllers::TOLD;

impl Walk<'_, '_> {
    /// Asks a transaction for the next sampler.
    pub(crate) fn pull_transaction(&mut self, id: ControllerId, settings: &Transaction) -> Pull {
        if settings.parent { self.pull_parent(id, settings) } else { self.pull_sum(id, settings) }
    }

    /// Asks a transaction with a parent sample for the next sampler. The samples of its children become sub-results of
    /// the parent sample.
    fn pull_parent(&mut self, id: ControllerId, settings: &Transaction) -> Pull {
        let mut visit = self.visit(id);
        if visit.state().is(TOLD) {
            visit.state().clear(TOLD);
            return Pull::Nothing;
        }
        self.begin_transaction_if_first(id, settings);
        loop {
            if !self.may_go_on() {
                return Pull::Later;
            }
            match self.advance(id) {
                Some(Pull::Nothing) => {
                    self.visit(id).state().set(TOLD);
                    return Pull::Ended(id);
                }
                Some(given) => return given,
                None => {}
            }
        }
    }

    /// Asks a transaction without a parent sample for the next sampler. The transaction's sample is the sum of its
    /// children's samples.
    fn pull_sum(&mut self, id: ControllerId, settings: &Transaction) -> Pull {
        // JMeter counts one sample each time the controller calls itself, so one more for each child without a
        // sampler.
        let mut asked_again = 0;
        loop {
            if !self.may_go_on() {
                self.count_calls(id, asked_again);
                return Pull::Later;
            }
            self.begin_transaction_if_first(id, settings);
            let is_last = self.visit(id).child().is_none();
            match self.advance(id) {
                None => asked_again += 1,
                Some(Pull::Ends) => return Pull::Ends,
                Some(Pull::Later) => {
                    self.count_calls(id, asked_again);
                    return Pull::Later;
                }
                Some(given) => {
                    if given == Pull::Nothing && is_last {
                        let index = self.index;
                        self.reporting().finish_transaction(index, id);
                    } else {
                        self.count_calls(id, 1);
                    }
                    self.count_calls(id, asked_again);
                    return given;
                }
            }
        }
    }

    fn count_calls(&mut self, id: ControllerId, calls: u32) {
        let index = self.index;
        self.reporting().count_calls(index, id, calls);
    }

    fn begin_transaction_if_first(&mut self, id: ControllerId, settings: &Transaction) {
        if self.visit(id).is_first() {
            let index = self.index;
            self.reporting().begin_transaction(index, id, settings);
        }
    }

    /// Reports a transaction without a parent sample, because a sampler inside has made the user leave the transaction.
    /// Returns true for a transaction with a parent sample, which the caller must report.
    pub(crate) fn leave_transaction(&mut self, id: ControllerId, settings: &Transaction) -> bool {
        if !settings.parent {
            let index = self.index;
            self.reporting().abort_transaction(index, id);
        }
        settings.parent
    }

    /// Drops a transaction that was begun only by the check for a further sampler.
    pub(crate) fn forget_transaction(&mut self, id: ControllerId, settings: &Transaction) {
        let index = self.index;
        self.reporting().drop_transaction(index, id);
        let mut visit = self.visit(id);
        if settings.parent { visit.end_iteration() } else { visit.is_left() }
    }
}
