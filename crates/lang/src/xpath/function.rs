//! The functions of XPath 1.0. Lengths and places in texts are counted in UTF-16, as Java does.

use super::eval::{Context, Evaluation};
use super::expr::{Expr, Function};
use super::number;
use super::value::Value;
use crate::xml::{Kind, NodeId};

impl Evaluation<'_> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &[Expr],
        context: Context,
    ) -> Result<Value, String> {
        let value = |at: usize| match arguments.get(at) {
            Some(argument) => match self.value(argument, context)? {
                Value::Nodes(nodes)
                    if self.is_second && nodes.len() > 1 && !function.takes_sets() =>
                {
                    Err(self.too_many(function, at, &nodes))
                }
                value => Ok(value),
            },
            None => Ok(Value::Nodes(vec![context.node])),
        };
        let text = |at: usize| Ok::<_, String>(value(at)?.text(self.tree));
        let number = |at: usize| Ok::<_, String>(value(at)?.number(self.tree));
        let nodes = |at: usize| Self::nodes(value(at)?);
        // What goes over a text takes time, too.
        let seen = |text: String| Self::look(text.len() as u64 / 64).map(|()| text);
        Ok(match function {
            Function::Last => Value::Number(context.size as f64),
            Function::Position => Value::Number(context.position as f64),
            Function::Count => Value::Number(nodes(0)?.len() as f64),
            Function::Id => Value::Nodes(self.with_ids(&value(0)?)),
            Function::LocalName => {
                let name = nodes(0)?.first().map(|id| match self.tree.kind(*id) {
                    Kind::Namespace => self.tree.declared_prefix(*id).to_owned(),
                    _ => self.tree.local_name(*id).to_owned(),
                });
                Value::Text(name.unwrap_or_default())
            }
            Function::NamespaceUri => {
                let uri = nodes(0)?.first().map(|id| self.tree.uri(*id).to_owned());
                Value::Text(uri.unwrap_or_default())
            }
            Function::Name => {
                let name = nodes(0)?.first().map(|id| match self.tree.kind(*id) {
                    Kind::Namespace => self.tree.declared_prefix(*id).to_owned(),
                    _ => self.tree.name(*id).to_owned(),
                });
                Value::Text(name.unwrap_or_default())
            }
            Function::String => Value::Text(seen(text(0)?)?),
            Function::Concat => {
                let mut all = String::new();
                for at in 0..arguments.len() {
                    all.push_str(&text(at)?);
                }
                Value::Text(seen(all)?)
            }
            Function::StartsWith => Value::Boolean(text(0)?.starts_with(&text(1)?)),
            Function::Contains => Value::Boolean(seen(text(0)?)?.contains(&text(1)?)),
            Function::SubstringBefore => {
                let (whole, part) = (seen(text(0)?)?, text(1)?);
                let before = whole.split_once(&part).map_or("", |(before, _)| before);
                Value::Text(before.to_owned())
            }
            Function::SubstringAfter => {
                let (whole, part) = (seen(text(0)?)?, text(1)?);
                let after = whole.split_once(&part).map_or("", |(_, after)| after);
                Value::Text(after.to_owned())
            }
            Function::Substring => {
                let length = if arguments.len() > 2 { Some(number(2)?) } else { None };
                Value::Text(substring(&seen(text(0)?)?, number(1)?, length))
            }
            Function::StringLength => {
                let text = seen(text(0)?)?;
                // XPath 2.0 counts letters.
                let length =
                    if self.is_second { text.chars().count() } else { text.encode_utf16().count() };
                Value::Number(length as f64)
            }
            Function::NormalizeSpace => Value::Text(normalized(&seen(text(0)?)?)),
            Function::Translate => {
                let (whole, from, to) = (seen(text(0)?)?, text(1)?, text(2)?);
                Value::Text(translated(&whole, &from, &to))
            }
            Function::Boolean => Value::Boolean(value(0)?.boolean()),
            Function::Not => Value::Boolean(!value(0)?.boolean()),
            Function::True => Value::Boolean(true),
            Function::False => Value::Boolean(false),
            Function::Lang => Value::Boolean(self.is_in_language(context.node, &text(0)?)),
            Function::Number => Value::Number(number(0)?),
            Function::Sum => {
                let mut sum = 0.0;
                for node in nodes(0)? {
                    sum += Value::Nodes(vec![node]).number(self.tree);
                }
                Value::Number(sum)
            }
            Function::Floor => Value::Number(number(0)?.floor()),
            Function::Ceiling => Value::Number(number(0)?.ceil()),
            Function::Round => Value::Number(number::round(number(0)?)),
        })
    }

    /// Several nodes are where one may be, in Saxon's words.
    fn too_many(&self, function: Function, at: usize, nodes: &[NodeId]) -> String {
        let place = ["first", "second", "third", "fourth", "fifth"].get(at).unwrap_or(&"next");
        let mut shown = String::new();
        for node in nodes.iter().take(2) {
            if !shown.is_empty() {
                shown.push_str(", ");
            }
            shown.push('"');
            self.tree.write_string(*node, &mut shown);
            shown.push('"');
        }
        format!(
            "A sequence of more than one item is not allowed as the {place} argument of fn:{}() ({shown}) ",
            function.name()
        )
    }

    fn with_ids(&self, value: &Value) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut add = |text: &str| {
            found.extend(text.split_ascii_whitespace().filter_map(|id| self.tree.with_id(id)));
        };
        match value {
            Value::Nodes(nodes) => {
                for node in nodes {
                    add(&Value::Nodes(vec![*node]).text(self.tree));
                }
            }
            other => add(&other.text(self.tree)),
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_in_language(&self, from: NodeId, language: &str) -> bool {
        // An attribute `xml:lang` has a namespace, or means nothing.
        let mut at = Some(from).filter(|_| self.tree.has_namespaces);
        while let Some(id) = at {
            let mut attributes = self.tree.attributes(id);
            if let Some(found) = attributes.find(|id| self.tree.name(*id) == "xml:lang") {
                let value = self.tree.value(found).unwrap_or("");
                let head = value.get(..language.len());
                return head.is_some_and(|head| head.eq_ignore_ascii_case(language))
                    && matches!(value.as_bytes().get(language.len()), None | Some(b'-'));
            }
            at = self.tree.parent(id);
        }
        false
    }
}

/// Letters from a place on, counted from 1; places are rounded as Java's `Math.round` does.
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let round = |number: f64| (number + 0.5).floor();
    let (first, start) = if start.is_nan() {
        (0.0, -1_000_000.0)
    } else {
        let start = round(start);
        ((start - 1.0).max(0.0), start)
    };
    let all = units.len() as f64;
    let end = match length {
        // Java rounds NaN to 0.
        Some(length) => {
            let length = if length.is_nan() { 0.0 } else { round(length) };
            let end = start + length - 1.0;
            if end.is_nan() { 0.0 } else { end }
        }
        None => all,
    };
    let first = first.min(all) as usize;
    let end = end.clamp(0.0, all) as usize;
    if first < end { String::from_utf16_lossy(&units[first..end]) } else { String::new() }
}

/// One blank between words and none around them.
fn normalized(text: &str) -> String {
    let words = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn translated(text: &str, from: &str, to: &str) -> String {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let replaced = |c: char| match from.iter().position(|known| *known == c) {
        Some(at) => to.get(at).copied(),
        None => Some(c),
    };
    text.chars().filter_map(replaced).collect()
}
