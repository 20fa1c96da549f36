//! Module and Include Controllers: their targets are inserted below them before the plan is compiled.
//!
//! As in JMeter, a Module Controller runs a copy of its target, which the path of names in the plan identifies,
//! even if the target is disabled. An Include Controller runs the first Test Fragment of another file. A plan with
//! a Module Controller without a valid target does not run, even if the controller is disabled. Cost: a copy of the
//! document, and of each target for each controller that refers to it; nothing for plans without such controllers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jmx::{Diag, Document, ElementId, MAX_LEVELS, NotXml};

use super::Settings;
use super::scope::{children, class, kind};
use crate::support::Kind;

/// Maximum number of elements in a plan, including each copy.
const MOST_ELEMENTS: usize = 1 << 16;

/// The document with the targets of Module and Include Controllers inserted.
pub(super) struct Replaced<'a> {
    pub(super) doc: Cow<'a, Document>,
    pub(super) diags: Vec<Diag>,
}

/// The source of the subtree that replaces a controller's content.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// An element of the plan, the target of a Module Controller.
    Element(ElementId),
    /// The Test Fragment of an included file.
    File(PathBuf),
}

/// Inserts the target of each Module and Include Controller below it.
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
    /// The plan as in its file, the source of all copies.
    original: &'a Document,
    settings: &'a Settings,
    doc: Document,
    /// Source of each controller replaced so far; detects endless inclusion.
    sources: HashMap<ElementId, Source>,
    /// Files read so far: the document, and its index among the included files.
    files: HashMap<PathBuf, (std::rc::Rc<Document>, u32)>,
    diags: Vec<Diag>,
}

impl Work<'_> {
    /// Inserts the targets of all controllers. Returns false if the document would be too large, and then does not
    /// change it.
    fn run(&mut self) -> bool {
        for id in self.original.ids() {
            if class(self.original, id) == "ModuleController" && target(self.original, id).is_none()
            {
                let path = node_path(self.original, id).join(" > ");
                let message = match path.as_str() {
                    "" => "this Module Controller has no target".to_owned(),
                    path => {
                        format!("this Module Controller points to {path}, which does not exist")
                    }
                };
                let help = "choose the target again in JMeter; JMeter refuses the plan too, even if the controller is \
                    disabled";
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
                    "Module and Include Controllers insert more than {MOST_ELEMENTS} elements"
                );
                self.fail("module-size", message, "choose smaller targets", id);
                return false;
            }
            open.extend(children(&self.doc, id).into_iter().rev());
        }
        true
    }

    fn module(&mut self, id: ElementId) {
        self.doc.clear_children(id);
        if self.doc.element(id).file.is_some() {
            let message = "a Module Controller in an included file does nothing: JMeter looks for targets only in the \
                plan's own file";
            self.diags.push(
                Diag::warning("module-included", message)
                    .help("use an Include Controller to insert the target")
                    .on(&self.doc, id),
            );
            return;
        }
        // A copy is identified by the path of its original, so that its target is the same.
        let Some(target) = find(self.original, &node_path(&self.doc, id)) else { return };
        if matches!(kind(self.original, target), Kind::Group | Kind::Plan) {
            let message =
                "a Module Controller must point to a controller, not to a thread group or a plan";
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
                let message =
                    format!("cannot include {}: {why}; the plan runs without it", path.display());
                let help = "JMeter looks in its working directory, with the prefix includecontroller.prefix, then in \
                    the plan's folder";
                let warning = Diag::warning("include-missing", message)
                    .about(path.display().to_string())
                    .help(help);
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
            let help =
                "move the elements into a Test Fragment; JMeter does not start such a plan either";
            return self.fail("include-without-fragment", message, help, id);
        };
        for child in children(&from, branch) {
            self.doc.graft(id, &from, child, Some(file));
        }
    }

    /// Returns the path of an included file. As in JMeter, it is first looked up in the working directory, with the
    /// prefix, and then in the plan's folder, without the prefix.
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

    /// Stores the source of a controller's content in `sources`. Returns false and reports a finding if the content
    /// would include itself endlessly.
    fn stands_for(&mut self, id: ElementId, source: Source, complaint: &str) -> bool {
        let (mut at, mut depth) = (self.doc.element(id).parent, 0);
        while let Some(around) = at {
            depth += 1;
            if self.sources.get(&around) == Some(&source) || depth > MAX_LEVELS {
                let message = format!("{complaint}, without end");
                self.fail(
                    "endless-module",
                    message,
                    "JMeter fails with a stack overflow on such a plan",
                    id,
                );
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

/// Returns the names on the path to a Module Controller's target, starting at the invisible root.
fn node_path(doc: &Document, id: ElementId) -> Vec<&str> {
    let members = doc.element(id).props.collection("ModuleController.node_path");
    members.iter().map(|member| member.text().unwrap_or("")).skip(1).collect()
}

fn target(doc: &Document, id: ElementId) -> Option<ElementId> {
    find(doc, &node_path(doc, id))
}

/// Returns the last element at a path of names. No element on the path may be a Module Controller.
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

/// Returns the Test Fragment of an included file: the first below its Test Plan, enabled or not.
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
