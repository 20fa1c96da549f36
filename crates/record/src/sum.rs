//! The sum of many parts. Histograms are added bin by bin, because merging each one into a growing list would cost the
//! length of the list per part. After [`Sum::take`] the sum is empty and can be reused.

use stats::hist::Adder;

use crate::second::Part;

#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    /// All metrics of the sum except its histograms.
    pub(crate) numbers: Part,
    service: Adder,
    /// Response times; `None` as long as they equal the service times of all added parts.
    response: Option<Adder>,
    failed: Adder,
    /// Unused buffer for the response times of the next sum.
    spare: Adder,
}

/// Mutable references to the histograms of a sum.
pub(crate) struct Times<'s> {
    pub(crate) service: &'s mut Adder,
    pub(crate) response: Option<&'s mut Adder>,
    pub(crate) failed: &'s mut Adder,
}

impl Sum {
    pub(crate) fn add(&mut self, part: &Part) {
        self.numbers.add_numbers(part);
        let times = self.times(!part.response.is_empty());
        if let Some(response) = times.response {
            response.add(part.response());
        }
        times.service.add(&part.service);
        times.failed.add(&part.failed);
    }

    /// Returns the histograms of the sum, to add those of a part. `has_response` is true if the part has its own
    /// response times.
    pub(crate) fn times(&mut self, has_response: bool) -> Times<'_> {
        if has_response && self.response.is_none() {
            let mut response = std::mem::take(&mut self.spare);
            response.add_sum(&self.service);
            self.response = Some(response);
        }
        let Self { service, response, failed, .. } = self;
        Times { service, response: response.as_mut(), failed }
    }

    /// Returns the sum and resets it to empty.
    pub(crate) fn take(&mut self) -> Part {
        let mut part = std::mem::take(&mut self.numbers);
        part.service = self.service.take();
        if let Some(mut response) = self.response.take() {
            part.response = response.take();
            self.spare = response;
        }
        part.failed = self.failed.take();
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(from: u32, response: Option<u32>) -> Part {
        let mut part = Part {
            count: 3,
            elapsed: u64::from(from),
            longest: u64::from(from),
            ..Part::default()
        };
        (from..from + 3).for_each(|bin| part.service.add(bin, 2));
        if let Some(bin) = response {
            part.response.add(bin, 6);
        }
        part.failed.add(from, 1);
        part.slots[1] = from;
        part.phases.late = u64::from(from);
        part
    }

    #[test]
    fn a_sum_is_what_merging_makes() {
        let mut sum = Sum::default();
        for responses in
            [[None; 4], [None, None, Some(9000), None], [Some(70), None, Some(5), None]]
        {
            let mut merged = Part::default();
            for (from, response) in [0, 62, 27_000, 63].into_iter().zip(responses) {
                let part = part(from, response);
                merged.merge(&part);
                sum.add(&part);
            }
            let taken = sum.take();
            assert_eq!(taken, merged);
            assert_eq!(taken.response.is_empty(), responses == [None; 4]);
            assert_eq!(taken.service.len(), 10);
            assert_eq!(sum.take(), Part::default(), "it is empty again");
        }
    }
}
