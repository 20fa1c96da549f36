use crate::Document;
use crate::reader::tests::{clean, codes, plan, read};

fn elements(inside: &str) -> String {
    plan(&format!(r#"<TestPlan testname="p"/><hashTree>{inside}</hashTree>"#))
}

fn names(document: &Document) -> Vec<String> {
    fn below(document: &Document, id: crate::ElementId, depth: usize, out: &mut Vec<String>) {
        let element = document.element(id);
        out.push(format!("{}{}", "-".repeat(depth), element.name));
        for child in &element.children {
            below(document, *child, depth + 1, out);
        }
    }
    let mut out = Vec::new();
    for root in document.roots() {
        below(document, *root, 0, &mut out);
    }
    out
}

const TWO: &str = r#"<A testname="a"><collectionProp name="L"><stringProp name="x">1 &lt; 2</stringProp></collectionProp></A><hashTree/>
<A testname="b"><collectionProp name="own" reference="REF"/><stringProp name="own" reference="../../A/collectionProp/stringProp"/></A><hashTree/>"#;

#[test]
fn paths_are_relative_or_absolute_and_count_from_one() {
    for path in [
        "../../A/collectionProp",
        "../../A[1]/collectionProp[1]",
        "./../../A/./collectionProp",
        "../../no/../A/collectionProp",
        "/jmeterTestPlan/hashTree/hashTree/A/collectionProp",
    ] {
        let document = clean(&elements(&TWO.replace("REF", path)));
        let b = document.element(document.element(document.roots()[0]).children[1]);
        assert_eq!(b.props.collection("L")[0].text(), Some("1 < 2"), "{path}");
        assert_eq!(b.props.str("x"), Some("1 < 2"), "{path}");
        assert!(b.props.get("own").is_none(), "{path}");
    }
}

#[test]
fn what_is_not_there_yet_or_around_is_an_error() {
    for path in [
        "../../A[2]/collectionProp",
        "../../A[0]/collectionProp",
        "../../A[01]/collectionProp",
        "../../A/collectionProp[2]",
        "..",
        "../..",
        ".",
        "",
        "/",
        "1",
        "../../../../../../../A",
        "../../hashTree",
        "../../A",
        "/jmeterTestPlan/../jmeterTestPlan/hashTree/hashTree/A/collectionProp",
    ] {
        let (document, diags) = read(&elements(&TWO.replace("REF", path)));
        assert_eq!(codes(&diags), ["bad-xstream-reference"], "{path}");
        assert_eq!(diags[0].line, 4, "{path}");
        assert_eq!(diags[0].element.as_deref(), Some("p > b"), "{path}");
        assert_eq!(document.len(), 3);
    }
}

#[test]
fn references_to_references_are_none() {
    let text = r#"<A testname="a"><stringProp name="x">1</stringProp></A><hashTree/>
<A testname="b"><stringProp reference="../../A/stringProp"/></A><hashTree/>
<A testname="c"><stringProp reference="../../A[2]/stringProp"/></A><hashTree/>"#;
    let (_, diags) = read(&elements(text));
    assert_eq!(diags.iter().map(|diag| diag.line).collect::<Vec<_>>(), [5]);
}

#[test]
fn trees_and_elements_stand_in_several_places() {
    let text = r#"<A testname="a"/><hashTree><B testname="b"/><hashTree/></hashTree>
<A testname="c"/><hashTree reference="../hashTree"/>
<A testname="d"/><hashTree><A reference="../../A[2]"/><hashTree/></hashTree>"#;
    assert_eq!(names(&clean(&elements(text))), ["p", "-a", "--b", "-c", "--b", "-d", "--c"]);
}

#[test]
fn an_element_that_a_tree_holds_twice_has_the_children_named_last() {
    let text = r#"<A testname="a"/><hashTree><B testname="b"/><hashTree/></hashTree>
<A testname="c"/><hashTree/>
<A reference="../A"/><hashTree><C testname="d"/><hashTree/></hashTree>
<A testname="e"/><hashTree/>"#;
    let document = clean(&elements(text));
    assert_eq!(names(&document), ["p", "-a", "--d", "-c", "-e"]);
    let enabled: Vec<_> =
        document.ids().filter(|id| document.is_enabled(*id)).map(|id| document.path(id)).collect();
    assert_eq!(enabled, ["p", "p > a", "p > c", "p > a > d", "p > e"]);
}

#[test]
fn fields_keep_their_name_and_the_element_stands_alone() {
    let text = r#"<A testname="a"><objProp><name>n</name><value class="V"><x>1</x></value></objProp></A><hashTree/>
<A testname="b"><objProp><name>m</name><other reference="../../../A/objProp/value"/></objProp><stringProp name="s">t</stringProp></A><hashTree/>"#;
    let document = clean(&elements(text));
    let id = document.element(document.roots()[0]).children[1];
    let other = document.element(id).props.get("m").and_then(|prop| prop.tagged()).expect("XML");
    let value = other.child("other").expect("the field");
    assert_eq!(value.attribute("class"), Some("V"));
    assert_eq!(value.child("x").map(|child| child.text.as_str()), Some("1"));
    assert_eq!(
        document.xml(id),
        r#"<A testname="b"><objProp><name>m</name><other class="V"><x>1</x></other></objProp><stringProp name="s">t</stringProp></A>"#
    );
    let before = document.element(document.roots()[0]).children[0];
    assert!(matches!(document.xml(before), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn references_cannot_blow_a_file_up() {
    let mut text = format!(
        r#"<A testname="a"><collectionProp name="0"><stringProp name="x">{}</stringProp></collectionProp></A><hashTree/>"#,
        "x".repeat(1000)
    );
    for level in 2..40 {
        let before = level - 1;
        let path = format!("../../../A[{before}]/collectionProp");
        text.push_str(&format!(
            r#"<A testname="a"><collectionProp name="{level}"><collectionProp reference="{path}"/><collectionProp reference="{path}"/></collectionProp></A><hashTree/>"#
        ));
    }
    let (document, diags) = read(&elements(&text));
    assert!(codes(&diags).iter().all(|code| ["bad-xstream-reference", "more"].contains(code)));
    assert!(!diags.is_empty());
    let last = document.element(document.roots()[0]).children[38];
    assert!(document.xml(last).len() < 2 * crate::references::MAX_ADDED);
}
