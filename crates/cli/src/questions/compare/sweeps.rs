//! Comparison of two sweeps: points at the same load are compared, each with its own confidence intervals.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::place::{self, Reach};
use super::super::sweep::FILE;
use super::{Pair, Side};

/// The parts of a sweep's file that a comparison reads.
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

/// Loads that only one of two sweeps has, with their unit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Apart {
    a: Vec<String>,
    b: Vec<String>,
}

/// Returns the pairs of points at loads that both sweeps have.
pub(super) fn pairs(a: &Path, b: &Path, reach: Reach<'_>) -> Result<Vec<Pair>, String> {
    let (of_a, of_b): (Swept, Swept) = (place::read(a, FILE)?, place::read(b, FILE)?);
    if of_a.axis != of_b.axis {
        return Err(format!(
            "the sweeps cannot be compared: A is over {}, B over {}",
            of_a.axis, of_b.axis
        ));
    }
    let side = |sweep: &Path, point: &Point| {
        let side = Side::read(&reach.run(sweep, &point.folder)?, None)?;
        Ok::<_, String>(Side { name: sweep.display().to_string(), ..side })
    };
    let apart = Apart { a: missing(&of_a, &of_b), b: missing(&of_b, &of_a) };
    let mut pairs = Vec::new();
    for point in &of_a.points {
        let Some(other) = of_b.points.iter().find(|other| other.load == point.load) else {
            continue;
        };
        pairs.push(Pair {
            a: side(a, point)?,
            b: side(b, other)?,
            at: Some(load(point, &of_a)),
            apart: apart.clone(),
        });
    }
    if pairs.is_empty() {
        return Err("the sweeps have no load in common".to_owned());
    }
    Ok(pairs)
}

/// Formats the load of a point: "1 user".
fn load(point: &Point, of: &Swept) -> String {
    let unit = if of.axis == "users" && point.load == 1.0 { "user" } else { &of.axis };
    format!("{} {unit}", point.load)
}

/// Returns the loads that only the first of two sweeps has.
fn missing(of: &Swept, other: &Swept) -> Vec<String> {
    let is_missing = |point: &&Point| other.points.iter().all(|theirs| theirs.load != point.load);
    of.points.iter().filter(is_missing).map(|point| load(point, of)).collect()
}

impl Apart {
    /// Returns each side (A or B) that has loads which the other side does not have, with a list of these loads.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&'static str, String)> {
        let sides = [("A", &self.a), ("B", &self.b)];
        let with_some = sides.into_iter().filter(|(_, loads)| !loads.is_empty());
        with_some.map(|(name, loads)| (name, loads.join(", ")))
    }

    /// Returns a line for each side that has loads which the other side does not have.
    pub(super) fn text(&self) -> String {
        let lines = self.lists().map(|(name, loads)| format!("only {name} has {loads}\n"));
        lines.collect::<Vec<_>>().concat()
    }
}
