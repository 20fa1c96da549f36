//! Prevents CI servers from showing the summaries of an earlier command as the result of the current one.
//!
//! Before a command starts its work, it writes a note without a result to its JUnit and Markdown files, and deletes
//! its k6 summary. A command that finishes overwrites the files with its results. If it is refused or killed, the
//! notes remain. Files that are not regular, such as pipes, are not touched until there is a result.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Named, clash};
use crate::exit::Exit;
use crate::judge::junit;
use crate::print::terminal;

/// Reason that a summary gives until the real reason is known. It remains if the command is killed.
const UNKNOWN: &str = "the command did not finish";

/// Number of bytes that are searched for the root element of a JUnit file.
const HEAD: usize = 4096;

/// Summary files that the user has told a command to write.
#[derive(Debug, Default)]
pub(crate) struct Promised {
    /// Name of the plan, or of the command if there is no plan.
    pub(crate) name: String,
    /// File for JUnit tests, if the user named one.
    pub(crate) junit: Option<PathBuf>,
    /// File for the Markdown summary, if the user named one.
    pub(crate) markdown: Option<PathBuf>,
    /// File for the summary in k6's format, if the user named one.
    pub(crate) k6: Option<PathBuf>,
}

impl Promised {
    /// Runs the command. Afterwards, summaries that the command has not written contain the reason for the missing
    /// result. If one of them is also an input of the command, no file is touched, because the command refuses to
    /// run.
    pub(crate) fn around<'a>(
        &'a self,
        read: impl IntoIterator<Item = Named<'a>>,
        command: impl FnOnce() -> Exit,
    ) -> Exit {
        if clash(read, self.named()).is_some() {
            return command();
        }
        self.say(UNKNOWN, |_, _| true);
        if let Some(file) = self.k6.as_deref().filter(|file| file.is_file()) {
            let _ = std::fs::remove_file(file);
        }
        let exit = command();
        if exit != Exit::Ok {
            self.explain(exit);
        }
        exit
    }

    /// Writes into the summaries that a command line names that the line was refused. A wrong command line may name
    /// any file, so a file with other content is not touched. `junit_of` returns the JUnit file that the settings
    /// in a plan's folder name.
    pub(crate) fn refuse_line(
        args: &[OsString],
        why: &str,
        junit_of: impl Fn(&Path) -> Option<PathBuf>,
    ) {
        let file = |option| value(args, option).map(PathBuf::from);
        let plan = args.iter().map(Path::new).find(|arg| arg.extension() == Some("jmx".as_ref()));
        let beside = || plan.and_then(|plan| junit_of(plan.parent()?));
        let (junit, markdown) = (file("--junit").or_else(beside), file("--markdown"));
        let verb = args.iter().skip(1).find(|arg| !arg.as_encoded_bytes().starts_with(b"-"));
        let name = plan.and_then(Path::file_name).or(verb.map(OsString::as_os_str));
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let promised = Self { name, junit, markdown, k6: None };
        let text = |file: &Path| std::fs::read_to_string(file);
        promised.say(why, |file, is_summary| {
            text(file).map_or(!file.exists(), |text| is_summary(&text))
        });
        if let Some(file) = file("--k6-summary").filter(|file| is_free(file))
            && text(&file).is_ok_and(|text| ::report::k6::is_summary(&text))
        {
            let _ = std::fs::remove_file(file);
        }
    }

    fn named(&self) -> impl Iterator<Item = Named<'_>> {
        let files =
            [("--junit", &self.junit), ("--markdown", &self.markdown), ("--k6-summary", &self.k6)];
        files.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)))
    }

    /// Writes the reason why there is no result into files that still say that the reason is unknown.
    fn explain(&self, exit: Exit) {
        let why = terminal::take_last_error();
        let Some(why) = why.or_else(|| of_exit(exit).map(str::to_owned)) else { return };
        let unknown = |file: &Path, _: fn(&str) -> bool| {
            std::fs::read_to_string(file).is_ok_and(|text| text.contains(UNKNOWN))
        };
        self.say(&why, unknown);
    }

    /// Writes a note about the missing result into regular files and files that do not exist. `wanted` decides for
    /// each file. It receives the path, and a function that recognises this kind of summary.
    fn say(&self, why: &str, wanted: impl Fn(&Path, fn(&str) -> bool) -> bool) {
        let may = |file: &Path, is_ours| is_free(file) && wanted(file, is_ours);
        if let Some(file) = self.junit.as_deref().filter(|file| may(file, is_junit)) {
            let _ = std::fs::write(file, junit::without_result(&self.name, why));
        }
        if let Some(file) = self.markdown.as_deref().filter(|file| may(file, is_our_markdown)) {
            let why = why.replace('\n', " ");
            let _ = std::fs::write(file, format!("## ❌ No result: {}\n\n{why}\n", self.name));
        }
    }
}

/// Returns true if a file's content is empty or a JUnit file of any program.
fn is_junit(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(HEAD)];
    head.contains("<testsuite") || head.trim().is_empty()
}

/// Returns true if a file's content is empty or Markdown of this program, with a heading that starts with the
/// symbol of the result.
fn is_our_markdown(text: &str) -> bool {
    let sign = text.strip_prefix("## ").and_then(|title| title.chars().next());
    text.trim().is_empty() || sign.is_some_and(|sign| !sign.is_ascii() && !sign.is_alphabetic())
}

/// True if a file is regular or does not exist.
fn is_free(file: &Path) -> bool {
    std::fs::metadata(file).map_or(true, |about| about.is_file())
}

/// Returns the reason for an exit code that has no error message.
fn of_exit(exit: Exit) -> Option<&'static str> {
    match exit {
        Exit::Interrupted => Some("it was interrupted"),
        Exit::Plan => Some("the plan has errors and was not run"),
        _ => None,
    }
}

