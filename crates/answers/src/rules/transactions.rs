//! Reports transactions that failed by their own assertions: no request inside failed, so that no figure of requests
//! shows the failure.
//!
//! This check is not in the list of rules, because only plans with assertions on transactions with a parent sample have
//! such failures. It counts, and judges nothing: a single failure is reported.

use record::Record;
use stats::Transactions;
use stats::grouped::{count, things};

use super::figures::span;
use super::say::{found, words};
use crate::verdict::{About, Confidence, Finding, Verdict, Words, in_order};

pub(super) const ID: &str = "transactions_failed";

/// Adds the finding, if a transaction failed by its own assertions.
pub(super) fn add(verdict: &mut Verdict, record: &Record) {
    let mut sum = Transactions::default();
    for second in &record.seconds {
        sum.merge(&second.transactions(&record.labels));
    }
    if sum.own_failures > 0 {
        verdict.findings.push(finding(record, &sum));
        verdict.findings = in_order(std::mem::take(&mut verdict.findings));
    }
}

fn finding(record: &Record, sum: &Transactions) -> Finding {
    let own = count(sum.own_failures);
    let all = Words { en: things(sum.count, "transaction"), zh: count(sum.count) };
    let worst = worst(record).map_or_else(Words::default, |(name, own, all)| {
        let (own, all) = (count(own), count(all));
        words!(transactions_failed_worst(name, own, all))
    });
    found(ID, About::Run, Confidence::Certain, words!(transactions_failed_found(own, all, worst)))
        .with("own_failures", sum.own_failures as f64, "transactions", span(&record.seconds))
        .advise(words!(transactions_failed_advice))
}

/// Returns the label with the most such failures, with their number and the number of its transactions. `None` if there
/// is only one label of transactions.
fn worst(record: &Record) -> Option<(String, u64, u64)> {
    let mut sums = vec![(0, 0, 0); record.labels.len()];
    for second in &record.seconds {
        for (number, all, errors) in second.labels.counts() {
            let label = record.labels.get(number as usize).filter(|label| label.transaction);
            let Some(sum) = sums.get_mut(number as usize).filter(|_| label.is_some()) else {
                continue;
            };
            let checks = second.checks_of(Some(number), &record.labels);
            let of = Transactions::with(all, errors, checks);
            *sum = (sum.0 + of.own_failures, sum.1 + all, number);
        }
    }
    let known = sums.iter().filter(|sum| sum.1 > 0).count();
    let (own, all, number) = sums.into_iter().max_by_key(|sum| sum.0).filter(|_| known > 1)?;
    Some((record.labels[number as usize].name.to_string(), own, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings on a file in which "Order" fails `own` of ten times by its own assertion, and "Pay" fails
    /// once with its request.
    fn said(own: u32) -> Vec<String> {
        let mut text = String::from(
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,IdleTime\n",
        );
        let mut add = |at: u32, label: &str, request: bool, whole: bool| {
            let failing = u32::from(!request);
            let start = 1_700_000_000_000_u64 + u64::from(at);
            let message = format!(
                "\"Number of samples in transaction : 1, number of failing samples : {failing}\""
            );
            text += &format!("{start},20,in,200,OK,a,{request},,1,0\n");
            text += &format!("{start},50,{label},200,{message},a,{whole},,1,0\n");
        };
        (0..10).for_each(|n| add(n * 100, "Order", true, n >= own));
        add(1000, "Pay", false, false);
        let record = Record::of_rows(text.as_bytes()).expect("rows");
        let mut verdict = Verdict::default();
        super::add(&mut verdict, &record);
        verdict.findings.into_iter().map(|one| one.words.en).collect()
    }

    #[test]
    fn transactions_that_failed_by_themselves_are_counted() {
        assert!(said(0).is_empty(), "the failed transaction has a failed request");
        let words = "3 of 11 transactions failed by their own assertions: no request inside failed, so that figures of requests \
                     do not show it. The label with the most is \"Order\": 3 of 10.";
        assert_eq!(said(3), [words]);
    }
}
