//! Weighted Switch Controller (bzm): runs one child per pass, in proportion to the children's weights.
//!
//! Without random choice, each user counts its own passes and runs the child that is furthest below its share. Rows
//! of the table apply to the controller's enabled children in their order; the child names in the rows are ignored.

use jmx::{ElementId, Prop};

use crate::compile::Context;
use crate::env::Env;
use crate::plan::{ControllerKind, WeightedSwitch};

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let rows: Vec<String> = ctx
        .props(id)
        .collection("Weights")
        .iter()
        .map(Prop::members)
        .filter(|row| match row {
            [_, _] => true,
            [_, _, enabled] => enabled.text() == Some("true"),
            _ => false,
        })
        .map(|row| row[1].text().unwrap_or("").to_owned())
        .collect();
    ControllerKind::WeightedSwitch(WeightedSwitch {
        weights: rows.iter().map(|row| ctx.text(id, row)).collect(),
        random: ctx.flag(id, "IsRandomChoice", false),
    })
}

impl WeightedSwitch {
    /// Returns the index of the next child. `chance` is a random number in 0..1 for a random choice. Without random
    /// choice, the pass is counted in `total`, the user's passes, and in `counts`, the passes of each child. Returns
    /// `None` if a weight is not a number, which ends the thread in JMeter. Without random choice, also returns `None`
    /// if no child has a positive share.
    pub fn choose(
        &self,
        total: &mut u32,
        counts: &mut [u32],
        chance: f64,
        env: &mut Env<'_>,
    ) -> Option<usize> {
        let read =
            |text: &crate::template::Template| text.parsed(env, |text| text.parse::<i64>().ok());
        let weights = self.weights.iter().map(read).collect::<Option<Vec<i64>>>()?;
        let shares = shares(&weights);
        if self.random {
            return Some(drawn(&shares, chance));
        }
        let at = furthest_behind(&shares, *total, counts)?;
        *total = total.saturating_add(1);
        counts[at] = counts[at].saturating_add(1);
        Some(at)
    }
}

fn shares(weights: &[i64]) -> Vec<f64> {
    let sum = weights.iter().fold(0_i64, |sum, weight| sum.wrapping_add(*weight)) as f64;
    weights.iter().map(|weight| *weight as f64 / sum).collect()
}

fn drawn(shares: &[f64], chance: f64) -> usize {
    let mut left = chance * shares.iter().sum::<f64>();
    let passed = |share: &f64| {
        left -= share;
        left <= 0.0
    };
    shares.iter().position(passed).unwrap_or(0)
}

fn furthest_behind(shares: &[f64], total: u32, counts: &[u32]) -> Option<usize> {
    let largest = |of: &dyn Fn(usize) -> f64| {
        let mut found = None;
        let mut most = 0.0;
        for at in 0..shares.len() {
            if of(at) > most {
                (most, found) = (of(at), Some(at));
            }
        }
        found
    };
    let had = |at: usize| if total > 0 { f64::from(counts[at]) / f64::from(total) } else { 0.0 };
    largest(&|at| shares[at] - had(at)).or_else(|| largest(&|at| shares[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(weights: &[i64], passes: usize) -> String {
        let (mut total, mut counts) = (0, vec![0; weights.len()]);
        let mut next = || {
            let at = furthest_behind(&shares(weights), total, &counts).expect("a weight above 0");
            total += 1;
            counts[at] += 1;
            char::from(b'a' + at as u8)
        };
        (0..passes).map(|_| next()).collect()
    }

    #[test]
    fn who_is_furthest_behind_is_next() {
        assert_eq!(order(&[1, 1, 1], 6), "abcabc");
        assert_eq!(order(&[70, 20, 10], 10).matches('a').count(), 7);
        assert_eq!(order(&[0, 5], 3), "bbb");
    }

    #[test]
    fn without_weights_there_is_no_child() {
        assert_eq!(furthest_behind(&shares(&[0, 0]), 0, &[0, 0]), None);
        assert_eq!(furthest_behind(&shares(&[]), 0, &[]), None);
    }

    #[test]
    fn a_draw_falls_into_the_share_of_a_child() {
        let shares = shares(&[1, 2, 1]);
        let drawn: Vec<usize> =
            [0.0, 0.2, 0.3, 0.7, 0.8, 0.99].iter().map(|chance| drawn(&shares, *chance)).collect();
        assert_eq!(drawn, [0, 0, 1, 1, 2, 2]);
    }
}
