//! The live view of a running test on a real terminal: its frames during the run, and the screen after the end.

mod program;
#[path = "terminal_view/tty.rs"]
mod tty;

use std::time::{Duration, Instant};

use program::Program;
use tty::{Run, Tty};

/// Waits until the screen satisfies the condition; fails the test after one minute.
fn until(what: &str, run: &mut Run, mut holds: impl FnMut(&str) -> bool) -> String {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let screen = run.screen();
        if holds(&screen) {
            return screen;
        }
        assert!(Instant::now() < end, "never: {what}\n{screen}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn shows_a_frame(screen: &str) -> bool {
    screen.contains("plan.jmx  ") && screen.contains("rate    ") && screen.contains(" Sleep")
}

/// Returns the line beginnings of the live view on the screen. Each beginning appears once per frame.
fn beginnings(screen: &str) -> Vec<&str> {
    let words = ["users ", "rate ", "response p95 ", "errors "];
    let of = |line: &str| words.into_iter().find(|word| line.starts_with(word));
    screen.lines().filter_map(of).collect()
}

const FRAME: [&str; 4] = ["users ", "rate ", "response p95 ", "errors "];

#[test]
fn a_terminal_shows_the_running_test_and_ends_with_its_summary() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "-Jms=20", "-Jusers=4", "--duration", "50m", "--fail"];
    let mut run = Tty::new(80, 24).run(&program, &[&line[..], &["p95 < 1ms"]].concat(), &[]);
    let screen = until("a frame", &mut run, shows_a_frame);
    assert_eq!(beginnings(&screen), FRAME, "{screen}");
    assert!(screen.contains(" of 50:00  "), "{screen}");
    assert!(screen.contains("✗ NOT MET  response p95 < 1ms"), "{screen}");
    assert!(run.raw().contains("\x1b[?2026h") && !run.raw().contains("\x1b[?1049h"));
    // After a resize, the view draws one frame for the new size.
    run.resize(120, 40);
    let wide = |screen: &str| screen.lines().any(|line| line.chars().count() > 90);
    let screen = until("a wide frame", &mut run, wide);
    assert_eq!(beginnings(&screen), FRAME, "{screen}");
    run.resize(60, 5);
    let screen = until("one line", &mut run, |screen| screen.contains("/50:00  4 users"));
    let seen: Vec<&str> = screen.lines().rev().take(5).collect();
    assert!(seen[0].contains("/50:00  4 users"), "{screen}");
    run.resize(80, 24);
    until("a frame again", &mut run, shows_a_frame);
    run.interrupt();
    let (code, screen) = run.finish();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("warning: stopping: samples in flight finish"), "{screen}");
    assert!(screen.contains("\nResults: "), "{screen}");
    assert_eq!(screen.matches("\nTOTAL").count(), 1, "{screen}");
    let (_, behind) = screen.split_once("warning: stopping").expect("a warning");
    assert!(!behind.contains("50:00"), "the view has gone: {screen}");
}

#[test]
fn what_is_printed_meanwhile_stands_above_the_view() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "-Jms=20", "-Jusers=4", "--duration", "50m"];
    let mut run = Tty::new(80, 24).run(&program, &line, &[]);
    until("a frame", &mut run, shows_a_frame);
    for n in 0..3 {
        let ended = program.run(&["ctl", "mark", &format!("word {n}")]);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    let screen = until("the marks and a frame", &mut run, |screen| {
        shows_a_frame(screen) && screen.contains("mark: word 2")
    });
    assert_eq!(beginnings(&screen), FRAME, "{screen}");
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(place("mark: word 0") < place("mark: word 1"), "{screen}");
    assert!(place("mark: word 2") < place("plan.jmx  "), "{screen}");
    // The third Ctrl-C ends the program immediately, without its normal cleanup.
    (0..3).for_each(|_| run.interrupt());
    let (code, screen) = run.finish();
    assert_eq!(code, 130, "{screen}");
    assert_eq!((run.modes().len(), run.column()), (0, 0), "{:?}\n{screen}", run.modes());
}

