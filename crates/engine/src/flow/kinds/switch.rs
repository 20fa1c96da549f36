//! Switch Controller: runs the child that a number or a name selects.

use plan::plan::Child;
use plan::template::Template;

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::NOWHERE;

/// Chooses the child that runs in this iteration.
pub(crate) fn before(visit: &mut Visit<'_, '_>, value: &Template) -> Option<Pull> {
    if visit.is_first() {
        let chosen = choose(visit, value);
        visit.state().set_current(chosen);
    }
    None
}

/// Ends the iteration: only one child runs.
pub(crate) fn move_on(visit: &mut Visit<'_, '_>) {
    visit.state().set_current(NOWHERE);
}

/// Returns the child that the value selects: by number, else by name, else the child named `default`.
fn choose(visit: &mut Visit<'_, '_>, value: &Template) -> u32 {
    let mut chosen = visit.cx.texts.take();
    value.eval(&mut visit.env(), &mut chosen);
    let sought = chosen.trim();
    let is_number = sought.bytes().all(|byte| byte.is_ascii_digit());
    let at = match sought.parse::<i32>() {
        _ if sought.is_empty() => visit.nth_left(0),
        Ok(number) if is_number => match visit.nth_left(number.unsigned_abs() as usize) {
            NOWHERE => visit.nth_left(0),
            at => at,
        },
        _ => choose_by_name(visit, sought),
    };
    visit.cx.texts.give(chosen);
    at
}

fn choose_by_name(visit: &mut Visit<'_, '_>, sought: &str) -> u32 {
    let plan = visit.cx.plan;
    let mut default = NOWHERE;
    let mut name = visit.cx.texts.take();
    for (at, child) in visit.controller.children.iter().enumerate() {
        if visit.is_dropped(*child) {
            continue;
        }
        let text = match child {
            Child::Sampler(id) => &plan.samplers[id.0 as usize].name,
            Child::Controller(id) => &plan.controllers[id.0 as usize].name,
        };
        name.clear();
        text.eval(&mut visit.env(), &mut name);
        if name == sought {
            default = at as u32;
            break;
        }
        if name.eq_ignore_ascii_case("default") {
            default = at as u32;
        }
    }
    visit.cx.texts.give(name);
    default
}
