//! Safe building of HTML: every string from outside passes through one escaping function.

use std::fmt::Write;

use answers::verdict::Words;

/// A buffer of HTML. Strings are escaped; only string literals of this crate are added unescaped.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a fragment of HTML from this crate's source without escaping.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds escaped text. It may also be within a quoted attribute.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape(&mut self.0, text);
        self
    }

    /// Adds a number, rounded to two decimals, as text or as the value of an attribute.
    pub fn number(&mut self, number: f64) -> &mut Self {
        let rounded = (number * 100.0).round() / 100.0;
        let _ = write!(self.0, "{rounded}");
        self
    }

    /// Adds a string in both languages; the style of the page shows one of them.
    pub fn words(&mut self, words: &Words) -> &mut Self {
        if words.en == words.zh {
            return self.text(&words.en);
        }
        self.raw("<span lang=\"en\">").text(&words.en).raw("</span>");
        self.raw("<span lang=\"zh\">").text(&words.zh).raw("</span>")
    }

    /// Adds a literal in both languages.
    pub fn both(&mut self, en: &'static str, zh: &'static str) -> &mut Self {
        self.raw("<span lang=\"en\">").text(en).raw("</span>");
        self.raw("<span lang=\"zh\">").text(zh).raw("</span>")
    }

    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Escapes text: markup characters, invisible characters, and characters that change the direction of text.
fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if hidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Returns true for control characters and for characters that change the direction of text.
pub(crate) fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let mut html = Html::new();
        html.raw("<b title=\"")
            .text("\" onclick='x' <script>&")
            .raw("\">")
            .text("a\u{202e}b\0c\n")
            .raw("</b>");
        assert_eq!(
            html.as_str(),
            "<b title=\"&quot; onclick=&#39;x&#39; &lt;script&gt;&amp;\">a\u{fffd}b\u{fffd}c\n</b>"
        );
    }
}
