//! Which results an extractor or assertion looks at.

use std::ops::ControlFlow;

use jmx::Props;

use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// How deep sub-results are followed, as in JMeter.
const MAX_LEVEL: i32 = 3;

/// Which results to look at.
#[derive(Debug, Default)]
pub enum Scope {
    /// The main result.
    #[default]
    Main,
    /// Its sub-results.
    Children,
    /// Both.
    All,
    /// None: the variable of that name.
    Variable(Template),
    /// None at all: a word that JMeter does not know.
    Nothing,
}

impl Scope {
    /// Reads the scope from the property `key`, which extractors and assertions name differently.
    pub fn compile(props: &Props, key: &str, compiler: &mut TemplateCompiler) -> Self {
        match props.str(key).unwrap_or("parent") {
            "parent" => Self::Main,
            "children" => Self::Children,
            "all" => Self::All,
            "variable" => Self::Variable(Template::compile(
                props.str("Scope.variable").unwrap_or(""),
                compiler,
            )),
            _ => Self::Nothing,
        }
    }

    /// The needs of something that reads `field_needs` of each result, with those of the scope.
    pub fn needs(&self, field_needs: Needs) -> Needs {
        match self {
            Self::Main => field_needs,
            Self::Children | Self::All => field_needs | Needs::SUBS,
            Self::Variable(_) | Self::Nothing => Needs::empty(),
        }
    }

    /// Visits the results in JMeter's order, until told to stop.
    pub fn each<'r>(
        &self,
        result: &'r SampleResult,
        mut visit: impl FnMut(&'r SampleResult) -> ControlFlow<()>,
    ) {
        if matches!(self, Self::Main | Self::All) && visit(result).is_break() {
            return;
        }
        if matches!(self, Self::Children | Self::All) {
            let _ = each_child(result, MAX_LEVEL + 1, &mut visit);
        }
    }
}

/// All children before any grandchild of theirs.
fn each_child<'r>(
    result: &'r SampleResult,
    level: i32,
    visit: &mut dyn FnMut(&'r SampleResult) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for child in result.subs() {
        visit(child)?;
    }
    if level < 0 {
        return ControlFlow::Continue(());
    }
    for child in result.subs() {
        each_child(child, level - 1, visit)?;
    }
    ControlFlow::Continue(())
}
