//! Options that set properties. Several commands share them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, Args};

use crate::inputs::properties::{Setting, Sources};

/// Flags about the Java machine of a run.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Java")]
pub(crate) struct MachineFlags {
    /// Java for scripts and plug-ins; by default that of JAVA_HOME, of PATH, or of the usual folders, in this order.
    #[arg(long, value_name = "FOLDER")]
    java_home: Option<PathBuf>,
    /// Largest size of the Java heap, like 512m or 2g; by default 1g.
    #[arg(long, value_name = "SIZE")]
    jvm_heap: Option<String>,
    /// An option of the JVM, like -Xss2m. May be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    jvm_option: Vec<String>,
    /// Maximum number of threads for scripts and plug-ins; by default 1000.
    #[arg(long, value_name = "N")]
    jvm_threads: Option<u32>,
    /// Run Java in a separate process: if Java crashes, the run still ends properly.
    #[arg(long)]
    jvm_isolated: bool,
}

impl MachineFlags {
    /// Adds these options as properties, so that workers receive them too.
    pub(crate) fn add_to(self, sources: &mut Sources) {
        let options = self.jvm_option.join(&jvm::SEPARATOR.to_string());
        let folder = self.java_home.map(|home| home.display().to_string());
        let given = [
            ("throng.java.home", folder),
            ("throng.jvm.heap", self.jvm_heap),
            ("throng.jvm.isolated", self.jvm_isolated.then(|| "true".to_owned())),
            ("throng.jvm.options", Some(options).filter(|options| !options.is_empty())),
            ("throng.jvm.threads", self.jvm_threads.map(|threads| threads.to_string())),
        ];
        for (name, value) in given {
            sources.settings.extend(value.map(|value| Setting::Jmeter(name.into(), value)));
        }
    }
}

/// Options that set properties, with the same meaning as in JMeter.
#[derive(Debug, Args)]
#[command(next_help_heading = "Properties")]
pub(crate) struct PropertyFlags {
    /// Set a JMeter property; without a value, remove it.
    #[arg(short = 'J', long = "jmeterproperty", value_name = "NAME=VALUE")]
    jmeter: Vec<String>,
    /// Set a system property; without a value, remove it.
    #[arg(short = 'D', long = "systemproperty", value_name = "NAME=VALUE")]
    system: Vec<String>,
    /// Accepted and without effect: only the hosts of JMeter's -R and -r read these.
    #[arg(short = 'G', long = "globalproperty", value_name = "NAME=VALUE", hide = true)]
    global: Vec<String>,
    /// A file to read instead of jmeter.properties.
    #[arg(short = 'p', long = "propfile", value_name = "FILE")]
    base: Option<PathBuf>,
    /// An additional property file.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    file: Vec<PathBuf>,
    /// A file of system properties.
    #[arg(short = 'S', long = "systemPropertyFile", value_name = "FILE")]
    system_file: Vec<PathBuf>,
    /// JMeter's folder, whose bin contains jmeter.properties and user.properties, and whose lib contains the jars for
    /// scripts and plug-ins; by default JMETER_HOME.
    #[arg(short = 'd', long = "homedir", visible_alias = "jmeter-home", value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// Let the plan's OS Process Samplers run programs on this machine.
    #[arg(long)]
    allow_processes: bool,
    #[arg(skip)]
    order: Vec<Setting>,
}

impl PropertyFlags {
    /// Stores the flags in the order of the command line. If two flags set the same property, the last one wins.
    pub(super) fn put_in_order(&mut self, matches: &ArgMatches) {
        let mut order: Vec<(usize, Setting)> = Vec::new();
        let at = |id: &str| matches.indices_of(id).into_iter().flatten().collect::<Vec<_>>();
        let pair = |text: &String| match text.split_once('=') {
            Some((key, value)) => (key.to_string(), value.to_string()),
            None => (text.clone(), String::new()),
        };
        let pairs = |texts: &[String], make: fn(String, String) -> Setting| {
            texts.iter().map(pair).map(|(key, value)| make(key, value)).collect::<Vec<_>>()
        };
        order.extend(at("jmeter").into_iter().zip(pairs(&self.jmeter, Setting::Jmeter)));
        order.extend(at("system").into_iter().zip(pairs(&self.system, Setting::System)));
        order.extend(at("file").into_iter().zip(self.file.iter().cloned().map(Setting::File)));
        order.extend(
            at("system_file")
                .into_iter()
                .zip(self.system_file.iter().cloned().map(Setting::SystemFile)),
        );
        order.sort_by_key(|(index, _)| *index);
        self.order = order.into_iter().map(|(_, setting)| setting).collect();
        if self.allow_processes {
            self.order.push(Setting::Jmeter("throng.processes.allowed".into(), "true".into()));
        }
    }

    pub(crate) fn sources(&self) -> Sources {
        let home = self.home.clone().or_else(jvm::jmeter_home);
        let (base, settings) = (self.base.clone(), self.order.clone());
        Sources { base, home, settings, ..Sources::default() }
    }
}

/// Options of `throng run` that a command with several runs, like `throng sweep`, passes to each run.
#[derive(Debug, Args)]
pub(crate) struct PassedFlags {
    /// Options of throng run for every run, after --.
    #[arg(last = true, value_name = "OPTIONS OF RUN")]
    rest: Vec<OsString>,
    #[command(flatten)]
    properties: PropertyFlags,
}

impl PassedFlags {
    pub(super) fn put_in_order(&mut self, matches: &ArgMatches) {
        self.properties.put_in_order(matches);
    }

    /// Returns the options that set properties.
    pub(crate) fn properties(&self) -> &PropertyFlags {
        &self.properties
    }

    /// True if options after `--` may set further properties.
    pub(crate) fn has_more_properties(&self) -> bool {
        let sets = |option: &OsString| {
            let option = option.as_encoded_bytes();
            [&b"-J"[..], b"-D", b"-q", b"-p", b"-S"].iter().any(|flag| option.starts_with(flag))
        };
        self.rest.iter().any(sets)
    }

    /// Returns the options as arguments for the command line of a run.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let PropertyFlags { base, home, order, .. } = &self.properties;
        let mut line: Vec<OsString> = Vec::new();
        let mut add = |option: &str, value: OsString| {
            line.push(option.into());
            line.push(value);
        };
        for (option, file) in [("-p", base), ("-d", home)] {
            if let Some(file) = file {
                add(option, file.clone().into_os_string());
            }
        }
        for setting in order {
            match setting {
                Setting::Jmeter(name, value) => add("-J", format!("{name}={value}").into()),
                Setting::System(name, value) => add("-D", format!("{name}={value}").into()),
                Setting::File(file) => add("-q", file.clone().into_os_string()),
                Setting::SystemFile(file) => add("-S", file.clone().into_os_string()),
            }
        }
        line.extend(self.rest.iter().cloned());
        line
    }
}
