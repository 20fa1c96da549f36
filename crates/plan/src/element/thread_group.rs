//! Thread Group, setUp Thread Group and tearDown Thread Group.
//!
//! Numbers stay templates, because JMeter evaluates them when the group starts. An invalid number counts as 0.

use jmx::ElementId;

use super::arrivals::{ARRIVALS, FREE_FORM};
use super::{loop_controller, profile};
use crate::compile::{Context, scope};
use crate::plan::{ControllerId, ControllerKind, Group, LoopCount, OnError, Phase};
use crate::template::Template;

/// Java class of bzm's Concurrency Thread Group.
pub(super) const CONCURRENCY: &str =
    "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";

/// Returns true for bzm's thread groups, which have an iteration limit.
fn is_of_bzm(class: &str) -> bool {
    matches!(class, CONCURRENCY | ARRIVALS | FREE_FORM)
}

/// Property of a thread group: true if a user keeps its cookies and connections between iterations.
const SAME_USER: &str = "ThreadGroup.same_user_on_next_iteration";

/// Returns the phase in which groups of a class run; `None` for a class that cannot run.
pub(crate) fn phase(class: &str) -> Option<Phase> {
    match class {
        "ThreadGroup"
        | "OpenModelThreadGroup"
        | CONCURRENCY
        | ARRIVALS
        | FREE_FORM
        | "kg.apc.jmeter.threads.SteppingThreadGroup"
        | "kg.apc.jmeter.threads.UltimateThreadGroup" => Some(Phase::Main),
        "SetupThreadGroup" => Some(Phase::Setup),
        "PostThreadGroup" => Some(Phase::Teardown),
        _ => None,
    }
}

/// Compiles the main loop of a group, which contains all elements of the group.
pub(crate) fn main_loop(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let once = || LoopCount::Count(Template::Fixed("1".into()));
    if scope::class(ctx.doc, id) == "OpenModelThreadGroup" {
        return ControllerKind::Loop { count: once(), once: true };
    }
    if is_of_bzm(scope::class(ctx.doc, id)) {
        let count = LoopCount::Limit(ctx.prop(id, "Iterations"));
        return ControllerKind::Loop { count, once: true };
    }
    let main = ctx.props(id).object("ThreadGroup.main_controller");
    if let Some(main) = main {
        let count = loop_controller::count(ctx, id, &main.props);
        // Unless the plan sets `continue_forever` to false, JMeter's loop restarts after its last iteration. A loop
        // of 0 iterations ends nevertheless, because JMeter's users would loop without running anything.
        let anew = main.props.bool("LoopController.continue_forever").unwrap_or(true);
        let none = matches!(&count, LoopCount::Count(text) if text.fixed() == Some("0"));
        let count = if anew && !none { LoopCount::Forever } else { count };
        return ControllerKind::Loop { count, once: true };
    }
    let message = "the thread group has no loop count: its users run one iteration";
    ctx.warn(id, "no-main-controller", message, "open the plan in JMeter and save it again");
    ControllerKind::Loop { count: once(), once: true }
}

/// Returns true if the main loop has the group's name, which is part of the name of the loop's index variable. False
/// for a loop that was saved without a name.
pub(crate) fn names_its_loop(ctx: &Context<'_>, id: ElementId) -> bool {
    if is_of_bzm(scope::class(ctx.doc, id)) {
        return true;
    }
    let main = ctx.props(id).object("ThreadGroup.main_controller");
    main.is_none_or(|main| main.name.is_some() || main.props.str("TestElement.name").is_some())
}

/// Compiles a thread group without its children.
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId, phase: Phase, number: u32) -> Group {
    let name = &ctx.doc.element(id).name;
    let class = scope::class(ctx.doc, id);
    let profile = profile::compile(ctx, id, class);
    // Groups of plug-ins create threads that treat every iteration as a different user, whatever the setting.
    let is_of_plugin = is_of_bzm(class) || class.starts_with("kg.apc.");
    Group {
        name: ctx.text(id, name),
        phase,
        number,
        profile,
        users: ctx.prop(id, "ThreadGroup.num_threads"),
        ramp_up: ctx.prop(id, "ThreadGroup.ramp_time"),
        scheduler: ctx.flag(id, "ThreadGroup.scheduler", false),
        duration: ctx.prop(id, "ThreadGroup.duration"),
        delay: ctx.prop(id, "ThreadGroup.delay"),
        delayed_start: ctx.flag(id, "ThreadGroup.delayedStart", false),
        on_error: on_error(ctx, id),
        same_user: !is_of_plugin && ctx.flag(id, SAME_USER, true),
        main: ControllerId(0),
        slots: 0,
        path: ctx.doc.path(id),
    }
}

fn on_error(ctx: &mut Context<'_>, id: ElementId) -> OnError {
    let action = ctx.props(id).str("ThreadGroup.on_sample_error").unwrap_or("continue");
    // JMeter ignores case and treats unknown actions as "continue".
    match action.to_ascii_lowercase().as_str() {
        "startnextloop" => OnError::NextLoop,
        "stopthread" => OnError::StopUser,
        "stoptest" => OnError::StopTest,
        "stoptestnow" => OnError::StopTestNow,
        "continue" | "" => OnError::Continue,
        _ => {
            let message = format!("unknown action after a failed sample: {action}");
            ctx.warn(id, "unknown-on-error", message, "users continue, as in JMeter");
            OnError::Continue
        }
    }
}
