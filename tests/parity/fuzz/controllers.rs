//! Controllers, with each of their properties.

use crate::grammar::Maker;
use crate::tree::{Element, Property};
use crate::values::{number, text};

/// Function that creates a controller without children.
pub(crate) type Make = fn(&mut Maker) -> Element;

pub(crate) const CONTROLLERS: &[(usize, (&str, Make))] = &[
    (8, ("LoopController", repeat)),
    (
        6,
        ("GenericController", |maker| {
            Element::new("GenericController", "LogicControllerGui", maker.name("Simple"))
        }),
    ),
    (
        2,
        ("RecordingController", |maker| {
            Element::new("RecordingController", "RecordController", maker.name("Recording"))
        }),
    ),
    (8, ("IfController", when)),
    (5, ("WhileController", during)),
    (5, ("ForeachController", for_each)),
    (14, ("TransactionController", transaction)),
    (
        5,
        ("OnceOnlyController", |maker| {
            Element::new("OnceOnlyController", "OnceOnlyControllerGui", maker.name("Once"))
        }),
    ),
    (4, ("ThroughputController", throughput)),
    (4, ("ModuleController", module)),
    (3, ("IncludeController", include)),
    (2, ("RandomController", random)),
    (
        1,
        ("RandomOrderController", |maker| {
            Element::new("RandomOrderController", "RandomOrderControllerGui", maker.name("Order"))
        }),
    ),
    (5, ("SwitchController", switch)),
    (5, ("InterleaveControl", interleave)),
    (2, ("RunTime", runtime)),
    (3, ("CriticalSectionController", critical)),
    (2, ("com.blazemeter.jmeter.control.WeightedSwitchController", weighted)),
    (2, ("kg.apc.jmeter.control.ParameterizedController", parameterized)),
];

fn repeat(maker: &mut Maker) -> Element {
    let name = if maker.dice.chance(50) { "L1".to_owned() } else { maker.name("Loop") };
    let loops = number(maker.dice, &["1", "2", "2", "3", "0"]);
    Element::new("LoopController", "LoopControlPanel", name)
        .flag("LoopController.continue_forever", maker.dice.chance(85))
        .string("LoopController.loops", loops)
}

fn when(maker: &mut Maker) -> Element {
    let condition = match maker.dice.below(4) {
        0 => text(maker.dice, &["true", "true", "false", "TRUE", " true", "${__jexl3(${n} == 2)}"]),
        1 => (*maker.dice.pick(&[
            "${JMeterThread.last_sample_ok}",
            "${__jexl3(\"${v}\" == \"vee\",)}",
            "${__groovy(1 == 1)}",
        ]))
        .to_owned(),
        2 => (*maker.dice.pick(&[
            "\"${v}\" == \"vee\"",
            "1 == 1",
            "${n} > 3",
            "\"${u}\" != \"\"",
            "true",
            "${n} == 2 && 1 < 2",
        ]))
        .to_owned(),
        _ => "true".to_owned(),
    };
    Element::new("IfController", "IfControllerPanel", maker.name("If"))
        .string("IfController.condition", condition)
        .flag("IfController.evaluateAll", maker.dice.chance(30))
        .flag("IfController.useExpression", maker.dice.chance(70))
}

fn during(maker: &mut Maker) -> Element {
    // A loop condition that certainly becomes false, so that no plan runs forever.
    let condition = *maker.dice.pick(&[
        "false",
        "FALSE",
        "${__jexl3(${__counter(FALSE,)} < 3,)}",
        "${__jexl3(${__jm__W1__idx} < 2,)}",
        "${__jexl3(${__counter(TRUE,)} < 4,)}",
        "LAST!",
        "${__groovy(${__jm__W1__idx} < 2)}",
        "${__javaScript(${__jm__W1__idx} < 2)}",
    ]);
    if condition == "LAST!" {
        // This loop ends with the first failing sampler, so its last child is a sampler that fails.
        let mut element = Element::new("WhileController", "WhileControllerGui", "W1")
            .string("WhileController.condition", *maker.dice.pick(&["LAST", ""]));
        element.children.push(maker.failing());
        return element;
    }
    Element::new("WhileController", "WhileControllerGui", "W1")
        .string("WhileController.condition", condition)
}

fn for_each(maker: &mut Maker) -> Element {
    let input = text(maker.dice, &["list", "list", "e", "none", "bare"]);
    let output = text(maker.dice, &["it", "it", "v", "list_1"]);
    let mut element = Element::new("ForeachController", "ForeachControlPanel", maker.name("Each"))
        .string("ForeachController.inputVal", input)
        .string("ForeachController.returnVal", output)
        .flag("ForeachController.useSeparator", maker.dice.chance(80));
    if maker.dice.chance(30) {
        element = element
            .string("ForeachController.startIndex", number(maker.dice, &["0", "1", "2", ""]));
    }
    if maker.dice.chance(30) {
        element = element
            .string("ForeachController.endIndex", number(maker.dice, &["1", "2", "3", "", "0"]));
    }
    element
}

