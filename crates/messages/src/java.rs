//! Generates the Java side of messages: one class for numbers and one for records, each with a nested class per block.

use std::fmt::Write;

use crate::description::{Block, Field, Numbers, Record, Type, camel, find};

const NUMBERS: &str = "\
package dev.throng;

/**
 * Numbers in messages. Generated from crates/messages/messages.txt; to regenerate, run
 * {@code UPDATE_MESSAGES=1 cargo test -p throng-messages}.
 */
public final class Message {
    private Message() {
    }
";

const RECORDS: &str = "\
package dev.throng;

import java.util.ArrayList;
import java.util.List;

/**
 * Records of messages. Generated from crates/messages/messages.txt; to regenerate, run
 * {@code UPDATE_MESSAGES=1 cargo test -p throng-messages}.
 */
final class Records {
    private Records() {
    }
";

/// Generates the Java class of the numbers.
pub fn numbers(blocks: &[Block]) -> String {
    let mut out = NUMBERS.to_owned();
    for block in blocks {
        match block {
            Block::Enum(numbers) | Block::Flags(numbers) => constants(&mut out, numbers),
            Block::Number { name, value, meaning, .. } => {
                // Java's integers are signed.
                let constant = format!("static final int {name} = {};", *value as i32);
                let _ = write!(out, "\n    /** {meaning} */\n    {constant}\n");
            }
            Block::Record(_) | Block::Shape(_) => {}
        }
    }
    out.push_str("}\n");
    out
}

/// Generates the Java class of the records.
pub fn records(blocks: &[Block]) -> String {
    let mut out = RECORDS.to_owned();
    for block in blocks {
        if let Block::Record(record) = block {
            render_record(&mut out, blocks, record);
        }
    }
    out.push_str("}\n");
    out
}

fn constants(out: &mut String, numbers: &Numbers) {
    let Numbers { name, meaning, .. } = numbers;
    let _ = write!(out, "\n    /** {meaning} */\n    public static final class {name} {{\n");
    for entry in &numbers.entries {
        let _ = writeln!(out, "        /** {} */", entry.meaning);
        let constant = entry.name.to_uppercase();
        let _ = writeln!(out, "        public static final int {constant} = {};", entry.value);
    }
    let _ = write!(out, "\n        private {name}() {{\n        }}\n    }}\n");
}

fn render_record(out: &mut String, blocks: &[Block], record: &Record) {
    let _ =
        write!(out, "\n    /** {} */\n    static final class {} {{\n", record.meaning, record.name);
    if record.is("fixed") {
        let size: usize = record.fields.iter().map(|field| size(&field.kind)).sum();
        let _ = write!(out, "        static final int SIZE = {size};\n\n");
    }
    if record.is("words") {
        let _ = write!(out, "        static final int WORDS = {};\n\n", record.fields.len());
    }
    for field in &record.fields {
        if !field.meaning.is_empty() {
            let _ = writeln!(out, "        /** {} */", field.meaning);
        }
        let made = if matches!(field.kind, Type::List(_)) { " = new ArrayList<>()" } else { "" };
        let _ = writeln!(out, "        {} {}{made};", type_of(blocks, &field.kind), name(field));
    }
    let _ = write!(
        out,
        "\n        static {0} of(Input in) {{\n            {0} read = new {0}();\n            read.read(in);\n            \
         return read;\n        }}\n\n        void read(Input in) {{\n",
        record.name
    );
    for field in &record.fields {
        let line = if field.unread {
            skip_of(blocks, &field.kind).expect("a plain type")
        } else {
            read_of(blocks, &field.kind, &name(field))
        };
        let _ = writeln!(out, "            {line}");
    }
    out.push_str("        }\n");
    let skips: Option<Vec<String>> =
        record.fields.iter().map(|field| skip_of(blocks, &field.kind)).collect();
    if let Some(skips) = skips {
        let _ = write!(
            out,
            "\n        /** Skips a record. */\n        static void skip(Input in) {{\n"
        );
        let _ = writeln!(out, "            {}", skips.join("\n            "));
        out.push_str("        }\n");
    }
    out.push_str("\n        void write(Output out) {\n");
    for field in &record.fields {
        let _ = writeln!(out, "            {}", write_of(blocks, &field.kind, &name(field)));
    }
    out.push_str("        }\n    }\n");
}

/// Converts a field's name to lower camel case: `next_of_loop` becomes `nextOfLoop`.
fn name(field: &Field) -> String {
    let camel = camel(&field.name);
    camel[..1].to_lowercase() + &camel[1..]
}

fn size(kind: &Type) -> usize {
    match kind {
        Type::Plain(name) => match &**name {
            "u8" | "bool" => 1,
            "u16" => 2,
            "u32" | "i32" => 4,
            "u64" | "i64" => 8,
            other => panic!("{other} has no fixed length"),
        },
        other => panic!("{other} has no fixed length"),
    }
}

fn type_of(blocks: &[Block], kind: &Type) -> String {
    match kind {
        Type::Plain(name) => match &**name {
            "u8" | "u16" | "u32" | "i32" => "int".into(),
            "u64" | "i64" => "long".into(),
            "bool" => "boolean".into(),
            "str" => "String".into(),
            "bytes" => "byte[]".into(),
            other => panic!("unknown type {other}"),
        },
        Type::Maybe(inner) => type_of(blocks, inner),
        Type::List(inner) => match type_of(blocks, inner).as_str() {
            "int" => "List<Integer>".into(),
            other => format!("List<{other}>"),
        },
        Type::Block(name) => match find(blocks, name) {
            Block::Record(_) => name.clone(),
            _ => "int".into(),
        },
    }
}

/// Returns the name of the Java method of `Input` and `Output` that reads or writes a type; `None` for a record.
fn method<'a>(blocks: &'a [Block], kind: &'a Type) -> Option<&'a str> {
    let plain = match kind {
        Type::Plain(name) => name,
        Type::Block(name) => match find(blocks, name) {
            Block::Enum(numbers) | Block::Flags(numbers) => &numbers.number,
            _ => return None,
        },
        _ => panic!("{kind} is not a plain type"),
    };
    Some(match &**plain {
        "u32" => "i32",
        "u64" => "i64",
        "bytes" => "blob",
        other => other,
    })
}

/// Generates the Java statement that skips a field of a basic type.
fn skip_of(blocks: &[Block], kind: &Type) -> Option<String> {
    Some(match kind {
        Type::Plain(name) if matches!(&**name, "str" | "bytes") => "in.skip();".into(),
        Type::Plain(_) => format!("in.at += {};", size(kind)),
        Type::Block(name) => match find(blocks, name) {
            Block::Enum(numbers) | Block::Flags(numbers) => {
                format!("in.at += {};", size(&Type::Plain(numbers.number.clone())))
            }
            _ => return None,
        },
        Type::Maybe(_) | Type::List(_) => return None,
    })
}

fn item_of(blocks: &[Block], kind: &Type) -> String {
    match method(blocks, kind) {
        Some(method) => format!("in.{method}()"),
        None => format!("{kind}.of(in)"),
    }
}

fn read_of(blocks: &[Block], kind: &Type, to: &str) -> String {
    match kind {
        Type::Maybe(inner) => match &**inner {
            Type::Plain(plain) if plain == "str" => format!("{to} = in.optStr();"),
            Type::List(inner) => {
                format!("{to} = in.bool() ? in.list(() -> {}) : null;", item_of(blocks, inner))
            }
            other => panic!("{other} cannot be absent"),
        },
        Type::List(inner) => format!("{to} = in.list(() -> {});", item_of(blocks, inner)),
        plain => format!("{to} = {};", item_of(blocks, plain)),
    }
}

fn each_of(blocks: &[Block], kind: &Type) -> String {
    match method(blocks, kind) {
        Some(method) => format!("out.{method}(one)"),
        None => "one.write(out)".into(),
    }
}

fn write_of(blocks: &[Block], kind: &Type, this: &str) -> String {
    match kind {
        Type::Maybe(inner) => match &**inner {
            Type::Plain(plain) if plain == "str" => format!("out.optStr({this});"),
            Type::List(inner) => {
                format!("out.optList({this}, one -> {});", each_of(blocks, inner))
            }
            other => panic!("{other} cannot be absent"),
        },
        Type::List(inner) => format!("out.list({this}, one -> {});", each_of(blocks, inner)),
        plain => match method(blocks, plain) {
            Some(method) => format!("out.{method}({this});"),
            None => format!("{this}.write(out);"),
        },
    }
}
