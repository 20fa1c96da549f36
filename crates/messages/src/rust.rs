//! Generates the Rust side of messages: two modules of the engine.

use std::fmt::Write;

use crate::description::{Block, Numbers, Record, Type, camel, find};

const NUMBERS: &str = "\
//! Numbers in messages. Generated from `crates/messages/messages.txt`; to regenerate, run
//! `UPDATE_MESSAGES=1 cargo test -p throng-messages`.

use crate::java::reader::{Malformed, Reader};
";

const RECORDS: &str = "\
//! Records of messages. Generated from `crates/messages/messages.txt`; to regenerate, run
//! `UPDATE_MESSAGES=1 cargo test -p throng-messages`.

use super::numbers::*;
use crate::java::reader::{Malformed, Reader};
use crate::java::writer::Writer;
";

/// Generates the Rust module of the numbers.
pub fn numbers(blocks: &[Block]) -> String {
    let mut out = NUMBERS.to_owned();
    for block in blocks {
        match block {
            Block::Enum(numbers) => enumeration(&mut out, numbers),
            Block::Flags(numbers) => flags(&mut out, numbers),
            Block::Number { name, number, value, meaning } => {
                let constant = format!("pub(crate) const {name}: {number} = {value};");
                let _ = write!(out, "\n/// {meaning}\n{constant}\n");
            }
            Block::Record(_) | Block::Shape(_) => {}
        }
    }
    out
}

/// Generates the Rust module of the records.
pub fn records(blocks: &[Block]) -> String {
    let mut out = RECORDS.to_owned();
    for block in blocks {
        if let Block::Record(record) = block {
            render_record(&mut out, blocks, record);
        }
    }
    out
}

fn enumeration(out: &mut String, numbers: &Numbers) {
    let Numbers { name, number, meaning, .. } = numbers;
    let seen = if numbers.is("public") { "pub" } else { "pub(crate)" };
    let _ = write!(out, "\n/// {meaning}\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n");
    let _ = write!(out, "#[repr({number})]\n{seen} enum {name} {{\n");
    for entry in &numbers.entries {
        let _ = writeln!(out, "    /// {}", entry.meaning);
        let _ = writeln!(out, "    {} = {},", camel(&entry.name), entry.value);
    }
    out.push_str("}\n");
    let Some(otherwise) = &numbers.otherwise else { return };
    let read = reading(number);
    let _ = write!(
        out,
        "\nimpl {name} {{\n    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {{\n        \
         Ok(match reader.{read}()? {{\n"
    );
    for entry in &numbers.entries {
        let _ = writeln!(out, "            {} => Self::{},", entry.value, camel(&entry.name));
    }
    let _ = write!(
        out,
        "            _ => return Err(Malformed(\"{otherwise}\")),\n        }})\n    }}\n}}\n"
    );
}

fn flags(out: &mut String, numbers: &Numbers) {
    let Numbers { name, number, meaning, .. } = numbers;
    let _ = write!(out, "\n/// {meaning}\npub(crate) struct {name};\n\nimpl {name} {{\n");
    for entry in &numbers.entries {
        let _ = writeln!(out, "    /// {}", entry.meaning);
        let constant = entry.name.to_uppercase();
        let _ = writeln!(out, "    pub(crate) const {constant}: {number} = {};", entry.value);
    }
    out.push_str("}\n");
}

fn render_record(out: &mut String, blocks: &[Block], record: &Record) {
    let seen = if record.is("public") { "pub" } else { "pub(crate)" };
    let life = if borrows(blocks, &Type::Block(record.name.clone())) { "<'a>" } else { "" };
    let copies = !record.fields.iter().any(|field| has_list(blocks, &field.kind));
    let derived = if copies { "Clone, Copy, Debug" } else { "Clone, Debug" };
    let _ = write!(
        out,
        "\n/// {}\n#[derive({derived})]\n{seen} struct {}{life} {{\n",
        record.meaning, record.name
    );
    for field in &record.fields {
        if !field.meaning.is_empty() {
            let _ = writeln!(out, "    /// {}", field.meaning);
        } else if record.is("public") {
            let _ = writeln!(out, "    /// The {} that the record names.", field.name);
        }
        let _ = writeln!(out, "    {seen} {}: {},", field.name, type_of(blocks, &field.kind));
    }
    out.push_str("}\n");
    let head = match life {
        "" => format!("impl {}", record.name),
        _ if record.is("engine") => format!("impl {}<'_>", record.name),
        _ => format!("impl<'a> {}<'a>", record.name),
    };
    let _ = write!(out, "\n{head} {{\n");
    if record.is("words") {
        words(out, blocks, record);
    } else if record.is("fixed") {
        fixed(out, record);
    } else {
        if !record.is("engine") {
            read(out, blocks, record, life);
        }
        if !record.is("java") {
            if !record.is("engine") {
                out.push('\n');
            }
            out.push_str("    pub(crate) fn write(&self, out: &mut Writer<'_>) {\n");
            for field in &record.fields {
                let this = format!("self.{}", field.name);
                let _ = writeln!(out, "        {};", write_of(blocks, &field.kind, &this));
            }
            out.push_str("    }\n");
        }
    }
    out.push_str("}\n");
}

