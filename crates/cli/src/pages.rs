//! Commands that show finished runs, and the browser pages, served by [`web`].
//!
//! | module | holds |
//! |---|---|
//! | `report` | `throng report` |
//! | `verdict` | `throng verdict` |
//! | `runs` | `throng web`: the list of the runs in a folder |
//! | `live` | `--web`: the live page of a run |
//! | `control` | control requests from the live page |
//! | `links` | the links to a web server |

pub(crate) mod control;
mod links;
pub(crate) mod live;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod verdict;
