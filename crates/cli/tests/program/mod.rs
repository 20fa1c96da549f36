//! The built `throng` program, run in a temporary folder.

// Each test binary that includes this module uses only some of its items.
#![allow(dead_code, unused_imports)]

#[path = "../../../../tests/free_port.rs"]
mod free_port;
#[path = "../../../../tests/quiet.rs"]
mod quiet_tests;
#[path = "../../../../tests/skipped.rs"]
mod skipped;

pub(crate) mod schema;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

pub(crate) use free_port::free_port;
pub(crate) use quiet_tests::{alone, quiet};
pub(crate) use skipped::{skip, skip_part};

/// True if `unshare` may create the namespaces that `flags` name. Otherwise the test counts as skipped.
pub(crate) fn may_unshare(flags: &str) -> bool {
    let tried = Command::new("unshare").args([flags, "true"]).output();
    let may = tried.as_ref().is_ok_and(|output| output.status.success());
    if !may {
        skip(format!("unshare {flags} is not permitted here: {tried:?}"));
    }
    may
}

/// A plan that sends requests to a target on 127.0.0.1, each followed by a request to port 1, where nobody listens.
pub(crate) const ASKING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${__P(loops,20)}</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">${__P(users,4)}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</ThreadGroup><hashTree>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="${__P(label,Ask)}" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">${__P(path,/x)}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
  </HTTPSamplerProxy><hashTree/>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Nobody" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
  </HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

/// A short plan: `users` users run the Java Request sampler `loops` times, and each sample sleeps `ms` milliseconds.
pub(crate) const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
          <stringProp name="LoopController.loops">${__P(loops,1)}</stringProp>
        </elementProp>
        <stringProp name="ThreadGroup.num_threads">${__P(users,1)}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">0</stringProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
      </ThreadGroup>
      <hashTree>
        <JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="Sleep" enabled="true">
          <elementProp name="arguments" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments" enabled="true">
            <collectionProp name="Arguments.arguments">
              <elementProp name="Sleep_Time" elementType="Argument">
                <stringProp name="Argument.name">Sleep_Time</stringProp>
                <stringProp name="Argument.value">${__P(ms,1)}</stringProp>
                <stringProp name="Argument.metadata">=</stringProp>
              </elementProp>
              <elementProp name="Sleep_Mask" elementType="Argument">
                <stringProp name="Argument.name">Sleep_Mask</stringProp>
                <stringProp name="Argument.value">0</stringProp>
                <stringProp name="Argument.metadata">=</stringProp>
              </elementProp>
            </collectionProp>
          </elementProp>
          <stringProp name="classname">org.apache.jmeter.protocol.java.test.JavaTest</stringProp>
        </JavaSampler>
        <hashTree/>
        <!--more-->
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

/// The `throng` program in a temporary folder that contains `plan.jmx`. The folder is deleted on drop.
pub(crate) struct Program {
    folder: tempfile::TempDir,
}

/// Exit code and output of a finished program.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit code, or -1 if a signal ended the program.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        let program = Self { folder: tempfile::tempdir().expect("a folder") };
        program.write("plan.jmx", PLAN);
        program
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a writable folder");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn run(&self, line: &[&str]) -> Ended {
        ended(self.command(line).output().expect("the program starts"))
    }

    /// Runs a shell script in which `$0` is the path of the `throng` program.
    pub(crate) fn shell(&self, script: &str) -> Ended {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_throng")]).current_dir(self.folder.path());
        ended(shell.stdin(Stdio::null()).output().expect("a shell"))
    }

    /// Starts `throng` with its standard output and standard error in pipes.
    pub(crate) fn start(&self, line: &[&str]) -> Child {
        self.command(line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Returns the folder of the only run in `runs`.
    pub(crate) fn run_folder(&self) -> PathBuf {
        let mut folders: Vec<_> = std::fs::read_dir(self.path("runs"))
            .expect("runs")
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders.remove(0)
    }

    pub(crate) fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command.args(line).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }
}

pub(crate) fn ended(output: Output) -> Ended {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
