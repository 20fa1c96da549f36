//! Presentation as JTidy cleans it up: presentational elements become style, and a `div` that contains only another
//! `div` is merged with it.

use super::page::{NodeKind, Page};
use super::tags;

/// Replaces the presentational elements of a page by styles.
pub(super) fn clean(page: &mut Page) {
    for at in page.inside_out() {
        match page.name(at) {
            "center" => {
                page.rename(at, "div");
                page.add_style(at, "text-align: center");
            }
            "script" if !page.has(at, "type") => page.set(at, "type", "text/javascript"),
            "style" if !page.has(at, "type") => page.set(at, "type", "text/css"),
            "body" => wrap_fields(page, at),
            _ => {}
        }
        if takes_style(page.name(at)) {
            if let Some(align) = page.take(at, "align") {
                page.add_style(at, &format!("text-align: {align}"));
            }
            take_over(page, at);
        }
        if page.name(at) == "div" {
            merge(page, at);
        }
        if page.name(at) == "font" && !is_only_child(page, at) {
            let style = font_style(page, at);
            page.rename(at, "span");
            page.clear_attributes(at);
            page.add_style(at, &style);
        }
    }
}

/// Returns true for blocks that take over the style of an only child (`b`, `i` or `font`).
fn takes_style(name: &str) -> bool {
    !name.is_empty()
        && !tags::is_inline(name)
        && !matches!(
            name,
            "table"
                | "tr"
                | "li"
                | "td"
                | "th"
                | "html"
                | "head"
                | "body"
                | "hr"
                | "col"
                | "caption"
                | "frameset"
                | "title"
                | "link"
                | "meta"
                | "style"
                | "base"
                | "option"
                | "optgroup"
        )
}

fn is_only_child(page: &Page, at: usize) -> bool {
    let parent = page.nodes[at].parent;
    page.nodes[parent].children.len() == 1 && takes_style(page.name(parent))
}

/// Removes an only child that is bold, italic or a font; its style and its content go to the parent.
fn take_over(page: &mut Page, at: usize) {
    while let [child] = page.nodes[at].children[..] {
        let style = match page.name(child) {
            "b" => "font-weight: bold".to_owned(),
            "i" => "font-style: italic".to_owned(),
            "font" => font_style(page, child),
            _ => return,
        };
        page.add_style(at, &style);
        page.replace_children(at, child);
    }
}

/// Merges an element with its only child while the child is a `div`: joins their classes and styles.
fn merge(page: &mut Page, at: usize) {
    while let [child] = page.nodes[at].children[..]
        && page.name(child) == "div"
    {
        if let Some(class) = page.take(child, "class") {
            let own = page.take(at, "class");
            let class = own.map_or_else(|| class.to_string(), |own| format!("{own} {class}"));
            page.set(at, "class", &class);
        }
        if let Some(style) = page.take(child, "style") {
            page.add_style(at, &style);
        }
        page.replace_children(at, child);
    }
}

/// Wraps fields that are directly in the body into a form, with the inline content after them.
fn wrap_fields(page: &mut Page, body: usize) {
    let children = std::mem::take(&mut page.nodes[body].children);
    let mut form: Option<usize> = None;
    for child in children {
        let is_block = !page.name(child).is_empty() && !tags::is_inline(page.name(child));
        if is_block {
            form = None;
        } else if form.is_none() && page.name(child) == "input" {
            let made =
                page.add(NodeKind::Element { name: "form".into(), attributes: Vec::new() }, body);
            page.nodes[body].children.push(made);
            form = Some(made);
        }
        let parent = form.unwrap_or(body);
        page.nodes[child].parent = parent;
        page.nodes[parent].children.push(child);
    }
}

fn font_style(page: &Page, at: usize) -> String {
    let get = |name: &str| page.get(at, name);
    let mut style = Vec::new();
    if let Some(color) = get("color") {
        style.push(format!("color: {color}"));
    }
    if let Some(face) = get("face") {
        style.push(format!("font-family: {face}"));
    }
    if let Some(size) = get("size").and_then(font_size) {
        style.push(format!("font-size: {size}"));
    }
    style.join("; ")
}

/// Returns the CSS size by which JTidy replaces the `size` attribute of a `font` element.
fn font_size(size: &str) -> Option<&'static str> {
    Some(match size {
        "0" => "60%",
        "1" => "70%",
        "2" => "80%",
        "4" => "120%",
        "5" => "150%",
        "6" => "200%",
        "-1" => "80%",
        "-2" => "64%",
        "-3" => "51%",
        "+1" => "120%",
        "+2" => "144%",
        "+3" => "172%",
        _ => return None,
    })
}

impl Page {
    fn rename(&mut self, at: usize, to: &str) {
        if let NodeKind::Element { name, .. } = &mut self.nodes[at].what {
            *name = to.into();
        }
    }

    fn attributes(&mut self, at: usize) -> Option<&mut Vec<(Box<str>, Box<str>)>> {
        match &mut self.nodes[at].what {
            NodeKind::Element { attributes, .. } => Some(attributes),
            _ => None,
        }
    }

    fn get(&self, at: usize, name: &str) -> Option<&str> {
        let NodeKind::Element { attributes, .. } = &self.nodes[at].what else { return None };
        attributes.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }

    fn has(&self, at: usize, name: &str) -> bool {
        self.get(at, name).is_some()
    }

    fn take(&mut self, at: usize, name: &str) -> Option<Box<str>> {
        let attributes = self.attributes(at)?;
        let place = attributes.iter().position(|(known, _)| **known == *name)?;
        Some(attributes.remove(place).1)
    }

    fn set(&mut self, at: usize, name: &str, value: &str) {
        if let Some(attributes) = self.attributes(at) {
            attributes.push((name.into(), value.into()));
        }
    }

    fn clear_attributes(&mut self, at: usize) {
        if let Some(attributes) = self.attributes(at) {
            attributes.clear();
        }
    }

    fn add_style(&mut self, at: usize, style: &str) {
        if style.is_empty() {
            return;
        }
        let own = self.take(at, "style");
        let style = own.map_or_else(|| style.to_owned(), |own| format!("{own}; {style}"));
        self.set(at, "style", &style);
    }

    /// Replaces a child element by the child's content.
    fn replace_children(&mut self, at: usize, child: usize) {
        let children = std::mem::take(&mut self.nodes[child].children);
        for inner in &children {
            self.nodes[*inner].parent = at;
        }
        self.nodes[at].children = children;
    }
}
