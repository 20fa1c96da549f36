//! Programs that users run. Separate threads start them and wait for them, so that no core blocks.
//!
//! Each running program has a thread, which ends when the program has ended and its output is read. The thread
//! reports the result to the core; the user waits for it. If the user no longer waits, the program is terminated.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command as Spawn, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plan::element::Command;
use plan::plan::SamplerId;
use plan::result::SampleResult;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use stats::Outcome;

use crate::context::Context;
use crate::ids::UserId;
use crate::inbox::results::{Done, Failure, Output};
use crate::inbox::{Inbox, Message};
use crate::net::transport::keep_part;
use crate::time::timing::Timing;
use crate::users::Wait;

/// Stack size in bytes of a thread that runs a program. The stack holds little more than a buffer.
const STACK: usize = 256 * 1024;
/// Time that a program has to end after a termination signal, before it is killed.
const PATIENCE: Duration = Duration::from_secs(1);

/// State of a user that waits for a program.
#[derive(Debug)]
pub(crate) struct Running {
    /// Ticket that distinguishes this program from programs of earlier users of the same slot.
    ticket: u64,
    command: Arc<Command>,
    directory: String,
    timing: Timing,
    /// Becomes readable when the program must be ended.
    cancel: Arc<OwnedFd>,
}

impl crate::users::Part for Running {}

/// Starts a program for a user's sample. `Err`: the program could not be started, as the sample's result shows.
pub(crate) fn begin(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    command: Arc<Command>,
    timing: Timing,
) -> Result<(), Box<SampleResult>> {
    cx.users.tickets += 1;
    let ticket = cx.users.tickets;
    let begun = eventfd(0, EventfdFlags::CLOEXEC).map_err(io::Error::from).and_then(|cancel| {
        let cancel = Arc::new(cancel);
        start(
            Arc::clone(&command),
            Arc::clone(&cancel),
            ticket,
            index,
            cx.run.inbox(cx.index),
            cx.run.settings.bodies.max_response,
        )?;
        Ok(cancel)
    });
    let directory = absolute(&command.directory);
    let running = |cancel| Running { ticket, command, directory, timing, cancel };
    match begun {
        Ok(cancel) => {
            let user = &mut cx.users[index];
            user.extra().parts.put(Box::new(running(cancel)));
            user.wait = Wait::Job(id);
            Ok(())
        }
        Err(error) => {
            let mut failed = cx.begin_result(index, id, &timing);
            failed.success = false;
            failed.code.push_str("500");
            let what = "Exception occurred whilst executing system call: java.io.IOException";
            failed.message.push_str(&format!("{what}: {error}"));
            Err(failed)
        }
    }
}

/// Handles the end of a program: builds the result and ends the sample.
pub(crate) fn end(cx: &mut Context<'_>, index: UserId, done: Done) {
    let user = &mut cx.users[index];
    let Wait::Job(id) = user.wait else { return };
    let parts = &mut user.extra().parts;
    if parts.get::<Running>().is_none_or(|running| running.ticket != done.ticket) {
        return;
    }
    let Some(running) = parts.take::<Running>() else { return };
    user.wait = Wait::Ready;
    let mut timing = running.timing;
    timing.end = timing.start + done.elapsed.as_nanos() as i64;
    timing.lag = (cx.clock.now() - timing.end).max(0) as u64;
    let dropped = done.output.dropped;
    let mut result = cx.begin_result(index, id, &timing);
    let outcome = show(&running, done, &mut result);
    timing.received = (result.body.len() + dropped) as u64;
    cx.conclude(index, id, timing, outcome, Some(result));
}

/// Fills a result with the output of a program.
fn show(running: &Running, done: Done, result: &mut SampleResult) -> Outcome {
    result.data_type = "text";
    running.command.write_sampler_data(&running.directory, &mut result.sampler_data);
    result.text.push_str(&String::from_utf8_lossy(&done.output.kept));
    result.body.extend_from_slice(result.text.as_bytes());
    result.success = false;
    let mut outcome = Outcome::Status;
    match done.result {
        Ok(code) => {
            result.code.push_str(itoa::Buffer::new().format(code));
            match running.command.expected.filter(|expected| *expected != code) {
                Some(expected) => result.message.push_str(&format!(
                    "Unexpected return code.  Expected [{expected}]. Actual [{code}]."
                )),
                None => {
                    result.success = true;
                    result.message.push_str("OK");
                    outcome = Outcome::Ok;
                }
            }
        }
        Err(failure) => {
            result.code.push_str("500");
            outcome = match failure {
                Failure::Cut => Outcome::CutByEnd,
                Failure::Timeout(_) => Outcome::Timeout(stats::Phase::Response),
                Failure::Io(_) => Outcome::Other,
            };
            result.message.push_str(&match failure {
                Failure::Io(text) => {
                    format!("Exception occurred whilst executing system call: {text}")
                }
                Failure::Timeout(ms) => {
                    format!("Process timeout reached after {ms} milliseconds")
                }
                Failure::Cut => "System Sampler interrupted whilst executing system call: \
                                 java.lang.InterruptedException"
                    .into(),
            });
        }
    }
    outcome
}

/// Asks the thread of a user's program to kill the program, because the run ends at once. Then the sample ends.
pub(crate) fn cut(cx: &mut Context<'_>, index: UserId) {
    if let Some(running) = cx.users[index].extra().parts.get::<Running>() {
        let _ = rustix::io::write(&running.cancel, &1u64.to_ne_bytes());
    }
}

