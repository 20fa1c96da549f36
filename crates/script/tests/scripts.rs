//! Tests of this crate alone: scripts are compiled and run with a small test world, without a plan.
//!
//! The plan crate's tests compare many scripts with recordings from JMeter. These tests check what a script asks of its
//! surroundings, its effects, its exceptions, and the messages of refusals.

use std::collections::BTreeMap;

use lang::buffers::Buffers;
use lang::log::Level;
use lang::variables::Variables;
use script::{
    Execution, Finding, Language, NotSimple, Outcome, Request, Role, Sample, Script, ScriptKind,
    Surroundings, Thrown, World, compile,
};

/// A plan that records which names a script uses.
#[derive(Default)]
struct Around {
    variables: Vec<String>,
    properties: Vec<Option<String>>,
}

impl Surroundings for Around {
    fn checks_transactions(&self) -> bool {
        false
    }

    fn has_property_objects(&self) -> bool {
        false
    }

    fn mentions_variable(&mut self, name: &str) {
        self.variables.push(name.to_owned());
    }

    fn mentions_property(&mut self, name: Option<&str>) {
        self.properties.push(name.map(str::to_owned));
    }
}

/// The world of one user, with everything that a script can change.
#[derive(Default)]
struct User {
    variables: BTreeMap<String, String>,
    properties: BTreeMap<String, String>,
    log: Vec<String>,
    printed: Vec<String>,
    buffers: Buffers,
}

impl User {
    fn with(variables: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { variables: variables.iter().map(own).collect(), ..Self::default() }
    }

    fn has(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
}

impl Variables for User {
    fn variable(&self, name: &str) -> Option<&str> {
        self.has(name)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }

    fn property(&mut self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    fn set_property(&mut self, name: &str, value: &str) -> Option<String> {
        self.properties.insert(name.to_owned(), value.to_owned())
    }

    fn thread_name(&self, out: &mut String) {
        out.push_str("users 1-4");
    }
}

impl World for User {
    type Sample = Nothing;
    type Finding = Verdict;

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn log(&mut self, level: Level, logger: &str, text: &str) {
        self.log.push(format!("{level:?} {logger}: {text}"));
    }

    fn print_line(&mut self, line: String) {
        self.printed.push(line);
    }

    fn user_number(&self) -> u32 {
        3
    }

    fn iteration(&self) -> u32 {
        2
    }

    fn group(&self) -> &'static str {
        "users"
    }

    fn sampler(&self) -> &'static str {
        "get"
    }

    fn base_dir(&self, out: &mut String) {
        out.push_str("/plans");
    }

    fn now_ms(&self) -> i64 {
        1_700_000_000_000
    }

    fn new_id(&mut self, out: &mut String) {
        out.push_str("00000000-0000-4000-8000-000000000000");
    }
}

/// A sample result that stores only its success and its label.
#[derive(Default)]
struct Nothing {
    failed: bool,
    label: String,
    asked: Option<Request>,
}

impl Sample for Nothing {
    fn code(&self) -> &'static str {
        "201"
    }

    fn message(&self) -> &'static str {
        "Made"
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn text(&self) -> &'static str {
        "body"
    }

    fn headers(&self) -> &'static str {
        ""
    }

    fn url(&self) -> &'static str {
        ""
    }

    fn is_successful(&self) -> bool {
        !self.failed
    }

    fn elapsed_ms(&self) -> i64 {
        12
    }

    fn latency(&self) -> u64 {
        0
    }

    fn connect(&self) -> u64 {
        0
    }

    fn set_code(&mut self, _: &str) {}

    fn set_message(&mut self, _: &str) {}

    fn set_label(&mut self, value: &str) {
        value.clone_into(&mut self.label);
    }

    fn set_sampler_data(&mut self, _: &str) {}

    fn set_successful(&mut self, value: bool) {
        self.failed = !value;
    }

    fn set_ignore(&mut self) {}

    fn ask(&mut self, request: Request) {
        self.asked = Some(request);
    }
}