fn read(out: &mut String, blocks: &[Block], record: &Record, life: &str) {
    let reader = if life.is_empty() { "'_" } else { "'a" };
    let _ = writeln!(
        out,
        "    pub(crate) fn read(reader: &mut Reader<{reader}>) -> Result<Self, Malformed> {{"
    );
    let fields = record.fields.iter();
    let fields = fields.map(|field| format!("{}: {}", field.name, read_of(blocks, &field.kind)));
    let fields: Vec<String> = fields.collect();
    // Break the line where rustfmt would.
    let line = format!("        Ok(Self {{ {} }})", fields.join(", "));
    if line.len() <= 100 {
        let _ = writeln!(out, "{line}");
    } else {
        let lines = fields.join(",\n            ");
        let _ = writeln!(out, "        Ok(Self {{\n            {lines},\n        }})");
    }
    out.push_str("    }\n");
}

fn words(out: &mut String, blocks: &[Block], record: &Record) {
    let count = record.fields.len();
    let _ = write!(
        out,
        "    pub(crate) const WORDS: usize = {count};\n\n    pub(crate) const fn words(self) -> [u32; Self::WORDS] {{\n        ["
    );
    for (at, field) in record.fields.iter().enumerate() {
        let cast = match &field.kind {
            Type::Block(name) if matches!(find(blocks, name), Block::Enum(_)) => " as u32",
            _ => "",
        };
        let _ = write!(out, "{}self.{}{cast}", if at > 0 { ", " } else { "" }, field.name);
    }
    out.push_str("]\n    }\n");
}

fn fixed(out: &mut String, record: &Record) {
    let sizes: Vec<(usize, &str)> = record.fields.iter().map(|field| size(&field.kind)).collect();
    let whole: usize = sizes.iter().map(|(size, _)| size).sum();
    let _ = write!(
        out,
        "    /// Length of the record in bytes.\n    pub const SIZE: usize = {whole};\n\n    /// Encodes the record as in messages.\n    \
         pub fn to_bytes(self) -> [u8; Self::SIZE] {{\n        let mut bytes = [0; Self::SIZE];\n"
    );
    let mut at = 0;
    for (field, (size, kind)) in record.fields.iter().zip(&sizes) {
        let this = if *kind == "bool" {
            format!("u8::from(self.{})", field.name)
        } else {
            format!("self.{}", field.name)
        };
        let end = at + size;
        if *size == 1 {
            let _ = writeln!(out, "        bytes[{at}] = {this};");
        } else {
            let _ =
                writeln!(out, "        bytes[{at}..{end}].copy_from_slice(&{this}.to_le_bytes());");
        }
        at = end;
    }
    out.push_str("        bytes\n    }\n");
    out.push_str("\n    /// Decodes the record from a message.\n");
    out.push_str("    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {\n");
    let (mut at, mut fields) = (0, Vec::new());
    for (field, (size, kind)) in record.fields.iter().zip(&sizes) {
        let bytes: Vec<String> = (at..at + size).map(|at| format!("bytes[{at}]")).collect();
        at += size;
        let name = &field.name;
        match *kind {
            "bool" => fields.push(format!("{name}: {} != 0", bytes[0])),
            "u8" => fields.push(format!("{name}: {}", bytes[0])),
            _ => {
                let bytes = bytes.join(", ");
                let line = format!("        let {name} = {kind}::from_le_bytes([{bytes}]);");
                // Break the line where rustfmt would.
                let _ = if line.len() <= 100 {
                    writeln!(out, "{line}")
                } else {
                    let begin = format!("        let {name} = {kind}::from_le_bytes([");
                    writeln!(out, "{begin}\n            {bytes},\n        ]);")
                };
                fields.push(name.clone());
            }
        }
    }
    let _ = write!(out, "        Self {{ {} }}\n    }}\n", fields.join(", "));
}

