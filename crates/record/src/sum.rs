//! The sum of many parts, whose histograms are added bin by bin: to merge each with a list that grows would cost the length
//! of the list for each part. It is emptied by a take and used again.

use stats::hist::Adder;

use crate::second::Part;

#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    /// Without histograms.
    pub(crate) numbers: Part,
    service: Adder,
    /// As that of the service until a part has response times of its own.
    response: Option<Adder>,
    failed: Adder,
    /// Room for the next sum's response times.
    spare: Adder,
}

/// The histograms of a sum, for those who add to them.
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

    /// The histograms to which those of a part are to be added; `has_response`: it has response times of its own.
    pub(crate) fn times(&mut self, has_response: bool) -> Times<'_> {
        if has_response && self.response.is_none() {
            let mut response = std::mem::take(&mut self.spare);
            response.add_sum(&self.service);
            self.response = Some(response);
        }
        let Self { service, response, failed, .. } = self;
        Times { service, response: response.as_mut(), failed }
    }

    /// The sum. Nothing is left.
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
