//! Markup as a tree. Contents and attribute values stay as written: nothing is unescaped, so nothing can change.

/// A node of the tree: an element or a property in XML.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) tag: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Node>,
    /// Text of an XML node without children.
    pub(crate) text: String,
}

impl Node {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn set_attribute(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.attributes.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Writes the node and its children, one tag per line.
    pub(crate) fn write(&self, depth: usize, out: &mut String) {
        self.write_start(depth, out);
        if self.children.is_empty() {
            *out += &self.text;
        } else {
            out.push('\n');
            for child in &self.children {
                child.write(depth + 1, out);
            }
            *out += &"  ".repeat(depth);
        }
        *out += &format!("</{}>\n", self.tag);
    }

    fn write_start(&self, depth: usize, out: &mut String) {
        *out += &format!("{}<{}", "  ".repeat(depth), self.tag);
        for (name, value) in &self.attributes {
            *out += &format!(" {name}=\"{value}\"");
        }
        out.push('>');
    }
}

/// Parses a string that contains only tags and text; returns its root.
pub(crate) fn parse(text: &str) -> Result<Node, String> {
    let mut open: Vec<Node> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        if let Some(inner) = open.last_mut() {
            inner.text += &rest[..at];
        }
        rest = &rest[at + 1..];
        let end = end_of_tag(rest).ok_or("a tag without its end")?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['!', '?']) {
            return Err(format!("<{tag}>: nothing but tags and text is read"));
        }
        if let Some(name) = tag.strip_prefix('/') {
            let mut node = open.pop().filter(|node| node.tag == name);
            let mut node = node.take().ok_or(format!("</{name}> closes nothing"))?;
            if !node.children.is_empty() {
                if !node.text.trim().is_empty() {
                    return Err(format!("<{name}> has text beside tags: {}", node.text.trim()));
                }
                node.text.clear();
            }
            match open.last_mut() {
                Some(outer) => outer.children.push(node),
                None => return Ok(node),
            }
            continue;
        }
        let node = start(tag.strip_suffix('/').unwrap_or(tag))?;
        match open.last_mut() {
            Some(outer) if tag.ends_with('/') => outer.children.push(node),
            None if tag.ends_with('/') => return Ok(node),
            _ => open.push(node),
        }
    }
    Err("the text ends within a tag".to_owned())
}

/// Returns the position of the `>` that ends a tag, outside attribute values.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b'>' && !quoted
    })
}

fn start(text: &str) -> Result<Node, String> {
    let (tag, mut rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut attributes = Vec::new();
    while let Some((name, after)) = rest.trim_start().split_once("=\"") {
        let (value, after) = after.split_once('"').ok_or(format!("<{text}>: {name} has no end"))?;
        attributes.push((name.to_owned(), value.to_owned()));
        rest = after;
    }
    match rest.trim() {
        "" => {
            Ok(Node { tag: tag.to_owned(), attributes, children: Vec::new(), text: String::new() })
        }
        other => Err(format!("<{text}>: {other} is no attribute")),
    }
}
