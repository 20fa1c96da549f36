//! ForEach Controller: runs its children once for each variable of a numbered series.

use std::fmt::Write;

use plan::plan::ForEach;

use crate::flow::kinds::Counting;
use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::BROKEN;

pub(crate) const COUNTING: Counting = Counting { from_one: true, is_loop: false, is_kept: false };

/// Returns true: the controller evaluates its expressions each time.
pub(crate) fn reads_texts() -> bool {
    true
}

/// Ends the loop if the next value does not exist.
pub(crate) fn before(visit: &mut Visit<'_, '_>, each: &ForEach) -> Option<Pull> {
    if !visit.is_broken() && has_value(visit, each) {
        return None;
    }
    visit.state().clear(BROKEN);
    visit.end_iteration();
    visit.forget_count();
    Some(Pull::Nothing)
}

/// Ends an iteration, and the loop if there is no further value.
pub(crate) fn after_children(visit: &mut Visit<'_, '_>, each: &ForEach) -> Option<Pull> {
    visit.end_iteration();
    let over = visit.is_broken()
        || !has_value(visit, each)
        || visit.state().count() >= last_value(visit, each);
    if !over {
        return None;
    }
    visit.state().clear(BROKEN);
    visit.forget_count();
    Some(Pull::Nothing)
}

pub(crate) fn is_done(visit: &mut Visit<'_, '_>, each: &ForEach, done: bool) -> bool {
    let end = last_value(visit, each);
    let at = visit.state().count();
    // JMeter sets the output variable when it checks for a further value.
    at >= end || (!bind(visit, each, at) && done)
}

/// Resets the count to the index before the first value. An index that is not a number counts as 0.
pub(crate) fn forget_count(visit: &mut Visit<'_, '_>, each: &ForEach) {
    let start = i32::try_from(visit.cx.number(visit.index, &each.start, 0)).unwrap_or(0);
    visit.state().set_count(start);
}

/// Returns the index of the last value. An index that is not a number counts as 0.
fn last_value(visit: &mut Visit<'_, '_>, each: &ForEach) -> i32 {
    match each.end.fixed() {
        Some("") => i32::MAX,
        _ => i32::try_from(visit.cx.number(visit.index, &each.end, 0)).unwrap_or(0),
    }
}

/// Returns true if the next value exists.
fn has_value(visit: &mut Visit<'_, '_>, each: &ForEach) -> bool {
    let at = visit.state().count();
    with_value(visit, each, at, |_, value| value.is_some())
}

/// Sets the output variable to value number `at` + 1. Returns false if that value does not exist.
fn bind(visit: &mut Visit<'_, '_>, each: &ForEach, at: i32) -> bool {
    with_value(visit, each, at, |visit, value| {
        let Some(value) = value else { return false };
        let mut name = visit.cx.texts.take();
        each.output.eval(&mut visit.env(), &mut name);
        visit.cx.users.of(visit.index).vars.set_named(&visit.cx.plan.names, &name, value);
        visit.cx.texts.give(name);
        true
    })
}

fn with_value(
    visit: &mut Visit<'_, '_>,
    each: &ForEach,
    at: i32,
    work: impl FnOnce(&mut Visit<'_, '_>, Option<&str>) -> bool,
) -> bool {
    let mut name = visit.cx.texts.take();
    each.input.eval(&mut visit.env(), &mut name);
    let separator = if each.separator { "_" } else { "" };
    let _ = write!(name, "{separator}{}", at.wrapping_add(1));
    let mut value = visit.cx.texts.take();
    let vars = &mut visit.cx.users.of(visit.index).vars;
    let found = vars.get_named(&visit.cx.plan.names, &name);
    let found = found.map(|text| value.push_str(text)).is_some();
    visit.cx.texts.give(name);
    let done = work(visit, found.then_some(value.as_str()));
    visit.cx.texts.give(value);
    done
}