/// The result of an assertion in the tests.
#[derive(Default)]
struct Verdict {
    failure: bool,
    message: String,
}

impl Finding for Verdict {
    fn set_failure(&mut self, value: bool) {
        self.failure = value;
    }

    fn say(&mut self, message: &str) {
        message.clone_into(&mut self.message);
    }
}

fn place(language: Language, role: Role) -> ScriptKind {
    ScriptKind { language, role, jsr223: true }
}

fn compiled(source: &str, language: Language, role: Role) -> Result<Script, NotSimple> {
    compile(source, place(language, role), &mut Around::default())
}

fn run(script: &Script, user: &mut User) -> Result<Outcome, Thrown> {
    script.run(user, Execution { result: None, finding: None, name: "Script", parameters: "" })
}

/// Runs a pre-processor in both languages.
fn in_both(source: &str, user: impl Fn() -> User, check: impl Fn(&User)) {
    for language in [Language::Groovy, Language::BeanShell] {
        let script = compiled(source, language, Role::Before);
        let script = script.unwrap_or_else(|why| panic!("{language:?} {source}: {why:?}"));
        let mut user = user();
        run(&script, &mut user).unwrap_or_else(|thrown| panic!("{language:?} {source}: {thrown}"));
        check(&user);
    }
}

#[test]
fn variables_are_read_written_and_removed() {
    in_both(
        r#"vars.put("b", vars.get("a") + "x"); vars.remove("a");"#,
        || User::with(&[("a", "1")]),
        |user| assert_eq!((user.has("a"), user.has("b")), (None, Some("1x"))),
    );
}

