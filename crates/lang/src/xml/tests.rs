//! Tests of limits and of node positions. `xpath/tests.rs` compares documents with recorded results of Xerces.

use proptest::prelude::*;

use super::*;

fn tree(text: &str) -> Tree {
    read_text(text, Options { namespaces: true, ..Options::default() }).expect("a document")
}

fn fault(text: &str) -> String {
    read_text(text, Options::default()).expect_err("not well-formed").message
}

#[test]
fn axes_follow_from_the_places_of_nodes() {
    let tree = tree("<a x='1' xmlns:p='u'><b y='2'><c/></b>t<d/></a>");
    let named = |name: &str| {
        tree.descendants(NodeId::DOCUMENT).find(|id| tree.name(*id) == name).expect("an element")
    };
    let names =
        |nodes: Vec<NodeId>| -> Vec<&str> { nodes.into_iter().map(|id| tree.name(id)).collect() };
    assert_eq!(names(tree.children(named("a")).collect()), ["b", "", "d"]);
    assert_eq!(names(tree.following(named("c")).collect()), ["", "d"]);
    assert_eq!(names(tree.preceding(named("d")).collect()), ["", "c", "b"]);
    assert_eq!(names(tree.attributes(named("a")).collect()), ["x"]);
    assert_eq!(names(tree.declarations(named("a")).collect()), ["xmlns:p", "xmlns:xml"]);
    assert_eq!(tree.next(named("b")).and_then(|id| tree.value(id)), Some("t"));
    assert_eq!(tree.previous(named("b")), None);
    assert_eq!(tree.parent(named("c")), Some(named("b")));
    assert_eq!(tree.root(), Some(named("a")));
}

#[test]
fn entities_do_not_grow_without_bound() {
    let mut laughs = String::from("<!DOCTYPE a [<!ENTITY e0 'ha'>");
    for at in 1..60 {
        laughs.push_str(&format!("<!ENTITY e{at} '&e{};&e{};'>", at - 1, at - 1));
    }
    laughs.push_str("]>");
    assert!(fault(&format!("{laughs}<a>&e59;</a>")).contains("64,000"));
    assert!(fault(&format!("{laughs}<a b='&e59;'/>")).contains("64,000"));
    let long = "x".repeat(1 << 20);
    let quadratic = format!("<!DOCTYPE a [<!ENTITY e '{long}'>]><a>{}</a>", "&e;".repeat(200));
    assert!(fault(&quadratic).contains("expand"));
    let mut chain = String::from("<!DOCTYPE a [<!ENTITY e0 'x'>");
    for at in 1..5_000 {
        chain.push_str(&format!("<!ENTITY e{at} '&e{};'>", at - 1));
    }
    assert!(fault(&format!("{chain}]><a>&e4999;</a>")).contains("expand"));
    let defaults =
        format!("<!DOCTYPE a [<!ATTLIST b c CDATA '{long}'>]><a>{}</a>", "<b/>".repeat(1_000));
    assert!(fault(&defaults).contains("too large"));
}

#[test]
fn depth_of_elements_is_free() {
    let deep = 20_000;
    let text = format!("{}x{}", "<a>".repeat(deep), "</a>".repeat(deep));
    let tree = tree(&text);
    let mut out = String::new();
    tree.write_fragment(tree.root().expect("a root"), &mut out);
    assert_eq!(out, text);
    tree.write_string(NodeId::DOCUMENT, &mut out);
    assert!(out.ends_with('x'));
}

#[test]
fn nothing_outside_is_read() {
    let text = "<!DOCTYPE a SYSTEM 'file:///etc/passwd' [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>[&e;]</a>";
    let mut out = String::new();
    tree(text).write_string(NodeId::DOCUMENT, &mut out);
    assert_eq!(out, "[]");
}

proptest! {
    #[test]
    fn nothing_panics(
        text in r#"(<(/?)(a|b|p:c)( (x|xmlns|xmlns:p)='[a&;<"]{0,3}')?(/?)>|[a-c &;\]é]|<!--|-->|<!\[CDATA\[|\]\]>|<\?x|\?>|&e;|<!DOCTYPE a \[<!ENTITY e '[a<&;]{0,3}'>\]>){0,20}"#,
        bytes in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        for namespaces in [false, true] {
            let options = Options { namespaces, drops_blanks: true, ..Options::default() };
            if let Ok(tree) = read(text.as_bytes(), options) {
                let mut out = String::new();
                tree.write_fragment(tree.root().expect("a root"), &mut out);
                let again = read_text(&out, Options::default());
                prop_assert!(again.is_ok(), "{text} became {out}: {again:?}");
            }
            let mut mixed = text.clone().into_bytes();
            mixed.extend(&bytes);
            let _ = read(&mixed, options);
            let _ = read(&bytes, options);
        }
    }
}
