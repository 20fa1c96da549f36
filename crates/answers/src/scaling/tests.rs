//! Fits with known results: the published metrics of the fifth case, and systems whose law is known.

use proptest::prelude::*;

use super::*;

fn points(of: &[(f64, f64)]) -> Vec<Point> {
    of.iter().map(|(load, rate)| Point { load: *load, rate: *rate, windows: Vec::new() }).collect()
}

/// Published metrics of a gateway with its token service: users, requests per second, and mean time in ms.
const AUTH_ON: [(f64, f64, f64); 6] = [
    (10.0, 1270.0, 7.0),
    (50.0, 2870.0, 17.0),
    (100.0, 3024.0, 32.0),
    (200.0, 3028.0, 65.0),
    (500.0, 3072.0, 162.0),
    (1000.0, 3047.0, 327.0),
];
/// Published metrics of the gateway without its token service: users and requests per second.
const AUTH_OFF: [(f64, f64); 5] =
    [(10.0, 3020.0), (50.0, 4865.0), (100.0, 4800.0), (200.0, 4743.0), (500.0, 3175.0)];

fn fit_of(choice: &Choice, name: &str) -> Fit {
    *choice.fits.iter().find(|fit| fit.model.name() == name).expect("is fitted")
}

#[test]
fn a_flat_top_is_a_plateau_and_no_peak() {
    let by_users = choose(&points(&AUTH_ON.map(|(users, rate, _)| (users, rate))));
    let usl = fit_of(&by_users, "USL");
    println!("by users: {:?}", by_users.fits);
    // The USL shows a peak that does not exist: 3 028 to 3 072 requests per second were measured from 200 to 1 000
    // users.
    assert!((usl.error - 0.045).abs() < 0.002, "{usl:?}");
    assert!((usl.model.peak().unwrap() - 298.0).abs() < 3.0, "{:?}", usl.model.peak());
    assert!((usl.model.limit().unwrap() - 3232.0).abs() < 5.0);
    let chosen = by_users.chosen.unwrap();
    assert!((chosen.error - 0.022).abs() < 0.002, "{chosen:?}");
    assert!((chosen.model.limit().unwrap() - 3005.0).abs() < 5.0);
    assert_eq!((chosen.model.name(), by_users.peak), ("plateau", None));
    // The same plateau is chosen if the load is the number of requests in flight.
    let by_load = choose(&points(&AUTH_ON.map(|(_, rate, ms)| (rate * ms / 1000.0, rate))));
    let chosen = by_load.chosen.unwrap();
    assert_eq!(chosen.model.name(), "plateau");
    assert!((chosen.model.limit().unwrap() - 3005.0).abs() < 30.0);
    assert!((15.0..30.0).contains(&chosen.model.knee().unwrap()), "{:?}", chosen.model.knee());
}

#[test]
fn a_collapse_is_no_plateau_and_five_points_are_too_few() {
    let choice = choose(&points(&AUTH_OFF));
    println!("with the collapse: {:?}", choice.fits);
    assert_eq!((choice.chosen, &*choice.refusals), (None, &[Refusal::FewPoints { points: 5 }][..]));
    assert!((fit_of(&choice, "USL").error - 0.031).abs() < 0.003);
    assert!((fit_of(&choice, "plateau").error - 0.173).abs() < 0.003);
    let until_200 = choose(&points(&AUTH_OFF[..4]));
    assert!((fit_of(&until_200, "USL").error - 0.018).abs() < 0.002);
    assert!((fit_of(&until_200, "plateau").error - 0.009).abs() < 0.002);
}

#[test]
fn a_clear_knee_is_named_from_few_points() {
    let of = |l: f64| (l, (l / 0.02).min(200.0) * (1.0 + 0.01 * (l % 3.0 - 1.0)));
    let choice = choose(&points(&[1.0, 2.0, 8.0, 16.0, 32.0].map(of)));
    let model = choice.chosen.expect("a plateau").model;
    assert_eq!(model.name(), "plateau");
    assert!((model.knee().unwrap() - 4.0).abs() < 0.3, "{model:?}");
    // Short points with 1 to 16 users: the requests in flight grow by a little less than twice each time.
    let short = [(0.98, 47.0), (1.94, 92.0), (3.82, 177.0), (7.45, 183.0), (14.5, 185.0)];
    let model = choose(&points(&short)).chosen.expect("a plateau").model;
    assert!((model.knee().unwrap() - 4.0).abs() < 0.3, "{model:?}");
    // There is no plateau without a flat part, with a flat part that varies, or over a narrow range of loads.
    for loads in [[1.0, 2.0, 3.0, 4.0, 16.0], [1.0, 1.5, 2.0, 5.0, 6.0]] {
        assert_eq!(choose(&points(&loads.map(of))).chosen, None, "{loads:?}");
    }
    let falls = [(1.0, 50.0), (2.0, 100.0), (8.0, 200.0), (16.0, 180.0), (32.0, 150.0)];
    assert_eq!(choose(&points(&falls)).chosen, None);
}

