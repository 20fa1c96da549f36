//! One run of a plan at a given load, as a child process that is watched while it runs.
//!
//! The child is in its own process group, so that Ctrl-C reaches it only once, sent by this process. Its output is kept
//! in the run's folder and is shown if the run fails.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use record::{Ending, Record};
use rustix::process::{Pid, Signal, kill_process};
use stats::grouped::things;

use super::results;
use crate::exit::Exit;
use crate::operator::interrupt::Interrupt;
use crate::operator::view::{Screen, View};
use crate::print::tty::Stream;

/// Interval for checking whether the child process has ended.
const LOOK: Duration = Duration::from_millis(100);
/// Interval for reading the child's record to decide about an early end.
const READ: Duration = Duration::from_secs(2);

/// Interval for reading the child's record to update the display.
const SHOW: Duration = Duration::from_secs(1);

/// Time past the planned duration after which the run is stopped.
const LATE: Duration = Duration::from_secs(5);
/// Largest number of signals that stop a run past its planned duration: the second one stops it immediately.
const LATE_SIGNALS: u32 = 2;

/// Load of a run: the load of the plan, a number of users, or a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    /// The load that the plan defines.
    Plan,
    Users(u32),
    Rate(f64),
}

impl Load {
    /// Returns a description of the load for the user.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Plan => "the plan's load".to_owned(),
            Self::Users(users) => things(users.into(), "user"),
            Self::Rate(rate) => format!("{rate}/s"),
        }
    }
}

/// A request for a run in a child process.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) plan: &'a Path,
    pub(crate) options: &'a [OsString],
    /// Folder in which the run creates its own folder.
    pub(crate) folder: PathBuf,
    pub(crate) load: Load,
    /// Ramp-up time, if it replaces that of the plan.
    pub(crate) ramp: Option<Duration>,
    /// Duration of the load, if it replaces that of the plan.
    pub(crate) duration: Option<Duration>,
    /// Name of the run for displays.
    pub(crate) name: String,
    /// Message about the number and duration of the runs that follow.
    pub(crate) after: String,
}

/// A finished run of a child process.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) folder: PathBuf,
    pub(crate) record: Record,
    pub(crate) seconds: f64,
}

/// Reason why a child process produced no usable run.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The run failed. Contains its exit code and its output.
    Run(Exit, String),
    /// The run shows nothing about the plan. Contains the reason, a sentence without its full stop.
    Undecided(String),
}

/// Total duration of the remaining runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remaining {
    /// Shortest and longest duration. A run can still take longer.
    Usually(Duration, Duration),
    Between(Duration, Duration),
    AtMost(Duration),
}

/// Returns a description of the number of remaining runs and their duration.
pub(crate) fn after(kind: &str, runs: usize, remaining: Option<Remaining>) -> String {
    let ending = if runs == 1 { "" } else { "s" };
    let clock = |time: Duration| {
        let all = time.as_secs();
        format!("{:02}:{:02}", all / 60, all % 60)
    };
    let range = |least: Duration, most: Duration| {
        let (least, most) = (clock(least), clock(most));
        if least == most { most } else { format!("{least} to {most}") }
    };
    let time = match remaining {
        _ if runs == 0 => return String::new(),
        None => return format!("then {runs} {kind}{ending}"),
        Some(Remaining::Usually(least, most)) => format!("usually {}", range(least, most)),
        Some(Remaining::Between(least, most)) => format!("about {}", range(least, most)),
        Some(Remaining::AtMost(most)) => format!("at most about {}", clock(most)),
    };
    format!("then up to {runs} {kind}{ending}, {time}")
}

/// Starts a run and waits for its end. `enough` is called regularly with the record; when it returns true, the run
/// is stopped.
pub(crate) fn run(
    asked: &Asked<'_>,
    interrupt: &Interrupt,
    mut enough: impl FnMut(&Record) -> bool,
) -> Result<Made, Failed> {
    let failed = |words: String| Failed::Run(Exit::Aborted, words);
    fs::create_dir_all(&asked.folder)
        .map_err(|error| failed(format!("{}: {error}", asked.folder.display())))?;
    let output = asked.folder.join("output.txt");
    let start = Instant::now();
    let mut process =
        spawn(asked, &output).map_err(|error| failed(format!("cannot start a run: {error}")))?;
    let (mut read, mut stopped, mut obeyed) = (start, false, 0);
    let (mut late, mut last_late) = (0, start);
    let mut shown = Shown::of(asked);
    let status = loop {
        match process.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(error) => return Err(failed(format!("cannot wait for a run: {error}"))),
        }
        if interrupt.asked() > obeyed {
            obeyed = interrupt.asked();
            signal(&process);
        }
        if is_late(asked, start) && late < LATE_SIGNALS && last_late.elapsed() >= READ {
            // An overloaded target can delay the end for minutes, so the first signal requests a graceful stop and
            // the second one an immediate stop.
            (stopped, late, last_late) = (true, late + 1, Instant::now());
            signal(&process);
        }
        if !stopped && obeyed == 0 && read.elapsed() >= READ {
            read = Instant::now();
            let record = own_folder(&asked.folder).and_then(|folder| results::of_run(&folder).ok());
            if let Some(record) = record {
                shown.show(&record, read.elapsed());
                if enough(&record) {
                    stopped = true;
                    signal(&process);
                }
            }
        }
        shown.refresh(&asked.folder);
        std::thread::sleep(LOOK);
    };
    shown.clear();
    if interrupt.asked() > 0 {
        return Err(Failed::Interrupted);
    }
    let code = status.code().unwrap_or(-1);
    if !is_fine(code, stopped) {
        let exit = match code {
            2 => Exit::Usage,
            3 => Exit::Plan,
            8 => Exit::TooSmall,
            _ => Exit::Aborted,
        };
        return Err(Failed::Run(exit, fs::read_to_string(&output).unwrap_or_default()));
    }
    made(asked, code, start)
}

