//! The verdict as the program prints it: at the beginning of a run's summary, in summary.json, and later for a run's
//! folder.

mod program;

use program::{Program, quiet, schema};
use serde_json::Value;
use targets::Config;

quiet! {
    starts_that_a_timers_rate_lost_are_counted_and_explained,
    a_timers_rate_that_was_reached_is_no_finding,
}

fn summary(program: &Program) -> Value {
    let text =
        std::fs::read_to_string(program.run_folder().join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

/// Runs a plan with only 15 samples, so that the verdict has the finding `too_few_samples`.
fn failing() -> Program {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "-Jusers=3", "-Jloops=5"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    program
}

#[test]
fn a_run_begins_its_summary_with_the_verdict() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx", "-Jusers=3", "-Jloops=5", "--lang", "en"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let (verdict, table) = (ended.out.find("Verdict\n"), ended.out.find("Label"));
    assert!(verdict.is_some() && verdict < table, "{ended:?}");
    assert!(ended.out.contains("p99 is unreliable: 15 requests"), "{ended:?}");
    assert!(ended.out.contains("throng explain too_few_samples"), "{ended:?}");
}

#[test]
fn the_summary_has_the_published_form() {
    let program = failing();
    let summary = summary(&program);
    assert_eq!(schema::check(&summary), Ok(()));
    assert_eq!(summary["verdict"]["findings"][0]["id"], "too_few_samples");
    let mut other = summary;
    other["verdict"]["findings"][0]["about"] = "weather".into();
    assert!(schema::check(&other).is_err(), "the schema refuses nothing");
}

#[test]
fn the_verdict_of_a_folder_is_that_of_its_run_in_both_languages() {
    let program = failing();
    let folder = program.run_folder();
    let folder = folder.to_str().expect("a path");
    let of_run = summary(&program)["verdict"].clone();
    let json = program.run(&["verdict", folder, "--json"]);
    assert_eq!(json.code, 0, "{json:?}");
    let mut data: Value = serde_json::from_str(&json.out).expect("JSON");
    let fields = data.as_object_mut().expect("an object");
    let read = fields.remove("read").expect("what was read");
    assert_eq!(
        (&read["requests"], fields.remove("losses")),
        (&15.into(), Some(Value::Array(Vec::new())))
    );
    assert_eq!(data, of_run);
    let english = program.run(&["verdict", folder, "--lang", "en"]);
    assert!(english.out.contains("\n\nVerdict\n  * p99 is unreliable"), "{english:?}");
    let chinese = program.run(&["verdict", folder, "--zh"]);
    assert!(chinese.out.contains("\n\n结论\n  * 样本太少"), "{chinese:?}");
    let by_surroundings = program.shell("LC_ALL=zh_CN.UTF-8 $0 verdict runs/*");
    assert_eq!(by_surroundings.out, chinese.out);
}

#[test]
fn a_result_file_has_a_verdict_and_says_what_it_lacks() {
    let program = Program::new();
    program.run(&["run", "plan.jmx", "-Jusers=3", "-Jloops=5", "-l", "out.jtl"]);
    let text = program.run(&["verdict", "out.jtl", "--lang", "en"]);
    assert!(text.out.contains("p99 is unreliable: 15 requests"), "{text:?}");
    assert!(text.out.starts_with("15 requests in "), "{text:?}");
    let json = program.run(&["verdict", "out.jtl", "--json"]);
    let verdict: Value = serde_json::from_str(&json.out).expect("JSON");
    let unchecked = verdict["unchecked"].as_array().expect("a list");
    let lacks = |id: &str| unchecked.iter().find(|rule| rule["id"] == id);
    let lacks = lacks("generator_limit").expect("rows say nothing of the generator");
    assert_eq!(lacks["lacks"]["en"], "figures of the generator");
}

#[test]
fn a_file_that_does_not_say_which_samples_failed_decides_only_what_needs_no_errors() {
    let program = Program::new();
    let row = |n: i64, ms: i64| {
        format!(
            "{},{ms},a,{},Users 1-1,4,4\n",
            1_700_000_000_000 + n * 50,
            if n % 3 == 0 { 500 } else { 200 }
        )
    };
    let head = "timeStamp,elapsed,label,responseCode,threadName,grpThreads,allThreads\n";
    let rows: String = (0..3000).map(|n| row(n, 90 + n % 20)).collect();
    program.write("plain.jtl", &format!("{head}{rows}"));
    let ended = program.run(&["verdict", "plain.jtl", "--lang", "en"]);
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(
        ended.out.contains("\n\nVerdict\n  UNDECIDED: the file has no column success"),
        "{ended:?}"
    );
    assert!(!ended.out.contains("No problem found"), "{ended:?}");
    let chinese = program.run(&["verdict", "plain.jtl", "--zh"]);
    assert!(chinese.out.contains("无法判定：文件没有 success 列"), "{chinese:?}");
    // The HTML and Markdown reports contain the same verdict as the command.
    let report = program.run(&["report", "plain.jtl", "-o", "r.html", "--markdown", "r.md"]);
    assert_eq!(report.code, 0, "{report:?}");
    assert!(program.read("r.md").contains("**Undecided**: the file has no column success"));
    let page = program.read("r.html");
    assert!(page.contains("Undecided: the file has no column success"), "the page says nothing");
    assert!(
        !page.contains("<p class=\"sentence\">No problem found."),
        "the page says no problem found"
    );
    // With a column `success` the verdict is decided.
    let with = rows.replace(",4,4\n", ",4,4,true\n");
    program
        .write("with.jtl", &format!("{}{with}", head.replace("allThreads", "allThreads,success")));
    let ended = program.run(&["verdict", "with.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn each_verb_reads_pipes_as_it_reads_files() {
    let program = Program::new();
    let row = |n: i64| {
        let (at, ms) = (1_700_000_000_000 + n * 50, 50 + n % 9);
        format!("{at},{ms},a,200,OK,Users 1-1,{}\n", n % 4 != 0)
    };
    let rows: String = (0..200).map(row).collect();
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n";
    program.write("a.jtl", &format!("{head}{rows}"));
    let bash = |line: &str| program.shell(&format!("exec timeout 60 bash -c '{line}' \"$0\""));
    assert_eq!(bash("gzip -k a.jtl && mkfifo pipe").code, 0);
    let verdict = program.run(&["verdict", "a.jtl", "--json"]);
    assert!(verdict.code == 0 && verdict.out.contains("errors_named"), "{verdict:?}");
    for given in ["- < a.jtl", "- < a.jtl.gz", "<(zcat a.jtl.gz)", "<(cat a.jtl.gz)", "pipe"] {
        let before = if given == "pipe" { "cat a.jtl > pipe & " } else { "" };
        let ended = bash(&format!("{before}exec \"$0\" verdict --json {given}"));
        assert_eq!((ended.code, &ended.out), (0, &verdict.out), "{given}: {ended:?}");
        let ended = bash(&format!("{before}exec \"$0\" report -o r.html --tables t {given}"));
        assert_eq!(ended.code, 0, "{given}: {ended:?}");
        let table = program.read("t/labels.csv");
        assert!(table.contains("\na,request,0,200,50,"), "{given}: {table}");
        let ended =
            bash(&format!("{before}exec \"$0\" compare a.jtl {given} --no-report --json --anyway"));
        assert_eq!(ended.code, 0, "{given}: {ended:?}");
        let said: Value = serde_json::from_str(&ended.out).expect("JSON");
        let all = said["comparison"]["all"]["differences"].as_array().expect("figures");
        let same = all.iter().all(|figure| figure["a"] == figure["b"]);
        assert!(!all.is_empty() && same, "{given}: {}", ended.out);
        let ended = bash(&format!("{before}rm -rf g; exec \"$0\" -g {given} -o g"));
        assert_eq!(ended.code, 0, "{given}: {ended:?}");
        let figures: Value =
            serde_json::from_str(&program.read("g/statistics.json")).expect("JSON");
        let total = &figures["Total"];
        assert_eq!(
            (&total["sampleCount"], &total["errorCount"]),
            (&200.into(), &50.into()),
            "{given}"
        );
    }
}

#[test]
fn odd_files_give_the_figures_of_a_plain_reading_by_each_verb() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/odd_files/processes.py");
    let mut made = std::process::Command::new("python3");
    made.args([
        script,
        env!("CARGO_BIN_EXE_throng"),
        "--count",
        "24",
        "--seed",
        "3",
        "--jobs",
        "1",
    ]);
    match made.output() {
        Ok(ended) => assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout)),
        Err(error) => program::skip(format!("python3 does not start: {error}")),
    }
}

