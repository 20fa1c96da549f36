//! While Controller: loops until its condition is false, or until the last sample fails.

use plan::plan::WhileCondition;

use crate::flow::search::Pull;
use crate::flow::visit::Visit;
use crate::users::controllers::BROKEN;

pub(crate) fn reads_texts(visit: &mut Visit<'_, '_>, at_end: bool) -> bool {
    at_end || visit.is_first()
}

/// Evaluates the condition before the first child.
pub(crate) fn before(visit: &mut Visit<'_, '_>, condition: &WhileCondition) -> Option<Pull> {
    if !visit.is_first() || !asks(visit, condition, false) {
        return None;
    }
    let mut state = visit.state();
    state.clear(BROKEN);
    state.set_count(0);
    Some(Pull::Nothing)
}

/// Evaluates the condition after the last child.
pub(crate) fn after_children(
    visit: &mut Visit<'_, '_>,
    condition: &WhileCondition,
) -> Option<Pull> {
    visit.end_iteration();
    // The condition reads the number of the iteration that may follow.
    if !asks(visit, condition, true) {
        return None;
    }
    visit.state().clear(BROKEN);
    visit.forget_count();
    Some(Pull::Nothing)
}

/// Ends the loop's iteration, because a sampler inside has made the user leave it.
pub(crate) fn is_left(visit: &mut Visit<'_, '_>, condition: &WhileCondition) {
    visit.end_iteration();
    // JMeter evaluates the condition and ignores its value. The expression may have side effects.
    asks(visit, condition, true);
    visit.forget_count();
}

/// Evaluates the condition. Returns true if the loop is over.
fn asks(visit: &mut Visit<'_, '_>, condition: &WhileCondition, at_end: bool) -> bool {
    if visit.is_broken() {
        return true;
    }
    let last_ok = visit.cx.users.of(visit.index).last_ok;
    match condition {
        WhileCondition::Blank => at_end && !last_ok,
        WhileCondition::Last => !last_ok,
        WhileCondition::Expression(text) => {
            crate::java::forget_texts(visit.cx, visit.index, visit.id);
            let mut value = visit.cx.texts.take();
            text.eval(&mut visit.env(), &mut value);
            let over = is_over(&value, at_end, last_ok);
            visit.cx.texts.give(value);
            over
        }
    }
}

/// Returns true if the value of a condition ends the loop. At the end of an iteration, the result of the last sample
/// decides if the value is blank.
fn is_over(value: &str, at_end: bool, last_ok: bool) -> bool {
    let value = value.trim();
    if (at_end && value.is_empty()) || value.eq_ignore_ascii_case("LAST") {
        !last_ok
    } else {
        value.eq_ignore_ascii_case("false")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_condition_asks_for_the_last_sample_at_the_end_alone() {
        assert!(is_over(" ", true, false));
        assert!(!is_over(" ", false, false));
        assert!(is_over("last", false, false) && is_over("FALSE ", true, true));
        assert!(!is_over("0", true, false));
    }
}
