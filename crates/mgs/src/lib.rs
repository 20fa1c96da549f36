//! Signing and encryption of RPC through a mobile gateway (mPaaS MGS), the client side. Sans-I/O: bytes in, bytes out.
//!
//! A request is signed over its plain body, then compressed, encrypted and put into an envelope; see `docs/mgs.md` for
//! the protocol, and for what of it is public. No cryptography of our own: primitives are RustCrypto's and aws-lc's.
//! Buffers are the caller's, and nothing is allocated for a request once they are warm, but by RSA.
//!
//! | module | subject |
//! |---|---|
//! | `settings` | all that can be set, by property |
//! | `stamp` | the digits of a time stamp |
//! | `sign` | the sign string and its digest |
//! | `recipient` | the gateway's public key, and the key of a request made for it |
//! | `mistaken` | what a text is that is not the key wanted |
//! | `agreed` | key and initialisation vector out of an agreed secret |
//! | `block` | AES and SM4 in CBC mode |
//! | `gzip` | compression with a state that is kept |
//! | `envelope` | two fields of tag, length and value |
//! | `sealer` | a request signed and encrypted, an answer decrypted |
//! | `cache` | what was sealed, to be sent again |
//! | `code` | result codes of the gateway by name |
//! | `search` | which settings made a captured request |

pub mod agreed;
pub mod block;
pub mod cache;
pub mod code;
pub mod envelope;
pub mod gzip;
pub mod hex;
mod mistaken;
pub mod recipient;
pub mod sealer;
pub mod search;
pub mod settings;
pub mod sign;
pub mod stamp;

pub use block::{BlockKey, Cipher};
pub use sealer::{Sealed, Sealer, SessionKey};
pub use settings::Settings;
