//! Permissions of a run's files, and the folders in which a server's response may cause files to be written.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::peer::answering;
use crate::trial::{JTL, Trial};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_runs_folder_is_its_owners_alone() {
    let trial = Trial::new();
    let ended = trial.shell(&format!("umask 022; exec \"$0\" run plan.jmx --jtl -l {JTL}"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let folder = trial.program.run_folder();
    assert_eq!(mode(&folder), 0o700);
    let names = ["plan.jmx", "properties.txt", "results.jtl", "seconds.jsonl", "summary.json"];
    for name in names.iter().chain(&["summary.txt", "throng.log"]) {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&trial.program.path(JTL)), 0o644, "as JMeter's: what the user's mask leaves");
}

#[test]
fn secrets_are_not_written_down() {
    let trial = Trial::new();
    let line = "-n -t plan.jmx -a sesame0 -Jdb_password=sesame1 -Japi.token=sesame2 -Dmy.secret=sesame3 \
                -Jjdbc=jdbc:x://h/d?user=a&password=sesame4 -Jusers=1 -Jthrong.jvm.options=-Dkey.pw=sesame5 --listen";
    let line = line.replace(" --listen", "");
    let ended = trial.run(&line.split_ascii_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{ended:?}");
    let folder = trial.program.run_folder();
    for file in std::fs::read_dir(&folder).expect("the folder").flatten() {
        let text =
            String::from_utf8_lossy(&std::fs::read(file.path()).expect("a file")).into_owned();
        assert!(!text.contains("sesame"), "{:?}: {text}", file.path());
    }
    let text = std::fs::read_to_string(folder.join("properties.txt")).expect("properties");
    assert!(text.contains("\n# db_password=(a secret, not written)\n"), "{text}");
    assert!(text.contains("\nusers=1\n"), "{text}");
}

/// Returns a plan that saves each response to a file. The file name is `prefix`, which may use the server's text as
/// `${who}`.
fn saving(prefix: &str) -> Trial {
    Trial::with(&format!(
        r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="Extract" enabled="true">
          <stringProp name="RegexExtractor.useHeaders">false</stringProp><stringProp name="RegexExtractor.refname">who</stringProp>
          <stringProp name="RegexExtractor.regex">id=(\S+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
          <stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>
        <ResultSaver guiclass="ResultSaverGui" testclass="ResultSaver" testname="Keep" enabled="true">
          <stringProp name="FileSaver.filename">{prefix}</stringProp>
          <boolProp name="FileSaver.skipautonumber">true</boolProp></ResultSaver><hashTree/>"#
    ))
}

/// Runs the plan once. Returns the exit code, all new files with "saved" in their names outside the run's folder, and
/// standard error.
fn save(trial: &Trial, body: &str, kind: &str, more: &str) -> (i32, Vec<String>, String) {
    let port = answering(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    std::fs::create_dir_all(trial.program.path("work")).expect("a folder");
    let line =
        format!("cd work && exec \"$0\" run ../http.jmx -Jusers=1 -Jloops=1 -Jport={port} {more}");
    let ended = trial.shell(&line);
    let mut files = Vec::new();
    let mut folders = vec![trial.program.path(".")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() && name != "runs" {
                folders.push(entry.path());
            } else if name.contains("saved") {
                files.push(
                    entry
                        .path()
                        .strip_prefix(trial.program.path("."))
                        .unwrap()
                        .display()
                        .to_string(),
                );
            }
        }
    }
    (ended.code, files, ended.err)
}

#[test]
fn what_a_server_says_does_not_lead_files_astray() {
    let cases = [
        ("out/${who}", "id=../../saved", "text/plain"),
        ("${who}", "id=../saved", "text/plain"),
        ("out/saved", "id=x", "text/../../../saved"),
    ];
    for (prefix, body, kind) in cases {
        let trial = saving(prefix);
        let (code, files, err) = save(&trial, body, kind, "");
        assert_eq!((code, &files[..]), (9, &[][..]), "{prefix}: {err}");
        assert!(err.contains("Keep: the response is not saved to"), "{err}");
        let (code, files, err) = save(&trial, body, kind, "-Jthrong.save.anywhere=true");
        assert_eq!((code, files.len()), (0, 1), "{prefix}: {files:?} {err}");
    }
    let absolute = saving("${who}");
    let place = absolute.program.path("saved");
    let (code, files, err) = save(&absolute, &format!("id={}", place.display()), "text/plain", "");
    assert_eq!((code, files.len()), (9, 0), "{err}");
}

/// Like [`saving`], but the function `__StringToFile` writes the file `name`.
fn writing(name: &str) -> Trial {
    let trial = saving("-");
    let plan = trial.program.read("http.jmx");
    let (before, saver) = plan.split_at(plan.find("<ResultSaver").expect("a saver"));
    let behind = &saver[saver.find("</ResultSaver><hashTree/>").expect("its end") + 25..];
    let writes = format!(
        r#"<DebugSampler testclass="DebugSampler" testname="wrote ${{__StringToFile({name},saved)}}" enabled="true"/><hashTree/>"#
    );
    trial.program.write("http.jmx", &[before, &writes, behind].concat());
    trial
}

#[test]
fn what_a_server_says_does_not_lead_functions_astray() {
    for (name, body) in [
        ("${who}", "id=../saved"),
        ("${who}", "id=x/../../saved"),
        ("./saved-${who}", "id=x/../../saved"),
        ("${__P(here,.)}/${who}", "id=../saved"),
        // A string from the server does not count as part of the plan, not even through the function `__V`.
        ("${__V(who)}", "id=../saved"),
    ] {
        let trial = writing(name);
        std::fs::create_dir_all(trial.program.path("work/x")).expect("a folder");
        std::fs::create_dir_all(trial.program.path("work/saved-x")).expect("a folder");
        let only_files = |files: Vec<String>| {
            files.into_iter().filter(|file| !file.ends_with("saved-x")).collect::<Vec<_>>()
        };
        let (code, files, err) = save(&trial, body, "text/plain", "-l rows.jtl");
        let files = only_files(files);
        assert_eq!((code, &files[..]), (0, &[][..]), "{name}: {err}");
        assert!(err.contains("leads out of the folder that the plan names"), "{name}: {err}");
        assert!(trial.program.read("work/rows.jtl").contains(",wrote false,"), "{name}");
        let (code, files, err) =
            save(&trial, body, "text/plain", "-Jthrong.save.anywhere=true -l again.jtl");
        assert_eq!((code, only_files(files).len()), (0, 1), "{name}: {err}");
        assert!(trial.program.read("work/again.jtl").contains(",wrote true,"), "{name}");
    }
}

#[test]
fn functions_write_where_the_plan_and_properties_say() {
    for name in ["../saved", "saved-${who}", "${__P(where,..)}/saved", "${__P(where,..)}/${who}"] {
        let trial = writing(name);
        let (code, files, err) = save(&trial, "id=saved", "text/plain", "-l rows.jtl");
        assert_eq!((code, files.len()), (0, 1), "{name}: {files:?} {err}");
    }
}

#[test]
fn text_of_a_server_that_is_evaluated_does_not_lead_functions_astray() {
    let trial = writing("x");
    let plan = trial.program.read("http.jmx");
    let plan = plan.replace("wrote ${__StringToFile(x,saved)}", "wrote ${__eval(${who})}");
    trial.program.write("http.jmx", &plan);
    let (code, files, err) = save(&trial, "id=${__StringToFile(../saved,x)}", "text/plain", "");
    assert_eq!((code, files.len()), (0, 0), "{files:?} {err}");
    assert!(err.contains("__StringToFile: ../saved"), "{err}");
}

#[test]
fn what_the_plan_and_properties_say_may_lead_anywhere() {
    let cases = [
        ("out/${who}", "out/saved.plain"),
        ("../elsewhere/${who}", "elsewhere/saved.plain"),
        ("${__P(where)}/${who}", "there/saved.plain"),
    ];
    for (prefix, place) in cases {
        let trial = saving(prefix);
        let there = format!("-Jwhere={}", trial.program.path("there").display());
        let (code, files, err) = save(&trial, "id=saved", "text/plain; charset=utf-8", &there);
        assert_eq!(code, 0, "{err}");
        assert!(files.len() == 1 && files[0].ends_with(place), "{prefix}: {files:?}");
    }
}
