//! Handles Ctrl-C, SIGTERM and SIGHUP. The first signal ends the run gracefully, the second immediately, and the
//! third exits without cleanup. If the run is started with `nohup`, it ignores the closing of its terminal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;
use crate::inputs::properties::Properties;
use crate::print::terminal;

/// Counters of requests to end the run, by signals or by JMeter's control port.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    /// Number of requests to end the run.
    asked: Arc<AtomicUsize>,
    /// Number of signals received.
    signals: Arc<AtomicUsize>,
    /// Number of signals that programs usually send: SIGTERM and SIGHUP.
    by_programs: Arc<AtomicUsize>,
    /// Time for samples in flight to finish after SIGTERM or SIGHUP.
    grace: Duration,
}

/// Property with the time in seconds that samples in flight have to finish after SIGTERM or SIGHUP.
const GRACE: &str = "throng.stop.grace";
/// Default time in seconds that samples in flight have to finish after SIGTERM or SIGHUP. `docker stop` waits 10 s.
const GRACE_S: i64 = 8;

impl Interrupt {
    /// Installs the signal handlers.
    pub(crate) fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        if !is_ignored(SIGHUP) {
            signals.add_signal(SIGHUP)?;
        }
        let asked = interrupt.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                asked.signals.fetch_add(1, Ordering::Relaxed);
                asked.by_programs.fetch_add(usize::from(signal != SIGINT), Ordering::Relaxed);
                terminal::hurry();
                if asked.ask(1) > 2 {
                    std::process::exit(Exit::Interrupted as i32);
                }
            }
        })?;
        Ok(interrupt)
    }

    /// Sets the grace time from the properties.
    pub(crate) fn with_grace(self, properties: &Properties) -> Self {
        let grace = properties.int(GRACE, GRACE_S).clamp(0, 86_400) as u64;
        Self { grace: Duration::from_secs(grace), ..self }
    }

    /// Adds requests to end. Returns the number of all requests so far.
    pub(crate) fn ask(&self, times: usize) -> usize {
        self.asked.fetch_add(times, Ordering::Relaxed) + times
    }

    /// True if a signal was received.
    pub(crate) fn signalled(&self) -> bool {
        self.signals.load(Ordering::Relaxed) > 0
    }

    /// True if SIGTERM or SIGHUP was received.
    pub(crate) fn is_by_program(&self) -> bool {
        self.by_programs.load(Ordering::Relaxed) > 0
    }

    /// Returns the time for samples in flight to finish after SIGTERM or SIGHUP.
    pub(crate) fn grace(&self) -> Duration {
        self.grace
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// True if the parent process has set the signal to be ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
