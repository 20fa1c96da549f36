//! One parity case: a folder with a plan, what the target answers, and what JMeter 5.6.3 did with it.
//!
//! A case is run in a copy of its folder, so that what a plan writes stays out of the tree. The golden files are
//! JMeter's; where Throng differs on purpose, `differs.md` says why and `throng/` holds what Throng does instead,
//! which is compared just as exactly.

use crate::closed::Closed;
use crate::datagrams::Datagrams;
use crate::diff;
use crate::figures::Collector;
use crate::names::Names;
use crate::normal::{self, Rules};
use crate::server::{self, Server};
use crate::skipped::skip_part;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Files that a run left behind, by name, normalised.
type Outcome = BTreeMap<String, String>;

/// The exit code of a plan that Throng does not run, and the file that lists the elements it names.
const REFUSED: i32 = 3;
const REFUSAL: &str = "refusal.txt";

const PATIENCE: Duration = Duration::from_secs(60);

fn parity() -> PathBuf {
    let tree = option_env!("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from("."), |d| Path::new(d).join("../.."));
    tree.join("tests/parity")
}

pub(crate) fn folder() -> PathBuf {
    parity().join("cases")
}

/// Prefix of the names of cases that need a JVM.
pub(crate) const JVM: &str = "jvm_";

/// The JMeter home for plans that need a JVM: the one named, or the set that `throng jvm install` has made.
fn home() -> Option<PathBuf> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || ["PARITY_RECORD", "PARITY_JVM_HOME"].into_iter().find_map(std::env::var_os);
    let installed = || {
        let status = Command::new(binary()?).args(["jvm", "status"]).output().ok()?;
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        let (_, folder) = status.split_once(": complete, ")?;
        Some(PathBuf::from(folder.lines().next()?))
    };
    HOME.get_or_init(|| named().map(PathBuf::from).or_else(installed)).clone()
}

/// Whether it has a library, or a plug-in, whose name begins so.
fn has(home: &Path, jar: &str) -> bool {
    let folders = ["lib", "lib/ext"].into_iter();
    let jars =
        folders.flat_map(|folder| std::fs::read_dir(home.join(folder)).into_iter().flatten());
    jars.flatten().any(|file| file.file_name().to_string_lossy().starts_with(jar))
}

/// Whether there is a compiler for Java: a machine that only runs Java has none.
fn has_javac() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let mut javac = Command::new("javac");
        let asked = javac.arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    })
}

/// The folders of cases with these names, in order.
pub(crate) fn named(wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let folders = std::fs::read_dir(folder()).expect("the cases").flatten();
    let mut names: Vec<String> = folders
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| wanted(name))
        .collect();
    names.sort();
    names
}

/// Runs Throng and compares, or records JMeter's side when `PARITY_RECORD` names a JMeter home.
pub(crate) fn check(name: &str) {
    let case = folder().join(name);
    if rules(&case).server.is_some() && std::env::var_os("PARITY_SERVERS").is_none() {
        return skip_part(name, "it starts a database and PARITY_SERVERS is not set");
    }
    if name.starts_with(JVM) {
        let Some(home) = home() else {
            let why = "there are no JMeter's jars: `throng jvm install` or PARITY_JVM_HOME";
            return skip_part(name, why);
        };
        if let Some(jar) = rules(&case).jar.filter(|jar| !has(&home, jar)) {
            return skip_part(name, format!("{} has no {jar}", home.display()));
        }
    }
    let shared = rules(&case).classes;
    let has_classes = case.join("java").is_dir() || !shared.is_empty();
    if has_classes && !has_javac() {
        return skip_part(name, "there is no javac for its classes");
    }
    if let Ok(home) = std::env::var("PARITY_RECORD") {
        if rules(&case).by_hand && std::env::var_os("PARITY_BY_HAND").is_none() {
            return;
        }
        let work = prepared(name, &case, has_classes.then_some(&*shared));
        let outcome = run(jmeter(Path::new(&home)), &case, &work);
        store(&case.join("golden"), &outcome);
        return;
    }
    // Where times are compared, what a busy machine has delayed has another try. What is wrong is so each time.
    let tries = if rules(&case).round.is_some() { TRIES } else { 1 };
    for left in (0..tries).rev() {
        let work = prepared(name, &case, has_classes.then_some(&*shared));
        let complaints = against_golden(name, &case, &work);
        if complaints.is_empty() {
            let _ = std::fs::remove_dir_all(&work);
            return;
        }
        assert!(
            left > 0,
            "\n{name}: Throng (+) is not JMeter (-)\n{complaints}\nrun in {}",
            work.display()
        );
    }
}

