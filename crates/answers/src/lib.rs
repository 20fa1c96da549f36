//! Answers: what can it take, what stopped it, is this run better than that one.
//!
//! Pure functions of records: no clock, no file, no terminal. An answer says what it rests on, and is silent where that
//! does not carry.
//!
//! | module | holds |
//! |---|---|
//! | `verdict` | findings with their evidence, and the order they stand in |
//! | `rules` | the rules that make them |
//! | `interval` | percentiles with intervals by order statistics |
//! | `autocorrelation` | effective sample size, long-run variance, block length |
//! | `warmup`, `change`, `trend` | where a run becomes steady, where it steps, whether it drifts |
//! | `repeats`, `discovery` | repeated runs; many tests at once |
//! | `scaling` | models of throughput over load: linear, plateau, USL, or none |
//! | `criterion` | conditions on figures: `p99 < 500ms`, `error% < 0.1 for label Login` |
//! | `evidence` | when a value within its limit meets no criterion: no successful samples, missed starts |
//! | `unanswered` | what samples in flight at the end leave open |
//! | `unread` | what rows that could not be read leave open |
//! | `time` | lengths of time as users write them |
//! | `series`, `distribution`, `random` | plain figures, distribution functions, numbers by chance |
//! | `precision`, `steady` | how well a mean is known while a run goes on; the part of a run that counts |
//! | `bootstrap`, `compare` | how much figures vary by chance; two runs, or repeated ones |
//! | `machines` | settings in force of Java machines on watched hosts, of one run and of two |
//! | `host_ports` | when a watched host has no local port left |
//! | `search` | the largest load at which criteria hold |
//! | `shared` | a machine that generator and target share, while it is full |

pub mod autocorrelation;
pub mod change;
pub mod criterion;
pub mod discovery;
pub mod distribution;
pub mod evidence;
pub mod host_ports;
pub mod interval;
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
