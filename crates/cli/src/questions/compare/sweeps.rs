//! Two sweeps: their points at the same loads are compared, each with its own intervals.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::sweep::FILE;
use super::super::{place, results};
use super::change::FailIf;
use super::{Compared, Pair, exit, text};
use crate::exit::Exit;
use crate::flags::CompareFlags;
use crate::terminal;

/// A sweep's file, as far as a comparison reads it.
#[derive(Debug, Deserialize)]
struct Swept {
    axis: String,
    points: Vec<Point>,
}

#[derive(Debug, Deserialize)]
struct Point {
    load: f64,
    folder: PathBuf,
}

pub(super) fn is_sweep(path: &Path) -> bool {
    path.join(FILE).is_file()
}

fn read(path: &Path) -> Result<Swept, String> {
    let file = path.join(FILE);
    let wrong = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", file.display());
    let text = fs::read(&file).map_err(|error| wrong(&error))?;
    let mut swept: Swept = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
    // A folder that was moved keeps its runs below it.
    for point in swept.points.iter_mut().filter(|point| !point.folder.exists()) {
        let end: Vec<_> = point.folder.components().rev().take(2).collect();
        point.folder = end.into_iter().rev().fold(path.to_owned(), |path, part| path.join(part));
    }
    Ok(swept)
}

pub(super) fn run(flags: &CompareFlags, a: &Path, b: &Path, fail_if: &FailIf) -> Exit {
    let compared = match compare(flags, a, b, fail_if) {
        Ok(compared) => compared,
        Err(message) => return super::fail(&message, Exit::Usage),
    };
    if flags.output.json {
        terminal::json(&place::json(&compared));
    } else {
        terminal::out(&text::sweeps(&compared));
    }
    exit(&compared)
}

fn compare(
    flags: &CompareFlags,
    a: &Path,
    b: &Path,
    fail_if: &FailIf,
) -> Result<Vec<Compared>, String> {
    let (of_a, of_b) = (read(a)?, read(b)?);
    if of_a.axis != of_b.axis {
        return Err(format!(
            "the sweeps cannot be compared: A is over {}, B over {}",
            of_a.axis, of_b.axis
        ));
    }
    let mut compared = Vec::new();
    for point in &of_a.points {
        let Some(other) = of_b.points.iter().find(|other| other.load == point.load) else {
            continue;
        };
        let (record_a, record_b) =
            (results::of_run(&point.folder)?, results::of_run(&other.folder)?);
        let name = |side: &Path| format!("{} at {} {}", side.display(), point.load, of_a.axis);
        let pair = Pair {
            names: (name(a), name(b)),
            a: std::slice::from_ref(&record_a),
            b: std::slice::from_ref(&record_b),
        };
        compared.push(pair.compare(flags, fail_if));
    }
    if compared.is_empty() {
        return Err("the sweeps have no load in common".to_owned());
    }
    Ok(compared)
}
