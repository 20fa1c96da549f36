use jmx::writer::NewProp;
use proptest::prelude::*;

use super::*;

pub(crate) const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan">
      <boolProp name="TestPlan.serialize_threadgroups">false</boolProp>
    </TestPlan>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
        <intProp name="ThreadGroup.num_threads">3</intProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Login">
          <stringProp name="HTTPSampler.path">/login</stringProp>
          <stringProp name="body">one
    two</stringProp>
        </HTTPSamplerProxy>
        <hashTree>
          <HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="Headers">
            <collectionProp name="HeaderManager.headers">
              <elementProp name="" elementType="Header">
                <stringProp name="Header.name">Accept</stringProp>
                <stringProp name="Header.value">*/*</stringProp>
              </elementProp>
            </collectionProp>
          </HeaderManager>
          <hashTree/>
        </hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="a/b">
          <stringProp name="HTTPSampler.path"></stringProp>
        </HTTPSamplerProxy>
        <hashTree/>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="a/b" enabled="false"/>
        <hashTree/>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

pub(crate) fn read(text: &str) -> Plan {
    Plan::read("t.jmx", text.as_bytes().to_vec()).expect("a plan")
}

fn set(plan: &mut Plan, path: &str, prop: &str, value: &str) -> Result<Applied, Refusal> {
    let element = plan.find(path)?;
    plan.apply(&Op::Set { element, prop: prop.into(), value: value.into(), create: None })
}

/// Returns the lines that only the old text has, and those that only the new text has.
fn changed<'a>(old: &'a str, new: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.iter().rev().zip(new.iter().rev());
    let most = old.len().min(new.len()) - before;
    let after = rest.take_while(|(old, new)| old == new).count().min(most);
    (old[before..old.len() - after].to_vec(), new[before..new.len() - after].to_vec())
}

#[test]
fn a_changed_property_changes_one_line() {
    let mut plan = read(PLAN);
    set(&mut plan, "Users/Login", "HTTPSampler.path", "/v2?a=1&b='2'").expect("an edit");
    let (old, new) = changed(PLAN, plan.text());
    assert_eq!(old, [r#"          <stringProp name="HTTPSampler.path">/login</stringProp>"#]);
    let line =
        "          <stringProp name=\"HTTPSampler.path\">/v2?a=1&amp;b=&apos;2&apos;</stringProp>";
    assert_eq!(new, [line]);
    let id = plan.find("Users/Login").expect("the sampler");
    let path = plan.document().element(id).props.str("HTTPSampler.path");
    assert_eq!(path, Some("/v2?a=1&b='2'"));
}

#[test]
fn members_of_collections_are_found_by_name_and_by_position() {
    for prop in [
        "HeaderManager.headers/Accept/Header.value",
        "HeaderManager.headers/[1]/Header.value",
        "[1]/[1]/[2]",
    ] {
        let mut plan = read(PLAN);
        set(&mut plan, "Users/Login/Headers", prop, "text/html").expect("an edit");
        let (_, new) = changed(PLAN, plan.text());
        let line = r#"                <stringProp name="Header.value">text/html</stringProp>"#;
        assert_eq!(new, [line], "{prop}");
    }
}

#[test]
fn numbers_that_become_text_become_string_properties() {
    let mut plan = read(PLAN);
    set(&mut plan, "Users", "ThreadGroup.num_threads", "${__P(users)}").expect("an edit");
    let (_, new) = changed(PLAN, plan.text());
    let line = r#"        <stringProp name="ThreadGroup.num_threads">${__P(users)}</stringProp>"#;
    assert_eq!(new, [line]);
    set(&mut plan, "Users", "@testclass", "a<b").expect("an edit");
    assert!(plan.text().contains(r#"testclass="a&lt;b""#));
}

#[test]
fn missing_properties_and_elements_are_refused_with_what_there_is() {
    let mut plan = read(PLAN);
    let refusal = set(&mut plan, "Users/Login", "HTTPSampler.pth", "x").expect_err("a refusal");
    assert_eq!(refusal.message, "no property HTTPSampler.pth; there are: HTTPSampler.path, body");
    let refusal = set(&mut plan, "Login", "body", "x").expect_err("a refusal");
    assert_eq!(refusal.message, "no element Login (in Login); there is: Users/Login");
    let refusal = set(&mut plan, r"Users/a\/b", "body", "x").expect_err("a refusal");
    assert!(refusal.message.starts_with("2 elements are named"), "{refusal}");
    let refusal =
        set(&mut plan, "Users/Login/Headers", "HeaderManager.headers", "x").expect_err("a refusal");
    assert!(refusal.message.contains("add one of them"), "{refusal}");
    assert_eq!(plan.text(), PLAN);
}

#[test]
fn paths_lead_back_to_their_elements() {
    let plan = read(PLAN);
    let paths = plan.paths();
    let shown: Vec<&str> = paths.iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(
        shown,
        [
            "/Test Plan",
            "Users",
            "Users/Login",
            "Users/Login/Headers",
            r"Users/a\/b[1]",
            r"Users/a\/b[2]"
        ]
    );
    for (id, path) in &paths {
        assert_eq!(plan.find(path), Ok(*id), "{path}");
        assert_eq!(plan.path(*id), *path);
    }
}

#[test]
fn new_properties_are_created_only_if_asked_for() {
    let mut plan = read(PLAN);
    let element = plan.find(r"Users/a\/b[2]").expect("the sampler");
    let (prop, value) = ("HTTPSampler.port".to_owned(), "80".to_owned());
    plan.apply(&Op::Set { element, prop, value, create: Some(NewKind::Int) }).expect("an edit");
    let (_, new) = changed(PLAN, plan.text());
    assert_eq!(new[1], r#"          <intProp name="HTTPSampler.port">80</intProp>"#);
    assert_eq!(new[2], "        </HTTPSamplerProxy>");
    let element = plan.find(r"Users/a\/b[2]").expect("the sampler");
    plan.apply(&Op::Unset { element, prop: "HTTPSampler.port".into() }).expect("an edit");
    assert_eq!(plan.text(), PLAN);
}

#[test]
fn states_and_names_are_attributes() {
    let mut plan = read(PLAN);
    let login = plan.find("Users/Login").expect("the sampler");
    plan.apply(&Op::Enable { element: login, enabled: false }).expect("an edit");
    assert!(plan.text().contains(r#"testname="Login" enabled="false">"#));
    plan.apply(&Op::Enable { element: login, enabled: true }).expect("an edit");
    assert_eq!(plan.text(), PLAN);
    plan.apply(&Op::Rename { element: login, name: "a \"b\"".into() }).expect("an edit");
    let (_, new) = changed(PLAN, plan.text());
    assert_eq!(new.len(), 1);
    assert!(new[0].contains(r#"testname="a &quot;b&quot;">"#));
}

#[test]
fn elements_are_inserted_moved_and_removed_as_whole_lines() {
    let mut plan = read(PLAN);
    let login = plan.find("Users/Login").expect("the sampler");
    let timer = NewElement::new("ConstantTimer", "ConstantTimerGui", "Wait")
        .with(NewProp::string("ConstantTimer.delay", "300"));
    let applied = plan.apply(&Op::insert(Some(login), 9, &timer)).expect("an edit");
    let (old, new) = changed(PLAN, plan.text());
    assert_eq!((old.len(), new.len()), (0, 4));
    assert_eq!(new[3], "          <hashTree/>");
    let element = applied.element.expect("the timer");
    assert_eq!(plan.path(element), "Users/Login/Wait");

    let group = plan.find("Users");
    let applied = plan.apply(&Op::Move { element, parent: group.ok(), index: 0 }).expect("a move");
    let element = applied.element.expect("the timer");
    assert_eq!(plan.path(element), "Users/Wait");
    assert!(plan.text().contains("\n        <ConstantTimer "), "{}", plan.text());
    plan.apply(&Op::Remove { element }).expect("an edit");
    assert_eq!(plan.text(), PLAN);
}

#[test]
fn a_wrapped_element_keeps_its_texts_and_its_way_back() {
    let mut plan = read(PLAN);
    let first = plan.find("Users/Login").expect("the sampler");
    let controller = NewElement::new("GenericController", "LogicControllerGui", "Group");
    let applied = plan.apply(&Op::Wrap { first, count: 2, controller }).expect("an edit");
    let paths: Vec<String> = plan.paths().into_iter().map(|(_, path)| path).collect();
    assert!(paths.contains(&"Users/Group/Login/Headers".to_owned()), "{paths:?}");
    let login = plan.find("Users/Group/Login").expect("the sampler");
    assert_eq!(plan.document().element(login).props.str("body"), Some("one\n    two"));
    assert!(layout::format(&plan).is_ok_and(|text| text == plan.text()), "{}", plan.text());
    let group = plan.find("Users").ok();
    plan.apply(&Op::Move { element: login, parent: group, index: 0 }).expect("an edit");
    plan.undo(applied.undo).expect_err("the plan has changed");
}

#[test]
fn a_move_into_itself_and_unsafe_files_are_refused() {
    let mut plan = read(PLAN);
    let group = plan.find("Users").expect("the group");
    let login = plan.find("Users/Login").ok();
    let refusal = plan.apply(&Op::Move { element: group, parent: login, index: 0 });
    assert!(refusal.is_err());
    let insert = |text: &str| Op::Insert { parent: None, index: 0, text: text.into() };
    for text in ["", "x", "<a/><hashTree/><b/><hashTree/>", "<a>", "</hashTree><hashTree>"] {
        assert!(plan.apply(&insert(text)).is_err(), "{text}");
    }
    let mut old = read(&PLAN.replace("version=\"1.2\"", "version=\"1.0\""));
    assert!(set(&mut old, "Users/Login", "body", "x").is_err());
    let wide: Vec<u8> = PLAN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut wide = Plan::read("t.jmx", wide.clone())
        .inspect(|plan| assert_eq!(*plan.bytes(), *wide))
        .expect("a plan");
    assert!(set(&mut wide, "Users/Login", "body", "x").is_err());
    let references = PLAN.replace(
        r#"<stringProp name="HTTPSampler.path"></stringProp>"#,
        r#"<collectionProp name="x" reference="../../HTTPSamplerProxy/stringProp"/>"#,
    );
    let mut plan = read(&references);
    let element = plan.find("Users/Login").expect("the sampler");
    assert!(plan.apply(&Op::Remove { element }).is_err());
    set(&mut plan, "Users/Login", "body", "x").expect("properties may be set");
}

#[test]
fn byte_order_marks_and_line_ends_stay() {
    let text = format!("\u{feff}{}", PLAN.replace('\n', "\r\n"));
    let mut plan = read(&text);
    assert_eq!(*plan.bytes(), *text.as_bytes());
    set(&mut plan, "Users/Login", "body", "a\nb").expect("an edit");
    let timer = NewElement::new("ConstantTimer", "ConstantTimerGui", "Wait");
    plan.apply(&Op::insert(None, 9, &timer)).expect("an edit");
    let bytes = plan.bytes().into_owned();
    assert!(bytes.starts_with("\u{feff}".as_bytes()));
    let lines = String::from_utf8(bytes).expect("UTF-8");
    assert_eq!(lines.matches('\n').count(), lines.matches("\r\n").count());
}

/// A sequence of numbers from a seed: 64-bit linear congruential.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % end.max(1)
    }

    fn element(&mut self, plan: &Plan) -> ElementId {
        let all = plan.document().len();
        plan.document().id(self.below(all)).expect("an element")
    }
}

/// Returns a random edit, which the plan may refuse.
fn random(numbers: &mut Numbers, plan: &Plan) -> Op {
    const TEXTS: [&str; 6] = ["", "true", "17", "a\nb\r\n", "<&\"'>]]>", "${x} \t ü"];
    let element = numbers.element(plan);
    let text = TEXTS[numbers.below(TEXTS.len())].to_owned();
    let other = (numbers.below(8) > 0).then(|| numbers.element(plan));
    let index = numbers.below(5);
    let new = NewElement::new("GenericController", "LogicControllerGui", &*text)
        .with(NewProp::string("x", &*text));
    match numbers.below(9) {
        0 | 1 => {
            let flat = label::flatten(plan.xml(), plan.node(element));
            let at = numbers.below(flat.len());
            let prop = flat.get(at).map_or("x".to_owned(), |one| one.path.clone());
            Op::Set { element, prop, value: text, create: None }
        }
        2 => Op::Set { element, prop: "n/[1]".into(), value: text, create: Some(NewKind::String) },
        3 => Op::insert(other, index, &new),
        4 => Op::Move { element, parent: other, index },
        5 => Op::Remove { element },
        6 => Op::Enable { element, enabled: index.is_multiple_of(2) },
        7 => Op::Rename { element, name: text },
        _ => Op::Wrap { first: element, count: 1 + index / 2, controller: new },
    }
}

/// Makes random edits and undoes them. Returns the number of edits that were made.
fn edit_and_undo(text: &str, seed: u64, edits: usize) -> usize {
    let mut numbers = Numbers(seed);
    let mut plan = read(text);
    let (mut undos, mut texts) = (Vec::new(), Vec::new());
    for _ in 0..edits {
        if plan.document().is_empty() {
            break;
        }
        let before = plan.text().to_owned();
        let op = random(&mut numbers, &plan);
        match plan.apply(&op) {
            Ok(applied) => {
                if let Some(id) = applied.element {
                    assert_eq!(plan.find(&plan.path(id)), Ok(id), "seed {seed}: {op:?}");
                }
                undos.push(applied.undo);
                texts.push(before);
            }
            Err(_) => assert_eq!(plan.text(), before, "seed {seed}: {op:?}"),
        }
    }
    let made = undos.len();
    for (undo, before) in undos.into_iter().zip(texts).rev() {
        plan.undo(undo).expect("an undo");
        assert_eq!(plan.text(), before, "seed {seed}");
    }
    assert_eq!(plan.text(), text, "seed {seed}");
    made
}

#[test]
fn any_sequence_of_edits_is_undone_to_the_byte() {
    let flat: String = PLAN.lines().map(str::trim).collect();
    let odd = PLAN
        .replace("  <HTTP", "\t<HTTP")
        .replace("<hashTree/>", "<hashTree><!-- a --></hashTree>");
    let mut made = 0;
    for text in [PLAN.to_owned(), PLAN.replace('\n', "\r\n"), flat, odd] {
        for seed in 0..60 {
            made += edit_and_undo(&text, seed, 30);
        }
    }
    assert!(made > 3000, "{made} edits were made");
}

/// Formats, edits and merges a text that may be no plan.
fn survive(text: &str) {
    let Ok(base) = Plan::read("t.jmx", text.as_bytes().to_vec()) else { return };
    assert_eq!(*base.bytes(), *text.as_bytes());
    if let Ok(tidy) = layout::format(&base) {
        let plan = Plan::read("t.jmx", tidy.clone().into_bytes()).expect("a plan");
        assert_eq!(layout::format(&plan), Ok(tidy));
    }
    let mut numbers = Numbers(text.len() as u64);
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    for _ in 0..4 {
        if !ours.document().is_empty() && !theirs.document().is_empty() {
            let (one, other) = (random(&mut numbers, &ours), random(&mut numbers, &theirs));
            let _ = (ours.apply(&one), theirs.apply(&other));
        }
    }
    if let Ok(merged) = crate::merge::merge(&base, &ours, &theirs) {
        assert!(Plan::read("t.jmx", merged.plan.bytes().into_owned()).is_ok());
    }
}

#[test]
fn plans_with_broken_parts_are_edited_or_refused() {
    const PARTS: [&str; 12] = [
        "<",
        ">",
        "/>",
        "\"",
        "&",
        "<hashTree>",
        "</hashTree>",
        "<!-- x -->",
        "<![CDATA[ ]]>",
        "<stringProp name=\"TestElement.name\">n</stringProp>",
        "<a b=1 c>",
        " enabled='true'",
    ];
    let mut numbers = Numbers(7);
    for _ in 0..3000 {
        let mut text = PLAN.to_owned();
        for _ in 0..=numbers.below(3) {
            let tags: Vec<usize> = text.match_indices(['<', '>', ' ']).map(|(at, _)| at).collect();
            let at = tags[numbers.below(tags.len())];
            let end =
                if numbers.below(2) == 0 { at } else { tags[numbers.below(tags.len())].max(at) };
            let end = end.min(at + 40);
            if text.is_char_boundary(end) {
                text.replace_range(at..end, PARTS[numbers.below(PARTS.len())]);
            }
        }
        survive(&text);
    }
}

proptest! {
    #[test]
    fn any_value_is_read_back(value in any::<String>()) {
        let mut plan = read(PLAN);
        set(&mut plan, "Users/Login", "body", &value).expect("an edit");
        let id = plan.find("Users/Login").expect("the sampler");
        prop_assert_eq!(plan.document().element(id).props.str("body"), Some(&*value));
    }
}
