//! Workers on other machines: agents, each of which runs processes of its own and is one worker of the run.
//!
//! An agent reads orders from its standard input and answers on its standard output, whatever carries them: `ssh`, or a
//! stream over a NATS server (`crate::nats`). `docs/decisions/fleet.md` has the rules.
//!
//! | module | holds |
//! |---|---|
//! | `wire` | the messages between coordinator and agents |
//! | `hosts`, `ssh` | the machines of a run, and the start of agents on them |
//! | `line`, `carrier`, `bus` | the connection to one agent, and all of them as a [`crate::Bus`] |
//! | `gather` | agents from their start to the moment when they can take shares |
//! | `clock` | the difference of two clocks, with its bound |
//! | `offer`, `deal` | what agents offer, and shares of the run by it |
//! | `manifest`, `store` | the files that a plan names, by their hashes; those that an agent has |
//! | `agent`, `relay` | the agent, and its processes as one worker |
//! | `stdio`, `again` | the agent's stream, and the socket at which another coordinator's takes its place |
//! | `relays`, `region` | agents whose workers are agents: which ones, and the part that such a relay has beside an agent's |
//! | [`simulated`] | an agent without users, for benches |
//! | `disk` | records and notes on a disk |
//! | `resume`, `stand` | another coordinator takes a run over; where the run stands on an agent |
//! | `recover` | what a run has left on an agent whose process has ended |
//! | `fetch` | the end: rows are fetched, and agents leave |
//! | `rows` | result rows of agents, merged by time |
//! | `push` | result rows that agents send to where they are kept |

mod again;
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
pub mod simulated;
mod squeeze;
mod ssh;
mod stand;
mod stdio;
mod store;
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
pub use wire::Stand;

pub(crate) use line::{Heard, nanos};
pub(crate) use offer::offered;
pub(crate) use ssh::program;
pub(crate) use wire::{FromAgent, Offer as Offered, ToAgent};
