//! Settings of results and their files.

use super::{Properties, base_prefix};

/// Settings of results and their files: time stamps, labels, variables, and the folder of file names.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    /// True if time stamps are the end times of samples (`sampleresult.timestamp.start` is false or missing).
    pub(crate) stamp_end: bool,
    /// True if sub-results keep their URL as label (`subresults.disable_renaming`).
    pub(crate) keep_sub_labels: bool,
    /// Names of the variables that result files contain (`sample_variables`).
    pub(crate) sample_variables: Vec<String>,
    /// Prefix that makes file names relative to the plan's folder (`jmeter.save.saveservice.base_prefix`).
    pub(crate) base_prefix: String,
}

impl Results {
    pub(super) fn of(get: &Properties<'_>) -> Self {
        Self {
            stamp_end: !get.is("sampleresult.timestamp.start", false),
            keep_sub_labels: get.is("subresults.disable_renaming", false),
            sample_variables: get
                .text("sample_variables", "")
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            base_prefix: base_prefix(|key: &str| get.of(key)),
        }
    }
}
