//! Options of `throng check`: the plans, the output formats, and all options of a run that change the meaning of a
//! plan.

use std::path::PathBuf;

use clap::Args;

use super::load::LoadFlags;
use super::properties::{MachineFlags, PropertyFlags};

#[derive(Debug, Args)]
pub(crate) struct CheckFlags {
    /// The JMeter plans to check, or folders of plans; - is standard input.
    #[arg(required = true, value_name = "PLAN|FOLDER")]
    pub(crate) plans: Vec<PathBuf>,
    /// Print JSON: an object for one plan, a list for several.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the plans with findings.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Write a JUnit test for each plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Start Java, load the jars that the plan names, and compile its scripts. Loading and compiling can run code of
    /// the plan.
    #[arg(long)]
    pub(crate) run_java: bool,
    #[command(flatten)]
    pub(crate) load: LoadFlags,
    #[command(flatten)]
    pub(crate) properties: PropertyFlags,
    #[command(flatten)]
    pub(crate) machine: MachineFlags,
}
