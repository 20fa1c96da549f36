//! The live page of a run (`--web`).
//!
//! The run's thread only copies each second and queues the copy. Threads of low priority do the rest: one computes
//! the metrics and the sentences of the verdict, and the server's threads write pages and events. If these threads
//! fall far behind, seconds are missing on the page, but never in the run's record.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::report::live::{Course, Facts, Shell, Told, page};
use ::report::model::Known;
use record::{Follower, Now};
use serde_json::json;
use web::{Answer, Feed, Method, Right, Site};

use super::control::{self, Changeable};
use super::links::print_links;
use crate::args::request::Request;
use crate::exit::Exit;
use crate::judge::verdict;
use crate::operator::console::Console;
use crate::operator::ctl::Asker;
use crate::results::file;

/// Largest number of seconds that may be queued for conversion into events.
const WAITING: usize = 60;
/// Minimum time between two evaluations of the verdict's rules.
const BETWEEN_VERDICTS: Duration = Duration::from_secs(5);
/// Minimum pause after an evaluation of the rules, as a multiple of the duration of that evaluation.
const REST: u32 = 30;
/// Time for which open pages can fetch the report after the run has ended.
const LAST_TIME: Duration = Duration::from_secs(10);
/// Nice value of the thread that builds events, which gives it a lower priority than the threads that run users.
const NICE: i32 = 10;
/// Content security policy of a report. It isolates the page whatever its content is: the report cannot read the
/// token and cannot reach any host.
pub(super) const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-modals allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The live page of a run.
pub(crate) struct LivePage {
    shared: Arc<Shared>,
    server: web::Server,
    /// Handle of the thread that builds events. The thread ends with the run.
    events: OnceLock<JoinHandle<()>>,
}

/// State that the live page's threads share.
struct Shared {
    shell: Shell,
    feed: Arc<Feed>,
    course: Mutex<Course>,
    /// Channel for control requests to the run, and the names of the supported requests. Set when the run has
    /// started.
    run: OnceLock<(Asker, Vec<&'static str>)>,
    /// Address and file of the report. Set when the run has ended.
    report: OnceLock<(String, PathBuf)>,
    /// Number of times that pages have fetched the report.
    fetched: AtomicUsize,
}

struct OfShared(Arc<Shared>);

/// Sender of a copy of each second to the thread that builds events.
struct Copies {
    to: SyncSender<Box<Told>>,
}

impl Follower for Copies {
    fn second(&mut self, now: &Now<'_>) {
        // If the queue is full, the second is missing on the live page.
        let _ = self.to.try_send(Box::new(Told::from(now)));
    }
}

impl LivePage {
    /// Starts the server of the live page if `--web` is set, and prints the links. Returns the exit code as `Err` if
    /// the server cannot start.
    pub(crate) fn listen(request: &Request, console: &mut Console) -> Result<Option<Self>, Exit> {
        let Some(address) = &request.web else { return Ok(None) };
        let shared = Arc::new(Shared {
            shell: page(verdict::language(request.lang)),
            feed: Arc::new(Feed::new()),
            course: Mutex::default(),
            run: OnceLock::new(),
            report: OnceLock::new(),
            fetched: AtomicUsize::new(0),
        });
        let feed = Arc::clone(&shared.feed);
        let server = web::Server::start(address, OfShared(Arc::clone(&shared)), feed)
            .map_err(|error| console.fail(&format!("--web={address}: {error}"), Exit::Usage))?;
        print_links("Live page", &server, console);
        Ok(Some(Self { shared, server, events: OnceLock::new() }))
    }

    /// Announces the start of the run on the page, with the name of its folder and the data from which its cost is
    /// computed. Returns the observer that receives each second.
    pub(crate) fn begin(
        &self,
        (folder, cost): (Option<&Path>, Known),
        ask: Asker,
        load: Changeable,
    ) -> Box<dyn Follower> {
        let run = folder.and_then(Path::file_name).unwrap_or_default();
        let run = run.to_string_lossy().into_owned();
        *self.shared.course() = Course::new(Facts { run, cost, ..Facts::default() });
        let _ = self.shared.run.set((ask, control::possible(load)));
        let (to, from) = sync_channel(WAITING);
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("live page".into());
        // Without this thread the page stays empty, but the run is not affected.
        if let Ok(thread) = thread.spawn(move || shared.follow(&from)) {
            let _ = self.events.set(thread);
        }
        Box::new(Copies { to })
    }

