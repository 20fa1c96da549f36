//! Tables of the first screen. A summary in Markdown shows the same columns, rows and words.
//!
//! A page writes the number behind a cell as an attribute, by which its script sorts the column.

use answers::verdict::Words;

use crate::html::Html;
use crate::model::{Quantile, words};

/// A table with its title, columns and rows.
#[derive(Debug)]
pub(crate) struct Table {
    /// Name by which the script finds the table.
    pub name: &'static str,
    pub title: Words,
    pub heads: Vec<Head>,
    /// Rows with as many cells as there are columns. The first cell of a row names the row.
    pub rows: Vec<Vec<Cell>>,
}

/// Name of a column.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub words: Words,
    /// True for a column of numbers.
    pub is_number: bool,
    /// True if a summary shows the intervals of the cells in a column of their own.
    pub has_intervals: bool,
    /// Markup of a page in place of the words.
    pub markup: Option<Html>,
}

/// A cell in both languages.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    pub text: Words,
    /// True for a name from outside, which a summary shows as code.
    pub is_name: bool,
    /// True if too few samples support the number. A summary shows it in parentheses.
    pub is_thin: bool,
    /// Class of the cell in a page.
    pub class: &'static str,
    /// Number by which the script sorts the column.
    pub value: Option<f64>,
    pub interval: Option<String>,
    /// Remarks on the text, which a page shows as tags and a summary in parentheses.
    pub tags: Vec<Words>,
    /// Sign that a summary shows before the text.
    pub sign: &'static str,
    /// Markup of a page in place of the text.
    pub markup: Option<Html>,
}

impl Head {
    pub(crate) fn text(words: Words) -> Self {
        Self { words, ..Self::default() }
    }

    pub(crate) fn number(words: Words) -> Self {
        Self { is_number: true, ..Self::text(words) }
    }
}

impl Cell {
    pub(crate) fn words(text: Words) -> Self {
        Self { text, ..Self::default() }
    }

    /// Returns a cell with the same text in both languages.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self::words(words(text.clone(), text))
    }

    /// Returns a cell with a name from outside.
    pub(crate) fn name(name: &str) -> Self {
        Self { is_name: true, class: "hostile", ..Self::text(name) }
    }

    pub(crate) fn number(value: f64, text: impl Into<String>) -> Self {
        Self { value: Some(value), class: "n", ..Self::text(text) }
    }

    /// Returns a cell with a percentile; a dash for an unknown one.
    pub(crate) fn quantile(of: Option<&Quantile>, show: fn(f64) -> String) -> Self {
        let Some(found) = of else { return Self::text("–").class("n few") };
        let cell = Self::number(found.us, show(found.us)).within(found.low, found.high, show);
        if found.enough { cell } else { Self { is_thin: true, ..cell.class("n few") } }
    }

    pub(crate) fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    /// Adds the interval of the number.
    pub(crate) fn within(
        self,
        low: Option<f64>,
        high: Option<f64>,
        show: fn(f64) -> String,
    ) -> Self {
        let interval = low.zip(high).map(|(low, high)| format!("{} – {}", show(low), show(high)));
        Self { interval, ..self }
    }

    pub(crate) fn sign(self, sign: &'static str) -> Self {
        Self { sign, ..self }
    }

    /// Adds markup that a page shows in place of the text.
    pub(crate) fn markup(self, class: &'static str, markup: Html) -> Self {
        Self { class, markup: Some(markup), ..self }
    }
}

impl Table {
    /// Renders the title and the table.
    pub(crate) fn render(&self, out: &mut Html) {
        out.raw("<h2>").words(&self.title).raw("</h2>");
        out.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
        out.text(self.name).raw("\"><table class=\"dense\"><thead><tr>");
        for head in &self.heads {
            out.raw(if head.is_number {
                "<th scope=\"col\" class=\"n\">"
            } else {
                "<th scope=\"col\">"
            });
            match &head.markup {
                Some(markup) => out.append(markup),
                None => out.words(&head.words),
            };
            out.raw("</th>");
        }
        out.raw("</tr></thead><tbody>");
        for row in &self.rows {
            out.raw("<tr>");
            for (n, cell) in row.iter().enumerate() {
                out.raw(if n == 0 { "<th scope=\"row\"" } else { "<td" });
                cell.render(out);
                out.raw(if n == 0 { "</th>" } else { "</td>" });
            }
            out.raw("</tr>");
        }
        out.raw("</tbody></table></div>");
    }
}

impl Cell {
    /// Renders the attributes and the content of the cell's element.
    fn render(&self, out: &mut Html) {
        if !self.class.is_empty() {
            out.raw(" class=\"").raw(self.class).raw("\"");
        }
        if let Some(value) = self.value.filter(|value| value.is_finite()) {
            out.raw(" data-value=\"").text(&value.to_string()).raw("\"");
        }
        out.raw(">");
        match &self.markup {
            Some(markup) => out.append(markup),
            None => out.words(&self.text),
        };
        for tag in &self.tags {
            out.raw(" <small class=\"tag\">").words(tag).raw("</small>");
        }
        if let Some(interval) = &self.interval {
            out.raw("<br><small>").text(interval).raw("</small>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_beside_its_text_and_names_are_escaped() {
        let show = |value: f64| format!("{value} s");
        let table = Table {
            name: "Points",
            title: words("Points", "测点"),
            heads: vec![Head::text(words("Label", "标签")), Head::number(words("Time", "时间"))],
            rows: vec![
                vec![
                    Cell::name("<a>"),
                    Cell::number(0.5, "500 ms").within(Some(1.0), Some(2.0), show),
                ],
                vec![Cell::name("b"), Cell::number(f64::INFINITY, "–").class("n few")],
            ],
        };
        let mut out = Html::new();
        table.render(&mut out);
        let html = out.as_str();
        assert!(html.contains("<th scope=\"row\" class=\"hostile\">&lt;a&gt;</th>"), "{html}");
        let cell = "<td class=\"n\" data-value=\"0.5\">500 ms<br><small>1 s – 2 s</small></td>";
        assert!(html.contains(cell), "{html}");
        assert!(html.contains("<td class=\"n few\">–</td>"), "{html}");
    }
}
