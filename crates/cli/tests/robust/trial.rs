//! One run of the program under a time limit, with access to its rows, seconds, summary and output.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::http_plan::{HTTP, empty_group, scheduled};
use crate::program::{Ended, Program, may_unshare, skip};

/// Time limit of one run. No run of these tests takes a tenth of that, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
/// Name of the result file in the trial's folder.
pub(crate) const JTL: &str = "out.jtl";

/// A row of a result file, with the columns that the tests check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) success: bool,
    pub(crate) bytes: u64,
    /// Duration of the sample in ms.
    pub(crate) elapsed: u64,
    pub(crate) latency: u64,
}

/// The program in a folder with the plan `http.jmx`.
pub(crate) struct Trial {
    pub(crate) program: Program,
}

impl Trial {
    pub(crate) fn new() -> Self {
        let program = Program::new();
        program.write("http.jmx", HTTP);
        Self { program }
    }

    /// Returns a `Trial` whose plan has these elements after its request.
    pub(crate) fn with(more: &str) -> Self {
        let trial = Self::new();
        trial.program.write("http.jmx", &HTTP.replace("<!--more-->", more));
        trial
    }

    /// Returns a `Trial` whose users run these elements in a loop.
    pub(crate) fn doing(body: &str) -> Self {
        let trial = Self::new();
        trial.program.write("http.jmx", &empty_group().replace("<!--more-->", body));
        trial
    }

    /// Returns a `Trial` whose plan has these elements after its request, and whose group ends after the property
    /// `seconds`.
    pub(crate) fn scheduled(more: &str) -> Self {
        let trial = Self::with(more);
        trial.program.write("http.jmx", &scheduled(&trial.program.read("http.jmx")));
        trial
    }

    /// Runs `http.jmx` against a port and returns how it ended and its rows.
    pub(crate) fn against(&self, port: u16, more: &[&str]) -> (Ended, Vec<Row>) {
        let port = format!("-Jport={port}");
        let line = ["-n", "-t", "http.jmx", "-l", JTL, &port];
        let ended = self.run(&[&line[..], more].concat());
        (ended, self.rows())
    }

    /// Starts `http.jmx` against a port.
    pub(crate) fn start(&self, port: u16, more: &[&str]) -> Child {
        let port = format!("-Jport={port}");
        let line = [env!("CARGO_BIN_EXE_throng"), "-n", "-t", "http.jmx", "-l", JTL, &port];
        self.spawn(&[&line[..], more].concat())
    }

    /// Runs the program with this command line.
    pub(crate) fn run(&self, line: &[&str]) -> Ended {
        let program = env!("CARGO_BIN_EXE_throng");
        self.finish(self.spawn(&[&[program], line].concat()))
    }

    /// Runs a shell script; `$0` is the program.
    pub(crate) fn shell(&self, script: &str) -> Ended {
        self.finish(self.spawn(&["sh", "-c", script, env!("CARGO_BIN_EXE_throng")]))
    }

    /// Runs a shell script in a network namespace with local ports `from` to `to`, and with a target on port 8080 that
    /// answers after `ms` milliseconds. `$0` is the program. Returns `None` and skips the test if that is not
    /// permitted.
    pub(crate) fn in_own_network(
        &self,
        [from, to]: [u16; 2],
        ms: u32,
        script: &str,
    ) -> Option<Ended> {
        if !may_unshare("-rn") {
            return None;
        }
        let ended = self.shell(&format!(
            r#"exec unshare -rn sh -ec '
                ip link set lo up
                echo {from} {to} >/proc/sys/net/ipv4/ip_local_port_range
                "$0" target delay --port 8080 --option ms={ms} --seconds 100 >target 2>&1 &
                target=$!
                trap "kill $target" EXIT
                for try in $(seq 600); do grep -q "^listening" target && break; sleep 0.1; done
                {script}
            ' "$0""#
        ));
        if ended.err.contains("ip: not found") {
            skip(format!("there is no program ip: {ended:?}"));
            return None;
        }
        Some(ended)
    }

    /// Starts a command in the trial's folder. Its output goes to files, so that an unread pipe cannot block it.
    pub(crate) fn spawn(&self, line: &[&str]) -> Child {
        let file = |name: &str| File::create(self.program.path(name)).expect("a writable folder");
        Command::new(line[0])
            .args(&line[1..])
            .current_dir(self.program.path("."))
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .expect("it starts")
    }

    /// Waits for the end of the program, which must come within the time limit and without a panic.
    pub(crate) fn finish(&self, mut child: Child) -> Ended {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break Some(status);
            }
            if begin.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let ended = Ended {
            code: status.and_then(|status| status.code()).unwrap_or(-1),
            out: self.program.read("stdout"),
            err: self.program.read("stderr"),
        };
        assert!(status.is_some(), "it did not end: {ended:?}");
        assert!(!ended.err.contains("panicked"), "{ended:?}");
        ended
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        rows(&self.program.read(JTL))
    }

    /// Reads summary.json of the only run.
    pub(crate) fn summary(&self) -> serde_json::Value {
        let text = std::fs::read_to_string(self.program.run_folder().join("summary.json"));
        serde_json::from_str(&text.expect("a summary")).expect("JSON")
    }

    /// Returns the seconds that the only run has recorded so far.
    pub(crate) fn seconds(&self) -> Vec<serde_json::Value> {
        let Ok(runs) = std::fs::read_dir(self.program.path("runs")) else { return Vec::new() };
        let file = runs.flatten().next().map(|run| run.path().join("seconds.jsonl"));
        let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("complete lines")).collect()
    }
}

/// Returns the number in the field `name` of a JSON object.
pub(crate) fn number(value: &serde_json::Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} is missing: {value}"))
}

/// Returns the complete rows of a result file with a header.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    let mut records = records(text).into_iter();
    let header = records.next().expect("a header");
    let at = |name: &str| header.iter().position(|column| column == name).expect("the column");
    let (label, code, message) = (at("label"), at("responseCode"), at("responseMessage"));
    let success = at("success");
    let [bytes, elapsed, latency] = ["bytes", "elapsed", "Latency"].map(at);
    let row = |record: Vec<String>| {
        assert_eq!(record.len(), header.len(), "{record:?}");
        Row {
            label: record[label].clone(),
            code: record[code].clone(),
            message: record[message].clone(),
            success: record[success] == "true",
            bytes: record[bytes].parse().expect("a number"),
            elapsed: record[elapsed].parse().expect("a number"),
            latency: record[latency].parse().expect("a number"),
        }
    };
    records.map(row).collect()
}

/// Returns the records of a CSV file, without the last record if it is incomplete.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            char => field.push(char),
        }
    }
    records
}
