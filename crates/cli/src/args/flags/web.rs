//! Options of `throng web`.

use std::path::PathBuf;

use clap::Args;

use crate::judge::verdict::Lang;

#[derive(Debug, Args)]
pub(crate) struct WebFlags {
    /// Folder with the folders of runs, sweeps, searches and comparisons.
    #[arg(value_name = "FOLDER", default_value = "runs")]
    pub(crate) folder: PathBuf,
    /// Address to listen on: a port, or an address with a port; by default only on this machine, on a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "", hide_default_value = true)]
    pub(crate) listen: ::web::Address,
    /// Language in which the page and new reports open; by default that of LC_ALL, LC_MESSAGES or LANG. Readers can
    /// change it.
    #[arg(long)]
    pub(crate) lang: Option<Lang>,
}
