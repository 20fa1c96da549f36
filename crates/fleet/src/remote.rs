//! Workers on other machines: agents. Each agent runs its own processes and counts as one worker of the run.
//!
//! An agent reads orders from its standard input and writes answers to its standard output. The transport is `ssh`, or
//! a stream over a NATS server (`crate::nats`). `docs/decisions/fleet.md` has the rules.
//!
//! | module | holds |
//! |---|---|
//! | `wire` | the messages between coordinator and agents |
//! | `hosts`, `ssh` | the machines of a run, and starting agents on them |
//! | `line`, `carrier`, `bus` | the connection to one agent, and all of them as a [`crate::Bus`] |
//! | `gather` | agents from their start until they can receive shares |
//! | `clock` | the difference of two clocks, with its error bound |
//! | `offer`, `deal` | the resources that agents offer, and shares of the run by these resources |
//! | `manifest`, `store` | the files that a plan names, by their hashes; the files that an agent stores |
//! | `agent`, `relay` | the agent, and its processes combined into one worker |
//! | `stdio`, `takeover_socket` | the agent's stream, and the socket for another coordinator's stream |
//! | `relays`, `region` | agents whose workers are agents (relays): their selection, and their additional tasks |
//! | [`simulated`] | an agent without users, for benchmarks |
//! | `disk` | records and notes on a disk |
//! | `resume`, `run_state` | takeover of a run by another coordinator; the state of the run on an agent |
//! | `recover` | delivery of a run's files on an agent whose process has ended |
//! | `fetch` | the end of a run: rows are fetched, and agents are released |
//! | `rows` | result rows of agents, merged by time |
//! | `push` | upload of result rows from agents to a storage server |

mod agent;
mod bus;
mod carrier;
mod clock;
mod cut;
mod deal;
mod disk;
mod fetch;
mod gather;
mod hosts;
mod line;
mod manifest;
mod offer;
mod push;
mod recover;
mod region;
mod relay;
mod relays;
mod resume;
mod rows;
mod run_state;
pub mod simulated;
mod squeeze;
mod ssh;
mod stdio;
mod store;
mod takeover_socket;
mod wire;

pub use agent::main as agent;
pub use bus::{About, Agents};
pub use cut::Dealt;
pub use fetch::notes;
pub use gather::{Gathering, gather};
pub use hosts::{Choice, Host, Way};
pub use manifest::{Manifest, manifest, missing};
pub use push::RowsTo;
pub use relays::Relays;
pub use resume::{Former, Resuming, former, resume};
pub use wire::RunState;

pub(crate) use line::{AgentEvent, nanos};
pub(crate) use offer::offered;
pub(crate) use ssh::program;
pub(crate) use wire::{FromAgent, Offer as Offered, ToAgent};
