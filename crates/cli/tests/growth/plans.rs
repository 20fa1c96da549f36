//! Plans for simulated days: users loop forever, with a pause before each sample.

/// Returns a plan whose `users` users repeat `body` forever, with a pause of `pause_ms` before each sample.
pub(crate) fn plan(users: u32, pause_ms: u32, body: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="plan" enabled="true"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="users" enabled="true"><stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp>
<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>
<ConstantTimer testclass="ConstantTimer" testname="pause" enabled="true"><stringProp name="ConstantTimer.delay">{pause_ms}</stringProp></ConstantTimer><hashTree/>
{body}
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// Returns a GET sampler with `below` as its child elements.
pub(crate) fn get(name: &str, port: u16, path: &str, below: &str) -> String {
    request(name, "127.0.0.1", &port.to_string(), path, below)
}

fn request(name: &str, host: &str, port: &str, path: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{name}" enabled="true">
<stringProp name="HTTPSampler.domain">{host}</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.protocol">http</stringProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.follow_redirects">true</boolProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree>{below}</hashTree>"#
    )
}

/// Returns requests to ever new addresses of this machine, and redirects to ever new ports where nobody listens.
pub(crate) fn many_hosts(port: u16) -> String {
    let to = port.to_string();
    let host = "127.0.${__Random(0,255)}.${__Random(1,254)}";
    format!("{}{}", request("host", host, &to, "/", ""), get("redirect", port, "/away", ""))
}

/// An assertion whose failure message differs each time.
pub(crate) const NEW_ERROR: &str = r#"<ResponseAssertion testclass="ResponseAssertion" testname="right" enabled="true">
<collectionProp name="Asserion.test_strings"><stringProp name="1">never ${__counter(TRUE,)}</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#;

/// A script, an extractor and functions whose arguments differ each time.
pub(crate) const SCRIPTS: &str = r#"<JSR223PreProcessor testclass="JSR223PreProcessor" testname="count" enabled="true">
<stringProp name="scriptLanguage">groovy</stringProp><stringProp name="script">vars.put("n", String.valueOf((vars.get("n") ?: "0").toInteger() + 1))</stringProp></JSR223PreProcessor><hashTree/>
<RegexExtractor testclass="RegexExtractor" testname="id" enabled="true"><stringProp name="RegexExtractor.refname">id</stringProp>
<stringProp name="RegexExtractor.regex">(.|n${n})</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
<stringProp name="RegexExtractor.match_number">1</stringProp><stringProp name="RegexExtractor.default">none</stringProp></RegexExtractor><hashTree/>
<UserParameters testclass="UserParameters" testname="made up" enabled="true"><collectionProp name="UserParameters.names"><stringProp name="1">a</stringProp><stringProp name="2">b</stringProp><stringProp name="3">c</stringProp></collectionProp>
<collectionProp name="UserParameters.thread_values"><collectionProp name="1"><stringProp name="1">${__jexl3(${n} + 1,)}</stringProp><stringProp name="2">${__eval(x${n}$)}</stringProp><stringProp name="3">${__time(yyyy'${n}',)}</stringProp></collectionProp></collectionProp>
<boolProp name="UserParameters.per_iteration">true</boolProp></UserParameters><hashTree/>"#;

/// Returns a cookie manager, cleared each iteration if `cleared`, and a cache manager.
pub(crate) fn cookies(cleared: &str) -> String {
    format!(
        r#"<CookieManager testclass="CookieManager" testname="cookies" enabled="true"><collectionProp name="CookieManager.cookies"/>
<boolProp name="CookieManager.clearEachIteration">{cleared}</boolProp></CookieManager><hashTree/>
<CacheManager testclass="CacheManager" testname="cache" enabled="true"><boolProp name="clearEachIteration">false</boolProp><boolProp name="useExpires">true</boolProp>
<intProp name="maxSize">100</intProp></CacheManager><hashTree/>"#
    )
}

/// Returns samplers that open a WebSocket, request once, hold the connection for a few heartbeats and close it.
pub(crate) fn sockets(port: u16) -> String {
    let sampler = |class: &str, more: &str| {
        let class = format!("eu.luminis.jmeter.wssampler.{class}");
        format!(
            r#"<{class} testclass="{class}" testname="{class}" enabled="true"><boolProp name="TLS">false</boolProp>
<stringProp name="server">127.0.0.1</stringProp><stringProp name="port">{port}</stringProp><stringProp name="path">/</stringProp>
<stringProp name="readTimeout">60000</stringProp><stringProp name="connectTimeout">60000</stringProp>{more}</{class}><hashTree/>"#
        )
    };
    let request = r#"<boolProp name="createNewConnection">false</boolProp><stringProp name="payloadType">Text</stringProp><stringProp name="requestData">hello ${__Random(1,99)}</stringProp>"#;
    format!(
        r#"<ConfigTestElement testclass="ConfigTestElement" testname="heartbeat" enabled="true">
<stringProp name="throng.websocket.heartbeat.interval_ms">5000</stringProp><stringProp name="throng.websocket.heartbeat.missed">3</stringProp></ConfigTestElement><hashTree/>
{}{}
<TestAction testclass="TestAction" testname="hold" enabled="true"><intProp name="ActionProcessor.action">1</intProp><intProp name="ActionProcessor.target">0</intProp>
<stringProp name="ActionProcessor.duration">20000</stringProp></TestAction><hashTree>
<ConfigTestElement testclass="ConfigTestElement" testname="listens" enabled="true"><stringProp name="throng.websocket.hold.match">x</stringProp></ConfigTestElement><hashTree/></hashTree>
{}"#,
        sampler("OpenWebSocketSampler", ""),
        sampler("RequestResponseWebSocketSampler", request),
        sampler("CloseWebSocketSampler", r#"<stringProp name="statusCode">1000</stringProp>"#),
    )
}
