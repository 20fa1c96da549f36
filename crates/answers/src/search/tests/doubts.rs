//! Searches in which some probes have findings about the generator, or too few samples.

use super::super::*;

const SETTINGS: Settings = Settings {
    least: 1.0,
    most: 1000.0,
    whole: true,
    width: 0.05,
    exceed: 0.5,
    seconds: 60.0,
    probes: 10,
};

/// Runs a search on a target that holds up to a limit. `doubt` returns true if the probe with this load and number
/// has a finding about the generator.
fn search(limit: f64, doubt: impl Fn(f64, usize) -> bool) -> (Answer, Vec<Probe>) {
    search_by(By::Generator, limit, doubt)
}

/// Reason why a probe is no evidence.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Generator,
    /// The probe has too few samples, and its samples are within the limit.
    Samples,
}

/// Runs a search like [`search`], in which probes are doubtful for the reason `by`.
fn search_by(by: By, limit: f64, doubt: impl Fn(f64, usize) -> bool) -> (Answer, Vec<Probe>) {
    let mut probes = Vec::new();
    loop {
        match next(&SETTINGS, &probes) {
            Step::Done(answer) => {
                assert_eq!(answer, so_far(&SETTINGS, &probes));
                return (answer, probes);
            }
            Step::Probe { load, purpose } => {
                let holds = load <= limit;
                let trials = vec![Trial { seconds: 60.0, good: holds, full: true }];
                let doubtful = doubt(load, probes.len());
                let undecided = doubtful && by == By::Samples && holds;
                let generator = doubtful && by == By::Generator;
                let holds = holds && !undecided;
                let (rate, margin) = (load.min(limit), Some(load / limit));
                probes.push(Probe {
                    load,
                    purpose,
                    rate,
                    trials,
                    holds,
                    margin,
                    noise: None,
                    certain: false,
                    undecided,
                    generator,
                });
            }
        }
    }
}

fn loads(probes: &[Probe]) -> Vec<f64> {
    probes.iter().map(|probe| probe.load).collect()
}

#[test]
fn the_generators_limit_is_said() {
    for limit in [f64::INFINITY, 500.0] {
        let (answer, probes) = search(limit, |load, _| load > 200.0);
        assert_eq!(answer.limit, Limit::Generator, "{:?}", loads(&probes));
        let lower = answer.lower.expect("an answer");
        assert!(lower > 100.0 && lower <= 200.0, "{answer:?}");
        assert!(!answer.doubtful);
    }
}

#[test]
fn a_limit_below_that_of_the_generator_is_the_targets() {
    let (answer, probes) = search(150.0, |load, _| load > 400.0);
    assert_eq!(answer.limit, Limit::Criteria, "{:?}", loads(&probes));
    assert!(answer.lower.is_some_and(|low| (140.0..=150.0).contains(&low)), "{answer:?}");
}

#[test]
fn a_doubtful_light_probe_does_not_end_the_search() {
    let (answer, probes) = search(150.0, |_, nth| nth == 0);
    assert_eq!((answer.limit, answer.doubtful), (Limit::Criteria, false), "{:?}", loads(&probes));
    assert!(answer.lower.is_some_and(|low| (140.0..=150.0).contains(&low)), "{answer:?}");
    // The overload probe may be doubtful as well, for example if the generator cannot make that load: it is then
    // repeated.
    let (answer, probes) = search(150.0, |load, nth| nth == 0 || load > 400.0);
    assert_eq!(loads(&probes)[..3], [1.0, 1000.0, 1.0]);
    assert_eq!((answer.limit, answer.doubtful), (Limit::Criteria, false), "{:?}", loads(&probes));
}

#[test]
fn a_doubtful_light_probe_that_fails_is_made_again() {
    let (answer, probes) = search(0.5, |_, nth| nth == 0);
    assert_eq!(loads(&probes), [1.0, 1.0]);
    assert_eq!((answer.lower, answer.limit), (None, Limit::Criteria));
    let (answer, probes) = search(0.5, |_, _| true);
    assert_eq!(loads(&probes), [1.0, 1.0]);
    assert_eq!((answer.lower, answer.limit), (None, Limit::Generator));
}