    /// Ends the live page after the run's last second. Open pages receive the report if there is one: the program waits
    /// for them for at most [`LAST_TIME`]. Without open pages it does not wait.
    pub(crate) fn end(&self, folder: Option<&Path>) {
        let Shared { feed, report, fetched, .. } = &*self.shared;
        let end = Instant::now() + LAST_TIME;
        let left = || end.saturating_duration_since(Instant::now());
        let are_told = || self.events.get().is_none_or(JoinHandle::is_finished);
        while !are_told() && !left().is_zero() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let file = folder.map(|folder| folder.join(file::FILE)).filter(|file| file.exists());
        if let (Some(file), Ok(secret)) = (file, web::random()) {
            let _ = report.set((format!("/report/{secret}"), file));
        }
        let address = report.get().map(|report| &report.0);
        feed.publish("end", &json!({ "report": address }).to_string());
        feed.close();
        let told = feed.wait_for_readers(left());
        while address.is_some() && fetched.load(Ordering::Relaxed) < told && !left().is_zero() {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.server.wait_for_clients(left());
    }
}

impl Shared {
    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds events from the queued seconds until the run ends.
    fn follow(&self, from: &Receiver<Box<Told>>) {
        let _ = rustix::process::setpriority_process(None, NICE);
        let mut judge_at = Instant::now() + BETWEEN_VERDICTS;
        for told in from {
            // The lock is held until the events are published, so that no page gets a state without the events that
            // led to it.
            let mut course = self.course();
            for (event, data) in course.add(*told) {
                self.feed.publish(event, &data.to_string());
            }
            if Instant::now() >= judge_at && self.feed.readers() > 0 {
                let began = Instant::now();
                if let Some((event, data)) = course.judge() {
                    self.feed.publish(event, &data.to_string());
                }
                judge_at = Instant::now() + BETWEEN_VERDICTS.max(began.elapsed() * REST);
            }
        }
    }

    fn start(&self, right: Right) -> Answer {
        let course = self.course();
        let may = right == Right::Change;
        let controls = self.run.get().filter(|_| may).map(|run| &run.1[..]).unwrap_or_default();
        let start = json!({
            "page": course.page(), "now": course.now(), "read_only": !may, "last_id": self.feed.newest(), "controls": controls,
        });
        Answer::json(start.to_string())
    }

    fn report(&self, path: &str) -> Option<Answer> {
        let (address, file) = self.report.get()?;
        let html = std::fs::read(file).ok().filter(|_| path == address)?;
        self.fetched.fetch_add(1, Ordering::Relaxed);
        Some(Answer::page(html, REPORT_POLICY))
    }
}

impl Site for OfShared {
    fn answer(&self, request: &web::Request, right: Right) -> Answer {
        let shared = &self.0;
        match (request.method, request.path.as_str()) {
            (Method::Get, "/") => Answer::page(shared.shell.html.as_bytes(), &*shared.shell.policy),
            (Method::Get, "/api/page") => shared.start(right),
            (Method::Get, "/api/events") => {
                let behind = request.header("last-event-id").and_then(|id| id.parse().ok());
                Answer::events(behind)
            }
            (Method::Post, "/api/control") => {
                let Some((ask, _)) = shared.run.get() else { return Answer::status(409) };
                let done = control::obey(&request.body, ask);
                done.map_or_else(
                    || Answer::status(400),
                    |done| Answer::json(json!(done).to_string()),
                )
            }
            (Method::Get, path) => shared.report(path).unwrap_or_else(|| Answer::status(404)),
            (Method::Post, _) => Answer::status(404),
        }
    }
}
