//! One run spread over several processes.
//!
//! A process may hold only so many descriptors, so users beyond that need others. The coordinator ([`Fleet`]) deals the
//! users out to workers ([`serve`]), starts each batch of groups everywhere at the same moment, sums up what they
//! measured, and goes on without those that die. They talk in messages over a [`Bus`]; `docs/decisions/fleet.md` has
//! the protocol and the rules for what users share.
//!
//! | module | holds |
//! |---|---|
//! | `message`, `frame`, `bytes` | the messages, and their bytes |
//! | `bus`, `processes`, `threads` | the transport: to child processes, or within this process for tests |
//! | `coordinator`, `member`, `loss` | the run as a whole, the state of one worker, the loss when one dies |
//! | `batch_properties` | properties that users have set, on their way to all workers |
//! | `figures` | the sums of each worker's samples |
//! | `worker` | the process that runs a share of the users |
//! | `remote` | workers on other machines: agents, and the coordinator's side of them |
//! | `nats` | agents that wait at a NATS server |
//! | `account` | exact accounting over connections that lose and repeat |
//! | `size` | the number of workers for a number of users |

pub mod account;
mod batch_properties;
mod bus;
mod bytes;
mod coordinator;
mod figures;
mod frame;
mod loss;
mod member;
mod message;
pub mod nats;
mod processes;
pub mod remote;
mod size;
mod threads;
mod worker;

pub use bus::{Bus, News};
pub use coordinator::{Event, Fleet, Job, StartError};
pub use figures::Figures;
pub use loss::{Loss, Missed};
pub use message::{FromWorker, Report, Share, ToWorker, VERSION};
pub use processes::Processes;
pub use size::{RESERVE, held_per_process, workers_for};
pub use threads::Threads;
pub use worker::{ALLOWED, Java, StartJava, main, serve};
