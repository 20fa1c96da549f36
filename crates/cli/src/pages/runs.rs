//! `throng web`: the runs of a folder in a browser.
//!
//! | module | holds |
//! |---|---|
//! | `about` | the facts of a run, sweep, search or comparison, as the list shows them |
//! | `catalogue` | the list, and the thread that keeps it up to date |
//! | `made` | reports and comparisons that are built on request |
//! | `changes` | names and tags of entries, and the deletion of entries |
//!
//! A request never contains a path. It contains the number of an entry in the list. Each report has a secret address,
//! which only the list contains.
mod about;
mod catalogue;
mod changes;
mod made;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use web::{Answer, Feed, Method, Right, Site};

use self::catalogue::Catalogue;
use self::made::Maker;
use super::control::Controlled;
use super::links::print_links;
use super::live::REPORT_POLICY;
use crate::args::flags::WebFlags;
use crate::exit::Exit;
use crate::judge::verdict;
use crate::operator::console::Console;
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;

/// State that requests and the list's thread share.
struct Runs {
    shell: ::report::live::Shell,
    catalogue: Arc<Catalogue>,
    maker: Maker,
    /// Name of the folder with the runs, shown on the page.
    folder: String,
}

/// Runs `throng web`: serves the list of runs until Ctrl-C.
pub(crate) fn run(flags: &WebFlags) -> Exit {
    let shown = flags.folder.display();
    let root = match flags.folder.canonicalize() {
        Ok(root) if root.is_dir() => root,
        Ok(_) => {
            return refused(&format!("{shown} is not a folder: name a folder that contains runs"));
        }
        Err(error) => {
            let help = "runs are in the folder runs, or where --runs has put them";
            return refused(&format!("cannot open {shown}: {error}; {help}"));
        }
    };
    // The signal handler is installed before the server starts, so that a signal always ends the program cleanly.
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let language = verdict::language(flags.lang);
    let feed = Arc::new(Feed::new());
    let catalogue = Arc::new(Catalogue::new(root.clone(), Arc::clone(&feed)));
    let site = Runs {
        shell: ::report::live::runs(language),
        catalogue: Arc::clone(&catalogue),
        maker: Maker::new(root.clone(), language),
        folder: root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let server = match web::Server::start(&flags.listen, site, feed) {
        Ok(server) => server,
        Err(error) => return refused(&format!("cannot listen on {}: {error}", flags.listen)),
    };
    let keeps = Arc::clone(&catalogue);
    let thread = std::thread::Builder::new().name("runs".into());
    if thread.spawn(move || keeps.keep_up()).is_err() {
        return Exit::Bug;
    }
    print_links("Runs", &server, &mut Console::new(false, false));
    while interrupt.asked() == 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    Exit::Ok
}

fn refused(message: &str) -> Exit {
    terminal::error(message);
    Exit::Usage
}

/// Request to set the name and the tags of the entry `id`. `ui/src/runs/protocol.ts` defines the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    id: u64,
    name: String,
    tags: Vec<String>,
}

/// Request to delete entries of the list. `ui/src/runs/protocol.ts` defines the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deleted {
    ids: Vec<u64>,
}

/// Request to compare the entry `a` with the entry `b`. `ui/src/runs/protocol.ts` defines the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sides {
    a: u64,
    b: u64,
}

/// Parses the body of a request and returns the answer of a handler. Answers 400 to a body that cannot be parsed.
fn with<T: for<'a> Deserialize<'a>>(
    request: &web::Request,
    answer: impl FnOnce(T) -> Controlled,
) -> Answer {
    match serde_json::from_slice(&request.body) {
        Ok(asked) => Answer::json(json!(answer(asked)).to_string()),
        Err(_) => Answer::status(400),
    }
}

impl Runs {
    fn list(&self, request: &web::Request, right: Right) -> Answer {
        let since = request.field("since").and_then(|since| since.parse().ok());
        let read_only = right != Right::Change;
        Answer::json(self.catalogue.since(since.unwrap_or(0), &self.folder, read_only))
    }

    /// Compares two entries of the list. If `keep` is true, the comparison becomes a new entry.
    fn compared(&self, sides: &Sides, keep: bool) -> Answer {
        let found = (self.catalogue.find(sides.a), self.catalogue.find(sides.b));
        let (Some(a), Some(b)) = found else { return Answer::status(404) };
        match self.maker.compare(&a, &b, keep) {
            Ok(address) => {
                // A saved comparison has the address of its entry in the list.
                let address = address.or_else(|kept| self.catalogue.look_for(&kept).ok_or(()));
                Answer::json(json!({ "ok": address.is_ok(), "address": address.ok() }).to_string())
            }
            Err(made::Refused::Busy) => Answer::busy(),
            Err(made::Refused::Words(words)) => {
                Answer::json(json!(Controlled::refused(words.clone(), words)).to_string())
            }
        }
    }

    fn report(&self, path: &str) -> Answer {
        let page = match self.catalogue.at(path) {
            Some(entry) => self.maker.report(&entry),
            None => match self.maker.comparison(path) {
                Some(page) => Ok(page),
                None => return Answer::status(404),
            },
        };
        match page {
            Ok(html) => Answer::page(html, REPORT_POLICY),
            Err(made::Refused::Busy) => Answer::busy(),
            Err(made::Refused::Words(words)) => Answer::words(409, &words),
        }
    }

    fn compare_to_look(&self, request: &web::Request) -> Answer {
        let side = |name| request.field(name).and_then(|id| id.parse().ok());
        match (side("a"), side("b")) {
            (Some(a), Some(b)) => self.compared(&Sides { a, b }, false),
            _ => Answer::status(400),
        }
    }
}

impl Site for Runs {
    fn answer(&self, request: &web::Request, right: Right) -> Answer {
        match (request.method, request.path.as_str()) {
            (Method::Get, "/") => Answer::page(self.shell.html.as_bytes(), &*self.shell.policy),
            (Method::Get, "/api/runs") => self.list(request, right),
            (Method::Get, "/api/events") => Answer::events(None),
            (Method::Get, "/api/compare") => self.compare_to_look(request),
            (Method::Post, "/api/compare") => match serde_json::from_slice(&request.body) {
                Ok(sides) => self.compared(&sides, true),
                Err(_) => Answer::status(400),
            },
            (Method::Post, "/api/name") => with(request, |Named { id, name, tags }| {
                changes::name(&self.catalogue, id, &name, &tags)
            }),
            (Method::Post, "/api/delete") => {
                with(request, |Deleted { ids }| changes::delete(&self.catalogue, &self.maker, &ids))
            }
            (Method::Get, path) => self.report(path),
            (Method::Post, _) => Answer::status(404),
        }
    }
}
