//! The WebSocket codec from outside: the cases of a conformance suite as tables, cut at every boundary, and an independent
//! library as the other end.

mod compression;
mod conformance;
mod oracle;
mod script;
mod utf8;
