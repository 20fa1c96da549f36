//! Links of a page to the resources that a browser would load with it, as JMeter 5.6.3 finds them.
//!
//! HTML is parsed like Lagarto 5.0.13, JMeter's default parser, and style sheets like ph-css 6.5.0. What these do with
//! broken pages decides which requests are sent, so their rules are followed rather than a browser's. Links are
//! returned absolute and in JMeter's order. Parsing takes time linear in the page, and allocates; requests without
//! embedded resources do not pay for it.

pub mod address;
mod css;
mod entity;
mod html;
mod parsers;
mod reference;
mod tag;
#[cfg(test)]
mod tests;
pub mod tokenizer;
mod version;

use std::collections::HashSet;

pub use address::{escape, normalize};
pub use parsers::{Parser, Parsers};

use crate::url;
use crate::work;

/// Error: the links of a page cannot be found. JMeter then adds a failed sub-sample and loads nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Java class of JMeter's exception.
    pub class: &'static str,
    /// Message of JMeter's exception.
    pub message: String,
}

/// Appends the links of a page to `out`.
///
/// `base` is the page's address. `user_agent` is the header that was sent: if it names an Internet Explorer older than
/// 10, conditional comments are parsed. HTML returns each link once; style sheets return a link as often as they
/// contain it.
pub fn find(
    parser: Parser,
    text: &str,
    base: &str,
    user_agent: &str,
    out: &mut Vec<String>,
) -> Result<(), Unreadable> {
    let mut links = Links { found: out, seen: None };
    let ((class, result), gave_up) = work::bounded(|| match parser {
        Parser::Html => {
            links.seen = Some(HashSet::new());
            let class = "org.apache.jmeter.protocol.http.parser.HTMLParseException";
            (class, html::find(text, base, user_agent, &mut links))
        }
        Parser::Css | Parser::LenientCss => {
            let class = "org.apache.jmeter.protocol.http.parser.LinkExtractorParseException";
            (class, css::find(text, base, parser == Parser::LenientCss, &mut links))
        }
    });
    let result = gave_up.map_or(result, |why| Err(why.to_string()));
    result.map_err(|message| Unreadable { class, message })
}

/// Receives the links of a page as they are found. `seen` is set if each link must be returned only once.
struct Links<'a> {
    found: &'a mut Vec<String>,
    seen: Option<HashSet<String>>,
}

impl Links<'_> {
    /// Resolves a link of the page against `base`, and adds the absolute URL. An invalid link is ignored. An error is
    /// an exception of JMeter that ends the parsing.
    fn add(&mut self, link: &str, base: &str) -> Result<(), String> {
        if link.is_empty() {
            return Ok(());
        }
        let link = entity::decode(link)?;
        let mut url = String::new();
        if url::relative(base, &link, &mut url).is_err() {
            return Ok(());
        }
        if let Some(seen) = &mut self.seen
            && !seen.insert(url.clone())
        {
            return Ok(());
        }
        self.found.push(url);
        Ok(())
    }
}
