//! Fuzzes CSS selectors on pages: no panic, and the number of variables equals the reported number of matches.
//!
//! Input: the selector up to a line end, then the page.

#![no_main]

extern crate plan as subject;

#[path = "../../crates/plan/tests/world/mod.rs"]
mod world;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use plan::result::SampleResult;
use world::{World, element, http_sampler, plan_of};

thread_local! {
    static WORLD: RefCell<World> = RefCell::new({
        let props = [
            ("HtmlExtractor.refname", "found"),
            ("HtmlExtractor.expr", "${selector}"),
            ("HtmlExtractor.attribute", "${attribute}"),
            ("HtmlExtractor.match_number", "-1"),
            ("HtmlExtractor.default", "none"),
        ];
        World::new(plan_of(&http_sampler(&[], "", &element("HtmlExtractor", "", "e", &props, "", "")), ""))
    });
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let Some((selector, page)) = text.split_once('\n') else { return };
    WORLD.with_borrow_mut(|world| {
        world.vars.reset();
        world.vars.set_named(&world.plan.names, "selector", selector);
        let attribute = if page.len() % 2 == 0 { "" } else { "href" };
        world.vars.set_named(&world.plan.names, "attribute", attribute);
        let mut result = SampleResult::default();
        result.clear();
        result.text.push_str(page);
        world.with(|plan, env| plan.samplers[0].after[0].run(&mut result, env));
        let count = world.get("found_matchNr").map_or(0, |count| count.parse().expect("a number"));
        assert!(count == 0 || world.get(&format!("found_{count}")).is_some());
        assert!(world.get(&format!("found_{}", count + 1)).is_none());
    });
});
