//! The requested run, from Throng's or JMeter's command line.

use std::path::{Path, PathBuf};

use crate::args::outputs::Promised;
use crate::inputs::imported::Made;
use crate::inputs::load;
use crate::inputs::properties::{Setting, Sources};
use crate::judge::criteria::Criteria;
use crate::judge::verdict::Lang;

/// Property that `--overcommit` sets.
pub(crate) const OVERCOMMIT: &str = "throng.overcommit";

/// Request for a run with its options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) plan: PathBuf,
    /// Plan that was made from the command line. If it is set, `plan` is only its name.
    pub(crate) made: Option<Made>,
    /// `-l`: result file for the rows of all samples.
    pub(crate) jtl: Option<PathBuf>,
    /// True with `--jtl`: the rows of all samples are written into the run's folder.
    pub(crate) jtl_in_folder: bool,
    /// True with `-f`: existing result files are deleted, and nothing is appended to them.
    pub(crate) force: bool,
    /// `-i`: a log4j configuration, which is not read.
    pub(crate) log_config: Option<PathBuf>,
    /// `-j`: file for the run's log, instead of the one in its folder.
    pub(crate) log: Option<PathBuf>,
    /// `-L`: pairs of category (empty for all) and level.
    pub(crate) levels: Vec<(String, String)>,
    pub(crate) sources: Sources,
    pub(crate) report: Report,
    /// True with `--no-report`: no report.html is written in the run's folder.
    pub(crate) no_report: bool,
    /// `--markdown`: file for the Markdown summary.
    pub(crate) markdown: Option<PathBuf>,
    /// `--k6-summary`: file for the summary in k6's format.
    pub(crate) k6_summary: Option<PathBuf>,
    pub(crate) json: bool,
    /// Language of the verdict. If it is not set, the environment decides.
    pub(crate) lang: Option<Lang>,
    /// True with `--quiet`: only warnings and errors are printed on the console.
    pub(crate) quiet: bool,
    pub(crate) skip_unsupported: bool,
    /// Folder in which the run creates its own folder.
    pub(crate) runs: PathBuf,
    /// Number of threads that run users. 0 means one per processor.
    pub(crate) cores: usize,
    /// Number of worker processes. 0 means the number of `throng.workers`, or as many as the users' connections need.
    pub(crate) workers: u32,
    /// The machines whose agents run the users, and how to reach them. Without them, the users run on this machine.
    pub(crate) fleet: Option<fleet::remote::Way>,
    /// `--relays`: agents through which the other agents are reached.
    pub(crate) relays: Option<fleet::remote::Relays>,
    /// `--rows-to`: destination to which agents send their result rows instead of to this machine.
    pub(crate) rows_to: Option<fleet::remote::RowsTo>,
    /// True if the death of a worker stops the run.
    pub(crate) stop_on_loss: bool,
    /// True if the run listens for JMeter's `shutdown.sh` and `stoptest.sh`.
    pub(crate) listen: bool,
    /// Load that replaces the plan's load.
    pub(crate) load: plan::load::LoadOverrides,
    /// Hosts that are watched during the run.
    pub(crate) watch: Vec<watch::Host>,
    /// Prices of processors, memory and traffic from throng.toml.
    pub(crate) prices: Option<report::model::Prices>,
    /// Systems that receive the run's metrics while it runs.
    pub(crate) out: Vec<export::Target>,
    pub(crate) criteria: Criteria,
    /// `--junit`: file for the run's tests as XML.
    pub(crate) junit: Option<PathBuf>,
    /// `--web`: address of the live page's server.
    pub(crate) web: Option<web::Address>,
}

/// Options of JMeter's report and metrics.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    /// True with `-e`: JMeter's report is built at the end of the run.
    pub(crate) at_end: bool,
    /// `-o`: folder of JMeter's report.
    pub(crate) folder: Option<PathBuf>,
    /// True with `--jmeter-figures`: report.html contains JMeter's figures.
    pub(crate) figures: bool,
}

impl Request {
    /// Returns the plan's folder, to which file names in the plan are relative.
    pub(crate) fn folder(&self) -> PathBuf {
        load::folder(&self.plan)
    }

    /// Returns the output files that the user named, each with its option.
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

    /// Returns the summary files that the user named and that the run must write.
    pub(crate) fn promised(&self) -> Promised {
        let name = self.plan.display().to_string();
        let (junit, markdown) = (self.junit.clone(), self.markdown.clone());
        Promised { name, junit, markdown, k6: self.k6_summary.clone() }
    }

    /// Applies one of JMeter's proxy options, which is given by its letter.
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

    /// Sets several system properties to the same value.
    fn set_system(&mut self, names: &[&str], value: &str) {
        for name in names {
            self.sources.settings.push(Setting::System((*name).into(), value.into()));
        }
    }
}

/// Refuses proxy schemes other than plain HTTP, because no other protocol to proxies is supported.
pub(crate) fn check_proxy_scheme(scheme: &str) -> Result<(), String> {
    if scheme.eq_ignore_ascii_case("http") {
        return Ok(());
    }
    Err("-E (--proxyScheme) is not supported yet: Throng talks to proxies in plain HTTP; remove it"
        .to_owned())
}
