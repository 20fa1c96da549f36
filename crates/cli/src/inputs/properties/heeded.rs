//! Lists of the properties that have an effect, so that all others can be reported.
//!
//! Three kinds of properties are not reported: those that Throng supports, those that concern only JMeter's
//! windows, reports and class loading, and those that the plan itself reads. Every other property that the user has
//! set is reported once at the start.

/// Properties that the command line and the plan support. The engine and the module for result files have separate
/// lists.
#[rustfmt::skip]
const HONOURED: &[&str] = &[
    "HTTPResponse.parsers",
    "aggregate_rpt_pct1",
    "aggregate_rpt_pct2",
    "aggregate_rpt_pct3",
    "assertion.equals_diff_delta_end",
    "assertion.equals_diff_delta_start",
    "assertion.equals_section_diff_len",
    "cssParser.className",
    "cssParser.types",
    "csvdataset.eofstring",
    "csvread.delimiter",
    "dynamic_tg.shift_rampup_start",
    "dynamic_tg.temporisation",
    "htmlParser.className",
    "htmlParser.types",
    "http.post_add_content_type_if_missing",
    "httpclient4.default_user_agent_disabled",
    "jmeter.httpsampler",
    "httpsampler.ignore_failed_embedded_resource",
    "https.nonProxyHosts",
    "https.proxyHost",
    "https.proxyPort",
    "includecontroller.prefix",
    "kg.apc.jmeter.samplers.ReceiveBufferSize",
    "kg.apc.jmeter.samplers.ResultDataLimit",
    "jmeterengine.nongui.maxport",
    "jmeterengine.nongui.port",
    "summariser.ignore_transaction_controller_sample_result",
    "summariser.interval",
    "summariser.log",
    "summariser.name",
    "summariser.out",
    "load_profile",
    "threads_schedule",
    "system.properties",
    "tcp.BinaryTCPClient.eomByte",
    "tcp.binarylength.prefix.length",
    "tcp.charset",
    "tcp.eolByte",
    "tcp.handler",
    "tcp.status.prefix",
    "tcp.status.properties",
    "tcp.status.suffix",
    "throng.fleet.grace",
    "throng.http.java_version",
    "throng.processes.allowed",
    "throng.scripts.native",
    "throng.stop.grace",
    "throng.throughput_timer.rounded",
    "throng.log.short_names",
    "throng.overcommit",
    // JMeter's window plug-in reads these two properties.
    "throng.program",
    "throng.rows.load.mb",
    "throng.workers",
    "time.HMS",
    "time.USER1",
    "time.USER2",
    "time.YMD",
    "time.YMDHMS",
    "timer.factor",
    "user.properties",
    "wmlParser.className",
    "wmlParser.types",
];

