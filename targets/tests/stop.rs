//! A stopped target leaves no threads or sockets behind. The test counts those of its process, so it is alone in its
//! process.

mod raw;

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use raw::{Client, first_answer, target};
use targets::names;

fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let named = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
    named.filter(|name| name.starts_with("target-")).count()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn no_thread_and_no_socket_outlives_its_target() {
    let before = descriptors();
    for info in names() {
        let running = target(info.name, &[]);
        let mut idle = Client::new(&running);
        idle.get("/").until(first_answer(info.name));
        assert!(threads() > 0);
        let addr = running.addr();
        running.stop();
        assert!(std::net::TcpStream::connect(addr).is_err());
    }
    // A joined thread may remain in the list of tasks for a moment, because the kernel first wakes the joining thread.
    let patience = Instant::now() + Duration::from_secs(10);
    while (threads(), descriptors()) != (0, before) && Instant::now() < patience {
        sleep(Duration::from_millis(5));
    }
    assert_eq!((threads(), descriptors()), (0, before));
}
