//! Settings of a run for the engine: properties, result files, and the JVM if the plan needs one.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::{Options, ResultFile};
use plan::plan::{ListenerKind, Plan};
use stats::jtl::Columns;

use super::traces::Traces;
use crate::args::request::Request;
use crate::exit::Exit;
use crate::inputs::java::{Machine, Needed};
use crate::inputs::properties::Properties;
use crate::print::log::Level;
use crate::results::folder::Folder;

/// Refuses output files that are folders, or pipes without a reader. They are checked before the run, not only at
/// its end.
pub(super) fn refuse_unwritable(request: &Request) -> Result<(), String> {
    let files = [
        ("-l", &request.jtl),
        ("-j", &request.log),
        ("--junit", &request.junit),
        ("--markdown", &request.markdown),
        ("--k6-summary", &request.k6_summary),
    ];
    let folder = files.into_iter().find_map(|(option, path)| {
        let path = path.as_ref().filter(|path| path.is_dir())?;
        Some(format!("{option}: {} is a folder; name a file in it", path.display()))
    });
    folder.map_or(Ok(()), Err)?;
    let unread = files.into_iter().find_map(|(option, path)| {
        let path = path.as_ref().filter(|path| is_unread_pipe(path))?;
        let shown = path.display();
        Some(format!(
            "{option}: {shown} is a pipe that nobody reads; start its reader first, or name a file"
        ))
    });
    unread.map_or(Ok(()), Err)
}

/// Longest wait until a program that was started at the same time as the run opens its pipe.
const READER: Duration = Duration::from_secs(5);
/// Interval for checking whether a program has opened its pipe.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Returns true if the path is a named pipe without a reader, which would block a writer forever. If the pipe has a
/// reader, the pipe stays open, so that the reader does not get an end of file after this check.
fn is_unread_pipe(path: &Path) -> bool {
    if !std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
        return false;
    }
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let begin = Instant::now();
    loop {
        match OpenOptions::new().write(true).custom_flags(nonblocking).open(path) {
            Ok(pipe) => {
                std::mem::forget(pipe);
                return false;
            }
            Err(error) if error.raw_os_error() != Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                return false;
            }
            Err(_) if begin.elapsed() >= READER => return true,
            Err(_) => std::thread::sleep(LOOK_AGAIN),
        }
    }
}

/// Returns the engine's options. Starts Java if it is needed in this process. `port` is the number of the control
/// port, if the plan uses it.
pub(crate) fn options(
    request: &Request,
    properties: &Properties,
    (plan, java): (&Plan, Option<Needed>),
    columns: &Columns,
    port: Option<u16>,
    traces: &mut Traces<'_>,
) -> Result<Options, Exit> {
    let mut options = Options {
        cores: request.cores as u32,
        properties: properties.to_map(),
        base_dir: request.folder(),
        results: result_files(request, &traces.folder, columns),
        seed: seed(),
        ..Options::default()
    };
    if let Some(port) = port {
        options.properties.insert("jmeterengine.nongui.port".into(), port.to_string());
    }
    if let Some(java) = java {
        let machine = start_java(java, plan, traces);
        let machine = machine.map_err(|message| traces.console.fail(&message, Exit::Plan))?;
        options.offload = Some(machine.offload);
        options.surroundings.home = machine.home;
        options.surroundings.plan.clone_from(&request.plan);
    }
    Ok(options)
}

/// Starts the JVM of this process, and prints the warnings about its class path.
fn start_java(java: Needed, plan: &Plan, traces: &mut Traces<'_>) -> Result<Machine, String> {
    traces.console.line(&java.words);
    traces.note(Level::Info, "throng", &java.words);
    let machine = java.start(plan, traces.folder.file("java-crash.log").as_deref())?;
    for warning in &machine.warnings {
        traces.warn("throng", warning);
    }
    Ok(machine)
}

/// With `-f`, deletes the result files of the command line and of the plan's listeners. If the file name of a
/// listener is an expression, its file is kept, as in JMeter, which searches for a file with the expression as its
/// name.
pub(crate) fn delete_results(request: &Request, plan: &Plan) -> Result<(), String> {
    if !request.force {
        return Ok(());
    }
    let listeners = plan.listeners.iter().filter_map(|listener| match &listener.kind {
        ListenerKind::File(writer) => writer.file.fixed(),
        ListenerKind::Saver(_) | ListenerKind::Backend(_) | ListenerKind::JavaBacked(_) => None,
    });
    let listeners = listeners.map(PathBuf::from);
    for path in request.jtl.iter().cloned().chain(listeners).filter(|path| path.is_file()) {
        std::fs::remove_file(&path)
            .map_err(|error| format!("cannot delete {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns the result files of the command line. Existing files are appended to.
fn result_files(request: &Request, folder: &Folder, columns: &Columns) -> Vec<ResultFile> {
    let own = folder.file(crate::results::columns::ROWS).filter(|_| request.jtl_in_folder);
    let file = |path: PathBuf| ResultFile {
        path,
        columns: columns.clone(),
        errors_only: false,
        successes_only: false,
    };
    request.jtl.iter().cloned().chain(own).map(file).collect()
}

/// Returns a random seed, different for every run.
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
