//! Rows of a forest plot: each table row has a small chart of a change with its interval, over a common axis.

use crate::captions::signed;
use crate::html::Html;

const WIDTH: f64 = 220.0;
/// Width in SVG units of the plot's margin at both ends of the axis, where half of a tick's text is drawn.
const SIDE: f64 = 30.0;

/// The axis of a forest plot, from `-most` to `most`.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    most: f64,
}

/// A change with its interval, and the size below which it does not matter.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub low: f64,
    pub change: f64,
    pub high: f64,
    pub floor: f64,
    pub tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Worse,
    Better,
    /// No significant difference.
    None,
}

impl Axis {
    /// Chooses an axis for these changes: a round limit that contains most intervals. A few wide intervals are cut.
    pub fn over(changes: &[Change]) -> Self {
        let mut ends: Vec<f64> =
            changes.iter().map(|one| one.low.abs().max(one.high.abs())).collect();
        ends.sort_by(f64::total_cmp);
        let wanted = ends.get(ends.len().saturating_sub(1) * 9 / 10).copied().unwrap_or(0.0);
        let largest = changes.iter().map(|one| one.change.abs()).fold(0.0, f64::max);
        let wanted = wanted.max(largest).max(0.05);
        let round = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
        Self { most: round.into_iter().find(|most| *most >= wanted).unwrap_or(wanted) }
    }

    fn x(&self, value: f64) -> f64 {
        WIDTH / 2.0 + (value / self.most).clamp(-1.0, 1.0) * (WIDTH / 2.0 - SIDE)
    }

    /// Draws the axis of the forest plot in the head of the table.
    pub fn head(&self, out: &mut Html) {
        out.raw("<svg class=\"forest\" viewBox=\"0 0 220 18\" aria-hidden=\"true\">");
        for value in [-self.most, 0.0, self.most] {
            let text =
                if value == 0.0 { "0".to_owned() } else { signed(value).replace(".0 %", " %") };
            out.raw("<text class=\"tick middle\" y=\"14\" x=\"").number(self.x(value));
            out.raw("\">").text(&text).raw("</text>");
        }
        out.raw("</svg>");
    }

    /// Draws the change of one table row with its interval.
    pub fn row(&self, out: &mut Html, of: &Change) {
        let x = |value: f64| self.x(value);
        out.raw("<svg class=\"forest\" viewBox=\"0 0 220 18\" role=\"img\" aria-label=\"");
        out.text(&format!("{} … {}", signed(of.low), signed(of.high))).raw("\">");
        out.raw("<rect class=\"shade\" y=\"0\" height=\"18\" x=\"").number(x(-of.floor));
        out.raw("\" width=\"").number(x(of.floor) - x(-of.floor)).raw("\"/>");
        out.raw("<line class=\"zero\" x1=\"110\" x2=\"110\" y1=\"0\" y2=\"18\"/>");
        out.raw(match of.tone {
            Tone::Worse => "<g class=\"series worse\">",
            Tone::Better => "<g class=\"series better\">",
            Tone::None => "<g class=\"series none\">",
        });
        out.raw("<line class=\"bar\" y1=\"9\" y2=\"9\" x1=\"").number(x(of.low));
        out.raw("\" x2=\"").number(x(of.high)).raw("\"/>");
        for (end, sign) in [(of.low, -1.0), (of.high, 1.0)] {
            // An arrow means that the interval continues beyond the axis; otherwise a cap marks its end.
            if end.abs() > self.most {
                let tip = x(end);
                out.raw("<path class=\"fill\" d=\"M").number(tip).raw(",9 L");
                out.number(tip - sign * 7.0).raw(",5 L").number(tip - sign * 7.0).raw(",13 Z\"/>");
            } else {
                out.raw("<line class=\"bar\" y1=\"6\" y2=\"12\" x1=\"").number(x(end));
                out.raw("\" x2=\"").number(x(end)).raw("\"/>");
            }
        }
        out.raw("<circle r=\"3.5\" cy=\"9\" class=\"");
        out.raw(if of.tone == Tone::None { "hollow" } else { "dot" }).raw("\" cx=\"");
        out.number(x(of.change)).raw("\"/></g></svg>");
    }
}
