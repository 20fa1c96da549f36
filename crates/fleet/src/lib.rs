//! Distributes one run over several processes.
//!
//! A process has a limited number of file descriptors, so large numbers of users need several processes. The
//! coordinator ([`Fleet`]) distributes the users over workers ([`serve`]). It starts each batch of groups everywhere at
//! the same moment, merges the measurements, and continues without workers that die. They exchange messages over a
//! [`Bus`]; `docs/decisions/fleet.md` describes the protocol, and the rules for what users share.
//!
//! | module | holds |
//! |---|---|
//! | `message`, `frame`, `bytes` | the messages and their encoding |
//! | `bus`, `processes`, `threads` | the transport: to child processes, or to threads of this process for tests |
//! | `coordinator`, `members`, `member` | the whole run, its workers and their transitions, the state of one worker |
//! | `loss` | the losses when a worker dies |
//! | `batch_properties` | properties that users have set, for distribution to all workers |
//! | `figures` | the totals of each worker's samples |
//! | `worker` | the process that runs a share of the users |
//! | `remote` | workers on other machines: agents, and the coordinator's connections to them |
//! | `nats` | agents that wait on a NATS server |
//! | `account` | exact accounting over connections that lose and repeat messages |
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
mod members;
mod message;
pub mod nats;
mod processes;
pub mod remote;
mod size;
mod threads;
mod worker;

pub use bus::{Bus, Reports, Transport, UserScope, WorkerEvent};
pub use coordinator::{Event, Fleet, Job, StartError};
pub use figures::Figures;
pub use loss::{Loss, Missed};
pub use message::{FromWorker, Report, Share, ToWorker, VERSION};
pub use processes::Processes;
pub use size::{RESERVE, held_per_process, raise_descriptors, workers_for};
pub use threads::Threads;
pub use worker::{ALLOWED, Java, StartJava, main, serve};
