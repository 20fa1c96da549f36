//! Builds plans from bytes: trees of controllers, loops, pauses, stops and failing samplers, which open no socket. Any
//! bytes result in a plan that compiles and ends by itself, because all counts are small.

use std::fmt::Write;

/// Maximum nesting of controllers.
const DEPTH: u32 = 6;
/// Maximum number of elements in a plan.
const ELEMENTS: u32 = 40;

/// A plan, and the properties of its run that are known in advance.
pub(crate) struct Made {
    pub(crate) text: String,
    /// Number of users in all groups.
    pub(crate) users: u32,
}

/// Builds a plan. The same bytes always result in the same plan.
pub(crate) fn plan(bytes: &[u8]) -> Made {
    let mut maker = Maker { bytes, at: 0, left: ELEMENTS, text: String::new() };
    let mut groups = String::new();
    let mut users = 0;
    for n in 0..=maker.below(3) {
        users += maker.group(n);
        groups.push_str(&std::mem::take(&mut maker.text));
    }
    let serial = maker.below(2) == 1;
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="plan"><boolProp name="TestPlan.serialize_threadgroups">{serial}</boolProp></TestPlan><hashTree>
{groups}</hashTree></hashTree></jmeterTestPlan>"#
    );
    Made { text, users }
}

struct Maker<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of elements that may still be added.
    left: u32,
    text: String,
}

const SAMPLERS: &str = "kg.apc.jmeter.samplers";

