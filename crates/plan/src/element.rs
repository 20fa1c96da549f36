//! JMeter's elements, one file each.

use crate::env::Env;
use crate::text::Text;

/// What changes during a run and is shared by all cores: positions in CSV files, counters, throughput timers.
#[derive(Debug, Default)]
pub struct RunState {}

/// What elements remember for one user.
#[derive(Debug, Default)]
pub struct Memory {}

/// CSV Data Set Config.
#[derive(Debug)]
pub struct CsvDataSet {}
/// Counter.
#[derive(Debug)]
pub struct CounterConfig {}
/// Random Variable.
#[derive(Debug)]
pub struct RandomVariable {}
/// User Parameters.
#[derive(Debug)]
pub struct UserParameters {}
/// Debug Sampler.
#[derive(Debug)]
pub struct DebugSampler {}
/// Java Request.
#[derive(Debug)]
pub struct JavaSampler {}
/// jp@gc Dummy Sampler.
#[derive(Debug)]
pub struct DummySampler {}

/// A timer.
#[derive(Debug)]
pub enum Timer {
    /// The same delay each time, milliseconds.
    Constant(Text),
}

impl Timer {
    /// The delay, milliseconds.
    pub fn delay_ms(&self, env: &mut Env<'_>) -> i64 {
        let Self::Constant(text) = self;
        let mut value = env.core.take();
        text.eval(env, &mut value);
        let delay = value.trim().parse().unwrap_or(0);
        env.core.give(value);
        delay
    }
}
