//! Two sweeps: their points at the same loads are compared, each with its own intervals.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::place;
use super::super::sweep::FILE;
use super::{Pair, Side};

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

/// The points that both have.
pub(super) fn pairs(a: &Path, b: &Path) -> Result<Vec<Pair>, String> {
    let (of_a, of_b): (Swept, Swept) = (place::read(a, FILE)?, place::read(b, FILE)?);
    if of_a.axis != of_b.axis {
        return Err(format!(
            "the sweeps cannot be compared: A is over {}, B over {}",
            of_a.axis, of_b.axis
        ));
    }
    let side = |sweep: &Path, point: &Point| {
        let side = Side::read(&place::moved(sweep, &point.folder))?;
        Ok::<_, String>(Side { name: sweep.display().to_string(), ..side })
    };
    let mut pairs = Vec::new();
    for point in &of_a.points {
        let Some(other) = of_b.points.iter().find(|other| other.load == point.load) else {
            continue;
        };
        pairs.push(Pair {
            a: side(a, point)?,
            b: side(b, other)?,
            at: Some(format!("{} {}", point.load, of_a.axis)),
        });
    }
    if pairs.is_empty() {
        return Err("the sweeps have no load in common".to_owned());
    }
    Ok(pairs)
}
