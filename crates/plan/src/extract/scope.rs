//! The results that an extractor or assertion processes: the main sample, its sub-results, or a variable.

use std::ops::ControlFlow;

use jmx::Props;

use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler};

/// Maximum depth of sub-results, as in JMeter.
const MAX_LEVEL: i32 = 3;

/// The results that an extractor or assertion processes.
#[derive(Debug, Default)]
pub enum Scope {
    /// The main result only.
    #[default]
    Main,
    /// The sub-results only.
    Children,
    /// The main result and the sub-results.
    All,
    /// The variable with this name instead of a result.
    Variable(Template),
    /// No result or variable, because JMeter does not know the scope's name.
    Nothing,
}

impl Scope {
    /// Compiles the scope from the property `key`, whose name differs between extractors and assertions.
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

    /// Returns the parts of a sample that an element needs if it reads `field_needs` of each result in this scope.
    pub fn needs(&self, field_needs: Needs) -> Needs {
        match self {
            Self::Main => field_needs,
            Self::Children | Self::All => field_needs | Needs::SUBS,
            Self::Variable(_) | Self::Nothing => Needs::empty(),
        }
    }

    /// Calls `visit` for the results in JMeter's order, until `visit` breaks.
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

/// Calls `visit` for each sub-result of a result, and then handles the sub-results of each of them in the same way,
/// down to a depth of `level`. Ends as soon as `visit` breaks.
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