#[test]
fn a_killed_run_leaves_the_terminal_as_it_was() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "-Jms=20", "-Jusers=4", "--duration", "50m"];
    let mut run = Tty::new(80, 24).run(&program, &line, &[]);
    until("a frame", &mut run, shows_a_frame);
    // The program draws one frame per second. It turns line wrapping off only while it draws a frame.
    let end = Instant::now() + Duration::from_secs(60);
    while !run.modes().is_empty() {
        assert!(Instant::now() < end, "never: the end of a frame");
    }
    run.kill();
    let (_, screen) = run.finish();
    assert_eq!(beginnings(&screen), FRAME, "{screen}");
    assert!(run.modes().is_empty(), "{:?}", run.modes());
    assert_eq!(run.column(), 0, "a shell's prompt begins its line");
}

#[test]
fn a_terminal_that_stands_still_does_not_hold_the_run_up() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "-Jms=20", "-Jusers=4", "--duration", "50m"];
    let mut run = Tty::new(80, 24).run(&program, &line, &[]);
    until("a frame", &mut run, shows_a_frame);
    run.stop_output(true);
    let seconds = || {
        let text = std::fs::read_to_string(program.run_folder().join("seconds.jsonl"));
        text.unwrap_or_default().lines().count()
    };
    let before = seconds();
    until("seconds of the run", &mut run, |_| seconds() >= before + 3);
    run.stop_output(false);
    let stood = run.raw().len();
    let end = Instant::now() + Duration::from_secs(60);
    while run.raw().len() < stood + 500 {
        assert!(Instant::now() < end, "never: a later frame");
        std::thread::sleep(Duration::from_millis(20));
    }
    let screen = until("a later frame", &mut run, shows_a_frame);
    assert_eq!(beginnings(&screen), FRAME, "{screen}");
    run.interrupt();
    assert_eq!(run.finish().0, 130);
}

#[test]
fn the_surroundings_say_how_it_looks() {
    for (options, settings, frame, colours) in [
        (&["--json"][..], &[][..], true, true),
        (&[], &[("NO_COLOR", "1")], true, false),
        (&[], &[("LC_ALL", "C")], true, true),
        (&[], &[("TERM", "dumb")], false, false),
        (&["--quiet"], &[], false, false),
    ] {
        let program = Program::new();
        let line = ["run", "plan.jmx", "-Jms=20", "-Jloops=80"];
        let mut run = Tty::new(80, 24).run(&program, &[&line[..], options].concat(), settings);
        let (code, screen) = run.finish();
        assert_eq!(code, 0, "{screen}");
        let raw = run.raw();
        let case = format!("{options:?} {settings:?}: {raw:?}");
        assert_eq!(
            raw.contains("users         1 of 1") || raw.contains("users       "),
            frame,
            "{case}"
        );
        assert_eq!(raw.contains("\x1b[?2026h"), frame, "{case}");
        assert_eq!(raw.contains("\x1b[2m"), colours, "{case}");
        let ascii = settings.contains(&("LC_ALL", "C"));
        assert_eq!(frame && !raw.contains(['▁', '█']), ascii, "{case}");
    }
}

#[test]
fn a_sweep_shows_its_points() {
    let program = Program::new();
    let line = [
        "sweep",
        "plan.jmx",
        "--users",
        "1,2",
        "--at-least",
        "2s",
        "--at-most",
        "4s",
        "--ramp",
        "1s",
    ];
    let line = [&line[..], &["-Jms=20", "-Jloops=-1"]].concat();
    let mut run = Tty::new(80, 24).run(&program, &line, &[]);
    let screen = until("a point", &mut run, |screen| {
        screen.contains("point 1 of 2, 1 user  plan.jmx") && shows_a_frame(screen)
    });
    assert_eq!(beginnings(&screen), FRAME, "{screen}");
    assert!(
        screen.contains(" of 00:0") && screen.contains("then up to 1 point, about 00:0"),
        "{screen}"
    );
    let screen = until("the second", &mut run, |screen| {
        screen.contains("point 2 of 2, 2 users  plan.jmx") && shows_a_frame(screen)
    });
    assert!(screen.contains("point 1 of 2, 1 user: "), "what it showed stays: {screen}");
    assert_eq!(run.finish().0, 0);
}
