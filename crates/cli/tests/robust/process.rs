//! OS Process Samplers start programs only with permission, and no program outlives a run that was stopped immediately.

use crate::asked_to_end::{interrupt_twice, until};
use crate::trial::{JTL, Trial, number};

fn running(command: &str) -> Trial {
    Trial::with(&format!(
        r#"<SystemSampler guiclass="SystemSamplerGui" testclass="SystemSampler" testname="Program" enabled="true">
          <stringProp name="SystemSampler.command">sh</stringProp>
          <elementProp name="SystemSampler.arguments" elementType="Arguments">
            <collectionProp name="Arguments.arguments">
              <elementProp name="" elementType="Argument"><stringProp name="Argument.value">-c</stringProp></elementProp>
              <elementProp name="" elementType="Argument"><stringProp name="Argument.value">{command}</stringProp></elementProp>
            </collectionProp>
          </elementProp>
        </SystemSampler>
        <hashTree/>"#
    ))
}

#[test]
fn without_leave_nothing_runs() {
    let trial = running("touch ran");
    let ended = trial.run(&["-n", "-t", "http.jmx", "-l", JTL, "-Jport=1"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.err.contains("--allow-processes"), "{ended:?}");
    assert!(!trial.program.path("ran").exists());
    let ended = trial.run(&["check", "http.jmx"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.out.contains("--allow-processes"), "{ended:?}");
    assert_eq!(trial.run(&["check", "--allow-processes", "http.jmx"]).code, 0);
}

#[test]
fn ended_at_once_the_programs_end_too() {
    let trial = running("echo $$ &gt;&gt; pids; exec sleep 600");
    let more = ["-Jusers=3", "-Jloops=1", "-Jthrong.processes.allowed=true"];
    let child = trial.start(1, &more);
    let pids = || std::fs::read_to_string(trial.program.path("pids")).unwrap_or_default();
    until("three programs", || pids().lines().count() == 3);
    interrupt_twice(&trial, &child);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_eq!(number(&trial.summary(), "cut_by_end"), 3);
    for pid in pids().lines() {
        let path = format!("/proc/{pid}/cmdline");
        let command = std::fs::read_to_string(path).unwrap_or_default();
        assert!(!command.contains("sleep"), "{pid} still runs {command}");
    }
}
