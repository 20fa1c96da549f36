//! Plans whose users send requests endlessly.

use std::sync::Arc;

/// Returns a plan with one request and its response per turn, on a connection that is opened once.
pub(crate) fn websocket_plan(
    port: u16,
    tls: bool,
    data: &str,
    inside: &str,
) -> Arc<plan::plan::Plan> {
    let sampler = |class: &str, more: &str, below: &str| {
        let class = format!("eu.luminis.jmeter.wssampler.{class}");
        format!(
            r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="ws" enabled="true">
<boolProp name="TLS">{tls}</boolProp><stringProp name="server">127.0.0.1</stringProp><stringProp name="port">{port}</stringProp>
<stringProp name="path">/</stringProp><stringProp name="readTimeout">6000</stringProp>{more}</{class}><hashTree>{below}</hashTree>"#
        )
    };
    let open = sampler("OpenWebSocketSampler", "", "");
    let request = sampler(
        "RequestResponseWebSocketSampler",
        &format!(
            r#"<boolProp name="createNewConnection">false</boolProp><stringProp name="payloadType">Text</stringProp><stringProp name="requestData">{data}</stringProp>"#
        ),
        inside,
    );
    compiled(&format!(
        r#"{open}<LoopController testclass="LoopController" testname="loop" enabled="true"><intProp name="LoopController.loops">-1</intProp></LoopController><hashTree>{request}</hashTree>"#
    ))
}

/// Returns a plan with endless GET requests on a persistent connection.
pub(crate) fn http_plan(
    port: u16,
    path: &str,
    around: &str,
    inside: &str,
) -> Arc<plan::plan::Plan> {
    compiled(&[around, &get(port, path, inside)].concat())
}

/// Returns a plan with endless transactions, each with a parent sample and two GET requests, and a GET request after
/// each transaction. Between two transactions of a user, other users use the result of the first transaction.
pub(crate) fn transaction_plan(port: u16, inside: &str) -> Arc<plan::plan::Plan> {
    let request = get(port, "/", inside);
    compiled(&format!(
        r#"<TransactionController testclass="TransactionController" testname="both" enabled="true"><boolProp name="TransactionController.parent">true</boolProp></TransactionController><hashTree>{request}{request}</hashTree>{request}"#
    ))
}

/// Returns the sampler of a GET request on a persistent connection.
fn get(port: u16, path: &str, inside: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get" enabled="true">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.follow_redirects">true</boolProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree>{inside}</hashTree>"#
    )
}

/// Returns a plan with endless calls through a mobile gateway, with the given settings of *RPC Gateway Security*. The
/// response body is read.
pub(crate) fn gateway_plan(port: u16, settings: &[(&str, &str)]) -> Arc<plan::plan::Plan> {
    let text = |(name, value): &(&str, &str)| {
        format!("<stringProp name=\"throng.mgs.{name}\">{value}</stringProp>")
    };
    let settings: String = settings.iter().map(text).collect();
    let body = "x".repeat(1000);
    compiled(&format!(
        r#"<ConfigTestElement guiclass="SimpleConfigGui" testclass="ConfigTestElement" testname="RPC Gateway Security">{settings}</ConfigTestElement><hashTree/>
<HeaderManager testclass="HeaderManager" testname="headers" enabled="true"><collectionProp name="HeaderManager.headers">
<elementProp name="" elementType="Header"><stringProp name="Header.name">Operation-Type</stringProp><stringProp name="Header.value">com.example.login</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="call" enabled="true">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/mgw.htm</stringProp><stringProp name="HTTPSampler.method">POST</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp><boolProp name="HTTPSampler.postBodyRaw">true</boolProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument">
<stringProp name="Argument.value">[{{"_requestBody":"${{__Random(1,9)}}{body}"}}]</stringProp></elementProp></collectionProp></elementProp>
</HTTPSamplerProxy><hashTree><ResponseAssertion testclass="ResponseAssertion" testname="plain" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">an answer in plain</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/></hashTree>"#
    ))
}

/// Returns a plan whose users run `body` endlessly. The plan has four users unless a property sets another number.
pub(crate) fn compiled(body: &str) -> Arc<plan::plan::Plan> {
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="plan" enabled="true"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp>
<stringProp name="ThreadGroup.num_threads">${{__P(users,4)}}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>
{body}
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    );
    let (document, _) = jmx::parse("plan.jmx", text.into_bytes()).unwrap();
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    Arc::new(compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags)))
}

/// Returns a plan with endless request lines and their answers on a persistent connection.
pub(crate) fn tcp_plan(port: u16, request: &str, inside: &str) -> Arc<plan::plan::Plan> {
    compiled(&format!(
        r#"<TCPSampler testclass="TCPSampler" testname="line" enabled="true"><stringProp name="TCPSampler.server">127.0.0.1</stringProp>
<stringProp name="TCPSampler.port">{port}</stringProp><stringProp name="TCPSampler.EolByte">10</stringProp><stringProp name="TCPSampler.timeout">6000</stringProp>
<boolProp name="TCPSampler.reUseConnection">true</boolProp><stringProp name="TCPSampler.request">{request}
</stringProp></TCPSampler><hashTree>{inside}</hashTree>"#
    ))
}

/// Returns a plan with endless GET requests under TLS, each on a new connection.
pub(crate) fn handshakes_plan(port: u16) -> Arc<plan::plan::Plan> {
    compiled(&format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get" enabled="true"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.protocol">https</stringProp><stringProp name="HTTPSampler.path">/</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">false</boolProp></HTTPSamplerProxy><hashTree/>"#
    ))
}
