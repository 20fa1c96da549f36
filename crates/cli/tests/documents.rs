//! The documents are complete: they name exactly the properties that have an effect, and exactly the exit codes that
//! exist.

use std::fs;
use std::path::Path;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the string literals of a `const` in a source file.
fn strings(source: &str, name: &str) -> Vec<String> {
    let start = source.find(&format!("const {name}:")).expect("the constant");
    let text = &source[start..];
    let text = &text[..text.find("];").expect("its end")];
    text.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// Returns the names between backticks, also with the prefix `jmeter.save.saveservice.`, which the page omits.
fn named(page: &str) -> Vec<String> {
    let code = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    code.flat_map(|name| [name.to_string(), format!("jmeter.save.saveservice.{name}")]).collect()
}

#[test]
fn every_property_that_is_honoured_is_documented() {
    let names = named(&document("properties.md"));
    let own = strings(include_str!("../src/inputs/properties/heeded.rs"), "HONOURED");
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

/// Collects the environment variables that the program's sources name, except in tests and bundled targets.
fn variables(folder: &Path, found: &mut Vec<String>) {
    for entry in
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            variables(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") && !entry.ends_with("tests.rs") {
            let text = fs::read_to_string(&entry).expect("text");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for quoted in text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .flat_map(|line| line.split('"').skip(1).step_by(2))
            {
                let is_name = quoted.starts_with("THRONG_")
                    && quoted.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
                found.extend(is_name.then(|| quoted.to_owned()));
            }
        }
    }
}

#[test]
fn every_variable_of_the_environment_is_documented() {
    let names = named(&document("installing.md"));
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("crates") {
        let sources = entry.expect("a crate").path().join("src");
        variables(&sources, &mut found);
    }
    assert!(found.len() > 6, "{found:?}");
    // A prefix such as THRONG_OTLP in the source counts as THRONG_OTLP_TOKEN and similar names.
    let is_there = |name: &String| {
        names.iter().any(|other| {
            other
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    let missing: Vec<_> = found.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "not in docs/installing.md: {missing:?}");
}

#[test]
fn the_table_of_what_has_no_effect_is_the_programs_list() {
    let table = |name| strings(include_str!("../src/inputs/properties/heeded.rs"), name);
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
    let own = strings(include_str!("../src/inputs/properties/heeded.rs"), "HONOURED");
    let page = document("properties.md");
    let (page, _) = page.split_once("\n## Without effect\n").expect("the section");
    // Takes the first cell of each table row, without the heading and its underline.
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
fn every_setting_of_a_gateway_is_documented() {
    let page = document("mgs.md");
    let rows = |from: &str, to: &str| -> Vec<String> {
        let (_, rest) = page.split_once(from).expect(from);
        let (table, _) = rest.split_once(to).expect(to);
        let rows = table.lines().filter(|line| line.starts_with("| `"));
        let cells = rows.filter_map(|row| row.split('|').nth(1));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
    };
    let sorted = |mut names: Vec<String>| {
        names.sort_unstable();
        names
    };
    let known = mgs::settings::PROPERTIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(sorted(rows("\n## Settings\n", "\n## Results\n")), sorted(known));
    let keys = strings(include_str!("../src/tools/vectors.rs"), "KEYS");
    assert_eq!(sorted(rows("\n## Captured requests\n", "\nIt ends with 0")), sorted(keys));
}

#[test]
fn every_exit_code_is_documented() {
    let page = document("exit-codes.md");
    let source = include_str!("../src/exit.rs");
    let codes: Vec<_> = source
        .lines()
        .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "))
        .map(|(_, code)| code)
        .collect();
    assert!(codes.len() >= 6, "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("\n| {code} | ")), "exit code {code} is not in the table");
        assert!(page.contains(&format!("\n## {code}: ")), "exit code {code} has no section");
    }
}

/// Documentation pages that also exist in Chinese.
const IN_CHINESE: &[&str] = &["README.md", "docs/README.md"];

/// Parts of a section that translation does not change: commands without comments, link targets, and numbers.
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
            // Skips the line at the top in which the two pages link to each other.
            if line.contains("English") && line.contains("简体中文") {
                continue;
            }
            let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            facts.links.extend(links.map(|(target, _)| target.to_owned()));
            let numbers = line.split(|char: char| !char.is_ascii_digit());
            facts.numbers.extend(numbers.filter(|number| !number.is_empty()).map(str::to_owned));
        }
        // Translation changes the order of links and numbers within a sentence.
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

#[test]
fn the_changelog_has_the_version_that_is_built_and_its_day() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let changelog = fs::read_to_string(root.join("CHANGELOG.md")).expect("the changelog");
    let head = concat!("## ", env!("CARGO_PKG_VERSION"), " – ");
    let day = changelog.lines().find_map(|line| line.strip_prefix(head)).expect(head);
    assert!(day.parse::<jiff::civil::Date>().is_ok(), "{day:?} is no day");
}

#[test]
fn every_crate_says_what_it_is_and_whose() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = fs::read_dir(root.join("crates")).expect("crates").flatten();
    let crates = folders
        .map(|folder| folder.path())
        .chain(["targets", "tests/parity"].map(|name| root.join(name)));
    for folder in crates {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        for field in
            ["description = \"", "license.workspace", "authors.workspace", "version.workspace"]
        {
            assert!(manifest.contains(field), "{} has no {field}", folder.display());
        }
    }
}

/// Collects the files below a folder whose names end with `end`.
fn below(folder: &Path, end: &str, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

/// True if the criteria in a command or a line of throng.toml judge times but no errors.
fn judges_times_alone(line: &str) -> bool {
    let is_list = line.trim_start().starts_with("fail = ");
    if !is_list && !line.contains("--fail") {
        return false;
    }
    let texts: Vec<&str> = line.split(['\'', '"']).skip(1).step_by(2).collect();
    let is_time = |text: &&str| {
        let figure = text.trim_start_matches("response ").trim_start_matches("service ");
        let percentile = figure.strip_prefix('p').and_then(|rest| rest.chars().next());
        figure.contains(['<', '>'])
            && (percentile.is_some_and(|first| first.is_ascii_digit())
                || ["mean", "median", "max"].iter().any(|name| figure.starts_with(name)))
    };
    texts.iter().any(is_time) && !texts.iter().any(|text| text.starts_with("error"))
}

#[test]
fn examples_have_a_criterion_on_errors_beside_one_on_times() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("README.zh-CN.md")];
    below(&root.join("docs"), ".md", &mut pages);
    below(&root.join("examples"), ".md", &mut pages);
    let manual = tempfile::tempdir().expect("a folder");
    let run = |line: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_throng")).args(line).output();
        String::from_utf8(output.expect("the program").stdout).expect("text")
    };
    run(&["man", &manual.path().display().to_string()]);
    below(manual.path(), ".1", &mut pages);
    let read = |path: &std::path::PathBuf| {
        (path.display().to_string(), fs::read_to_string(path).expect("a page"))
    };
    let mut texts: Vec<(String, String)> = pages.iter().map(read).collect();
    for verb in ["run", "capacity", "compare", "sweep"] {
        texts.push((format!("throng help {verb}"), run(&["help", verb])));
    }
    let mut commands = 0;
    for (name, text) in texts {
        // Undoes the escaping of manual pages: a backslash before each hyphen, and commands that continue on the next
        // line.
        let text = text.replace("\\-", "-").replace("\\(aq", "'").replace("\\\n", " ");
        // Only lines that are commands are checked; a sentence may name an option alone.
        for line in text.lines().filter(|line| line.starts_with("  ") || line.contains("throng ")) {
            commands += usize::from(line.contains("--fail '"));
            assert!(!judges_times_alone(line), "{name}: {line}: error% is missing");
        }
    }
    assert!(commands >= 12, "{commands}");
    assert!(judges_times_alone("throng run p.jmx --fail 'p95 < 1s'"));
    assert!(judges_times_alone("fail = [\"service mean < 1s\"]"));
    assert!(!judges_times_alone("throng run p.jmx --fail 'p95 < 1s' --fail 'error% < 1'"));
}
