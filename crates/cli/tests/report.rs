//! The HTML report that the program writes: at the end of a run, for a killed run, and for a result file.

mod program;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use program::{ASKING, Program};
use serde_json::Value;

const NEVER: Duration = Duration::from_secs(60);

/// A program that is killed when its test ends, also if the test fails.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it can be killed");
    }
}

/// Runs the plan [`ASKING`] against a new target.
fn asked(more: &[&str]) -> Program {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let program = Program::new();
    program.write("asking.jmx", ASKING);
    let port = format!("-Jport={}", target.addr().port());
    let mut line = vec!["run", "asking.jmx", "--runs", "runs", &port, "-Jloops=50"];
    line.extend(more);
    let ended = program.run(&line);
    assert!([0, 4].contains(&ended.code), "{ended:?}");
    program
}

fn text(program: &Program, name: &str) -> String {
    std::fs::read_to_string(program.run_folder().join(name)).expect(name)
}

fn page(html: &str) -> Value {
    report::file::data(html).expect("data in the page")
}

#[test]
fn a_report_has_the_figures_of_the_summary() {
    let program = asked(&["--fail", "error% < 1", "--fail", "p50 < 50s", "-Japi.token=hush"]);
    let html = text(&program, "report.html");
    let (page, summary) =
        (page(&html), serde_json::from_str::<Value>(&text(&program, "summary.json")).unwrap());
    assert_eq!(page["totals"]["samples"], summary["requests"]);
    assert_eq!(page["totals"]["failed"], summary["failed"]);
    assert_eq!(page["totals"]["sent_bytes"], summary["sent_bytes"]);
    assert_eq!(page["totals"]["received_bytes"], summary["received_bytes"]);
    let of = |p: f64| {
        let list = page["totals"]["quantiles"].as_array().unwrap();
        list.iter().find(|one| one["p"] == p).unwrap()["us"].as_f64().unwrap() / 1000.0
    };
    for (p, name) in [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p999")] {
        let known = summary["response"][name].as_f64().unwrap();
        assert!((of(p) - known).abs() <= 0.001 * known + 0.001, "{name}: {} and {known}", of(p));
    }
    let errors = summary["errors"][0]["count"].as_u64();
    assert_eq!(page["causes"][0]["count"].as_u64(), errors);
    assert_eq!(page["criteria"][0]["met"], false);
    assert_eq!(page["criteria"][1]["met"], true);
    assert!(
        html.contains("✗") && html.contains("error% &lt; 1"),
        "the first screen has the criteria"
    );
    assert!(!html.contains("hush") && !page["about"].to_string().contains("hush"));
}

#[test]
fn the_first_screen_stands_without_script_and_nothing_else_is_allowed() {
    let program = asked(&[]);
    let html = text(&program, "report.html");
    let (screen, _) = html.split_once("<script").expect("a script behind the screen");
    for part in [
        "Content-Security-Policy",
        "default-src 'none'",
        "Verdict",
        "结论",
        "Requests",
        "<svg",
        "Nobody",
    ] {
        assert!(screen.contains(part), "{part}");
    }
    assert!(
        !html.contains("style=\"") && !html.contains("onclick") && !html.contains("unsafe-inline")
    );
    let style =
        html.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).unwrap().0;
    assert!(html.contains(&report::file::hash(style)), "the policy names the style");
    let script =
        html.rsplit_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    assert!(html.contains(&report::file::hash(script)), "the policy names the script");
    assert!(
        !screen.contains("src=") && !screen.contains("http://") && !screen.contains("https://")
    );
}

#[test]
fn a_label_is_never_markup() {
    let label = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";
    let program = asked(&[&format!("-Jlabel={label}")]);
    let html = text(&program, "report.html");
    assert!(!html.contains("alert(1)</script>") && !html.contains("<img"));
    let page = page(&html);
    assert!(page["labels"].as_array().unwrap().iter().any(|one| one["name"] == label));
}

