//! Test Plan: the settings of the whole run and the first block of User Defined Variables.

use jmx::ElementId;

use super::user_defined_variables;
use crate::compile::Context;
use crate::gateway;
use crate::plan::Plan;
use crate::support::Level;
use crate::vars::Names;

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Plan {
    let doc = ctx.doc;
    let arguments = doc.element(id).props.object("TestPlan.user_defined_variables");
    let block = arguments.map(|arguments| user_defined_variables::block(ctx, id, &arguments.props));
    Plan {
        name: doc.element(id).name.clone(),
        file: doc.name().rsplit(['/', '\\']).next().unwrap_or("").to_string(),
        names: Names::default(),
        variables: block.into_iter().collect(),
        groups: Vec::new(),
        throughput_controllers: 0,
        controllers: Vec::new(),
        samplers: Vec::new(),
        summarisers: Vec::new(),
        monitors: Vec::new(),
        listeners: Vec::new(),
        csv: Vec::new(),
        redis: Vec::new(),
        counters: Vec::new(),
        randoms: Vec::new(),
        user_parameters: Vec::new(),
        sessions: Vec::new(),
        asks_for_sampler: false,
        follows_links: false,
        cookie_managers: Vec::new(),
        cache_managers: Vec::new(),
        auth_managers: Vec::new(),
        keystores: Vec::new(),
        dns_managers: Vec::new(),
        frame_filters: Vec::new(),
        heartbeats: Vec::new(),
        gateways: Vec::new(),
        timeouts: Vec::new(),
        throughput_timers: 0,
        has_main_group: false,
        has_groups_aside: false,
        serialize_groups: ctx.flag(id, "TestPlan.serialize_threadgroups", false),
        teardown_on_shutdown: ctx.flag(id, "TestPlan.tearDown_on_shutdown", false),
        functional_mode: ctx.flag(id, "TestPlan.functional_mode", false),
        scripts: Vec::new(),
        java_backed: crate::java_backed::JavaBacked::default(),
        class_path: class_path(ctx, id).map(str::to_owned).collect(),
        names_call: false,
        hash: 0,
        text_hash: 0,
    }
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    if class_path(ctx, id).next().is_some() {
        ctx.remark(
            id,
            Level::Native,
            "only elements and functions that run in Java use its class path",
        );
    }
    let own = class_path(ctx, id);
    gateway::review_class_path(ctx, id, own);
}

/// Returns the jars and folders that the plan adds to the class path.
fn class_path<'a>(ctx: &Context<'a>, id: ElementId) -> impl Iterator<Item = &'a str> + use<'a> {
    let path = ctx.doc.element(id).props.str("TestPlan.user_define_classpath").unwrap_or("");
    path.split(',').filter(|entry| !entry.is_empty())
}
