//! A parity case: a folder with a plan, the target's answers, and the results of JMeter 5.6.3.
//!
//! A case runs in a copy of its folder, so that the plan's output stays out of the repository.

use crate::golden::{Outcome, REFUSAL};
use crate::normal::{self, Rules};
use crate::plan::Elements;
use crate::programs::{self, Engine, Programs};
use crate::services::Services;
use crate::{JVM, Skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Exit code of Throng for a plan that it refuses to run.
const REFUSED: i32 = 3;

const PATIENCE: Duration = Duration::from_secs(180);

/// The elements that short plans refer to.
static ELEMENTS: LazyLock<Elements> =
    LazyLock::new(|| Elements::read(&crate::folder().join("../elements")));

/// A case as defined by its folder.
pub(crate) struct Case {
    name: String,
    pub(crate) folder: PathBuf,
    pub(crate) rules: Rules,
}

impl Case {
    pub(crate) fn read(name: &str) -> Self {
        let folder = crate::folder().join(name);
        let rules = Rules::read(&fs::read_to_string(folder.join("case")).unwrap_or_default());
        Self { name: name.to_owned(), folder, rules }
    }

    pub(crate) fn needs_jvm(&self) -> bool {
        self.name.starts_with(JVM)
    }

    /// True if the case has Java classes, which are compiled against JMeter's jars.
    pub(crate) fn has_classes(&self) -> bool {
        self.folder.join("java").is_dir() || !self.rules.classes.is_empty()
    }

    /// Checks that this machine has everything the case needs; the error says what is missing.
    pub(crate) fn may_run(&self, home: Option<&Path>) -> Result<(), Skipped> {
        if self.rules.server.is_some() && std::env::var_os("PARITY_SERVERS").is_none() {
            return Err("it starts a database and PARITY_SERVERS is not set".to_owned());
        }
        if self.needs_jvm() {
            let Some(home) = home else {
                let why = "there are no JMeter's jars: `throng jvm install` or PARITY_JVM_HOME";
                return Err(why.to_owned());
            };
            if let Some(jar) = self.rules.jar.as_ref().filter(|jar| !programs::has(home, jar)) {
                return Err(format!("{} has no {jar}", home.display()));
            }
        }
        if self.has_classes() && !programs::has_javac() {
            return Err("there is no javac for its classes".to_owned());
        }
        Ok(())
    }

    /// Returns the path of a file of the case, which may be shared from another case.
    fn file(&self, name: &str) -> PathBuf {
        let others = &self.rules.from;
        let other = others.iter().find(|path| file_of(path) == name);
        other.map_or_else(|| self.folder.join(name), |path| crate::folder().join(path))
    }

    /// Returns the golden files shared from other cases, by name.
    pub(crate) fn shared_golden(&self) -> Outcome {
        let golden = |path: &String| {
            let name = file_of(path).strip_prefix("golden/")?.to_owned();
            let text = fs::read_to_string(crate::folder().join(path));
            Some((name, text.unwrap_or_else(|error| panic!("{path}: {error}"))))
        };
        self.rules.from.iter().filter_map(golden).collect()
    }

    /// Returns the whole plan, expanded if the case has a short one.
    pub(crate) fn plan(&self) -> String {
        let short = self.file("plan.xml");
        let Ok(text) = fs::read_to_string(&short) else {
            return fs::read_to_string(self.file("plan.jmx")).expect("a plan");
        };
        ELEMENTS.whole(&text).unwrap_or_else(|problem| panic!("{}: {problem}", short.display()))
    }

    /// Copies the case to a folder to run in, and compiles its classes if it has some.
    pub(crate) fn prepared(&self, scratch: &Path, home: Option<&Path>) -> PathBuf {
        let work = scratch.join(format!("parity-{}-{}", self.name, std::process::id()));
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).expect("a scratch folder");
        copy(&self.folder, &work);
        for path in &self.rules.from {
            let to = work.join(file_of(path));
            if !file_of(path).starts_with("golden/") {
                fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                let copied = fs::copy(crate::folder().join(path), to);
                copied.unwrap_or_else(|error| panic!("{path}: {error}"));
            }
        }
        fs::write(work.join("plan.jmx"), self.plan()).expect("the plan");
        if self.has_classes() {
            let (shared, own) = (self.folder.join("../../java"), work.join("java"));
            fs::create_dir_all(&own).expect("a folder");
            for file in self.rules.classes.iter().map(|class| format!("{class}.java")) {
                fs::copy(shared.join(&file), own.join(&file)).expect("a class");
            }
            programs::compile(&work, home.expect("a JMeter home"));
        }
        work
    }

    /// Runs the case in a folder, and collects its requests and files.
    pub(crate) fn run(&self, mut engine: Engine, work: &Path, programs: &Programs) -> Outcome {
        let rules = &self.rules;
        let services = Services::start(rules, work, programs, engine.is_jmeter);
        let port = services.port().to_string();
        let log = fs::File::create(work.join("output.txt")).expect("a file for the output");
        let mut child = engine
            .command
            .args(["-t", "plan.jmx", "-l", "result.jtl"])
            .arg("-Jjmeter.save.saveservice.sample_count=true")
            .args(services.arguments())
            .args(rules.arguments.iter().map(|text| text.replace("${port}", &port)))
            .current_dir(work)
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .spawn()
            .expect("the engine starts");
        let status = patiently(&mut child);
        let output = fs::read_to_string(work.join("output.txt")).unwrap_or_default();
        if status.is_some_and(|s| s.code() == Some(REFUSED)) && !rules.refused {
            let named = refusal(&output);
            // For a refused plan, only the named elements are compared. Without them, a refusal for another reason
            // would pass.
            assert!(
                !named.is_empty(),
                "the engine refused the plan and named no element:\n{output}"
            );
            return Outcome::from([(REFUSAL.to_owned(), named)]);
        }
        assert!(
            status.is_some_and(|s| s.success() || rules.refused),
            "the engine ended with {status:?}:\n{output}"
        );
        if rules.refused {
            let seen = match services.seen() {
                0 => String::new(),
                seen => format!("{seen} requests\n"),
            };
            return Outcome::from([("requests.txt".to_owned(), seen)]);
        }
        let ports = services.ports();
        let mut outcome = services.end(rules, &ports);
        outcome.extend(files(work, rules, &ports));
        outcome
    }
}

