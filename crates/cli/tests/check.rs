//! `throng check` of several plans, and of plans that name missing files.

mod program;

use program::Program;
use serde_json::Value;

const MISSING: &str = r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="names" enabled="true">
<stringProp name="filename">${__P(dir,data)}/names.csv</stringProp><stringProp name="variableNames">name</stringProp>
<stringProp name="delimiter">,</stringProp></CSVDataSet><hashTree/>"#;

/// Returns a Simple Controller with a CSV Data Set whose file is missing, so that only some requests of the users read
/// the file.
fn missing_in_part() -> String {
    format!(
        "<GenericController testclass=\"GenericController\" testname=\"part\" enabled=\"true\"/><hashTree>{MISSING}</hashTree>"
    )
}

const BURSTS: &str = r#"<com.example.BurstTimer guiclass="x" testclass="com.example.BurstTimer" testname="Bursts" enabled="true"/><hashTree/>"#;

/// Creates a folder with a good plan, a plan whose data file is missing, and a file that is not a plan.
fn plans() -> Program {
    let program = Program::new();
    std::fs::create_dir_all(program.path("plans/deep")).expect("folders");
    program.write("plans/a.jmx", program::PLAN);
    let missing = program::PLAN.replace("<!--more-->", &missing_in_part());
    program.write("plans/deep/b.jmx", &missing);
    program.write("plans/notes.txt", "no plan");
    program
}

#[test]
fn a_missing_data_file_is_named_with_its_element() {
    let program = Program::new();
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", &missing_in_part()));
    let ended = program.run(&["check", "plan.jmx"]);
    assert_eq!(ended.code, 0, "run starts such a plan, too: {ended:?}");
    let words = "warning[missing-file]: the file data/names.csv is not there";
    assert!(ended.out.contains(words) && ended.out.contains("part > names"), "{}", ended.out);
    // With `--quiet`, `check` prints only the findings.
    let quiet = program.run(&["check", "plan.jmx", "--quiet"]);
    assert!(quiet.out.contains(words) && !quiet.out.contains("Runs natively"), "{}", quiet.out);
    std::fs::create_dir(program.path("data")).expect("a folder");
    program.write("data/names.csv", "a\n");
    let ended = program.run(&["check", "plan.jmx"]);
    assert!(!ended.out.contains("missing-file"), "{}", ended.out);
    let ended = program.run(&["check", "plan.jmx", "-Jdir=elsewhere"]);
    assert!(ended.out.contains("the file elsewhere/names.csv is not there"), "{}", ended.out);
    let ended = program.run(&["check", "plan.jmx", "--quiet"]);
    assert_eq!((ended.code, &*ended.out), (0, ""), "{ended:?}");
}

#[test]
fn files_of_functions_and_of_plug_ins_are_named_as_well() {
    const PLUG_IN: &str = r#"<com.blazemeter.jmeter.RandomCSVDataSetConfig guiclass="com.blazemeter.jmeter.RandomCSVDataSetConfigGui" testclass="com.blazemeter.jmeter.RandomCSVDataSetConfig" testname="random" enabled="true">
<stringProp name="filename">lots.csv</stringProp><stringProp name="variableNames">lot</stringProp></com.blazemeter.jmeter.RandomCSVDataSetConfig><hashTree/>
<Arguments testclass="Arguments" testname="texts" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="t" elementType="Argument">
<stringProp name="Argument.name">t</stringProp><stringProp name="Argument.value">${__FileToString(body/${__P(which,a)}.txt,UTF-8)}</stringProp></elementProp></collectionProp></Arguments><hashTree/>"#;
    let program = Program::new();
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", PLUG_IN));
    let ended = program.run(&["check", "plan.jmx", "--quiet", "-Jwhich=b"]);
    for (file, element) in [("lots.csv", "random"), ("body/b.txt", "texts")] {
        let words = format!("warning[missing-file]: the file {file} is not there");
        assert!(ended.out.contains(&words), "{ended:?}");
        assert!(ended.out.contains(&format!("Users > {element}")), "{ended:?}");
    }
}

#[test]
fn a_run_names_missing_files_before_it_starts() {
    let program = Program::new();
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", MISSING));
    let ended = program.run(&["run", "plan.jmx"]);
    let words = "warning[missing-file]: the file data/names.csv is not there";
    assert!(ended.err.contains(words), "{ended:?}");
    let verdict = "* No request was sent: the file data/names.csv is not there (";
    assert!(ended.out.contains(verdict), "{ended:?}");
    std::fs::create_dir(program.path("data")).expect("a folder");
    program.write("data/names.csv", "a\n");
    let ended = program.run(&["run", "plan.jmx"]);
    assert!(!ended.err.contains("missing-file"), "{ended:?}");
}

