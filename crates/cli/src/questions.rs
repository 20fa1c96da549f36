//! Commands that run a plan several times to answer a question.
//!
//! | module | holds |
//! |---|---|
//! | `sweep` | throughput and response times at a series of loads |
//! | `capacity` | the largest load at which criteria hold |
//! | `compare` | differences between two runs, sweeps or plans |
//! | `child` | one run as a child process that is watched |
//! | `results` | reading records from run folders and result files |
//! | `place` | the folder of a sweep, search or comparison, and its JSON |
//! | `figures` | formatting of numbers for these commands |

pub(crate) mod capacity;
mod child;
pub(crate) mod compare;
mod figures;
pub(crate) mod place;
mod results;
pub(crate) mod sweep;

use std::path::Path;

use place::Reach;
use record::ReadError;
use report::Page;

/// Returns the error message for a path without a run's record. For the folder of a sweep, search or comparison, names
/// the command that reads it.
pub(crate) fn refusal(error: &ReadError) -> String {
    let ReadError::NoRun(path) = error else { return error.to_string() };
    let answers = [
        (sweep::FILE, "a sweep", ", and throng compare takes two of them"),
        (capacity::FILE, "a search for capacity", ""),
        (compare::FILE, "a comparison", ""),
    ];
    let found = answers.into_iter().find(|(file, ..)| path.join(file).is_file());
    let Some((_, what, more)) = found else { return error.to_string() };
    let shown = path.display();
    format!(
        "{shown} is the folder of {what} and not of one run: throng report {shown} makes its page{more}"
    )
}

/// Builds the report page of a sweep, search or comparison. Returns `None` if the folder holds none of these.
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
