//! Tests with hostile data of servers and plans in large sizes: the steps of each case are linear in the size, or it
//! gives up with a message.

#![allow(clippy::semicolon_if_nothing_returned, clippy::format_collect)] // Cases are one expression each.

use std::time::{Duration, Instant};

use super::{Limits, bounded, limit, taken};
use crate::{jsonpath, jsoup, tidy, xml, xpath};

fn css(page: &str, selector: &str) {
    let selector = jsoup::Selector::parse(selector).unwrap();
    jsoup::Document::parse(page).select(&selector, None, |_| std::ops::ControlFlow::Continue(()));
}

fn xpath(page: &str, query: &str) {
    let _ = xpath::extract(page.as_bytes(), query, false, true, false);
}

fn json(text: &str, path: &str) {
    let path = jsonpath::JsonPath::new(path).unwrap();
    if let Ok(document) = jsonpath::read(text) {
        let _ = path.list(&document);
    }
}

fn links(page: &str) {
    let parser = crate::links::Parser::Html;
    let _ = crate::links::find(parser, page, "http://a/", "", &mut Vec::new());
}

type Case = (&'static str, fn(usize));

const CASES: &[Case] = &[
    ("jsoup deep", |n| css(&"<div>".repeat(n), "a")),
    ("jsoup deep span", |n| css(&"<span>".repeat(n), "a")),
    ("jsoup b ids p", |n| {
        css(
            &(0..n / 2)
                .map(|i| format!("<b id={i}>"))
                .chain((0..n / 2).map(|_| "<p>x</p>".into()))
                .collect::<String>(),
            "a",
        )
    }),
    ("jsoup flat", |n| css(&"<p>x</p>".repeat(n), "body > p")),
    ("jsoup later", |n| css(&"<p>x</p>".repeat(n), "b ~ p")),
    ("jsoup next", |n| css(&"<p>x</p>".repeat(n), "p + p")),
    ("jsoup nth", |n| css(&"<p>x</p>".repeat(n), "p:nth-child(3)")),
    ("jsoup nth-last-type", |n| css(&"<p>x</p>".repeat(n), "p:nth-last-of-type(3)")),
    ("jsoup body text", |n| css(&"<p>x</p>".repeat(n), "body")),
    ("jsoup table foster", |n| css(&format!("<table>{}", "x<b></b>".repeat(n)), "a")),
    ("jsoup attrs", |n| {
        css(&format!("<p {}>", (0..n).map(|i| format!("a{i}=1 ")).collect::<String>()), "a")
    }),
    ("jsoup has", |n| css(&"<div><p>".repeat(n / 100), "div:has(a)")),
    ("jsoup comments", |n| css(&"<!-- ".repeat(n), "a")),
    ("jsoup misnested", |n| css(&"<a><b></a>".repeat(n), "i")),
    ("jsoup forms", |n| css(&"<form><table>".repeat(n), "i")),
    ("jsoup select", |n| css(&format!("<select>{}", "<option><p>".repeat(n)), "i")),
    ("tidy deep", |n| drop(tidy::read(&"<div>".repeat(n)))),
    ("tidy flat", |n| drop(tidy::read(&"<b> x </b>".repeat(n)))),
    ("tidy center", |n| drop(tidy::read(&"<center><font>x".repeat(n)))),
    ("tidy div align", |n| {
        drop(tidy::read(&format!(
            "<div align=a>{}",
            "<div align=b style=c class=d>".repeat(n / 10)
        )))
    }),
    ("xml deep", |n| xpath(&format!("{}{}", "<a>".repeat(n), "</a>".repeat(n)), "//a")),
    ("xml deep fragment", |n| xpath(&format!("{}{}", "<a>".repeat(n), "</a>".repeat(n)), "/a")),
    ("xml preceding", |n| xpath(&format!("<r>{}</r>", "<a/>".repeat(n)), "//a[preceding::b]")),
    ("xml siblings", |n| {
        xpath(&format!("<r>{}</r>", "<a/>".repeat(n)), "//a[preceding-sibling::a[3]]")
    }),
    ("xml attrs", |n| {
        xpath(&format!("<r {}/>", (0..n).map(|i| format!("a{i}='1' ")).collect::<String>()), "//@*")
    }),
    ("xml attrs ns", |n| {
        let _ = xml::read(
            format!(
                "<r xmlns:a='u' {}/>",
                (0..n).map(|i| format!("a:a{i}='1' ")).collect::<String>()
            )
            .as_bytes(),
            xml::Options { namespaces: true, ..Default::default() },
        );
    }),
    ("xml namespaces", |n| {
        let _ = xml::read(
            (0..n).map(|i| format!("<r xmlns:a{i}='u{i}'>")).collect::<String>().as_bytes(),
            xml::Options { namespaces: true, ..Default::default() },
        );
    }),
    ("xml doctype attlist", |n| {
        xpath(
            &format!(
                "<!DOCTYPE r [{}]><r/>",
                (0..n).map(|i| format!("<!ATTLIST r a{i} CDATA 'x'>")).collect::<String>()
            ),
            "//@*",
        )
    }),
    ("xml entities", |n| {
        xpath(
            &format!(
                "<!DOCTYPE r [{}]><r>{}</r>",
                (0..n).map(|i| format!("<!ENTITY e{i} 'x'>")).collect::<String>(),
                (0..n).map(|i| format!("&e{i};")).collect::<String>()
            ),
            "/r",
        )
    }),
    ("xml text", |n| xpath(&format!("<r>{}</r>", "x<!-- -->".repeat(n)), "//text()")),
    ("xml cdata", |n| xpath(&format!("<r>{}</r>", "<![CDATA[x]]>".repeat(n)), "//text()")),
    ("xml string", |n| {
        xpath(&format!("{}x{}", "<a>".repeat(n), "</a>".repeat(n)), "//a[contains(.,'y')]")
    }),
    ("xml ids", |n| {
        xpath(
            &format!(
                "<!DOCTYPE r [<!ATTLIST a i ID #IMPLIED>]><r>{}</r>",
                (0..n).map(|i| format!("<a i='i{i}'/>")).collect::<String>()
            ),
            "id(//@i)",
        )
    }),
    ("json deep", |n| {
        json(&format!("{}1{}", "{\"a\":".repeat(n.min(390)), "}".repeat(n.min(390))), "$..a")
    }),
    ("json wide", |n| json(&format!("[{}1]", "{\"a\":1},".repeat(n)), "$..a")),
    ("json keys", |n| {
        json(
            &format!("{{{}\"z\":1}}", (0..n).map(|i| format!("\"a{i}\":1,")).collect::<String>()),
            "$..a1",
        )
    }),
    ("json filter", |n| json(&format!("[{}1]", "{\"a\":1},".repeat(n)), "$..[?(@.a==1)]")),
    ("json filter root", |n| json(&format!("[{}1]", "{\"a\":1},".repeat(n)), "$[?(@.a==$..b)]")),
    ("json in", |n| json(&format!("[{}1]", "{\"a\":1},".repeat(n)), "$[?(@.a in $..a)]")),
    ("json open", |n| json(&"[".repeat(n), "$..a")),
    ("json string", |n| json(&format!("\"{}\"", "\\u0041".repeat(n)), "$..a")),
    ("json quotes", |n| json(&format!("[{}", "'\\".repeat(n)), "$..a")),
    ("json bare", |n| json(&format!("[{}", "a ".repeat(n)), "$..a")),
    ("jmes deep", |n| {
        if let (Ok(path), Ok(value)) = (
            crate::jmespath::JmesPath::new("[].a[]"),
            crate::jmespath::read(&format!("[{}1]", "{\"a\":[1]},".repeat(n))),
        ) {
            let _ = path.search(&value);
        }
    }),
    ("jmes keys", |n| {
        let _ = crate::jmespath::read(&format!(
            "{{{}\"z\":1}}",
            (0..n).map(|i| format!("\"a{i}\":1,")).collect::<String>()
        ));
    }),
    ("jmes contains", |n| {
        if let (Ok(path), Ok(value)) = (
            crate::jmespath::JmesPath::new("a[?contains($.a, @)]"),
            crate::jmespath::read(&format!("{{\"a\":[{}1]}}", "2,".repeat(n))),
        ) {
            let _ = path.search(&value);
        }
    }),
    ("jmes number", |n| {
        let _ = crate::jmespath::read(&"1".repeat(n));
    }),
    ("links flat", |n| links(&"<img src=a>".repeat(n))),
    ("links open", |n| links(&"<".repeat(n))),
    ("links comments", |n| links(&"<!--".repeat(n))),
    ("links cdata", |n| links(&"<![CDATA[".repeat(n))),
    ("links scripts", |n| links(&"<script>".repeat(n))),
    ("links textarea", |n| links(&"<textarea>".repeat(n))),
    ("links quotes", |n| links(&"<a b='".repeat(n))),
    ("links conditions", |n| links(&"<!--[if IE]>".repeat(n))),
    ("links style", |n| links(&"<p style='x: url(".repeat(n))),
    ("links sheet", |n| links(&format!("<style>{}", "@import url(".repeat(n)))),
    ("links attrs", |n| {
        links(&format!("<img {}>", (0..n).map(|i| format!("a{i}=1 ")).collect::<String>()))
    }),
    ("links entities", |n| links(&format!("<img src='{}'>", "&amp".repeat(n)))),
    ("links doctype", |n| links(&"<!DOCTYPE ".repeat(n))),
    ("links xml", |n| links(&"<?xml ".repeat(n))),
];

/// Returns the number of steps of a case; `None` if it gave up.
fn steps(run: fn(usize), n: usize) -> Option<u64> {
    limit(Limits { steps: 1 << 20, ..Limits::default() });
    let mut used = 0;
    let ((), gave_up) = bounded(|| {
        run(n);
        used = taken();
    });
    gave_up.is_none().then_some(used)
}

#[test]
fn nothing_goes_on_when_its_steps_are_used_up() {
    for (name, run) in CASES {
        let begun = Instant::now();
        steps(*run, 8_000);
        // Work that is not counted shows in the elapsed time: no case needs more than a few seconds.
        assert!(begun.elapsed() < Duration::from_secs(60), "{name}: {:?}", begun.elapsed());
    }
}

#[test]
fn what_users_meet_is_linear() {
    let linear = [
        "jsoup flat",
        "jsoup later",
        "jsoup next",
        "jsoup nth",
        "jsoup nth-last-type",
        "jsoup body text",
        "jsoup table foster",
        "tidy flat",
        "xml text",
        "json wide",
        "json keys",
        "json filter",
        "links flat",
    ];
    for name in linear {
        let (_, run) = CASES.iter().find(|(known, _)| *known == name).expect("a case");
        assert!(steps(*run, 8_000).is_some(), "{name}");
    }
}

#[test]
fn very_deep_pages_are_read_whole() {
    const DEEP: usize = 20_000;
    let deep = |tag: &str| format!("{}<a>x</a>", tag.repeat(DEEP));
    for (what, page) in [
        ("div", deep("<div>")),
        ("div in table", deep("<table><tr><td><div>")),
        ("p in list", deep("<li><p>")),
        ("table below", format!("{}<table><tr><td>x</table><a>x</a>", "<div>".repeat(DEEP))),
        ("rows within", format!("<table>{}<tr><td>x</table><a>x</a>", "<div>".repeat(DEEP))),
        ("ends", format!("{}{}<a>x</a>", "<div>".repeat(DEEP), "</div></p>".repeat(DEEP))),
    ] {
        limit(Limits { steps: 10_000_000, ..Limits::default() });
        let (found, gave_up) = bounded(|| {
            let selector = jsoup::Selector::parse("a").unwrap();
            let mut found = Vec::new();
            jsoup::Document::parse(&page).select(&selector, None, |text| {
                found.push(text.to_owned());
                std::ops::ControlFlow::Continue(())
            });
            found
        });
        assert_eq!((gave_up, &found[..]), (None, &["x".to_owned()][..]), "{what}");
        assert_eq!(bounded(|| drop(tidy::read(&page))).1, None, "{what}");
    }
}

#[test]
fn deep_soup_is_read_by_rules_that_hold() {
    // For elements beyond the parser's search limit, the tree reports the name of another element. The parser must not
    // rely on names that it read earlier.
    const TAGS: [&str; 36] = [
        "div", "p", "span", "a", "b", "i", "nobr", "li", "ul", "dd", "dt", "form", "button",
        "table", "tbody", "tr", "td", "th", "caption", "colgroup", "select", "option", "optgroup",
        "template", "svg", "math", "mi", "desc", "object", "h1", "body", "html", "frameset",
        "applet", "ruby", "rt",
    ];
    let pages: u64 = std::env::var("PAGES").map_or(12, |pages| pages.parse().expect("a number"));
    for seed in 0..pages {
        limit(Limits { steps: u64::MAX, ..Limits::default() });
        let mut state = seed;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % bound
        };
        let mut page = String::new();
        for _ in 0..600 {
            let tag = TAGS[below(TAGS.len())];
            match below(8) {
                0 | 1 => page.push_str(&format!("</{tag}>")),
                2 => page.push_str(&["<div>", "<span>", "<b>", "<li>"][below(4)].repeat(120)),
                _ => page.push_str(&format!("<{tag}>x")),
            }
        }
        css(&page, "a");
        drop(tidy::read(&page));
    }
}
