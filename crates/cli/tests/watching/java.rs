//! Settings in force of a watched JVM appear in the summary and in the comparison of two runs.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::program::{self, Program};

/// Starts an exporter that always returns the same text. Returns the option for `--watch`.
fn exporter(text: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let _ = socket.read(&mut [0; 2048]);
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
            let _ = socket.write_all(format!("{head}{text}").as_bytes());
        }
    });
    format!("app=http://{address}")
}

/// Returns the metrics of an exporter that runs inside a JVM.
fn java(heap_max: u64, collector: &str, options: &str) -> String {
    format!(
        "jvm_memory_bytes_used{{area=\"heap\",}} 5\njvm_memory_bytes_max{{area=\"heap\",}} {heap_max}\n\
         jvm_gc_collection_seconds_count{{gc=\"{collector}\",}} 3\njvm_threads_current 42\n\
         jvm_info{{version=\"17.0.9+9\",}} 1\n{options}"
    )
}

/// Runs the plan while a JVM with these metrics is watched. Returns the run's folder.
fn run(program: &Program, name: &str, text: String) -> String {
    let host = exporter(text);
    let line = ["run", "plan.jmx", "--runs", name, "--watch", &host, "-Jms=500", "-Jloops=6"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    let made = std::fs::read_dir(program.path(name)).expect("runs").next();
    made.expect("a run").expect("an entry").path().display().to_string()
}

const GIB: u64 = 1 << 30;

#[test]
fn settings_of_a_java_machine_stand_in_the_summary_and_are_compared() {
    let program = Program::new();
    // The Java agent of OpenTelemetry exports the machine's command line as the label `process_command_args`.
    let secret = "target_info{process_command_args=\"[/bin/java, -Xmx1g, -Dpassword=hidden, -jar, app.jar]\"} 1\n";
    let first = run(&program, "first", java(GIB, "G1 Old Generation", ""));
    let same = run(&program, "same", java(GIB, "G1 Old Generation", ""));
    let other = run(&program, "other", java(2 * GIB, "PS Scavenge", secret));
    let text = std::fs::read_to_string(format!("{other}/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(program::schema::check(&summary), Ok(()));
    let expected = serde_json::json!({ "app": {
        "heap_max": 2 * GIB, "collectors": "Parallel", "java": "17.0.9+9", "arguments": "-Xmx1g -Dpassword=***"
    }});
    assert_eq!(summary["java_machines"], expected);

    let told = program.run(&["compare", "--no-report", &first, &same]);
    let words = "The Java machine on app had the same settings in both runs: heap at most 1.0 GiB, G1, Java 17.0.9+9. If \
                 options of heap or collector were meant to differ, they were not in force: Java options must come before -jar.\n";
    assert!(told.out.contains(words), "{told:?}");

    let told = program.run(&["compare", "--no-report", &first, &other]);
    assert!(!told.out.contains("the same settings"), "{told:?}");
    for line in [
        "- largest heap of Java on app: A 1.0 GiB, B 2.0 GiB\n",
        "- collectors of Java on app: A G1, B Parallel\n",
    ] {
        assert!(told.out.contains(line), "{line}: {told:?}");
    }
    assert!(!told.out.contains("heap_max of app"), "{told:?}");
}

/// The exporter's text has the form that a rule of jmx_exporter 0.19 gives to a command line: the part before `-jar` is
/// missing.
#[test]
fn options_behind_the_jar_are_named_in_a_single_run() {
    let program = Program::new();
    let command =
        |arguments: &str| format!("sun_java_command_info{{command=\"app.jar{arguments}\",}} 1.0\n");
    let text =
        java(4 * GIB, "G1 Old Generation", &command(" -Xmx1g -XX:+UseParallelGC --server.port=1"));
    let folder = run(&program, "first", text);
    let words = "The options -Xmx1g -XX:+UseParallelGC behind -jar app.jar on app are not in force: Java gives them to the \
                 program as arguments.";
    let told = program.run(&["verdict", &folder]);
    let unwrapped = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(words) && unwrapped.contains("[certain]"), "{told:?}");
    let text = std::fs::read_to_string(format!("{folder}/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(program::schema::check(&summary), Ok(()));
    let misplaced = "-jar app.jar -Xmx1g -XX:+UseParallelGC";
    assert_eq!(summary["java_machines"]["app"]["misplaced_options"], misplaced);
    // These arguments after the jar are for the program, so the verdict has no such finding.
    let text = java(4 * GIB, "G1 Old Generation", &command(" --server.port=1 -Dx=y"));
    let told = program.run(&["verdict", &run(&program, "second", text)]);
    assert!(!told.out.contains("in force"), "{told:?}");
}

#[test]
fn nothing_is_said_of_hosts_that_are_no_java_machines() {
    let program = Program::new();
    let text = || "node_load1 0.5\nnode_memory_MemTotal_bytes 8e9\n".to_owned();
    let (first, second) = (run(&program, "first", text()), run(&program, "second", text()));
    let summary = std::fs::read_to_string(format!("{second}/summary.json")).expect("a summary");
    assert!(!summary.contains("java_machines"), "{summary}");
    let told = program.run(&["compare", "--no-report", &first, &second]);
    assert!(told.code == 0 && !told.out.contains("Java"), "{told:?}");
}
