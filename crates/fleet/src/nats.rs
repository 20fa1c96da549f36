//! Agents that wait at a NATS server.
//!
//! The server carries messages and keeps nothing: streams to agents are numbered, acknowledged and sent again, and what
//! agents measure goes through the account. So a server that loses and repeats, or is started anew, is harmless.
//! `docs/decisions/fleet.md` has the rules.
//!
//! | module | holds |
//! |---|---|
//! | `server`, `key` | the server's address and credentials; keys |
//! | `greeting`, `client` | the connection to the server, which comes back by itself |
//! | `proofs` | the proofs of an operator, and those that a relay was lent |
//! | `air` | the messages, with their seals |
//! | `sealed` | what streams carry, sealed from the server |
//! | `link` | streams over messages that are lost and repeated |
//! | `wait` | the agent that waits and is hired |
//! | `setup` | what a server for agents needs |
//! | `hire`, `hub` | the coordinator's side: agents are hired, and the streams to them |
//! | `take` | agents are taken over from a coordinator that has ended |

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
