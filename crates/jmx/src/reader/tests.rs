use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::Severity;

pub(in crate::reader) fn plan(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n<hashTree>{inside}</hashTree></jmeterTestPlan>\n"
    )
}

pub(in crate::reader) fn read(text: &str) -> (Document, Vec<Diag>) {
    parse("t.jmx", text.as_bytes().to_vec()).unwrap_or_else(|error| panic!("{error}"))
}

pub(in crate::reader) fn clean(text: &str) -> Document {
    let (document, diags) = read(text);
    assert_eq!(diags, []);
    document
}

pub(in crate::reader) fn codes(diags: &[Diag]) -> Vec<&'static str> {
    diags.iter().map(|diag| diag.code).collect()
}

const SMALL: &str = r#"
  <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true">
    <boolProp name="TestPlan.serialize_threadgroups">false</boolProp>
    <elementProp name="TestPlan.user_defined_variables" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments" testname="User Defined Variables" enabled="true">
      <collectionProp name="Arguments.arguments">
        <elementProp name="host" elementType="Argument">
          <stringProp name="Argument.name">host</stringProp>
          <stringProp name="Argument.value">a &amp; b&#x1;</stringProp>
        </elementProp>
      </collectionProp>
    </elementProp>
  </TestPlan>
  <hashTree>
    <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="false">
      <intProp name="ThreadGroup.num_threads">3</intProp>
    </ThreadGroup>
    <hashTree>
      <DebugSampler testname="Login"/>
      <hashTree/>
    </hashTree>
  </hashTree>
"#;

#[test]
fn elements_pair_with_the_tree_that_follows() {
    let document = clean(&plan(SMALL));
    assert_eq!(document.len(), 3);
    let [root] = document.roots() else { panic!("one root") };
    let root = document.element(*root);
    assert_eq!(
        (root.name.as_str(), root.test_class.as_str(), root.gui_class.as_str()),
        ("Test Plan", "TestPlan", "TestPlanGui")
    );
    let group = document.element(root.children[0]);
    assert_eq!(group.props.int("ThreadGroup.num_threads"), Some(3));
    let sampler = group.children[0];
    assert_eq!(document.path(sampler), "Test Plan > Users > Login");
    assert_eq!(document.line(sampler), 20);
    assert!(document.element(sampler).enabled, "itself");
    assert!(!document.is_enabled(sampler), "through its group");
    assert_eq!(
        document.slice(document.element(sampler).span),
        "<DebugSampler testname=\"Login\"/>"
    );
    assert_eq!(document.version().jmeter, "5.6.3");
}