#[test]
fn what_is_lost_of_a_file_is_said_wherever_its_figures_are() {
    let program = Program::new();
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n";
    let row =
        |n: i64| format!("{},{},a,200,OK,U 1-1,true\n", 1_700_000_000_000 + n * 50, 50 + n % 9);
    let rows: String = (0..200).map(row).collect();
    program.write("whole.jtl", &format!("{head}{rows}"));
    program.write("torn.jtl", &format!("{head}{rows}17000"));
    // A row with zero bytes, as after lost disk data, which still has all its fields.
    let damaged =
        format!("{head}{rows}{}", row(200).replace(",a,", &format!(",{},", "\0".repeat(9))));
    program.write("zeroes.jtl", &damaged);
    let cut = "gzip -k whole.jtl && head -c $(($(stat -c %s whole.jtl.gz) / 2)) whole.jtl.gz > cut.jtl.gz";
    assert_eq!(program.shell(cut).code, 0);
    for (file, words) in [
        ("torn.jtl", "the last 5 bytes are left out"),
        ("zeroes.jtl", "1 row could not be read, in line 202: it has NUL bytes"),
        ("cut.jtl.gz", "the compressed file is damaged or ends early"),
    ] {
        let text = program.run(&["verdict", file, "--lang", "en"]);
        assert!(text.out.contains(&format!("take care: {words}")), "{text:?}");
        let json = program.run(&["verdict", file, "--json"]);
        let data: Value = serde_json::from_str(&json.out).expect("JSON");
        let losses = data["losses"].as_array().expect("a list");
        let is_told = |loss: &Value| loss["en"].as_str().is_some_and(|en| en.starts_with(words));
        assert!(losses.iter().any(is_told), "{json:?}");
        let ended = program.run(&["report", file, "-o", "r.html", "--markdown", "r.md"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        for page in ["r.html", "r.md"] {
            assert!(program.read(page).contains(words), "{file}: {page}");
        }
        let ended = program.run(&["compare", "whole.jtl", file, "--no-report"]);
        assert!(ended.out.contains(&format!("take care: B: {words}")), "{ended:?}");
        let ended = program.run(&["compare", "whole.jtl", file, "--no-report", "--json"]);
        assert!(ended.out.contains(&format!("B: {words}")), "{ended:?}");
    }
    let ended = program.run(&["verdict", "torn.jtl", "--lang", "en"]);
    assert!(ended.out.starts_with("200 requests in 10 s\n"), "{ended:?}");
}

/// Returns a result file with 3 000 good rows and `lost` rows that lack a field.
fn with_lost_rows(lost: u64) -> String {
    let row = |n: u64| {
        let at = 1_700_000_000_000 + n * 50;
        let end = if n < 3000 { "200,OK,U 1-1,true" } else { "500,U 1-1,false" };
        format!("{at},{},a,{end}\n", 50 + n % 9)
    };
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n";
    head.to_owned() + &(0..3000 + lost).map(row).collect::<String>()
}

#[test]
fn rows_that_could_not_be_read_leave_an_answer_undecided() {
    let program = Program::new();
    program.write("whole.jtl", &with_lost_rows(0));
    program.write("one.jtl", &with_lost_rows(1));
    program.write("many.jtl", &with_lost_rows(2000));
    let words = "2 000 rows of 5 000 could not be read, and they could change the answer";
    let ended = program.run(&["verdict", "many.jtl", "--lang", "en"]);
    assert!(ended.code == 6 && ended.out.contains(&format!("UNDECIDED: {words}.")), "{ended:?}");
    let json = program.run(&["verdict", "many.jtl", "--json"]);
    let data: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((json.code, data["undecided"]["en"].as_str()), (6, Some(words)), "{json:?}");
    program.run(&["report", "many.jtl", "-o", "r.html", "--markdown", "r.md"]);
    for page in ["r.html", "r.md"] {
        assert!(program.read(page).contains(words), "{page}");
    }
    assert_eq!(program.run(&["verdict", "one.jtl"]).code, 0);
    for (sides, change, code) in [
        (["whole.jtl", "many.jtl"], "error% > +1%", 6),
        (["many.jtl", "whole.jtl"], "error% > +1%", 0),
        (["many.jtl", "whole.jtl"], "error% < -1%", 6),
        (["whole.jtl", "many.jtl"], "p95 > +25%", 6),
        (["many.jtl", "whole.jtl"], "mean > +25%", 6),
        (["whole.jtl", "many.jtl"], "error% > +50%", 0),
        (["whole.jtl", "one.jtl"], "error% > +1%", 0),
        (["whole.jtl", "one.jtl"], "p95 > +25%", 0),
    ] {
        let line = ["compare", sides[0], sides[1], "--no-report", "--fail-if", change];
        let ended = program.run(&line);
        assert_eq!(ended.code, code, "{sides:?} {change}: {ended:?}");
        assert_eq!(ended.out.contains(words), code == 6, "{sides:?} {change}: {ended:?}");
    }
}

#[test]
fn the_row_of_a_figure_that_lost_rows_could_change_says_so() {
    let program = Program::new();
    program.write("whole.jtl", &with_lost_rows(0));
    program.write("many.jtl", &with_lost_rows(2000));
    let line = ["compare", "whole.jtl", "many.jtl", "--runs", "made", "--markdown", "m.md"];
    let ended = program.run(&line);
    let open = |metric: &str| {
        let mut rows = ended.out.lines().filter(|line| line.starts_with(metric));
        rows.next().is_some_and(|row| row.ends_with("undecided: unread rows"))
    };
    for metric in ["rate", "error%", "service mean", "service p95"] {
        assert!(open(metric), "{metric}: {}", ended.out);
    }
    let words = "B: 2 000 rows of 5 000 could not be read: rate, error%, service mean, ";
    assert!(ended.out.contains(words), "{}", ended.out);
    for no in ["no difference", "No difference"] {
        assert!(!ended.out.contains(no), "{}", ended.out);
    }
    let markdown = program.read("m.md");
    assert!(markdown.starts_with("## ⚠️") && markdown.contains(" undecided\n"), "{markdown}");
    assert!(markdown.contains("| undecided: unread rows |"), "{markdown}");
    assert!(!markdown.contains("within chance"), "{markdown}");
    let folder = std::fs::read_dir(program.path("made")).expect("answers").flatten().next();
    let page = std::fs::read_to_string(folder.expect("one").path().join("report.html"));
    assert!(page.expect("a page").contains("undecided: unread rows"));
    // A few unreadable rows affect only the high percentiles and the error share.
    program.write("few.jtl", &with_lost_rows(20));
    let one = program.run(&["compare", "whole.jtl", "few.jtl", "--no-report"]);
    let row = |metric: &str| {
        let row = one.out.lines().find(|line| line.starts_with(metric));
        row.unwrap_or_else(|| panic!("{metric}: {}", one.out)).to_owned()
    };
    for metric in ["rate", "service mean", "service p50", "service p90"] {
        assert!(row(metric).ends_with("no difference"), "{}", one.out);
    }
    for metric in ["error%", "service p95", "service p99"] {
        assert!(row(metric).ends_with("undecided: unread rows"), "{}", one.out);
    }
}

#[test]
fn the_verdict_of_a_folder_has_the_criteria_and_the_exit_code_of_its_run() {
    let half = "error% < 60 for label Sleep";
    for (line, word, code) in [
        (
            &[
                "--fail",
                "service p95 < 1h",
                "--rps",
                "40",
                "--iterations",
                "20",
                "--max-users",
                "1",
            ][..],
            "UNDECIDED",
            6,
        ),
        (&["--fail", "count > 5000"], "NOT MET", 4),
        (&["--fail", "count = 15", "--fail", half], "met", 0),
        (&["--abort-if", "checks% < 5"], "UNDECIDED", 6),
    ] {
        let program = Program::new();
        let load = ["run", "plan.jmx", "-Jusers=3", "-Jloops=5", "-Jms=200", "-l", "out.jtl"];
        let ended = program.run(&[&load[..], line].concat());
        assert_eq!(ended.code, code, "{line:?}: {ended:?}");
        let folder = program.run_folder();
        let folder = folder.to_str().expect("a path");
        let told = program.run(&["verdict", folder, "--lang", "en"]);
        assert_eq!(told.code, code, "{line:?}: {told:?}");
        let criteria = |out: &str| {
            let (_, rest) = out.split_once("Criteria\n").expect("criteria");
            rest.lines().next().unwrap_or_default().to_owned()
        };
        assert!(criteria(&told.out).trim_start().starts_with(word), "{}", told.out);
        let tail = |out: &str| criteria(out).split_once(": ").map(|(_, tail)| tail.to_owned());
        assert_eq!(tail(&told.out), tail(&ended.out), "{line:?}");
        let json = program.run(&["verdict", folder, "--json"]);
        let data: Value = serde_json::from_str(&json.out).expect("JSON");
        assert_eq!((json.code, &data["criteria"]), (code, &summary(&program)["criteria"]));
        let page = program.run(&["report", folder, "--markdown", "s.md", "-o", "s.html"]);
        assert_eq!(page.code, 0, "{page:?}");
        assert!(program.read("s.md").to_lowercase().contains(&word.to_lowercase()));
        // A result file contains no criteria, so the exit code is 0.
        assert_eq!(program.run(&["verdict", "out.jtl"]).code, 0, "{line:?}");
    }
}

#[test]
fn a_run_in_which_every_request_failed_says_so_first() {
    let program = Program::new();
    let sampler = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#;
    let plan =
        program::PLAN.replace("<JavaSampler guiclass", &format!("{sampler}<JavaSampler guiclass"));
    let plan = plan.replace(
        r#"testclass="JavaSampler" testname="Sleep" enabled="true""#,
        r#"testclass="JavaSampler" testname="Sleep" enabled="false""#,
    );
    program.write("dead.jmx", &plan);
    let words = "EVERY REQUEST FAILED (10 requests). The exit code does not say so: ";
    for (line, why) in [
        (
            &["run", "dead.jmx", "-Jloops=10", "--markdown", "m.md"][..],
            "no criterion was given, and --fail 'error% < 1' makes it 4.\n\nVerdict\n",
        ),
        (&["-n", "-t", "dead.jmx", "-Jloops=10"], "as in JMeter.\n\nVerdict\n"),
    ] {
        let ended = program.run(line);
        assert!(ended.code == 0 && ended.out.contains(&format!("{words}{why}")), "{ended:?}");
    }
    let title = program.read("m.md");
    assert!(title.starts_with("## ⚠️") && title.contains("all 10 requests failed\n"), "{title}");
    let asked = program.run(&["run", "dead.jmx", "--fail", "error% > 99"]);
    assert!(asked.code == 0 && !asked.out.contains("EVERY REQUEST"), "{asked:?}");
}

#[test]
fn standard_input_is_one_side_of_a_comparison_at_most() {
    let program = Program::new();
    let ended = program.shell("echo x | $0 compare - -");
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.err.contains("A and B are standard input, which can be read once only"),
        "{ended:?}"
    );
}

#[test]
fn a_pipe_needs_a_place_for_its_report() {
    let program = Program::new();
    let ended = program.shell("echo x | $0 report -");
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("add -o FILE"), "{ended:?}");
}