/// JMeter properties that have no effect in Throng: name, JMeter's default, and the reason.
#[rustfmt::skip]
const WITHOUT_EFFECT: &[(&str, &str, &str)] = &[
    ("asynch.batch.queue.size", "100", "hosts are reached by ssh, not by RMI"),
    ("backend_influxdb.connection_request_timeout", "100", "connections to InfluxDB are not taken from a pool"),
    ("client.continue_on_fail", "false", "hosts are reached by ssh, not by RMI"),
    ("client.retries_delay", "5000", "hosts are reached by ssh, not by RMI"),
    ("client.rmi.localport", "0", "hosts are reached by ssh, not by RMI"),
    ("client.tries", "1", "hosts are reached by ssh, not by RMI"),
    ("CookieManager.allow_variable_cookies", "true", "cookies of a Cookie Manager are always evaluated"),
    ("css.parser.cache.size", "400", "style sheets are parsed without a cache"),
    ("css.parser.ignore_all_css_errors", "true", "it affects only what is logged"),
    ("cssselector.parser.cache.size", "400", "selectors are compiled once"),
    ("document.max_size", "0", "Apache Tika needs a JVM"),
    ("function.cache.per.iteration", "false", "a function is evaluated at each place where it is used"),
    ("hc.parameters.file", "hc.parameters", "JMeter 5.6.3 does not read it either"),
    ("http.java.sampler.retries", "0", "a connection is attempted once"),
    ("httpclient.loopback", "false", "only JMeter's own tests use it"),
    ("httpclient.timeout", "0", "JMeter 5.6.3 does not read it either: samplers have their own timeouts"),
    ("httpclient.version", "1.1", "JMeter 5.6.3 does not read it either: requests are HTTP/1.1"),
    ("httpsampler.embedded_resources_use_md5", "false", "not supported yet: embedded resources keep their bodies if an element reads them"),
    ("httpsampler.max_buffer_size", "66560", "bodies are kept whole or not at all"),
    ("httpsampler.obey_contentlength", "false", "the headers of a response decide how much of its body is read"),
    ("httpsampler.parallel_download_thread_keepalive_inseconds", "60", "embedded resources are downloaded without threads"),
    ("httpsampler.separate.container", "true", "not supported yet: a page with embedded resources always has a container sample"),
    ("javax.net.debug", "", "TLS connections are not made by Java"),
    ("javax.net.ssl.keyStoreProvider", "", "the format of a key store is detected from its content"),
    ("javax.net.ssl.trustStoreProvider", "", "the format of a trust store is detected from its content"),
    ("jmespath.parser.cache.size", "400", "expressions are compiled once"),
    ("jmeter.httpclient.strict_rfc2616", "false", "JMeter 5.6.3 does not read it either"),
    ("jmeter.regex.engine", "oro", "not supported yet: patterns are always those of ORO"),
    ("jmeter.regex.patterncache.size", "1000", "not supported yet: patterns are always those of ORO"),
    ("jmeterengine.force.system.exit", "false", "the program always ends with the run"),
    ("jmeterengine.remote.system.exit", "false", "hosts are reached by ssh, not by RMI"),
    ("jmeterengine.stopfail.system.exit", "true", "no user can fail to stop"),
    ("jmeterengine.threadstop.wait", "5000", "users stop immediately when the run is stopped"),
    ("jmeterthread.rampup.granularity", "1000", "a stop takes effect immediately"),
    ("kerberos.spnego.delegate_cred", "false", "Kerberos is not supported"),
    ("kerberos.spnego.strip_port", "true", "Kerberos is not supported"),
    ("kerberos.spnego.use_canonical_host_name", "true", "Kerberos is not supported"),
    ("kerberos_jaas_application", "JMeter", "Kerberos is not supported"),
    ("key_on_threadname", "false", "hosts are reached by ssh, not by RMI"),
    ("mailer.failurelimit", "2", "no mail is sent"),
    ("mailer.successlimit", "2", "no mail is sent"),
    ("mirror.server.port", "", "the mirror server is `throng target mirror`"),
    ("mode", "Standard", "hosts are reached by ssh, not by RMI"),
    ("networkaddress.cache.negative.ttl", "", "an unknown name is looked up again after 10 s"),
    ("networkaddress.cache.ttl", "", "Java reads it only as a security property; set `sun.net.inetaddr.ttl` instead"),
    ("num_sample_threshold", "100", "hosts are reached by ssh, not by RMI"),
    ("oro.patterncache.size", "1000", "patterns are compiled once"),
    ("os_sampler.poll_for_timeout", "100", "JMeter 5.6.3 does not read it either"),
    ("post_add_content_type_if_missing", "false", "JMeter reads `http.post_add_content_type_if_missing`"),
    ("resultcollector.action_if_file_exists", "ASK", "only JMeter's windows ask: without windows, rows are appended to existing files, and `-f` deletes the files first"),
    ("sample_sender_client_configured", "true", "hosts are reached by ssh, not by RMI"),
    ("sample_sender_strip_also_on_error", "true", "hosts are reached by ssh, not by RMI"),
    ("sampleresult.nanoThreadSleep", "5000", "Throng always uses one clock with nanoseconds"),
    ("sampleresult.useNanoTime", "true", "Throng always uses one clock with nanoseconds"),
    ("sun.net.inetaddr.negative.ttl", "", "an unknown name is looked up again after 10 s"),
    ("time_threshold", "60000", "hosts are reached by ssh, not by RMI"),
    ("user.language", "en", "names of days and months are English"),
    ("user.timezone", "", "JMeter reads it too late: set `TZ`, or `JVM_ARGS=-Duser.timezone=NAME`"),
    ("xpath.namespace.config", "", "prefixes are those that the root element declares"),
    ("xpath2query.parser.cache.size", "400", "queries are compiled once"),
];

/// Properties that are not read, each with the value that corresponds to Throng's behaviour.
#[rustfmt::skip]
const AS_IT_IS: &[(&str, &str)] = &[
];

/// Prefixes of properties that matter only for JMeter's windows, recorder, reports, remote engines and class loading.
#[rustfmt::skip]
const WITHOUT_MEANING: &[&str] = &[
    "JMeter.", "START.", "TestPlan.", "apple.", "beanshell.server.", "classfinder.", "confirm.delete.skip",
    "cookies", "csvdataset.file.encoding_list", "darklaf.", "docgeneration.", "file.", "generate_report_ui.",
    "gui.", "help.local", "httpsampler.user_defined_methods", "java.awt.", "java.class.", "java.home", "java.io.",
    "java.rmi.", "java.security.", "java.util.", "java.vendor", "java.version", "java.vm.", "jdbc.config.",
    "jmeter.colors", "jmeter.expertMode", "jmeter.gui.", "jmeter.hidpi.", "jmeter.home",
    "jmeter.icons", "jmeter.laf", "jmeter.logfile", "jmeter.loggerpanel.", "jmeter.order",
    "jmeter.reportgenerator.", "jmeter.save.saveservice.autoflush", "jmeter.toolbar", "jmeter.tree.",
    "jmeter.version", "jsyntaxtextarea.", "keystore.", "keytool.directory", "language", "line.", "locales.add",
    "log4j", "log_format", "log_level.", "loggerpanel.", "naming_policy.", "not_in_menu", "onload.expandtree",
    "org.apache.commons.logging.", "os.", "path.", "plugin_dependency_paths", "propertyEditorSearchPath", "proxy.",
    "recording", "remote_hosts", "rsyntaxtextarea.", "save_automatically_before_run", "saveservice_properties",
    "search_paths", "server.exitaftertest", "server.rmi.", "server_port", "sun.java.", "sun.net.http.",
    "template.files", "testplan_validation.", "text.kerning.", "think_time_creator.", "tree_icons",
    "undo.history.size", "upgrade_properties", "user.classpath", "user.dir", "user.home", "user.name",
    "view.results.", "viewResultsTree.", "zoom_scale",
];