#[test]
fn two_workers_are_a_plateau_with_a_knee_at_two() {
    let of = |l: f64| (l, (l / 0.8).min(2.0 / 0.8));
    let choice = choose(&points(&[1.0, 2.0, 4.0, 8.0, 16.0, 50.0, 300.0].map(of)));
    let model = choice.chosen.unwrap().model;
    assert_eq!(model.name(), "plateau");
    assert!((model.knee().unwrap() - 2.0).abs() < 1e-6);
    assert!((concurrency(model.limit().unwrap(), 0.8) - 2.0).abs() < 1e-6);
}

#[test]
fn a_system_that_follows_the_law_has_its_peak() {
    let law = Model::Usl { gamma: 100.0, alpha: 0.02, beta: 0.0005 };
    let mut random = Random::new(3);
    let made: Vec<Point> = [1.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0]
        .map(|load| {
            let mut window = || (load, law.rate(load) * (1.0 + 0.02 * random.normal()));
            let windows: Vec<(f64, f64)> = (0..12).map(|_| window()).collect();
            let rate = windows.iter().map(|w| w.1).sum::<f64>() / 12.0;
            Point { load, rate, windows }
        })
        .to_vec();
    let choice = choose(&made);
    let peak = choice.peak.expect("has a peak");
    let truth = law.peak().unwrap();
    assert!((peak.load / truth - 1.0).abs() < 0.05 && !peak.extrapolated, "{peak:?} {truth}");
    let (low, high) = peak.interval.unwrap();
    assert!(low < truth && truth < high, "{low} {truth} {high}");
    // Only the beginning of a curve of the same law: its peak lies beyond the tested loads.
    let small = Model::Usl { gamma: 100.0, alpha: 0.02, beta: 0.0001 };
    let begun =
        [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0].map(|l| (l, small.rate(l)));
    assert!(choose(&points(&begun)).peak.expect("is fitted").extrapolated);
}

#[test]
fn a_line_is_a_line_and_a_jumble_is_nothing() {
    let line = choose(&points(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|l| (l, 100.0 * l))));
    assert_eq!(line.chosen.unwrap().model, Model::Linear { slope: 100.0 });
    let jumble = choose(&points(&[
        (1.0, 100.0),
        (2.0, 50.0),
        (4.0, 300.0),
        (8.0, 90.0),
        (16.0, 700.0),
        (32.0, 120.0),
    ]));
    assert_eq!(jumble.chosen, None);
    assert!(matches!(jumble.refusals[..], [.., Refusal::PoorFit { .. }]), "{:?}", jumble.refusals);
    let narrow = choose(&points(&[10.0, 12.0, 14.0, 16.0, 18.0, 20.0].map(|l| (l, l))));
    assert_eq!(narrow.refusals, [Refusal::NarrowSpan { span: 2.0 }]);
}

proptest! {
    #[test]
    fn parameters_of_the_law_are_found_again(gamma in 1.0f64..1e4, alpha in 0.0f64..0.5, beta in 1e-6f64..1e-2) {
        let law = Model::Usl { gamma, alpha, beta };
        let exact = points(&[1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0].map(|l| (l, law.rate(l))));
        let Some(Model::Usl { gamma: g, alpha: a, beta: b }) = fit::usl(&exact) else { panic!("is fitted") };
        prop_assert!((g / gamma - 1.0).abs() < 1e-4 && (a - alpha).abs() < 1e-3 && (b / beta - 1.0).abs() < 1e-3);
    }

    #[test]
    fn models_do_not_depend_on_the_unit_of_time(factor in 0.001f64..1000.0) {
        let scaled = AUTH_ON.map(|(users, rate, _)| (users, rate * factor));
        let chosen = choose(&points(&scaled)).chosen.unwrap();
        prop_assert!((chosen.model.knee().unwrap() / choose(&points(&AUTH_ON.map(|p| (p.0, p.1)))).chosen.unwrap().model.knee().unwrap() - 1.0).abs() < 1e-9);
    }
}
