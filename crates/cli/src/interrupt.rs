//! Ctrl-C and SIGTERM: the first ends the run gracefully, the second at once, the third leaves without tidying up.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// How often the user has asked to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Takes over the two signals.
    pub(crate) fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let asked = interrupt.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            for _ in signals.forever() {
                if asked.ask(1) > 2 {
                    std::process::exit(Exit::Interrupted as i32);
                }
            }
        })?;
        Ok(interrupt)
    }

    /// Asks to end; returns how often it was asked.
    pub(crate) fn ask(&self, times: usize) -> usize {
        self.0.fetch_add(times, Ordering::Relaxed) + times
    }

    pub(crate) fn asked(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
