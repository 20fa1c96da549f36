//! Advice about missing classes: the plug-in that contains the class, and the folder for its jar.
//!
//! Plug-ins are named as in JMeter's Plugins Manager and are found by package. The list contains only those that public
//! plans use most.

use std::path::Path;

/// Prefixes of class names, with the plug-in that contains these classes.
const PLUGINS: &[(&str, &str)] = &[
    ("JMeter.plugins.functional.samplers.websocket.", "websocket-sampler"),
    ("com.atlantbh.jmeter.plugins.hadooputilities.", "jpgc-hadoop"),
    ("com.atlantbh.jmeter.plugins.hbasecomponents.", "jpgc-hadoop"),
    ("com.atlantbh.jmeter.plugins.hbasecrud.", "jpgc-hadoop"),
    ("com.atlantbh.jmeter.plugins.jsontoxmlconverter.", "jpgc-json"),
    ("com.atlantbh.jmeter.plugins.jsonutils.", "jpgc-json"),
    ("com.atlantbh.jmeter.plugins.oauth.", "jpgc-oauth"),
    ("com.atlantbh.jmeter.plugins.xmlformatter.", "jpgc-xml"),
    ("com.blazemeter.jmeter.RandomCSVDataSetConfig", "bzm-random-csv"),
    ("com.blazemeter.jmeter.http.", "bzm-parallel"),
    ("com.blazemeter.jmeter.http2.", "bzm-http2"),
    ("com.blazemeter.jmeter.xmpp.", "jpgc-xmpp"),
    ("com.googlecode.jmeter.plugins.webdriver.", "jpgc-webdriver"),
    ("eu.luminis.jmeter.wssampler.", "websocket-samplers"),
    ("kg.apc.jmeter.config.LockFile", "jpgc-lockfile"),
    ("kg.apc.jmeter.config.redis.", "jpgc-redis"),
    ("kg.apc.jmeter.control.", "jpgc-prmctl"),
    ("kg.apc.jmeter.modifiers.Fifo", "jpgc-fifo"),
    ("kg.apc.jmeter.modifiers.RawRequest", "jpgc-httpraw"),
    ("kg.apc.jmeter.reporters.AutoStop", "jpgc-autostop"),
    ("kg.apc.jmeter.reporters.FlexibleFileWriter", "jpgc-ffw"),
    ("kg.apc.jmeter.samplers.DummySampler", "jpgc-dummy"),
    ("kg.apc.jmeter.samplers.HTTPRawSampler", "jpgc-httpraw"),
    ("kg.apc.jmeter.samplers.UDPSampler", "jpgc-udp"),
    ("net.xmeter.", "mqtt-xmeter"),
    ("nz.co.breakpoint.jmeter.iso8583.", "tilln-iso8583"),
    ("vn.zalopay.benchmark.", "jmeter-grpc-request"),
];

/// Prefixes of the class names in the jars of `throng jvm install --plugins`.
const FETCHED: &[&str] = &[
    "com.atlantbh.jmeter.plugins.jsontoxmlconverter.",
    "com.atlantbh.jmeter.plugins.jsonutils.",
    "com.atlantbh.jmeter.plugins.xmlformatter.",
    "com.blazemeter.jmeter.RandomCSVDataSetConfig",
    "kg.apc.jmeter.config.LockFile",
    "kg.apc.jmeter.config.redis.",
    "kg.apc.jmeter.control.sampler.",
    "kg.apc.jmeter.modifiers.",
    "kg.apc.jmeter.reporters.AutoStop",
    "kg.apc.jmeter.reporters.FlexibleFileWriter",
];

/// Returns advice if the message is about a missing class. `home` is JMeter's folder.
pub(crate) fn advice(message: &str, home: &str) -> Option<String> {
    let (before, _) = message.split_once(" is not in the class path")?;
    let (_, class) = before.rsplit_once("class ")?;
    let known = PLUGINS.iter().find(|(start, _)| class.starts_with(start));
    let who = match known {
        Some((_, plugin)) => format!("the plug-in {plugin} of JMeter's Plugins Manager has it"),
        None => "it belongs to a plug-in".to_owned(),
    };
    if FETCHED.iter().any(|start| class.starts_with(start)) && is_set(home) {
        return Some(format!("{who}: throng jvm install --plugins fetches it"));
    }
    Some(format!(
        "{who}: put its jars into lib/ext of {home}, or name them with -Juser.classpath or -Jsearch_paths"
    ))
}

/// True if JMeter's folder is the one that `throng jvm install` has created.
fn is_set(home: &str) -> bool {
    jvm::cache_folder().is_some_and(|cache| jvm::installed(&cache) == Path::new(home))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_class_is_a_plug_ins() {
        let words = |class: &str| {
            advice(&format!("Plan > x: class {class} is not in the class path"), "/jmeter")
        };
        let known = words("net.xmeter.samplers.PubSampler").expect("advice");
        assert!(known.starts_with("the plug-in mqtt-xmeter ") && known.contains("of /jmeter,"));
        let unknown = words("com.example.Own").expect("advice");
        assert!(unknown.starts_with("it belongs to a plug-in:"), "{unknown}");
        assert_eq!(advice("line 3 of the script: no such property", "/jmeter"), None);
        assert_eq!(advice("function __x is not in the class path; it stays", "/jmeter"), None);
    }

    #[test]
    fn plugins_are_in_order() {
        assert!(PLUGINS.is_sorted() && FETCHED.is_sorted());
    }
}
