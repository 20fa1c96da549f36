//! Where a core's figures, rows and reports go.

use std::sync::mpsc::Sender;

use stats::Snapshot;

use crate::run::Report;
use crate::run::rows::Rows;

#[allow(clippy::vec_box)] // Snapshots come and go by their pointer.
/// Ways out of a core.
pub(crate) struct Sinks {
    pub(crate) rows: Rows,
    /// Ends of Backend Listeners.
    pub(crate) feeds: Vec<(plan::plan::ListenerId, crate::run::backend::Feed)>,
    pub(crate) reports: Sender<Report>,
    /// Snapshots that have come back, to be filled again.
    pub(crate) snapshots: Vec<Box<Snapshot>>,
}
