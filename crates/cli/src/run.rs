//! `throng run`: one run, from the request to the exit code.
//!
//! | module | holds |
//! |---|---|
//! | `stages` | the stages of a run in order: admission, start, course and end |
//! | `spread` | running users in this process or in workers |
//! | `machines` | the machines of a run with agents |
//! | `kept` | the saved command line of a run with agents, for a takeover |
//! | `progress` | merging cores' snapshots into seconds of the run |
//! | `ahead` | warnings before watched hosts run out of ports |
//! | `failing` | failed scripts, detected by log lines |
//! | `outcome` | the result of a run in memory, from which all outputs are rendered |
//! | `identity` | the plan, version and end of a run, for its summary |
//! | `starts` | iteration starts for a requested rate, and skipped starts |
//! | `cost` | the cost of a run |
//! | `lost` | workers that died |
//! | `last_words` | messages that are repeated after the summary |

pub(crate) mod ahead;
pub(crate) mod cost;
pub(crate) mod failing;
pub(crate) mod identity;
pub(crate) mod kept;
pub(crate) mod last_words;
pub(crate) mod lost;
pub(crate) mod machines;
pub(crate) mod outcome;
pub(crate) mod progress;
pub(crate) mod spread;
pub(crate) mod stages;
pub(crate) mod starts;
