//! XPath Extractor: extracts strings, values or fragments of XML with an XPath 1.0 expression.
//!
//! "Tolerant" pages are parsed as JTidy does (`tidy`). As in JMeter, a document or expression that cannot be
//! processed adds a failed assertion result, which does not fail the sample. Each extractor parses the document
//! anew. The string is parsed as UTF-8 whatever encoding it declares, which reproduces JMeter's errors.

use std::ops::ControlFlow;

use jmx::Props;
use lang::tidy;
use lang::xml::{self, Fault, Options, Tree};
use lang::xpath::{Selected, Unusable, XPath};

use super::matches::Matches;
use super::variable::{Family, number};
use super::{Problem, Scope};
use crate::env::Env;
use crate::plan::Needs;
use crate::result::SampleResult;
use crate::template::{Template, TemplateCompiler, unreadable};

/// A compiled XPath Extractor.
#[derive(Debug)]
pub struct XPathExtractor {
    name: Template,
    reference: Template,
    query: Template,
    /// The compiled expression, if it is constant.
    fixed: Option<Result<XPath, Unusable>>,
    /// Match number; `None` means all matches.
    number: Option<Template>,
    default: Template,
    tolerant: bool,
    namespaces: bool,
    fragment: bool,
    scope: Scope,
}

pub(super) fn compile(
    name: &str,
    props: &Props,
    compiler: &mut TemplateCompiler,
) -> Result<(XPathExtractor, Needs), Problem> {
    let scope = Scope::compile(props, "Sample.scope", compiler);
    let needs = scope.needs(Needs::TEXT);
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    let flag = |name: &str| props.bool(&format!("XPathExtractor.{name}")).unwrap_or(false);
    let query = text("XPathExtractor.xpathQuery");
    let fixed = fixed(&query)?;
    let made = XPathExtractor {
        reference: text("XPathExtractor.refname"),
        query,
        fixed,
        number: props
            .str("XPathExtractor.matchNumber")
            .map(|number| Template::compile(number, compiler)),
        default: Template::compile(props.str("XPathExtractor.default").unwrap_or(""), compiler),
        tolerant: tolerant(props, "XPathExtractor")?,
        namespaces: flag("namespace"),
        fragment: flag("fragment"),
        name: Template::compile(name, compiler),
        scope,
    };
    if let Some(reference) = made.reference.fixed() {
        Family::intern(reference, &mut compiler.names);
    }
    Ok((made, needs))
}

/// Compiles the expression, if it is constant. The error means that the expression needs unsupported features.
pub(crate) fn fixed(query: &Template) -> Result<Option<Result<XPath, Unusable>>, Problem> {
    let parsed = query.fixed().map(XPath::parse);
    match parsed {
        Some(Err(Unusable::Beyond(message))) => Err(Problem {
            needs_jvm: true,
            message,
            help: "use an XPath 1.0 expression without extensions".into(),
        }),
        parsed => Ok(parsed),
    }
}

/// Returns true if the element's setting "Use Tidy" is on. Fails if JTidy's errors are to be counted, which needs a
/// JVM.
pub(crate) fn tolerant(props: &Props, of: &str) -> Result<bool, Problem> {
    let flag = |name: &str| props.bool(&format!("{of}.{name}")).unwrap_or(false);
    if flag("tolerant") && flag("report_errors") {
        return Err(Problem {
            needs_jvm: true,
            message: "only JTidy counts the errors of a page".into(),
            help: "turn off `Report errors`".into(),
        });
    }
    Ok(flag("tolerant"))
}

/// Returns the message about a constant expression that is invalid.
pub(crate) fn complaint(
    query: &Template,
    fixed: Option<&Result<XPath, Unusable>>,
) -> Option<String> {
    let unusable = fixed?.as_ref().err()?;
    Some(unreadable("query", query.fixed()?, &unusable.message()))
}

/// The reason why a search failed.
enum Failure {
    Document(Fault),
    Query(String),
}

impl XPathExtractor {
    /// Returns the name of the variable that the extractor sets.
    pub(super) fn reference(&self) -> &Template {
        &self.reference
    }

