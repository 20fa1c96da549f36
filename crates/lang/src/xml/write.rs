//! Serializes a part of a document as Xalan's serializer does; JMeter calls it a fragment.

use super::tree::{Kind, NodeId, Tree};

impl Tree {
    /// Appends the XML of a node with its content to `out`.
    pub fn write_fragment(&self, id: NodeId, out: &mut String) {
        // Prefixes declared in the open elements, innermost last.
        let mut declared: Vec<(&str, &str)> =
            vec![("", ""), ("xml", "http://www.w3.org/XML/1998/namespace")];
        let mut open: Vec<(NodeId, usize)> = Vec::new();
        let mut next = Some(id);
        while let Some(at) = next {
            let is_element = self.kind(at) == Kind::Element;
            let first = self.children(at).next().filter(|_| is_element);
            match self.kind(at) {
                Kind::Element => {
                    let mark = declared.len();
                    self.write_start(at, &mut declared, at == id, out);
                    if first.is_some() {
                        out.push('>');
                        open.push((at, mark));
                    } else {
                        out.push_str("/>");
                        declared.truncate(mark);
                    }
                }
                Kind::Text | Kind::CData => escape(self.value(at).unwrap_or(""), false, out),
                Kind::Comment => {
                    out.push_str("<!--");
                    out.push_str(self.value(at).unwrap_or(""));
                    out.push_str("-->");
                }
                Kind::Instruction => {
                    out.push_str("<?");
                    out.push_str(self.name(at));
                    let data = self.value(at).unwrap_or("");
                    if !data.is_empty() {
                        out.push(' ');
                        out.push_str(data);
                    }
                    out.push_str("?>");
                }
                Kind::Document | Kind::Attribute | Kind::Namespace => {}
            }
            next = first;
            let mut done = at;
            while next.is_none() && done != id {
                next = self.next(done);
                if next.is_none() {
                    let Some((parent, mark)) = open.pop() else { break };
                    out.push_str("</");
                    out.push_str(self.name(parent));
                    out.push('>');
                    declared.truncate(mark);
                    done = parent;
                }
            }
        }
    }

    /// Appends a start tag without its closing `>`.
    fn write_start<'t>(
        &'t self,
        id: NodeId,
        declared: &mut Vec<(&'t str, &'t str)>,
        is_outermost: bool,
        out: &mut String,
    ) {
        let name = self.name(id);
        out.push('<');
        out.push_str(name);
        let mark = declared.len();
        let mut declare = |prefix: &'t str, uri: &'t str| {
            let known = declared[..mark].iter().rev().find(|(known, _)| *known == prefix);
            let is_new =
                known.map_or(!uri.is_empty() || !prefix.is_empty(), |(_, known)| *known != uri);
            let is_own = declared[mark..].iter().any(|(known, _)| *known == prefix);
            if is_new && !is_own && (prefix.is_empty() || !uri.is_empty()) {
                declared.push((prefix, uri));
            }
        };
        for declaration in self.declarations(id).filter(|id| self.is_written(*id)) {
            declare(self.declared_prefix(declaration), self.value(declaration).unwrap_or(""));
        }
        if is_outermost {
            let mut above = self.parent(id);
            while let Some(at) = above {
                for declaration in self.declarations(at).filter(|id| self.is_written(*id)) {
                    declare(
                        self.declared_prefix(declaration),
                        self.value(declaration).unwrap_or(""),
                    );
                }
                above = self.parent(at);
            }
        }
        if !self.has_namespaces && !self.declares_default(id) {
            // Without namespaces, the serializer treats a name as having no namespace, whatever its prefix.
            let known =
                declared.iter_mut().enumerate().rev().find(|(_, (prefix, _))| prefix.is_empty());
            match known {
                Some((at, known)) if at >= mark => known.1 = "",
                Some((_, ("", ""))) | None => {}
                Some(_) => declared.push(("", "")),
            }
        }
        declared[mark..].sort_unstable();
        for (prefix, uri) in &declared[mark..] {
            out.push_str(" xmlns");
            if !prefix.is_empty() {
                out.push(':');
                out.push_str(prefix);
            }
            write_value(uri, out);
        }
        for attribute in self.attributes(id) {
            out.push(' ');
            out.push_str(self.name(attribute));
            write_value(self.value(attribute).unwrap_or(""), out);
        }
    }

    fn declares_default(&self, id: NodeId) -> bool {
        self.declarations(id).any(|id| self.declared_prefix(id).is_empty())
    }

    /// Returns true for namespace declarations that the document contains; false for the implicit declaration of the
    /// prefix `xml`.
    fn is_written(&self, id: NodeId) -> bool {
        self.name(id) != "xmlns:xml"
    }
}

/// Escapes text for any place in a document, as content or as a value. Line breaks become references, and characters
/// that XML cannot contain are removed.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => out.push_str(&format!("&#{};", u32::from(c))),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

fn write_value(value: &str, out: &mut String) {
    out.push_str("=\"");
    escape(value, true, out);
    out.push('"');
}

fn escape(text: &str, in_attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' if in_attribute => out.push_str("&#34;"),
            '\n' | '\t' if !in_attribute => out.push(c),
            ..' ' if c != ' ' => out.push_str(&format!("&#x{:X};", c as u32)),
            '\u{7f}'..='\u{9f}' | '\u{2028}' => {
                out.push_str(&format!("&#x{:X};", c as u32));
            }
            c => out.push(c),
        }
    }
}
