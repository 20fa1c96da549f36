//! PerfMon collectors of the plan during a run: the hosts that are watched for them, and their result files.
//!
//! A file has a row for each metric. The label consists of host, metric and parameters; `elapsed` is the metric's
//! value times 1000. If an agent does not answer, its row is a failed sample with the reason as its message.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::{Evaluated, Monitor, Options};
use plan::plan::Plan;
use record::Change;
use stats::jtl::{Columns, Detail, Printer, Row};
use watch::Host;
use watch::perfmon::Sample;

use super::traces::Traces;
use crate::args::request::Request;
use crate::inputs::perfmon;
use crate::run::progress::Progress;

/// Result files of the collectors, by their index in the plan.
#[derive(Debug, Default)]
pub(crate) struct MonitorFiles(Vec<Option<Output>>);

#[derive(Debug)]
struct Output {
    path: PathBuf,
    file: File,
    columns: Columns,
    errors_only: bool,
    successes_only: bool,
    failed: bool,
}

/// Returns the hosts to watch, those of the request first, and the result files of the plan's collectors.
pub(crate) fn prepare(
    request: &Request,
    plan: &Plan,
    options: &Options,
    evaluated: &Evaluated,
    traces: &mut Traces<'_>,
) -> (Vec<Host>, MonitorFiles) {
    let mut complaints = Vec::new();
    let monitors = evaluated.monitors(plan, options).unwrap_or_else(|error| {
        complaints.push(format!("hosts of the plan are not watched: {error}"));
        Vec::new()
    });
    let mut all = request.watch.clone();
    let of = |key: &str| options.properties.get(key).map_or("", |text| text.trim());
    let template = perfmon::template(&options.properties);
    let is_short = of("jmeterPlugin.perfmon.label.useHostname").eq_ignore_ascii_case("true");
    if is_short && !of("jmeterPlugin.perfmon.label.useHostname.pattern").is_empty() {
        let words = "PerfMon: jmeterPlugin.perfmon.label.useHostname.pattern is left out: labels have the host's name up to its first dot";
        complaints.push(words.into());
    }
    let (hosts, odd) = perfmon::hosts(&monitors, &template, is_short);
    all.extend(hosts);
    complaints.extend(odd);
    let files = MonitorFiles::open(monitors, &mut complaints);
    for line in &complaints {
        traces.warn("watch", line);
    }
    (all, files)
}

impl MonitorFiles {
    /// Opens the files for appending. Adds a warning for each file that cannot be opened.
    fn open(monitors: Vec<Monitor>, complaints: &mut Vec<String>) -> Self {
        let open = |monitor: Monitor| {
            let file = monitor.file?;
            let path = file.path;
            match Output::open(&path, file.columns, file.errors_only, file.successes_only) {
                Ok(output) => Some(output),
                Err(error) => {
                    complaints.push(format!("cannot write {}: {error}", path.display()));
                    None
                }
            }
        };
        Self(monitors.into_iter().map(open).collect())
    }

    /// Prints messages about the watched hosts, and writes their samples.
    pub(crate) fn tell(&mut self, progress: &mut Progress, traces: &mut Traces<'_>) {
        for line in progress.said() {
            traces.warn("watch", &line);
        }
        let hosts = progress.hosts();
        for line in hosts.said() {
            traces.warn("watch", &line);
        }
        let alerts = hosts.take_alerts();
        if let Some(line) = self.write(&hosts.take_samples()) {
            traces.warn("watch", &line);
        }
        for watch::Alert { at_ms, words, .. } in alerts {
            progress.mark_at(at_ms, Change::Note(words.clone()), &words);
        }
    }

    /// Writes samples. Returns a message for the first failure of a file.
    fn write(&mut self, samples: &[Sample]) -> Option<String> {
        let mut told = None;
        for (place, output) in self.0.iter_mut().enumerate() {
            let Some(output) = output else { continue };
            let own = samples.iter().filter(|sample| sample.listener == place);
            told = told.or(output.write(own));
        }
        told
    }

    /// Closes the collectors' result files, and writes end tags if the format has them.
    pub(crate) fn close(&mut self) {
        for output in self.0.drain(..).flatten() {
            if output.columns.xml {
                let mut file = output.file;
                let _ = file.write_all(stats::jtl::END);
            }
        }
    }
}

impl Output {
    fn open(path: &Path, columns: Columns, errors: bool, successes: bool) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            let mut head = Vec::new();
            if columns.xml {
                columns.document_start(&mut head);
            } else if columns.field_names {
                columns.header(&[], &mut head);
            }
            file.write_all(&head)?;
        }
        let path = path.to_path_buf();
        Ok(Self {
            path,
            file,
            columns,
            errors_only: errors,
            successes_only: successes,
            failed: false,
        })
    }

    fn write<'s>(&mut self, samples: impl Iterator<Item = &'s Sample>) -> Option<String> {
        let mut out = Vec::new();
        for sample in samples {
            let good = sample.value.is_ok();
            if (self.errors_only && good) || (self.successes_only && !good) {
                continue;
            }
            line(&self.columns, sample, &mut out);
        }
        let error = self.file.write_all(&out).err()?;
        let first = !std::mem::replace(&mut self.failed, true);
        first.then(|| format!("cannot write {}: {error}; the run goes on", self.path.display()))
    }
}

/// Formats a row. The collector writes -1 for a missing metric. Rows cannot contain negative times, so negative
/// values are inserted afterwards.
fn line(columns: &Columns, sample: &Sample, out: &mut Vec<u8>) {
    let thousandth = (sample.value.as_ref().map_or(-1.0, |value| *value) * 1000.0) as i64;
    let row = Row {
        timestamp_ms: sample.at_ms,
        elapsed_ms: thousandth as u64,
        label: &sample.label,
        message: sample.value.as_ref().err().map_or("", String::as_str),
        success: sample.value.is_ok(),
        sample_count: 1,
        error_count: u32::from(sample.value.is_err()),
        ..Row::default()
    };
    let mut text = Vec::new();
    if columns.xml {
        let detail = Detail::default();
        let mut printer = Printer::new(&mut text);
        columns.begin(&mut printer, &row, &detail, &[] as &[&str]);
        columns.finish(&mut printer, &row, &detail);
        printer.end_line();
    } else {
        columns.row(&row, &mut text);
    }
    if thousandth < 0 && !columns.xml {
        let text = String::from_utf8_lossy(&text);
        let odd = (thousandth as u64).to_string();
        out.extend_from_slice(text.replacen(&odd, &thousandth.to_string(), 1).as_bytes());
    } else {
        out.extend_from_slice(&text);
    }
}
