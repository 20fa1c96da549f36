//! A small HTTP server for pages that follow a run. It knows nothing of runs: what it answers is a [`Site`].
//!
//! It serves a few people, must never cost a run a sample, and may be bound to an address that others reach. So
//! everything is bounded: clients, bytes of a request, time to send one, time to take an answer, events that are kept.
//! Its threads run with a lower priority than those of users. Each connection is for one request.
//!
//! | module | holds |
//! |---|---|
//! | `address` | where it listens, and the hosts by which it may be called |
//! | `token` | the two tokens of a server |
//! | `request` | a request, read within its bounds |
//! | `answer` | an answer, with the headers that every answer has |
//! | `feed` | events of which the newest are kept, for any number of readers |
//! | `server` | connections: accepting, checking, answering |
mod address;
mod answer;
mod feed;
mod request;
mod server;
mod token;

pub use address::Address;
pub use answer::Answer;
pub use feed::Feed;
pub use request::{Method, Request, Wrong, read_head};
pub use server::{Server, Site};
pub use token::{Right, random};
