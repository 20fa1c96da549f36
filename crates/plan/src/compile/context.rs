//! State that the compilers of single elements share: the document, and the names and problems found so far.
//!
//! An element in the scope of many samplers is compiled once per sampler, but each of its problems is reported
//! once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jmx::{Diag, Document, ElementId, Prop, Props};

use super::{Settings, java_backing};
use crate::script::{SWITCH, Scripted, puts_objects};
use crate::support::Level;
use crate::template::{Reason, Template, TemplateCompiler};

/// State of a compilation that the compilers of single elements read and write.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) doc: &'a Document,
    pub(crate) settings: &'a Settings,
    pub(crate) text: TemplateCompiler,
    diags: Vec<Diag>,
    told: HashSet<(Option<String>, u32, &'static str, String)>,
    /// Remarks that lower the support level of a single element below the level of its class.
    remarks: BTreeMap<ElementId, Vec<(Level, String)>>,
    /// Elements and expressions that Java runs, collected so far.
    pub(super) java_backing: java_backing::State,
    /// Scripts of elements; `None` for a script that is not simple.
    pub(crate) scripts: HashMap<ElementId, Option<Arc<Scripted>>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(doc: &'a Document, settings: &'a Settings) -> Self {
        // An init file runs before the script and may redefine names.
        let leaves_scripts = !settings.is(SWITCH, true)
            || settings.properties.contains_key("beanshell.function.init");
        let mut text = TemplateCompiler::of(settings.java_backing, leaves_scripts);
        text.property_objects = settings.java_backing && !leaves_scripts && puts_objects(doc);
        Self {
            doc,
            settings,
            text,
            diags: Vec::new(),
            told: HashSet::new(),
            remarks: BTreeMap::new(),
            java_backing: java_backing::State::default(),
            scripts: HashMap::new(),
        }
    }

    pub(crate) fn props(&self, id: ElementId) -> &'a Props {
        &self.doc.element(id).props
    }

    /// Compiles the cells of a table as templates. Missing cells become empty templates.
    pub(crate) fn cells<const N: usize>(
        &mut self,
        id: ElementId,
        rows: &[Prop],
    ) -> Vec<[Template; N]> {
        let mut row = |row: &Prop| {
            let cells = row.members();
            std::array::from_fn(|at| {
                self.text(id, cells.get(at).and_then(Prop::text).unwrap_or_default())
            })
        };
        rows.iter().map(&mut row).collect()
    }

    /// Compiles a string of an element to a template.
    pub(crate) fn text(&mut self, id: ElementId, source: &str) -> Template {
        let text = Template::compile(source, &mut self.text);
        self.settle(id);
        text
    }

    /// Compiles the value of a property to a template; a missing property becomes an empty template.
    pub(crate) fn prop(&mut self, id: ElementId, name: &str) -> Template {
        self.prop_or(id, name, "")
    }

    /// Compiles the value of a property to a template, with a default for a missing property.
    pub(crate) fn prop_or(&mut self, id: ElementId, name: &str, default: &str) -> Template {
        let source = self.props(id).str(name).unwrap_or(default);
        self.text(id, source)
    }

    /// Returns the value of a check box, or `default` if the property is missing. A value with an expression is
    /// reported and counts as false.
    pub(crate) fn flag(&mut self, id: ElementId, name: &str, default: bool) -> bool {
        let Some(source) = self.props(id).str(name) else { return default };
        if source.contains("${") {
            let message =
                format!("{name} contains an expression, which is not evaluated; false is used");
            self.warn(id, "expression-in-flag", message, "write true or false");
        }
        source.eq_ignore_ascii_case("true")
    }

    /// Reports the problems that the template compiler found in an element's expressions.
    pub(crate) fn settle(&mut self, id: ElementId) {
        for problem in std::mem::take(&mut self.text.problems) {
            let (function, source) = (problem.function, problem.source);
            match problem.reason {
                Reason::NeedsJvm if self.settings.java_backing => {
                    self.remark(id, Level::Jvm, format!("{function} runs in Java: {source}"));
                }
                Reason::NeedsJvm => {
                    self.remark(
                        id,
                        Level::Jvm,
                        format!("{function} needs a JVM: {source} is not evaluated"),
                    );
                }
                Reason::Unknown if self.settings.java_backing => {
                    let message = format!(
                        "{function} is not a function of JMeter: it runs in Java if a jar provides it; otherwise it is \
                        not evaluated"
                    );
                    self.remark(id, Level::Jvm, message);
                }
                Reason::Unknown => {
                    let message = format!(
                        "{function} is not a function of JMeter: {source} is not evaluated, as in a JMeter without its \
                        plug-in"
                    );
                    let help = "check the spelling and capitals; a plug-in's jar is found in JMeter's folder if Java \
                        is installed (throng jvm status)";
                    self.warn(id, "unknown-function", message, help);
                }
                Reason::Unsupported(what) => {
                    self.remark(id, Level::Unsupported, format!("{function}: {what}"));
                }
                Reason::Invalid(message) => {
                    let message = format!(
                        "{source} cannot be parsed: {message}; JMeter does not start such a plan"
                    );
                    self.remark(id, Level::Unsupported, message);
                }
            }
        }
    }

    /// Adds a remark to an element: a support level, to which the element's level is lowered, and the consequence for
    /// the run.
    pub(crate) fn remark(&mut self, id: ElementId, level: Level, consequence: impl Into<String>) {
        let remark = (level, consequence.into());
        let remarks = self.remarks.entry(id).or_default();
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }

    /// Lowers the support level of an element, because `part` of it is the Java class `class`.
    pub(crate) fn remark_class(&mut self, id: ElementId, part: &str, class: &str) {
        let what = if self.settings.java_backing {
            format!("{part} {class} runs in Java if a jar provides it")
        } else {
            format!("{part} {class} needs a JVM")
        };
        self.remark(id, Level::Jvm, what);
    }

    pub(crate) fn remarks(&self, id: ElementId) -> &[(Level, String)] {
        self.remarks.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn warn(
        &mut self,
        id: ElementId,
        code: &'static str,
        message: impl Into<String>,
        help: &str,
    ) {
        self.report(Diag::warning(code, message).help(help).on(self.doc, id));
    }

    pub(crate) fn report(&mut self, diag: Diag) {
        if self.told.insert((diag.file.clone(), diag.line, diag.code, diag.message.clone())) {
            self.diags.push(diag);
        }
    }

    /// Returns all problems found, in the order of the file.
    pub(crate) fn finish(mut self) -> (TemplateCompiler, Vec<Diag>) {
        self.diags.sort_by_key(|diag| (diag.file.clone(), diag.line, diag.span.map(|s| s.start)));
        (self.text, self.diags)
    }
}
