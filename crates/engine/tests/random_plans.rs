//! Random plans, run to their end with a stepped clock and without sockets. Each run must end on a small stack.
//! Rows, samples and sums must agree, and no user may be lost.
//!
//! A seed determines a plan: `RANDOM_PLANS_SEED=n` runs only that plan. The fuzz target `run_plan` builds plans
//! from bytes with the same grammar.

#[path = "random_plans/grammar.rs"]
mod grammar;
#[path = "random_plans/trial.rs"]
mod trial;

use std::process::Command;

/// Number of plans in an ordinary test run.
const PLANS: u64 = 300;
/// Stack size of a core in bytes, which must be sufficient even without compiler optimisation.
const STACK: &str = "1048576";
/// Environment variable with the seed of the only plan to run.
const SEED: &str = "RANDOM_PLANS_SEED";

/// Returns random bytes from a seed (splitmix64).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    (0..64).flat_map(|_| next().to_le_bytes()).collect()
}

/// Runs a test of this file once more in a process whose threads have a small stack.
fn on_a_small_stack(test: &str) -> bool {
    if std::env::var_os("RUST_MIN_STACK").is_some_and(|stack| stack == STACK) {
        return true;
    }
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    let status = again.args(["--exact", test, "--nocapture"]).env("RUST_MIN_STACK", STACK).status();
    assert!(status.expect("it starts").success());
    false
}

#[test]
fn random_plans_end_and_add_up() {
    if !on_a_small_stack("random_plans_end_and_add_up") {
        return;
    }
    let one = std::env::var(SEED).ok().and_then(|seed| seed.parse::<u64>().ok());
    let folder = tempfile::tempdir().unwrap();
    for seed in one.map_or(0..PLANS, |one| one..one + 1) {
        let made = grammar::plan(&bytes(seed));
        println!("{SEED}={seed}");
        let rows = folder.path().join(format!("{seed}.csv"));
        trial::run(&made.text, made.users, 1 + (seed % 3) as u32, seed, &rows);
    }
}

/// Returns a plan with one user whose samplers never wait, with `body` as its controllers.
fn busy(loops: u32, body: &str) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="plan"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="g"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
<intProp name="LoopController.loops">{loops}</intProp></elementProp><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup>
<hashTree>{body}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

const FAILING: &str = r#"<kg.apc.jmeter.samplers.DummySampler testclass="kg.apc.jmeter.samplers.DummySampler" testname="fails">
<boolProp name="SUCCESFULL">false</boolProp></kg.apc.jmeter.samplers.DummySampler><hashTree/>"#;

#[test]
fn depth_and_length_take_no_stack() {
    if !on_a_small_stack("depth_and_length_take_no_stack") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // If each sample were a nested call, this number of samples would overflow any stack.
    let long = busy(20_000, FAILING);
    trial::run(&long, 1, 1, 1, &folder.path().join("long.csv"));
    for class in [
        "GenericController",
        "TransactionController",
        "OnceOnlyController",
        "RandomOrderController",
    ] {
        let open = format!("<{class} testclass=\"{class}\" testname=\"c\"/><hashTree>");
        let deep = busy(3, &(open.repeat(200) + FAILING + &"</hashTree>".repeat(200)));
        trial::run(&deep, 1, 1, 1, &folder.path().join(format!("{class}.csv")));
    }
}