#[test]
fn the_folder_of_an_answer_names_the_verb_that_reads_it() {
    let program = Program::new();
    std::fs::create_dir(program.path("limits")).expect("a folder");
    program.write("limits/capacity.json", "{}");
    for line in [&["verdict", "limits"][..], &["compare", "limits", "limits"]] {
        let ended = program.run(line);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains("throng report limits makes its page"), "{ended:?}");
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let program = Program::new();
    let ended = program.run(&["verdict", "nothing"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("cannot read nothing"), "{ended:?}");
}

#[test]
fn a_run_without_a_second_is_no_result_file() {
    let program = Program::new();
    std::fs::create_dir(program.path("killed")).expect("a folder");
    for begun in ["", "thr"] {
        program.write("killed/record", begun);
        for path in ["killed", "killed/record"] {
            let ended = program.run(&["verdict", path]);
            assert_eq!(ended.code, 2, "{ended:?}");
            assert!(ended.err.contains("killed/record: no second was recorded"), "{ended:?}");
        }
    }
}

#[test]
fn each_rule_has_its_heading() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verdict.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
    let (added, headings): (Vec<&str>, Vec<&str>) =
        headings.partition(|id| answers::rules::ADDED.contains(id));
    let rules: Vec<&str> = answers::rules::ALL.iter().map(|rule| rule.id).collect();
    assert_eq!(headings, rules);
    assert_eq!(added, answers::rules::ADDED);
}

