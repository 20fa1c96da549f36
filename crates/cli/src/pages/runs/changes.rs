//! Names and tags of entries, and the deletion of entries.
//!
//! A name is saved in a file of the run's folder. The folder itself is not renamed, because comparisons and scripts
//! refer to it. A folder is deleted only if it contains only files that runs write; with any other file in it,
//! nothing is deleted.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::super::control::Controlled;
use super::about::{self, Kind, MOST_TAGS, NOTE, Note};
use super::catalogue::{Catalogue, Found};
use super::made::{Maker, Refused};
use crate::questions::{capacity, compare, sweep};
use crate::results::{file, folder};

/// Longest name of an entry in characters.
const LONGEST_NAME: usize = 120;
/// Longest tag of an entry in characters.
const LONGEST_TAG: usize = 40;

/// Names of files in a run's folder, in order of deletion. The files that identify it as a run's folder come last,
/// so that an interrupted deletion can be repeated.
const OF_RUN: [&str; 13] = [
    "plan.jmx",
    "throng.log",
    "summary.json",
    "summary.txt",
    "results.jtl",
    "java-crash.log",
    "ctl.sock",
    file::FILE,
    NOTE,
    record::FILE,
    folder::SECONDS_BEFORE,
    "properties.txt",
    folder::SECONDS,
];
/// Names of files in the folder of a sweep, search or comparison.
const OF_ANSWER: [&str; 5] = [file::FILE, NOTE, compare::FILE, sweep::FILE, capacity::FILE];
/// Names of files beside the run's folder in the folder of a point, a probe or one run of a comparison.
const OF_TURN: [&str; 1] = ["output.txt"];

/// Sets the name and tags of an entry. An empty name removes the name.
pub(super) fn name(catalogue: &Catalogue, id: u64, name: &str, tags: &[String]) -> Controlled {
    let Some(found) = catalogue.find(id) else { return gone() };
    let note = match noted(name, tags) {
        Ok(note) => note,
        Err((en, zh)) => return Controlled::refused(en, zh),
    };
    let file = found.path.join(NOTE);
    let written = if note == Note::default() {
        fs::remove_file(&file).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    } else {
        let text = serde_json::to_string_pretty(&note).unwrap_or_default();
        file::write(&file, &format!("{text}\n"))
    };
    if let Err(error) = written {
        let shown = file.display();
        return Controlled::refused(
            format!("cannot write {shown}: {error}"),
            format!("无法写入 {shown}：{error}"),
        );
    }
    catalogue.look_for(&found.folder);
    Controlled::done("the name and the tags are saved", "名称和标签已保存")
}

fn gone() -> Controlled {
    Controlled::refused("this run is not there any more", "该运行已不存在")
}

/// Trims and checks a name and tags: their lengths, their number, and that they contain no invisible characters.
fn noted(name: &str, tags: &[String]) -> Result<Note, (String, String)> {
    let bounded = |text: &str, most: usize| {
        let text = text.trim();
        let is_odd = |c: char| {
            c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        };
        if text.chars().count() > most {
            return Err((
                format!("a name has {LONGEST_NAME} characters at most, a tag {LONGEST_TAG}"),
                format!("名称最多 {LONGEST_NAME} 个字符，标签最多 {LONGEST_TAG} 个"),
            ));
        }
        if text.contains(is_odd) {
            return Err((
                "a name has no control characters in it".to_owned(),
                "名称中不能有控制字符".to_owned(),
            ));
        }
        Ok(text.to_owned())
    };
    let name = bounded(name, LONGEST_NAME)?;
    let mut all = Vec::new();
    for tag in tags {
        let tag = bounded(tag, LONGEST_TAG)?;
        if !tag.is_empty() && !all.contains(&tag) {
            all.push(tag);
        }
    }
    if all.len() > MOST_TAGS {
        return Err((
            format!("a run has {MOST_TAGS} tags at most"),
            format!("每次运行最多 {MOST_TAGS} 个标签"),
        ));
    }
    Ok(Note { name, tags: all })
}

/// Deletes entries one after the other. Stops at the first entry that cannot be deleted.
pub(super) fn delete(catalogue: &Catalogue, maker: &Maker, ids: &[u64]) -> Controlled {
    // While this request holds the permission ([`Turn`]), no other request builds a report of these runs.
    let _turn = match maker.turn() {
        Ok(turn) => turn,
        Err(Refused::Busy) => return Controlled::refused("try again in a moment", "请稍后再试"),
        Err(Refused::Words(words)) => return Controlled::refused(words.clone(), words),
    };
    for (done, id) in ids.iter().enumerate() {
        let deleted = match catalogue.find(*id) {
            None => Err("it is not there any more".to_owned()),
            Some(found) => remove(&found).map_err(|words| format!("{}: {words}", found.folder)),
        };
        match deleted {
            Ok(()) => catalogue.remove(*id),
            Err(words) => {
                return Controlled::refused(
                    format!("{done} deleted; {words}"),
                    format!("已删除 {done} 个；{words}"),
                );
            }
        }
    }
    let count = ids.len();
    Controlled::done(format!("{count} deleted"), format!("已删除 {count} 个"))
}