/// Tries of a case whose times are compared.
const TRIES: u32 = 5;

/// A copy of the case to run in, with its classes compiled, if it has some.
fn prepared(name: &str, case: &Path, shared: Option<&[String]>) -> PathBuf {
    let work = scratch(name);
    copy(case, &work);
    if let Some(shared) = shared {
        let own = work.join("java");
        std::fs::create_dir_all(&own).expect("a folder");
        for file in shared.iter().map(|class| format!("{class}.java")) {
            std::fs::copy(parity().join("java").join(&file), own.join(&file)).expect("a class");
        }
        compile(&work);
    }
    work
}

/// Runs Throng in that folder, and says where it is not as the case has it.
fn against_golden(name: &str, case: &Path, work: &Path) -> String {
    let mut throng = Command::new(binary().expect("the binary under test"));
    throng.arg("-n");
    if !name.starts_with(JVM) {
        // Whether this machine has JMeter's jars must not matter.
        throng.env_remove("JMETER_HOME").env("THRONG_CACHE", work.join("no-cache"));
    }
    if let (true, Some(home)) = (name.starts_with(JVM), home()) {
        throng.env("JMETER_HOME", home);
        // Such as -Jthrong.scripts.native=false: no script is compiled, each is run by Java.
        throng
            .args(std::env::var("PARITY_JVM_ARGS").iter().flat_map(|text| text.split_whitespace()));
    }
    let outcome = run(throng, case, work);
    if std::env::var_os("PARITY_ACCEPT").is_some() {
        accept(case, &outcome);
    }
    compare(case, &outcome)
}

fn jmeter(home: &Path) -> Command {
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"])
        .args(["-Duser.language=en", "-Duser.region=EN"])
        // As JMeter's own script does; the Parallel Controller needs it.
        .args(["--add-opens", "java.base/java.lang=ALL-UNNAMED"])
        .arg("-jar")
        .arg(home.join("bin/ApacheJMeter.jar"))
        .args(["-n", "-j", "jmeter.log"])
        .env("LC_ALL", "C.UTF-8");
    java
}

/// Makes `classes.jar` of the classes in `java`, with the jars of the JMeter home to compile against.
fn compile(work: &Path) {
    let home = home().expect("a JMeter home");
    let home = home.display();
    let sources = std::fs::read_dir(work.join("java")).expect("sources").flatten();
    let compiled = Command::new("javac")
        .args(["-d", "classes", "-cp", &format!("{home}/lib/*:{home}/lib/ext/*")])
        .args(sources.map(|source| source.path()))
        .current_dir(work)
        .status();
    assert!(compiled.is_ok_and(|status| status.success()), "javac failed");
    let packed = Command::new("jar")
        .args(["cf", "classes.jar", "-C", "classes", "."])
        .current_dir(work)
        .status();
    assert!(packed.is_ok_and(|status| status.success()), "jar failed");
}

