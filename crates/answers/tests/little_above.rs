//! A semaphore with 100 permits and 120 users: the load is little above the limit, so few requests fail. Other tests
//! have equally frequent failures without a limit.
mod situations;

use answers::random::Random;
use answers::rules;
use record::Record;
use situations::{Answer, MS, Places, S, Users, about, bad, good, run, users};
use stats::Outcome;

fn says(record: &Record) -> String {
    let findings = rules::verdict(record).findings;
    let found = findings.into_iter().find(|finding| finding.id == "fails_above");
    found.map(|finding| finding.words.en).unwrap_or_default()
}

fn error(takes: u64) -> Answer {
    bad(takes, Outcome::Status, "500", "Internal Server Error")
}

/// Returns a random time in µs that hardly varies around 100 ms.
fn narrow(random: &mut Random) -> u64 {
    about(100 * MS, random)
}

/// Returns a random time in µs with an exponential distribution and a mean of about 100 ms.
fn wide(random: &mut Random) -> u64 {
    (-100_000.0 * (1.0 - random.uniform()).max(1e-9).ln()) as u64 + 100
}

/// Returns a load of 120 users without pauses that all start within `ramp` seconds.
fn load(ramp: u64, seed: u64) -> Users {
    Users { seed, ..users(120).ramp(ramp).seconds(90) }
}

/// Returns a run on a semaphore with 100 permits. Refusals take as long as successful responses.
fn semaphore(load: &Users, takes: fn(&mut Random) -> u64) -> Record {
    let mut places = Places::new(100);
    run(load, move |request, random| {
        let (takes, refused) = (takes(random), takes(random));
        if places.take(request.at, takes) { good(takes) } else { error(refused) }
    })
}

/// Returns a run in which `fails` selects the requests that fail.
fn failing(
    load: &Users,
    takes: fn(&mut Random) -> u64,
    fails: impl Fn(u64, u64, &mut Random) -> bool,
) -> Record {
    run(load, move |request, random| {
        let takes = takes(random);
        if fails(request.at, request.number, random) { error(takes) } else { good(takes) }
    })
}

fn share_of_errors(record: &Record) -> f64 {
    let (count, errors) = record.seconds[20..]
        .iter()
        .fold((0, 0), |sum, second| (sum.0 + second.all.count, sum.1 + second.all.errors));
    errors as f64 / count as f64
}

#[test]
fn a_limit_little_below_the_load_is_found_as_users_come() {
    for seed in 1..=3 {
        for takes in [narrow, wide] {
            for ramp in [10, 40] {
                let record = semaphore(&load(ramp, seed), takes);
                let said = says(&record);
                let words = "Errors begin above about 100 requests in flight (";
                assert!(said.starts_with(words), "{seed} {ramp}: {said}");
                let share = share_of_errors(&record);
                assert!((0.1..0.18).contains(&share), "{share}");
            }
        }
    }
}

#[test]
fn a_limit_little_below_a_constant_load_is_found_where_times_vary() {
    for seed in 1..=3 {
        let said = says(&semaphore(&load(1, seed), wide));
        let words = "About 100 requests at once (";
        assert!(said.starts_with(words) && said.contains("a limit of 100"), "{seed}: {said}");
    }
}

#[test]
fn as_many_errors_without_a_limit_are_none() {
    for seed in 1..=3 {
        for takes in [narrow, wide] {
            for ramp in [1, 10, 40] {
                let load = load(ramp, seed);
                let chance = failing(&load, takes, |_, _, random| random.uniform() < 1.0 / 6.0);
                assert_eq!(says(&chance), "", "by chance, {seed} {ramp}");
                let turns = failing(&load, takes, |_, number, _| number.is_multiple_of(6));
                assert_eq!(says(&turns), "", "one of six instances, {seed} {ramp}");
                // The failures begin when 100 users are active.
                let from = ramp * S * 100 / 120;
                let dies =
                    failing(&load, takes, |at, number, _| at > from && number.is_multiple_of(6));
                assert_eq!(says(&dies), "", "one of six dies, {seed} {ramp}");
                let begins = failing(&load, takes, |at, _, random| {
                    at > from && random.uniform() < 1.0 / 6.0
                });
                assert_eq!(says(&begins), "", "chance that begins, {seed} {ramp}");
            }
        }
    }
}

/// Under a constant load with times that hardly vary, a semaphore looks like one failing instance of six. So the rule
/// reports nothing.
#[test]
fn a_limit_that_looks_like_turns_is_not_guessed() {
    for seed in 1..=3 {
        assert_eq!(says(&semaphore(&load(1, seed), narrow)), "");
    }
}