fn transaction(maker: &mut Maker) -> Element {
    let name = maker.name("T");
    Element::new("TransactionController", "TransactionControllerGui", name)
        .flag("TransactionController.parent", maker.dice.chance(45))
        .flag("TransactionController.includeTimers", maker.dice.chance(20))
}

fn throughput(maker: &mut Maker) -> Element {
    let percent = *maker.dice.pick(&["0.0", "25.0", "50.0", "100.0", "33.3", "-1.0", "150.0"]);
    let most = *maker.dice.pick(&[0, 1, 2, 3, -1]);
    let mut element =
        Element::new("ThroughputController", "ThroughputControllerGui", maker.name("Part"))
            .int("ThroughputController.style", maker.dice.below(2) as i64)
            .flag("ThroughputController.perThread", maker.dice.chance(50));
    element = if maker.dice.chance(70) {
        element.int("ThroughputController.maxThroughput", most)
    } else {
        element.string("ThroughputController.maxThroughput", number(maker.dice, &["1", "2"]))
    };
    if maker.dice.chance(70) {
        let value = format!(
            "<FloatProperty><name>ThroughputController.percentThroughput</name><value>{percent}</value><savedValue>0.0</savedValue></FloatProperty>"
        );
        element.with(Property::Verbatim(value))
    } else {
        element.string(
            "ThroughputController.percentThroughput",
            number(maker.dice, &["50", "100", "33.3"]),
        )
    }
}

fn module(maker: &mut Maker) -> Element {
    maker.wants_fragment = true;
    let last = *maker.dice.pick(&["Target", "Target", "Target", "Nobody", "Inner"]);
    let path = ["Test Plan", "Plan", "Fragment", last].map(|step| Property::string(step, step));
    Element::new("ModuleController", "ModuleControllerGui", maker.name("Module"))
        .with(Property::list("ModuleController.node_path", path.to_vec()))
}

fn include(maker: &mut Maker) -> Element {
    let path =
        *maker.dice.pick(&["fragment.jmx", "fragment.jmx", "fragment.jmx", "${u}", "nowhere.jmx"]);
    Element::new("IncludeController", "IncludeControllerGui", maker.name("Include"))
        .string("IncludeController.includepath", path)
}

fn random(maker: &mut Maker) -> Element {
    Element::new("RandomController", "RandomControlGui", maker.name("Any"))
        .int("InterleaveControl.style", maker.dice.below(2) as i64)
}

fn switch(maker: &mut Maker) -> Element {
    let value =
        text(maker.dice, &["0", "1", "2", "", "default", "DEFAULT", "H1", "${n}", "9", "-1"]);
    Element::new("SwitchController", "SwitchControllerGui", maker.name("Switch"))
        .string("SwitchController.value", value)
}

fn interleave(maker: &mut Maker) -> Element {
    Element::new("InterleaveControl", "InterleaveControlGui", maker.name("Turns"))
        .int("InterleaveControl.style", maker.dice.below(2) as i64)
        .flag("InterleaveControl.accrossThreads", maker.dice.chance(30))
}

fn runtime(maker: &mut Maker) -> Element {
    let seconds = *maker.dice.pick(&["0", "-1", "x", "", "0"]);
    Element::new("RunTime", "RunTimeGui", maker.name("Time")).string("RunTime.seconds", seconds)
}

fn critical(maker: &mut Maker) -> Element {
    let lock = text(maker.dice, &["lock", "lock", "", "other"]);
    Element::new("CriticalSectionController", "CriticalSectionControllerGui", maker.name("Locked"))
        .string("CriticalSectionController.lockName", lock)
}

/// Creates a Weighted Switch Controller that is in order, not random. Its children are not known yet, and weights also
/// apply by position.
fn weighted(maker: &mut Maker) -> Element {
    Element::new(
        "com.blazemeter.jmeter.control.WeightedSwitchController",
        "com.blazemeter.jmeter.control.WeightedSwitchControllerGui",
        maker.name("Weighted"),
    )
}

fn parameterized(maker: &mut Maker) -> Element {
    let value = text(maker.dice, &["pc", "${v}", "2"]);
    let argument = Property::object(
        "v",
        "Argument",
        vec![
            Property::string("Argument.name", "v"),
            Property::string("Argument.value", value),
            Property::string("Argument.metadata", "="),
        ],
    );
    let list = Property::list("Arguments.arguments", vec![argument]);
    Element::new(
        "kg.apc.jmeter.control.ParameterizedController",
        "kg.apc.jmeter.control.ParameterizedControllerGui",
        maker.name("Parameters"),
    )
    .with(Property::object("ParameterizedController", "Arguments", vec![list]))
}
