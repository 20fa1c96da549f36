//! The elements of a plan as rows: a tree with paths.

use serde::Serialize;

use crate::Plan;

/// An element of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Path of the element, which [`Plan::find`] finds.
    pub path: String,
    /// XML tag of the element, such as `HTTPSamplerProxy`.
    pub class: String,
    /// Name of the element.
    pub name: String,
    /// True if the element itself is enabled.
    pub enabled: bool,
    /// True if the element and all elements above it are enabled.
    pub active: bool,
    /// Number of elements above this one.
    pub depth: usize,
    /// Line of the element in the file, from 1.
    pub line: u32,
}

/// A property or attribute of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Path of the property below the element.
    pub prop: String,
    /// XML tag of the property; empty for an attribute.
    pub tag: String,
    /// Value without escapes; empty for a property that contains properties.
    pub value: String,
}

/// Lists the elements of a plan in document order.
pub fn list(plan: &Plan) -> Vec<Row> {
    let document = plan.document();
    let mut depths = vec![0; document.len()];
    let mut rows = Vec::with_capacity(document.len());
    for (id, path) in plan.paths() {
        let element = document.element(id);
        let depth = element.parent.map_or(0, |parent| depths[parent.index()] + 1);
        depths[id.index()] = depth;
        rows.push(Row {
            path,
            class: element.tag.clone(),
            name: element.name.clone(),
            enabled: element.enabled,
            active: document.is_enabled(id),
            depth,
            line: element.line,
        });
    }
    rows
}

/// Lists the attributes and properties of an element with their paths.
pub fn entries(plan: &Plan, element: jmx::ElementId) -> Vec<Entry> {
    let flat = crate::label::flatten(plan.xml(), plan.node(element));
    flat.into_iter().map(|one| Entry { prop: one.path, tag: one.tag, value: one.value }).collect()
}
