//! Functions about the running user, plan and machine: `__threadNum`, `__threadGroupName`, `__samplerName`,
//! `__TestPlanName`, `__machineName`, `__machineIP`.

use std::fmt::Write;

use super::Call;
use crate::env::Env;
use crate::template::{Outcome, Thrown};

/// Runs `__threadNum()`: returns the user's number, from 1.
pub(super) fn number(_: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let _ = write!(out, "{}", env.who.user + 1);
    Ok(())
}

/// Runs `__threadGroupName()`.
pub(super) fn group_name(_: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    out.push_str(env.who.group);
    Ok(())
}

/// Runs `__samplerName(variable)`.
pub(super) fn sampler_name(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    if env.core.naming {
        return Err(Thrown::new("java.lang.StackOverflowError", "null"));
    }
    let Some(text) = env.core.sampler.take() else {
        let name = env.who.sampler;
        out.push_str(name);
        return call.store(0, env, name);
    };
    let mut name = env.core.take();
    env.core.naming = true;
    text.eval(env, &mut name);
    env.core.naming = false;
    env.core.sampler = Some(text);
    out.push_str(&name);
    let stored = call.store(0, env, &name);
    env.core.give(name);
    stored
}

/// Runs `__TestPlanName()`: returns the file name of the plan.
pub(super) fn plan_name(_: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    out.push_str(env.who.plan_file);
    Ok(())
}

/// Runs `__machineName(variable)`.
pub(super) fn machine_name(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let host = env.shared.host();
    out.push_str(&host.name);
    call.store(0, env, &host.name)
}

/// Runs `__machineIP(variable)`.
pub(super) fn machine_ip(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let host = env.shared.host();
    out.push_str(&host.ip);
    call.store(0, env, &host.ip)
}
