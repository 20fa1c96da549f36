//! Untrusted plans: `check` and `preflight` execute nothing of a plan, and read files that it names only within limits.

mod program;

use program::{PLAN, Program};

/// True if a JVM and JMeter's jars are available. Otherwise the test counts as skipped.
fn has_java() -> bool {
    let found = Program::new().run(&["jvm", "status"]);
    if found.code != 0 {
        program::skip(&found.out);
    }
    found.code == 0
}

/// Adds a sampler whose script writes a file when Groovy compiles it.
fn leaves_a_file(program: &Program) -> String {
    let mark = program.path("compiled").display().to_string();
    let script = format!(
        "import groovy.transform.ASTTest\n@ASTTest(value = {{ new File('{mark}').text = 'x' }})\nclass Odd {{}}\nnew Odd()"
    );
    let script = script.replace('\'', "&apos;");
    format!(
        "<JSR223Sampler guiclass=\"TestBeanGUI\" testclass=\"JSR223Sampler\" testname=\"Script\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"cacheKey\">true</stringProp><stringProp name=\"script\">{script}</stringProp></JSR223Sampler><hashTree/>"
    )
}

#[test]
fn check_runs_no_code_of_a_plan_unless_it_may() {
    if !has_java() {
        return;
    }
    let program = Program::new();
    program.write("odd.jmx", &PLAN.replace("<!--more-->", &leaves_a_file(&program)));
    let looked = program.run(&["check", "odd.jmx"]);
    assert_eq!(looked.code, 0, "{looked:?}");
    assert!(!program.path("compiled").exists(), "the script was compiled: {looked:?}");
    assert!(looked.out.contains("is unknown: --run-java"), "{looked:?}");
    let json = program.run(&["check", "--json", "odd.jmx"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert!(json["unknown"].as_str().is_some_and(|text| text.contains("--run-java")), "{json}");
    let ran = program.run(&["check", "odd.jmx", "--run-java"]);
    assert!(program.path("compiled").exists(), "the flag allows it: {ran:?}");
    assert!(!ran.out.contains("unknown"), "{ran:?}");
}

/// A function call that writes a file when it is evaluated.
const WRITES: &str = "${__StringToFile(written,x)}";

#[test]
fn preflight_evaluates_nothing_that_acts() {
    let program = Program::new();
    let request = format!(
        "<HTTPSamplerProxy testclass=\"HTTPSamplerProxy\" testname=\"get\"><stringProp name=\"HTTPSampler.domain\">{WRITES}.example</stringProp>\
         <stringProp name=\"HTTPSampler.path\">/${{__FileToString(/dev/zero)}}</stringProp><stringProp name=\"HTTPSampler.method\">GET</stringProp>\
         </HTTPSamplerProxy><hashTree/><HTTPSamplerProxy testclass=\"HTTPSamplerProxy\" testname=\"known\">\
         <stringProp name=\"HTTPSampler.domain\">known.example</stringProp><stringProp name=\"HTTPSampler.path\">/{WRITES}</stringProp>\
         <stringProp name=\"HTTPSampler.method\">GET</stringProp></HTTPSamplerProxy><hashTree/>"
    );
    let plan = PLAN.replace("<!--more-->", &request);
    program.write("odd.jmx", &plan.replace("${__P(users,1)}", &format!("{WRITES}7")));
    for line in [&["preflight", "odd.jmx", "--json"][..], &["check", "odd.jmx"]] {
        let ended = program.run(line);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(!program.path("written").exists(), "{line:?} wrote a file: {ended:?}");
    }
    let ended = program.run(&["preflight", "odd.jmx", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let demand = &report["demand"];
    assert_eq!((&demand["users"], &demand["unknown_users"]), (&0.into(), &1.into()), "{demand}");
    assert_eq!(demand["destinations"], serde_json::json!(["known.example:80"]));
    assert_eq!(demand["unknown_destinations"], 1, "{demand}");
    let ended = program.run(&["preflight", "odd.jmx"]);
    assert!(ended.out.contains("1 group whose number is known only during a run"), "{ended:?}");
}

#[test]
fn the_look_at_the_machine_before_a_run_evaluates_nothing_that_acts() {
    let program = Program::new();
    let request = "<HTTPSamplerProxy testclass=\"HTTPSamplerProxy\" testname=\"get\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">1</stringProp><stringProp name=\"HTTPSampler.path\">/${__StringToFile(written,x)}</stringProp>\
         <stringProp name=\"HTTPSampler.method\">GET</stringProp></HTTPSamplerProxy><hashTree/>";
    program.write("odd.jmx", &PLAN.replace("<!--more-->", request));
    let ended = program.run(&["run", "odd.jmx", "-Jloops=2"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(program.read("written"), "xx", "once for each of the samples");
}

/// Runs the program and fails the test if it does not end within two minutes.
fn ends(program: &Program, line: &str) -> program::Ended {
    let ended = program.shell(&format!("exec timeout -s KILL 120 \"$0\" {line}"));
    assert_ne!(ended.code, -1, "it had no end: {line}");
    assert_ne!(ended.code, 137, "it had no end: {line}");
    ended
}

fn include(file: &str) -> String {
    let include = format!(
        "<IncludeController guiclass=\"IncludeControllerGui\" testclass=\"IncludeController\" testname=\"Include\">\
         <stringProp name=\"IncludeController.includepath\">{file}</stringProp></IncludeController><hashTree/>"
    );
    PLAN.replace("<!--more-->", &include)
}

#[test]
fn what_has_no_end_is_not_read_for_ever() {
    let program = Program::new();
    program.shell("mkfifo pipe");
    for file in ["/dev/zero", "pipe"] {
        program.write("odd.jmx", &include(file));
        for verb in ["check", "preflight", "run"] {
            let ended = ends(&program, &format!("{verb} odd.jmx"));
            assert_eq!(ended.code, 0, "{verb} {file}: {ended:?}");
            let words = format!("{ended:?}");
            let said = words.contains("not a regular file");
            assert!(said || verb == "preflight", "{verb} {file}: {words}");
        }
    }
    for line in ["check /dev/zero", "run plan.jmx -q /dev/zero", "run plan.jmx -p /dev/zero"] {
        let ended = ends(&program, line);
        assert!(ended.err.contains("larger than 512 MiB"), "{line}: {ended:?}");
    }
    // A pipe that the user names on the command line is read like a file.
    let ended = program.shell("cat plan.jmx | \"$0\" check /dev/stdin");
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn a_pipe_in_a_folder_of_plans_is_refused_and_so_is_a_device_for_the_projects_file() {
    let program = Program::new();
    program.shell("mkdir plans; cp plan.jmx plans; mkfifo plans/pipe.jmx; mkdir other; cp plan.jmx other; ln -s /dev/zero other/throng.toml");
    let ended = ends(&program, "check plans");
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("pipe.jmx: not a regular file"), "{ended:?}");
    for verb in ["check", "preflight", "run"] {
        let ended = ends(&program, &format!("{verb} other/plan.jmx"));
        assert_eq!(ended.code, 2, "{verb}: {ended:?}");
        assert!(ended.err.contains("throng.toml: not a regular file"), "{verb}: {ended:?}");
    }
}

#[test]
fn no_command_writes_over_what_it_reads_or_twice_into_one_file() {
    let program = Program::new();
    program.shell(
        "\"$0\" run plan.jmx -l rows.jtl --no-report; ln -s plan.jmx link; cp rows.jtl page.html",
    );
    let files = || [program.read("plan.jmx"), program.read("rows.jtl"), program.read("page.html")];
    let before = files();
    for line in [
        "run plan.jmx --junit plan.jmx",
        "run plan.jmx --markdown ./plan.jmx",
        "run plan.jmx -l link -f",
        "run plan.jmx -j link",
        "run plan.jmx -l new.csv --junit new.csv",
        "-n -t plan.jmx -l plan.jmx",
        "check plan.jmx --junit plan.jmx",
        "report rows.jtl -o rows.jtl",
        "report rows.jtl --markdown rows.jtl",
        "report page.html",
        "compare rows.jtl page.html --markdown rows.jtl",
        "sweep plan.jmx --users 1 --markdown plan.jmx",
        "capacity plan.jmx --fail 'p99 < 1s' --markdown link",
        "report runs/* --markdown runs/*/record",
        "report runs/* -o runs/*/plan.jmx",
    ] {
        let ended = ends(&program, line);
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.err.contains("the same file"), "{line}: {ended:?}");
        assert_eq!(files(), before, "{line}");
    }
}

#[test]
fn files_of_functions_and_data_sets_are_regular_ones() {
    let program = Program::new();
    program.shell("mkfifo pipe");
    for file in ["/dev/zero", "pipe"] {
        let data = format!(
            "<CSVDataSet guiclass=\"TestBeanGUI\" testclass=\"CSVDataSet\" testname=\"data\"><stringProp name=\"filename\">{file}</stringProp>\
             <stringProp name=\"variableNames\">a</stringProp></CSVDataSet><hashTree/>"
        );
        program.write("odd.jmx", &PLAN.replace("<!--more-->", &data));
        let ended = ends(&program, "run odd.jmx");
        assert_eq!(ended.code, 6, "{file}: {ended:?}");
        assert!(ended.err.contains("must exist and be readable"), "{file}: {ended:?}");
        for call in ["__FileToString(F)", "__StringFromFile(F)", "__CSVRead(F,0)", "__XPath(F,/a)"]
        {
            let call = format!("${{{}}}", call.replace('F', file));
            program.write(
                "odd.jmx",
                &PLAN.replace("testname=\"Sleep\"", &format!("testname=\"a {call}\"")),
            );
            let ended = ends(&program, "run odd.jmx");
            assert_eq!(ended.code, 0, "{call}: {ended:?}");
        }
    }
}

#[test]
fn a_class_that_is_nowhere_is_found_without_running_anything() {
    if !has_java() {
        return;
    }
    let program = Program::new();
    let sampler = "<com.example.Sampler guiclass=\"x\" testclass=\"com.example.Sampler\" testname=\"Odd\"/><hashTree/>";
    program.write("odd.jmx", &PLAN.replace("<!--more-->", sampler));
    for line in
        [&["check", "odd.jmx"][..], &["check", "odd.jmx", "--run-java"], &["run", "odd.jmx"]]
    {
        let ended = program.run(line);
        assert_eq!(ended.code, 3, "{line:?}: {ended:?}");
        let words = format!("{}{}", ended.out, ended.err);
        assert!(words.contains("class com.example.Sampler is not in the class path"), "{words}");
        assert!(words.contains("put its jars into lib/ext"), "{words}");
    }
    // If the class exists, only Java can check its content, so `check` reports no error.
    program.shell("mkdir -p classes/com/example; touch classes/com/example/Sampler.class");
    let ended = program.run(&["check", "odd.jmx", "-Juser.classpath=classes"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn what_is_blank_is_called_blank_and_paths_stand_as_in_the_plan() {
    let program = Program::new();
    let json = "<JSONPostProcessor guiclass=\"JSONPostProcessorGui\" testclass=\"JSONPostProcessor\" testname=\"blank\">\
        <stringProp name=\"JSONPostProcessor.referenceNames\">a</stringProp><stringProp name=\"JSONPostProcessor.jsonPathExprs\"></stringProp>\
        <stringProp name=\"JSONPostProcessor.match_numbers\">1</stringProp></JSONPostProcessor><hashTree/>";
    program.write("blank.jmx", &PLAN.replace("<!--more-->", json));
    let ended = program.run(&["check", "blank.jmx"]);
    assert!(ended.out.contains("its path is blank"), "{ended:?}");
    assert!(!ended.out.contains("cannot read ,"), "{ended:?}");
    if !has_java() {
        return;
    }
    let path = "testname=\"Test Plan\" enabled=\"true\"><stringProp name=\"TestPlan.user_define_classpath\">\n,lib/absent.jar</stringProp></TestPlan>";
    let plan = PLAN.replace("testname=\"Test Plan\" enabled=\"true\"/>", path);
    program.write("odd.jmx", &plan.replace("<!--more-->", &leaves_a_file(&program)));
    let ended = program.run(&["check", "odd.jmx"]);
    for words in [
        "]: the test plan's class path has a blank entry\n",
        "]: cannot read lib/absent.jar (relative to the working directory), an entry of the test plan's class path\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
}