/// Properties that JMeter's classes read if the plan runs any of them in Java: name, JMeter's default, and the reason
/// for having no effect otherwise.
#[rustfmt::skip]
const READ_IN_JAVA: &[(&str, &str, &str)] = &[
    ("beanshell.assertion.init", "", "only scripts read it"),
    ("beanshell.function.init", "", "only scripts read it"),
    ("beanshell.init.file", "", "only scripts read it"),
    ("beanshell.listener.init", "", "only scripts read it"),
    ("beanshell.postprocessor.init", "", "only scripts read it"),
    ("beanshell.preprocessor.init", "", "only scripts read it"),
    ("beanshell.sampler.init", "", "only scripts read it"),
    ("beanshell.timer.init", "", "only scripts read it"),
    ("groovy.utilities", "", "only scripts read it"),
    ("javascript.use_rhino", "false", "only scripts read it"),
    ("jdbcsampler.max_retain_result_size", "65536", "only JDBC elements read it"),
    ("jdbcsampler.nullmarker", "", "only JDBC elements read it"),
    ("JMSSampler.useSecurity.properties", "false", "only JMS elements read it"),
    ("jsr223.compiled_scripts_cache_size", "100", "only scripts read it"),
    ("jsr223.init.file", "", "only scripts read it"),
    ("ldapsampler.max_sorted_results", "1000", "only LDAP elements read it"),
];

/// Reason why a property has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WhyNot {
    /// Message for the user with the reason.
    pub(crate) words: &'static str,
    /// True if the property has an effect in plans with elements or scripts that run in Java.
    pub(crate) but_in_java: bool,
}

/// Returns true if setting the property to this value has the same effect in Throng as in JMeter without windows,
/// including no effect at all.
pub(super) fn has_effect(key: &str, value: &str) -> bool {
    is_honoured(key)
        || WITHOUT_MEANING.iter().any(|family| key.starts_with(family))
        || AS_IT_IS.contains(&(key, value))
        || without_effect().any(|((name, default, _), _)| *name == key && *default == value)
}

/// Returns the properties without effect. The boolean is true if classes in Java read the property.
fn without_effect()
-> impl Iterator<Item = (&'static (&'static str, &'static str, &'static str), bool)> {
    let in_java = READ_IN_JAVA.iter().map(|row| (row, true));
    WITHOUT_EFFECT.iter().map(|row| (row, false)).chain(in_java)
}

/// Returns the reason why a property has no effect, if it is known.
pub(crate) fn why_not(key: &str) -> Option<WhyNot> {
    let found = without_effect().find(|((name, ..), _)| *name == key);
    found.map(|((.., words), but_in_java)| WhyNot { words, but_in_java })
}

/// Returns the names of the properties that Throng reads, except properties of mobile gateways (`throng.mgs.…`).
pub(crate) fn honoured() -> impl Iterator<Item = &'static str> {
    let lists: [&[&'static str]; 5] = [
        HONOURED,
        engine::PROPERTIES,
        stats::jtl::Columns::PROPERTIES,
        jvm::PROPERTIES,
        report::jmeter::PROPERTIES,
    ];
    lists.into_iter().flatten().copied()
}

fn is_honoured(key: &str) -> bool {
    let gateway = key.strip_prefix(mgs::settings::PREFIX);
    // Each Throughput Shaping Timer has a property that is named after the timer.
    honoured().any(|name| name == key)
        || key.ends_with(".load_profile")
        || gateway.is_some_and(|key| mgs::settings::PROPERTIES.iter().any(|(name, _)| *name == key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_honoured_is_not_said_to_have_no_effect() {
        let both: Vec<_> = without_effect().filter(|((name, ..), _)| is_honoured(name)).collect();
        assert!(both.is_empty(), "remove from WITHOUT_EFFECT and its table: {both:?}");
    }

    #[test]
    fn a_property_that_classes_in_java_read_is_known_as_such() {
        let but_in_java = |key| why_not(key).map(|why| why.but_in_java);
        assert_eq!(but_in_java("beanshell.init.file"), Some(true));
        assert_eq!(but_in_java("asynch.batch.queue.size"), Some(false));
        assert_eq!(but_in_java("no.such.property"), None);
    }
}
