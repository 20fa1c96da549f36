//! Marks the metrics of a comparison that lost samples could change. Lost samples are samples that could not be read.
//!
//! Nothing is known about lost samples: all of them may have failed, or none; all may be the slowest. A metric that
//! they could change gets the result [`Outcome::Unread`], so that the table does not show "no difference" for it.

use super::{CHECKS, Comparison, Difference, ERRORS, Outcome, Row, Settings, is_share};
use crate::unread::{MOST_UNREAD, Unread};
use crate::verdict::Words;

/// Largest share of lost samples at which shares of errors or of checked responses count as unchanged.
pub const FEW_LOST: f64 = 0.001;
/// Largest number of lost samples at which a percentile counts as unchanged, as a share of the samples beyond it.
const OF_TAIL: f64 = 0.1;

/// Numbers of the samples of A and of B that could not be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost([Unread; 2]);

impl Lost {
    pub fn new(a: Unread, b: Unread) -> Self {
        Self([a, b])
    }

    /// Returns the side that lost the larger share of its samples; `None` if neither side lost any.
    pub fn larger(&self) -> Option<(&'static str, &Unread)> {
        let [a, b] = &self.0;
        let weight = |of: &Unread| if of.is_open { 1.0 } else { of.share() };
        let larger = if weight(b) >= weight(a) { ("B", b) } else { ("A", a) };
        (weight(larger.1) > 0.0).then_some(larger)
    }

    /// Returns the larger of the two sides' shares of lost samples.
    pub fn share(&self) -> f64 {
        self.0[0].share().max(self.0[1].share())
    }

    /// Returns true if both sides lost too few samples to turn a significant change into an insignificant one.
    pub fn is_few(&self) -> bool {
        self.0.iter().all(|side| side.share() <= MOST_UNREAD && !side.is_open)
    }

    /// Returns true if the lost samples could decide whether a metric meets a condition. `holds` evaluates the
    /// condition for a relative or absolute change of the metric, and must be monotonic.
    pub fn could_turn(
        &self,
        row: &Row,
        difference: &Difference,
        holds: impl Fn(f64) -> bool,
    ) -> bool {
        let [a, b] = &self.0;
        if a.is_open || b.is_open {
            return true;
        }
        let turns = |(low, high): (f64, f64)| holds(low) != holds(high);
        match difference.metric {
            ERRORS => self.share() > 0.0 && turns(self.error_shares(row)),
            "rate" => {
                let change = difference.change;
                let low = (1.0 + change) * (1.0 - a.share()) - 1.0;
                let high = (1.0 + change) / (1.0 - b.share()).max(0.001) - 1.0;
                self.share() > MOST_UNREAD && turns((low, high))
            }
            metric => self.share() > least_of(metric),
        }
    }

    /// Returns the smallest and the largest possible difference of the error shares: all lost samples of one side
    /// failed, and none of the other side.
    fn error_shares(&self, row: &Row) -> (f64, f64) {
        let [a, b] = &self.0;
        let share = |failed: u64, all: u64, lost: u64, bad: u64| {
            (failed + bad) as f64 / (all + lost).max(1) as f64
        };
        let of = |failed: u64, all: u64, lost: u64| {
            (share(failed, all, lost, 0), share(failed, all, lost, lost))
        };
        let of_a = of(row.failed.0, row.recorded.0, a.lost);
        let of_b = of(row.failed.1, row.recorded.1, b.lost);
        (of_b.0 - of_a.1, of_b.1 - of_a.0)
    }

    /// True if the lost samples could change the result of a metric.
    fn could_change(&self, row: &Row, one: &Difference, settings: &Settings) -> bool {
        let [a, b] = &self.0;
        match one.result {
            Outcome::Different if self.is_few() => false,
            Outcome::Different => {
                let floor = match one.metric {
                    ERRORS | CHECKS => settings.error_floor,
                    _ => settings.floor,
                };
                let sign = one.change.signum();
                self.could_turn(row, one, |change| change * sign >= floor)
            }
            Outcome::None | Outcome::MayBeChance | Outcome::BelowFloor => {
                a.is_open || b.is_open || self.share() > least_of(one.metric)
            }
            Outcome::OtherWork | Outcome::MostlyFailed | Outcome::Unknown | Outcome::Unread => {
                false
            }
        }
    }
}

/// Returns the share of lost samples above which they could change a metric.
fn least_of(metric: &str) -> f64 {
    let percent = metric.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok());
    match percent {
        _ if is_share(metric) => FEW_LOST,
        Some(percent) => (1.0 - percent / 100.0) * OF_TAIL,
        None => MOST_UNREAD,
    }
}

impl Comparison {
    /// Marks the metrics that lost samples could change, and stores a message about the side that lost more.
    pub fn doubt_unread(&mut self, lost: &Lost, settings: &Settings) {
        let Some((side, larger)) = lost.larger() else { return };
        let rows = std::iter::once(&mut self.all).chain(&mut self.labels).chain(&mut self.series);
        for row in rows {
            let open = |one: &Difference| lost.could_change(row, one, settings);
            let open: Vec<bool> = row.differences.iter().map(open).collect();
            for (one, _) in row.differences.iter_mut().zip(open).filter(|(_, is_open)| *is_open) {
                one.result = Outcome::Unread;
            }
        }
        let Words { en, zh } = larger.lost_words();
        self.unread = Some(Words { en: format!("{side}: {en}"), zh: format!("{side}：{zh}") });
    }

    /// Marks one metric, because lost samples leave the criterion about it undecided.
    pub fn be_unread(&mut self, label: &str, metric: &str) {
        let Some(row) = self.row_mut(label) else { return };
        let found = row.differences.iter_mut().find(|one| one.metric == metric);
        if let Some(difference) = found {
            difference.result = Outcome::Unread;
        }
    }
}
