//! Shrinks a plan while it still differs.
//!
//! First, elements are removed, the largest first. Then elements are replaced by their children. Then properties,
//! values and names are simplified. A smaller plan is kept if its difference has no known cause, like that of the
//! original plan.

use crate::tree::{Element, Property};

/// Returns the smallest plan found for which `differs` holds, after at most `tries` attempts. `enough` is called when
/// no further element can be removed; if it returns true, properties are not shrunk.
pub(crate) fn smallest(
    plan: &Element,
    tries: usize,
    enough: &dyn Fn(&Element) -> bool,
    differs: &mut dyn FnMut(&Element) -> bool,
) -> Element {
    let mut plan = plan.clone();
    let mut left = tries;
    let mut run = |stages: &[Stage], plan: &mut Element| {
        loop {
            let mut taken = false;
            for stage in stages {
                let mut at = 0;
                while left > 0 {
                    let Some(smaller) = stage(plan, at) else { break };
                    if smaller != *plan {
                        left -= 1;
                        if differs(&smaller) {
                            *plan = smaller;
                            taken = true;
                            continue;
                        }
                    }
                    at += 1;
                }
            }
            if !taken || left == 0 {
                return;
            }
        }
    };
    run(&[without_elements, with_children_only], &mut plan);
    if !enough(&plan) {
        run(&[without_any_property], &mut plan);
        run(&[without_properties, with_plain_values], &mut plan);
    }
    plan
}

/// Function that returns the n-th smaller variant of a plan; `None` if there are no more.
type Stage = fn(&Element, usize) -> Option<Element>;

/// Paths of all elements except the root, as child indexes from the root.
fn places(plan: &Element) -> Vec<Vec<usize>> {
    fn walk(element: &Element, here: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        for (at, child) in element.children.iter().enumerate() {
            here.push(at);
            all.push(here.clone());
            walk(child, here, all);
            here.pop();
        }
    }
    let mut all = Vec::new();
    walk(plan, &mut Vec::new(), &mut all);
    all
}

fn at<'a>(plan: &'a mut Element, place: &[usize]) -> &'a mut Element {
    place.iter().fold(plan, |element, step| &mut element.children[*step])
}

/// Removes the n-th element, counted from the largest.
fn without_elements(plan: &Element, number: usize) -> Option<Element> {
    let mut places = places(plan);
    let mut smaller = plan.clone();
    places.sort_by_key(|place| std::cmp::Reverse(at(&mut smaller, place).count()));
    // The target's address stays, because without the address all requests fail with various errors.
    places.retain(|place| at(&mut smaller, place).name != "Target");
    let place = places.get(number)?;
    let (last, above) = place.split_last()?;
    at(&mut smaller, above).children.remove(*last);
    Some(smaller)
}

/// Replaces the n-th element by its children.
fn with_children_only(plan: &Element, number: usize) -> Option<Element> {
    let place = places(plan).into_iter().filter(|place| place.len() > 1).nth(number)?;
    let (last, above) = place.split_last()?;
    let mut smaller = plan.clone();
    let around = at(&mut smaller, above);
    let gone = around.children.remove(*last);
    let behind = around.children.split_off(*last);
    around.children.extend(gone.children);
    around.children.extend(behind);
    Some(smaller)
}

/// Paths of all elements of a plan, the root first.
fn all_places(plan: &Element) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    all.extend(places(plan));
    all
}

/// Prefixes of removable properties: JMeter omits these from a plan if they have their default values. Elements without
/// other properties would not occur in real plans.
const LEFT_OUT: &[&str] = &[
    "HTTPSampler.",
    "HTTPsampler.Files",
    "HTTPArgument.",
    "TestPlan.",
    "ThreadGroup.",
    "Assertion.custom",
    "Assertion.scope",
];

/// Properties that stay, although their names begin with a prefix in `LEFT_OUT`.
const ALWAYS: &[&str] = &[
    "ThreadGroup.main_controller",
    "ThreadGroup.num_threads",
    "ThreadGroup.on_sample_error",
    "TestPlan.user_defined_variables",
    "TestPlan.serialize_threadgroups",
    "HTTPSampler.method",
    "HTTPSampler.path",
    "HTTPSampler.domain",
    "HTTPSampler.port",
];

