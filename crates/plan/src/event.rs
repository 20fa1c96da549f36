//! Work that elements do at the start of an iteration and before a sampler.

use crate::env::Env;
use crate::plan::{Before, OnIteration, Plan};
use crate::result::SampleResult;

/// An element's request to end a user or the run, with the reason for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Ends the user, for the given reason.
    User(String),
    /// Ends the run, for the given reason.
    Test(String),
}

/// Executes an element's work at the start of an iteration.
pub fn iterate(event: OnIteration, plan: &Plan, env: &mut Env<'_>) -> Result<(), Stop> {
    match event {
        OnIteration::Csv(at) => return plan.csv[at as usize].next(at as usize, env),
        OnIteration::Counter(at) => plan.counters[at as usize].step(at as usize, env),
        OnIteration::Random(at) => plan.randoms[at as usize].draw(at as usize, env),
        OnIteration::UserParameters(at) => plan.user_parameters[at as usize].at_iteration(env),
        // No work for this module: the engine handles controllers and Redis connections, and scripts run before
        // samplers.
        OnIteration::Controller(_) | OnIteration::Script(_) | OnIteration::Redis(_) => {}
    }
    Ok(())
}

/// Saves data of a result for later samplers of the user: session ids and, for HTML Link Parsers, the page.
pub fn note(result: &SampleResult, plan: &Plan, env: &mut Env<'_>) {
    for (at, session) in plan.sessions.iter().enumerate() {
        session.note(at, result, env);
    }
    if plan.follows_links {
        env.notes.page().note(result);
    }
}

/// Executes an element's work before a sampler.
pub fn before(event: Before, plan: &Plan, env: &mut Env<'_>) {
    match event {
        Before::UserParameters(at) => plan.user_parameters[at as usize].at_sampler(env),
        Before::Script(at) => plan.scripts[at as usize].process(None, env),
        // The engine runs jobs itself.
        Before::Job(_) => {}
    }
}
