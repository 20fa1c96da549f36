//! Events of elements when an iteration starts, and their work before a sampler.

use crate::env::Env;
use crate::plan::{Before, OnIteration, Plan};
use crate::result::SampleResult;

/// An element that asks for an end, with the reason for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user ends.
    User(String),
    /// The run ends.
    Test(String),
}

/// Carries out what the start of an iteration sets off.
pub fn iterate(event: OnIteration, plan: &Plan, env: &mut Env<'_>) -> Result<(), Stop> {
    match event {
        OnIteration::Csv(at) => return plan.csv[at as usize].next(at as usize, env),
        OnIteration::Counter(at) => plan.counters[at as usize].step(at as usize, env),
        OnIteration::Random(at) => plan.randoms[at as usize].draw(at as usize, env),
        OnIteration::UserParameters(at) => plan.user_parameters[at as usize].at_iteration(env),
        // What controllers remember is not in their reach of elements; scripts wait for samplers.
        // Nor are connections.
        OnIteration::Controller(_) | OnIteration::Script(_) | OnIteration::Redis(_) => {}
    }
    Ok(())
}

/// Notes what an answer has for samplers after it.
pub fn note(result: &SampleResult, plan: &Plan, env: &mut Env<'_>) {
    for (at, session) in plan.sessions.iter().enumerate() {
        session.note(at, result, env);
    }
    if plan.follows_links {
        env.notes.page().note(result);
    }
}

/// Carries out what stands before a sampler.
pub fn before(event: Before, plan: &Plan, env: &mut Env<'_>) {
    match event {
        Before::UserParameters(at) => plan.user_parameters[at as usize].at_sampler(env),
        Before::Script(at) => plan.scripts[at as usize].process(None, env),
        // Whoever runs the user sees to it.
        Before::Job(_) => {}
    }
}