/// Returns the value of an option on a command line that could not be parsed.
fn value(args: &[OsString], option: &str) -> Option<OsString> {
    let next = args.iter().skip(1).map(Some).chain([None]);
    args.iter().zip(next).find_map(|(arg, next)| match arg.to_str()?.strip_prefix(option)? {
        "" => next.filter(|next| !next.as_encoded_bytes().starts_with(b"-")).cloned(),
        rest => rest.strip_prefix('=').map(OsString::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_a_result_leaves_summaries_that_say_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(at(name)).expect("a file");
        for name in ["t.xml", "s.md", "k6.json"] {
            std::fs::write(at(name), "old").expect("a file");
        }
        let promised = Promised {
            name: "plan.jmx".into(),
            junit: Some(at("t.xml")),
            markdown: Some(at("s.md")),
            k6: Some(at("k6.json")),
        };
        let none: [Named<'_>; 0] = [];
        promised.around(none, || {
            assert!(read("t.xml").contains(UNKNOWN), "one that is killed");
            terminal::note_error("the plan is <wrong>");
            Exit::Plan
        });
        let junit = read("t.xml");
        assert!(junit.contains("errors=\"1\"") && junit.contains("is &lt;wrong&gt;"), "{junit}");
        assert_eq!(read("s.md"), "## ❌ No result: plan.jmx\n\nthe plan is <wrong>\n");
        assert!(!at("k6.json").exists());
        promised.around(none, || {
            for name in ["t.xml", "k6.json"] {
                std::fs::write(at(name), "result").expect("a file");
            }
            terminal::note_error("results are lost");
            Exit::Lost
        });
        assert_eq!((read("t.xml"), read("k6.json")), ("result".into(), "result".into()));
        assert!(read("s.md").contains("results are lost"));
        std::fs::write(at("s.md"), "read").expect("a file");
        promised.around([("the plan", &*at("s.md"))], || Exit::Usage);
        assert_eq!((read("t.xml"), read("s.md")), ("result".into(), "read".into()));
    }

    #[test]
    fn a_refused_command_line_replaces_files_of_its_own_kind_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(at(name)).expect("a file");
        let line = |junit: &Path| {
            let junit = format!("--junit={}", junit.display());
            ["throng", "run", "--wrong", &junit].map(OsString::from)
        };
        std::fs::write(at("plan.jmx"), "<?xml version=\"1.0\"?><jmeterTestPlan/>").expect("a file");
        let refuse = |line: &[OsString]| {
            Promised::refuse_line(line, "--wrong is not known", |folder| {
                Some(folder.join("t.xml"))
            });
        };
        refuse(&line(&at("plan.jmx")));
        assert!(read("plan.jmx").contains("jmeterTestPlan"));
        std::fs::write(at("t.xml"), junit::without_result("run", "green")).expect("a file");
        refuse(&line(&at("t.xml")));
        assert!(read("t.xml").contains("--wrong is not known"));
        let notes =
            ["throng", "run", "--wrong", "--markdown", &at("notes.md").display().to_string()]
                .map(OsString::from);
        std::fs::write(at("notes.md"), "## My notes\n").expect("a file");
        refuse(&notes);
        assert_eq!(read("notes.md"), "## My notes\n");
        // The JUnit file that the settings in the plan's folder name.
        std::fs::write(at("t.xml"), junit::without_result("run", "green")).expect("a file");
        refuse(
            &["throng", "run", "--wrong", &at("plan.jmx").display().to_string()]
                .map(OsString::from),
        );
        assert!(read("t.xml").contains("--wrong is not known"));
        refuse(&line(&at("new.xml")));
        assert!(read("new.xml").contains("--wrong is not known"), "there was none");
    }

    #[test]
    fn a_refused_command_line_leaves_no_summary_of_an_earlier_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).display().to_string();
        let read = |name: &str| std::fs::read_to_string(at(name)).expect("a file");
        let write = |name: &str, text: &str| std::fs::write(at(name), text).expect("a file");
        let refuse = |line: &[&str]| {
            let line: Vec<OsString> = line.iter().map(OsString::from).collect();
            Promised::refuse_line(&line, "--wrong is not known", |_| None);
        };
        write("t.xml", "<testsuite tests='1' failures='0'/>");
        write("s.md", "");
        let per_s = serde_json::json!({ "count": 3, "rate": 1.5 });
        let summary = serde_json::json!({
            "metrics": { "http_reqs": per_s, "data_sent": per_s, "data_received": per_s },
            "root_group": {
                "name": "", "path": "", "id": "d41d8cd98f00b204e9800998ecf8427e", "groups": {}, "checks": {}
            },
        });
        write("k6.json", &summary.to_string());
        let (t, s, k6) = (at("t.xml"), at("s.md"), at("k6.json"));
        let jmeter = ["-n", "-t", "p.jmx", "--wrong", "--junit", &t, "--markdown", &s];
        refuse(&[&jmeter[..], &["--k6-summary", &k6]].concat());
        assert!(read("t.xml").contains("name=\"p.jmx\"") && read("t.xml").contains("errors=\"1\""));
        assert_eq!(read("s.md"), "## ❌ No result: p.jmx\n\n--wrong is not known\n");
        assert!(!Path::new(&k6).exists());
        for other in ["{\"users\": 7}", "{\"metrics\": {\"p95\": 7}}"] {
            write("k6.json", other);
            refuse(&["throng", "run", "--k6-summary", &k6, "--junit", "--fail"]);
            assert_eq!(read("k6.json"), other, "no summary");
        }
        assert!(!Path::new("--fail").exists());
    }
}
