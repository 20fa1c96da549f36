//! Functions of JSONPath, such as `$.items.length()` or `$..price.sum()`.

use std::borrow::Cow;

use super::failure::Failure;
use super::path::{Parameter, Path, Token};
use super::read::read as read_json;
use super::value::{Object, Value};
use super::walk;

type Calling<T> = Result<T, Failure>;

/// Applies a function of a JSONPath to a node. Paths among its parameters start at the document.
pub(super) fn call<'t>(
    name: &str,
    parameters: &[Parameter],
    model: &Value<'t>,
    root: &Value<'t>,
) -> Calling<Value<'t>> {
    let known = [
        "avg", "stddev", "sum", "min", "max", "concat", "length", "size", "append", "keys",
        "first", "last", "index",
    ];
    if !known.contains(&name) {
        return Err(Failure::InvalidPath(format!("Function with name: {name} does not exist.")));
    }
    let mut values = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        values.push(match parameter {
            Parameter::Path(path) => walk::value(path, root, root, false)?.into_owned(),
            Parameter::Json(text) => match read_json(text) {
                Ok(value) => value.into_owned(),
                Err(error) => {
                    let message = format!("net.minidev.json.parser.ParseException: {}", error.0);
                    return Err(Failure::Other(message));
                }
            },
        });
    }
    match name {
        "length" | "size" => length(parameters, model),
        "keys" => Ok(match model {
            Value::Object(Object(members)) => {
                Value::Keys(members.iter().map(|(key, _)| key.clone()).collect())
            }
            _ => Value::Null,
        }),
        "concat" => Ok(concat(model, &values)),
        "append" => {
            let mut model = model.clone();
            if let Value::Array(items) = &mut model {
                items.extend(values);
            }
            Ok(model)
        }
        "first" => element(model, 0),
        "last" => element(model, -1),
        "index" => {
            let numbers = numbers(&values);
            match numbers.first() {
                Some(index) => element(model, *index as i64),
                None => Err(Failure::Index("Index 0 out of bounds for length 0".into())),
            }
        }
        _ => aggregate(name, model, &values),
    }
}

fn numbers(values: &[Value<'_>]) -> Vec<f64> {
    let each = values.iter().flat_map(|value| match value {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    });
    each.filter_map(Value::as_f64).collect()
}

fn aggregate(name: &str, model: &Value<'_>, parameters: &[Value<'_>]) -> Calling<Value<'static>> {
    let mut all: Vec<f64> = match model {
        Value::Array(items) => items.iter().filter_map(Value::as_f64).collect(),
        _ => Vec::new(),
    };
    all.extend(numbers(parameters));
    if all.is_empty() {
        return Err(empty());
    }
    let (count, sum) = (all.len() as f64, all.iter().sum::<f64>());
    Ok(Value::Double(match name {
        "avg" => sum / count,
        "sum" => sum,
        "min" => all.into_iter().fold(f64::MAX, f64::min),
        // Jayway's `max` starts at Java's smallest positive number.
        "max" => all.into_iter().fold(f64::from_bits(1), f64::max),
        _ => {
            let squares: f64 = all.iter().map(|value| value * value).sum();
            (squares / count - sum * sum / count / count).sqrt()
        }
    }))
}

fn empty() -> Failure {
    Failure::Other("Aggregation function attempted to calculate value using empty array".into())
}

fn element<'t>(model: &Value<'t>, index: i64) -> Calling<Value<'t>> {
    let Value::Array(items) = model else { return Err(empty()) };
    let length = items.len() as i64;
    let position = if index >= 0 { index } else { length + index };
    // A negative index cannot reach the first element, as in Jayway.
    if index < 0 && position <= 0 {
        return Err(Failure::Other(format!(
            "Target index:{index} larger than object count:{length}"
        )));
    }
    match items.get(position as usize) {
        Some(item) => Ok(item.clone()),
        None => Err(Failure::Index(format!("Index {position} out of bounds for length {length}"))),
    }
}

fn concat(model: &Value<'_>, parameters: &[Value<'_>]) -> Value<'static> {
    let mut out = String::new();
    if let Value::Array(items) = model {
        for item in items {
            if let Value::String(text) = item {
                out.push_str(text);
            }
        }
    }
    for parameter in parameters {
        let items = match parameter {
            Value::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        for item in items {
            if *item != Value::Null {
                item.write_java(&mut out);
            }
        }
    }
    Value::String(Cow::Owned(out))
}

/// Returns the number of elements of a list or members of an object. If the parameter is a path, counts the children of
/// the path's result.
fn length<'t>(parameters: &[Parameter], model: &Value<'t>) -> Calling<Value<'t>> {
    match parameters.first() {
        Some(Parameter::Path(path)) => {
            let mut below = Path { from_root: path.from_root, tokens: path.tokens.clone() };
            if !path.is_function() && !below.tokens.is_empty() {
                below.tokens.push(Token::Wildcard);
            }
            let found = walk::walk(&below, model, model, false)?;
            // Before it adds the wildcard, Jayway decides whether the result is one value or a list.
            if !path.is_definite() {
                return Ok(Value::Int(found.len() as i64));
            }
            match found.last().map(AsRef::as_ref) {
                Some(Value::Array(items)) => return Ok(Value::Int(items.len() as i64)),
                Some(_) => {}
                None => {
                    return Err(Failure::NotFound(format!(
                        "No results for path: {}",
                        below.text()
                    )));
                }
            }
        }
        Some(Parameter::Json(_)) => {
            return Err(Failure::Other("java.lang.NullPointerException".into()));
        }
        None => {}
    }
    Ok(match model {
        Value::Array(items) => Value::Int(items.len() as i64),
        Value::Object(Object(members)) => Value::Int(members.len() as i64),
        _ => Value::Null,
    })
}
