//! Builders for the JMX elements of the plans in these tests.

pub(crate) fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

/// Returns an element of the given class with string properties and child elements.
pub(crate) fn element(class: &str, properties: &[(&str, &str)], below: &str) -> String {
    let properties: String = properties.iter().map(|(name, value)| text(name, value)).collect();
    format!(
        r#"<{class} testclass="{class}" testname="Sample" enabled="true">{properties}</{class}><hashTree>{below}</hashTree>"#
    )
}

/// Returns a GET of `/` at the port of the property `port`, unless the properties override that.
pub(crate) fn http(properties: &[(&str, &str)], below: &str) -> String {
    let own = [
        ("HTTPSampler.domain", "127.0.0.1"),
        ("HTTPSampler.port", "${__P(port)}"),
        ("HTTPSampler.path", "/"),
        ("HTTPSampler.method", "GET"),
    ];
    let others = own.into_iter().filter(|(name, _)| properties.iter().all(|(own, _)| own != name));
    element("HTTPSamplerProxy", &[&others.collect::<Vec<_>>(), properties].concat(), below)
}

/// Returns a sampler of the WebSocket plug-in that opens a connection to the property `port` and reads one message.
pub(crate) fn websocket_read(read_timeout: &str) -> String {
    let class = "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler";
    let sampler = element(
        class,
        &[
            ("server", "127.0.0.1"),
            ("port", "${__P(port)}"),
            ("path", "/"),
            ("dataType", "Any"),
            ("connectTimeout", "20000"),
            ("readTimeout", read_timeout),
        ],
        "",
    );
    sampler.replace(
        "</stringProp></eu",
        "</stringProp><boolProp name=\"createNewConnection\">true</boolProp></eu",
    )
}