/// Display of a run on a terminal, read from the run's record.
struct Shown {
    screen: Option<Screen>,
    view: View,
    /// Time at which the record was last read.
    read: Instant,
    /// Duration of the last reading of the record.
    took: Duration,
}

impl Shown {
    fn of(asked: &Asked<'_>) -> Self {
        let mut view = View::default();
        view.set_heading(&asked.name, &asked.after, asked.duration);
        let (screen, took) = (Screen::new(Stream::Err), Duration::ZERO);
        Self { screen, view, read: Instant::now(), took }
    }

    fn show(&mut self, record: &Record, took: Duration) {
        (self.read, self.took) = (Instant::now(), took);
        if let Some(screen) = &mut self.screen {
            self.view.follow_record(record);
            screen.draw(&self.view);
        }
    }

    /// Rereads the record about once a second. A long record is read less often, because each reading starts at the
    /// beginning of the file.
    fn refresh(&mut self, folder: &Path) {
        let Some(screen) = &mut self.screen else { return };
        if self.read.elapsed() < SHOW.max(self.took * 100) {
            screen.refresh(&self.view);
            return;
        }
        let start = Instant::now();
        match own_folder(folder).and_then(|folder| results::of_run(&folder).ok()) {
            Some(record) => self.show(&record, start.elapsed()),
            None => self.read = start,
        }
    }

    fn clear(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.clear();
        }
    }
}

/// Returns true if a run with this exit code has finished and has a record: it passed, this process stopped it, one
/// of its own criteria was missed or undecided, or rows were lost.
fn is_fine(code: i32, stopped: bool) -> bool {
    matches!(code, 0 | 4 | 6 | 9) || stopped && code == 130
}

/// Returns the finished run with its record.
fn made(asked: &Asked<'_>, code: i32, start: Instant) -> Result<Made, Failed> {
    let failed = |words: String| Failed::Run(Exit::Aborted, words);
    let folder =
        own_folder(&asked.folder).ok_or_else(|| failed("the run left no folder".to_owned()))?;
    let record = results::of_run(&folder).map_err(|message| without_record(&folder, &message))?;
    if code == 9 && record.frame.ending == Ending::Unknown {
        return Err(without_record(&folder, "its record has no end"));
    }
    Ok(Made { folder, record, seconds: start.elapsed().as_secs_f64() })
}

/// Free disk space in bytes below which the disk counts as saturated.
const FULL: u64 = 1 << 20;

/// Returns the failure of a run whose record is missing or truncated. The usual cause is a full disk.
fn without_record(folder: &Path, message: &str) -> Failed {
    let room = rustix::fs::statvfs(folder).map(|disk| disk.f_bavail * disk.f_frsize);
    match room {
        Ok(left) if left < FULL => Failed::Run(
            Exit::Lost,
            format!(
                "the disk of {} is full ({} KiB left), and the run's record found no room: make room there, or name another folder with --runs\n",
                folder.display(),
                left >> 10
            ),
        ),
        _ => Failed::Run(Exit::Aborted, format!("{message}\n")),
    }
}

/// True if a run exceeds its planned duration by more than `LATE`.
fn is_late(asked: &Asked<'_>, start: Instant) -> bool {
    asked.duration.is_some_and(|duration| start.elapsed() > duration + LATE)
}

fn spawn(asked: &Asked<'_>, output: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("run")
        .arg(asked.plan)
        .args(asked.options)
        .arg("--quiet")
        .arg("--runs")
        .arg(&asked.folder);
    match asked.load {
        Load::Plan => {}
        Load::Users(users) => {
            command.args(["--users", &users.to_string()]);
        }
        Load::Rate(rate) => {
            command.args(["--rps", &rate.to_string()]);
        }
    }
    let times = [("--ramp", asked.ramp), ("--duration", asked.duration)];
    for (option, time) in times {
        if let Some(time) = time {
            command.args([option, &format!("{}ms", time.as_millis())]);
        }
    }
    let printed = File::create(output)?;
    command
        .stdin(Stdio::null())
        .stdout(printed.try_clone()?)
        .stderr(printed)
        .process_group(0)
        .spawn()
}

/// Sends SIGINT to the child. The first signal stops it gracefully, the second one immediately.
fn signal(process: &Child) {
    if let Some(pid) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        // The child may have ended in the meantime, so errors are ignored.
        let _ = kill_process(pid, Signal::INT);
    }
}

/// Returns the folder that the run has created in `parent`.
fn own_folder(parent: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(parent).ok()?;
    entries.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir())
}
