//! Edits, formats, compares and merges plans.
//!
//! A [`Plan`] is the text of a plan file with its tree. An edit changes only the bytes of what it changes, and returns
//! its undo. No function reads or writes files.
//!
//! | module | holds |
//! |---|---|
//! | `plan` | [`Plan`]: text, elements and XML nodes of a plan file |
//! | `tree` | the XML nodes of the text with their positions |
//! | `path` | paths of elements, such as `Users/Login` |
//! | `label` | paths of properties, such as `HTTPSampler.path` |
//! | `splice` | replacements in a text, and their inverse |
//! | `place` | replacements for one node: attribute, value, new or removed child |
//! | `edit` | [`Op`]: one edit of a plan, with its undo |
//! | `layout` | [`format`](layout::format): a plan in canonical form |
//! | `list` | the elements of a plan as rows |
//! | `replace` | search and replacement in values |
//! | `pairing` | which elements of two plans correspond |
//! | `diff` | [`diff`](diff::diff): the differences of two plans |
//! | `merge` | [`merge`](merge::merge): the changes of two plans since a third |
//! | `refusal` | [`Refusal`], the error of every module |

pub mod diff;
mod edit;
mod label;
pub mod layout;
pub mod list;
pub mod merge;
mod pairing;
mod path;
mod place;
mod plan;
mod refusal;
pub mod replace;
mod splice;
mod tree;

pub use edit::{Applied, NewKind, Op, Undo};
pub use plan::Plan;
pub use refusal::Refusal;
