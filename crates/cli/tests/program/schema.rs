//! The published JSON schema of summary.json.

use serde_json::Value;

/// Checks a summary against the published schema. The error names the position in the document.
pub(crate) fn check(summary: &Value) -> Result<(), String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    fits(&schema, &schema, summary, "summary")
}

/// Checks a value against a schema, for the keywords that the published schema uses. The error names the position.
fn fits(schema: &Value, root: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").expect("a definition of this file");
        return fits(&root["$defs"][name], root, value, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let tried: Vec<_> = any.iter().map(|schema| fits(schema, root, value, at)).collect();
        return tried.iter().find(|tried| tried.is_ok()).unwrap_or(&tried[tried.len() - 1]).clone();
    }
    let fails = |what: &str| Err(format!("{at} {what}: {value}"));
    let one_of = |key: &str| schema[key].as_array().is_none_or(|all| all.contains(value));
    if !one_of("enum") || schema.get("const").is_some_and(|only| only != value) {
        return fails("is not one of the values");
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("a type that no schema has: {other}"),
    };
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.into_iter().any(is) {
        return fails("is of another type");
    }
    let below = |key: &str| value.as_f64().zip(schema[key].as_f64()).map(|(a, b)| a - b);
    if below("minimum").is_some_and(|by| by < 0.0) || below("maximum").is_some_and(|by| by > 0.0) {
        return fails("is out of its bounds");
    }
    if let Some(items) = value.as_array() {
        let length = items.len() as u64;
        let short = schema["minItems"].as_u64().is_some_and(|least| length < least);
        if short || schema["maxItems"].as_u64().is_some_and(|most| length > most) {
            return fails("is of another length");
        }
        for (number, item) in items.iter().enumerate() {
            fits(&schema["items"], root, item, &format!("{at}[{number}]"))?;
        }
    }
    fields(schema, root, value, at)
}

/// Checks an object's fields: required fields exist, and each field fits its schema.
fn fields(schema: &Value, root: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(fields) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(format!("{at} lacks {name}"));
        }
    }
    for (name, field) in fields {
        match schema["properties"].get(name) {
            Some(schema) => fits(schema, root, field, &format!("{at}.{name}"))?,
            None if schema["additionalProperties"] == false => {
                return Err(format!("{at} has {name}"));
            }
            None => {}
        }
    }
    Ok(())
}