/// Returns the size in bytes and the name of a basic type; panics if its length is not fixed.
fn size(kind: &Type) -> (usize, &str) {
    let Type::Plain(name) = kind else { panic!("{kind} has no fixed length") };
    let size = match &**name {
        "u8" | "bool" => 1,
        "u16" => 2,
        "u32" | "i32" => 4,
        "u64" | "i64" => 8,
        _ => panic!("{name} has no fixed length"),
    };
    (size, name)
}

/// Returns true if a value of the type borrows from the message.
fn borrows(blocks: &[Block], kind: &Type) -> bool {
    match kind.innermost() {
        Type::Plain(name) => matches!(&**name, "str" | "bytes"),
        Type::Block(name) => match find(blocks, name) {
            Block::Record(record) => record.fields.iter().any(|one| borrows(blocks, &one.kind)),
            _ => false,
        },
        _ => false,
    }
}

fn has_list(blocks: &[Block], kind: &Type) -> bool {
    match kind {
        Type::List(_) => true,
        Type::Maybe(inner) => has_list(blocks, inner),
        Type::Block(name) => match find(blocks, name) {
            Block::Record(record) => record.fields.iter().any(|one| has_list(blocks, &one.kind)),
            _ => false,
        },
        Type::Plain(_) => false,
    }
}

fn type_of(blocks: &[Block], kind: &Type) -> String {
    match kind {
        Type::Plain(name) => match &**name {
            "str" => "&'a str".into(),
            "bytes" => "&'a [u8]".into(),
            number => number.into(),
        },
        Type::Maybe(inner) => format!("Option<{}>", type_of(blocks, inner)),
        Type::List(inner) => format!("Vec<{}>", type_of(blocks, inner)),
        Type::Block(name) => match find(blocks, name) {
            Block::Flags(numbers) => numbers.number.clone(),
            Block::Record(_) if borrows(blocks, kind) => format!("{name}<'a>"),
            _ => name.clone(),
        },
    }
}

fn reading(plain: &str) -> &'static str {
    match plain {
        "u8" => "byte",
        "u16" => "short",
        "u32" => "int",
        "i32" => "signed_int",
        "u64" => "long",
        "i64" => "signed",
        "bool" => "flag",
        "str" => "text",
        "bytes" => "bytes",
        other => panic!("unknown type {other}"),
    }
}

/// Returns the Rust function that reads a type.
fn reader_of(blocks: &[Block], kind: &Type) -> String {
    match kind {
        Type::Plain(name) => format!("Reader::{}", reading(name)),
        Type::Maybe(_) | Type::List(_) => {
            let body = read_of(blocks, kind);
            format!("|reader| {}", body.trim_end_matches('?'))
        }
        Type::Block(name) => match find(blocks, name) {
            Block::Flags(numbers) => format!("Reader::{}", reading(&numbers.number)),
            _ => format!("{name}::read"),
        },
    }
}

fn read_of(blocks: &[Block], kind: &Type) -> String {
    match kind {
        Type::Plain(name) => format!("reader.{}()?", reading(name)),
        Type::Maybe(inner) => format!("reader.maybe({})?", reader_of(blocks, inner)),
        Type::List(inner) => format!("reader.list({})?", reader_of(blocks, inner)),
        Type::Block(name) => match find(blocks, name) {
            Block::Flags(numbers) => format!("reader.{}()?", reading(&numbers.number)),
            _ => format!("{name}::read(reader)?"),
        },
    }
}

fn write_of(blocks: &[Block], kind: &Type, this: &str) -> String {
    match kind {
        Type::Plain(name) => format!("out.{}({this})", reading(name)),
        Type::Maybe(inner) if **inner == Type::Plain("str".into()) => format!("out.maybe({this})"),
        Type::Maybe(_) => panic!("the engine cannot write {kind}"),
        Type::List(inner) => {
            let one = match &**inner {
                Type::Plain(name) if name != "str" => "*one",
                Type::Plain(_) | Type::Block(_) => "one",
                _ => panic!("the engine cannot write {kind}"),
            };
            let each = write_of(blocks, inner, one);
            format!("out.list(&{this}, |out, one| {each})")
        }
        Type::Block(name) => match find(blocks, name) {
            Block::Enum(numbers) => {
                format!("out.{}({this} as {})", reading(&numbers.number), numbers.number)
            }
            Block::Flags(numbers) => format!("out.{}({this})", reading(&numbers.number)),
            _ => format!("{this}.write(out)"),
        },
    }
}