/// Deletes the folder of an entry. The error is a message for the user.
fn remove(found: &Found) -> Result<(), String> {
    // The folder is read again, because the list may be out of date.
    let kind = about::kind_of(&found.path).ok_or("it is not the folder of a run")?;
    if about::is_running(&found.path, kind) {
        return Err("a test runs there: stop it first".into());
    }
    let mut doomed = Vec::new();
    let inside = match kind {
        Kind::Run => of_run(&found.path, &mut doomed),
        _ => of_answer(&found.path, &mut doomed),
    };
    inside?;
    for path in doomed {
        let removed = match fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => fs::remove_dir(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        removed.map_err(|error| format!("cannot delete {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Lists the paths in a run's folder in order of deletion, with the folder itself last.
fn of_run(folder: &Path, doomed: &mut Vec<PathBuf>) -> Result<(), String> {
    list(folder, &OF_RUN, doomed, |_, path| Err(foreign(&path)))
}

/// Lists the paths in the folder of a sweep, search or comparison in order of deletion: its own files, and the folders
/// of its runs.
fn of_answer(folder: &Path, doomed: &mut Vec<PathBuf>) -> Result<(), String> {
    list(folder, &OF_ANSWER, doomed, |doomed, turn| {
        list(&turn, &OF_TURN, doomed, |doomed, run| match about::kind_of(&run) {
            Some(Kind::Run) => of_run(&run, doomed),
            _ => Err(foreign(&run)),
        })
    })
}

/// Lists a folder whose files must have one of the given names. Subfolders are passed to `below`.
fn list(
    folder: &Path,
    files: &[&str],
    doomed: &mut Vec<PathBuf>,
    mut below: impl FnMut(&mut Vec<PathBuf>, PathBuf) -> Result<(), String>,
) -> Result<(), String> {
    let wrong = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let mut own = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (kind, path) = (entry.file_type().map_err(wrong)?, entry.path());
        if kind.is_dir() {
            below(doomed, path)?;
            continue;
        }
        let name = entry.file_name();
        let place = name.to_str().and_then(|name| place(name, files));
        match place.filter(|_| kind.is_file() || kind.is_socket()) {
            Some(place) => own.push((place, path)),
            None => return Err(foreign(&path)),
        }
    }
    own.sort();
    doomed.extend(own.into_iter().map(|(_, path)| path));
    doomed.push(folder.to_owned());
    Ok(())
}

/// Returns the position of a file name in the list of names. An unfinished file (`.name.part`) counts as its finished
/// file.
fn place(name: &str, files: &[&str]) -> Option<usize> {
    let whole = name.strip_suffix(".part").unwrap_or(name);
    let whole = if whole == name { name } else { whole.strip_prefix('.').unwrap_or(whole) };
    files.iter().position(|file| *file == whole)
}

fn foreign(path: &Path) -> String {
    format!(
        "nothing was deleted, because {} is not a file of a run; delete it yourself",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(folder: &Path, files: &[&str]) {
        for file in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "{}").expect("a file");
        }
    }

    fn found(path: PathBuf) -> Found {
        let state = super::about::State::Ended;
        Found { id: 1, folder: "x".into(), kind: Kind::Run, state, path }
    }

    const RUN: [&str; 6] = [
        "plan.jmx",
        "properties.txt",
        "record",
        "seconds.jsonl",
        "seconds.1.jsonl",
        ".summary.json.part",
    ];

    #[test]
    fn what_is_a_runs_own_goes_and_nothing_else() {
        let root = tempfile::tempdir().expect("a folder");
        let run = root.path().join("run");
        make(&run, &RUN);
        for more in ["notes.txt", "photos/a.png", "properties.txt.bak", "seconds.jsonl.d/x"] {
            make(&run, &[more]);
            let words = remove(&found(run.clone())).expect_err(more);
            assert!(words.contains("is not a file of a run"), "{words}");
            assert!(RUN.iter().all(|file| run.join(file).exists()), "{more}: all is there");
            let path = run.join(more);
            fs::remove_file(&path).expect("it goes");
            if more.contains('/') {
                fs::remove_dir(path.parent().expect("a folder")).expect("it goes");
            }
        }
        let elsewhere = root.path().join("elsewhere");
        fs::write(&elsewhere, "x").expect("a file");
        std::os::unix::fs::symlink(&elsewhere, run.join("report.html")).expect("a link");
        remove(&found(run.clone())).expect_err("a link is no file of a run");
        fs::remove_file(run.join("report.html")).expect("it goes");
        remove(&found(run.clone())).expect("it goes");
        assert!(!run.exists() && elsewhere.exists());
        make(&run, &["plan.jmx", "summary.json"]);
        remove(&found(run)).expect_err("too little to be a run's");
    }

    #[test]
    fn an_answer_goes_with_its_runs() {
        let root = tempfile::tempdir().expect("a folder");
        let sweep = root.path().join("sweep");
        make(&sweep, &["sweep.json", "report.html", "users-1/output.txt"]);
        make(&sweep.join("users-1/run"), &RUN);
        make(&sweep.join("users-1/other"), &["file"]);
        remove(&found(sweep.clone())).expect_err("one of them is no run's");
        assert!(sweep.join("users-1/run/record").exists());
        fs::remove_dir_all(sweep.join("users-1/other")).expect("it goes");
        remove(&found(sweep.clone())).expect("it goes");
        assert!(!sweep.exists());
    }

    #[test]
    fn names_are_bounded_and_readable() {
        let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let note = noted(" 基线 a/b <b> ", &tags(&["x", " x ", "", "y"])).expect("a name");
        assert_eq!((note.name.as_str(), note.tags), ("基线 a/b <b>", tags(&["x", "y"])));
        let long = "x".repeat(LONGEST_NAME + 1);
        for (name, tag) in [("a\nb", ""), ("\u{202e}a", ""), (&*long, ""), ("", &long[..50])] {
            noted(name, &tags(&[tag])).expect_err(name);
        }
        let many: Vec<String> = (0..=MOST_TAGS).map(|n| n.to_string()).collect();
        noted("", &many).expect_err("too many");
    }
}
