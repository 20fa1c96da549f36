//! Standard output that cannot be written. A full device is an error, a closed pipe is ignored, and neither causes a
//! panic.

use std::io::{Read, Write, pipe};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Ended, Program, ended};

/// Command lines that print, with their exit codes when standard output is a closed pipe.
const LINES: [(&str, i32); 12] = [
    ("check plan.jmx", 0),
    ("check --json plan.jmx", 0),
    ("preflight --users 5", 0),
    ("preflight --users 5 --json", 0),
    ("target", 0),
    ("--help", 0),
    ("help run", 0),
    ("version", 0),
    ("-V", 0),
    ("--version", 0),
    ("run plan.jmx --json", 0),
    ("run plan.jmx", 0),
];

fn run(line: &str, out: Stdio) -> Ended {
    let program = Program::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.args(line.split(' ')).current_dir(program.path(".")).stdin(Stdio::null()).stdout(out);
    let ended = ended(command.stderr(Stdio::piped()).output().expect("the program starts"));
    assert!(!ended.err.contains("panicked"), "{line}: {ended:?}");
    ended
}

#[test]
fn a_full_one_is_an_error() {
    for (line, _) in LINES.iter().chain(&[("jvm status", 0)]) {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let ended = run(line, full.into());
        // Without Java, `jvm status` exits with 3.
        let codes: &[i32] = if *line == "jvm status" { &[9, 3] } else { &[9] };
        assert!(codes.contains(&ended.code), "{line}: {ended:?}");
        let told = ended.err.contains("standard output is incomplete: No space left on device");
        assert!(told, "{line}: {ended:?}");
    }
}

/// The reader of the pipe reads nothing until the run is over.
#[test]
fn a_pipe_that_is_full_does_not_hold_the_run_up() {
    let program = Program::new();
    let (mut reader, mut writer) = pipe().expect("a pipe");
    let flags = rustix::fs::fcntl_getfl(&writer).expect("its flags");
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).expect("set");
    let mut filled = 0;
    while let Ok(bytes) = writer.write(&[b'.'; 4096]) {
        filled += bytes;
    }
    rustix::fs::fcntl_setfl(&writer, flags).expect("set");
    let mut command = program.command(&["run", "plan.jmx", "-Jloops=20"]);
    let mut child = command.stdout(writer).stderr(Stdio::null()).spawn().expect("it starts");
    drop(command);
    let end = Instant::now() + Duration::from_secs(60);
    let is_begun =
        || std::fs::read_dir(program.path("runs")).is_ok_and(|mut runs| runs.next().is_some());
    let summary = || is_begun() && program.run_folder().join("summary.txt").exists();
    while !summary() {
        assert!(Instant::now() < end, "never: a summary");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.try_wait().expect("a child").is_none(), "it waits for its reader");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    assert!(text[filled..].contains("summary =     20 in"), "{}", &text[filled..]);
    assert!(text.contains("... end of run"));
}

#[test]
fn a_closed_one_is_none() {
    for (line, code) in LINES {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let ended = run(line, writer.into());
        assert_eq!(ended.code, code, "{line}: {ended:?}");
        assert!(!ended.err.contains("standard output"), "{line}: {ended:?}");
    }
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    assert!([0, 3].contains(&run("jvm status", writer.into()).code));
}