/// Runs a plan with a Constant Throughput Timer against a service that takes 20 ms. Returns the finding `id`.
fn of_rate(id: &str, stall: (&str, &str), load: &[&str]) -> Option<Value> {
    const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../targets/tests/plans/rate.jmx");
    let program = Program::new();
    let config = Config::new("service").option("ms", "20");
    let config = config.option("stall", stall.0).option("stall_at", stall.1);
    let target = targets::start(config).expect("the target starts");
    let port = format!("-Jport={}", target.addr().port());
    let ended = program.run(&[&["run", PLAN, &port], load].concat());
    target.stop();
    assert_eq!(ended.code, 0, "{ended:?}");
    let verdict = &summary(&program)["verdict"];
    let said = ["findings", "hidden"].into_iter().filter_map(|list| verdict[list].as_array());
    said.flatten().find(|finding| finding["id"] == id).cloned()
}

fn starts_that_a_timers_rate_lost_are_counted_and_explained() {
    let load = ["-Jusers=50", "-Jper_minute=30000", "-Jduration=8"];
    let finding = of_rate("late_starts", ("2000", "3000"), &load);
    let finding = finding.expect("2 s of 500 starts a second were lost");
    let words = finding["words"]["en"].as_str().expect("a sentence");
    assert!(words.contains("500/s asked for"), "{words}");
    // On a busy machine, the finding may name the machine as a cause.
    let why = [
        "The target gave no answers for up to",
        "was at its limit",
        "filled the generator's machine",
        "waited in the generator",
        "generator stood still",
        "users were waiting",
        "users were busy",
    ];
    assert!(why.iter().any(|why| words.contains(why)), "{words}");
    let evidence = finding["evidence"].as_array().expect("evidence");
    let missed = evidence.iter().find(|figure| figure["metric"] == "starts_missed");
    let missed = missed.and_then(|figure| figure["value"].as_f64()).expect("a number");
    assert!((600.0..4000.0).contains(&missed), "{words}");
}

fn a_timers_rate_that_was_reached_is_no_finding() {
    let load = ["-Jusers=20", "-Jper_minute=1800", "-Jduration=6"];
    let finding = of_rate("late_starts", ("0", "0"), &load);
    let words = finding.map(|finding| finding["words"]["en"].to_string());
    assert!(words.as_ref().is_none_or(|words| !words.contains("never made")), "{words:?}");
}
