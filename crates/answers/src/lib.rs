//! Answers about runs: how much load a target can take, what limited it, and which of two runs is better.
//!
//! All functions are pure functions of records: they read no clock and no file, and write to no terminal. An answer
//! names its evidence. If the evidence is too weak, there is no answer.
//!
//! | module | holds |
//! |---|---|
//! | `verdict` | findings with their evidence, and their order |
//! | `lines` | the lines of a verdict in both languages |
//! | `rules` | the rules that produce findings |
//! | `interval` | percentiles with intervals by order statistics |
//! | `autocorrelation` | effective sample size, long-run variance, block length |
//! | `warmup`, `change`, `trend` | the warm-up of a run, steps of its metrics, and drift |
//! | `repeats`, `discovery` | repeated runs; many tests at the same time |
//! | `scaling` | models of throughput over load: linear, plateau, USL, or none |
//! | `criterion` | conditions on metrics: `p99 < 500ms`, `error% < 0.1 for label Login` |
//! | `evidence` | when a value within its limit does not meet a criterion: no successful samples, missed starts |
//! | `unanswered` | the effect of samples in flight at the end of a run on its metrics |
//! | `unread` | the effect of unreadable rows on an answer |
//! | `time` | durations as users write them |
//! | `series`, `distribution`, `random` | basic statistics, distribution functions, random numbers |
//! | `precision`, `steady` | the precision of a mean during a run; the part of a run that is compared |
//! | `bootstrap`, `compare` | the random variation of metrics; the comparison of two runs, or of repeated runs |
//! | `machines` | settings in force of JVMs on watched hosts, in one run or in two |
//! | `host_ports` | the time at which a watched host runs out of local ports |
//! | `search` | the largest load at which the criteria hold |
//! | `shared` | a machine that generator and target share, while its processors are full |

pub mod autocorrelation;
pub mod change;
pub mod criterion;
pub mod discovery;
pub mod distribution;
pub mod evidence;
pub mod host_ports;
pub mod interval;
pub mod lines;
pub mod machines;
pub mod random;
pub mod repeats;
pub mod rules;
pub mod scaling;
pub mod series;
pub mod time;
pub mod trend;
pub mod unanswered;
pub mod unread;
pub mod verdict;
pub mod warmup;

pub mod bootstrap;
pub mod compare;
pub mod precision;
pub mod search;
pub mod shared;
pub mod steady;
