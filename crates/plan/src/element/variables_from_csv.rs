//! Variables from CSV File (jp@gc): User Defined Variables whose names and values are the first two columns of a file.
//!
//! The file is read when the plan is compiled; its content is not evaluated as expressions. Lines that begin with
//! `#` are comments. A value that begins with a quotation mark continues over the following lines without a
//! separator until a line ends with a quotation mark, even if the value could end on its own line.

use jmx::ElementId;

use crate::compile::Context;
use crate::support::Level;
use crate::template::{Template, unreadable};
use crate::vars::VarId;

/// Current and former class name of the element.
pub(crate) const CLASSES: [&str; 2] =
    ["kg.apc.jmeter.config.VariablesFromCSV", "kg.apc.jmeter.config.VariablesFromCSVFile"];

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Vec<(VarId, Template)> {
    let props = ctx.props(id);
    let text = |name: &str| props.str(name).unwrap_or("").to_owned();
    let (prefix, file, separator) = (text("variablesPrefix"), text("filename"), text("delimiter"));
    let skipped = text("skipLines").trim().parse().unwrap_or(0);
    if [&prefix, &file, &separator].iter().any(|text| text.contains("${")) {
        ctx.remark(
            id,
            Level::Unsupported,
            "its settings contain expressions, but its file is read before the run",
        );
        return Vec::new();
    }
    if separator.is_empty() {
        ctx.remark(id, Level::Unsupported, "it has no separator; the plug-in fails");
        return Vec::new();
    }
    if props.bool("storeSysProp") == Some(true) {
        let message = "its variables are not set as system properties";
        ctx.warn(id, "system-properties", message, "pass a property file with -S");
    }
    let content = match crate::input::read(file.as_ref()) {
        Ok(content) => content,
        Err(error) => {
            let message = unreadable("file name", &file, &error);
            ctx.warn(id, "no-file", message, "its variables are not defined, as in JMeter");
            return Vec::new();
        }
    };
    let mut found: Vec<(VarId, Template)> = Vec::new();
    for (name, value) in pairs(&String::from_utf8_lossy(&content), &separator, skipped) {
        let name = ctx.text.names.intern(&format!("{prefix}{name}"));
        found.retain(|(known, _)| *known != name);
        found.push((name, Template::Fixed(value.into())));
    }
    found
}

/// Parses names and values after the first `skipped` lines.
fn pairs(content: &str, separator: &str, skipped: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in content.lines().skip(skipped).filter(|line| !line.starts_with('#')) {
        let mut cells = line.split(separator);
        match (cells.next().unwrap_or(""), cells.next()) {
            // A separator at the end of a line is followed by an empty cell.
            (name, Some(value)) => match value.strip_prefix('"') {
                Some(begun) => {
                    let before = open.take().map_or(String::new(), |(_, text)| text);
                    open = Some((name.to_owned(), format!("{before}{begun}\n")));
                }
                None => found.push((name.to_owned(), value.to_owned())),
            },
            ("", None) => {}
            (rest, None) => match (open.take(), rest.strip_suffix('"')) {
                (Some((name, text)), Some(end)) => found.push((name, text + end)),
                (Some((name, text)), None) => open = Some((name, format!("{text}{rest}\n"))),
                (None, _) => found.push((rest.to_owned(), String::new())),
            },
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(content: &str, separator: &str, skipped: usize) -> String {
        let pairs = pairs(content, separator, skipped);
        let shown = pairs.iter().map(|(name, value)| format!("[{name}={value}]"));
        shown.collect::<Vec<_>>().concat()
    }

    #[test]
    fn the_first_two_columns_are_a_name_and_its_value() {
        assert_eq!(shown("a;1\n# b;2\nc;3;4\n\nd;\ne\n", ";", 0), "[a=1][c=3][d=][e=]");
        assert_eq!(shown("name,value\nx,y\n", ",", 1), "[x=y]");
    }

    #[test]
    fn a_value_in_quotation_marks_goes_on_over_lines() {
        assert_eq!(shown("a;\"one\ntwo\nthree\"\nb;4\n", ";", 0), "[a=one\ntwo\nthree][b=4]");
        // A quoted value that ends on its own line is parsed as the beginning of a longer value.
        assert_eq!(shown("a;\"one\"\nb;2\n", ";", 0), "[b=2]");
    }
}
