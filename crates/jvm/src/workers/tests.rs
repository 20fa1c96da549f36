use std::sync::Barrier;
use std::sync::mpsc;

use super::*;
use crate::carrier::Carry;

/// A carrier that passes each message to a function and returns the function's result as the reply.
struct To<F>(F);

impl<F> std::fmt::Debug for To<F> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("To")
    }
}

impl<F: Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync> Carrier for To<F> {
    fn serve(&self, _: &str, work: &mut dyn FnMut(i32, &mut Carry<'_>)) -> Result<(), String> {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        work(thread, &mut |message| (self.0)(message));
        Ok(())
    }

    fn exit(&self, _: Duration, _: u8) {}
}

fn workers<F>(most: usize, carry: F) -> Arc<Workers>
where
    F: Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync + 'static,
{
    Workers::start(Box::new(To(carry)), most, 256 << 10).expect("threads")
}

#[test]
fn replies_go_to_who_asked() {
    let workers = workers(4, |message| match message {
        [0] => Err("no".into()),
        message => Ok(message.repeat(2)),
    });
    assert_eq!(workers.call(vec![1, 2]), Ok(vec![1, 2, 1, 2]));
    assert_eq!(workers.call(vec![0]), Err("no".into()));
}

#[test]
fn jobs_that_wait_for_each_other_all_get_a_thread() {
    const JOBS: usize = 40;
    let meeting = Arc::new(Barrier::new(JOBS));
    let here = Arc::clone(&meeting);
    let workers = workers(JOBS, move |message| {
        here.wait();
        Ok(message.to_vec())
    });
    let (to, replies) = mpsc::channel();
    for number in 0..JOBS {
        let (workers, to) = (Arc::clone(&workers), to.clone());
        std::thread::spawn(move || to.send(workers.call(vec![number as u8])));
    }
    let mut seen: Vec<u8> =
        (0..JOBS).map(|_| replies.recv().expect("a reply").expect("no error")[0]).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..JOBS as u8).collect::<Vec<_>>());
    assert_eq!(workers.threads(), JOBS);
}

#[test]
fn there_are_no_more_threads_than_allowed() {
    let (first, second) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (a, b) = (Arc::clone(&first), Arc::clone(&second));
    let workers = workers(1, move |message| {
        if message == [1] {
            a.wait();
            b.wait();
        }
        Ok(message.to_vec())
    });
    let one = Arc::clone(&workers);
    let blocked = std::thread::spawn(move || one.call(vec![1]));
    first.wait();
    let two = Arc::clone(&workers);
    let waiting = std::thread::spawn(move || two.call(vec![2]));
    assert_eq!(workers.threads(), 1);
    second.wait();
    assert_eq!(blocked.join().expect("a thread"), Ok(vec![1]));
    assert_eq!(waiting.join().expect("a thread"), Ok(vec![2]));
    assert_eq!(workers.threads(), 1);
}

#[test]
fn what_runs_for_a_user_is_interrupted_and_what_waits_is_not_begun() {
    let (to, interrupted) = mpsc::channel();
    let to = Mutex::new(to);
    let (begun, running) = mpsc::channel();
    let begun = Mutex::new(begun);
    let release = Arc::new(Barrier::new(2));
    let inside = Arc::clone(&release);
    let workers = workers(4, move |message| {
        if message[0] == 6 {
            lock(&to).send(message.to_vec()).expect("a listener");
        } else {
            lock(&begun).send(()).expect("a listener");
            inside.wait();
        }
        Ok(Vec::new())
    });
    let (done, reply) = bounded(1);
    let task = |done| Task { message: vec![3], user: 77, done };
    workers.submit(task(Done::Call(done.clone())));
    running.recv().expect("it runs");
    workers.interrupt(5);
    workers.interrupt(77);
    assert_eq!(interrupted.recv().expect("it is interrupted"), [6, 77, 0, 0, 0, 0, 0, 0, 0, 0]);
    release.wait();
    assert_eq!(reply.recv().expect("a reply"), Ok(Vec::new()));
    workers.submit(task(Done::Call(done)));
    assert_eq!(reply.recv().expect("a reply"), Err("the run has ended".into()));
}

/// A carrier whose `serve` always fails, so that no worker thread can use it.
#[derive(Debug)]
struct Nobody;

impl Carrier for Nobody {
    fn serve(&self, _: &str, _: &mut dyn FnMut(i32, &mut Carry<'_>)) -> Result<(), String> {
        Err("out of order".into())
    }

    fn exit(&self, _: Duration, _: u8) {}
}

#[test]
fn without_threads_jobs_still_end() {
    let workers = Workers::start(Box::new(Nobody), 2, 256 << 10).expect("threads");
    assert_eq!(workers.call(vec![1]), Err("out of order".into()));
    assert_eq!(workers.complaint().as_deref(), Some("out of order"));
}
