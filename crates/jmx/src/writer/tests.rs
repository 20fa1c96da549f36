use proptest::prelude::*;

use super::*;
use crate::parse;

fn plan() -> NewElement {
    let loops = NewObject {
        class: "LoopController".to_owned(),
        guiclass: "LoopControlPanel".to_owned(),
        testclass: "LoopController".to_owned(),
        testname: "Loop Controller".to_owned(),
        props: vec![
            NewProp::string("LoopController.loops", "1"),
            NewProp::bool("LoopController.continue_forever", false),
        ],
    };
    let group = NewElement::new("ThreadGroup", "ThreadGroupGui", "Users")
        .with(NewProp::int("ThreadGroup.num_threads", 3))
        .with(NewProp::long("ThreadGroup.duration", 60))
        .with(NewProp::object("ThreadGroup.main_controller", loops));
    let header = vec![NewProp::string("Header.name", "A"), NewProp::string("Header.value", "")];
    let mut headers = NewElement::new("HeaderManager", "HeaderPanel", "a \"b\"\n<c>").with(
        NewProp::collection("HeaderManager.headers", vec![NewProp::element("", "Header", header)]),
    );
    headers.enabled = false;
    let sampler = NewElement::new("HTTPSamplerProxy", "HttpTestSampleGui", "Login")
        .with(NewProp::string("HTTPSampler.path", "/a?b=1&c='2'\r\n\t\u{1}x"))
        .with(NewProp::collection("empty", Vec::new()));
    NewElement::new("TestPlan", "TestPlanGui", "Test Plan")
        .child(group.child(sampler.child(headers)))
}

const TEXT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
        <intProp name="ThreadGroup.num_threads">3</intProp>
        <longProp name="ThreadGroup.duration">60</longProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController" testname="Loop Controller">
          <stringProp name="LoopController.loops">1</stringProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Login">
          <stringProp name="HTTPSampler.path">/a?b=1&amp;c=&apos;2&apos;&#xd;
	&#x1;x</stringProp>
          <collectionProp name="empty"/>
        </HTTPSamplerProxy>
        <hashTree>
          <HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="a &quot;b&quot;&#xa;&lt;c&gt;" enabled="false">
            <collectionProp name="HeaderManager.headers">
              <elementProp name="" elementType="Header">
                <stringProp name="Header.name">A</stringProp>
                <stringProp name="Header.value"></stringProp>
              </elementProp>
            </collectionProp>
          </HeaderManager>
          <hashTree/>
        </hashTree>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

#[test]
fn a_plan_is_written_in_the_form_of_jmeter() {
    assert_eq!(write_plan(&plan()), TEXT);
}

#[test]
fn a_written_plan_is_read_without_findings() {
    let (document, diags) = parse("t.jmx", write_plan(&plan()).into_bytes()).expect("a plan");
    assert_eq!(diags, []);
    let login = document.ids().nth(2).expect("the sampler");
    assert_eq!(document.path(login), "Test Plan > Users > Login");
    let path = document.element(login).props.str("HTTPSampler.path");
    assert_eq!(path, Some("/a?b=1&c='2'\r\n\t\u{1}x"));
    let headers = document.element(document.ids().nth(3).expect("the headers"));
    assert_eq!((headers.name.as_str(), headers.enabled), ("a \"b\"\n<c>", false));
}

#[test]
fn other_tags_and_doubles_are_written_with_their_children() {
    let child = |tag: &str, text: &str| Tagged {
        tag: tag.to_owned(),
        text: text.to_owned(),
        ..Tagged::default()
    };
    let mut value = child("value", "");
    value.attributes.push(("class".to_owned(), "SampleSaveConfiguration".to_owned()));
    value.children.push(child("time", "true"));
    let mut object = child("objProp", "");
    object.children = vec![child("name", "saveConfig"), value, child("empty", "")];
    let prop = |value| NewProp { name: "maximumValue".to_owned(), value };
    let text = write_prop(&prop(NewValue::Tagged(Box::new(object))), 1);
    assert_eq!(
        text,
        "  <objProp>\n    <name>saveConfig</name>\n    <value class=\"SampleSaveConfiguration\">\n      \
         <time>true</time>\n    </value>\n    <empty/>\n  </objProp>\n"
    );
    let text = write_prop(&prop(NewValue::Double(1.0)), 0);
    assert_eq!(
        text,
        "<doubleProp>\n  <name>maximumValue</name>\n  <value>1.0</value>\n  \
         <savedValue>0.0</savedValue>\n</doubleProp>\n"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_back(name in any::<String>(), value in any::<String>()) {
        let root = NewElement::new("A", "G", &*name).with(NewProp::string(&*name, &*value));
        let text = write_plan(&root);
        let (document, diags) = parse("t.jmx", text.into_bytes()).expect("a plan");
        prop_assert!(diags.is_empty(), "{diags:?}");
        let element = document.element(document.roots()[0]);
        prop_assert_eq!(&element.name, &name);
        prop_assert_eq!(element.props.str(&name), Some(&*value));
    }
}
