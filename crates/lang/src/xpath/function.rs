//! The functions of XPath 1.0. Lengths and positions in strings count UTF-16 units, as in Java.

use super::eval::{Context, Evaluation};
use super::expr::{Expr, Function};
use super::number;
use super::value::Value;
use crate::xml::{Kind, NodeId, Tree};

impl Evaluation<'_> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &[Expr],
        context: Context,
    ) -> Result<Value, String> {
        let call = Call { evaluation: self, function, arguments, context };
        Ok(match function {
            Function::Last => Value::Number(context.size as f64),
            Function::Position => Value::Number(context.position as f64),
            Function::Count => Value::Number(call.nodes(0)?.len() as f64),
            Function::Id => Value::Nodes(self.with_ids(&call.value(0)?)),
            Function::LocalName => Value::Text(call.first_name(Tree::local_name)?),
            Function::NamespaceUri => {
                let uri = call.nodes(0)?.first().map(|id| self.tree.uri(*id).to_owned());
                Value::Text(uri.unwrap_or_default())
            }
            Function::Name => Value::Text(call.first_name(Tree::name)?),
            Function::String => Value::Text(call.counted_text(0)?),
            Function::Concat => Value::Text(call.concat()?),
            Function::StartsWith => Value::Boolean(call.text(0)?.starts_with(&call.text(1)?)),
            Function::Contains => Value::Boolean(call.counted_text(0)?.contains(&call.text(1)?)),
            Function::SubstringBefore => {
                let (whole, part) = (call.counted_text(0)?, call.text(1)?);
                let before = whole.split_once(&part).map_or("", |(before, _)| before);
                Value::Text(before.to_owned())
            }
            Function::SubstringAfter => {
                let (whole, part) = (call.counted_text(0)?, call.text(1)?);
                let after = whole.split_once(&part).map_or("", |(_, after)| after);
                Value::Text(after.to_owned())
            }
            Function::Substring => {
                let length = if arguments.len() > 2 { Some(call.number(2)?) } else { None };
                Value::Text(substring(&call.counted_text(0)?, call.number(1)?, length))
            }
            Function::StringLength => Value::Number(call.string_length()? as f64),
            Function::NormalizeSpace => Value::Text(normalized(&call.counted_text(0)?)),
            Function::Translate => {
                let (whole, from, to) = (call.counted_text(0)?, call.text(1)?, call.text(2)?);
                Value::Text(translated(&whole, &from, &to))
            }
            Function::Boolean => Value::Boolean(call.value(0)?.boolean()),
            Function::Not => Value::Boolean(!call.value(0)?.boolean()),
            Function::True => Value::Boolean(true),
            Function::False => Value::Boolean(false),
            Function::Lang => Value::Boolean(self.is_in_language(context.node, &call.text(0)?)),
            Function::Number => Value::Number(call.number(0)?),
            Function::Sum => Value::Number(call.sum()?),
            Function::Floor => Value::Number(call.number(0)?.floor()),
            Function::Ceiling => Value::Number(call.number(0)?.ceil()),
            Function::Round => Value::Number(number::round(call.number(0)?)),
        })
    }

    /// Returns Saxon's message for several nodes as argument number `at` of a function that allows only one.
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
        // An attribute `xml:lang` only counts if names have namespaces.
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

/// A call of a function. An argument is evaluated each time that it is used.
struct Call<'c, 't> {
    evaluation: &'c Evaluation<'t>,
    function: Function,
    arguments: &'c [Expr],
    context: Context,
}

impl Call<'_, '_> {
    /// Returns the value of an argument; a missing argument is the context node.
    fn value(&self, at: usize) -> Result<Value, String> {
        let evaluation = self.evaluation;
        let Some(argument) = self.arguments.get(at) else {
            return Ok(Value::Nodes(vec![self.context.node]));
        };
        match evaluation.value(argument, self.context)? {
            Value::Nodes(nodes)
                if evaluation.is_second && nodes.len() > 1 && !self.function.takes_sets() =>
            {
                Err(evaluation.too_many(self.function, at, &nodes))
            }
            value => Ok(value),
        }
    }

    fn text(&self, at: usize) -> Result<String, String> {
        Ok(self.value(at)?.text(self.evaluation.tree))
    }

    /// Returns the text of an argument, and counts its length as work.
    fn counted_text(&self, at: usize) -> Result<String, String> {
        counted(self.text(at)?)
    }

    fn number(&self, at: usize) -> Result<f64, String> {
        Ok(self.value(at)?.number(self.evaluation.tree))
    }

    fn nodes(&self, at: usize) -> Result<Vec<NodeId>, String> {
        Evaluation::nodes(self.value(at)?)
    }

    /// Returns the name of the first node in the argument, read with `name`: local, qualified or namespace. A namespace
    /// node's name is its prefix.
    fn first_name(&self, name: fn(&Tree, NodeId) -> &str) -> Result<String, String> {
        let tree = self.evaluation.tree;
        let name = self.nodes(0)?.first().map(|id| match tree.kind(*id) {
            Kind::Namespace => tree.declared_prefix(*id).to_owned(),
            _ => name(tree, *id).to_owned(),
        });
        Ok(name.unwrap_or_default())
    }

    fn concat(&self) -> Result<String, String> {
        let mut all = String::new();
        for at in 0..self.arguments.len() {
            all.push_str(&self.text(at)?);
        }
        counted(all)
    }

    fn string_length(&self) -> Result<usize, String> {
        let text = self.counted_text(0)?;
        // XPath 2.0 counts characters instead of UTF-16 units.
        let is_second = self.evaluation.is_second;
        Ok(if is_second { text.chars().count() } else { text.encode_utf16().count() })
    }

    fn sum(&self) -> Result<f64, String> {
        let mut sum = 0.0;
        for node in self.nodes(0)? {
            sum += Value::Nodes(vec![node]).number(self.evaluation.tree);
        }
        Ok(sum)
    }
}

fn counted(text: String) -> Result<String, String> {
    Evaluation::look(text.len() as u64 / 64).map(|()| text)
}

/// Returns the UTF-16 units from a position (from 1) on. Positions are rounded like Java's `Math.round`.
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

/// Collapses whitespace between words to one blank, and trims the text.
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