    /// Runs the extractor on a result.
    pub fn run(&self, result: &mut SampleResult, env: &mut Env<'_>) {
        let mut family = Family::new(&self.reference, env);
        let previous = set_default(&self.default, &mut family, env);
        let mut found = Matches::new(1);
        match self.search(result, env, &mut found) {
            Ok(()) => save(&found, previous, &mut family, env),
            Err(failure) => self.report(failure, result, env),
        }
        found.end();
        family.end(env);
    }

    pub(super) fn complaint(&self) -> Option<String> {
        complaint(&self.query, self.fixed.as_ref())
    }

    fn search(
        &self,
        result: &SampleResult,
        env: &mut Env<'_>,
        found: &mut Matches,
    ) -> Result<(), Failure> {
        let number = self.number.as_ref().map_or(-1, |text| number(text, env));
        let made;
        let query = match &self.fixed {
            Some(fixed) => fixed,
            None => {
                made = self.query.parsed(env, XPath::parse);
                &made
            }
        };
        if let Scope::Variable(name) = &self.scope {
            let value = env.read_named(name, |value| value.unwrap_or("").to_owned());
            return if value.is_empty() {
                Ok(())
            } else {
                self.collect(&value, query, number, env, found)
            };
        }
        let mut outcome = Ok(());
        self.scope.each(result, |sample| {
            outcome = self.collect(&sample.text, query, number, env, found);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome
    }

    fn collect(
        &self,
        text: &str,
        query: &Result<XPath, Unusable>,
        number: i32,
        env: &mut Env<'_>,
        found: &mut Matches,
    ) -> Result<(), Failure> {
        let tree = self.read(text).map_err(Failure::Document)?;
        let query =
            query.as_ref().map_err(|unusable| Failure::Query(unusable.message().to_owned()))?;
        let choose = |selected: Selected| match (number, selected) {
            (..0, _) | (_, Selected::Single) => None,
            (0, Selected::Nodes(0)) => None,
            (0, Selected::Nodes(count)) => Some(env.core.random.below(count as u64) as usize),
            (number, Selected::Nodes(_)) => Some(number as usize - 1),
        };
        let evaluated = query.extract(&tree, self.fragment, choose, &mut |text| found.push(text));
        evaluated.map_err(Failure::Query)
    }

    fn read(&self, text: &str) -> Result<Tree, Fault> {
        if self.tolerant {
            return Ok(tidy::read(text));
        }
        let options = Options { namespaces: self.namespaces, ..Options::default() };
        xml::read(text.as_bytes(), options)
    }

    /// Reports the failure as an assertion result.
    fn report(&self, failure: Failure, result: &mut SampleResult, env: &mut Env<'_>) {
        let mut name = env.core.take();
        self.name.eval(env, &mut name);
        let entry = result.add_assertion(&name);
        match failure {
            Failure::Document(Fault { message, is_io: true }) => {
                entry.fail_with_error(&format!("IOException: {message}"));
                result.success = false;
            }
            Failure::Document(Fault { message, .. }) | Failure::Query(message) => {
                entry.fail(&format!("{message}\nSee log file for further details."));
            }
        }
        env.core.give(name);
    }
}

/// Sets the variable to its default and `_matchNr` to 0, and removes `_1`. Returns the match count of the previous
/// sample.
pub(super) fn set_default(default: &Template, family: &mut Family, env: &mut Env<'_>) -> i32 {
    let mut buffer = env.core.take();
    default.eval(env, &mut buffer);
    family.put(env, format_args!(""), Some(&buffer));
    env.core.give(buffer);
    let previous = family.number(env, format_args!("_matchNr"));
    family.put(env, format_args!("_matchNr"), Some("0"));
    family.put(env, format_args!("_1"), None);
    previous
}

pub(super) fn save(found: &Matches, previous: i32, family: &mut Family, env: &mut Env<'_>) {
    let count = found.len();
    family.put_number(env, format_args!("_matchNr"), count);
    if let Some(first) = found.get(0, 0) {
        family.put(env, format_args!(""), Some(first));
    }
    for index in 0..count {
        if let Some(value) = found.get(index, 0) {
            family.put(env, format_args!("_{}", index + 1), Some(value));
        }
    }
    let last = previous.max(0) as usize;
    for index in count + 1..=last.max(count + 1) {
        family.put(env, format_args!("_{index}"), None);
    }
}
