//! Agents that wait on a NATS server.
//!
//! The server forwards messages and stores nothing. Streams to agents are numbered, acknowledged and resent, and
//! measurements use exact accounting (`account`). So lost and repeated messages, and restarts of the server, do no
//! harm. `docs/decisions/fleet.md` has the rules.
//!
//! | module | holds |
//! |---|---|
//! | `server`, `key` | the server's address and credentials; keys |
//! | `greeting`, `client` | the connection to the server, which reconnects by itself |
//! | `proofs` | credentials of an operator, and credentials lent to a relay |
//! | `air` | the messages and their signatures |
//! | `sealed` | encryption of streams, so that the server cannot read them |
//! | `link` | streams over lost and repeated messages |
//! | `wait` | the agent that waits and is hired |
//! | `setup` | the files that a server for agents needs |
//! | `hire`, `hub` | the coordinator's side: hiring agents, and the streams to them |
//! | `take` | taking over agents from a coordinator that has ended |

mod air;
mod client;
mod greeting;
mod hire;
mod hub;
mod key;
mod link;
mod proofs;
mod sealed;
mod server;
mod setup;
mod take;
mod wait;

#[cfg(test)]
mod tests;

pub use hire::Pools;
pub(crate) use hire::{Access, Found, hire, look};
pub(crate) use hub::{Carried, start};
pub use key::{Public, Secret};
pub(crate) use proofs::{Lent, env, proofs};
pub use server::{POOL, Server, TOKEN_WORDS, var};
pub use setup::{Files, Setup};
pub(crate) use take::take;
pub use wait::{Waiting, wait};
pub use wire::nats::is_token;
