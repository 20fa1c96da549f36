//! Options of `throng curl` and `throng import`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CurlFlags {
    /// The command as curl takes it. Long options of throng run that curl does not have may stand anywhere; all options of
    /// throng run follow after --.
    #[arg(
        value_name = "OPTION|URL",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) args: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportFlags {
    /// A file with curl commands or URLs, or a URL; - is standard input.
    #[arg(value_name = "FILE|URL")]
    pub(crate) source: PathBuf,
    /// The plan to write; without it, the plan is printed.
    #[arg(short, long, value_name = "PLAN.jmx")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the plan if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
