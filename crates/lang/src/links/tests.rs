//! Compares with the links that JMeter 5.6.3 finds: `tables/Record.java` has recorded them in `tables/links.txt`.

use super::*;

/// A recorded page with its links.
struct Case {
    name: String,
    parser: Parser,
    base: String,
    user_agent: String,
    page: String,
    links: Vec<String>,
    thrown: Option<(String, String)>,
}

/// Reads the recorded pages. A section begins with `=== name | parser | base | user agent`; the page follows, then
/// `---` and JMeter's links.
fn cases() -> Vec<Case> {
    let table = include_str!("tables/links.txt");
    let sections = table.split("\n=== ").skip(1).chain(None);
    sections
        .map(|section| {
            let (head, rest) = section.split_once('\n').unwrap();
            let (page, found) = rest.split_once("\n---\n").unwrap();
            let mut parts = head.split(" | ");
            let mut part = || parts.next().unwrap_or("").to_string();
            let name = part();
            let parser = if part() == "css" { Parser::Css } else { Parser::Html };
            let (base, user_agent) = (part(), part());
            let mut found: Vec<&str> = found.lines().filter(|line| !line.is_empty()).collect();
            let thrown =
                found.first().and_then(|line| line.strip_prefix("THROWN ")).map(|thrown| {
                    let (class, message) = thrown.split_once(": ").unwrap();
                    (class.to_string(), message.to_string())
                });
            if thrown.is_some() {
                found.clear();
            }
            let links = found.into_iter().map(unescape).collect();
            Case { name, parser, base, user_agent, page: unescape(page), links, thrown }
        })
        .collect()
}

/// Decodes `\uXXXX`, by which pages contain characters that editors change.
fn unescape(page: &str) -> String {
    let mut pieces = page.split("\\u");
    let mut text = pieces.next().unwrap_or("").to_string();
    for piece in pieces {
        let code = u32::from_str_radix(&piece[..4], 16).unwrap();
        text.push(char::from_u32(code).unwrap());
        text.push_str(&piece[4..]);
    }
    text
}

/// Returns each link, followed by the address that JMeter would request if the address differs from the link.
fn loaded(links: Vec<String>) -> Vec<String> {
    links
        .into_iter()
        .map(|found| {
            let mut link = found.clone();
            escape(&mut link);
            if normalize(&mut link) && link != found { format!("{found} -> {link}") } else { found }
        })
        .collect()
}

#[test]
fn links_are_those_of_jmeter() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 60, "{}", cases.len());
    for case in cases {
        let mut links = Vec::new();
        let found = find(case.parser, &case.page, &case.base, &case.user_agent, &mut links);
        let thrown = found.err().map(|thrown| (thrown.class.to_string(), thrown.message));
        let links = if thrown.is_some() { Vec::new() } else { loaded(links) };
        if links != case.links || thrown != case.thrown {
            wrong.push(format!(
                "{}\n  here   {links:?} {thrown:?}\n  JMeter {:?} {:?}",
                case.name, case.links, case.thrown
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn types_choose_parsers() {
    let parsers = Parsers::new(|name, default| match name {
        "cssParser.types" => "text/css Text/X",
        _ => default,
    });
    assert_eq!(parsers.of("text/html; charset=x"), Some(Parser::Html));
    assert_eq!(parsers.of(" TEXT/CSS"), Some(Parser::Css));
    assert_eq!(parsers.of("application/xhtml+xml"), Some(Parser::Html));
    assert_eq!(parsers.of("text/vnd.wap.wml"), Some(Parser::Html));
    assert_eq!(parsers.of("text/x"), None);
    assert_eq!(parsers.of("text/plain"), None);
    assert_eq!(parsers.of(""), None);
}