fn run(mut engine: Command, case: &Path, work: &Path) -> Outcome {
    // A port nobody listens on, for refused connections. It is free as long as nobody else asks for a port.
    let held = Closed::new();
    let closed = held.port;
    let server = Server::start(case, &[("closed", closed.to_string())]);
    let front = Front::start(case, work, server.port());
    let secure = front.as_ref().map_or(0, |front| front.port);
    let rules = rules(case);
    let collector = rules.figures.then(Collector::start);
    let datagrams = Datagrams::start(case);
    let database = rules.server.as_deref().map(Database::start);
    let names = Names::start(case, std::env::var_os("PARITY_RECORD").is_some());
    let log = std::fs::File::create(work.join("output.txt")).expect("a file for the output");
    let mut child = engine
        .args(["-t", "plan.jmx", "-l", "result.jtl"])
        .arg(format!("-Jport={}", server.port()))
        .arg(format!("-Jclosed={closed}"))
        .arg(format!("-Jsecure={secure}"))
        .arg("-Jjmeter.save.saveservice.sample_count=true")
        .args(names.as_ref().map(|server| format!("-Jthrong.dns.port={}", server.port())))
        .args(datagrams.as_ref().map(|target| format!("-Jdatagrams={}", target.port())))
        .args(database.as_ref().map(|server| format!("-Jdbport={}", server.port)))
        .args(collector.as_ref().map(|collector| format!("-Jcollector={}", collector.port())))
        .args(arguments(case, server.port()).lines())
        .current_dir(work)
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log)
        .spawn()
        .expect("the engine starts");
    let status = patiently(&mut child);
    let output = std::fs::read_to_string(work.join("output.txt")).unwrap_or_default();
    if status.is_some_and(|s| s.code() == Some(REFUSED)) && !rules.refused {
        return Outcome::from([(REFUSAL.to_owned(), refusal(&output))]);
    }
    assert!(
        status.is_some_and(|s| s.success() || rules.refused),
        "the engine ended with {status:?}:\n{output}"
    );
    if rules.refused {
        let seen = server.seen().len();
        return Outcome::from([("requests.txt".to_owned(), format!("{seen} requests\n"))]);
    }
    drop(front);
    let mut ports = vec![("PORT", server.port()), ("CLOSED", closed)];
    ports.extend((secure != 0).then_some(("SECURE", secure)));
    ports.extend(database.as_ref().map(|server| ("DBPORT", server.port)));
    let ports = &ports[..];
    let mut outcome = Outcome::new();
    let mut heard =
        |name: &str, text: Option<String>| outcome.extend(text.map(|text| (name.to_owned(), text)));
    heard("figures.txt", collector.as_ref().map(Collector::figures));
    heard("names.txt", names.as_ref().map(Names::asked));
    heard("datagrams.txt", datagrams.as_ref().map(Datagrams::seen));
    let select = "SELECT item, amount FROM moves ORDER BY item, amount";
    heard("tables.txt", database.as_ref().map(|database| database.command("sql", &[select])));
    outcome.insert("requests.txt".to_owned(), normal::requests(&server.seen(), &rules, ports));
    outcome.extend(files(work, &rules, ports));
    outcome
}

/// The elements that the engine named, with their lines in the plan.
fn refusal(output: &str) -> String {
    let named = output.lines().filter(|line| line.starts_with("  plan.jmx:"));
    named.fold(String::new(), |all, line| all + line + "\n")
}

