//! Fuzzes whole runs: trees of controllers, loops, stops and failing samplers, with a simulated clock and without
//! sockets. Each run ends, its rows, samples and sums agree, and no user is lost.

#![no_main]

#[path = "../../crates/engine/tests/random_plans/grammar.rs"]
mod grammar;
#[path = "../../crates/engine/tests/random_plans/trial.rs"]
mod trial;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [seed, plan @ ..] = data else { return };
    let made = grammar::plan(plan);
    let rows = std::path::Path::new("run_plan.csv");
    let _ = std::fs::remove_file(rows);
    trial::run(&made.text, made.users, 1 + u32::from(seed % 3), u64::from(*seed), rows);
});
