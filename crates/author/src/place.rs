//! Replacements for one XML node: an attribute, a value, a new or a removed child.
//!
//! The functions return replacements and change nothing. New lines are indented like their neighbours.

use jmx::writer;

use crate::Refusal;
use crate::splice::{Splice, blank_after, blank_before};
use crate::tree::{NodeId, Role, Xml};

/// Sets an attribute, or removes it for `None`. Returns `None` if nothing changes.
pub(crate) fn attribute(
    xml: Xml<'_>,
    id: NodeId,
    name: &str,
    value: Option<&str>,
) -> Option<Splice> {
    let mut escaped = String::new();
    writer::push_attribute_value(&mut escaped, value.unwrap_or_default());
    match (xml.attribute(id, name), value) {
        (Some(_), Some(value)) if xml.attribute_value(id, name).as_deref() == Some(value) => None,
        (Some(found), Some(_)) => Some(Splice::new(found.value.clone(), escaped)),
        (Some(found), None) => {
            let before = xml.text[..found.name.start].trim_end();
            Some(Splice::new(before.len()..found.value.end + 1, ""))
        }
        (None, Some(_)) => {
            let node = xml.node(id);
            let last = node.attributes.last().map_or(node.tag.end, |last| last.value.end + 1);
            Some(Splice::insert(last, format!(" {name}=\"{escaped}\"")))
        }
        (None, None) => None,
    }
}

/// Sets the text of a property without child tags. An `intProp`, `longProp` or `boolProp` whose new text is of another
/// kind becomes a `stringProp`, because JMeter could not load it otherwise.
pub(crate) fn value(
    xml: Xml<'_>,
    id: NodeId,
    value: &str,
    line_end: &str,
) -> Result<Vec<Splice>, Refusal> {
    let id = inner_value(xml, id).unwrap_or(id);
    let node = xml.node(id);
    if !node.children.is_empty() || matches!(node.role, Role::List | Role::Object) {
        return Err(Refusal::new("the property contains properties: add one of them to the path"));
    }
    if xml.value(id).as_deref() == Some(value) && jmx::tag_text(xml.content(id)).is_some() {
        return Ok(Vec::new());
    }
    let mut escaped = String::new();
    writer::push_text(&mut escaped, value);
    if line_end != "\n" {
        escaped = escaped.replace('\n', line_end);
    }
    let tag = xml.tag(id);
    let other = (!fits(tag, value)).then_some("stringProp");
    let mut splices = Vec::new();
    if let Some(other) = other {
        splices.push(Splice::new(node.tag.clone(), other));
    }
    let tag = other.unwrap_or(tag);
    if node.is_closed() {
        let end = node.start.end;
        splices.push(Splice::new(end - 2..end, format!(">{escaped}</{tag}>")));
        return Ok(splices);
    }
    splices.push(Splice::new(node.content(), escaped));
    if other.is_some() {
        splices.push(Splice::new(node.end.clone(), format!("</{tag}>")));
    }
    Ok(splices)
}

/// Returns the child `value` of a number such as `<doubleProp><name>…</name><value>…</value></doubleProp>`.
fn inner_value(xml: Xml<'_>, id: NodeId) -> Option<NodeId> {
    let children = &xml.node(id).children;
    let found = children.iter().find(|child| xml.tag(**child) == "value").copied()?;
    (xml.node(id).role == Role::Tagged && xml.node(found).children.is_empty()).then_some(found)
}

/// True if JMeter can load a property with this tag and text.
fn fits(tag: &str, value: &str) -> bool {
    match tag {
        "intProp" => value.parse::<i32>().is_ok(),
        "longProp" => value.parse::<i64>().is_ok(),
        "boolProp" => value == "true" || value == "false",
        _ => true,
    }
}

