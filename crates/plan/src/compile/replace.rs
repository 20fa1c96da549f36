//! Module and Include Controllers: what they stand for is put below them, before anything is compiled.
//!
//! As in JMeter: a Module Controller runs its target, found by the names on the way to it, with its own copy of all elements;
//! a disabled target runs as well. An Include Controller runs what is in the first Test Fragment of another file. A plan with a Module
//! Controller that points nowhere does not run, even if it is disabled. Costs a copy of the document, and of each target for each
//! controller that points to it; plans with neither cost nothing.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jmx::{Diag, Document, ElementId, MAX_LEVELS, NotXml};

use super::Settings;
use super::scope::{children, class, kind};
use crate::support::Kind;

/// A plan may name so many elements at most, counting each copy.
const MOST_ELEMENTS: usize = 1 << 16;

/// A document in which the controllers have what they stand for.
pub(super) struct Replaced<'a> {
    pub(super) doc: Cow<'a, Document>,
    pub(super) diags: Vec<Diag>,
}

/// A subtree that a controller stands for.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// An element of the plan.
    Element(ElementId),
    /// Another file.
    File(PathBuf),
}

/// Puts below each Module and Include Controller what it stands for.
pub(super) fn replace<'a>(doc: &'a Document, settings: &Settings) -> Replaced<'a> {
    let diags = Vec::new();
    let is_any = |id: ElementId| matches!(class(doc, id), "ModuleController" | "IncludeController");
    if !doc.ids().any(is_any) {
        return Replaced { doc: Cow::Borrowed(doc), diags };
    }
    let mut work = Work {
        original: doc,
        settings,
        doc: doc.clone(),
        sources: HashMap::new(),
        files: HashMap::new(),
        diags,
    };
    if work.run() {
        return Replaced { doc: Cow::Owned(work.doc), diags: work.diags };
    }
    Replaced { doc: Cow::Borrowed(doc), diags: work.diags }
}

struct Work<'a> {
    /// The plan as its file has it, which targets are copied from.
    original: &'a Document,
    settings: &'a Settings,
    doc: Document,
    /// The subtrees that the controllers replaced so far stand for.
    sources: HashMap<ElementId, Source>,
    /// Files read so far: the document, and its number among the included ones.
    files: HashMap<PathBuf, (std::rc::Rc<Document>, u32)>,
    diags: Vec<Diag>,
}

