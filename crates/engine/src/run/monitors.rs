//! PerfMon collectors of a plan after evaluation: hosts to watch, and files for their metrics.

use plan::env::Env;
use plan::plan::{FileWriter, Plan};
use stats::jtl::Columns;

use crate::results::rows::ResultFile;
use crate::run::error::StartError;
use crate::run::evaluated::{Evaluated, value};
use crate::run::options::Options;
use crate::shared::savers::place;

/// A PerfMon collector: rows of host, port, metric and parameters.
#[derive(Clone, Debug)]
pub struct Monitor {
    pub rows: Vec<[String; 4]>,
    pub file: Option<ResultFile>,
}

/// Returns the values of the collectors' expressions: the file name, then four values per row.
pub(super) fn evaluated_values(plan: &Plan, env: &mut Env<'_>) -> Vec<Vec<String>> {
    let of = |monitor: &plan::element::PerfMon, env: &mut Env<'_>| {
        let file = monitor.file.as_ref().map_or(String::new(), |file| value(&file.file, env));
        let mut texts = vec![file];
        for text in monitor.rows.iter().flatten() {
            texts.push(value(text, env).trim().to_owned());
        }
        texts
    };
    plan.monitors.iter().map(|monitor| of(monitor, env)).collect()
}

impl Evaluated {
    /// Returns the plan's PerfMon collectors.
    pub fn monitors(&self, plan: &Plan, options: &Options) -> Result<Vec<Monitor>, StartError> {
        let prefix = crate::settings::base_prefix(|key| options.properties.get(key).cloned());
        let of = |(monitor, texts): (&plan::element::PerfMon, &Vec<String>)| {
            let path = texts.first().map_or("", String::as_str);
            let file = monitor.file.as_ref().filter(|_| !path.is_empty());
            let file = file.map(|file| -> Result<_, StartError> {
                let columns = columns(&monitor.name, file, options)?;
                Ok(ResultFile {
                    path: place(path, &prefix, &options.base_dir),
                    columns,
                    errors_only: file.errors_only,
                    successes_only: file.successes_only,
                })
            });
            let cells = texts.get(1..).unwrap_or_default().chunks_exact(4);
            let rows = cells.map(|row| [0, 1, 2, 3].map(|n| row[n].clone())).collect();
            Ok(Monitor { rows, file: file.transpose()? })
        };
        plan.monitors.iter().zip(&self.monitors).map(of).collect()
    }
}

/// Returns the columns of a listener's file.
pub(super) fn columns(
    name: &str,
    file: &FileWriter,
    options: &Options,
) -> Result<Columns, StartError> {
    let columns = Columns::from_properties(|key| options.properties.get(key).cloned())
        .map_err(|error| StartError::Results(format!("{name}: {error:?}")))?;
    Ok(match &file.options {
        Some(own) => columns
            .with_save_config(own.iter().map(|(name, value)| (name.as_str(), value.as_str()))),
        None => columns,
    })
}