fn start(
    command: Arc<Command>,
    cancel: Arc<OwnedFd>,
    ticket: u64,
    user: UserId,
    reply_to: Inbox,
    most: usize,
) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("process".into()).stack_size(STACK);
    thread.spawn(move || {
        let mut output = Output { kept: Vec::new(), most, dropped: 0 };
        let began = Instant::now();
        let result = run(&command, &cancel, &mut output);
        let elapsed = began.elapsed();
        reply_to.send(Message::Process {
            user,
            done: Box::new(Done { ticket, result, output, elapsed }),
        });
    })?;
    Ok(())
}

/// Runs a program to its end.
fn run(command: &Command, cancel: &OwnedFd, output: &mut Output) -> Result<i32, Failure> {
    let open = |path: &str, write: bool| {
        let file = if write { File::create(path) } else { File::open(path) };
        file.map_err(|error| {
            Failure::Io(format!("java.io.FileNotFoundException: {path} ({})", in_words(&error)))
        })
    };
    let mut spawn = Spawn::new(&command.program);
    spawn.args(&command.arguments);
    spawn.envs(command.environment.iter().map(|(name, value)| (name, value)));
    if !command.directory.is_empty() {
        spawn.current_dir(&command.directory);
    }
    spawn.stdin(if command.stdin.is_empty() {
        Stdio::null()
    } else {
        Stdio::from(open(&command.stdin, false)?)
    });
    let failed = |error: io::Error| Failure::Io(format!("java.io.IOException: {error}"));
    let mut pipe = None;
    if command.stdout.is_empty() {
        let (reader, writer) = io::pipe().map_err(failed)?;
        if command.stderr.is_empty() {
            spawn.stderr(writer.try_clone().map_err(failed)?);
        }
        spawn.stdout(writer);
        pipe = Some(reader);
    } else {
        let file = open(&command.stdout, true)?;
        if command.stderr.is_empty() {
            spawn.stderr(file.try_clone().map_err(failed)?);
        }
        spawn.stdout(file);
    }
    if !command.stderr.is_empty() {
        spawn.stderr(open(&command.stderr, true)?);
    }
    let mut child = spawn.spawn().map_err(|error| {
        let (program, number) = (&command.program, error.raw_os_error().unwrap_or(0));
        let (directory, words) = (absolute(&command.directory), in_words(&error));
        Failure::Io(format!(
            "java.io.IOException: Cannot run program \"{program}\" (in directory \"{directory}\"): error={number}, {words}"
        ))
    })?;
    // This process still holds the write ends of the pipe, and closes them here, because an open write end prevents the
    // end of the stream.
    drop(spawn);
    let ended = attend(&mut child, pipe, cancel, command.timeout_ms, output);
    if ended.is_err() {
        end_child(&mut child, matches!(ended, Err(Failure::Cut)));
    }
    ended
}

/// Reads a program's output and waits for its end.
fn attend(
    child: &mut Child,
    mut pipe: Option<io::PipeReader>,
    cancel: &OwnedFd,
    timeout_ms: u64,
    output: &mut Output,
) -> Result<i32, Failure> {
    let failed = |error: io::Error| Failure::Io(format!("java.io.IOException: {error}"));
    let pid = Pid::from_child(child);
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let limit = (timeout_ms > 0).then(|| Instant::now() + Duration::from_millis(timeout_ms));
    let (mut code, mut late) = (None, false);
    let mut buffer = [0; 16 * 1024];
    while code.is_none() || pipe.is_some() {
        let mut events = vec![PollFd::new(cancel, PollFlags::IN)];
        if code.is_none() {
            events.push(PollFd::new(&handle, PollFlags::IN));
        }
        if let Some(pipe) = &pipe {
            events.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
        }
        let left = match limit {
            // The time limit applies only to the program itself. If another process keeps the program's output
            // open, the thread waits for that process.
            Some(limit) if code.is_none() => {
                let left = limit.saturating_duration_since(Instant::now());
                // This process may have been suspended, and the program may have ended in time.
                late = left.is_zero();
                Some(if late { left } else { left + Duration::from_millis(1) })
            }
            _ => None,
        };
        let left = left.and_then(|left| rustix::event::Timespec::try_from(left).ok());
        match poll(&mut events, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
        let ready = |at: usize| events.get(at).is_some_and(|event| !event.revents().is_empty());
        let (cancelled, first, second) = (ready(0), ready(1), ready(2));
        if cancelled {
            return Err(Failure::Cut);
        }
        let (exited, readable) = if code.is_none() { (first, second) } else { (false, first) };
        if late && !exited {
            return Err(Failure::Timeout(timeout_ms));
        }
        drop(events);
        if readable && let Some(reader) = pipe.as_mut() {
            match reader.read(&mut buffer) {
                Ok(0) => pipe = None,
                Ok(n) => {
                    output.dropped += keep_part(&mut output.kept, &buffer[..n], output.most);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => pipe = None,
            }
        }
        if exited {
            let status = child.wait().map_err(failed)?;
            code = Some(exit_code(status));
        }
    }
    code.ok_or(Failure::Cut)
}

/// Ends a program: first with a termination signal, unless `now` is true.
fn end_child(child: &mut Child, now: bool) {
    if !now {
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Returns the exit code as Java does: 128 plus the signal for a program that a signal ended.
fn exit_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

/// Returns the system's own text for an error.
fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn absolute(directory: &str) -> String {
    let path = std::path::absolute(if directory.is_empty() { "." } else { directory });
    path.map_or_else(
        |_| directory.to_owned(),
        |path| {
            let text = path.to_string_lossy().into_owned();
            text.strip_suffix("/.").map_or(text.clone(), str::to_owned)
        },
    )
}
