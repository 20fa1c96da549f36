//! Plans of these tests: one group with one HTTP request, controlled by properties.

/// A plan with one HTTP request. The properties are `users`, `ramp`, `loops`, `seconds` (if [`scheduled`]), `host`,
/// `port`, `path`, `connect` and `response` (timeouts in ms). Text in place of `<!--more-->` follows the request.
pub(crate) const HTTP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
          <stringProp name="LoopController.loops">${__P(loops,3)}</stringProp>
        </elementProp>
        <stringProp name="ThreadGroup.num_threads">${__P(users,2)}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">${__P(ramp,0)}</stringProp>
        <stringProp name="ThreadGroup.scheduler">false</stringProp>
        <stringProp name="ThreadGroup.duration">${__P(seconds,)}</stringProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Request" enabled="true">
          <stringProp name="HTTPSampler.domain">${__P(host,127.0.0.1)}</stringProp>
          <stringProp name="HTTPSampler.port">${__P(port,)}</stringProp>
          <stringProp name="HTTPSampler.protocol">http</stringProp>
          <stringProp name="HTTPSampler.path">${__P(path,/)}</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.follow_redirects">true</boolProp>
          <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
          <stringProp name="HTTPSampler.connect_timeout">${__P(connect,)}</stringProp>
          <stringProp name="HTTPSampler.response_timeout">${__P(response,)}</stringProp>
        </HTTPSamplerProxy>
        <hashTree/>
        <!--more-->
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

/// Returns the plan [`HTTP`] without the request in its group.
pub(crate) fn empty_group() -> String {
    let begin = HTTP.find("        <HTTPSamplerProxy").expect("the request");
    let end = HTTP.find("        <!--more-->").expect("the mark");
    format!("{}{}", &HTTP[..begin], &HTTP[end..])
}

/// Returns the plan with a group that ends after the property `seconds`.
pub(crate) fn scheduled(plan: &str) -> String {
    plan.replace("scheduler\">false<", "scheduler\">true<")
}
