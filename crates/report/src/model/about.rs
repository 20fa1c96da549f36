//! The facts of a run: plan, machine, load and ending.

use answers::rules::cut_short;
use answers::verdict::Words;
use record::{Ending, Has, Record};
use serde::Serialize;

use super::{Agents, words};
use crate::jmeter::Figures;

/// The data that a page of a run is built from.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    pub record: &'a Record,
    pub verdict: &'a answers::verdict::Verdict,
    /// Name of the run's folder, or of the result file.
    pub run: &'a str,
    pub criteria: &'a [Criterion],
    /// Properties that the user set, with secrets masked.
    pub properties: &'a [(String, String)],
    /// Notes on the plan from the check before the run.
    pub notes: &'a [String],
    /// The metrics of JMeter's dashboard, if the user requested them.
    pub jmeter: Option<&'a Figures>,
    /// The machines that sent the load; empty if this machine sent it.
    pub agents: &'a Agents,
    pub live: bool,
}

/// A condition that the run should meet, and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Criterion {
    pub text: String,
    /// True if the criterion is met; `None` if it is undecided, or not decided yet.
    pub met: Option<bool>,
    pub value: Option<f64>,
    /// The criterion's value as text.
    pub shown: Words,
    /// The reason for the outcome of the criterion, if the value alone does not explain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Words>,
    /// The label that the criterion applies to; `None` for all requests.
    pub of: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct About {
    pub program: String,
    pub title: String,
    pub plan: String,
    pub plan_hash: String,
    pub run: String,
    pub start_ms: i64,
    pub length_ms: i64,
    pub ending: How,
    pub load: Load,
    pub machine: Machine,
    pub properties: Vec<(String, String)>,
    pub settings: Vec<(String, String)>,
    pub notes: Vec<String>,
    pub flaws: Vec<Words>,
    pub has: Has,
}

#[derive(Debug, Serialize)]
pub struct How {
    pub kind: &'static str,
    /// Reason of the run's end; empty if there is nothing to explain.
    pub reason: Words,
}

#[derive(Debug, Serialize)]
pub struct Load {
    pub users: u64,
    pub rate: Option<f64>,
    pub length_ms: Option<i64>,
    pub open: bool,
}

#[derive(Debug, Serialize)]
pub struct Machine {
    pub processors: u32,
    /// Memory of the machine, bytes.
    pub memory: u64,
    pub threads: u32,
    pub ports: u64,
    pub target_is_here: bool,
}

impl About {
    pub fn new(given: &Given<'_>) -> Self {
        let mut of = Self::of(given.record, given.run);
        // The record has properties of the command line among its settings, too.
        let is_property = |setting: &str| {
            setting
                .strip_prefix("-J")
                .is_some_and(|setting| given.properties.iter().any(|(name, _)| name == setting))
        };
        of.settings.retain(|(name, _)| !is_property(name));
        let title = given.jmeter.and_then(|figures| figures.title.clone());
        Self {
            ending: How::new(given.record, given.live),
            properties: given.properties.to_vec(),
            notes: given.notes.to_vec(),
            title: title.unwrap_or(of.title),
            ..of
        }
    }

    /// Builds the facts that a record contains. `run` is the name of the run's folder, or of the result file.
    pub fn of(record: &Record, run: &str) -> Self {
        let frame = &record.frame;
        let file = std::path::Path::new(&frame.plan).file_name();
        let title = file.map_or_else(|| run.to_owned(), |name| name.to_string_lossy().into_owned());
        Self {
            program: if record.flaws.contains(&record::Flaw::NoStart) {
                "throng".into()
            } else if frame.version.is_empty() {
                "JMeter".into()
            } else {
                format!("throng {}", frame.version)
            },
            title,
            plan: frame.plan.clone(),
            plan_hash: if frame.plan_hash == 0 {
                String::new()
            } else {
                format!("{:016x}", frame.plan_hash)
            },
            run: run.to_owned(),
            start_ms: frame.start_ms,
            length_ms: frame.length_ms,
            ending: How::new(record, false),
            load: Load {
                // For an open load, the record holds the largest number of users that may be started, not the
                // number of active users.
                users: if frame.load.open {
                    record.seconds.iter().map(|second| second.users).max().unwrap_or(0)
                } else {
                    frame.load.users
                },
                rate: frame.load.rate,
                length_ms: frame.load.length_ms,
                open: frame.load.open,
            },
            machine: Machine {
                processors: frame.processors,
                memory: frame.memory,
                threads: frame.threads,
                ports: frame.ports,
                target_is_here: frame.target_is_here,
            },
            properties: Vec::new(),
            settings: frame.settings.clone(),
            notes: Vec::new(),
            flaws: record.flaws.iter().map(flaw).collect(),
            has: record.has,
        }
    }
}

