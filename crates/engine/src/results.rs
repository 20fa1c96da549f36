//! Outputs of a core: result files, Backend Listeners, snapshots.

pub(crate) mod backlog;
pub(crate) mod feed;
pub(crate) mod output;
pub(crate) mod rows;

use plan::plan::ListenerId;
use stats::Snapshot;

use crate::results::feed::Feed;
use crate::results::rows::Rows;

#[allow(clippy::vec_box)] // The snapshots are boxed, so that they are passed on without copying.
/// The outputs of a core.
pub(crate) struct Sinks {
    pub(crate) rows: Rows,
    /// Feeds to Backend Listeners.
    pub(crate) feeds: Vec<(ListenerId, Feed)>,
    /// Returned snapshots that can be reused.
    pub(crate) snapshots: Vec<Box<Snapshot>>,
}

impl Sinks {
    /// Returns true if results are written, saved or sent anywhere.
    pub(crate) fn reports_results(&self) -> bool {
        !self.rows.is_idle() || !self.feeds.is_empty()
    }
}
