//! Client side of request signing and encryption for a mobile gateway (mPaaS MGS). Sans-I/O: bytes in, bytes out.
//!
//! A request is signed over its plain body, then compressed, encrypted and put into an envelope. `docs/mgs.md`
//! describes the protocol and says which parts of it are public. Cryptographic primitives come from RustCrypto and
//! aws-lc. The caller owns the buffers. Once they are warm, a request allocates nothing, except with RSA.
//!
//! | module | subject |
//! |---|---|
//! | `settings` | all settings, by property |
//! | `stamp` | encoding of time stamps |
//! | `sign` | the sign string and its digest |
//! | `recipient` | the gateway's public key, and the transport of a request's key to it |
//! | `wrong_key` | error messages for strings that are not the expected public key |
//! | `agreed` | derivation of key and initialisation vector from an agreed secret |
//! | `block` | AES and SM4 in CBC mode |
//! | `gzip` | compression with reusable state |
//! | `envelope` | two fields of tag, length and value |
//! | `sealer` | signs and encrypts a request, decrypts its response |
//! | `cache` | cache of sealed requests |
//! | `code` | meanings of the gateway's result codes |
//! | `search` | search for the settings that produced a captured request |

pub mod agreed;
pub mod block;
pub mod cache;
pub mod code;
pub mod envelope;
pub mod gzip;
pub mod hex;
pub mod recipient;
pub mod sealer;
pub mod search;
pub mod settings;
pub mod sign;
pub mod stamp;
mod wrong_key;

pub use block::{BlockKey, Cipher};
pub use sealer::{Sealed, Sealer, SessionKey};
pub use settings::Settings;
