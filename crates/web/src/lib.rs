//! A small HTTP server for pages that follow a run. It has no knowledge of runs: a [`Site`] supplies the responses.
//!
//! The server is for a few people, must not delay the samples of a run, and may listen on a public address. So all of
//! these have limits: clients, bytes of a request, time to send a request, time to receive a response, stored events.
//! All threads run with a lower priority than those of users. Each connection serves one request.
//!
//! | module | holds |
//! |---|---|
//! | `address` | the listening address, and the host names that requests may use |
//! | `token` | the two tokens of a server |
//! | `request` | a request, read within limits of size and time |
//! | `answer` | an HTTP response, with the headers that every response has |
//! | `feed` | the newest events, stored once for any number of readers |
//! | `server` | connections: accept, check, respond |
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
