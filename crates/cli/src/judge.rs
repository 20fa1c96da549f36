//! The judgement of a run: its criteria, and the text of its verdict.
//!
//! | module | holds |
//! |---|---|
//! | `criteria` | criteria of a run, during the run and at its end |
//! | `junit` | results of criteria as JUnit tests in XML |
//! | `verdict` | the verdict as text and as JSON, and its language |

pub(crate) mod criteria;
pub(crate) mod junit;
pub(crate) mod verdict;
