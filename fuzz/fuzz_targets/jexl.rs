//! Fuzzes scripts of `__jexl3`: no panic, no endless loop, and the same value each time, compiled before a run or
//! during it.
//!
//! Input: the script. It can use the variables `a` (a number), `b` (a string) and `c` (empty).

#![no_main]

extern crate plan as subject;

#[path = "../../crates/plan/tests/world/mod.rs"]
mod world;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use plan::template::{Template, TemplateCompiler};
use world::{World, element, plan_of};

thread_local! {
    static WORLD: RefCell<World> = RefCell::new(World::new(plan_of(
        &element(
            "kg.apc.jmeter.samplers.DummySampler",
            "",
            "d",
            &[("RESPONSE_DATA", "${__jexl3(${script},)}"), ("REQUEST_DATA", "${a}${b}${c}")],
            "",
            "",
        ),
        "",
    )));
}

fuzz_target!(|script: &str| {
    let _ = Template::compile(&format!("${{__jexl3({script})}}"), &mut TemplateCompiler::default());
    WORLD.with_borrow_mut(|world| {
        let mut values = ["", ""].map(|_| {
            world.vars.reset();
            for (name, value) in
                [("script", script), ("a", "12"), ("b", "Template, of words"), ("c", "")]
            {
                world.vars.set_named(&world.plan.names, name, value);
            }
            world.sample(0).0.text
        });
        // Random numbers and times may differ between evaluations.
        let varies = ["andom", "ime", "ate", "hash", "vars", "props"]
            .iter()
            .any(|word| script.contains(word));
        if varies {
            values = Default::default();
        }
        assert_eq!(values[0], values[1]);
    });
});
