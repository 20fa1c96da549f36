//! Measurements, from one sample to the final report.
//!
//! A `Recorder` per core records samples without locks or allocation. Once a second it is drained into a `Snapshot`.
//! The snapshots of all cores merge into `Totals`, from which the aggregate report, the summary, the summariser lines
//! and the per-second file are computed. `jtl` writes and reads result rows. Internal times are nanoseconds; JMeter's
//! own formulas use whole milliseconds.
//!
//! | module | holds |
//! |---|---|
//! | `sample`, `recorder` | a finished sample; the recorder of a core's samples |
//! | `hist`, `tally`, `phases`, `counter`, `span`, `close`, `cause` | the stores: histograms, sums of a label, time by
//! phase, counters, phases of connections, ends of connections, errors by cause |
//! | `checks`, `number` | responses that assertions checked; numbers that a plan extracts from responses |
//! | `transactions` | transactions, and those that failed by their own assertions |
//! | `class`, `kept`, `stalled` | exchanges by address and header; samples stored as evidence; samples that a stall
//! made longer |
//! | `snapshot`, `open_second`, `totals` | a second of one core; a second of all cores, merged; the whole run, merged |
//! | `aggregate`, `summariser` | JMeter's report and its `summary` lines |
//! | `snapshot_file`, `timeline`, `flow` | `seconds.jsonl`, peaks and sums over a run, WebSocket connections per second
//! |
//! | `jtl` | result files: rows, XML elements, parsing |
//! | `backend` | metrics of Backend Listeners, for InfluxDB and Graphite |
//! | `machine`, `process`, `standstill` | metrics of the machine; CPU and memory of the generator, and the time for
//! which it was stopped |
//! | `clock` | the clock of a run, which does not change if the system clock is set |
//! | `control_group` | limits of this process's control groups: CPU quota, memory, processes |
//! | `gateway` | phrases in error messages of requests through a mobile gateway |
//! | `grouped` | formatting of numbers for people |
pub mod aggregate;
pub mod backend;
pub mod cause;
pub mod checks;
pub mod class;
pub mod clock;
pub mod close;
pub mod control_group;
pub mod counter;
pub mod flow;
pub mod gateway;
pub mod grouped;
pub mod hist;
pub mod jtl;
pub mod kept;
pub mod laws;
pub mod machine;
pub mod number;
pub mod open_second;
pub mod phases;
pub mod process;
pub mod recorder;
pub mod sample;
pub mod snapshot;
pub mod snapshot_file;
pub mod span;
pub mod stalled;
pub mod standstill;
pub mod summariser;
pub mod summary;
pub mod tally;
pub mod timeline;
pub mod totals;
pub mod transactions;

pub use checks::{Check, Checks};
pub use class::ClassId;
pub use close::CloseCause;
pub use counter::{Counter, Counters};
pub use kept::Draw;
pub use number::Number;
pub use open_second::OpenSecond;
pub use phases::Phases;
pub use recorder::Recorder;
pub use sample::{LabelId, Outcome, Phase, Sample};
pub use snapshot::Snapshot;
pub use span::Span;
pub use timeline::Timeline;
pub use totals::Totals;
pub use transactions::Transactions;
