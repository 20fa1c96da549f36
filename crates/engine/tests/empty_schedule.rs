//! A schedule that has already ended when it begins. Its owner core reports the end of arrivals while other cores
//! are still being notified of the group's start.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// A plan whose schedule has a row with a duration of 0, so that its group has no arrivals.
const PLAN: &str = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="plan"/><hashTree>
<com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup testclass="com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup" testname="g">
<collectionProp name="Schedule"><collectionProp name="1"><stringProp name="1">1</stringProp><stringProp name="2">1</stringProp><stringProp name="3">0</stringProp></collectionProp></collectionProp>
</com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup><hashTree/></hashTree></hashTree></jmeterTestPlan>"#;

/// Number of runs. In an earlier version, which notified cores in an arbitrary order, one or two of a hundred runs
/// did not end.
const RUNS: u32 = 1000;

#[test]
fn each_core_knows_of_a_group_before_it_hears_that_nobody_comes() {
    let (document, _) = jmx::parse("plan.jmx", PLAN.as_bytes().to_vec()).expect("XML");
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    let plan = Arc::new(compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags)));
    for nth in 0..RUNS {
        let options =
            engine::Options { cores: 4, base_dir: ".".into(), ..engine::Options::default() };
        let mut run = engine::start(Arc::clone(&plan), options).expect("it starts");
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < Duration::from_secs(60), "run {nth} does not end");
            if let engine::Event::Finished = run.next_event(Duration::from_millis(20)) {
                break;
            }
        }
        assert_eq!(run.users().started, 0);
    }
}