#[test]
fn texts_are_counted_and_cut_by_javas_characters() {
    let user = || User::with(&[("u", "\u{e9}\u{20ac}\u{1f600}z"), ("e", "")]);
    for (expression, value) in [
        (r#""" + vars.get("u").length()"#, "5"),
        (r#""" + vars.get("e").length()"#, "0"),
        (r#"vars.get("u").substring(1)"#, "\u{20ac}\u{1f600}z"),
        (r#"vars.get("u").substring(0, 2)"#, "\u{e9}\u{20ac}"),
        (r#"vars.get("u").substring(4)"#, "z"),
        (r#"vars.get("u").substring(5)"#, ""),
        (r#""" + vars.get("u").indexOf("z")"#, "4"),
        (r#"vars.get("u").toUpperCase()"#, "\u{c9}\u{20ac}\u{1f600}Z"),
    ] {
        let source = format!(r#"vars.put("r", {expression});"#);
        in_both(&source, user, |user| assert_eq!(user.has("r"), Some(value), "{expression}"));
    }
}

#[test]
fn a_cut_beyond_the_end_is_thrown_in_javas_words() {
    for (from, words) in [("6", "begin 6, end 5, length 5"), ("-1", "begin -1, end 5, length 5")] {
        let source = format!(r#"vars.put("r", vars.get("u").substring({from}));"#);
        let script = compiled(&source, Language::Groovy, Role::Before).expect("simple");
        let mut user = User::with(&[("u", "\u{e9}\u{20ac}\u{1f600}z")]);
        let thrown = run(&script, &mut user).expect_err("beyond the end");
        assert_eq!(thrown.class, "java.lang.StringIndexOutOfBoundsException", "{thrown}");
        assert!(thrown.message.contains(words), "{thrown}");
        assert_eq!(user.has("r"), None);
    }
}

#[test]
fn effects_before_an_exception_stay() {
    let source = r#"vars.put("a", "1"); vars.put("n", "" + Integer.parseInt(vars.get("x")));"#;
    for language in [Language::Groovy, Language::BeanShell] {
        let script = compiled(source, language, Role::Before);
        let script = script.unwrap_or_else(|why| panic!("{language:?}: {why:?}"));
        let mut user = User::with(&[("x", "x7")]);
        let thrown = run(&script, &mut user).expect_err("no number");
        assert!(thrown.is_no_number(), "{language:?} {thrown}");
        assert_eq!((user.has("a"), user.has("n")), (Some("1"), None), "{language:?}");
    }
}

#[test]
fn the_plan_hears_which_names_a_script_mentions() {
    let source = r#"vars.put("a", vars.get("b")); props.put("p", "1"); props.get(vars.get("c"));"#;
    let mut around = Around::default();
    compile(source, place(Language::Groovy, Role::Before), &mut around).expect("simple");
    around.variables.sort_unstable();
    assert_eq!(around.variables, ["a", "b", "c"]);
    assert_eq!(around.properties, [Some("p".to_owned()), None]);
}

#[test]
fn what_is_logged_stands_under_the_scripts_logger() {
    let script = compiled(r#"log.warn("careful")"#, Language::Groovy, Role::Before);
    let mut user = User::default();
    run(&script.expect("simple"), &mut user).expect("nothing thrown");
    let logger = "org.apache.jmeter.modifiers.JSR223PreProcessor.Script";
    assert_eq!(user.log, [format!("Warn {logger}: careful")]);
}

#[test]
fn an_assertion_fails_with_its_message() {
    let source = r#"AssertionResult.setFailure(true); AssertionResult.setFailureMessage("no");"#;
    for language in [Language::Groovy, Language::BeanShell] {
        let script = compiled(source, language, Role::Assertion);
        let script = script.unwrap_or_else(|why| panic!("{language:?}: {why:?}"));
        let (mut user, mut sample) = (User::default(), Nothing::default());
        let mut verdict = Verdict::default();
        let (result, finding) = (Some(&mut sample), Some(&mut verdict));
        let stage = Execution { result, finding, name: "Script", parameters: "" };
        script.run(&mut user, stage).unwrap_or_else(|thrown| panic!("{thrown}"));
        assert!(verdict.failure && verdict.message == "no", "{language:?}");
    }
}

#[test]
fn what_is_not_simple_is_refused_with_its_reason() {
    for (source, reason) in [
        ("/* a", "an unterminated comment"),
        ("vars.put('a', 'b", "an unterminated string"),
        ("vars.put('a', \"\\q\")", "an unsupported escape in a string"),
        ("vars.put('a', ['b'])", "a list or a map"),
        ("def f = { 1 }", "a closure"),
    ] {
        let why = compiled(source, Language::Groovy, Role::Before).expect_err(source);
        assert_eq!(why.reason, reason, "{source}");
    }
}

#[test]
fn nesting_is_bounded() {
    for language in [Language::Groovy, Language::BeanShell] {
        let source = format!("vars.put(\"a\", {}\"b\"{});", "(".repeat(10_000), ")".repeat(10_000));
        let why = compiled(&source, language, Role::Before).expect_err("too deep");
        assert_eq!(why.reason, "code that is nested too deeply", "{language:?}");
    }
}

#[test]
fn no_text_makes_the_compiler_fail() {
    let source = "vars.put(\"\u{e9}\", \"\u{1f600}\" + vars.get('a').substring(1)); // \u{20ac}";
    for language in [Language::Groovy, Language::BeanShell] {
        for end in (0..=source.len()).filter(|end| source.is_char_boundary(*end)) {
            if let Err(why) = compiled(&source[..end], language, Role::Before) {
                assert!(!why.reason.is_empty(), "{end}");
            }
        }
    }
}

#[test]
fn a_text_that_would_grow_without_bound_is_given_up() {
    let source = r#"vars.put("r", vars.get("a").replace("a", vars.get("b")));"#;
    for language in [Language::Groovy, Language::BeanShell] {
        let script = compiled(source, language, Role::Before);
        let script = script.unwrap_or_else(|why| panic!("{language:?}: {why:?}"));
        let (a, b) = ("a".repeat(1 << 20), "b".repeat(4096));
        let mut user = User::with(&[("a", &a), ("b", &b)]);
        let (thrown, gave_up) = lang::work::bounded(|| run(&script, &mut user).err());
        assert!(gave_up.is_some(), "{language:?}");
        assert_eq!(thrown.map(|thrown| thrown.class), Some(Thrown::too_much().class));
        assert_eq!(user.has("r"), None);
    }
}
