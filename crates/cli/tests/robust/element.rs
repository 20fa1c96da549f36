//! Elements of the plans of these tests, as text.

pub(crate) fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

/// An element of that class with these properties, all of them texts, and with its children.
pub(crate) fn element(class: &str, properties: &[(&str, &str)], below: &str) -> String {
    let properties: String = properties.iter().map(|(name, value)| text(name, value)).collect();
    format!(
        r#"<{class} testclass="{class}" testname="Sample" enabled="true">{properties}</{class}><hashTree>{below}</hashTree>"#
    )
}

/// A GET of `/` at the property `port`, unless the properties say otherwise.
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

/// A sampler of the WebSocket plug-in that opens a connection to the property `port` itself, and reads once.
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
