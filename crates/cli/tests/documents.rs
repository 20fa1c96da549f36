//! The documents are complete: they name every property with an effect and every exit code, and no other.

use std::fs;
use std::path::Path;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The strings of a `const` in a source file.
fn strings(source: &str, name: &str) -> Vec<String> {
    let start = source.find(&format!("const {name}:")).expect("the constant");
    let text = &source[start..];
    let text = &text[..text.find("];").expect("its end")];
    text.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// Names between backticks, with the prefix that the page leaves out.
fn named(page: &str) -> Vec<String> {
    let code = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    code.flat_map(|name| [name.to_string(), format!("jmeter.save.saveservice.{name}")]).collect()
}

#[test]
fn every_property_that_is_honoured_is_documented() {
    let names = named(&document("properties.md"));
    let own = strings(include_str!("../src/properties/heeded.rs"), "HONOURED");
    assert!(own.len() > 10, "{own:?}");
    let own = own.iter().map(String::as_str);
    let honoured: Vec<_> = own
        .chain(engine::PROPERTIES.iter().copied())
        .chain(stats::jtl::Columns::PROPERTIES.iter().copied())
        .chain(jvm::PROPERTIES.iter().copied())
        .chain(report::jmeter::PROPERTIES.iter().copied())
        .collect();
    let missing: Vec<_> =
        honoured.iter().filter(|key| !names.iter().any(|name| name == *key)).collect();
    assert!(missing.is_empty(), "not in docs/properties.md: {missing:?}");
}

#[test]
fn the_table_of_what_has_no_effect_is_the_programs_list() {
    let table = |name| strings(include_str!("../src/properties/heeded.rs"), name);
    let listed = [table("WITHOUT_EFFECT"), table("READ_IN_JAVA")].concat();
    let mut listed: Vec<_> = listed
        .chunks_exact(3)
        .map(|row| format!("| `{}` | {} | {} |", row[0], row[1], row[2]))
        .collect();
    listed.sort_unstable();
    assert!(listed.len() > 40, "{listed:?}");
    let page = document("properties.md");
    let (_, table) = page.split_once("\n## Without effect\n").expect("the section");
    let mut rows: Vec<_> = table.lines().filter(|line| line.starts_with("| `")).collect();
    rows.sort_unstable();
    assert_eq!(rows, listed);
}

#[test]
fn every_property_in_the_tables_is_honoured() {
    let own = strings(include_str!("../src/properties/heeded.rs"), "HONOURED");
    let page = document("properties.md");
    let (page, _) = page.split_once("\n## Without effect\n").expect("the section");
    // The first cell of each row but the heading and the line below it.
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let names: Vec<_> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    let honoured = |name: &str| {
        own.iter().any(|key| key == name)
            || engine::PROPERTIES.contains(&name)
            || stats::jtl::Columns::PROPERTIES.contains(&name)
            || jvm::PROPERTIES.contains(&name)
            || report::jmeter::PROPERTIES.contains(&name)
    };
    let unknown: Vec<_> = names.iter().filter(|name| !honoured(name)).collect();
    assert!(unknown.is_empty(), "in docs/properties.md and not honoured: {unknown:?}");
}

#[test]
fn every_exit_code_is_documented() {
    let page = document("running-a-plan.md");
    let source = include_str!("../src/exit.rs");
    let codes: Vec<_> = source
        .lines()
        .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "))
        .map(|(_, code)| code)
        .collect();
    assert!(codes.len() >= 6, "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("\n| {code} | ")), "exit code {code} is not in the table");
    }
}

/// Pages that also stand in Chinese.
const IN_CHINESE: &[&str] = &["README.md", "docs/README.md"];

/// The part of a section that no language changes: commands without their comments, where its links lead, and its numbers.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    commands: Vec<String>,
    links: Vec<String>,
    numbers: Vec<String>,
}

impl Facts {
    fn of(section: &str) -> Facts {
        let mut facts = Facts::default();
        for line in section.lines() {
            if line.starts_with("    ") {
                let command = line.split_once("  # ").map_or(line, |(command, _)| command);
                facts.commands.push(command.trim_end().to_owned());
                continue;
            }
            // Both pages name each other at their top.
            if line.contains("English") && line.contains("简体中文") {
                continue;
            }
            let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            facts.links.extend(links.map(|(target, _)| target.to_owned()));
            let numbers = line.split(|char: char| !char.is_ascii_digit());
            facts.numbers.extend(numbers.filter(|number| !number.is_empty()).map(str::to_owned));
        }
        // Another language has another order within a sentence.
        facts.links.sort_unstable();
        facts.numbers.sort_unstable();
        facts
    }
}

fn differences(english: &str, chinese: &str) -> Vec<String> {
    let sections = |page: &str| -> Vec<Facts> { page.split("\n## ").map(Facts::of).collect() };
    let (english, chinese) = (sections(english), sections(chinese));
    let mut found = Vec::new();
    if english.len() != chinese.len() {
        found.push(format!("{} sections, {} in Chinese", english.len(), chinese.len()));
    }
    for (number, (english, chinese)) in english.iter().zip(&chinese).enumerate() {
        if english != chinese {
            found.push(format!("section {number}:\n{english:?}\n{chinese:?}"));
        }
    }
    found
}

#[test]
fn chinese_pages_have_the_commands_links_and_figures_of_the_english_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in IN_CHINESE {
        let read = |name: &str| fs::read_to_string(root.join(name)).expect(name);
        let found = differences(&read(page), &read(&page.replace(".md", ".zh-CN.md")));
        assert!(found.is_empty(), "{page}:\n{}", found.join("\n"));
    }
}

#[test]
fn a_page_out_of_step_is_found() {
    let english = "# A\n\nOf 5, see [b](b.md).\n\n## B\n\n    throng run x.jmx   # it runs\n";
    let chinese = "# A\n\n见 [乙](b.md)：5。\n\n## B\n\n    throng run x.jmx  # 运行\n";
    assert_eq!(differences(english, chinese), Vec::<String>::new());
    for (now, then) in [("run x", "check x"), ("：5", "：6"), ("b.md", "c.md"), ("\n## B", "\nB")]
    {
        let stale = chinese.replace(now, then);
        assert!(!differences(english, &stale).is_empty(), "{then}");
    }
}