/// Inserts lines into a node, behind the child `after`; before the first child for `None`. `fragment` begins with `<`
/// and ends without a line end; it is made for the indentation that it gets.
pub(crate) fn insert(
    xml: Xml<'_>,
    id: NodeId,
    after: Option<NodeId>,
    line_end: &str,
    fragment: &str,
) -> Splice {
    let (text, node) = (xml.text, xml.node(id));
    let neighbour = after.or_else(|| node.children.first().copied());
    let Some(neighbour) = neighbour else { return fill(xml, id, line_end, fragment) };
    let start = xml.node(neighbour).start.start;
    let indent = match blank_before(text, start) {
        Some(line) => text[line..start].to_owned(),
        None => "  ".repeat(node.depth + 1),
    };
    match after {
        Some(after) => {
            let end = xml.node(after).end.end;
            match blank_after(text, end) {
                Some(line) => Splice::insert(line, format!("{indent}{fragment}{line_end}")),
                None => Splice::insert(end, format!("{line_end}{indent}{fragment}")),
            }
        }
        None => match blank_before(text, start) {
            Some(line) => Splice::insert(line, format!("{indent}{fragment}{line_end}")),
            None => Splice::insert(start, format!("{fragment}{line_end}{indent}")),
        },
    }
}

/// Inserts lines into a node without children.
fn fill(xml: Xml<'_>, id: NodeId, line_end: &str, fragment: &str) -> Splice {
    let (text, node) = (xml.text, xml.node(id));
    let start = node.start.start;
    let own = match blank_before(text, start) {
        Some(line) => text[line..start].to_owned(),
        None => "  ".repeat(node.depth),
    };
    let inside = format!("{line_end}{own}  {fragment}{line_end}{own}");
    if node.is_closed() {
        let end = node.start.end;
        return Splice::new(end - 2..end, format!(">{inside}</{}>", xml.tag(id)));
    }
    let content = node.content();
    if text[content.clone()].trim().is_empty() {
        return Splice::new(content, inside);
    }
    // Comments stay before the new lines.
    let kept = text[..content.end].trim_end().len();
    Splice::new(kept..content.end, inside)
}

/// Removes a part of a node's content, with its lines if nothing else is on them. A node that becomes empty is written
/// as one tag, as JMeter does.
pub(crate) fn remove(xml: Xml<'_>, id: NodeId, part: std::ops::Range<usize>) -> Splice {
    let (text, node) = (xml.text, xml.node(id));
    let content = node.content();
    let rest = [&text[content.start..part.start], &text[part.end..content.end]];
    if rest.iter().all(|rest| rest.trim().is_empty()) {
        return Splice::new(node.start.end - 1..node.end.end, "/>");
    }
    match (blank_before(text, part.start), blank_after(text, part.end)) {
        (Some(start), Some(end)) => Splice::new(start..end, ""),
        _ => Splice::new(part, ""),
    }
}

/// Returns the text of a node and its `hashTree` for another level of indentation. Only white space between tags
/// changes; texts of several lines keep theirs.
pub(crate) fn reindented(xml: Xml<'_>, top: &[NodeId], levels: isize) -> String {
    let (Some(first), Some(last)) = (top.first(), top.last()) else { return String::new() };
    let (start, end) = (xml.node(*first).start.start, xml.node(*last).end.end);
    let mut places: Vec<usize> = top.iter().skip(1).map(|id| xml.node(*id).start.start).collect();
    let mut open = top.to_vec();
    while let Some(id) = open.pop() {
        let node = xml.node(id);
        if node.children.is_empty() || node.role == Role::Scalar {
            continue;
        }
        places.extend(node.children.iter().map(|child| xml.node(*child).start.start));
        places.push(node.end.start);
        open.extend(&node.children);
    }
    places.sort_unstable();
    let mut out = String::with_capacity(end - start);
    let mut at = start;
    let width = 2 * levels.unsigned_abs();
    for place in places {
        let Some(line) = blank_before(xml.text, place).filter(|line| *line > at) else { continue };
        out.push_str(&xml.text[at..line]);
        at = line;
        if levels > 0 {
            out.push_str(&" ".repeat(width));
        } else {
            let spaces = xml.text[line..place].bytes().take_while(|byte| *byte == b' ').count();
            at += spaces.min(width);
        }
    }
    out.push_str(&xml.text[at..end]);
    out
}
