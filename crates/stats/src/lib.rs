//! Measurements, from one sample to the final report.
//!
//! A `Recorder` per core takes samples without locks or allocation; once a second it is drained
//! into a `Snapshot`; snapshots of all cores merge into `Totals`; aggregate report, summary,
//! summariser lines and per-second file are read from those. `jtl` writes and reads result rows.
//! Times inside are nanoseconds; JMeter's own formulas work on whole milliseconds.
//!
//! | module | holds |
//! |---|---|
//! | `sample`, `recorder` | a finished sample; a core's samples, counted |
//! | `hist`, `tally`, `phases`, `counter`, `span`, `close`, `cause` | the stores: histograms, sums of a label, times by what they were spent on, counters, phases of connections, ends of connections, errors by cause |
//! | `checks`, `number` | answers that assertions checked; numbers that a plan takes out of answers |
//! | `class`, `kept`, `stalled` | exchanges by address and header; samples kept whole; those that a stall has made longer |
//! | `snapshot`, `totals` | a second of one core; the whole run, merged |
//! | `aggregate`, `summariser` | JMeter's report and its `summary` lines |
//! | `snapshot_file`, `timeline`, `flow` | `seconds.jsonl`, the course of a run, WebSocket connections per second |
//! | `jtl` | result files: rows, XML elements, reading |
//! | `backend` | metrics of Backend Listeners, for InfluxDB and Graphite |
//! | `machine`, `process`, `standstill` | the machine; the generator's own CPU and memory, and the time for which it stood still |
//! | `clock` | the clock of a run, which no change of the system clock moves |
//! | `control_group` | limits of this process's control groups: CPU quota, memory, processes |
//! | `gateway` | words of errors of requests through a mobile gateway |
//! | `grouped` | numbers as text for people |
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

pub use checks::{Check, Checks};
pub use class::ClassId;
pub use close::CloseCause;
pub use counter::{Counter, Counters};
pub use kept::Draw;
pub use number::Number;
pub use phases::Phases;
pub use recorder::Recorder;
pub use sample::{LabelId, Outcome, Phase, Sample};
pub use snapshot::Snapshot;
pub use span::Span;
pub use standstill::Standstill;
pub use timeline::Timeline;
pub use totals::Totals;
