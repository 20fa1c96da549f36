//! Tests with real JVMs, with the bridge and without JMeter, in this process and in a child process. If the bridge
//! cannot do something, it replies with a message, and the JVM continues.
//!
//! A process has only one JVM, so one test covers it. The tests are skipped, with a message, if there is no Java.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::sync::Arc;

use engine::offload::Offload;
use jvm::{Refusal, Settings, Workers};

/// Starts a JVM and returns its workers, if there is a Java.
fn started(isolated: bool) -> Option<Arc<Workers>> {
    let home = tempfile::tempdir().expect("a folder");
    let jars = home.path().join("lib/ext");
    std::fs::create_dir_all(&jars).expect("a folder");
    std::fs::write(jars.join("ApacheJMeter_core.jar"), "").expect("a file");
    let settings = Settings {
        jmeter_home: Some(home.path().to_owned()),
        heap: Some("64m".into()),
        isolated,
        options: vec!["-Dthrong.test=a b".into()],
        threads: 8,
        ..Settings::default()
    };
    let ready = match jvm::ready(&settings) {
        Ok(ready) => ready,
        Err(Refusal::Java(no)) => {
            skipped::skip(no.to_string());
            return None;
        }
        Err(no) => panic!("{no}"),
    };
    let path = ready.class_path(&[]).expect("a class path");
    Some(ready.start(&path, None).unwrap_or_else(|words| panic!("{words}")))
}

#[test]
fn a_machine_answers_on_many_threads() {
    started(false).into_iter().for_each(answers);
}

#[test]
fn a_machine_in_a_process_of_its_own_does_as_well() {
    let Some(workers) = started(true) else { return };
    // All users of the computer can read the command lines of processes.
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    for process in processes {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains("-Dthrong.test=a b"), "{process:?}");
    }
    answers(workers);
}

fn answers(workers: Arc<Workers>) {
    // No message has this kind; the reply begins with the status of a failure.
    let reply = workers.call(vec![99, 1, 2, 3]).expect("a reply");
    assert_eq!(reply[0], 1);
    assert!(String::from_utf8_lossy(&reply).contains("99"));
    // An empty message is invalid.
    assert_eq!(workers.call(Vec::new()).expect("a reply")[0], 1);
    // A message larger than the heap is refused; the next message works.
    let words = workers.call(vec![99; 200 << 20]).expect_err("no room");
    assert!(words.contains("OutOfMemoryError"), "{words}");
    let asking: Vec<_> = (0..40u8)
        .map(|number| {
            let workers = Arc::clone(&workers);
            std::thread::spawn(move || workers.call(vec![99 + number]).map(|reply| reply[0]))
        })
        .collect();
    for one in asking {
        assert_eq!(one.join().expect("a thread"), Ok(1));
    }
    assert!(workers.threads() <= 8);
    // A separate thread reads the heap, and may not have done so yet.
    let read = || std::iter::repeat_with(|| workers.memory()).take(600);
    let memory = read().find_map(|memory| {
        // 200 MiB did not fit into a heap of 64 MiB, so there was a garbage collection.
        let memory = memory.filter(|memory| memory.collections > 0);
        if memory.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        memory
    });
    let memory = memory.expect("a reading with a collection");
    assert!(0 < memory.used && memory.used <= memory.most && memory.most <= 64 << 20, "{memory:?}");
}
