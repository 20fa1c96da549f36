//! Copies of subtrees that a plan uses in several places, or includes from another file.
//!
//! Copies are appended to the arena and to the children of their new parent, so that every element has one position in
//! the tree and one path. Spans and lines still refer to the original text. The cost grows with the size of the copy.

use crate::{Document, ElementId, Included};

impl Document {
    /// Adds a file to the list of included files, before its elements are grafted. Returns the file's index for
    /// [`Document::graft`].
    pub fn include(&mut self, name: String, from: &Document) -> u32 {
        let (source, references) = (from.source.clone(), from.references.clone());
        self.included.push(Included { name, source, references });
        self.included.len() as u32 - 1
    }

    /// Detaches all children of an element. The children stay in the arena, unreachable from the roots.
    pub fn clear_children(&mut self, id: ElementId) {
        self.elements[id.index()].children.clear();
    }

    /// Enables or disables an element of the plan.
    pub fn set_enabled(&mut self, id: ElementId, enabled: bool) {
        self.elements[id.index()].enabled = enabled;
    }

    /// Copies the element `root` of another document with its subtree, as the last child of `parent`. `file` is the
    /// index of the other document's file among the included ones; `None` if the element is from this document's own
    /// file.
    pub fn graft(
        &mut self,
        parent: ElementId,
        from: &Document,
        root: ElementId,
        file: Option<u32>,
    ) -> ElementId {
        let top = self.copy(parent, from, root, file);
        let mut open = vec![(root, top)];
        while let Some((original, copy)) = open.pop() {
            for child in &from.element(original).children {
                let made = self.copy(copy, from, *child, file);
                open.push((*child, made));
            }
        }
        top
    }

    fn copy(
        &mut self,
        parent: ElementId,
        from: &Document,
        id: ElementId,
        file: Option<u32>,
    ) -> ElementId {
        let made = ElementId(self.elements.len() as u32);
        let mut element = from.element(id).clone();
        element.children.clear();
        element.parent = Some(parent);
        element.file = file.or(element.file);
        self.elements.push(element);
        self.elements[parent.index()].children.push(made);
        made
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, parse};

    fn read(body: &str) -> Document {
        let text = format!("<jmeterTestPlan><hashTree>{body}</hashTree></jmeterTestPlan>");
        parse("p.jmx", text.into_bytes()).expect("a plan").0
    }

    #[test]
    fn copies_have_their_own_place_and_their_old_file() {
        let mut plan = read(
            r#"<A testclass="A" testname="a"/><hashTree><B testclass="B" testname="b"/><hashTree/></hashTree>"#,
        );
        let other = read(
            r#"<C testclass="C" testname="c"/><hashTree>
               <D testclass="D" testname="d" enabled="false"/><hashTree/><E testclass="E" testname="e"/><hashTree/></hashTree>"#,
        );
        let a = plan.roots()[0];
        let b = plan.element(a).children[0];
        let file = plan.include("other.jmx".to_owned(), &other);
        let c = plan.graft(b, &other, other.roots()[0], Some(file));
        let below: Vec<_> = plan.element(c).children.clone();
        let paths: Vec<_> = below.iter().map(|id| plan.path(*id)).collect();
        assert_eq!(paths, ["a > b > c > d", "a > b > c > e"]);
        assert_eq!(plan.file(below[1]), Some("other.jmx"));
        assert_eq!(plan.line(below[1]), 2);
        assert!(!plan.element(below[0]).enabled);
        let pristine = plan.clone();
        let again = plan.graft(a, &pristine, b, None);
        assert_eq!(plan.file(again), None);
        assert_eq!(plan.element(plan.element(again).children[0]).children.len(), 2);
        assert_eq!(plan.file(plan.element(again).children[0]), Some("other.jmx"));
    }
}
