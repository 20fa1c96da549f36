//! Fits of the models by linear least squares of relative errors: exact and deterministic.

use super::{Fit, Model, Point};
use crate::distribution::student_quantile;

/// Smallest error of a model that the AICc uses. A smaller error is replaced by this value, because metrics are not
/// measured more precisely.
const FLOOR: f64 = 1e-4;

/// Fits all models; returns those that could be fitted, the smallest AICc first.
pub(super) fn all(points: &[Point]) -> Vec<Fit> {
    let models = [(linear(points), 1), (plateau(points), 2), (usl(points), 3)];
    let mut fits: Vec<Fit> = models
        .into_iter()
        .filter_map(|(model, parameters)| Some(rated(points, model?, parameters)))
        .collect();
    fits.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    fits
}

/// Rates a model: its error, and the AICc n ln(RSS/n) + 2k + 2k(k+1)/(n-k-1). The variance is one of the k parameters.
fn rated(points: &[Point], model: Model, parameters: usize) -> Fit {
    let n = points.len() as f64;
    let error = (squares(points, &model) / n).sqrt();
    let k = parameters as f64 + 1.0;
    let few = if n > k + 1.0 { 2.0 * k * (k + 1.0) / (n - k - 1.0) } else { f64::INFINITY };
    Fit { model, error, aicc: n * 2.0 * error.max(FLOOR).ln() + 2.0 * k + few }
}

fn squares(points: &[Point], model: &Model) -> f64 {
    points.iter().map(|p| (1.0 - model.rate(p.load) / p.rate).powi(2)).sum()
}

/// Returns the slope λ with the least Σ(1 - λL/X)²: λ = Σ(L/X) / Σ(L/X)².
fn slope(points: &[Point]) -> Option<f64> {
    let (sum, squares) =
        points.iter().map(|p| p.load / p.rate).fold((0.0, 0.0), |(a, b), t| (a + t, b + t * t));
    (squares > 0.0).then(|| sum / squares)
}

fn linear(points: &[Point]) -> Option<Model> {
    slope(points).map(|slope| Model::Linear { slope })
}

/// Fits a plateau for each possible end of the line, with at least one point on each side; returns the best.
fn plateau(points: &[Point]) -> Option<Model> {
    let fitted = (1..points.len()).filter_map(|on_line| {
        let (line, flat) = points.split_at(on_line);
        let (sum, squares) =
            flat.iter().map(|p| 1.0 / p.rate).fold((0.0, 0.0), |(a, b), t| (a + t, b + t * t));
        Some(Model::Plateau { slope: slope(line)?, limit: sum / squares })
    });
    fitted.min_by(|a, b| squares(points, a).total_cmp(&squares(points, b)))
}

/// Returns the regressors of 1 = c₀·X/L + c₁·(L-1)X/L + c₂·(L-1)X, which is L/X = c₀ + c₁(L-1) + c₂L(L-1) with
/// weights (X/L)².
fn row(point: &Point) -> [f64; 3] {
    let (load, rate) = (point.load, point.rate);
    [rate / load, (load - 1.0) * rate / load, (load - 1.0) * rate]
}

/// Fits the law with γ = 1/c₀, α = c₁/c₀, β = c₂/c₀, none negative. Each of the four sets of non-zero parameters is
/// fitted, and the best is returned.
pub(super) fn usl(points: &[Point]) -> Option<Model> {
    let sets: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 1, 2]];
    let fitted = sets.into_iter().filter_map(|set| {
        let (found, _) = solve(points, set)?;
        let c = |i: usize| set.iter().position(|j| *j == i).map_or(0.0, |at| found[at]);
        (c(0) > 0.0 && c(1) >= 0.0 && c(2) >= 0.0).then(|| Model::Usl {
            gamma: 1.0 / c(0),
            alpha: c(1) / c(0),
            beta: c(2) / c(0),
        })
    });
    fitted.min_by(|a, b| squares(points, a).total_cmp(&squares(points, b)))
}

/// True if β is significantly above 0: its 95 % interval by the least-squares errors excludes 0.
pub(super) fn has_fall(points: &[Point]) -> bool {
    let set: &[usize] = if matches!(usl(points), Some(Model::Usl { alpha, .. }) if alpha > 0.0) {
        &[0, 1, 2]
    } else {
        &[0, 2]
    };
    let Some((found, inverse)) = solve(points, set).filter(|_| points.len() > set.len()) else {
        return false;
    };
    let df = (points.len() - set.len()) as f64;
    let residual = |point: &Point| {
        let row = row(point);
        1.0 - set.iter().zip(&found).map(|(i, c)| row[*i] * c).sum::<f64>()
    };
    let variance = points.iter().map(|p| residual(p).powi(2)).sum::<f64>() / df;
    let last = set.len() - 1;
    found[last] > student_quantile(0.975, df) * (variance * inverse[last][last]).sqrt()
}

/// Returns the coefficients of the columns in `set`, and the inverse of their normal matrix (Gauss-Jordan with scaled
/// columns).
fn solve(points: &[Point], set: &[usize]) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
    let k = set.len();
    let rows: Vec<[f64; 3]> = points.iter().map(row).collect();
    let scale: Vec<f64> =
        set.iter().map(|i| rows.iter().map(|r| r[*i] * r[*i]).sum::<f64>().sqrt()).collect();
    if points.len() < k || scale.iter().any(|s| *s <= 0.0) {
        return None;
    }
    // The normal matrix, augmented with the unit matrix.
    let mut m = vec![vec![0.0; 2 * k]; k];
    for (a, i) in set.iter().enumerate() {
        for (b, j) in set.iter().enumerate() {
            m[a][b] = rows.iter().map(|r| r[*i] * r[*j]).sum::<f64>() / scale[a] / scale[b];
        }
        m[a][k + a] = 1.0;
    }
    for column in 0..k {
        let pivot =
            (column..k).max_by(|a, b| m[*a][column].abs().total_cmp(&m[*b][column].abs()))?;
        m.swap(column, pivot);
        let divisor = m[column][column];
        if divisor.abs() < 1e-12 {
            return None;
        }
        m[column].iter_mut().for_each(|v| *v /= divisor);
        let pivot_row = m[column].clone();
        for (_, row) in m.iter_mut().enumerate().filter(|(r, _)| *r != column) {
            let factor = row[column];
            row.iter_mut().zip(&pivot_row).for_each(|(v, p)| *v -= factor * p);
        }
    }
    let right: Vec<f64> = set.iter().map(|i| rows.iter().map(|r| r[*i]).sum()).collect();
    let inverse: Vec<Vec<f64>> =
        (0..k).map(|a| (0..k).map(|b| m[a][k + b] / scale[a] / scale[b]).collect()).collect();
    let found = (0..k).map(|a| (0..k).map(|b| inverse[a][b] * right[b]).sum()).collect();
    Some((found, inverse))
}
