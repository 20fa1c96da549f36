use super::*;

fn parsed(line: &[&str]) -> Verb {
    let args: Vec<OsString> = ["throng"].iter().chain(line).map(OsString::from).collect();
    parse(&args).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_command_line_is_consistent() {
    Line::command().debug_assert();
}

#[test]
fn properties_keep_the_order_of_the_command_line() {
    let line =
        ["run", "-Ja=1", "p.jmx", "-q", "f", "-J", "a=2", "-Db", "-Sg", "--jmeterproperty=c=d=e"];
    let Verb::Run(flags) = parsed(&line) else { panic!("run") };
    let request = flags.request().expect("a request");
    assert_eq!(request.plan, PathBuf::from("p.jmx"));
    let jmeter = |key: &str, value: &str| Setting::Jmeter(key.into(), value.into());
    assert_eq!(
        request.sources.settings,
        [
            jmeter("a", "1"),
            Setting::File("f".into()),
            jmeter("a", "2"),
            Setting::System("b".into(), String::new()),
            Setting::SystemFile("g".into()),
            jmeter("c", "d=e"),
        ]
    );
}

#[test]
fn flags_about_java_are_properties() {
    let line = [
        "run",
        "p.jmx",
        "--jvm-heap=2g",
        "--jvm-option",
        "-Da=b c",
        "--jvm-option=-Xss2m",
        "--jvm-threads=9",
        "--jvm-isolated",
        "--jmeter-home=/jmeter",
    ];
    let Verb::Run(flags) = parsed(&line) else { panic!("run") };
    let sources = flags.request().expect("a request").sources;
    assert_eq!(sources.home, Some("/jmeter".into()));
    let read = |name: &str| {
        sources.settings.iter().find_map(|setting| match setting {
            Setting::Jmeter(key, value) if key == name => Some(value.clone()),
            _ => None,
        })
    };
    let settings = jvm::Settings::from_properties(read).expect("settings");
    assert_eq!(settings.options, ["-Da=b c", "-Xss2m"]);
    assert_eq!((settings.heap.as_deref(), settings.threads), (Some("2g"), 9));
    assert!(settings.isolated);
}

#[test]
fn run_takes_jmeters_short_flags() {
    let Verb::Run(flags) =
        parsed(&["run", "p.jmx", "-fl", "o.jtl", "-LDEBUG", "-Lengine=INFO", "--skip-unsupported"])
    else {
        panic!("run")
    };
    let request = flags.request().expect("a request");
    assert!(request.force && request.skip_unsupported && !request.json && !request.listen);
    assert_eq!(request.jtl, Some("o.jtl".into()));
    assert_eq!(request.levels, [(String::new(), "DEBUG".into()), ("engine".into(), "INFO".into())]);
}

fn refused(line: &[&str]) -> String {
    let args: Vec<_> = ["throng"].iter().chain(line).map(Into::into).collect();
    mistake(&parse(&args).expect_err("a mistake"))
}

#[test]
fn verbs_that_are_nearly_right_are_named() {
    for (word, verb) in
        [("rnu", "run"), ("chekc", "check"), ("preflght", "preflight"), ("jmv", "jvm")]
    {
        assert_eq!(
            refused(&[word]),
            format!("there is no verb {word}: did you mean throng {verb}?")
        );
    }
    assert!(refused(&["quux"]).contains("the verbs are run, check,"), "{}", refused(&["quux"]));
}

#[test]
fn options_of_other_tools_are_named_with_what_is_meant() {
    for (option, words) in
        [("--run-time", "--duration TIME"), ("--vus", "--users N"), ("--output", "-l FILE")]
    {
        let said = refused(&["run", "p.jmx", option, "5"]);
        assert!(said.contains(option) && said.contains(words), "{said}");
        assert!(!said.contains("-- "), "{said}");
    }
    assert_eq!(refused(&["run", "p.jmx", "--jsno"]), "Unknown option --jsno: did you mean --json?");
    assert_eq!(refused(&["run", "p.jmx", "--quux"]), "Unknown option --quux");
    assert_eq!(refused(&["run", "p.jmx", "q.jmx"]), "unexpected argument q.jmx");
    assert!(
        refused(&["run"]).contains("required arguments were not provided"),
        "{}",
        refused(&["run"])
    );
}
