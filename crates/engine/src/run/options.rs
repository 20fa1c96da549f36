//! How a run is to be carried out.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use plan::state::Shard;

use crate::results::rows::ResultFile;
use crate::run::evaluated::Evaluated;

/// How a run is to be carried out.
#[derive(Debug, Default)]
pub struct Options {
    /// Threads that run users; 0 is one per available processor.
    pub cores: u32,
    /// Properties of the run, as plans read them.
    pub properties: HashMap<String, String>,
    /// Folder against which relative files of the plan are looked up.
    pub base_dir: PathBuf,
    /// Result files that get every sample.
    pub results: Vec<ResultFile>,
    /// Seed of the random generators, the same in all processes of a run.
    pub seed: u64,
    /// Which share of the run this is.
    pub shard: Shard,
    /// For a share of a run, also for one that is all of it: whoever started it has made the result files, with their
    /// headers, and sends the samples of Backend Listeners on. `None` does this and starts all by itself.
    pub paced: Option<Paced>,
    /// Runs what only Java can, where the plan has such.
    pub offload: Option<Arc<dyn crate::offload::Offload>>,
    /// Surroundings of the run that it is told of.
    pub surroundings: crate::offload::Surroundings,
    /// The findings of [`crate::evaluate`]; `None` evaluates at the start.
    pub evaluated: Option<Evaluated>,
    /// For tests: the clocks of all cores go on by these, not by themselves.
    pub steps: Option<Arc<crate::time::steps::Steps>>,
}

impl Options {
    /// The facts that a Java machine is told.
    pub(crate) fn facts(&self) -> crate::java::session::RunFacts<'_> {
        crate::java::session::RunFacts {
            properties: &self.properties,
            surroundings: &self.surroundings,
            shard: self.shard.index,
        }
    }
}

/// How a share of a run keeps step with the others: groups start only by `Handle::start`.
#[derive(Clone, Copy, Debug)]
pub struct Paced {
    /// Zero of the clock of all shares, nanoseconds since 1970.
    pub zero: i64,
}
