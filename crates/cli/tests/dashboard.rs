//! JMeter's HTML report: `-g FILE -o FOLDER` and `-e -o FOLDER`, which existing files are accepted, and which command
//! lines are refused.

mod program;

use std::fs;
use std::path::Path;

use program::Program;
use serde_json::Value;

const ROWS: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes\n\
1000,10,a,200,OK,T 1-1,true,1,1\n1020,20,<b>,500,No,T 1-1,false,1,1\n";

fn with_rows() -> Program {
    let program = Program::new();
    fs::write(program.path("old.jtl"), ROWS).unwrap();
    program
}

fn statistics(program: &Program, folder: &str) -> Value {
    let text = fs::read_to_string(program.path(folder).join("statistics.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_result_file_becomes_a_report() {
    let program = with_rows();
    let ended = program.run(&["-g", "old.jtl", "-o", "pages"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("pages/index.html"), "{ended:?}");
    let made = statistics(&program, "pages");
    assert_eq!(made["Total"]["sampleCount"], 2);
    assert_eq!(made["<b>"]["errorPct"], 100.0);
    // The report page's markup is checked without its script.
    let page = fs::read_to_string(program.path("pages/index.html")).unwrap();
    let (markup, _) = page.rsplit_once("<script>").unwrap();
    assert!(markup.contains("&lt;b&gt;") && !markup.contains("<b>"), "{markup}");
    let data = report::file::data(&page).unwrap();
    assert_eq!(data["totals"]["samples"], 2);
    assert_eq!(data["jmeter"]["total"], made["Total"]);
    assert_eq!(data["jmeter"]["statistics"][1], made["<b>"]);
    assert_eq!(data["jmeter"]["errors"][0]["message"], "500/No");
    // Without `-o` the report goes into JMeter's default folder, which may contain other files. A second report there
    // is refused.
    fs::create_dir(program.path("report-output")).unwrap();
    fs::write(program.path("report-output/notes.txt"), "").unwrap();
    assert_eq!(program.run(&["-g", "old.jtl"]).code, 0);
    assert_eq!(statistics(&program, "report-output"), made);
    let again = program.run(&["-g", "old.jtl"]);
    assert!(again.code == 1 && again.err.contains("as folder is not empty"), "{again:?}");
    let set = ["-g", "old.jtl", "-Jjmeter.reportgenerator.outputdir=other"];
    assert_eq!(program.run(&set).code, 0);
    assert_eq!(statistics(&program, "other"), made);
}

#[test]
fn reports_that_cannot_be_made_are_refused_as_in_jmeter() {
    let program = with_rows();
    fs::create_dir(program.path("full")).unwrap();
    fs::write(program.path("full/kept"), "").unwrap();
    fs::write(program.path("none.jtl"), ROWS.lines().next().unwrap()).unwrap();
    for (line, words) in [
        (&["-g", "no.jtl", "-o", "pages"][..], "Cannot read test results file : no.jtl"),
        (&["-g", "old.jtl", "-o", "full"], "full' as folder is not empty"),
        (&["-g", "old.jtl", "-o", "plan.jmx"], "plan.jmx' as it is an existing file"),
        (
            &["-g", "old.jtl", "-o", "a/b"],
            "as folder does not exist and parent folder is not writable",
        ),
        (&["-g", "none.jtl", "-o", "pages"], "there is no whole row"),
        (&["-g", "old.jtl", "-o", ".", "-f"], "-f does not delete"),
        (
            &["-g", "old.jtl", "-o", "pages", "-Jjmeter.save.saveservice.output_format=xml"],
            "Report generation requires csv output format",
        ),
        (&["-n", "-t", "plan.jmx", "-l", "o.jtl", "-e", "-o", "full"], "folder is not empty"),
        (
            &["-n", "-t", "plan.jmx", "-l", "old.jtl", "-e", "-o", "pages"],
            "Results file:old.jtl is not empty",
        ),
        (&["-n", "-t", "plan.jmx", "-o", "full"], "folder is not empty"),
    ] {
        let ended = program.run(line);
        assert!(ended.code == 1 && ended.err.contains(words), "{line:?}: {ended:?}");
    }
    let ended = program.run(&["-n", "-t", "plan.jmx", "-e", "-o", "pages"]);
    assert!(ended.code == 2 && ended.err.contains("Option -e requires -l option"), "{ended:?}");
    assert!(program.path("full/kept").is_file() && !program.path("pages").exists());
    assert!(
        !program.path("o.jtl").exists() && !program.path("runs").exists(),
        "no run was started"
    );
    let forced = program.run(&["-g", "old.jtl", "-o", "full", "-f"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(!program.path("full/kept").exists() && program.path("full/index.html").is_file());
}

#[test]
fn a_run_ends_with_its_report() {
    let program = with_rows();
    // A file named like a further part of the result file does not belong to the run.
    fs::write(program.path("out-1.jtl"), ROWS).unwrap();
    for line in [
        &["-n", "-t", "plan.jmx", "-l", "out.jtl", "-e", "-o", "pages", "-f", "-Jloops=3"][..],
        &[
            "run",
            "plan.jmx",
            "--jtl",
            "-e",
            "-o",
            "pages",
            "-f",
            "-Jloops=3",
            "--workers",
            "2",
            "-Jusers=2",
        ],
        &["-n", "-t", "plan.jmx", "-l", "old.jtl", "-e", "-o", "pages", "-f", "-Jloops=3"],
    ] {
        let ended = program.run(line);
        assert_eq!(ended.code, 0, "{line:?}: {ended:?}");
        let rows = if line.contains(&"-Jusers=2") { 6 } else { 3 };
        assert_eq!(statistics(&program, "pages")["Sleep"]["sampleCount"], rows, "{line:?}");
    }
    let without = program.run(&["-n", "-t", "plan.jmx", "-o", "new"]);
    assert!(without.code == 0 && without.err.contains("-o without -e"), "{without:?}");
    assert!(!program.path("new").exists());
}

#[test]
fn a_run_is_not_lost_for_its_report() {
    let program = with_rows();
    let filter = "-Jjmeter.reportgenerator.sample_filter=nothing";
    let line = ["-n", "-t", "plan.jmx", "-l", "out.jtl", "-e", "-o", "pages", filter];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("Error generating the report: no label"), "{ended:?}");
    let failing = ["-f", "--fail", "p95<1us"];
    let ended = program.run(&[&line[..], &failing].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
}

#[test]
fn what_is_odd_about_a_file_is_said() {
    let program = with_rows();
    let torn = format!("{ROWS}rubbish\n1030,7,a,200,O");
    fs::write(program.path("torn.jtl"), torn).unwrap();
    fs::write(program.path("torn-2.jtl"), ROWS.replace("1000,10,a", "x,10,a")).unwrap();
    let graph = "-Jjmeter.reportgenerator.graph.hitsPerSecond.title=x";
    let ended = program.run(&["-g", "torn.jtl", "-o", "pages", graph]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "torn.jtl: the last row is not whole and is left out (14 bytes)",
        "torn.jtl: 1 row that is no sample is left out, first in line 4",
        "torn.jtl: columns that it does not have count as 0 or empty: failureMessage",
        "torn-2.jtl is read as a further part",
        "torn-2.jtl: 1 row that is no sample is left out, first in line 2",
        "without effect on the report, which has JMeter's tables and not its graphs: jmeter.reportgenerator.graph.hitsPerSecond.title",
    ] {
        assert!(ended.err.contains(words), "{words}: {ended:?}");
    }
    assert_eq!(statistics(&program, "pages")["Total"]["sampleCount"], 3);
}

#[test]
fn properties_of_a_jmeter_home_are_heeded() {
    let program = with_rows();
    fs::create_dir_all(program.path("home/bin")).unwrap();
    let properties =
        "jmeter.reportgenerator.sample_filter=a\njmeter.reportgenerator.report_title=Hi & there\n";
    fs::write(program.path("home/bin/reportgenerator.properties"), properties).unwrap();
    let ended = program.run(&["-g", "old.jtl", "-o", "pages", "-d", "home"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(statistics(&program, "pages")["Total"]["sampleCount"], 1);
    assert!(
        fs::read_to_string(program.path("pages/index.html"))
            .unwrap()
            .contains("<h1 class=\"hostile\">Hi &amp; there</h1>")
    );
}

/// Returns JMeter's dashboard metrics from a report page.
fn figures(program: &Program, file: &Path) -> Value {
    let html = fs::read_to_string(program.path("").join(file)).unwrap();
    report::file::data(&html).unwrap()["jmeter"].take()
}

#[test]
fn a_report_of_throng_has_the_figures_if_asked_to() {
    let program = with_rows();
    let percent = "-Jaggregate_rpt_pct1=50";
    let ended = program.run(&["report", "--jmeter-figures", percent, "old.jtl"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(program.run(&["-g", "old.jtl", "-o", "pages", percent]).code, 0);
    let of_file = figures(&program, Path::new("old.html"));
    assert_eq!(of_file["total"], statistics(&program, "pages")["Total"]);
    assert_eq!(of_file["percentages"][0], "50");
    assert_eq!(program.run(&["report", "old.jtl"]).code, 0);
    assert_eq!(figures(&program, Path::new("old.html")), Value::Null);
}

#[test]
fn a_run_has_the_figures_in_its_report_if_asked_to() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "--jmeter-figures", "-Jloops=3", "-Jaggregate_rpt_pct1=50"];
    let refused = program.run(&line);
    assert!(refused.code == 2 && refused.err.contains("add --jtl or -l FILE"), "{refused:?}");
    assert!(!program.path("runs").exists(), "no run was started");
    let form = "-Jjmeter.save.saveservice.timestamp_format=yyyy/MM/dd HH:mm:ss";
    let ended = program.run(&[&line[..], &["--jtl", form]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = program.run_folder().join("report.html");
    let at_end = figures(&program, &report);
    assert_eq!(
        (&at_end["total"]["sampleCount"], &at_end["percentages"][0]),
        (&3.into(), &"50".into())
    );
    // A report built again later uses the run's recorded properties.
    let folder = program.run_folder();
    let again = program.run(&["report", "--jmeter-figures", folder.to_str().unwrap()]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(figures(&program, &report), at_end);
    fs::remove_file(folder.join("results.jtl")).unwrap();
    let without = program.run(&["report", "--jmeter-figures", folder.to_str().unwrap()]);
    assert!(without.code == 2 && without.err.contains("run with --jtl"), "{without:?}");
}