impl Work<'_> {
    /// False: it would be too much, and the document is to stay as it was.
    fn run(&mut self) -> bool {
        for id in self.original.ids() {
            if class(self.original, id) == "ModuleController" && target(self.original, id).is_none()
            {
                let path = node_path(self.original, id).join(" > ");
                let message = match path.as_str() {
                    "" => "this Module Controller has no target".to_owned(),
                    path => {
                        format!("nothing stands at {path}, where this Module Controller points")
                    }
                };
                let help = "choose the target again in JMeter, which refuses the plan as well, even where the controller is disabled";
                self.diags
                    .push(Diag::error("module-target", message).help(help).on(self.original, id));
            }
        }
        let mut open: Vec<ElementId> = self.doc.roots().to_vec();
        open.reverse();
        while let Some(id) = open.pop() {
            match class(&self.doc, id) {
                "ModuleController" => self.module(id),
                "IncludeController" => self.include(id),
                _ => {}
            }
            if self.doc.len() > MOST_ELEMENTS {
                let message = format!(
                    "Module and Include Controllers make more than {MOST_ELEMENTS} elements"
                );
                self.fail("module-size", message, "point to smaller parts", id);
                return false;
            }
            open.extend(children(&self.doc, id).into_iter().rev());
        }
        true
    }

    fn module(&mut self, id: ElementId) {
        self.doc.clear_children(id);
        if self.doc.element(id).file.is_some() {
            let message = "a Module Controller in an included file runs nothing: JMeter looks for targets in the plan's own file only";
            self.diags.push(
                Diag::warning("module-included", message)
                    .help("include the target with an Include Controller instead")
                    .on(&self.doc, id),
            );
            return;
        }
        // Copies have the path of what they were copied from, so the target is the same.
        let Some(target) = find(self.original, &node_path(&self.doc, id)) else { return };
        if matches!(kind(self.original, target), Kind::Group | Kind::Plan) {
            let message =
                "a Module Controller points to a controller, not to a thread group or a plan";
            self.fail("module-target", message, "choose a controller", id);
            return;
        }
        if self.stands_for(id, Source::Element(target), "this Module Controller runs itself") {
            let copy = self.doc.graft(id, self.original, target, None);
            self.doc.set_enabled(copy, true);
        }
    }

    fn include(&mut self, id: ElementId) {
        let include_path = self.doc.element(id).props.str("IncludeController.includepath");
        let include_path = include_path.unwrap_or("").to_owned();
        if include_path.is_empty() {
            return;
        }
        let path = self.locate(&include_path);
        let found = match self.read(&path) {
            Ok(found) => found,
            Err(why) => {
                let message = format!(
                    "{} cannot be included: {why}; the plan runs without what is in it",
                    path.display()
                );
                let help = "JMeter looks in the folder it is started in, with includecontroller.prefix in front, then beside the plan";
                let warning = Diag::warning("include-missing", message).help(help);
                self.diags.push(warning.on(&self.doc, id));
                return;
            }
        };
        if !self.stands_for(
            id,
            Source::File(path.clone()),
            "this Include Controller includes itself",
        ) {
            return;
        }
        let (from, file) = found;
        self.doc.clear_children(id);
        let Some(branch) = fragment(&from) else {
            let message = format!("{} has no Test Fragment", path.display());
            let help = "move what is to be included into a Test Fragment; JMeter does not start such a plan either";
            return self.fail("include-without-fragment", message, help, id);
        };
        for child in children(&from, branch) {
            self.doc.graft(id, &from, child, Some(file));
        }
    }

    /// Where JMeter looks for a file: against the folder it was started in, with the prefix; then beside the plan, without.
    fn locate(&self, include_path: &str) -> PathBuf {
        let prefix = self.settings.property("includecontroller.prefix", "");
        let first = PathBuf::from(format!("{prefix}{include_path}").trim());
        if first.is_absolute() || first.exists() {
            return first;
        }
        self.settings.folder.join(include_path)
    }

    fn read(&mut self, path: &Path) -> Result<(std::rc::Rc<Document>, u32), String> {
        if let Some((document, file)) = self.files.get(path) {
            return Ok((std::rc::Rc::clone(document), *file));
        }
        if path.is_dir() {
            return Err("it is a folder".to_owned());
        }
        let bytes = crate::input::read(path).map_err(|error| error.to_string())?;
        let name = path.display().to_string();
        let (document, mut diags) =
            jmx::parse(&name, bytes).map_err(|NotXml(diag)| diag.message)?;
        for diag in &mut diags {
            diag.file = Some(name.clone());
        }
        self.diags.append(&mut diags);
        let file = self.doc.include(name, &document);
        let document = std::rc::Rc::new(document);
        self.files.insert(path.to_owned(), (std::rc::Rc::clone(&document), file));
        Ok((document, file))
    }

    /// Notes what a controller stands for. False, with a finding, where that would have no end.
    fn stands_for(&mut self, id: ElementId, source: Source, complaint: &str) -> bool {
        let (mut at, mut depth) = (self.doc.element(id).parent, 0);
        while let Some(around) = at {
            depth += 1;
            if self.sources.get(&around) == Some(&source) || depth > MAX_LEVELS {
                let message = format!("{complaint}, without end");
                self.fail("endless-module", message, "JMeter runs out of stack on such a plan", id);
                return false;
            }
            at = self.doc.element(around).parent;
        }
        self.sources.insert(id, source);
        true
    }

    fn fail(&mut self, code: &'static str, message: impl Into<String>, help: &str, id: ElementId) {
        self.diags.push(Diag::error(code, message).help(help).on(&self.doc, id));
    }
}

/// The names on the way to a Module Controller's target, from the invisible root down.
fn node_path(doc: &Document, id: ElementId) -> Vec<&str> {
    let members = doc.element(id).props.collection("ModuleController.node_path");
    members.iter().map(|member| member.text().unwrap_or("")).skip(1).collect()
}

fn target(doc: &Document, id: ElementId) -> Option<ElementId> {
    find(doc, &node_path(doc, id))
}

/// The element at a path of names: of several the last. No part of the way may be a Module Controller.
fn find(doc: &Document, path: &[&str]) -> Option<ElementId> {
    let (first, rest) = path.split_first()?;
    let matches = |id: &ElementId, name: &str| {
        doc.element(*id).name == name && class(doc, *id) != "ModuleController"
    };
    let roots = doc.roots().iter().copied();
    let mut found: Vec<ElementId> =
        roots.filter(|id| class(doc, *id) == "TestPlan" && matches(id, first)).collect();
    for name in rest {
        let below = found.iter().flat_map(|id| &doc.element(*id).children).copied();
        found = below.filter(|id| matches(id, name)).collect();
    }
    found.last().copied()
}

/// The Test Fragment of an included file: the first below its Test Plan, enabled or not.
fn fragment(doc: &Document) -> Option<ElementId> {
    let mut level: &[ElementId] = doc.roots();
    loop {
        let is =
            |id: &&ElementId| matches!(class(doc, **id), "TestPlan" | "TestFragmentController");
        let id = *level.iter().find(is)?;
        if class(doc, id) == "TestFragmentController" {
            return Some(id);
        }
        level = &doc.element(id).children;
    }
}
