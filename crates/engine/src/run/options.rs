//! Options with which a caller starts a run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use plan::state::Shard;

use crate::results::rows::ResultFile;
use crate::run::evaluated::Evaluated;

/// Options of a run.
#[derive(Debug, Default)]
pub struct Options {
    /// Number of threads that run users; 0 is one per available processor.
    pub cores: u32,
    /// Properties of the run, as plans read them.
    pub properties: HashMap<String, String>,
    /// Folder that relative paths of the plan refer to.
    pub base_dir: PathBuf,
    /// Result files that receive every sample.
    pub results: Vec<ResultFile>,
    /// Seed of the random generators, the same in all processes of a run.
    pub seed: u64,
    /// This process's share of the run.
    pub shard: Shard,
    /// Settings for a process of a distributed run, even if it is the only process. Its coordinator has created the
    /// result files with their headers, and runs the Backend Listeners. `None`: this process does both, and starts
    /// all groups itself.
    pub paced: Option<Paced>,
    /// Runs elements and scripts that need Java, if the plan has any.
    pub offload: Option<Arc<dyn crate::offload::Offload>>,
    /// Data about the run for the JVM.
    pub surroundings: crate::offload::Surroundings,
    /// The result of [`crate::evaluate`]; `None` evaluates at the start.
    pub evaluated: Option<Evaluated>,
    /// For tests: a stepped clock for all cores.
    pub steps: Option<Arc<crate::time::steps::Steps>>,
}

impl Options {
    /// Returns the facts about the run that a JVM gets.
    pub(crate) fn facts(&self) -> crate::java::session::RunFacts<'_> {
        crate::java::session::RunFacts {
            properties: &self.properties,
            surroundings: &self.surroundings,
            shard: self.shard.index,
        }
    }
}

/// Synchronises a process with the other processes of a run: groups start only by `Handle::start`.
#[derive(Clone, Copy, Debug)]
pub struct Paced {
    /// Zero of the clock of all processes, in nanoseconds since 1970.
    pub zero: i64,
}
