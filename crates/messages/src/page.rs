//! Generates the tables in `docs/decisions/jvm-messages.md`.

use std::fmt::Write;

use crate::description::{Block, Numbers, Record};

const BEGIN: &str =
    "<!-- Generated from crates/messages/messages.txt by the test of crates/messages. -->\n";
const END: &str = "<!-- End of the generated part. -->\n";

/// Returns the page with its tables replaced by new ones.
pub fn put_into(page: &str, blocks: &[Block]) -> String {
    let (before, rest) = page.split_once(BEGIN).expect("the page has no marker for the tables");
    let (_, behind) = rest.split_once(END).expect("the tables have no end marker");
    format!("{before}{BEGIN}{}\n{END}{behind}", tables(blocks))
}

fn tables(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Enum(numbers) => entries(&mut out, numbers, "one of"),
            Block::Flags(numbers) => entries(&mut out, numbers, "bits"),
            Block::Number { name, number, value, meaning } => {
                let _ = write!(out, "\n**{name}**, {number} {value}: {meaning}\n");
            }
            Block::Record(record) | Block::Shape(record) => fields(&mut out, record),
        }
    }
    out
}

fn entries(out: &mut String, numbers: &Numbers, how: &str) {
    let _ = write!(
        out,
        "\n**{}**, {}, {how}\n\n| | | {} |\n|---|---|---|\n",
        numbers.name, numbers.number, numbers.meaning
    );
    for entry in &numbers.entries {
        let _ = writeln!(out, "| {} | {} | {} |", entry.value, entry.name, entry.meaning);
    }
}

fn fields(out: &mut String, record: &Record) {
    let _ = write!(out, "\n**{}**\n\n| | | {} |\n|---|---|---|\n", record.name, record.meaning);
    for field in &record.fields {
        let condition = match &*field.condition {
            "" => String::new(),
            condition => format!("If {condition}. "),
        };
        let remark = format!("{condition}{}", field.meaning);
        let _ = writeln!(out, "| `{}` | {} | {} |", field.kind, field.name, remark.trim_end());
    }
}
