//! Formats, compares and merges small plans, and searches in them.

use author::diff::{Change, diff};
use author::layout::format;
use author::merge::merge;
use author::replace::{Search, hits, replace};
use author::{Op, Plan, list};
use jmx::writer::{NewElement, NewProp, write_plan};

fn read(text: &str) -> Plan {
    Plan::read("t.jmx", text.as_bytes().to_vec()).expect("a plan")
}

fn header(name: &str, value: &str) -> NewProp {
    let props = vec![NewProp::string("Header.name", name), NewProp::string("Header.value", value)];
    NewProp::element("", "Header", props)
}

fn sampler(name: &str, path: &str) -> NewElement {
    NewElement::new("HTTPSamplerProxy", "HttpTestSampleGui", name)
        .with(NewProp::string("HTTPSampler.domain", "shop.example"))
        .with(NewProp::string("HTTPSampler.path", path))
        .with(NewProp::string("HTTPSampler.method", "GET"))
        .with(NewProp::string("body", "one\ntwo\nthree\nfour\nfive\nsix\n"))
}

fn base() -> String {
    let headers =
        NewElement::new("HeaderManager", "HeaderPanel", "Headers").with(NewProp::collection(
            "HeaderManager.headers",
            vec![header("Accept", "*/*"), header("X-Old", "1"), header("X-Last", "2")],
        ));
    let group = NewElement::new("ThreadGroup", "ThreadGroupGui", "Users")
        .with(NewProp::int("ThreadGroup.num_threads", 3))
        .child(headers)
        .child(sampler("Login", "/login"))
        .child(sampler("Search", "/search"))
        .child(sampler("Pay", "/pay"));
    write_plan(&NewElement::new("TestPlan", "TestPlanGui", "Plan").child(group))
}

fn set(plan: &mut Plan, path: &str, prop: &str, value: &str) {
    let element = plan.find(path).expect("an element");
    let op = Op::Set { element, prop: prop.into(), value: value.into(), create: None };
    plan.apply(&op).expect("an edit");
}

fn edit(plan: &mut Plan, op: impl Fn(&Plan) -> Op) {
    let op = op(plan);
    plan.apply(&op).expect("an edit");
}

#[test]
fn a_plan_as_the_writer_makes_it_is_formatted() {
    assert_eq!(format(&read(&base())), Ok(base()));
}

#[test]
fn noise_is_removed_and_meaning_stays() {
    let noisy = base()
        .replace("testname=\"Login\"", "testname='Login' enabled=\"true\"")
        .replace("\n  ", "\r\n \t")
        .replace(">/login<", "><![CDATA[/login]]><")
        .replace("<hashTree/>", "<hashTree>\n</hashTree>");
    let plan = read(&format!("\u{feff}{noisy}\n\n"));
    let tidy = format(&plan).expect("a text");
    let inside = |text: &str| text.replace("one\n", "one");
    assert_eq!(inside(&tidy).lines().count(), inside(&base()).lines().count());
    assert_eq!(diff(&plan, &read(&tidy)).text(), "");
    assert_eq!(format(&read(&tidy)), Ok(tidy));
}

#[test]
fn comments_mixed_text_and_bad_references_stay() {
    let text = "<!-- top -->\n<jmeterTestPlan version=\"1.2\"><hashTree><!-- a --><A testname=\"x\">\
        <stringProp name=\"s\">a<!-- b -->c</stringProp><stringProp name=\"t\">&nbsp;</stringProp>\
        <objProp><name>o</name><value class=\"C\">text<xml>true</xml></value></objProp></A>\
        <!-- c --><hashTree/></hashTree></jmeterTestPlan><!-- end -->";
    let tidy = format(&read(text)).expect("a text");
    for part in [
        "<!-- top -->\n<jmeterTestPlan",
        "\n    <!-- a -->\n",
        "<stringProp name=\"s\">a<!-- b -->c</stringProp>\n",
        "<stringProp name=\"t\">&nbsp;</stringProp>\n",
        "<value class=\"C\">text<xml>true</xml></value>\n",
        "\n    <!-- c -->\n",
        "</jmeterTestPlan>\n<!-- end -->\n",
    ] {
        assert!(tidy.contains(part), "{part} in {tidy}");
    }
    assert_eq!(format(&read(&tidy)), Ok(tidy));
}

