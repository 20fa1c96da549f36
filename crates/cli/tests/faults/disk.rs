//! A disk that fills up while a run writes to it: written rows are complete, the other rows are counted, and the
//! summary is written.

use stats::jtl::Columns;
use stats::jtl::read::Table;

use crate::program::{Ended, may_unshare};
use crate::trial::{Trial, number};

/// Runs 20 000 samples with all files on a disk of 1 MiB, then copies that disk's files to the trial's folder.
fn run(trial: &Trial, more: &str) -> Ended {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let port = target.addr().port();
    let script = format!(
        r#"exec unshare -rm sh -c '
            mkdir small && mount -t tmpfs -o size=1m none small || exit 99
            "$0" run http.jmx --runs small/runs -l small/out.jtl -Jport={port} -Jusers=10 -Jloops=2000 {more}
            code=$?
            cp -r small/. .
            exit $code
        ' "$0""#
    );
    trial.shell(&script)
}

/// Returns the number of lost rows that the summary reports.
fn lost(trial: &Trial) -> u64 {
    let summary = trial.summary();
    let lines = summary["lost"].as_array().unwrap_or_else(|| panic!("nothing is lost: {summary}"));
    let rows =
        lines.iter().filter_map(|line| line.as_str()?.split_once(" rows could not be written"));
    rows.map(|(n, _)| n.parse::<u64>().expect("a number")).sum()
}

fn table(trial: &Trial) -> Table {
    let text = trial.program.read("out.jtl");
    Table::read(text.as_bytes(), &Columns::default()).expect("whole rows")
}

#[test]
fn what_is_lost_stands_first_and_the_exit_code_tells() {
    if !may_unshare("-rm") {
        return;
    }
    let trial = Trial::new();
    let ended = run(&trial, "--lang en --fail \"count > 0\" --junit tests.xml");
    assert_eq!(ended.code, 9, "{ended:?}");
    let begins = ended.out.find("Lost            the results are incomplete").expect("the loss");
    for behind in ["Criteria\n", "TOTAL"] {
        assert!(ended.out.find(behind).is_some_and(|at| begins < at), "{behind}: {ended:?}");
    }
    // If the disk was full before the first second was recorded, the output has no verdict.
    assert!(ended.out.find("Verdict\n").is_none_or(|at| begins < at), "{ended:?}");
    let tests = trial.program.read("tests.xml");
    assert!(tests.contains("name=\"the results are complete\""), "{tests}");
    assert!(
        tests.contains("errors=\"1\"") && tests.contains("rows could not be written"),
        "{tests}"
    );
    assert!(ended.err.contains("rows are being lost"), "{ended:?}");
    assert_eq!(number(&trial.summary(), "requests"), 20_000, "the load went on");
    let folder = trial.program.run_folder();
    let text = std::fs::read_to_string(folder.join("summary.txt")).expect("a summary");
    assert!(text.starts_with("Lost  "), "{text}");
    let rows = table(&trial).rows.len() as u64;
    assert!(rows > 1000 && rows < 20_000, "{rows} rows");
    assert_eq!(rows + lost(&trial), 20_000);
    let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder").flatten().collect();
    assert!(
        left.iter().all(|file| !file.file_name().to_string_lossy().starts_with('.')),
        "{left:?}"
    );
}

/// With `ulimit -f`, the kernel ends a program by SIGXFSZ unless the program handles that signal.
#[test]
fn a_limit_of_file_size_is_a_full_disk() {
    let trial = Trial::new();
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let port = target.addr().port();
    let ended = trial.shell(&format!(
        r#"ulimit -f 40; exec "$0" run http.jmx --no-report -l out.jtl -Jport={port} -Jusers=4 -Jloops=500"#
    ));
    assert_eq!(ended.code, 9, "{ended:?}");
    assert!(ended.err.contains("size of a file: 20 "), "it is said at the start: {ended:?}");
    assert_eq!(number(&trial.summary(), "requests"), 2000, "the load went on");
    let rows = table(&trial).rows.len() as u64;
    assert!(rows > 10, "{rows} rows");
    assert_eq!(rows + lost(&trial), 2000);
}

#[test]
fn rows_of_several_workers_are_whole() {
    if !may_unshare("-rm") {
        return;
    }
    let trial = Trial::new();
    let ended = run(&trial, "--workers 3");
    assert_eq!(ended.code, 9, "{ended:?}");
    let text = trial.program.read("out.jtl");
    let rows = table(&trial);
    assert!(text.ends_with('\n') && rows.rows.iter().all(|row| row.len() == rows.columns.len()));
    assert!(rows.values("label").all(|label| label == "Request"), "no row is torn");
    assert_eq!(rows.rows.len() as u64 + lost(&trial), 20_000, "{}", trial.summary());
}

#[test]
fn a_document_has_its_end() {
    if !may_unshare("-rm") {
        return;
    }
    for more in ["", "--workers 3"] {
        let trial = Trial::new();
        let ended = run(&trial, &format!("-Jjmeter.save.saveservice.output_format=xml {more}"));
        assert_eq!(ended.code, 9, "{ended:?}");
        let text = trial.program.read("out.jtl");
        assert!(text.ends_with("\n</testResults>\n"), "{:?}", &text[text.len() - 80..]);
        let samples = text.matches("\n</httpSample>\n").count();
        assert_eq!(samples, text.matches("\n<httpSample ").count(), "each is whole");
        assert_eq!(samples as u64 + lost(&trial), 20_000, "{}", trial.summary());
    }
}

#[test]
fn responses_that_find_no_room_are_counted() {
    if !may_unshare("-rm") {
        return;
    }
    let trial = Trial::with(
        r#"<ResultSaver guiclass="ResultSaverGui" testclass="ResultSaver" testname="Save" enabled="true">
          <stringProp name="FileSaver.filename">small/saved/r</stringProp></ResultSaver><hashTree/>"#,
    );
    let ended = run(&trial, "");
    assert_eq!(ended.code, 9, "{ended:?}");
    let summary = trial.summary();
    assert!(summary["lost"].to_string().contains("responses could not be saved"), "{summary}");
}
