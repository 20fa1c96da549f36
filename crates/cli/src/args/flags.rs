//! Throng's own command line. JMeter's command line is parsed by [`crate::args::jmeter_line`].

mod authoring;
mod check;
pub(crate) mod criteria;
mod fleet;
mod imports;
pub(crate) mod load;
mod preflight;
mod properties;
mod questions;
mod texts;
mod web;

use std::ffi::OsString;
use std::path::PathBuf;

use ::fleet::remote::{Choice, Relays, RowsTo, Way};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::args::request::{OVERCOMMIT, Report, Request, check_proxy_scheme};
use crate::inputs::properties::Setting;
use crate::inputs::{imported, suggest};
use crate::judge::verdict::Lang;

pub(crate) use self::fleet::{
    AgentFlags, ChoiceFlags, FleetVerb, ManifestFlags, ResumeFlags, UpFlags,
};
pub(crate) use self::web::WebFlags;
pub(crate) use authoring::{
    DiffFlags, FmtFlags, ListFlags, MergeFlags, PropType, ReplaceFlags, SetFlags,
};
pub(crate) use check::CheckFlags;
pub(crate) use criteria::CriteriaFlags;
pub(crate) use imports::{CurlFlags, ImportFlags};
pub(crate) use load::LoadFlags;
pub(crate) use preflight::PreflightFlags;
pub(crate) use properties::{MachineFlags, PassedFlags, PropertyFlags};
pub(crate) use questions::{CapacityFlags, CompareFlags, OutputFlags, SweepFlags};
pub(crate) use texts::USAGE;
use texts::{
    ABOUT, AFTER, AGENT_EXAMPLES, CAPACITY_EXAMPLES, COMPARE_EXAMPLES, COMPLETIONS_EXAMPLES,
    CTL_EXAMPLES, CURL_EXAMPLES, DIFF_EXAMPLES, IMPORT_EXAMPLES, LIST_EXAMPLES, MERGE_EXAMPLES,
    REPLACE_EXAMPLES, RUN_EXAMPLES, SET_EXAMPLES, SWEEP_EXAMPLES, WEB_EXAMPLES,
};

/// Throng's own command line.
#[derive(Debug, Parser)]
#[command(
    name = "throng",
    bin_name = "throng",
    version,
    about = ABOUT,
    after_help = AFTER,
    disable_help_subcommand = true,
    subcommand_required = true
)]
struct Line {
    #[command(subcommand)]
    verb: Verb,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a plan.
    #[command(after_help = RUN_EXAMPLES, override_usage = "throng run [OPTIONS] PLAN.jmx\n       throng run [OPTIONS] -n -t PLAN.jmx")]
    Run(RunFlags),
    /// List the elements of a plan that run natively, run in Java, are left out, or cannot run.
    Check(CheckFlags),
    /// Run the request of a curl command.
    #[command(after_help = CURL_EXAMPLES, disable_help_flag = true)]
    Curl(CurlFlags),
    /// Write a plan with the requests of curl commands or a list of URLs.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportFlags),
    /// Check whether this machine, and a chain of proxies, can carry a plan's load.
    Preflight(PreflightFlags),
    /// Run a plan at several load levels and report throughput and response times.
    #[command(after_help = SWEEP_EXAMPLES)]
    Sweep(SweepFlags),
    /// Find the largest load at which criteria hold.
    #[command(after_help = CAPACITY_EXAMPLES)]
    Capacity(CapacityFlags),
    /// Compare two runs, sweeps, result files or plans, and say which changes are significant.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareFlags),
    /// List the elements of a plan with their paths, or the properties of one element.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListFlags),
    /// Set properties of an element of a plan; no other byte of the file changes.
    #[command(after_help = SET_EXAMPLES)]
    Set(SetFlags),
    /// Search and replace in the values of plans; without --write, only show the changes.
    #[command(after_help = REPLACE_EXAMPLES)]
    Replace(ReplaceFlags),
    /// Write plans in one form, without the noise that JMeter's window adds.
    Fmt(FmtFlags),
    /// Show the differences of two plans by elements and properties.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffFlags),
    /// Merge the changes of two plans since a third; conflicts end with exit code 1.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeFlags),
    /// Change a running test: users, rate, pause, stop, mark.
    #[command(after_help = CTL_EXAMPLES)]
    Ctl(CtlFlags),
    /// Start one of the bundled systems under test; without a name, list them.
    Target(TargetFlags),
    /// Run a bundled example against its bundled target.
    Demo(DemoFlags),
    /// Diagnose a run (finished or killed) or a result file.
    Verdict(VerdictFlags),
    /// Write the HTML report of runs or result files, a Markdown summary, or tables as CSV and JSON.
    Report(ReportFlags),
    /// Show the runs of a folder in a browser: reports, comparisons, names and tags.
    #[command(after_help = WEB_EXAMPLES)]
    Web(WebFlags),
    /// Manage Java and JMeter's jars, which scripts and plug-ins need.
    #[command(subcommand)]
    Jvm(JvmVerb),
    /// Check the settings of signed and encrypted requests to a mobile gateway.
    #[command(subcommand)]
    Mgs(MgsVerb),
    /// Run Throng from JMeter's window, or in place of the jmeter command.
    #[command(subcommand)]
    Jmeter(JmeterVerb),
    /// Print shell completions.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsFlags),
    /// Print the manual page, or write the pages of all verbs into a folder.
    Man(ManFlags),
    /// Start an agent that waits for runs on a NATS server; runs over ssh start their agents themselves.
    #[command(after_help = AGENT_EXAMPLES)]
    Agent(AgentFlags),
    /// Set up remote load agents.
    #[command(subcommand)]
    Fleet(FleetVerb),
    /// Explain a rule of the verdict, an exit code or a page of the documentation; without a name, list them.
    Explain(ExplainFlags),
    /// Describe a verb and its options.
    Help(HelpFlags),
    /// Print the version, and the version of JMeter that it behaves like.
    Version,
}