#[test]
fn differences_name_elements_and_properties() {
    let (old, mut new) = (read(&base()), read(&base()));
    set(&mut new, "Users/Login", "HTTPSampler.path", "/v2/login");
    set(&mut new, "Users/Login", "body", "one\ntwo\n3\nfour\nfive\nsix\n");
    set(&mut new, "Users", "ThreadGroup.num_threads", "${n}");
    edit(&mut new, |plan| Op::Remove { element: plan.find("Users/Search").expect("one") });
    edit(&mut new, |plan| {
        let index = 0;
        let parent = plan.find("Users").ok();
        Op::Move { element: plan.find("Users/Pay").expect("one"), parent, index }
    });
    edit(&mut new, |plan| {
        Op::insert(plan.find("Users/Login").ok(), 0, &NewElement::new("T", "TGui", "Wait"))
    });
    let text = diff(&old, &new).text();
    let expected = "\
removed  Users/Search (HTTPSamplerProxy)
changed  Users (ThreadGroup)
  ~ ThreadGroup.num_threads (intProp to stringProp): 3 -> ${n}
moved    Users/Pay (HTTPSamplerProxy): new order
changed  Users/Login (HTTPSamplerProxy)
  ~ HTTPSampler.path: /login -> /v2/login
  ~ body:
        one
        two
      - three
      + 3
        four
        five
added    Users/Login/Wait (T)
";
    assert_eq!(text, expected);
    let json: serde_json::Value = serde_json::from_str(&diff(&old, &new).json()).expect("JSON");
    assert_eq!(json["changes"][0]["change"], "removed");
    assert_eq!(json["changes"][1]["props"][0]["after"], "${n}");
}

#[test]
fn renamed_and_wrapped_elements_are_recognized() {
    let (old, mut new) = (read(&base()), read(&base()));
    edit(&mut new, |plan| Op::Rename {
        element: plan.find("Users/Login").expect("one"),
        name: "Sign in".into(),
    });
    edit(&mut new, |plan| Op::Wrap {
        first: plan.find("Users/Search").expect("one"),
        count: 2,
        controller: NewElement::new("GenericController", "LogicControllerGui", "Group"),
    });
    let found = diff(&old, &new);
    assert_eq!(
        found.text(),
        "changed  Users/Sign in (HTTPSamplerProxy)\n  ~ @testname: Login -> Sign in\n\
         added    Users/Group (GenericController)\n\
         moved    Users/Search (HTTPSamplerProxy) to Users/Group/Search\n\
         moved    Users/Pay (HTTPSamplerProxy) to Users/Group/Pay\n"
    );
    assert!(matches!(found.changes[1], Change::Added { elements: 1, .. }));
    assert!(diff(&new, &new).is_empty());
}

/// Makes one edit on both sides, and expects the merge to equal both edits in turn, whichever side is ours.
fn disjoint(left: impl Fn(&mut Plan), right: impl Fn(&mut Plan)) {
    let base = read(&base());
    let (mut ours, mut theirs, mut both) = (base.clone(), base.clone(), base.clone());
    left(&mut ours);
    right(&mut theirs);
    left(&mut both);
    right(&mut both);
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge(&base, ours, theirs).expect("a merge");
        assert_eq!(merged.conflicts, []);
        assert_eq!(merged.plan.text(), both.text());
    }
}

#[test]
fn disjoint_edits_merge_to_both_edits_in_turn() {
    let path = |plan: &mut Plan| set(plan, "Users/Login", "HTTPSampler.path", "/v2");
    let method = |plan: &mut Plan| {
        let path = if plan.find("Users/Login").is_ok() { "Users/Login" } else { "Users/Sign in" };
        set(plan, path, "HTTPSampler.method", "PUT");
    };
    let accept = |plan: &mut Plan| {
        let prop = "HeaderManager.headers/Accept/Header.value";
        set(plan, "Users/Headers", prop, "a/b");
    };
    let unset = |plan: &mut Plan| {
        edit(plan, |plan| Op::Unset {
            element: plan.find("Users/Headers").expect("one"),
            prop: "HeaderManager.headers/X-Last".into(),
        });
    };
    let disable = |plan: &mut Plan| {
        edit(plan, |plan| Op::Enable {
            element: plan.find("Users/Search").expect("one"),
            enabled: false,
        });
    };
    let remove = |plan: &mut Plan| {
        edit(plan, |plan| Op::Remove { element: plan.find("Users/Search").expect("one") });
    };
    let rename = |plan: &mut Plan| {
        edit(plan, |plan| Op::Rename {
            element: plan.find("Users/Login").expect("one"),
            name: "Sign in".into(),
        });
    };
    let insert = |plan: &mut Plan| {
        edit(plan, |plan| {
            let timer = NewElement::new("T", "TGui", "Wait").child(NewElement::new("U", "", "In"));
            Op::insert(plan.find("Users/Pay").ok(), 0, &timer)
        });
    };
    let wrap = |plan: &mut Plan| {
        edit(plan, |plan| Op::Wrap {
            first: plan.find("Users/Pay").expect("one"),
            count: 1,
            controller: NewElement::new("C", "CGui", "Group"),
        });
    };
    disjoint(path, method);
    disjoint(accept, unset);
    disjoint(path, disable);
    disjoint(path, remove);
    disjoint(rename, method);
    disjoint(insert, path);
    disjoint(remove, insert);
    disjoint(wrap, path);
    disjoint(wrap, remove);
    disjoint(wrap, rename);
}

