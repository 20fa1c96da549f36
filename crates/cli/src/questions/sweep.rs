//! `throng sweep`: throughput and response times over a row of loads, and the model that describes them, or none.

mod point;
mod text;
mod verdicts;

use std::path::PathBuf;

use answers::scaling::{self, Choice};
use serde::Serialize;

pub(crate) use point::{Figures, Point};

use super::child::{self, Asked, Failed, Load};
use super::place;
use crate::exit::Exit;
use crate::flags::SweepFlags;
use crate::interrupt::Interrupt;
use crate::terminal;

/// The file of a sweep in its folder.
pub(crate) const FILE: &str = "sweep.json";

/// A sweep as its file has it.
#[derive(Debug, Serialize)]
struct Sweep {
    plan: PathBuf,
    /// `users` or `rps`.
    axis: &'static str,
    precision: f64,
    points: Vec<Point>,
    model: Choice,
    /// The loads that were asked for and not run.
    not_run: Vec<f64>,
}

pub(crate) fn run(flags: SweepFlags) -> Exit {
    let axis = if flags.rps.is_empty() { "users" } else { "rps" };
    let mut loads: Vec<Load> = match axis {
        "users" => flags.users.iter().copied().map(Load::Users).collect(),
        _ => flags.rps.iter().copied().map(Load::Rate).collect(),
    };
    loads.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    loads.dedup();
    let folder = match place::create(&flags.output.runs, "sweep", &flags.plan) {
        Ok(folder) => folder,
        Err(message) => return fail(&message, Exit::Aborted),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let options = flags.passed.arguments();
    let mut sweep = Sweep {
        plan: flags.plan.clone(),
        axis,
        precision: flags.precision,
        points: Vec::new(),
        model: Choice::default(),
        not_run: Vec::new(),
    };
    let mut exit = Exit::Ok;
    for (number, load) in loads.iter().enumerate() {
        let asked = Asked {
            plan: &flags.plan,
            options: &options,
            folder: folder.join(format!("{axis}-{}", value(*load))),
            load: *load,
            ramp: Some(flags.ramp),
            duration: Some(flags.at_most),
            name: format!("point {} of {}, {}", number + 1, loads.len(), load.words()),
            after: child::after("point", loads.len() - number - 1, Some(flags.at_most)),
        };
        let least = flags.at_least.as_secs_f64();
        let enough = |record: &record::Record| point::is_known(record, least, flags.precision);
        match child::run(&asked, &interrupt, enough) {
            Ok(made) => {
                let point = Point::of(value(*load), &made, flags.precision);
                terminal::err(&format!("{}: {}\n", asked.name, text::line(&point)));
                sweep.points.push(point);
            }
            Err(failed) => {
                sweep.not_run = loads[number..].iter().copied().map(value).collect();
                exit = stopped(&asked.name, failed);
                break;
            }
        }
        save(&mut sweep, &folder);
    }
    if sweep.points.is_empty() {
        return exit;
    }
    let is_kept = tell(&mut sweep, &folder, flags.output.json);
    if !is_kept && exit == Exit::Ok { Exit::Lost } else { exit }
}

/// Prints the answer, even if its file finds no room; whether the file is there.
fn tell(sweep: &mut Sweep, folder: &std::path::Path, as_json: bool) -> bool {
    let path = save(sweep, folder);
    if as_json {
        terminal::json(&place::json(sweep));
    } else {
        terminal::out(&text::page(sweep));
        if let Some(path) = &path {
            terminal::out(&format!("\n{}\n", path.display()));
        }
    }
    path.is_some()
}

/// Chooses the model of what there is, and writes the file.
fn save(sweep: &mut Sweep, folder: &std::path::Path) -> Option<PathBuf> {
    let counted: Vec<scaling::Point> = sweep
        .points
        .iter()
        .filter(|point| point.excluded.is_none())
        .map(Point::for_model)
        .collect();
    sweep.model = scaling::choose(&counted);
    match place::write(folder, FILE, sweep) {
        Ok(path) => Some(path),
        Err(message) => {
            terminal::error(&message);
            None
        }
    }
}

/// Says why a run is missing; the exit code of that.
pub(crate) fn stopped(name: &str, failed: Failed) -> Exit {
    match failed {
        Failed::Interrupted => {
            terminal::warning("ended by you: what follows is what there is");
            Exit::Interrupted
        }
        Failed::Run(exit, output) => {
            let end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            terminal::err(&format!("{output}{end}"));
            fail(&format!("{name}: the run failed"), exit)
        }
    }
}

pub(crate) fn fail(message: &str, exit: Exit) -> Exit {
    terminal::error(message);
    exit
}

fn value(load: Load) -> f64 {
    match load {
        Load::Plan => 0.0,
        Load::Users(users) => f64::from(users),
        Load::Rate(rate) => rate,
    }
}