/// Returns the file name in `CASE/FILE`.
pub(crate) fn file_of(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, file)| file)
}

/// Returns the lines in which the engine named elements, with their line numbers in the plan.
fn refusal(output: &str) -> String {
    let named = output.lines().filter(|line| line.starts_with("  plan.jmx:"));
    named.fold(String::new(), |all, line| all + line + "\n")
}

/// Waits for the engine to end; `None` if it had to be killed.
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

/// Returns the result file, and the files that the case names.
fn files(work: &Path, rules: &Rules, ports: &[(&str, u16)]) -> Outcome {
    let mut outcome = Outcome::new();
    for name in std::iter::once(&"result.jtl".to_owned()).chain(&rules.files) {
        let bytes = fs::read(work.join(name))
            .unwrap_or_else(|e| format!("not written: {e}\n").into_bytes());
        let text = String::from_utf8_lossy(&bytes).replace(&*work.to_string_lossy(), "FOLDER");
        outcome.insert(name.clone(), normal::rows(&text, rules, ports));
    }
    outcome
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())).flatten()
    {
        let path = entry.path();
        if path.is_file() {
            fs::copy(&path, to.join(entry.file_name())).expect("a copied file");
        } else if !matches!(entry.file_name().to_str(), Some("golden" | "throng")) {
            fs::create_dir_all(to.join(entry.file_name())).expect("a copied folder");
            copy(&path, &to.join(entry.file_name()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, ELEMENTS, file_of};

    fn nothing_found(found: &[String]) {
        assert!(found.is_empty(), "\n{}", found.join("\n"));
    }

    #[test]
    fn every_case_has_one_plan_that_can_be_read() {
        let mut found = Vec::new();
        for name in crate::cases() {
            let case = Case::read(&name);
            let plans = ["plan.xml", "plan.jmx"].iter().filter(|plan| case.file(plan).exists());
            match plans.count() {
                1 => assert!(case.plan().contains("<TestPlan"), "{name}"),
                plans => found.push(format!("{name} has {plans} plans")),
            }
        }
        nothing_found(&found);
    }

    #[test]
    fn every_element_is_that_of_a_plan() {
        let texts = crate::cases().into_iter().map(|name| Case::read(&name).file("plan.xml"));
        let texts: String = texts.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let used = |name: &str| {
            [" ", ">", "/>"].iter().any(|end| texts.contains(&format!("<{name}{end}")))
        };
        let found: Vec<_> = ELEMENTS.names().filter(|name| !used(name)).cloned().collect();
        nothing_found(&found);
    }

    #[test]
    fn files_of_other_cases_are_there_once() {
        let mut found = Vec::new();
        for name in crate::cases() {
            let case = Case::read(&name);
            for path in &case.rules.from {
                if !crate::folder().join(path).is_file() {
                    found.push(format!("{name}: from={path} is no file"));
                }
                if case.folder.join(file_of(path)).exists() {
                    found.push(format!("{name} has {} and from={path}", file_of(path)));
                }
            }
        }
        nothing_found(&found);
    }

    #[test]
    fn a_difference_has_its_reason_and_a_reason_its_difference() {
        let has = |case: &Case, name: &str| case.folder.join(name).exists();
        let found: Vec<_> = crate::cases()
            .iter()
            .map(|name| Case::read(name))
            .filter(|case| has(case, "differs.md") != has(case, "throng"))
            .map(|case| format!("{} has only one of differs.md and throng/", case.name))
            .collect();
        nothing_found(&found);
    }
}
