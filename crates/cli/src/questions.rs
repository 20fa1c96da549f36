//! Verbs that answer a question by several runs.
//!
//! | module | holds |
//! |---|---|
//! | `sweep` | throughput and response times over a row of loads |
//! | `capacity` | the largest load at which criteria hold |
//! | `compare` | what differs between two runs, sweeps or plans |
//! | `child` | one run as a process of its own, watched while it goes on |
//! | `results` | records from folders of runs and from result files |
//! | `place` | the folder of an answer, and its JSON |
//! | `figures` | numbers as these verbs print them |

pub(crate) mod capacity;
mod child;
pub(crate) mod compare;
mod figures;
pub(crate) mod place;
mod results;
pub(crate) mod sweep;

use std::path::Path;

use place::Reach;
use report::Page;

/// The page of an answer's folder; `None` of a folder that is none.
pub(crate) fn page(folder: &Path, reach: Reach<'_>) -> Option<Result<Page, String>> {
    if folder.join(compare::FILE).is_file() {
        return Some(compare::again(folder, reach).map(|page| Page::Comparison(Box::new(page))));
    }
    if folder.join(sweep::FILE).is_file() {
        return Some(sweep::again(folder, reach).map(|page| Page::Sweep(Box::new(page))));
    }
    if folder.join(capacity::FILE).is_file() {
        return Some(capacity::again(folder, reach).map(|page| Page::Capacity(Box::new(page))));
    }
    None
}
