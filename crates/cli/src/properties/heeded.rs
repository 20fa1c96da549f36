//! Which properties have an effect here, so that the others can be reported.
//!
//! Three sorts are not worth a word to the user: those honoured, those that only concern JMeter's windows, reports
//! and class loading, and those a plan reads itself. Everything else that is set is named once at the start.

/// Honoured by the command line and the plan; the engine and result files name their own.
#[rustfmt::skip]
const HONOURED: &[&str] = &[
    "aggregate_rpt_pct1",
    "aggregate_rpt_pct2",
    "aggregate_rpt_pct3",
    "csvdataset.eofstring",
    "http.post_add_content_type_if_missing",
    "httpclient4.default_user_agent_disabled",
    "jmeterengine.nongui.maxport",
    "jmeterengine.nongui.port",
    "summariser.ignore_transaction_controller_sample_result",
    "summariser.interval",
    "summariser.log",
    "summariser.name",
    "summariser.out",
    "system.properties",
    "tcp.BinaryTCPClient.eomByte",
    "tcp.binarylength.prefix.length",
    "tcp.charset",
    "tcp.eolByte",
    "tcp.handler",
    "tcp.status.prefix",
    "tcp.status.suffix",
    "throng.http.java_version",
    "throng.processes.allowed",
    "throng.workers",
    "timer.factor",
    "user.properties",
];

/// Not read, but set to what happens anyway.
#[rustfmt::skip]
const AS_IT_IS: &[(&str, &str)] = &[
    ("function.cache.per.iteration", "false"),
    ("httpclient4.idletimeout", "0"),
    ("httpclient4.retrycount", "0"),
    ("httpclient.version", "1.1"),
    ("jmeter.httpsampler", "HttpClient4"),
    ("jmeterengine.threadstop.wait", "5000"),
    ("mode", "Standard"),
    ("sampleresult.nanoThreadSleep", "5000"),
    ("sampleresult.timestamp.start", "true"),
    ("sampleresult.useNanoTime", "true"),
];

/// Without meaning outside JMeter's windows, recorder, reports, remote engines and class loading.
#[rustfmt::skip]
const WITHOUT_MEANING: &[&str] = &[
    "START.", "HTTPResponse.parsers", "TestPlan.", "beanshell.server.", "classfinder.", "cookies", "cssParser.",
    "csvdataset.file.encoding_list", "darklaf.", "file.", "gui.", "htmlParser.", "java.", "jdbc.config.",
    "jdk.", "jmeter.gui.", "jmeter.hidpi.", "jmeter.icons", "jmeter.laf.", "jmeter.reportgenerator.", "jmeter.save.saveservice.autoflush", "jmeter.toolbar",
    "jmeter.tree.", "jmeter.version", "jmeter.exit.check.pause", "jmeter.loggerpanel.", "keystore.", "language", "log_format", "log_level.",
    "line.", "locales.add", "not_in_menu", "os.", "path.", "plugin_dependency_paths", "proxy.", "recording",
    "remote_hosts", "rsyntaxtextarea.", "save_automatically_before_run", "saveservice_properties", "search_paths",
    "server.rmi.", "server_port", "sun.", "tree_icons", "undo.history.size", "upgrade_properties", "user.classpath",
    "user.dir", "user.home", "user.name", "view.results.", "wmlParser.",
];

/// Whether setting the key to the value does here what it does in JMeter without windows, be it nothing.
pub(super) fn has_effect(key: &str, value: &str) -> bool {
    let honoured = [HONOURED, engine::PROPERTIES, stats::jtl::Columns::PROPERTIES];
    honoured.iter().any(|keys| keys.contains(&key))
        || WITHOUT_MEANING.iter().any(|family| key.starts_with(family))
        || AS_IT_IS.contains(&(key, value))
}
