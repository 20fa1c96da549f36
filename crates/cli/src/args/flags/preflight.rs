//! Options of `throng preflight`.

use std::path::PathBuf;

use clap::Args;

use super::PropertyFlags;
use crate::inputs::size::bytes;

#[derive(Debug, Args)]
pub(crate) struct PreflightFlags {
    /// The JMeter plan. With --users it may be left out: each user then holds one WebSocket connection.
    #[arg(required_unless_present_any = ["users", "sysctl", "watch"])]
    pub(crate) plan: Option<PathBuf>,
    /// Number of users, instead of the plan's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) users: Option<u64>,
    /// Addresses to connect from, instead of throng.source.addresses: a list of addresses, ranges and interfaces.
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) source: Option<String>,
    /// The proxies between this machine and the servers, like "nginx*4:21000-61000 -> ingress*5 x2 -> pods*10": 4 nginx
    /// with these local ports, 5 ingress with 2 addresses each, and 10 pods. Add conf=nginx.conf memory=64G to a hop to
    /// check the memory of this hop, too.
    #[arg(long, value_name = "HOPS")]
    pub(crate) chain: Option<String>,
    /// Size of the largest message, instead of that of the plan's WebSocket messages: in bytes, or with K, M or G.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) message: Option<u64>,
    /// Check a file of kernel settings (sysctl.conf): list the settings of this machine that it would lower or raise,
    /// and whether the load would then fit.
    #[arg(long, value_name = "FILE", conflicts_with = "fix")]
    pub(crate) sysctl: Option<PathBuf>,
    /// Query a Prometheus exporter once, to test --watch of a run; without NAME=URL, those of throng.toml. May be given
    /// several times.
    #[arg(long, value_name = "NAME=URL", num_args = 0..=1, default_missing_value = "", value_parser = Asked::parse)]
    pub(crate) watch: Vec<Asked>,
    /// Raise the settings of this machine that are too small, and print the commands that undo this.
    #[arg(long)]
    pub(crate) fix: bool,
    /// With --fix: only print the changes.
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// Leave out the elements that Throng cannot run, as throng run with this option does.
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) properties: PropertyFlags,
}

/// Parses a size from the command line: bytes, or a number with K, M or G.
fn size(text: &str) -> Result<u64, String> {
    let size = bytes(text).filter(|bytes| *bytes > 0);
    size.ok_or_else(|| "expected a size, for example 4096 or 64K".into())
}

/// A host to query, or `None` for the hosts of throng.toml.
#[derive(Clone, Debug)]
pub(crate) struct Asked(pub(crate) Option<watch::Host>);

impl Asked {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(Self(None)) } else { watch::Host::parse(text).map(Some).map(Self) }
    }
}
