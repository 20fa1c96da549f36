//! The requested run, from either command line.

use std::path::{Path, PathBuf};

use crate::criteria::Criteria;
use crate::flags::Lang;
use crate::outputs::Promised;
use crate::properties::{Setting, Sources};

/// The property behind `--overcommit`.
pub(crate) const OVERCOMMIT: &str = "throng.overcommit";

/// A run as asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) plan: PathBuf,
    /// `-l`: where rows of all samples go.
    pub(crate) jtl: Option<PathBuf>,
    /// `--jtl`: the same, into the run's folder.
    pub(crate) jtl_in_folder: bool,
    /// `-f`: delete result files that exist, instead of appending.
    pub(crate) force: bool,
    /// `-i`: a configuration of log4j, which is not read.
    pub(crate) log_config: Option<PathBuf>,
    /// `-j`: the run's log, instead of the one in its folder.
    pub(crate) log: Option<PathBuf>,
    /// `-L`: category (empty for all) and level.
    pub(crate) levels: Vec<(String, String)>,
    pub(crate) sources: Sources,
    pub(crate) report: Report,
    /// `--no-report`: no report.html in the run's folder.
    pub(crate) no_report: bool,
    /// `--markdown`: where a summary goes.
    pub(crate) markdown: Option<PathBuf>,
    /// `--k6-summary`: where a summary in k6's form goes.
    pub(crate) k6_summary: Option<PathBuf>,
    pub(crate) json: bool,
    /// Language of the verdict; that of the surroundings if it was not asked for.
    pub(crate) lang: Option<Lang>,
    /// `--quiet`: nothing but warnings and errors on the console.
    pub(crate) quiet: bool,
    pub(crate) skip_unsupported: bool,
    /// Folder under which the run's own is made.
    pub(crate) runs: PathBuf,
    /// Threads that run users; 0 for one per processor.
    pub(crate) cores: usize,
    /// Worker processes; 0 for what `throng.workers` says, or as many as the users' connections take.
    pub(crate) workers: u32,
    /// The way to the machines whose agents run the users; none: they run on this one.
    pub(crate) fleet: Option<fleet::remote::Way>,
    /// `--relays`: agents that reach the others.
    pub(crate) relays: Option<fleet::remote::Relays>,
    /// `--rows-to`: where agents send their rows, instead of here.
    pub(crate) rows_to: Option<fleet::remote::RowsTo>,
    /// A worker that dies stops the run.
    pub(crate) stop_on_loss: bool,
    /// Listen for JMeter's `shutdown.sh` and `stoptest.sh`.
    pub(crate) listen: bool,
    /// Load in place of the plan's.
    pub(crate) load: plan::load::Given,
    /// Hosts that are watched while the run lasts.
    pub(crate) watch: Vec<watch::Host>,
    /// Prices of processors, memory and traffic, of throng.toml.
    pub(crate) prices: Option<report::model::Prices>,
    /// Systems that get the run's figures while it runs.
    pub(crate) out: Vec<export::Target>,
    pub(crate) criteria: Criteria,
    /// `--junit`: where the run's tests go as XML.
    pub(crate) junit: Option<PathBuf>,
    /// `--web`: where the live page is served.
    pub(crate) web: Option<web::Address>,
}

/// JMeter's report and figures, as asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    /// `-e`: at the end of the run.
    pub(crate) at_end: bool,
    /// `-o`: its folder.
    pub(crate) folder: Option<PathBuf>,
    /// `--jmeter-figures`: JMeter's figures in report.html.
    pub(crate) figures: bool,
}

impl Request {
    /// The folder of the plan, against which the files it names are looked up.
    pub(crate) fn folder(&self) -> PathBuf {
        self.plan.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Files that the run writes where the user says.
    pub(crate) fn written(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("-l", &self.jtl),
            ("-j", &self.log),
            ("--junit", &self.junit),
            ("--markdown", &self.markdown),
            ("--k6-summary", &self.k6_summary),
        ];
        files.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)))
    }

    /// The summaries that the run has to write.
    pub(crate) fn promised(&self) -> Promised {
        let name = self.plan.display().to_string();
        let (junit, markdown) = (self.junit.clone(), self.markdown.clone());
        Promised { name, junit, markdown, k6: self.k6_summary.clone() }
    }

    /// Sets what JMeter's option of that letter says about the proxy.
    pub(crate) fn set_proxy(&mut self, option: char, value: &str) {
        match option {
            'H' => self.set_system(&["http.proxyHost", "https.proxyHost"], value),
            'P' => self.set_system(&["http.proxyPort", "https.proxyPort"], value),
            'N' => self.set_system(&["http.nonProxyHosts", "https.nonProxyHosts"], value),
            'u' => self.set_jmeter("http.proxyUser", value),
            'a' => self.set_jmeter("http.proxyPass", value),
            _ => {}
        }
    }

    fn set_jmeter(&mut self, name: &str, value: &str) {
        self.sources.settings.push(Setting::Jmeter(name.into(), value.into()));
    }

    /// Sets system properties of Java.
    fn set_system(&mut self, names: &[&str], value: &str) {
        for name in names {
            self.sources.settings.push(Setting::System((*name).into(), value.into()));
        }
    }
}

/// Refuses a scheme for proxies other than plain HTTP, in which proxies are talked to.
pub(crate) fn check_proxy_scheme(scheme: &str) -> Result<(), String> {
    if scheme.eq_ignore_ascii_case("http") {
        return Ok(());
    }
    Err("-E (--proxyScheme) is not supported yet: Throng talks to proxies in plain HTTP; remove it"
        .to_owned())
}