/// The end of the engine; `None` if it had to be killed.
fn patiently(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("a child to wait for") {
            return Some(status);
        }
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The result files, and those that the case names.
fn files(work: &Path, rules: &Rules, ports: &[(&str, u16)]) -> Outcome {
    let mut outcome = Outcome::new();
    for name in std::iter::once(&"result.jtl".to_owned()).chain(&rules.files) {
        let bytes = std::fs::read(work.join(name))
            .unwrap_or_else(|e| format!("not written: {e}\n").into_bytes());
        let text = String::from_utf8_lossy(&bytes).replace(&*work.to_string_lossy(), "FOLDER");
        outcome.insert(name.clone(), normal::rows(&text, rules, ports));
    }
    outcome
}

/// TLS before the scripted server, for cases with a file `tls`: a target of the program under test, in a process of its own.
struct Front {
    process: Child,
    port: u16,
}

impl Front {
    fn start(case: &Path, work: &Path, to: u16) -> Option<Self> {
        let options = std::fs::read_to_string(case.join("tls")).ok()?;
        let program = binary().expect("THRONG names the program that has the target");
        let mut command = Command::new(program);
        command.args(["target", "tls-front", "--port", "0", "--option", &format!("to={to}")]);
        command.args(options.lines().flat_map(|option| ["--option", option]));
        command.current_dir(work).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the front starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("where it listens");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Some(Self { port: port.expect("a port"), process })
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A database server in a folder of its own, ended with the case.
struct Database {
    script: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Database {
    fn start(name: &str) -> Self {
        let script = folder().join("../../servers").join(name);
        // Not among the case's files: the server has a user of its own.
        let folder = std::env::temp_dir().join(format!(
            "parity-{name}-{}-{}",
            std::process::id(),
            server::bind().1.port()
        ));
        let mut server = Self { script, folder, port: 0 };
        server.port = server.command("start", &[]).trim().parse().expect("the port of the server");
        server
    }

    fn command(&self, what: &str, further: &[&str]) -> String {
        let output = Command::new(&self.script).arg(what).arg(&self.folder).args(further).output();
        let output = output.expect("the script of the server runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = Command::new(&self.script).arg("stop").arg(&self.folder).output();
    }
}

fn binary() -> Option<String> {
    std::env::var("THRONG").ok().or_else(|| option_env!("CARGO_BIN_EXE_throng").map(str::to_owned))
}

fn rules(case: &Path) -> Rules {
    Rules::read(&std::fs::read_to_string(case.join("case")).unwrap_or_default())
}

/// The case's further arguments.
fn arguments(case: &Path, port: u16) -> String {
    let text = std::fs::read_to_string(case.join("args")).unwrap_or_default();
    text.replace("${port}", &port.to_string())
}

fn compare(case: &Path, outcome: &Outcome) -> String {
    let own = case.join("throng");
    let mut complaints = String::new();
    for (name, got) in outcome {
        let golden = std::fs::read_to_string(case.join("golden").join(name)).unwrap_or_default();
        match std::fs::read_to_string(own.join(name)) {
            Ok(ours) => {
                assert!(
                    case.join("differs.md").exists(),
                    "a difference without a reason in differs.md"
                );
                assert!(
                    ours != golden,
                    "{name} no longer differs from JMeter: remove throng/{name}"
                );
                if let Some(lines) = diff::between(&ours, got) {
                    complaints += &format!("--- {name} (as in throng/)\n{lines}");
                }
            }
            Err(_) => {
                if let Some(lines) = diff::between(&golden, got) {
                    complaints += &format!("--- {name}\n{lines}");
                }
            }
        }
    }
    complaints
}

fn accept(case: &Path, outcome: &Outcome) {
    assert!(case.join("differs.md").exists(), "write the reason into differs.md first");
    let mut differing = Outcome::new();
    for (name, got) in outcome {
        if std::fs::read_to_string(case.join("golden").join(name)).ok().as_ref() != Some(got) {
            differing.insert(name.clone(), got.clone());
        }
    }
    let _ = std::fs::remove_dir_all(case.join("throng"));
    store(&case.join("throng"), &differing);
}

fn store(folder: &Path, outcome: &Outcome) {
    std::fs::create_dir_all(folder).expect("a folder to record into");
    for (name, text) in outcome {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to record into");
        std::fs::write(path, text).expect("a file to record into");
    }
}

fn scratch(name: &str) -> PathBuf {
    let base = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = base.join(format!("parity-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

fn copy(from: &Path, to: &Path) {
    for entry in
        std::fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())).flatten()
    {
        let path = entry.path();
        if path.is_file() {
            std::fs::copy(&path, to.join(entry.file_name())).expect("a copied file");
        } else if !matches!(entry.file_name().to_str(), Some("golden" | "throng")) {
            std::fs::create_dir_all(to.join(entry.file_name())).expect("a copied folder");
            copy(&path, &to.join(entry.file_name()));
        }
    }
}
