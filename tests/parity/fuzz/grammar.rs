//! Random small plans: a Test Plan with one or two groups, one to eight elements of any kind at any position, one to
//! three iterations.

use crate::around::AROUND;
use crate::controllers::CONTROLLERS;
use crate::dice::Dice;
use crate::samplers::{SAMPLERS, failing};
use crate::tree::{Element, Property};
use crate::values::{expression, number};

/// Function that adds a property to an element.
pub(crate) type Extra = fn(&mut Maker, Element) -> Element;

/// Generator of one random plan.
pub(crate) struct Maker<'a> {
    pub(crate) dice: &'a mut Dice,
    named: usize,
    /// True if the plan needs a Test Fragment, because a Module Controller refers to it.
    pub(crate) wants_fragment: bool,
}

/// Generates a plan with this random generator.
pub(crate) fn plan(dice: &mut Dice) -> Element {
    Maker { dice, named: 0, wants_fragment: false }.plan()
}

impl Maker<'_> {
    /// Generates a unique element name, sometimes with an expression in it.
    pub(crate) fn name(&mut self, kind: &str) -> String {
        self.named += 1;
        let mut name = format!("{kind}{}", self.named);
        if self.dice.chance(10) {
            name = format!("{name} {}", expression(self.dice)).replace('\n', " ");
        }
        name
    }

    /// Creates a request that fails.
    pub(crate) fn failing(&mut self) -> Element {
        failing(self.name("Fails"))
    }

    /// Adds each of these properties to an element with its probability in percent.
    pub(crate) fn some(&mut self, element: Element, options: &[(usize, Extra)]) -> Element {
        options.iter().fold(element, |element, (percent, add)| {
            if self.dice.chance(*percent) { add(self, element) } else { element }
        })
    }

    fn plan(mut self) -> Element {
        let mut below = vec![Self::target()];
        for _ in 0..*self.dice.pick(&[0, 0, 0, 1, 1, 2]) {
            below.push(self.around());
        }
        if self.dice.chance(8) {
            below.push(self.group("SetupThreadGroup", "SetUp", 2));
        }
        let several = self.dice.chance(12);
        let most = if several { 4 } else { 8 };
        below.push(self.group("ThreadGroup", "Users", most));
        if several {
            below.push(self.group("ThreadGroup", "Second", 3));
        }
        if self.dice.chance(8) {
            below.push(self.group("PostThreadGroup", "TearDown", 2));
        }
        if self.wants_fragment {
            below.push(self.fragment());
        }
        let variables = [
            ("v", "vee"),
            ("n", "2"),
            ("one", "1"),
            ("list_1", "first"),
            ("list_2", "second"),
            ("list_matchNr", "2"),
            ("bare1", "b1"),
            ("doc", "{\"name\": \"Throng\", \"n\": 42, \"list\": [\"a\", \"b\"]}"),
        ];
        let items = variables.map(|(name, value)| {
            let parts = vec![
                Property::string("Argument.name", name),
                Property::string("Argument.value", value),
                Property::string("Argument.metadata", "="),
            ];
            Property::object(name, "Argument", parts)
        });
        let list = Property::list("Arguments.arguments", items.to_vec());
        Element::new("TestPlan", "TestPlanGui", "Plan")
            .flag("TestPlan.functional_mode", self.dice.chance(6))
            .flag("TestPlan.serialize_threadgroups", several)
            .flag("TestPlan.tearDown_on_shutdown", self.dice.chance(50))
            .with(Property::object("TestPlan.user_defined_variables", "Arguments", vec![list]))
            .holding(below)
    }

    /// Creates the HTTP defaults with the address of the target.
    fn target() -> Element {
        let list = Property::list("Arguments.arguments", Vec::new());
        Element::new("ConfigTestElement", "HttpDefaultsGui", "Target")
            .with(Property::object("HTTPsampler.Arguments", "Arguments", vec![list]))
            .string("HTTPSampler.domain", "127.0.0.1")
            .string("HTTPSampler.port", "${__P(port)}")
    }

    fn group(&mut self, class: &str, name: &str, most: usize) -> Element {
        let error = *self.dice.weighted(&[
            (12, "continue"),
            (2, "startnextloop"),
            (2, "stopthread"),
            (2, "stoptest"),
            (1, "stoptestnow"),
        ]);
        let loops = number(self.dice, &["1", "1", "2", "2", "3"]);
        let controller = Property::object(
            "ThreadGroup.main_controller",
            "LoopController",
            vec![
                Property::leaf("boolProp", "LoopController.continue_forever", "false"),
                Property::string("LoopController.loops", loops),
            ],
        );
        let users = *self.dice.weighted(&[(60, "1"), (2, "2"), (1, "0"), (1, "${one}")]);
        let mut group = Element::new(class, &format!("{class}Gui"), name)
            .string("ThreadGroup.on_sample_error", error)
            .with(controller)
            .string("ThreadGroup.num_threads", users)
            .string("ThreadGroup.ramp_time", "0")
            .flag("ThreadGroup.same_user_on_next_iteration", self.dice.chance(75));
        if self.dice.chance(8) {
            let duration = *self.dice.pick(&["60", "60", "", "0", "-1", "x"]);
            group = group
                .flag("ThreadGroup.scheduler", true)
                .string("ThreadGroup.duration", duration)
                .string("ThreadGroup.delay", *self.dice.pick(&["", "0", "0", "-1"]));
        }
        if self.dice.chance(8) {
            group = group.flag("ThreadGroup.delayedStart", true);
        }
        let budget = 1 + self.dice.below(most);
        let mut children = self.fill(budget, 0);
        if !children.iter().any(has_sampler) {
            children.push(self.sampler(0));
        }
        group.holding(children)
    }

    /// Generates the elements below a group or a controller, at most `budget`.
    fn fill(&mut self, budget: usize, depth: usize) -> Vec<Element> {
        let mut left = budget;
        let mut children = Vec::new();
        while left > 0 {
            let kind = self.dice.below(100);
            let child = if kind < 30 && depth < 4 && left > 1 {
                let mut child = (self.dice.weighted(CONTROLLERS).1)(self);
                // A Module or Include Controller has no children.
                if !matches!(child.class.as_str(), "ModuleController" | "IncludeController") {
                    let most = 1 + self.dice.below(left - 1);
                    let mut inner = self.fill(most, depth + 1);
                    // The sampler that ends a loop stays the last child.
                    inner.append(&mut child.children);
                    child.children = inner;
                }
                self.weights(child)
            } else if kind < 72 {
                self.sampler(left - 1)
            } else {
                self.around()
            };
            left = left.saturating_sub(child.count());
            children.push(child);
        }
        children
    }

    /// Gives a Weighted Switch Controller a table with the names of its children.
    fn weights(&mut self, child: Element) -> Element {
        if !child.class.ends_with("WeightedSwitchController") {
            return child;
        }
        let weighted = child.children.iter().filter(|inner| has_sampler(inner));
        let rows: Vec<Property> = weighted
            .map(|inner| {
                let weight = *self.dice.pick(&["1", "2", "3", "0", "x"]);
                let cells =
                    [inner.name.as_str(), weight, "true"].map(|cell| Property::string("0", cell));
                Property::list("0", cells.to_vec())
            })
            .collect();
        child.with(Property::list("Weights", rows))
    }

    /// Generates a sampler with at most `most` elements around it.
    fn sampler(&mut self, most: usize) -> Element {
        let mut sampler = (self.dice.weighted(SAMPLERS).1)(self);
        for _ in 0..self.dice.below(3).min(most) {
            let child = self.around();
            sampler.children.push(child);
        }
        if self.dice.chance(2) {
            sampler.enabled = false;
        }
        sampler
    }

    fn around(&mut self) -> Element {
        let mut element = (self.dice.weighted(AROUND).1)(self);
        if self.dice.chance(2) {
            element.enabled = false;
        }
        element
    }

    fn fragment(&mut self) -> Element {
        let inner = self.fill(2, 3);
        let target =
            Element::new("GenericController", "LogicControllerGui", "Target").holding(inner);
        let inner = failing("Inner".to_owned());
        let mut fragment =
            Element::new("TestFragmentController", "TestFragmentControllerGui", "Fragment")
                .holding(vec![target, inner]);
        fragment.enabled = self.dice.chance(50);
        fragment
    }
}

fn has_sampler(element: &Element) -> bool {
    let mut found = false;
    element.each(&mut |inner| {
        found |= SAMPLERS.iter().chain(CONTROLLERS).any(|(_, (class, _))| *class == inner.class);
    });
    found
}
