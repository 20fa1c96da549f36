//! Columns of result files, as defined by the properties of a run or of the command line.

use std::collections::BTreeMap;
use std::path::Path;

use stats::jtl::Columns;

use crate::args::flags::PropertyFlags;
use crate::inputs::properties::{Properties, Setting};

/// Name of the file in a run's folder with the rows of `--jtl`.
pub(crate) const ROWS: &str = "results.jtl";
/// Name of the file in a run's folder with the properties of the run.
pub(crate) const PROPERTIES: &str = "properties.txt";

/// Returns the columns of a result file without a header row, and the format of its time stamps, as the properties
/// define them.
pub(crate) fn columns(path: &Path, flags: &PropertyFlags) -> Result<Columns, String> {
    columns_of(&row_settings(path, flags)?)
}

/// Returns the columns that these properties define.
pub(crate) fn columns_of(settings: &RowSettings) -> Result<Columns, String> {
    Columns::from_properties(|key| settings.get(key).cloned()).map_err(|error| error.to_string())
}

/// Properties that define the format of result rows.
pub(crate) type RowSettings = BTreeMap<String, String>;

/// Returns the properties that define the format of a result file. Those of the command line override those of the run
/// in whose folder the file is.
pub(crate) fn row_settings(path: &Path, flags: &PropertyFlags) -> Result<RowSettings, String> {
    let mut sources = flags.sources();
    let folder = path.parent().filter(|folder| folder.join(record::FILE).is_file());
    let of_run = folder.map(|folder| folder.join(PROPERTIES)).filter(|file| file.is_file());
    if let Some(file) = of_run.filter(|_| !path.is_dir()) {
        sources.settings.insert(0, Setting::File(file));
    }
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let (properties, _) = Properties::load(&sources, now_ms)?;
    let of_rows = properties.all().filter(|(key, _)| key.starts_with("jmeter.save.saveservice."));
    Ok(of_rows.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}