#[test]
fn a_run_makes_none_if_told_so() {
    let program = asked(&["--no-report"]);
    assert!(!program.run_folder().join("report.html").exists());
    let folder = program.run_folder();
    let ended = program.run(&["report", folder.to_str().unwrap(), "--lang", "zh"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let html = text(&program, "report.html");
    assert!(html.contains("<html lang=\"zh-CN\">") && html.contains("id=\"zh\" checked"));
}

#[test]
fn a_run_leaves_a_summary_and_tables_of_the_same_figures() {
    let hostile = "-Jlabel=<b>@all|`x`";
    let program = asked(&["--fail", "error% < 1", "--no-report", "--markdown", "run.md", hostile]);
    let summary = program.read("run.md");
    assert!(
        summary.starts_with("## ❌ Load test: `asking.jmx` – 1 of 1 criteria not met\n"),
        "{summary}"
    );
    assert!(summary.contains("| ❌ not met | `error% < 1%` | 50% |"), "{summary}");
    assert!(summary.contains("| `` <b>@all\\|`x` `` | 200 | 0 % |"), "{summary}");
    assert!(!program.run_folder().join("report.html").exists());
    let folder = program.run_folder();
    let line = ["report", folder.to_str().unwrap(), "--lang", "zh", "--markdown", "zh.md"];
    let ended = program.run(&[&line[..], &["--tables", "new/tables"]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        program.read("zh.md").starts_with("## ❌ 负载测试：`asking.jmx` – 1 项标准中 1 项未达标\n")
    );
    let json = |name: &str| -> Value {
        serde_json::from_str(&program.read(&format!("new/tables/{name}.json"))).expect(name)
    };
    let labels = json("labels");
    let of = |name: &str| {
        labels.as_array().unwrap().iter().find(|row| row["label"] == name).expect(name).clone()
    };
    assert_eq!(
        (&of("<b>@all|`x`")["samples"], &of("Nobody")["failed"]),
        (&200.into(), &200.into())
    );
    let page = page(&text(&program, "report.html"));
    assert_eq!(json("totals")[0]["samples"], page["totals"]["samples"]);
    assert_eq!(json("errors")[0]["share_of_errors"], 1);
    assert_eq!(json("criteria")[0]["met"], false);
    let csv = program.read("new/tables/labels.csv");
    assert!(
        csv.starts_with("label,kind,folded_labels,samples,")
            && csv.contains("\r\nNobody,request,0,200,200,1,"),
        "{csv}"
    );
}

#[test]
fn what_cannot_be_written_is_said() {
    let program = Program::new();
    let lost = program.run(&["run", "plan.jmx", "--runs", "runs", "--markdown", "nowhere/x.md"]);
    assert_eq!(lost.code, 9, "{lost:?}");
    assert!(lost.err.contains("nowhere/x.md") && lost.err.contains("--markdown"), "{lost:?}");
    let folder = program.run_folder();
    let folder = folder.to_str().unwrap();
    program.write("file", "");
    let line = ["run", "plan.jmx", "--runs", "lost", "--k6-summary", "nowhere/x.json"];
    let lost = program.run(&line);
    assert_eq!(lost.code, 9, "{lost:?}");
    assert!(lost.err.contains("nowhere/x.json") && lost.err.contains("--k6-summary"), "{lost:?}");
    let flags =
        [("--markdown", "nowhere/x.md"), ("--k6-summary", "nowhere/x.json"), ("--tables", "file")];
    for (flag, to) in flags {
        let lost = program.run(&["report", folder, flag, to]);
        assert_eq!(lost.code, 9, "{lost:?}");
        assert!(lost.err.contains(to), "{lost:?}");
        let two = program.run(&["report", folder, folder, flag, "new"]);
        assert_eq!(two.code, 2, "{two:?}");
        assert!(two.err.contains(flag) && two.err.contains("one by one"), "{two:?}");
    }
}

#[test]
fn tables_have_all_labels_of_a_result_file() {
    let program = Program::new();
    let mut rows = String::from("timeStamp,elapsed,label,responseCode,responseMessage,success\n");
    // Labels differ in letters, because the report merges labels that differ only in digits.
    let letter = |n: i64| char::from(b'a' + (n % 20) as u8);
    for i in 0..6000 {
        let n = i % 300;
        let at = 1_700_000_000_000 + i * 10;
        rows += &format!(
            "{at},{},={}{}{},200,OK,true\n",
            10 + i % 7,
            letter(n / 20),
            letter(n),
            letter(n * 7)
        );
    }
    program.write("many.jtl", &rows);
    let ended = program.run(&["report", "many.jtl", "--tables", "tables"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let csv = program.read("tables/labels.csv");
    assert_eq!(csv.lines().count(), 301);
    assert!(csv.lines().skip(1).all(|line| line.starts_with("'=")), "{csv}");
    let seconds = program.read("tables/timeline.csv");
    // The last rows end a fraction of a second after second 60 and count in that second.
    assert_eq!(seconds.lines().count(), 61, "{seconds}");
}

#[test]
fn of_a_killed_run_there_is_one_up_to_its_last_second() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let program = Program::new();
    program.write("asking.jmx", ASKING);
    let port = format!("-Jport={}", target.addr().port());
    let running =
        Killed(program.start(&["run", "asking.jmx", "--runs", "runs", &port, "-Jloops=1000000"]));
    let begin = Instant::now();
    let seconds = || {
        let there = program.path("runs").read_dir().is_ok_and(|mut runs| runs.next().is_some());
        let record = there.then(|| record::Record::read(&program.run_folder()).ok()).flatten();
        record.map_or(0, |record| record.seconds.len())
    };
    while seconds() < 2 {
        assert!(begin.elapsed() < NEVER, "no second was recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(running);
    let folder = program.run_folder();
    assert!(!folder.join("report.html").exists());
    let ended = program.run(&["report", folder.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let page = page(&text(&program, "report.html"));
    assert_eq!(page["about"]["ending"]["kind"], "unknown");
    assert!(page["totals"]["samples"].as_u64() > Some(0));
}

#[test]
fn of_a_result_file_there_is_one_beside_it() {
    let program = Program::new();
    let mut rows = String::from("timeStamp,elapsed,label,responseCode,responseMessage,success\n");
    for i in 0..200 {
        let (code, message, ok) =
            if i % 10 == 0 { ("500", "Broken", "false") } else { ("200", "OK", "true") };
        rows += &format!(
            "{},{},Page {},{code},{message},{ok}\n",
            1_700_000_000_000_i64 + i * 100,
            10 + i % 7,
            i % 2
        );
    }
    program.write("old.jtl", &(rows + "170000"));
    let ended = program.run(&["report", "old.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("left out") || ended.err.contains("could not be read"), "{ended:?}");
    let html = std::fs::read_to_string(program.path("old.html")).expect("the report");
    let page = page(&html);
    assert_eq!(
        (page["totals"]["samples"].as_u64(), page["totals"]["failed"].as_u64()),
        (Some(200), Some(20))
    );
    assert_eq!(page["labels"].as_array().map(Vec::len), Some(2));
    assert!(page["about"]["flaws"][0]["zh"].as_str().is_some_and(|text| !text.is_empty()));
    let wrong = program.run(&["report", "nowhere.jtl"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

/// Returns rows of 90 s with two labels, one of them hostile HTML. Times are `percent` of a random 10 to 30 ms.
fn rows(seed: u64, percent: u64) -> String {
    let mut random = answers::random::Random::new(seed);
    let mut rows = String::from(
        "timeStamp,elapsed,label,responseCode,responseMessage,success,grpThreads,allThreads\n",
    );
    for i in 0..9000_u64 {
        let elapsed = (10 + random.below(20) as u64) * percent / 100;
        let label = if i % 3 == 0 { HOSTILE } else { "Ask" };
        let at = 1_700_000_000_000 + i * 10;
        rows += &format!("{at},{elapsed},{label},200,OK,true,4,4\n");
    }
    rows
}

const HOSTILE: &str = "<img src=x onerror=alert(1)></script><b>`@all|";

/// Returns the folder in `runs` whose name starts with `begin`.
fn answer(program: &Program, begin: &str) -> PathBuf {
    let entries = std::fs::read_dir(program.path("runs")).expect("a folder of runs");
    let mut found = entries.map(|entry| entry.expect("an entry").path());
    let found = found.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(begin));
    found.unwrap_or_else(|| panic!("{begin}"))
}

/// Returns the data of the report page in `folder`. Asserts that its first screen contains `parts` and that no hostile
/// HTML is unescaped.
fn page_with(folder: &Path, parts: &[&str]) -> Value {
    let html = std::fs::read_to_string(folder.join("report.html")).expect("a page");
    let (screen, _) = html.split_once("<script").expect("a script behind the screen");
    for part in parts {
        assert!(screen.contains(part), "{part}: {}", screen.split_once("<body").unwrap().1);
    }
    assert!(screen.contains("结论") && screen.contains("<svg"));
    assert!(!html.contains("<img") && !html.contains("style=\""));
    page(&html)
}

#[test]
fn a_comparison_leaves_a_page_that_can_be_made_again() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100));
    program.write("b.jtl", &rows(2, 140));
    let line = ["compare", "a.jtl", "b.jtl", "--fail-if", "p95 > +5%", "--markdown", "made.md"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 4, "{ended:?}");
    let summary = program.read("made.md");
    assert!(
        summary.starts_with("## ❌ Comparison: `b.jtl` – 1 of 1 criteria not met\n"),
        "{summary}"
    );
    assert!(summary.contains("| ❌ failed | `service p95 > +5%` |"), "{summary}");
    assert!(
        summary.contains("``<img src=x onerror=alert(1)></script><b>`@all\\|`` | service mean |"),
        "{summary}"
    );
    assert!(summary.contains("❌ worse |"), "{summary}");
    let folder = answer(&program, "compare-a-");
    assert!(ended.out.contains("report.html"), "{ended:?}");
    let parts = ["B&#39;s service mean is", "class=\"forest\"", "✗", "p95 &gt; +5%", "&lt;img"];
    let made = page_with(&folder, &parts);
    assert_eq!(made["kind"], "comparison");
    let rows = made["rows"].as_array().expect("rows");
    let of = |label: Option<&str>, metric: &str| {
        let found =
            rows.iter().find(|row| row["label"].as_str() == label && row["metric"]["en"] == metric);
        found.unwrap_or_else(|| panic!("{metric} of {label:?}"))
    };
    for label in [None, Some(HOSTILE), Some("Ask")] {
        let mean = of(label, "service mean");
        assert_eq!((&mean["different"], &mean["unit"]), (&true.into(), &"us".into()), "{mean}");
        let (low, high) = (mean["low"].as_f64().unwrap(), mean["high"].as_f64().unwrap());
        assert!(low > 0.2 && high < 0.6, "{mean}");
    }
    assert!(made["tails"].as_array().is_some_and(|tails| tails.len() == 3), "{made}");
    let line = ["report", folder.to_str().unwrap(), "-o", "again.html", "--tables", "tables"];
    let again = program.run(&[&line[..], &["--markdown", "again.md"]].concat());
    assert_eq!((again.code, &*again.out), (0, "again.html\nagain.md\ntables\n"), "{again:?}");
    assert_eq!(made, page(&program.read("again.html")));
    assert_eq!(program.read("again.md"), program.read("made.md"));
    let of_two = program.run(&["report", folder.to_str().unwrap(), "--k6-summary", "two.json"]);
    assert_eq!(of_two.code, 2, "{of_two:?}");
    assert!(
        of_two.err.contains("--k6-summary") && !program.path("two.json").exists(),
        "{of_two:?}"
    );
    let changes: Value = serde_json::from_str(&program.read("tables/changes.json")).unwrap();
    assert_eq!(changes.as_array().map(Vec::len), Some(rows.len()));
    let none = program.run(&["compare", "a.jtl", "b.jtl", "--no-report", "--runs", "none"]);
    assert_eq!(none.code, 0, "{none:?}");
    assert!(!program.path("none").exists());
}

#[test]
fn a_comparison_says_what_either_file_lacks_and_counts_all_rows() {
    let program = Program::new();
    let (a, b) = (rows(1, 100), rows(2, 140));
    let (head, rest) = a.split_once('\n').expect("a heading");
    // One file has an incomplete row in the middle, the other file's last row is cut off.
    program.write("torn.jtl", &format!("{head}\n17,5,x\n{rest}"));
    program.write("cut.jtl", &b[..b.len() - 12]);
    for (line, side, loss) in [
        (["compare", "torn.jtl", "cut.jtl"], "A", "1 row could not be read, in line 2"),
        (["compare", "cut.jtl", "torn.jtl"], "B", "1 row could not be read, in line 2"),
        (["compare", "torn.jtl", "cut.jtl"], "B", "the last "),
    ] {
        let files = ["--markdown", "made.md", "--runs", "made"];
        let ended = program.run(&[&line[..], &files].concat());
        let words = format!("{side}: {loss}");
        assert!(ended.out.contains(&format!("take care: {words}")), "{ended:?}");
        assert!(program.read("made.md").contains(&words), "{}", program.read("made.md"));
        let found = std::fs::read_dir(program.path("made")).expect("answers");
        let folder = found.flatten().next().expect("one").path();
        let made = page_with(&folder, &[&words]);
        let validity = made["validity"].as_array().expect("reasons");
        let says = |one: &Value| one["words"]["en"].as_str().is_some_and(|it| it.contains(&words));
        assert!(validity.iter().any(says), "{validity:?}");
        let json = std::fs::read_to_string(folder.join("compare.json")).expect("JSON");
        assert!(json.contains(&words), "{json}");
        std::fs::remove_dir_all(program.path("made")).expect("they go");
    }
    let few = "timeStamp,elapsed,label,success\n1700000000000,100,a,true\n1700000000200,100,a,false\n1700000000400,100,a,true\n";
    program.write("few.jtl", few);
    let ended = program.run(&["compare", "few.jtl", "few.jtl", "--no-report"]);
    assert!(ended.out.contains("Requests: A 3 (1 failed), B 3 (1 failed).\n"), "{ended:?}");
    assert!(
        ended.out.contains("6.00/s")
            && ended.out.contains("only 0.5 s under")
            && !ended.out.contains("The comparison uses"),
        "{ended:?}"
    );
}

/// Writes a sweep whose points are result files. Each point has a load, a random seed and a percentage for its times.
fn sweep(program: &Program, name: &str, points: &[(u32, u64, u64)]) {
    let point = |&(load, seed, percent): &(u32, u64, u64)| {
        let file = format!("{name}-{load}.jtl");
        let users = format!(",{load},{load}\n");
        program.write(&file, &rows(seed, percent).replace(",4,4\n", &users));
        serde_json::json!({ "load": load, "folder": program.path(&file) })
    };
    let points: Vec<Value> = points.iter().map(point).collect();
    std::fs::create_dir(program.path(name)).expect("a folder");
    let sweep = serde_json::json!({ "axis": "users", "points": points });
    program.write(&format!("{name}/sweep.json"), &sweep.to_string());
}

#[test]
fn two_sweeps_with_long_points_leave_a_page() {
    let program = Program::new();
    sweep(&program, "a", &[(1, 1, 100), (4, 2, 100), (8, 3, 100), (16, 4, 100)]);
    sweep(&program, "b", &[(1, 5, 100), (4, 6, 130), (8, 7, 100), (32, 8, 100)]);
    // This point of the sweep is too short for confidence intervals.
    let short: String = program.read("b-8.jtl").split_inclusive('\n').take(3000).collect();
    program.write("b-8.jtl", &short);
    let ended = program.run(&["compare", "a", "b", "--fail-if", "p95 > +5%"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    for words in [
        "\n4 users: FAILED: service p95 > +5% (found +",
        "\n4 users: B's service mean is ",
        "\n8 users: No significance test of rate and times: B: only ",
        "\nonly A has 16 users\nonly B has 32 users\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(!ended.out.contains("\n1 user: "), "{}", ended.out);
    let folder = answer(&program, "compare-a-");
    let parts = [
        "4 users: B&#39;s service mean is",
        "class=\"forest\"",
        "✗",
        "4 users: service p95 &gt; +5%",
    ];
    let made = page_with(&folder, &parts);
    let sentences: Vec<&str> =
        made["sentences"].as_array().unwrap().iter().map(|s| s["en"].as_str().unwrap()).collect();
    let is_there = |begin: &str| sentences.iter().any(|words| words.starts_with(begin));
    assert!(is_there("4 users: B's service p95 is 2") && !is_there("1 user"), "{sentences:?}");
    assert!(is_there("8 users: No significance test"), "{sentences:?}");
    let notes: Vec<_> = made["notes"].as_array().unwrap().iter().map(|note| &note["en"]).collect();
    assert!(notes.contains(&&Value::from("Only A has 16 users: not compared.")), "{notes:?}");
    assert!(notes.contains(&&Value::from("Only B has 32 users: not compared.")), "{notes:?}");
    let rows = made["rows"].as_array().expect("rows");
    let mean = |label: &str| {
        let is = |row: &&Value| row["label"] == label && row["metric"]["en"] == "service mean";
        rows.iter().find(is).unwrap_or_else(|| panic!("{label}"))
    };
    assert_eq!(mean("1 user")["different"], false);
    assert_eq!(mean("4 users")["different"], true);
    assert_eq!(mean(&format!("4 users: {HOSTILE}"))["different"], true);
    assert!(mean("1 user")["low"].is_f64() && mean("8 users")["low"].is_null());
    let again = program.run(&["report", folder.to_str().unwrap(), "-o", "again.html"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(made, page(&program.read("again.html")));
}

#[test]
fn a_page_says_why_two_runs_cannot_be_compared() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100));
    program.write("b.jtl", &rows(2, 100).replace(",4,4\n", ",9,9\n"));
    let ended = program.run(&["compare", "a.jtl", "b.jtl"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let html = std::fs::read_to_string(answer(&program, "compare-a-").join("report.html"));
    let html = html.expect("a page");
    assert!(html.contains("the load is not the same: A had 4 users, B 9"));
    assert!(html.contains("负载不同：A 有 4 个用户，B 有 9 个"));
    assert_eq!(page(&html)["validity"][0]["refuses"], true);
}

/// A plan whose file name is hostile HTML. Its samples only sleep.
const NAMED: &str = "<img src=x onerror=alert(1)>`@all|.jmx";

/// Builds the report page again after the folder has been moved, and returns the page's data.
fn made_again(program: &Program, folder: &Path) -> Value {
    let moved = program.path("moved");
    std::fs::rename(folder, &moved).expect("it can be moved");
    let line =
        ["report", "moved", "-o", "again.html", "--markdown", "again.md", "--tables", "tables"];
    let again = program.run(&line);
    assert_eq!((again.code, &*again.out), (0, "again.html\nagain.md\ntables\n"), "{again:?}");
    assert_eq!(program.read("again.md"), program.read("made.md"));
    let mut made = page(&program.read("again.html"));
    made["about"]["run"] = folder.file_name().unwrap().to_string_lossy().into();
    made
}

#[test]
fn a_sweep_leaves_a_page_that_can_be_made_again() {
    let program = Program::new();
    program.write(NAMED, program::PLAN);
    let line = ["sweep", NAMED, "--users", "1,2,3", "--at-least", "2s", "--at-most", "3s"];
    let more = ["--ramp", "0s", "-Jloops=-1", "-Jms=5", "--markdown", "made.md"];
    let ended = program.run(&[&line[..], &more].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("sweep.json\n") && ended.out.contains("report.html\n"), "{ended:?}");
    let folder = answer(&program, "sweep-");
    let made = page_with(&folder, &["Model: none.", "Rate by load", "class=\"span\""]);
    assert_eq!((&made["kind"], &made["axis"]), (&"sweep".into(), &"users".into()));
    assert_eq!(made["model"]["name"], "none");
    // The sentence depends on the machine, but the page and the terminal show the same sentence.
    let answer = made["sentences"][0]["en"].as_str().expect("a sentence");
    assert!(!answer.is_empty() && ended.out.starts_with(answer), "{answer}: {ended:?}");
    let sweep: Value =
        serde_json::from_slice(&std::fs::read(folder.join("sweep.json")).unwrap()).unwrap();
    let points = made["points"].as_array().expect("points");
    assert_eq!(points.len(), 3);
    for (point, of) in points.iter().zip(sweep["points"].as_array().unwrap()) {
        assert_eq!(point["rate_per_s"], of["figures"]["rate"]);
        assert_eq!(point["load"], of["load"]);
        let (us, ms) = (&point["quantiles"][1]["us"], &of["figures"]["p95"]["value"]);
        assert!((us.as_f64().unwrap() - ms.as_f64().unwrap() * 1000.0).abs() < 1e-6);
    }
    assert_eq!(points[2]["run"], "users-3");
    assert_eq!(made, made_again(&program, &folder));
}

#[test]
fn a_search_leaves_a_page_that_can_be_made_again() {
    let program = Program::new();
    program.write(NAMED, program::PLAN);
    let line = ["capacity", NAMED, "--fail", "p95 < 30s", "--at-most", "3", "--probe", "2s"];
    let more = ["--settle", "0s", "-Jloops=-1", "-Jms=5", "--markdown", "made.md"];
    let ended = program.run(&[&line[..], &more].concat());
    // On a busy machine the search ends without an answer (exit code 8).
    assert!([0, 8].contains(&ended.code), "{ended:?}");
    let folder = answer(&program, "capacity-");
    let made = page_with(&folder, &["p95 &lt; 30s", "Probes in order", "容量"]);
    assert!(ended.out.starts_with(made["sentences"][0]["en"].as_str().unwrap()), "{ended:?}");
    let json = std::fs::read(folder.join("capacity.json")).unwrap();
    let of: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(made["kind"], "capacity");
    for (found, known) in [("lower", "lower"), ("upper", "upper")] {
        assert_eq!(made["answer"][found], of["answer"][known]);
    }
    assert_eq!(made["answer"]["at_least"], of["at_least"]);
    assert_eq!(made["criteria"][0]["met"], true);
    let probes = made["probes"].as_array().expect("probes");
    for (probe, of) in probes.iter().zip(of["probes"].as_array().unwrap()) {
        assert_eq!((&probe["load"], &probe["rate_per_s"]), (&of["load"], &of["rate"]));
        let verdict = if of["generator"] == true { "doubtful" } else { "good" };
        assert_eq!(probe["verdict"], verdict);
    }
    assert_eq!(probes[0]["kind"]["en"], "light");
    assert_eq!(made, made_again(&program, &folder));
}

#[test]
fn a_comparison_of_files_that_were_read_with_a_time_format_can_be_made_again() {
    let program = Program::new();
    let heading = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n";
    for (file, ms) in [("a.jtl", 20), ("b.jtl", 40)] {
        let row = |n: u64| {
            let (minute, second) = (n / 60, n % 60);
            format!(
                "03.02.2026 10:{minute:02}:{second:02},{},Ask,200,OK,Users 1-1,true\n",
                ms + n % 3
            )
        };
        let rows: String = (0..600).map(row).collect();
        program.write(file, &format!("{heading}{rows}"));
    }
    let form = "-Jjmeter.save.saveservice.timestamp_format=dd.MM.yyyy HH:mm:ss";
    let ended = program.run(&["compare", "a.jtl", "b.jtl", form, "--runs", "runs"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("service p50") && !ended.out.contains("response p"), "{ended:?}");
    let folder = program.run_folder();
    let page_of = |file: &str| page(&std::fs::read_to_string(folder.join(file)).expect(file));
    let first = page_of("report.html");
    std::fs::remove_file(folder.join("report.html")).expect("it was there");
    let ended = program.run(&["report", &folder.display().to_string()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let second = page_of("report.html");
    assert_eq!(first["rows"], second["rows"]);
    assert_eq!(second["times"], "service");
}

#[test]
fn a_comparison_names_the_times_that_it_is_of() {
    let program = asked(&["--duration", "3s"]);
    let run = program.run_folder().display().to_string();
    let compare = |fail: &[&str]| {
        let fail: Vec<&str> = fail.iter().flat_map(|one| ["--fail-if", *one]).collect();
        program.run(&[&["compare", &run, &run, "--no-report", "--anyway"], &fail[..]].concat())
    };
    let ended = compare(&["p50 > +50%"]);
    assert!(ended.out.contains("response p50 > +50%"), "{ended:?}");
    assert!(ended.out.contains("\nresponse p50 "), "{ended:?}");
    let ended = compare(&["service p50 > +50%"]);
    assert!(ended.out.contains("\nservice p50 "), "{ended:?}");
    let ended = compare(&["service p50 > +50%", "p95 > +50%"]);
    assert!(ended.code == 2 && ended.err.contains("write service before all"), "{ended:?}");
}

#[test]
fn tables_say_how_criteria_ended_and_when_errors_began() {
    let program = Program::new();
    program.write("plan.jmx", program::ASKING);
    let fail = ["count < 3", "error% <= 100", "count > 1 over 5m"];
    let fail = fail.map(|criterion| ["--fail", criterion]).concat();
    let line = ["run", "plan.jmx", "-Jport=1", "-Jloops=2", "-l", "rows.jtl", "--no-report"];
    let ended = program.run(&[&line[..], &fail].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    let run = program.run_folder().display().to_string();
    let ended = program.run(&["report", &run, "-o", "r.html", "--tables", "t"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let table = |name: &str| -> Value {
        serde_json::from_str(&program.read(&format!("t/{name}.json"))).expect("JSON")
    };
    let criteria = table("criteria");
    let outcomes: Vec<&Value> = (0..3).map(|n| &criteria[n]["outcome"]).collect();
    assert_eq!(outcomes, ["not met", "met", "undecided"], "{criteria}");
    let reason = criteria[2]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("the window takes 300s"), "{criteria}");
    let head = "criterion,label,outcome,met,value,shown,reason\r\n";
    assert!(program.read("t/criteria.csv").starts_with(head));
    let rows = program.read("rows.jtl");
    let starts = rows.lines().skip(1).filter_map(|row| row.split(',').next()?.parse::<i64>().ok());
    let first = jiff::Timestamp::from_millisecond(starts.min().expect("rows")).expect("a time");
    let shown = first.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
    assert_eq!(table("errors")[0]["first_at"], Value::from(shown));
}
