//! The two programs that run a plan: JMeter, kept warm in one JVM (`WarmJMeter.java`), and Throng, one process per
//! plan.
//!
//! Each has a folder with the plan and its files, its own target, and limits of ten seconds and `MOST_ROWS` of results.
//! Their output is normalised like that of the parity cases.

use parity::closed::Closed;
use parity::normal::{self, Rules};
use parity::server::Server;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum bytes of results; a plan that writes more runs endlessly. `WarmJMeter.java` has the same limit.
const MOST_ROWS: u64 = 256 * 1024;
/// Timeout for the answer of a JVM that is stopping a plan.
const STOPPING: Duration = Duration::from_secs(5);
/// Timeout for the start of the JVM.
const START: Duration = Duration::from_secs(120);

/// The files that a run wrote, by name, normalised. A run that did not end has only the entry `end`.
pub(crate) type Outcome = BTreeMap<String, String>;

/// The entry of an outcome that describes the end of the run.
pub(crate) const END: &str = "end";

/// The environment of plans: files next to the plan, and the target's answers.
pub(crate) struct Bench {
    /// Folder `tests/parity/fuzz/beside` with the files that each plan gets.
    beside: PathBuf,
    work: PathBuf,
    closed: Closed,
    throng: PathBuf,
    jmeter: JMeter,
}

impl Bench {
    pub(crate) fn new(
        source: &Path,
        work: &Path,
        throng: PathBuf,
        home: PathBuf,
        classes: PathBuf,
    ) -> Self {
        let mut jmeter = JMeter {
            home,
            classes,
            cwd: work.join("jmeter"),
            log: work.join("jmeter.log"),
            warm: None,
            java: String::new(),
        };
        for folder in ["jmeter", "throng"] {
            fs::create_dir_all(work.join(folder)).expect("a folder to work in");
        }
        jmeter.start();
        Self {
            beside: source.join("beside"),
            work: work.to_owned(),
            closed: Closed::hold(),
            throng,
            jmeter,
        }
    }

    fn place(&self, folder: &Path, plan: &str) {
        for entry in fs::read_dir(folder).expect("the folder").flatten() {
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
        for entry in fs::read_dir(&self.beside).expect("files beside the plan").flatten() {
            fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copied file");
        }
        fs::write(folder.join("plan.jmx"), plan).expect("the plan");
    }

    /// Runs the plan in both programs at the same time.
    pub(crate) fn both(&mut self, plan: &str, rules: &Rules) -> (Outcome, Outcome) {
        let throng = self.throng_of(plan);
        let jmeter = self.jmeter(plan, rules);
        (jmeter, throng.finish(rules))
    }

    /// Runs the plan in JMeter.
    pub(crate) fn jmeter(&mut self, plan: &str, rules: &Rules) -> Outcome {
        let folder = self.work.join("jmeter");
        self.place(&folder, plan);
        let server = Server::start(&folder, &[("closed", self.closed.port.to_string())]);
        let answer =
            self.jmeter.run(&folder, &[("port", server.port()), ("closed", self.closed.port)]);
        let ports = [("PORT", server.port()), ("CLOSED", self.closed.port)];
        match answer.as_str() {
            "ran" => collect(&folder, &server, rules, &ports),
            other => Outcome::from([(END.to_owned(), format!("{other}\n"))]),
        }
    }

    fn throng_of(&self, plan: &str) -> Running {
        let folder = self.work.join("throng");
        self.place(&folder, plan);
        let server = Server::start(&folder, &[("closed", self.closed.port.to_string())]);
        let output = fs::File::create(self.work.join("throng.txt")).expect("a file for the output");
        let mut command = Command::new(&self.throng);
        command
            .args(["-n", "-t", "plan.jmx", "-l", "result.jtl"])
            .arg(format!("-Jport={}", server.port()))
            .arg(format!("-Jclosed={}", self.closed.port))
            // JMeter's HTTP clients send the Java version in a header.
            .arg(format!("-Jthrong.http.java_version={}", self.jmeter.java))
            .arg("-Jjmeter.save.saveservice.sample_count=true")
            .current_dir(&folder)
            .env("TZ", "UTC")
            // The result must not depend on whether this machine has JMeter's jars.
            .env_remove("JMETER_HOME")
            .env("THRONG_CACHE", folder.join("no-cache"))
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output);
        Running {
            child: command.spawn().expect("Throng starts"),
            since: Instant::now(),
            output: self.work.join("throng.txt"),
            closed: self.closed.port,
            folder,
            server,
        }
    }
}