#[test]
fn properties_nest_and_keep_their_order() {
    let document = clean(&plan(SMALL));
    let props = &document.element(document.roots()[0]).props;
    assert_eq!(props.bool("TestPlan.serialize_threadgroups"), Some(false));
    let variables = props.object("TestPlan.user_defined_variables").unwrap();
    assert_eq!(
        (variables.class.as_str(), variables.name.as_deref()),
        ("Arguments", Some("User Defined Variables"))
    );
    let argument = variables.props.collection("Arguments.arguments")[0].object().unwrap();
    assert_eq!(argument.props.str("Argument.value"), Some("a & b\u{1}"));
    assert_eq!(props.iter().map(|prop| prop.line).collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn object_properties_keep_their_xml_and_numbers_by_name_are_scalars() {
    let document = clean(&plan(
        r#"<ResultCollector><objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><time>true</time></value></objProp>
        <doubleProp><name>maximumValue</name><value>1.5</value><savedValue>0.0</savedValue></doubleProp>
        <FloatProperty><name>f</name><value>0.25</value></FloatProperty></ResultCollector><hashTree/>"#,
    ));
    let props = &document.element(document.roots()[0]).props;
    let value = props.get("saveConfig").unwrap().tagged().unwrap().child("value").unwrap();
    assert_eq!(value.attribute("class"), Some("SampleSaveConfiguration"));
    assert_eq!(value.child("time").unwrap().text, "true");
    assert_eq!(props.float("maximumValue"), Some(1.5));
    assert_eq!(props.float("f"), Some(0.25));
}

#[test]
fn text_is_not_trimmed_and_sections_join() {
    let document = clean(&plan(
        "<A><stringProp name=\"s\"> a\r\n<![CDATA[<b>&amp;]]>&lt;<!-- no -->c </stringProp></A><hashTree/>",
    ));
    assert_eq!(document.element(document.roots()[0]).props.str("s"), Some(" a\n<b>&amp;<c "));
}

#[test]
fn only_the_word_true_is_true() {
    let (document, diags) = read(&plan(
        r#"<A enabled="TRUE"><boolProp name="a">TRUE</boolProp><boolProp name="b">yes</boolProp><boolProp name="c">${x}</boolProp></A><hashTree/><B enabled="${x}"/><hashTree/>"#,
    ));
    let [a, b] = document.roots() else { panic!("two") };
    let props = &document.element(*a).props;
    assert_eq!(
        (props.bool("a"), props.bool("b"), props.bool("c"), props.bool("d")),
        (Some(true), Some(false), Some(false), None)
    );
    assert!(document.is_enabled(*a) && !document.is_enabled(*b));
    assert_eq!(diags, []);
}

#[test]
fn numbers_that_are_none_stay_text_and_are_reported() {
    let (document, diags) = read(&plan(
        r#"<A><intProp name="n">${n}</intProp><longProp name="m"></longProp></A><hashTree/>"#,
    ));
    let props = &document.element(document.roots()[0]).props;
    assert_eq!((props.int("n"), props.str("n")), (None, Some("${n}")));
    assert_eq!(codes(&diags), ["bad-number", "bad-number"]);
}

#[test]
fn broken_pairing_is_reported_and_read() {
    let (document, diags) =
        read(&plan("<A/><B/><hashTree><C/></hashTree><hashTree><D/></hashTree>"));
    assert_eq!(codes(&diags), ["unpaired-element", "unpaired-tree"]);
    let names: Vec<_> = document.ids().map(|id| document.path(id)).collect();
    assert_eq!(names, ["A", "B", "B > C", "D"]);
}

#[test]
fn tags_are_class_names_as_xstream_escapes_them() {
    let text = plan(
        r#"<x.Outer_-Inner testclass="x.Outer$Inner"/><hashTree/><x.My__Class/><hashTree/><x.A_.0020B/><hashTree/><x._y/><hashTree/>
        <B class="x.C__D"/><hashTree/>"#,
    );
    let document = clean(&text);
    let classes: Vec<_> =
        document.ids().map(|id| document.element(id).test_class.as_str()).collect();
    let expected = ["x.Outer$Inner", "x.My_Class", "x.A B", "x._y", "x.C__D"];
    assert_eq!(classes[classes.len() - 5..], expected);
}

#[test]
fn the_tag_decides_the_class_as_in_jmeter() {
    let (document, diags) = read(&plan(
        r#"<A testclass="B"/><hashTree/><C class="D" testclass="D"/><hashTree/><x.y.E testclass="E"/><hashTree/>"#,
    ));
    let classes: Vec<_> =
        document.ids().map(|id| document.element(id).test_class.as_str()).collect();
    assert_eq!(classes, ["A", "D", "x.y.E"]);
    assert_eq!(codes(&diags), ["class-mismatch"]);
}

#[test]
fn properties_that_stand_for_attributes_win() {
    let document = clean(&plan(
        r#"<A testname="a"><stringProp name="TestElement.name">b</stringProp><boolProp name="TestElement.enabled">false</boolProp></A><hashTree/>"#,
    ));
    let element = document.element(document.roots()[0]);
    assert_eq!((element.name.as_str(), element.enabled), ("b", false));
}

#[test]
fn format_1_0_is_url_encoded_and_1_2_is_not() {
    let text = r#"<jmeterTestPlan version="1.0"><hashTree><A testname="a%2Fb"><stringProp name="x+y">1%2C2+3</stringProp></A><hashTree/></hashTree></jmeterTestPlan>"#;
    let document = clean(text);
    let element = document.element(document.roots()[0]);
    assert_eq!((element.name.as_str(), element.props.str("x y")), ("a/b", Some("1,2 3")));
    let document = clean(&text.replace("1.0", "1.2"));
    assert_eq!(document.element(document.roots()[0]).props.str("x+y"), Some("1%2C2+3"));
}

#[test]
fn other_encodings_are_read() {
    let text = plan("<A testname=\"用户é\"/><hashTree/>");
    let utf16: Vec<u8> =
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let bom = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    for bytes in [utf16, big, bom, text.clone().into_bytes()] {
        let (document, diags) = parse("t", bytes).unwrap();
        assert_eq!(diags, []);
        assert_eq!(document.element(document.roots()[0]).name, "用户é");
    }
    let declared = text.replace("UTF-8", "GBK").replace('é', "");
    let (gbk, _, _) = encoding_rs::GBK.encode(&declared);
    let (document, diags) = parse("t", gbk.into_owned()).unwrap();
    assert_eq!((document.element(document.roots()[0]).name.as_str(), diags), ("用户", vec![]));
    let latin = plan("<A testname=\"X\"/><hashTree/>").replace("UTF-8", "ISO-8859-1").into_bytes();
    let latin: Vec<u8> =
        latin.into_iter().map(|byte| if byte == b'X' { 0xE9 } else { byte }).collect();
    assert_eq!(parse("t", latin.clone()).unwrap().0.roots().len(), 1);
    let wrong = String::from_utf8_lossy(&latin).contains('\u{FFFD}');
    assert!(wrong, "the sample is not UTF-8");
}

#[test]
fn bytes_that_fit_no_encoding_are_replaced_and_reported() {
    let text = [plan("").as_bytes(), b"\xFF"].concat();
    assert_eq!(codes(&parse("t", text).unwrap().1), ["bad-encoding"]);
}

#[test]
fn entities_are_never_expanded() {
    let text = "<!DOCTYPE x [<!ENTITY a \"boom\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>"
        .to_string()
        + &plan("<A testname=\"&a;\"><stringProp name=\"s\">x&a;&f;&b</stringProp></A><hashTree/>")
            .replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "");
    let (document, diags) = read(&text);
    assert_eq!(diags[0].code, "doctype");
    assert!(diags.iter().all(|diag| diag.severity == Severity::Error));
    let element = document.element(document.roots()[0]);
    assert_eq!((element.name.as_str(), element.props.str("s")), ("&a;", Some("x&a;&f;&b")));
}

#[test]
fn what_is_no_plan_says_where_and_why() {
    for (text, line, words) in [
        ("", 1, "no jmeterTestPlan"),
        ("hello", 1, "no jmeterTestPlan"),
        ("<?xml version=\"1.0\"?>\n<testResults/>", 2, "testResults"),
        ("<jmeterTestPlan><hashTree>\n<A testname=\"Here\">\n", 3, "truncated"),
        ("<jmeterTestPlan>\n<hashTree>\n</jmeterTestPlan>", 3, "well-formed"),
        ("<jmeterTestPlan>\n<hashTree a=", 2, "well-formed"),
    ] {
        let NotXml(diag) = parse("t", text.into()).map(|_| ()).unwrap_err();
        assert_eq!(diag.line, line, "{text:?}: {diag}");
        assert!(diag.message.contains(words), "{text:?}: {diag}");
    }
    let NotXml(diag) = parse("t", "<jmeterTestPlan><hashTree>\n<A testname=\"Here\">\n".into())
        .map(|_| ())
        .unwrap_err();
    assert!(diag.message.contains("in Here"), "{diag}");
}

#[test]
fn deep_nesting_is_cut_and_reported_not_a_crash() {
    let depth = 200_000;
    let tags = "<hashTree><A/>".repeat(depth) + &"</hashTree>".repeat(depth);
    let (document, diags) = read(&format!("<jmeterTestPlan>{tags}</jmeterTestPlan>"));
    assert_eq!(document.len(), MAX_LEVELS);
    assert!(codes(&diags).contains(&"too-deep"));
    let path = diags[0].element.as_deref().unwrap_or_default();
    assert_eq!(path.matches(" > ").count(), MAX_LEVELS - 1, "{}", diags[0]);
    // A plan with the maximum number of tree levels, and properties of the maximum depth.
    let inner = "<elementProp>".repeat(MAX_DEPTH - 1) + &"</elementProp>".repeat(MAX_DEPTH - 1);
    let tags = "<hashTree><A/>".repeat(MAX_LEVELS - 1)
        + &format!("<hashTree><A>{inner}</A></hashTree>")
        + &"</hashTree>".repeat(MAX_LEVELS - 1);
    let (document, diags) = read(&format!("<jmeterTestPlan>{tags}</jmeterTestPlan>"));
    assert_eq!((document.len(), codes(&diags)), (MAX_LEVELS, Vec::new()));
    let tags = "<elementProp>".repeat(depth) + &"</elementProp>".repeat(depth);
    let (_, diags) = read(&plan(&format!("<A>{tags}</A><hashTree/>")));
    assert!(codes(&diags).contains(&"too-deep"));
}

#[test]
fn findings_are_bounded() {
    let (_, diags) = read(&plan(&"<A/>".repeat(10_000)));
    assert_eq!(diags.len(), MAX_DIAGS + 1);
    assert!(diags[MAX_DIAGS].message.contains("9499 more"), "{}", diags[MAX_DIAGS]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse("t", bytes);
    }

    #[test]
    fn any_damage_to_a_plan_is_read_or_refused(at in 0usize..1200, with in ".{0,3}") {
        let mut text = plan(SMALL);
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) { at -= 1; }
        text.insert_str(at, &with);
        if let Ok((document, _)) = parse("t", text.clone().into_bytes()) {
            prop_assert_eq!(document.source(), text.strip_prefix('\u{FEFF}').unwrap_or(&text));
            for id in document.ids() {
                prop_assert!(document.slice(document.element(id).span).starts_with('<'));
                prop_assert!(document.line(id) >= 1);
                document.path(id);
            }
        }
    }

    #[test]
    fn any_text_survives_escaping(value in any::<String>()) {
        let mut escaped = String::new();
        for char in value.chars() { write!(escaped, "&#{};", char as u32).unwrap(); }
        let document = clean(&plan(&format!("<A testname=\"{escaped}\"><stringProp name=\"{escaped}\">{escaped}</stringProp></A><hashTree/>")));
        let element = document.element(document.roots()[0]);
        prop_assert_eq!(&element.name, &value);
        prop_assert_eq!(element.props.str(&value), Some(value.as_str()));
    }
}