/// The subcommands of `throng jvm`.
#[derive(Debug, Subcommand)]
pub(crate) enum JvmVerb {
    /// Fetch JMeter's jars once from Maven Central into the cache folder.
    Install {
        /// Another Maven repository; by default the mirror of Maven's settings, or Maven Central.
        #[arg(long, value_name = "URL", env = "THRONG_MAVEN_REPOSITORY")]
        repository: Option<String>,
        /// Fetch jars of plug-ins, too: those that public plans use, that Throng does not run natively, and that Maven
        /// Central has.
        #[arg(long)]
        plugins: bool,
    },
    /// Show which Java and which jars a run would use.
    Status {
        #[command(flatten)]
        properties: PropertyFlags,
        #[command(flatten)]
        machine: MachineFlags,
    },
}

/// The subcommands of `throng mgs`.
#[derive(Debug, Subcommand)]
pub(crate) enum MgsVerb {
    /// Find the signing settings that reproduce captured requests.
    Verify {
        /// File with a table `[[request]]` for each request; throng explain mgs lists its keys.
        #[arg(value_name = "VECTORS.toml")]
        vectors: PathBuf,
    },
}

/// The subcommands of `throng jmeter`.
#[derive(Debug, Subcommand)]
pub(crate) enum JmeterVerb {
    /// Install the plug-in for JMeter's window: a menu "Throng" checks and runs the open plan.
    InstallPlugin {
        /// JMeter's folder, which has bin and lib.
        #[arg(value_name = "DIR")]
        home: PathBuf,
        /// Remove the plug-in.
        #[arg(long)]
        remove: bool,
    },
    /// Install a drop-in jmeter command that falls back to JMeter for unsupported plans.
    InstallShim {
        /// Folder, which must be before JMeter's own in PATH.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// JMeter's folder or program; by default that of THRONG_JMETER, of JMETER_HOME, or the next jmeter in PATH,
        /// searched only when it is needed.
        #[arg(long, value_name = "PATH", conflicts_with = "remove")]
        jmeter: Option<PathBuf>,
        /// Remove the command.
        #[arg(long)]
        remove: bool,
    },
    /// Install throng-java for tools that start JMeter with java, like jmeter-maven-plugin: it runs plans in Throng, or
    /// in Java if Throng refuses them.
    InstallJava {
        /// Folder for throng-java.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Remove throng-java.
        #[arg(long)]
        remove: bool,
    },
    /// Run a java command that starts JMeter: in Throng, or in Java if Throng refuses it. The program of install-java
    /// runs this.
    #[command(disable_help_flag = true)]
    Java {
        /// Java's arguments.
        #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Run a jmeter command: in Throng, or in JMeter if Throng refuses it. The program of install-shim runs this.
    #[command(disable_help_flag = true)]
    Line {
        /// JMeter's arguments.
        #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    /// The JMeter plan to run, a URL, or a file with curl commands or URLs; - is standard input.
    #[arg(required_unless_present = "plan_option")]
    plan: Option<PathBuf>,
    /// Write a row per sample to this file, as JMeter does.
    #[arg(short = 'l', long = "logfile", value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Write a row per sample to results.jtl in the run's folder.
    #[arg(long)]
    jtl: bool,
    /// Delete result files that exist instead of appending to them.
    #[arg(short = 'f', long = "forceDeleteResultFile")]
    force: bool,
    /// Log file of the run; by default in the run's folder.
    #[arg(short = 'j', long = "jmeterlogfile", value_name = "FILE")]
    log: Option<PathBuf>,
    /// Level of the log, like DEBUG, or of a category, like engine=INFO. May be given several times.
    #[arg(short = 'L', long = "loglevel", value_name = "[CATEGORY=]LEVEL")]
    level: Vec<String>,
    /// Language of the verdict; by default that of LC_ALL, LC_MESSAGES or LANG.
    #[arg(long)]
    lang: Option<Lang>,
    /// Print the summary as JSON on standard output, and everything else on standard error.
    #[arg(long)]
    json: bool,
    /// Print errors and warnings only; the summary is in the run's folder.
    #[arg(long)]
    quiet: bool,
    /// Run the plan without the elements that Throng cannot run, and list these.
    #[arg(long)]
    skip_unsupported: bool,
    /// Parent folder of the run's folder.
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    runs: PathBuf,
    /// Threads that run users; by default one per processor.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u16).range(0..=1024))]
    cores: u16,
    /// Processes that run users; by default one, or as many as the users' connections need.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    workers: Option<u32>,
    /// Run on other machines: ssh:user@a,user@b:2222, to which Throng is copied if it is missing, or agents that wait
    /// on a NATS server: nats://host:4222/pool.
    #[arg(long, value_name = "MACHINES")]
    fleet: Option<String>,
    #[command(flatten)]
    choice: ChoiceFlags,
    /// Destination to which agents send their result rows instead of to this machine: a URL that accepts PUT, in which
    /// {run}, {agent} and {file} are replaced, or the path of a folder on each machine.
    #[arg(long, value_name = "PLACE")]
    rows_to: Option<String>,
    /// Reaction to the death of a worker process: continue with the others, or stop the run.
    #[arg(long, value_name = "WHAT", default_value = "continue")]
    on_worker_lost: OnLoss,
    /// Start even if this machine has too little memory, threads or descriptors for the plan's users.
    #[arg(long)]
    overcommit: bool,
    /// Local addresses to connect from, one for each user in turn: addresses, ranges, interfaces.
    #[arg(long, value_name = "ADDRESSES")]
    source: Option<String>,
    /// Maximum number of WebSocket connections that the whole run opens per second.
    #[arg(long, value_name = "N")]
    connect_rate: Option<f64>,
    /// Put a header on every HTTP request and WebSocket handshake, so that servers can tell the test's traffic apart.
    /// It replaces the plan's header of the same name. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = engine::check_tag)]
    tag: Vec<String>,
    /// Chart a number from responses over time: NAME=VARIABLE for a variable that the plan extracts, NAME=header:NAME
    /// for a response header, or NAME=timing:METRIC for a metric of Server-Timing. May be given several times.
    #[arg(long, value_name = "NAME=SOURCE", value_parser = engine::check_series)]
    series: Vec<String>,
    /// Add a member to the W3C header baggage of every request, which services pass on. May be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = engine::check_baggage)]
    baggage: Vec<String>,
    /// Begin a trace with every sample (W3C's header traceparent); the report shows the trace ids of the slowest and of
    /// failed samples. With =sampled, requests ask servers to record the traces.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = ["true", "sampled", "false"])]
    traceparent: Option<String>,
    /// Watch a host during the run: a Prometheus exporter, queried once a second. May be given several times. Append
    /// ,ports=N for the number of the host's local ports.
    #[arg(long, value_name = "NAME=URL", value_parser = watch::Host::parse)]
    watch: Vec<watch::Host>,
    /// Query an Alertmanager for firing alerts every two seconds, and mark their start and end in the run.
    #[arg(long, value_name = "URL", value_parser = watch::Host::alertmanager)]
    alerts: Option<watch::Host>,
    /// Send metrics to a monitoring system during the run: influxdb=URL, prometheus[=ADDRESS],
    /// prometheus-remote-write=URL or otlp=URL. May be given several times. Secrets come from the environment, like
    /// THRONG_INFLUXDB_TOKEN.
    #[arg(long, value_name = "KIND=ADDRESS")]
    out: Vec<String>,
    /// Write no report.html into the run's folder.
    #[arg(long)]
    no_report: bool,
    /// Put the tables of JMeter's dashboard into report.html; they are computed from the rows of --jtl or -l.
    #[arg(long, conflicts_with = "no_report")]
    jmeter_figures: bool,
    /// Write a summary in Markdown, for a pull request or a job's page.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a summary in the form of k6's --summary-export, which GitLab's widget for load tests reads.
    #[arg(long, value_name = "FILE")]
    k6_summary: Option<PathBuf>,
    /// Serve a web page that shows the run, controls it, and becomes its report; without an address, only on this
    /// machine and on a free port.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    web: Option<::web::Address>,
    #[command(flatten)]
    load: LoadFlags,
    #[command(flatten)]
    criteria: CriteriaFlags,
    #[command(flatten)]
    properties: PropertyFlags,
    #[command(flatten)]
    machine: MachineFlags,
    #[command(flatten)]
    jmeter: JmeterFlags,
}

/// Options of JMeter's command line that have no other spelling here.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of JMeter's command line")]
struct JmeterFlags {
    /// The plan, as on JMeter's command line.
    #[arg(
        short = 't',
        long = "testfile",
        value_name = "PLAN",
        conflicts_with = "plan",
        id = "plan_option"
    )]
    plan: Option<PathBuf>,
    /// Accepted without effect: Throng has no window.
    #[arg(short = 'n', long = "nongui")]
    nongui: bool,
    /// Host of the HTTP proxy.
    #[arg(short = 'H', long = "proxyHost", value_name = "HOST")]
    proxy_host: Option<String>,
    /// Port of the HTTP proxy.
    #[arg(short = 'P', long = "proxyPort", value_name = "PORT")]
    proxy_port: Option<String>,
    /// Hosts that are reached without the proxy, like a.example|*.b.example.
    #[arg(short = 'N', long = "nonProxyHosts", value_name = "HOSTS")]
    direct_hosts: Option<String>,
    /// User name at the proxy.
    #[arg(short = 'u', long = "username", value_name = "NAME")]
    proxy_user: Option<String>,
    /// Password at the proxy.
    #[arg(short = 'a', long = "password", value_name = "PASSWORD")]
    proxy_password: Option<String>,
    /// Scheme of the proxy; only http is supported.
    #[arg(short = 'E', long = "proxyScheme", value_name = "SCHEME")]
    proxy_scheme: Option<String>,
    /// A log4j configuration: Throng does not read it and prints a warning.
    #[arg(short = 'i', long = "jmeterlogconf", value_name = "FILE")]
    log_config: Option<PathBuf>,
    /// Write JMeter's report, computed from the rows, at the end of the run.
    #[arg(short = 'e', long = "reportatendofloadtests")]
    report: bool,
    /// Folder of JMeter's report: index.html and statistics.json; it must be empty or must not exist, unless -f deletes
    /// it.
    #[arg(short = 'o', long = "reportoutputfolder", value_name = "FOLDER")]
    report_folder: Option<PathBuf>,
}