impl About {
    /// Changes the facts of one run into those of a series of runs from `start_ms` to `end_ms`, epoch ms. A series has
    /// no common load.
    pub(super) fn spanning(&mut self, (start_ms, end_ms): (i64, i64)) {
        (self.start_ms, self.length_ms) = (start_ms, (end_ms - start_ms).max(0));
        self.load = Load { users: 0, rate: None, length_ms: None, open: self.load.open };
    }

    /// Changes the facts of one run into those of runs under different loads. There is no common load, and the lengths
    /// add up.
    pub(super) fn of_several<'r>(&mut self, records: impl Iterator<Item = &'r Record>) {
        self.length_ms = records.map(|record| record.frame.length_ms).sum();
        self.load = Load { users: 0, rate: None, length_ms: None, open: self.load.open };
    }
}

impl How {
    fn new(record: &Record, live: bool) -> Self {
        let nothing = || words("", "");
        let cut_short = || cut_short(record).unwrap_or_else(nothing);
        let (kind, reason) = match &record.frame.ending {
            _ if live => ("running", nothing()),
            Ending::Unknown => ("unknown", nothing()),
            Ending::Completed => ("completed", cut_short()),
            Ending::Interrupted => ("interrupted", nothing()),
            Ending::StoppedByPlan => ("stopped_by_plan", cut_short()),
            Ending::Aborted(reason) => ("aborted", words(reason.clone(), reason.clone())),
        };
        Self { kind, reason }
    }
}

/// Returns all warnings that a reader must see before the metrics: missing parts of the data, and a run without an
/// end.
pub fn losses(record: &Record) -> Vec<Words> {
    let mut losses: Vec<Words> = record.flaws.iter().map(flaw).collect();
    if record.frame.ending == Ending::Unknown && record.has.generator {
        losses.push(words(
            "the run has no end: it was killed, or is not over; the figures end with the last second that was written",
            "运行没有结束记录：进程被杀死，或运行尚未结束；数据截至最后写入的一秒",
        ));
    }
    losses
}

fn flaw(flaw: &record::Flaw) -> Words {
    use record::Flaw;
    let zh = match flaw {
        Flaw::TornEnd { bytes } => format!("最后 {bytes} 字节未写完，已略去"),
        Flaw::Damaged { bytes, places, missing_ms: 0 } => {
            format!("{places} 处共 {bytes} 字节已损坏，已略去")
        }
        Flaw::Damaged { bytes, places, missing_ms } => format!(
            "{places} 处共 {bytes} 字节已损坏，已略去：缺少运行中的 {}，速率因此偏低",
            stats::grouped::seconds(missing_ms.unsigned_abs())
        ),
        Flaw::NoStart => "文件开头已损坏：运行的计划、设置和开始时间未知，时间从可读取的第一秒算起".into(),
        Flaw::OddEntries { entries } => format!("{entries} 个条目无法完整读取"),
        Flaw::Pauses { pauses, longest_ms } => format!(
            "文件中有 {pauses} 处没有样本的停顿，最长 {}，像是追加了多次运行；时长与速率不含停顿",
            stats::grouped::seconds(longest_ms.unsigned_abs())
        ),
        Flaw::Transactions { labels } => format!("{labels} 个标签的事务在文件中没有其请求的行：每个事务按一个请求计；设置 jmeter.save.saveservice.subresults=true 可同时写出请求"),
        Flaw::InSeconds => "时间戳以秒而非毫秒为单位，已按秒读取".into(),
        Flaw::DamagedArchive => "压缩文件已损坏或不完整，无法解压的部分已略去".into(),
        Flaw::Rows { rows, first_line, .. } => format!("{rows} 行无法读取，首行为第 {first_line} 行"),
        Flaw::NoSuccess => "结果文件没有 success 列，或该列为空：错误数未知，不计入任何数据；请用 jmeter.save.saveservice.successful=true 写出".into(),
    };
    words(flaw.to_string(), zh)
}
