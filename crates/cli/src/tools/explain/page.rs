//! Formats a page of the documentation for a terminal: Markdown without its markup, wrapped.

use crate::judge::verdict::wrapped;

/// Returns the section under the first heading that begins with `heading`, up to the next heading of the same or a
/// higher level.
pub(super) fn section(page: &'static str, heading: &str) -> Option<&'static str> {
    let level = heading.bytes().take_while(|byte| *byte == b'#').count();
    let mut offset = 0;
    let mut start = None;
    for line in page.split_inclusive('\n') {
        match start {
            None if line.starts_with(heading) => {
                let is_whole =
                    line[heading.len()..].trim_end().is_empty() || heading.ends_with(':');
                start = is_whole.then_some(offset);
            }
            Some(start) if depth(line).is_some_and(|depth| depth <= level) => {
                return Some(page[start..offset].trim_end());
            }
            _ => {}
        }
        offset += line.len();
    }
    start.map(|start| page[start..].trim_end())
}

/// Returns the level of a heading; `None` for other lines.
fn depth(line: &str) -> Option<usize> {
    let depth = line.bytes().take_while(|byte| *byte == b'#').count();
    (depth > 0 && line[depth..].starts_with(' ')).then_some(depth)
}

/// Formats Markdown as lines of at most `width` columns. Commands and words without blanks may be wider.
pub(super) fn rendered(markdown: &str, width: usize) -> String {
    let mut out = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
        } else if depth(line).is_some() {
            out.push_str(&format!("{}\n", plain(line.trim_start_matches('#').trim())));
        } else if line.starts_with("    ") {
            out.push_str(&format!("{line}\n"));
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(cells(row));
            }
            out.push_str(&table(&rows, width));
        } else {
            let (mark, first) = match line.split_once(' ') {
                Some((mark, rest)) if is_mark(mark) => (mark, rest),
                _ => ("", line),
            };
            let mut text = first.trim().to_owned();
            while let Some(more) = lines.next_if(|line| continues(line)) {
                text.push(' ');
                text.push_str(more.trim());
            }
            let indent = if mark.is_empty() { String::new() } else { " ".repeat(mark.len() + 1) };
            let shown = wrapped(&indent, &plain(&text), width);
            out.push_str(mark);
            out.push_str(&shown[mark.len()..]);
        }
    }
    out
}

/// Returns true if a word marks the start of a list item: `-`, or a number with a dot.
fn is_mark(word: &str) -> bool {
    word == "-"
        || word.strip_suffix('.').is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Returns true if a line continues the paragraph or list item of the previous line.
fn continues(line: &str) -> bool {
    let trimmed = line.trim_start();
    let mark = trimmed.split(' ').next().unwrap_or_default();
    !trimmed.is_empty() && !line.starts_with(['|', '#']) && !is_mark(mark)
}

/// Splits a row of a table into its cells. Returns no cells for the row of dashes below the heading of a table.
fn cells(row: &str) -> Vec<String> {
    if row.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) {
        return Vec::new();
    }
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.split('|').map(|cell| plain(cell.trim())).collect()
}

/// Formats a table. The other cells of a row follow its first cell on the same line if there is room, or else on
/// the lines below.
fn table(rows: &[Vec<String>], width: usize) -> String {
    let heads = rows.first().filter(|_| rows.get(1).is_some_and(Vec::is_empty));
    let has_heads = heads.is_some_and(|heads| heads.iter().any(|head| !head.is_empty()));
    let skip = if heads.is_some() && !has_heads { 1 } else { 0 };
    let rows: Vec<&Vec<String>> = rows.iter().skip(skip).filter(|row| !row.is_empty()).collect();
    let columns = rows.iter().map(|row| row.len()).max().unwrap_or_default();
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let indent: usize = 2 + widths.iter().rev().skip(1).map(|width| width + 2).sum::<usize>();
    let mut out = String::new();
    for row in rows {
        let mut lead = "  ".to_owned();
        // The last column is wrapped inside its own column, if that is wide enough.
        if indent + 30 <= width {
            for (cell, width) in row.iter().zip(&widths).take(columns.saturating_sub(1)) {
                lead.push_str(&format!("{cell:<width$}  "));
            }
            let last = row.get(columns - 1).map_or("", String::as_str);
            let text = wrapped(&" ".repeat(indent), last, width);
            out.push_str(format!("{lead}{}", text.trim_start()).trim_end());
            out.push('\n');
        } else {
            let (first, others) = row.split_first().map_or(("", &[][..]), |(a, b)| (a.as_str(), b));
            out.push_str(&wrapped(&lead, first, width));
            for cell in others.iter().filter(|cell| !cell.is_empty()) {
                out.push_str(&wrapped("      ", cell, width));
            }
        }
    }
    out
}

/// Removes the markup of bold text and of links, and keeps their text.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        let link = from.find("](").and_then(|middle| {
            let end = from[middle..].find(')')? + middle;
            Some((&from[1..middle], &from[end + 1..]))
        });
        out.push_str(before);
        match link {
            Some((words, behind)) if !words.contains('[') => {
                out.push_str(words);
                rest = behind;
            }
            _ => {
                out.push('[');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_lines_are_wrapped() {
        let page = "### one\n\nA **bold** word and [a\nlink](b.md#c) to it.\n\n- first of\n  two\n- b\n\n    throng run\n";
        let shown =
            "one\n\nA bold word and a\nlink to it.\n\n- first of two\n- b\n\n    throng run\n";
        assert_eq!(rendered(page, 18), shown);
        assert_eq!(plain("a [1] and [x](y)"), "a [1] and x");
    }

    #[test]
    fn tables_have_aligned_columns_or_a_line_for_each_cell() {
        let page = "| code | |\n|---|---|\n| 0 | one two three four five six seven |\n";
        let wide = "  code\n  0     one two three four five six\n        seven\n";
        assert_eq!(rendered(page, 38), wide);
        let narrow = "  code\n  0\n      one two three four\n      five six seven\n";
        assert_eq!(rendered(page, 26), narrow);
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let page = "# P\n\n## A\n\none\n\n### a\n\ntwo\n\n## B\n\nthree\n";
        assert_eq!(section(page, "## A"), Some("## A\n\none\n\n### a\n\ntwo"));
        assert_eq!(section(page, "### a"), Some("### a\n\ntwo"));
        assert_eq!(section(page, "## B"), Some("## B\n\nthree"));
        assert_eq!(section(page, "## C"), None);
    }
}