impl JmeterFlags {
    /// Adds the options of JMeter's command line to the request.
    fn apply(self, request: &mut Request) -> Result<(), String> {
        let texts = [
            ('H', self.proxy_host),
            ('P', self.proxy_port),
            ('N', self.direct_hosts),
            ('u', self.proxy_user),
            ('a', self.proxy_password),
        ];
        for (option, text) in texts {
            if let Some(text) = text {
                request.set_proxy(option, &text);
            }
        }
        if let Some(scheme) = self.proxy_scheme {
            check_proxy_scheme(&scheme)?;
        }
        request.log_config = self.log_config;
        request.report.at_end = self.report;
        request.report.folder = self.report_folder;
        Ok(())
    }
}

/// The consequence of a worker's death for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnLoss {
    Continue,
    Stop,
}

#[derive(Debug, Args)]
pub(crate) struct CtlFlags {
    /// Parent folder of the runs' folders, in which the running test is looked up.
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// The request; before it the run's folder, if several tests run.
    #[arg(
        value_name = "[RUN] REQUEST",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TargetFlags {
    /// Name of the target; without it, the targets are listed.
    pub(crate) name: Option<String>,
    /// Port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) listen: std::net::IpAddr,
    /// Serve HTTPS with a self-signed certificate.
    #[arg(long)]
    pub(crate) tls: bool,
    /// An option of the target. May be given several times.
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
    /// End after this many seconds.
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoFlags {
    /// Name of the example; the only one is fitness.
    #[arg(default_value = "fitness")]
    pub(crate) name: String,
    /// Print the summary as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Parent folder of the run's folder.
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Language of the verdict; by default that of LC_ALL, LC_MESSAGES or LANG.
    #[arg(long)]
    pub(crate) lang: Option<Lang>,
    #[command(flatten)]
    pub(crate) properties: PropertyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct VerdictFlags {
    /// The folder of a run, its record, or a result file of JMeter or Throng; - is standard input.
    #[arg(value_name = "RUN|JTL")]
    pub(crate) path: PathBuf,
    /// Print the verdict as JSON, in the form that it has under `verdict` in summary.json.
    #[arg(long)]
    pub(crate) json: bool,
    /// Language of the verdict; by default that of LC_ALL, LC_MESSAGES or LANG.
    #[arg(long)]
    pub(crate) lang: Option<Lang>,
    /// The same as --lang zh.
    #[arg(long, conflicts_with = "lang")]
    pub(crate) zh: bool,
    #[command(flatten)]
    pub(crate) properties: PropertyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// Folders of runs (finished or killed), comparisons, sweeps or searches; records; or result files of JMeter or
    /// Throng; - is standard input.
    #[arg(value_name = "RUN|JTL", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// File to write [default: report.html in the run's folder, or beside the result file].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also write a summary in Markdown, for a pull request or a job's page.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Also write a summary of a run in the form of k6's --summary-export, which GitLab's widget for load tests reads.
    #[arg(long, value_name = "FILE")]
    pub(crate) k6_summary: Option<PathBuf>,
    /// Also write all tables into this folder: each as CSV and as JSON.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tables: Option<PathBuf>,
    /// Language in which the report opens; by default that of LC_ALL, LC_MESSAGES or LANG. Readers can change it.
    #[arg(long)]
    pub(crate) lang: Option<Lang>,
    /// Add the tables of JMeter's dashboard, by its formulas: of a result file, or of a run with --jtl.
    #[arg(long)]
    pub(crate) jmeter_figures: bool,
    #[command(flatten)]
    pub(crate) properties: PropertyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsFlags {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManFlags {
    /// Folder for throng.1 and a page for each verb; without it, throng.1 is printed.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainFlags {
    /// Name of a rule, an exit code or a page, like rate_limit, 6 or criteria.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HelpFlags {
    /// The verb, like run or jvm install; without it, the whole program is described.
    #[arg(value_name = "VERB")]
    pub(crate) verb: Vec<String>,
}

/// Parses the command line. A help request or a usage error is returned as clap's error, which contains the message
/// to print.
pub(crate) fn parse(args: &[OsString]) -> Result<Verb, clap::Error> {
    if args.get(1).is_some_and(|verb| verb == "run")
        && let Some(flags) = run_alone(&args[1..])
    {
        return Ok(Verb::Run(flags));
    }
    let matches = Line::command().try_get_matches_from(args)?;
    let mut verb = Line::from_arg_matches(&matches)?.verb;
    if let Some((_, matches)) = matches.subcommand() {
        match &mut verb {
            Verb::Run(flags) => flags.properties.put_in_order(matches),
            Verb::Check(flags) => flags.properties.put_in_order(matches),
            Verb::Preflight(flags) => flags.properties.put_in_order(matches),
            Verb::Demo(flags) => flags.properties.put_in_order(matches),
            Verb::Report(flags) => flags.properties.put_in_order(matches),
            Verb::Verdict(flags) => flags.properties.put_in_order(matches),
            Verb::Sweep(flags) => flags.passed.put_in_order(matches),
            Verb::Capacity(flags) => flags.passed.put_in_order(matches),
            Verb::Compare(flags) => flags.passed.put_in_order(matches),
            Verb::Jvm(JvmVerb::Status { properties, .. }) => {
                if let Some((_, matches)) = matches.subcommand() {
                    properties.put_in_order(matches);
                }
            }
            Verb::Curl(_)
            | Verb::Import(_)
            | Verb::Target(_)
            | Verb::Web(_)
            | Verb::List(_)
            | Verb::Set(_)
            | Verb::Replace(_)
            | Verb::Fmt(_)
            | Verb::Diff(_)
            | Verb::Merge(_)
            | Verb::Ctl(_)
            | Verb::Jvm(JvmVerb::Install { .. })
            | Verb::Mgs(_)
            | Verb::Jmeter(_)
            | Verb::Completions(_)
            | Verb::Man(_)
            | Verb::Agent(_)
            | Verb::Fleet(_)
            | Verb::Explain(_)
            | Verb::Help(_)
            | Verb::Version => {}
        }
    }
    Ok(verb)
}

/// Parses the options of `throng run` without the other commands. Returns `None` if they are wrong or ask for help,
/// which needs all commands. Building all commands takes longer than reading a small plan.
fn run_alone(args: &[OsString]) -> Option<RunFlags> {
    let matches = run_command().try_get_matches_from(args).ok()?;
    let mut flags = RunFlags::from_arg_matches(&matches).ok()?;
    flags.properties.put_in_order(&matches);
    Some(flags)
}

fn run_command() -> clap::Command {
    RunFlags::augment_args(clap::Command::new("run"))
}

/// Returns the whole command line: commands, options and their descriptions.
pub(crate) fn command() -> clap::Command {
    Line::command()
}

/// Returns the help of a command or of the whole program. The error is a message for the user.
pub(crate) fn help(verb: &[String]) -> Result<clap::builder::StyledStr, String> {
    let mut command = Line::command();
    // Building puts the program's name and the parent commands into each usage line.
    command.build();
    let mut at = &mut command;
    for (depth, name) in verb.iter().enumerate() {
        let unknown = || suggest::unknown_verb(&verb[..depth], name, &verbs(&verb[..depth]));
        at = at.find_subcommand_mut(name).ok_or_else(unknown)?;
    }
    Ok(at.render_help())
}

/// Returns a usage error as a message for the user. Secrets in URLs are masked.
pub(crate) fn mistake(error: &clap::Error) -> String {
    record::mask::urls(&suggest::sentence(error, verbs)).into_owned()
}

/// True if a word is the name of a command.
pub(crate) fn is_verb(word: &str) -> bool {
    verbs(&[]).iter().any(|verb| verb == word)
}

/// Returns the names of the subcommands of a command such as `fleet`; of all commands if `parents` is empty.
fn verbs(parents: &[String]) -> Vec<String> {
    let command = Line::command();
    let below = parents.iter().try_fold(&command, |at, name| at.find_subcommand(name));
    let verbs = below.into_iter().flat_map(clap::Command::get_subcommands);
    verbs.map(|verb| verb.get_name().to_owned()).collect()
}

/// Builds a request from options of `throng run` that were found on JMeter's command line. The error is a message
/// for the user.
pub(crate) fn run_options(options: &[OsString]) -> Result<Request, String> {
    // The plan's name is taken from JMeter's own option.
    let line =
        ["throng", "run", "-"].into_iter().map(OsString::from).chain(options.iter().cloned());
    match parse(&line.collect::<Vec<_>>()) {
        Ok(Verb::Run(flags)) => flags.request(),
        Ok(_) => unreachable!("the verb is run"),
        Err(error) => Err(mistake(&error)),
    }
}

/// Returns `None` if `throng run` has no long option of this name. Otherwise returns true if the option takes a value.
pub(crate) fn run_option(name: &str) -> Option<bool> {
    let run = run_command();
    let named = |arg: &&clap::Arg| {
        let aliases = arg.get_visible_aliases().unwrap_or_default();
        arg.get_long() == Some(name) || aliases.contains(&name)
    };
    // A value that must follow `=` is not a separate argument.
    let takes = |arg: &clap::Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
    run.get_arguments().find(named).map(takes)
}

/// Joins the strings to the value of one property. Returns `None` if there are no strings.
fn joined(texts: &[String], by: &str) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(by))
}

/// Parses the destination to which agents send their result rows.
fn rows_to(place: Option<&str>) -> Result<Option<RowsTo>, String> {
    let token = std::env::var("THRONG_ROWS_TOKEN").ok().filter(|token| !token.is_empty());
    place.map(|place| RowsTo::read(place, token)).transpose()
}

/// Parses the machines of a run and the transport by which they are reached.
fn way(text: Option<&str>, choice: ChoiceFlags, relays: usize) -> Result<Option<Way>, String> {
    let choice = choice.choice()?;
    match text {
        Some(text) => Way::read(text, choice, relays).map(Some),
        None if choice == Choice::default() => Ok(None),
        None => Err("--agents, --zone and --label need --fleet nats://host:4222/pool".into()),
    }
}

impl RunFlags {
    /// Builds the request for the run. The error is a message for the user.
    pub(crate) fn request(self) -> Result<Request, String> {
        let relays = self.choice.relays()?;
        let count = relays.as_ref().map_or(0, Relays::count);
        let mut sources = self.properties.sources();
        self.machine.add_to(&mut sources);
        let given = [
            (OVERCOMMIT, self.overcommit.then(|| "true".to_owned())),
            ("throng.source.addresses", self.source),
            ("throng.connect.rate", self.connect_rate.map(|rate| rate.to_string())),
            ("throng.tag", joined(&self.tag, "\n")),
            ("throng.series", joined(&self.series, "\n")),
            ("throng.baggage", joined(&self.baggage, ",")),
            ("throng.traceparent", self.traceparent),
        ];
        for (name, value) in given {
            sources.settings.extend(value.map(|value| Setting::Jmeter(name.into(), value)));
        }
        let level = |text: &String| match text.split_once('=') {
            Some((category, level)) => (category.to_string(), level.to_string()),
            None => (String::new(), text.clone()),
        };
        let mut request = Request {
            // clap guarantees that one of the two is set.
            plan: self.plan.or(self.jmeter.plan.clone()).unwrap_or_default(),
            made: None,
            jtl: self.rows,
            jtl_in_folder: self.jtl,
            force: self.force,
            log_config: None,
            report: Report { figures: self.jmeter_figures, ..Report::default() },
            no_report: self.no_report,
            markdown: self.markdown,
            k6_summary: self.k6_summary,
            log: self.log,
            levels: self.level.iter().map(level).collect(),
            sources,
            json: self.json,
            lang: self.lang,
            quiet: self.quiet,
            skip_unsupported: self.skip_unsupported,
            runs: self.runs,
            cores: self.cores.into(),
            workers: self.workers.unwrap_or(0),
            fleet: way(self.fleet.as_deref(), self.choice, count)?,
            relays,
            rows_to: rows_to(self.rows_to.as_deref())?,
            stop_on_loss: self.on_worker_lost == OnLoss::Stop,
            listen: false,
            load: self.load.given()?,
            watch: self.watch.into_iter().chain(self.alerts).collect(),
            prices: None,
            out: export::Target::all(&self.out)?,
            junit: self.criteria.junit.clone(),
            criteria: self.criteria.given(),
            web: self.web,
        };
        self.jmeter.apply(&mut request)?;
        import_url(&mut request)?;
        Ok(request)
    }
}

/// Replaces a URL in place of the plan by the plan made of it. The URL may contain a password, and the new name of the
/// plan does not.
fn import_url(request: &mut Request) -> Result<(), String> {
    if imported::is_url(&request.plan) {
        let made = imported::of_url(&request.plan)?;
        request.plan.clone_from(&made.name);
        request.made = Some(made);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