/// A running Throng process.
struct Running {
    child: Child,
    since: Instant,
    folder: PathBuf,
    output: PathBuf,
    server: Server,
    closed: u16,
}

impl Running {
    fn finish(mut self, rules: &Rules) -> Outcome {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child to wait for") {
                break Some(status);
            }
            let rows = fs::metadata(self.folder.join("result.jtl")).map_or(0, |rows| rows.len());
            if self.since.elapsed() > PATIENCE || rows > MOST_ROWS {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let ports = [("PORT", self.server.port()), ("CLOSED", self.closed)];
        match status.map(|status| status.code()) {
            Some(Some(0)) => collect(&self.folder, &self.server, rules, &ports),
            Some(code) => {
                let mut output = String::new();
                let _ =
                    fs::File::open(&self.output).and_then(|mut f| f.read_to_string(&mut output));
                let code = code.map_or("a signal".to_owned(), |code| code.to_string());
                Outcome::from([(END.to_owned(), format!("exit {code}\n{output}"))])
            }
            None => Outcome::from([(END.to_owned(), "did not end\n".to_owned())]),
        }
    }
}

fn collect(folder: &Path, server: &Server, rules: &Rules, ports: &[(&str, u16)]) -> Outcome {
    let mut outcome = Outcome::new();
    outcome.insert("requests.txt".to_owned(), normal::requests(&server.seen(), rules, ports));
    for name in std::iter::once(&"result.jtl".to_owned()).chain(&rules.files) {
        let bytes = fs::read(folder.join(name))
            .unwrap_or_else(|e| format!("not written: {e}\n").into_bytes());
        let text = String::from_utf8_lossy(&bytes).replace(&*folder.to_string_lossy(), "FOLDER");
        outcome.insert(name.clone(), normal::rows(&text, rules, ports));
    }
    outcome
}

struct JMeter {
    home: PathBuf,
    classes: PathBuf,
    cwd: PathBuf,
    log: PathBuf,
    warm: Option<Warm>,
    /// Version of the JVM that runs JMeter.
    java: String,
}

/// A JVM that waits for plans.
struct Warm {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
}

impl Drop for Warm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl JMeter {
    fn run(&mut self, folder: &Path, properties: &[(&str, u16)]) -> String {
        if self.warm.is_none() {
            self.start();
        }
        let warm = self.warm.as_mut().expect("just started");
        let mut line = folder.to_string_lossy().into_owned();
        for (name, value) in properties {
            line += &format!("\t{name}={value}");
        }
        line.push('\n');
        let asked = warm.questions.write_all(line.as_bytes()).and_then(|()| warm.questions.flush());
        let answer = asked.ok().and_then(|()| warm.answers.recv_timeout(PATIENCE + STOPPING).ok());
        answer.unwrap_or_else(|| {
            // The JVM runs a plan that cannot be stopped, so it is replaced.
            self.warm = None;
            "did not end".to_owned()
        })
    }

    fn start(&mut self) {
        let home = self.home.display();
        let log = fs::File::create(&self.log).expect("a file for the log");
        let config = self.classes.join("log4j2.xml");
        let mut child = Command::new("java")
            .args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            // JMeter collects garbage before each test, which costs time and changes no result.
            .args(["-XX:+DisableExplicitGC", "-Djava.awt.headless=true"])
            .args(["-Duser.language=en", "-Duser.region=EN"])
            .args(["--add-opens", "java.base/java.lang=ALL-UNNAMED"])
            .args(["--add-opens", "java.base/java.net=ALL-UNNAMED"])
            .arg(format!("-Dlog4j2.configurationFile={}", config.display()))
            .arg("-cp")
            .arg(format!(
                "{}:{home}/bin/ApacheJMeter.jar:{home}/lib/*:{home}/lib/ext/*",
                self.classes.display()
            ))
            .arg("WarmJMeter")
            .arg(&self.home)
            .args([
                "jmeter.save.saveservice.sample_count=true",
                "jmeterengine.stopfail.system.exit=false",
            ])
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("Java starts");
        let questions = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let ready = answers.recv_timeout(START).unwrap_or_default();
        let Some(version) = ready.strip_prefix("ready ") else {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            panic!("JMeter did not start: {ready}\n{log}");
        };
        version.clone_into(&mut self.java);
        self.warm = Some(Warm { child, questions, answers });
    }
}
