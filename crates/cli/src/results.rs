//! The results of a run: its folder, and the reports that are built from it.
//!
//! | module | holds |
//! |---|---|
//! | `folder` | the folder of a run with all its files |
//! | `summary` | reading `summary.json` |
//! | `columns` | columns of result files, as properties define them |
//! | `page` | the report page of a run or of a result file |
//! | `agents` | machines of a run, for its report page |
//! | `file` | writing the files of a report |
//! | `dashboard` | JMeter's report of a run or of a result file |

mod agents;
pub(crate) mod columns;
pub(crate) mod dashboard;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod page;
pub(crate) mod summary;
