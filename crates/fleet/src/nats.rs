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
//! | `credentials` | credentials of an operator, and credentials lent to a relay |
//! | `envelope` | the messages and their signatures |
//! | `sealed` | encryption of streams, so that the server cannot read them |
//! | `link` | streams over lost and repeated messages |
//! | `wait` | the agent that waits and is reserved |
//! | `setup` | the files that a server for agents needs |
//! | `reserve`, `hub` | the coordinator's side: reserving agents, and the streams to them |
//! | `takeover` | taking over agents from a coordinator that has ended |

mod client;
mod credentials;
mod envelope;
mod greeting;
mod hub;
mod key;
mod link;
mod reserve;
mod sealed;
mod server;
mod setup;
mod takeover;
mod wait;

#[cfg(test)]
mod tests;

pub(crate) use credentials::{LentCredentials, credentials, env};
pub(crate) use hub::{NatsStream, start};
pub use key::{Public, Secret};
pub use reserve::Pools;
pub(crate) use reserve::{Access, StreamHandover, find_free, reserve};
pub use server::{POOL, Server, TOKEN_WORDS, var};
pub use setup::{Files, Setup};
pub(crate) use takeover::take_over;
pub use wait::{Waiting, wait};
pub use wire::nats::is_token;
