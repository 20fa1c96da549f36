//! Options of the commands that show and change plans: list, set, replace, fmt, diff and merge.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Type of a property that `throng set --create` adds.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PropType {
    String,
    Bool,
    Int,
    Long,
}

#[derive(Debug, Args)]
pub(crate) struct ListFlags {
    /// The plan.
    pub(crate) plan: PathBuf,
    /// Path of an element, such as Users/Login: list its properties instead.
    pub(crate) element: Option<String>,
    /// List all elements with all properties. With this option, git uses the command as textconv.
    #[arg(long, conflicts_with = "element")]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "all")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SetFlags {
    /// The plan, which is changed.
    pub(crate) plan: PathBuf,
    /// Path of the element, such as Users/Login; throng list prints the paths.
    pub(crate) element: String,
    /// New values of properties or attributes, such as HTTPSampler.path=/v2/login.
    #[arg(value_name = "PROPERTY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Add properties that the element does not have, with this type.
    #[arg(long, value_name = "TYPE")]
    pub(crate) create: Option<PropType>,
    /// Remove a property. May be given several times.
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) unset: Vec<String>,
    /// Rename the element.
    #[arg(long, value_name = "NAME")]
    pub(crate) rename: Option<String>,
    /// Enable the element.
    #[arg(long, conflicts_with = "disable")]
    pub(crate) enable: bool,
    /// Disable the element.
    #[arg(long)]
    pub(crate) disable: bool,
    /// Print the changes, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplaceFlags {
    /// Text to find.
    pub(crate) pattern: String,
    /// Replacement.
    pub(crate) replacement: String,
    /// The plans.
    #[arg(required = true, value_name = "PLAN")]
    pub(crate) plans: Vec<PathBuf>,
    /// Change the plans; without this option, the changes are only printed.
    #[arg(long)]
    pub(crate) write: bool,
    /// Find a regular expression; $1 in the replacement is its first group.
    #[arg(long)]
    pub(crate) regex: bool,
    /// Treat upper and lower case as the same.
    #[arg(long)]
    pub(crate) ignore_case: bool,
    /// Search in names of elements, too.
    #[arg(long)]
    pub(crate) names: bool,
    /// Search only in properties with this name, such as HTTPSampler.path.
    #[arg(long, value_name = "NAME")]
    pub(crate) prop: Option<String>,
    /// Search only in this element and the elements below it.
    #[arg(long, value_name = "ELEMENT")]
    pub(crate) under: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FmtFlags {
    /// The plans, which are changed.
    #[arg(required = true, value_name = "PLAN")]
    pub(crate) plans: Vec<PathBuf>,
    /// Change nothing; exit with 4 if a plan is not formatted.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffFlags {
    /// The old and the new plan, or the arguments that git gives to an external diff command.
    #[arg(required = true, num_args = 2..=9, value_name = "PLAN")]
    pub(crate) plans: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeFlags {
    /// The plan from which both others were made; %O in git.
    pub(crate) base: PathBuf,
    /// Our plan, which becomes the result; %A in git.
    pub(crate) ours: PathBuf,
    /// The other plan; %B in git.
    pub(crate) theirs: PathBuf,
    /// Write the result to this file instead.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the conflicts as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