impl Maker<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        u32::from(byte) % bound
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u32) as usize]
    }

    fn group(&mut self, n: u32) -> u32 {
        let class = self.of(&[
            "ThreadGroup",
            "ThreadGroup",
            "ThreadGroup",
            "SetupThreadGroup",
            "PostThreadGroup",
        ]);
        let users = self.below(6);
        let loops = 1 + self.below(3);
        let on_error = self.of(&[
            "continue",
            "continue",
            "startnextloop",
            "stopthread",
            "stoptest",
            "stoptestnow",
        ]);
        let ramp = self.below(3);
        let (scheduler, seconds) = (self.below(2) == 1, 1 + self.below(4));
        let same_user = self.below(2) == 1;
        let _ = write!(
            self.text,
            r#"<{class} testclass="{class}" testname="g{n}"><stringProp name="ThreadGroup.on_sample_error">{on_error}</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">{loops}</intProp></elementProp>
<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">{ramp}</stringProp>
<boolProp name="ThreadGroup.scheduler">{scheduler}</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp>
<boolProp name="ThreadGroup.same_user_on_next_iteration">{same_user}</boolProp></{class}><hashTree>
"#
        );
        self.children(0);
        self.text.push_str("</hashTree>\n");
        users
    }

    fn children(&mut self, depth: u32) {
        for _ in 0..=self.below(4) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.below(10) {
                0..4 => self.sampler(),
                4..8 if depth < DEPTH => self.controller(depth),
                8 => self.processor(),
                _ => self.action(),
            }
        }
    }

    fn element(&mut self, class: &str, name: &str, properties: &str) {
        let _ = writeln!(
            self.text,
            "<{class} testclass=\"{class}\" testname=\"{name}\">{properties}</{class}><hashTree>"
        );
    }

    fn end(&mut self) {
        self.text.push_str("</hashTree>\n");
    }

    fn name(&mut self) -> String {
        let made = ["a", "b", "${__threadNum}", "${v}", "c ${__counter(TRUE,)}"];
        self.of(&made).to_owned()
    }

    fn sampler(&mut self) {
        let name = self.name();
        if self.below(4) == 0 {
            self.element("DebugSampler", &name, "");
        } else {
            let (good, waits) = (self.below(3) > 0, self.below(3) == 0);
            let time = self.of(&["0", "1", "30", "700", "${__Random(0,40,)}"]);
            let class = format!("{SAMPLERS}.DummySampler");
            let properties = format!(
                r#"<boolProp name="SUCCESFULL">{good}</boolProp><boolProp name="WAITING">{waits}</boolProp><stringProp name="RESPONSE_CODE">200</stringProp>
<stringProp name="RESPONSE_DATA">x</stringProp><stringProp name="RESPONSE_TIME">{time}</stringProp>"#
            );
            self.element(&class, &name, &properties);
        }
        if self.below(3) == 0 {
            self.processor();
        }
        self.end();
    }

    /// Adds a timer, an assertion or another element that runs before or after samplers.
    fn processor(&mut self) {
        match self.below(5) {
            0 => {
                let delay = self.of(&["0", "1", "20", "900"]);
                let delay =
                    format!(r#"<stringProp name="ConstantTimer.delay">{delay}</stringProp>"#);
                self.element("ConstantTimer", "timer", &delay);
            }
            1 => {
                let kind = self.of(&["2", "6", "16"]);
                let wanted = self.of(&["x", "y", "(x*)*\\\\1z"]);
                let properties = format!(
                    r#"<collectionProp name="Asserion.test_strings"><stringProp name="1">{wanted}</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">{kind}</intProp>"#
                );
                self.element("ResponseAssertion", "assertion", &properties);
            }
            2 => {
                let action = self.of(&["0", "1", "2", "3", "4", "5", "6"]);
                let action = format!(r#"<intProp name="OnError.action">{action}</intProp>"#);
                self.element("ResultAction", "result action", &action);
            }
            3 => {
                let properties = r#"<stringProp name="RegexExtractor.refname">v</stringProp><stringProp name="RegexExtractor.regex">(.)</stringProp>
<stringProp name="RegexExtractor.template">$1$</stringProp><stringProp name="RegexExtractor.match_number">-1</stringProp>"#;
                self.element("RegexExtractor", "regex", properties);
            }
            _ => {
                let properties = r#"<stringProp name="CounterConfig.start">1</stringProp><stringProp name="CounterConfig.incr">1</stringProp>
<stringProp name="CounterConfig.name">v</stringProp><boolProp name="CounterConfig.per_user">true</boolProp>"#;
                self.element("CounterConfig", "counter", properties);
            }
        }
        self.end();
    }

    /// Adds a Flow Control Action.
    fn action(&mut self) {
        let action = self.of(&["1", "1", "1", "0", "2", "3", "4", "5", "6"]);
        let target = self.of(&["0", "0", "2"]);
        let time = self.of(&["0", "10", "1500"]);
        let properties = format!(
            r#"<intProp name="ActionProcessor.action">{action}</intProp><intProp name="ActionProcessor.target">{target}</intProp>
<stringProp name="ActionProcessor.duration">{time}</stringProp>"#
        );
        self.element("TestAction", "action", &properties);
        self.end();
    }

    fn throughput_controller(&mut self, name: &str, flag: bool, number: u32) {
        let properties = format!(
            r#"<intProp name="ThroughputController.style">{}</intProp><boolProp name="ThroughputController.perThread">{flag}</boolProp>
<intProp name="ThroughputController.maxThroughput">{number}</intProp><FloatProperty><name>ThroughputController.percentThroughput</name><value>50.0</value></FloatProperty>"#,
            number % 2
        );
        self.element("ThroughputController", name, &properties);
    }

    fn controller(&mut self, depth: u32) {
        let name = self.name();
        let flag = self.below(2) == 1;
        let number = self.below(4);
        match self.below(14) {
            0 => self.element("GenericController", &name, ""),
            1 | 2 => {
                let loops =
                    format!(r#"<stringProp name="LoopController.loops">{number}</stringProp>"#);
                self.element("LoopController", &name, &loops);
            }
            3 => {
                let condition = self.of(&["true", "false", "\"${v}\" == \"1\"", "${nothing}"]);
                let condition = condition.replace('"', "&quot;");
                let properties = format!(
                    r#"<stringProp name="IfController.condition">{condition}</stringProp><boolProp name="IfController.evaluateAll">{flag}</boolProp>"#
                );
                self.element("IfController", &name, &properties);
            }
            4 => {
                // The condition ends the controller when the last sample failed, or at once.
                let properties =
                    r#"<stringProp name="WhileController.condition">false</stringProp>"#;
                self.element("WhileController", &name, properties);
            }
            5 => {
                let style =
                    format!(r#"<intProp name="InterleaveControl.style">{number}</intProp>"#);
                self.element("InterleaveControl", &name, &style);
            }
            6 => {
                let style =
                    format!(r#"<intProp name="InterleaveControl.style">{number}</intProp>"#);
                self.element("RandomController", &name, &style);
            }
            7 => self.element("RandomOrderController", &name, ""),
            8 => self.element("OnceOnlyController", &name, ""),
            9 | 10 => {
                let properties = format!(
                    r#"<boolProp name="TransactionController.parent">{flag}</boolProp><boolProp name="TransactionController.includeTimers">false</boolProp>"#
                );
                self.element("TransactionController", &name, &properties);
            }
            11 => self.throughput_controller(&name, flag, number),
            12 => {
                let value =
                    format!(r#"<stringProp name="SwitchController.value">{number}</stringProp>"#);
                self.element("SwitchController", &name, &value);
            }
            _ => {
                let properties = r#"<stringProp name="ForeachController.inputVal">v</stringProp><stringProp name="ForeachController.returnVal">w</stringProp>
<boolProp name="ForeachController.useSeparator">true</boolProp>"#;
                self.element("ForeachController", &name, properties);
            }
        }
        self.children(depth + 1);
        self.end();
    }
}
