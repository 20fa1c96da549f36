//! A parsed expression, and what JMeter selects from its value.

use super::eval::{Context, Evaluation};
use super::expr::Expr;
use super::value::Value;
use super::{agreement, number, read};
use crate::work;
use crate::xml::{Kind, NodeId, Tree};

/// A parsed XPath expression.
#[derive(Clone, Debug)]
pub struct XPath {
    expr: Expr,
    prefixes: Vec<Box<str>>,
    /// Namespaces of the prefixes, for XPath 2.0. `None` for 1.0: the document declares them.
    second: Option<Vec<String>>,
}

/// The reason why an XPath expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Xalan rejects the expression, with this message.
    Wrong(String),
    /// The expression uses features of XPath that are not supported.
    Beyond(String),
}

impl Unusable {
    pub(super) fn wrong(message: impl Into<String>) -> Self {
        Self::Wrong(message.into())
    }

    pub(super) fn beyond(message: impl Into<String>) -> Self {
        Self::Beyond(message.into())
    }

    /// Returns the message about the unusable expression.
    pub fn message(&self) -> &str {
        let (Self::Wrong(message) | Self::Beyond(message)) = self;
        message
    }
}

/// The value of an expression, from which JMeter's XPath Extractor selects: nodes or a single value.
pub enum Selected {
    /// Number of nodes, from which the extractor's match number selects.
    Nodes(usize),
    /// A string, number or boolean. The value is the only match, whatever the match number.
    Single,
}

impl XPath {
    /// Parses an XPath 1.0 expression.
    pub fn parse(query: &str) -> Result<Self, Unusable> {
        let (expr, prefixes) = read::read(query)?;
        Ok(Self { expr, prefixes, second: None })
    }

    /// Parses an XPath 2.0 expression; the lines `prefix=uri` declare namespaces. The expression must have the same
    /// meaning in XPath 1.0.
    pub fn parse_second(query: &str, namespaces: &str) -> Result<Self, Unusable> {
        let (expr, prefixes) = read::read(query).map_err(|unusable| {
            Unusable::beyond(format!(
                "{query} is not an XPath 1.0 expression: {}",
                unusable.message()
            ))
        })?;
        agreement::check(&expr)?;
        let declared = declarations(namespaces);
        let resolve = |prefix: &str| {
            let mut all = declared.iter().rev();
            let known = all.find(|(known, _)| *known == prefix).map(|(_, uri)| *uri);
            let known = known.or((prefix == "xml").then_some(XML));
            known.map(str::to_owned).ok_or_else(|| {
                Unusable::wrong(format!(
                    "net.sf.saxon.s9api.SaxonApiException: Namespace prefix '{prefix}' has not been declared"
                ))
            })
        };
        let uris = prefixes.iter().map(|prefix| resolve(prefix)).collect::<Result<_, _>>()?;
        Ok(Self { expr, prefixes, second: Some(uris) })
    }

    /// Evaluates the expression on a whole document; fails with Xalan's message.
    pub fn evaluate(&self, tree: &Tree) -> Result<Value, String> {
        let resolve = |prefix: &str| {
            declared(tree, prefix)
                .filter(|uri| !uri.is_empty())
                .ok_or_else(|| format!("Prefix must resolve to a namespace: {prefix}"))
        };
        let uris = match &self.second {
            Some(uris) => uris.clone(),
            None => self.prefixes.iter().map(|prefix| resolve(prefix)).collect::<Result<_, _>>()?,
        };
        let is_second = self.second.is_some();
        let evaluation = Evaluation { tree, uris, is_second };
        let (position, size) = if is_second { (1, 1) } else { (-1, 0) };
        let context = Context { node: NodeId::DOCUMENT, position, size };
        work::bounded(|| evaluation.value(&self.expr, context)).0
    }

    /// Passes the results of an extractor to `found`: the node whose index `choose` returns, or all nodes.
    pub fn extract(
        &self,
        tree: &Tree,
        fragment: bool,
        choose: impl FnOnce(Selected) -> Option<usize>,
        found: &mut dyn FnMut(Option<&str>),
    ) -> Result<(), String> {
        let value = self.evaluate(tree)?;
        let mut text = String::new();
        let Value::Nodes(nodes) = &value else {
            choose(Selected::Single);
            match value {
                Value::Number(value) => number::write(value, &mut text),
                other => text = other.text(tree),
            }
            found(Some(&text));
            return Ok(());
        };
        let chosen = choose(Selected::Nodes(nodes.len()));
        for (at, id) in nodes.iter().enumerate() {
            if chosen.is_some_and(|chosen| chosen != at) {
                continue;
            }
            if tree.kind(*id) != Kind::Element {
                found(tree.value(*id));
            } else if fragment {
                text.clear();
                tree.write_fragment(*id, &mut text);
                Evaluation::look(text.len() as u64 / 4)?;
                found(Some(&text));
            } else {
                // JMeter reads the first child of an element; if this child is an element, it has no text.
                found(tree.value(tree.children(*id).next().unwrap_or(*id)));
            }
        }
        Ok(())
    }
}

/// Parses lines of the form `prefix=uri`; other lines are ignored.
fn declarations(namespaces: &str) -> Vec<(&str, &str)> {
    namespaces.split('\n').filter_map(|line| line.split_once('=')).collect()
}

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Returns the namespace of a prefix, which the root element must declare or have in its own name.
fn declared(tree: &Tree, prefix: &str) -> Option<String> {
    // Xalan returns the prefix `xmlns` as its own namespace.
    if prefix == "xmlns" {
        return Some(prefix.into());
    }
    if prefix == "xml" {
        return Some(XML.into());
    }
    let root = tree.root()?;
    let is_its_own = tree.name(root).split_once(':').is_some_and(|(own, _)| own == prefix);
    if is_its_own {
        return Some(tree.uri(root).to_owned());
    }
    let mut declarations = tree.declarations(root);
    let declaration = declarations.find(|id| tree.declared_prefix(*id) == prefix)?;
    tree.value(declaration).map(str::to_owned)
}