#[test]
fn a_light_probe_that_is_not_clear_and_then_doubtful_held() {
    let probe = |seconds, generator| Probe {
        load: 1.0,
        purpose: Purpose::Light,
        rate: 1.0,
        trials: vec![Trial { seconds, good: true, full: true }],
        holds: true,
        margin: None,
        noise: None,
        certain: false,
        undecided: false,
        generator,
    };
    let probes = [probe(25.0, false), probe(60.0, true)];
    assert_eq!(next(&SETTINGS, &probes[..1]), Step::Probe { load: 1.0, purpose: Purpose::Light });
    let overload = Step::Probe { load: 1000.0, purpose: Purpose::Overload };
    assert_eq!(next(&SETTINGS, &probes), overload);
}

#[test]
fn where_all_is_doubtful_there_is_no_answer() {
    let (answer, probes) = search(150.0, |_, _| true);
    assert_eq!(loads(&probes), [1.0, 1000.0, 1.0]);
    assert_eq!((answer.lower, answer.limit, answer.doubtful), (None, Limit::Generator, true));
}

#[test]
fn a_lower_bound_that_is_doubtful_is_said_to_be() {
    let (answer, probes) = search(1.5, |load, _| load == 1.0);
    assert_eq!((answer.lower, answer.upper), (Some(1.0), Some(2.0)), "{:?}", loads(&probes));
    assert_eq!((answer.limit, answer.doubtful), (Limit::Criteria, true));
}

#[test]
fn one_disturbed_probe_does_not_bound_the_search() {
    // The limit is found, whichever probe is disturbed.
    for disturbed in 0..6 {
        let (answer, probes) = search(150.0, |_, nth| nth == disturbed);
        assert_eq!(answer.limit, Limit::Criteria, "{disturbed}: {:?}", loads(&probes));
        let found = answer.lower.is_some_and(|low| (140.0..=150.0).contains(&low));
        assert!(found, "{disturbed}: {:?}: {answer:?}", loads(&probes));
    }
}

#[test]
fn a_load_that_held_is_not_doubted_for_a_lighter_one() {
    let probe = |load, purpose, generator| Probe {
        load,
        purpose,
        rate: load,
        trials: vec![Trial { seconds: 60.0, good: true, full: true }],
        holds: true,
        margin: None,
        noise: None,
        certain: false,
        undecided: false,
        generator,
    };
    let probes = [
        probe(1.0, Purpose::Light, false),
        probe(1000.0, Purpose::Overload, true),
        probe(32.0, Purpose::Narrow, true),
        probe(100.0, Purpose::Narrow, false),
    ];
    let answer = so_far(&SETTINGS, &probes);
    assert_eq!((answer.lower, answer.upper), (Some(100.0), Some(1000.0)));
    assert_eq!(answer.limit, Limit::Generator);
}

#[test]
fn a_light_probe_with_too_few_samples_only_starts_the_search() {
    let (answer, probes) = search_by(By::Samples, 150.0, |load, _| load == 1.0);
    assert_eq!((answer.limit, answer.undecided), (Limit::Criteria, false), "{:?}", loads(&probes));
    assert!(answer.lower.is_some_and(|low| (140.0..=150.0).contains(&low)), "{answer:?}");
    // No larger load holds, so that nothing is known to hold.
    let (answer, probes) = search_by(By::Samples, 1.5, |load, _| load == 1.0);
    assert_eq!((answer.lower, answer.upper), (None, Some(2.0)), "{:?}", loads(&probes));
    assert!(answer.undecided && !answer.doubtful && !answer.confirmed, "{answer:?}");
}

#[test]
fn loads_with_too_few_samples_are_measured_again_and_never_hold() {
    // The second probe of a load is longer.
    let (answer, probes) = search_by(By::Samples, 150.0, |_, nth| nth == 3);
    assert_eq!(answer.limit, Limit::Criteria, "{:?}", loads(&probes));
    assert!(answer.lower.is_some_and(|low| (140.0..=150.0).contains(&low)), "{answer:?}");
    // No probe has enough samples.
    let (answer, probes) = search_by(By::Samples, f64::INFINITY, |_, _| true);
    assert_eq!(loads(&probes), [1.0, 1000.0, 1000.0]);
    assert_eq!((answer.lower, answer.limit, answer.undecided), (None, Limit::Samples, true));
    // Large loads have too few samples, for example because the target becomes slow.
    let (answer, probes) = search_by(By::Samples, f64::INFINITY, |load, _| load > 200.0);
    assert_eq!(answer.limit, Limit::Samples, "{:?}", loads(&probes));
    assert!(answer.lower.is_some_and(|low| low > 100.0 && low <= 200.0), "{answer:?}");
}