#[test]
fn folders_and_several_plans_have_a_line_each() {
    let program = plans();
    let ended = program.run(&["check", "plans", "--junit", "t.xml"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.out.starts_with("ok    plans/a.jmx\nok    plans/deep/b.jmx: 1 warning; "),
        "{ended:?}"
    );
    assert!(ended.out.ends_with("2 plans: all run, 1 with warnings.\n"), "{}", ended.out);
    assert!(program.read("t.xml").contains("tests=\"2\" failures=\"0\""));
    let quiet = program.run(&["check", "plans/a.jmx", "plans", "--quiet"]);
    assert_eq!(quiet.out.lines().count(), 1, "{}", quiet.out);

    program.write("plans/broken.jmx", "no XML");
    let ended = program.run(&["check", "plans", "gone.jmx", "--junit", "t.xml"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.out.contains("\nFAIL  plans/broken.jmx: 1 error; "), "{}", ended.out);
    assert!(
        ended.out.contains("\nFAIL  gone.jmx: the file gone.jmx doesn't exist"),
        "{}",
        ended.out
    );
    assert!(ended.out.ends_with("4 plans: 2 do not run.\n"), "{}", ended.out);
    let xml = program.read("t.xml");
    assert!(
        xml.contains("tests=\"4\" failures=\"2\"") && xml.contains("name=\"gone.jmx\""),
        "{xml}"
    );

    let ended = program.run(&["check", "plans", "--json"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let list: Value = serde_json::from_str(&ended.out).expect("JSON");
    let runs: Vec<_> = list.as_array().expect("a list").iter().map(|one| &one["runs"]).collect();
    assert_eq!(runs, [true, false, true].map(Value::from).iter().collect::<Vec<_>>());
    assert_eq!(list[2]["findings"][0]["code"], "missing-file");

    let empty = program.run(&["check", "plans/deep/b.jmx", "nowhere/"]);
    assert_eq!(empty.code, 2, "{empty:?}");
    program.write("one.jmx", &program::PLAN.replace("<!--more-->", BURSTS));
    let ended = program.run(&["check", "one.jmx", "plans/a.jmx", "--java-home", "nowhere"]);
    assert!([0, 3].contains(&ended.code) && ended.out.contains("one.jmx: "), "{ended:?}");
}

#[test]
fn check_and_preflight_read_the_file_beside_the_plan_as_run_does() {
    let program = Program::new();
    program.write("throng.toml", "[load]\nusers = 30000\n[properties]\nms = 5\n");
    let ended = program.run(&["preflight", "plan.jmx"]);
    assert!(ended.out.starts_with("Load: 30 000 users"), "{}", ended.out);
    let ended = program.run(&["check", "plan.jmx"]);
    assert!(ended.out.contains("load: 30000 users"), "{}", ended.out);
    let ended = program.run(&["preflight", "plan.jmx", "--users", "7"]);
    assert!(ended.out.starts_with("Load: 7 users"), "{}", ended.out);
    for (text, words) in [
        ("[load\n", "throng.toml"),
        ("[load]\nusrs = 3\n", "did you mean load.users?"),
        ("[thresholds]\nfail = ['p99 < 1']\n", "has no unit"),
        ("[load.scenario]\nGuest = 'off'\n", "the plan has no thread group \"Guest\""),
    ] {
        program.write("throng.toml", text);
        for verb in ["check", "preflight", "run"] {
            let ended = program.run(&[verb, "plan.jmx"]);
            assert_eq!(ended.code, 2, "{verb} {text}: {ended:?}");
            assert!(ended.err.contains(words), "{verb} {text}: {}", ended.err);
        }
    }
}

/// A request with secrets in its name, its path and an invalid number, and a timer that cannot run.
const SECRETS: &str = r#"<HTTPSamplerProxy guiclass="x" testclass="HTTPSamplerProxy" testname="https://me:hidden1@h/?sid=hidden2" enabled="true"><stringProp name="HTTPSampler.path">/x;jsessionid=hidden7?token=hidden3&amp;a=1</stringProp><stringProp name="HTTPSampler.password">hidden4</stringProp><intProp name="n">http://h/?api_key=hidden5</intProp></HTTPSamplerProxy><hashTree>
<com.example.BurstTimer guiclass="x" testclass="com.example.BurstTimer" testname="/a?pw=hidden6 password=hidden8" enabled="true"/><hashTree/></hashTree>"#;

#[test]
fn findings_show_no_secrets_of_urls() {
    let program = Program::new();
    let (before, rest) = program::PLAN.split_once("<JavaSampler").expect("a sampler");
    let (_, behind) = rest.split_once("<hashTree/>").expect("its children");
    program.write("secret.jmx", &format!("{before}{SECRETS}{behind}"));
    for line in [
        &["check", "secret.jmx", "--junit", "t.xml"][..],
        &["check", "secret.jmx", "plan.jmx", "--junit", "t.xml"],
        &["check", "secret.jmx", "--json"],
        &["check", "secret.jmx", "plan.jmx", "--json"],
        &["run", "secret.jmx", "--junit", "t.xml", "--markdown", "s.md"],
        &["preflight", "secret.jmx"],
        &["preflight", "secret.jmx", "--json"],
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, 3, "{ended:?}");
        let files = ["t.xml", "s.md"].map(|file| std::fs::read_to_string(program.path(file)));
        let files = files.into_iter().flatten().collect::<String>();
        let all = format!("{}{}{files}", ended.out, ended.err);
        assert!(all.contains("bad-number") || all.contains("BurstTimer"), "{all}");
        assert!(!all.contains("hidden"), "{line:?}: {all}");
    }
}

#[test]
fn a_summary_is_not_written_over_a_plan() {
    let program = Program::new();
    program.write("good.jmx", program::PLAN);
    std::fs::create_dir(program.path("empty")).expect("a folder");
    let ended = program.run(&["check", "good.jmx", "empty", "--junit", "good.jmx"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert_eq!(program.read("good.jmx"), program::PLAN);
}

#[test]
fn data_files_that_are_no_files_are_named() {
    let program = Program::new();
    let data = |path: &str| {
        let set = format!(
            r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="Data" enabled="true"><stringProp name="filename">{path}</stringProp>
            <stringProp name="variableNames">a</stringProp></CSVDataSet><hashTree/>"#
        );
        program.write("data.jmx", &program::PLAN.replace("<!--more-->", &set));
        program.run(&["check", "data.jmx"])
    };
    std::fs::create_dir(program.path("folder")).expect("a folder");
    assert_eq!(program.shell("mkfifo pipe").code, 0);
    program.write("there.csv", "1\n");
    for (path, words) in [
        ("folder", "folder is a folder, not a data file"),
        ("pipe", "pipe is a pipe, not a data file"),
        ("/dev/null", "/dev/null is a device, not a data file"),
        ("none.csv", "the file none.csv is not there"),
    ] {
        let ended = data(path);
        assert!((ended.out.clone() + &ended.err).contains(words), "{path}: {ended:?}");
    }
    let ended = data("there.csv");
    assert!(!(ended.out.clone() + &ended.err).contains("there.csv"), "{ended:?}");
}

#[test]
fn a_plan_whose_users_all_lack_their_data_does_not_run_and_one_with_warnings_says_so() {
    let program = Program::new();
    let with = |what: &str| program::PLAN.replace("<!--more-->", what);
    program.write("none.jmx", &with(MISSING));
    program.write("part.jmx", &with(&missing_in_part()));
    let ended = program.run(&["check", "none.jmx", "--junit", "j.xml"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let words = "no user sends a request: the file data/names.csv is not there";
    assert!(ended.out.contains(words), "{}", ended.out);
    assert!(program.read("j.xml").contains("<failure type=\"plan\""), "{}", program.read("j.xml"));
    // `check` reads the plan from a pipe, which can be read only once.
    for plan in ["$0 check -", "mkfifo pipe.jmx; (cat none.jmx > pipe.jmx &); $0 check pipe.jmx"] {
        let script = format!("cat none.jmx | {{ {plan}; }}");
        let ended = program.shell(&script);
        assert!(ended.code == 3 && ended.out.contains(words), "{ended:?}");
    }
    assert!(program.run(&["run", "none.jmx"]).err.contains("the run has no samples"));
    let ended = program.run(&["check", "part.jmx", "--junit", "j.xml"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.ends_with("The plan runs, with 1 warning.\n"), "{}", ended.out);
    let junit = program.read("j.xml");
    assert!(
        junit.contains("<system-out>1 warning; line ") && junit.contains("failures=\"0\""),
        "{junit}"
    );
    let ended = program.run(&["check", "part.jmx", "part.jmx"]);
    assert!(ended.out.ends_with("2 plans: all run, 2 with warnings.\n"), "{}", ended.out);
    std::fs::create_dir(program.path("data")).expect("a folder");
    program.write("data/names.csv", "a\n");
    let ended = program.run(&["check", "none.jmx", "--junit", "j.xml"]);
    assert!(ended.code == 0 && ended.out.ends_with("The plan runs.\n"), "{ended:?}");
}