/// Properties whose values are not simplified.
const KEPT: &[&str] = &[
    "HTTPSampler.method",
    "HTTPSampler.domain",
    "HTTPSampler.implementation",
    "HTTPSampler.protocol",
    "HTTPSampler.contentEncoding",
    "TCPSampler.server",
    "hostname",
    "Cookie.domain",
    "Cookie.path",
    "Header.name",
];

/// Removes all removable properties of an element.
fn without_any_property(plan: &Element, number: usize) -> Option<Element> {
    let place = all_places(plan).into_iter().nth(number)?;
    let mut smaller = plan.clone();
    at(&mut smaller, &place).properties.retain(always);
    Some(smaller)
}

/// Removes the n-th removable property, at any depth.
fn without_properties(plan: &Element, number: usize) -> Option<Element> {
    fn remove(properties: &mut Vec<Property>, number: &mut usize) -> bool {
        let mut at = 0;
        while at < properties.len() {
            if !always(&properties[at]) {
                if *number == 0 {
                    properties.remove(at);
                    return true;
                }
                *number -= 1;
            }
            if let Property::Group { items, .. } = &mut properties[at]
                && remove(items, number)
            {
                return true;
            }
            at += 1;
        }
        false
    }
    edited(plan, number, &mut |element, number| remove(&mut element.properties, number))
}

fn always(property: &Property) -> bool {
    match property {
        Property::Leaf { name, .. } | Property::Group { name, .. } => {
            ALWAYS.contains(&name.as_str()) || !LEFT_OUT.iter().any(|start| name.starts_with(start))
        }
        Property::Verbatim(_) => false,
    }
}

/// Simplifies the n-th value: names lose their variable parts, other values become short.
fn with_plain_values(plan: &Element, number: usize) -> Option<Element> {
    fn simplify(properties: &mut [Property], number: &mut usize) -> bool {
        for property in properties {
            match property {
                // An invalid method, host or client would be another cause.
                Property::Leaf { name, .. } if KEPT.contains(&name.as_str()) => {}
                Property::Leaf { tag, value, .. } => {
                    let plainer = plainer(tag, value);
                    if *number < plainer.len() {
                        value.clone_from(&plainer[*number]);
                        return true;
                    }
                    *number -= plainer.len();
                }
                Property::Group { items, .. } => {
                    if simplify(items, number) {
                        return true;
                    }
                }
                Property::Verbatim(_) => {}
            }
        }
        false
    }
    edited(plan, number, &mut |element, number| {
        if element.name.contains(' ') || element.name.contains('$') {
            if *number == 0 {
                element.name = element.name.split([' ', '$']).next().unwrap_or("x").to_owned();
                return true;
            }
            *number -= 1;
        }
        simplify(&mut element.properties, number)
    })
}

fn plainer(tag: &str, value: &str) -> Vec<String> {
    let mut all: Vec<String> = match tag {
        "boolProp" if value == "true" => vec!["false".to_owned()],
        "intProp" if value != "0" => vec!["0".to_owned()],
        "stringProp" if value.parse::<i64>().is_ok_and(|n| n > 1) => vec!["1".to_owned()],
        "stringProp" if value.starts_with('/') && value != "/ok" => vec!["/ok".to_owned()],
        "stringProp" if value.contains('$') && value != "${__P(port)}" => {
            let mut shorter = vec!["a".to_owned(), "1".to_owned()];
            let before = value.split("${").next().unwrap_or_default();
            shorter.push(before.to_owned());
            shorter
        }
        "stringProp" if value.len() > 1 => vec!["a".to_owned()],
        _ => Vec::new(),
    };
    all.retain(|plain| plain != value);
    all
}

fn edited(
    plan: &Element,
    number: usize,
    edit: &mut dyn FnMut(&mut Element, &mut usize) -> bool,
) -> Option<Element> {
    let mut smaller = plan.clone();
    let mut number = number;
    for place in all_places(plan) {
        if edit(at(&mut smaller, &place), &mut number) {
            return Some(smaller);
        }
    }
    None
}
