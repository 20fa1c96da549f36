//! Polls hosts once, before a run.

use crate::perfmon::Connection;
use crate::reader::Reader;
use crate::{Host, Source, alerts, exposition, scrape};

/// Summary of a host's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Number of samples that an exporter sent, of metrics requested from a PerfMon agent, or of firing alerts.
    pub figures: u64,
    /// False if the host responded, but its exporter reports that it cannot reach the service it monitors.
    pub is_up: bool,
}

/// Summary of a host's response, or the reason why there is none.
pub type Answer = Result<Answered, String>;

/// Polls all hosts in parallel. Waits until each has responded or its time limit has passed: a few seconds at most.
pub fn ask(hosts: &[Host]) -> Vec<Answer> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = hosts.iter().map(|host| scope.spawn(|| ask_one(host))).collect();
        let lost = |_| Err("internal error: the thread that polls this host panicked".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(lost)).collect()
    })
}

fn ask_one(host: &Host) -> Answer {
    match &host.source {
        Source::Prometheus(url) => {
            let text = scrape::once(url)?;
            let figures = Reader::default().read(&text, 0.0);
            let is_down = figures.iter().any(|one| one.metric == "up" && one.value == 0.0);
            let figures = exposition::samples(&text).count() as u64;
            Ok(Answered { figures, is_up: !is_down })
        }
        Source::PerfMon(agent) => {
            Connection::open(agent).map_err(|refused| refused.words)?;
            Ok(Answered { figures: agent.metrics.len() as u64, is_up: true })
        }
        Source::Alertmanager(url) => {
            Ok(Answered { figures: alerts::once(url)? as u64, is_up: true })
        }
    }
}