#[test]
fn a_moved_element_keeps_the_changes_of_the_other_side() {
    let base = read(&base());
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    set(&mut ours, "Users/Pay", "HTTPSampler.path", "/v2/pay");
    edit(&mut theirs, |plan| {
        let element = plan.find("Users/Pay").expect("one");
        Op::Move { element, parent: plan.find("Users/Login").ok(), index: 0 }
    });
    let merged = merge(&base, &ours, &theirs).expect("a merge");
    assert_eq!(merged.conflicts, []);
    let pay = merged.plan.find("Users/Login/Pay").expect("the sampler");
    let path = merged.plan.document().element(pay).props.str("HTTPSampler.path");
    assert_eq!(path, Some("/v2/pay"));
}

#[test]
fn conflicts_keep_ours_and_list_both_values() {
    let base = read(&base());
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    set(&mut ours, "Users/Login", "HTTPSampler.path", "/ours");
    set(&mut theirs, "Users/Login", "HTTPSampler.path", "/theirs");
    set(&mut theirs, "Users/Login", "HTTPSampler.method", "PUT");
    set(&mut ours, "Users/Search", "HTTPSampler.path", "/ours");
    edit(&mut theirs, |plan| Op::Remove { element: plan.find("Users/Search").expect("one") });
    let twin = |plan: &mut Plan, path: &str| {
        edit(plan, |plan| Op::insert(plan.find("Users/Pay").ok(), 0, &sampler("New", path)));
    };
    twin(&mut ours, "/a");
    twin(&mut theirs, "/b");
    let merged = merge(&base, &ours, &theirs).expect("a merge");
    let text: String = merged.conflicts.iter().map(author::merge::Conflict::text).collect();
    assert_eq!(
        text,
        "conflict  Users/Login: HTTPSampler.path: both plans changed the property\n  \
         base    \"/login\"\n  ours    \"/ours\"\n  theirs  \"/theirs\"\n\
         conflict  Users/Pay/New: both plans added the element, with different properties\n\
         conflict  Users/Search: theirs removed the element, ours changed it\n"
    );
    let mut expected = ours.clone();
    set(&mut expected, "Users/Login", "HTTPSampler.method", "PUT");
    assert_eq!(merged.plan.text(), expected.text());
}

#[test]
fn equal_changes_and_noise_are_no_conflict() {
    let base = read(&base());
    let mut ours = base.clone();
    set(&mut ours, "Users/Login", "HTTPSampler.path", "/v2");
    let noisy = ours.text().replace("testname=\"Pay\"", "testname=\"Pay\" enabled=\"true\"");
    let merged = merge(&base, &ours, &read(&noisy)).expect("a merge");
    assert_eq!((merged.plan.text(), merged.conflicts), (ours.text(), Vec::new()));
}

#[test]
fn replacements_are_shown_before_they_are_made() {
    let mut plan = read(&base());
    let search = Search {
        pattern: r"^/(\w+)$".into(),
        is_regex: true,
        replacement: "/v2/$1?a&b".into(),
        prop: Some("HTTPSampler.path".into()),
        ..Search::default()
    };
    let preview = hits(&plan, &search).expect("hits");
    let (made, applied) = replace(&mut plan, &search).expect("an edit");
    assert_eq!(preview, made);
    assert_eq!(made.len(), 3);
    assert_eq!(made[0].after, "/v2/login?a&b");
    assert_eq!(
        base().lines().nth(made[0].line - 1).map(|line| line.contains("/login")),
        Some(true)
    );
    assert!(plan.text().contains(">/v2/pay?a&amp;b<"));
    plan.undo(applied.expect("an edit").undo).expect("an undo");
    assert_eq!(plan.text(), base());

    let search = Search {
        pattern: "L".into(),
        replacement: "<".into(),
        ignore_case: true,
        names: true,
        under: plan.find("Users/Login").ok(),
        ..Search::default()
    };
    let (made, _) = replace(&mut plan, &search).expect("an edit");
    assert_eq!(
        made.iter().map(|hit| &*hit.prop).collect::<Vec<_>>(),
        ["@testname", "HTTPSampler.domain", "HTTPSampler.path"]
    );
    assert!(plan.find("Users/<ogin").is_ok());
    for pattern in ["", "("] {
        let search = Search { pattern: pattern.into(), is_regex: true, ..Search::default() };
        assert!(hits(&plan, &search).is_err(), "{pattern}");
    }
}

#[test]
fn rows_have_paths_states_and_depths() {
    let mut plan = read(&base());
    edit(&mut plan, |plan| Op::Enable {
        element: plan.find("Users").expect("one"),
        enabled: false,
    });
    let rows = list::list(&plan);
    let shown: Vec<_> =
        rows.iter().map(|row| (&*row.path, row.depth, row.enabled, row.active)).collect();
    assert_eq!(shown[0], ("/Plan", 0, true, true));
    assert_eq!(shown[1], ("Users", 1, false, false));
    assert_eq!(shown[3], ("Users/Login", 2, true, false));
    let login = plan.find("Users/Login").expect("one");
    let props: Vec<String> =
        list::entries(&plan, login).into_iter().map(|entry| entry.prop).collect();
    assert_eq!(
        props,
        [
            "@guiclass",
            "@testclass",
            "HTTPSampler.domain",
            "HTTPSampler.path",
            "HTTPSampler.method",
            "body"
        ]
    );
}
