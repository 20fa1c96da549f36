//! Structural rules that the compiler does not check: floors of crates, file sizes, module docs, words, links in
//! documents. `rooms` checks the imports between the folders of a crate.
//!
//! The tests read the source tree as text and use only the standard library. Each test lists all violations at once.

#[path = "house/rooms.rs"]
mod rooms;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floor of each crate. A crate may depend only on crates of lower floors. `targets` is outside the floors and uses
/// `wire` for WebSocket; `parity` and `fuzz` are used by tests only.
const FLOORS: &[(&str, u32)] = &[
    ("jmx", 0),
    ("lang", 0),
    ("messages", 0),
    ("trust", 0),
    ("author", 1),
    ("script", 1),
    ("import", 1),
    ("mgs", 1),
    ("wire", 1),
    ("stats", 1),
    ("plan", 2),
    ("record", 2),
    ("answers", 3),
    ("watch", 3),
    ("targets", 3),
    ("engine", 3),
    ("fleet", 4),
    ("jvm", 4),
    ("parity", 4),
    ("fuzz", 4),
    ("report", 4),
    ("web", 4),
    ("export", 4),
    ("cli", 5),
];
/// Maximum lines of a source file. A longer file holds more than one subject.
const MOST_LINES: usize = 800;
/// File names that say nothing about the file's content.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "manager", "misc", "impl"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all hand-written files with these endings, as path relative to the root and text.
fn files(ends: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    for folder in ["crates", "targets", "tests", "fuzz", "bench", "examples", "docs", ".ci"] {
        walk(&root.join(folder), ends, &mut found);
    }
    for entry in fs::read_dir(&root).expect("the root").flatten() {
        let path = entry.path();
        if path.is_file() && ends.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
    let name =
        |path: &Path| path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned();
    let text =
        |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    let mut files: Vec<_> = found.iter().map(|path| (name(path), text(path))).collect();
    files.sort();
    assert!(!files.is_empty(), "nothing found for {ends:?}");
    files
}

fn walk(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    // Skips folders of generated files (builds, runs, downloads).
    const MADE: &[&str] =
        &["target", "runs", "work", "corpus", "artifacts", "node_modules", "__pycache__"];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if !MADE.contains(&name.as_str()) {
                walk(&path, ends, found);
            }
        } else if ends.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

fn nothing_found(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Returns the names in the table `heading` of a Cargo.toml.
fn dependencies(manifest: &str, heading: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == format!("[{heading}]");
        } else if let (true, Some((name, _))) = (inside, line.split_once('=')) {
            let name = name.trim().trim_end_matches(".workspace").trim_matches('"');
            names.push(name.strip_prefix("throng-").unwrap_or(name).to_string());
        }
    }
    names
}

#[test]
fn crates_depend_only_on_floors_below() {
    let floors: BTreeMap<&str, u32> = FLOORS.iter().copied().collect();
    let manifests: Vec<_> =
        files(&["Cargo.toml"]).into_iter().filter(|(path, _)| path.contains('/')).collect();
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for (path, manifest) in &manifests {
        let parts: Vec<_> = path.split('/').collect();
        let name = parts[parts.len() - 2];
        seen.push(name);
        let Some(own) = floors.get(name) else {
            found.push(format!("{path}: {name} stands on no floor"));
            continue;
        };
        for heading in ["dependencies", "build-dependencies", "dev-dependencies"] {
            for dependency in dependencies(manifest, heading) {
                match floors.get(dependency.as_str()) {
                    // Any crate may have `targets` as a dev-dependency.
                    Some(_) if dependency == "targets" && heading == "dev-dependencies" => {}
                    Some(_) if dependency == "parity" && heading != "dev-dependencies" => {
                        found.push(format!("{path}: {dependency} is for tests alone"));
                    }
                    Some(floor) if floor >= own => found.push(format!(
                        "{path}: {name} (floor {own}) depends on {dependency} (floor {floor})"
                    )),
                    _ => {}
                }
                if dependency == "tokio" && name != "cli" {
                    found.push(format!("{path}: an asynchronous runtime has no place in {name}"));
                }
            }
        }
    }
    for name in floors.keys() {
        if !seen.contains(name) {
            found.push(format!("the floor table names {name}, which is no crate"));
        }
    }
    nothing_found(&found);
}

#[test]
fn what_is_measured_knows_nothing_of_plans() {
    let mut found = Vec::new();
    for name in ["wire", "stats"] {
        let manifest = fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml")))
            .expect("a manifest");
        for own in dependencies(&manifest, "dependencies") {
            // The crate `lang`, with Java's number and address formats, depends on nothing of plans, so `wire` and
            // `stats` may use it.
            if own != "lang" && FLOORS.iter().any(|(name, _)| *name == own) {
                found.push(format!("{name} depends on {own}"));
            }
        }
    }
    nothing_found(&found);
}

#[test]
fn every_dependency_has_its_sentence() {
    let page = fs::read_to_string(root().join("docs/decisions/dependencies.md")).expect("the page");
    let mut found = Vec::new();
    for (path, manifest) in files(&["Cargo.toml"]) {
        for heading in ["dependencies", "build-dependencies", "dev-dependencies"] {
            for name in dependencies(&manifest, heading) {
                let own = FLOORS.iter().any(|(own, _)| *own == name);
                if !own && !page.contains(&format!("`{name}`")) {
                    found.push(format!("{path}: {name} is not in docs/decisions/dependencies.md"));
                }
            }
        }
    }
    nothing_found(&found);
}

/// Crates whose library name differs from the package name.
const OTHER_NAMES: &[(&str, &str)] = &[("md-5", "md5")];

#[test]
fn every_dependency_is_used() {
    let sources = files(&[".rs"]);
    // Fuzz targets include test files by path.
    let included: Vec<&str> = sources
        .iter()
        .filter(|(path, _)| path.starts_with("fuzz/"))
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.strip_prefix("#[path = \"../../")?.strip_suffix("\"]"))
        .collect();
    let mut found = Vec::new();
    for (path, manifest) in files(&["Cargo.toml"]) {
        let folder = path.trim_end_matches("Cargo.toml");
        for heading in ["dependencies", "dev-dependencies"] {
            // A crate that only tests use must be a dev-dependency.
            let within = |path: &str| {
                let own = !folder.is_empty() && path.starts_with(folder);
                let tests = folder == "crates/cli/" && path.starts_with("tests/");
                match heading {
                    "dependencies" if folder == "fuzz/" => own || included.contains(&path),
                    "dependencies" => own && path.contains("/src/"),
                    _ => own || tests,
                }
            };
            for name in dependencies(&manifest, heading) {
                let other = OTHER_NAMES.iter().find(|(package, _)| *package == name);
                let library = other.map_or(name.replace('-', "_"), |(_, name)| (*name).to_string());
                if !sources.iter().any(|(path, text)| within(path) && names(text, &library)) {
                    found.push(format!("{path}: {name} in [{heading}] is not used"));
                }
            }
        }
    }
    nothing_found(&found);
}

/// `rustix` uses system calls of newer kernels if any crate enables a `linux_…` feature. The program would then fail on
/// older kernels.
#[test]
fn no_crate_asks_for_calls_of_newer_kernels() {
    let manifests = files(&["Cargo.toml"]).into_iter();
    let asks = |(path, text): (String, String)| text.contains("\"linux_").then_some(path);
    nothing_found(&manifests.filter_map(asks).collect::<Vec<_>>());
}

/// True if code (not a comment) contains a path that begins with the library's name, or imports the library as `_`.
fn names(text: &str, library: &str) -> bool {
    let named = [format!("{library}::"), format!("{library} as _")];
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let code = text.lines().filter_map(|line| line.split("//").next());
    let begins = |code: &str, name: &str| {
        code.match_indices(name).any(|(at, _)| !code[..at].ends_with(inside))
    };
    code.into_iter().any(|code| named.iter().any(|name| begins(code, name)))
}

#[test]
fn files_are_short_and_say_what_they_hold() {
    let mut found = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let lines = text.lines().count();
        if lines > MOST_LINES {
            found.push(format!("{path}: {lines} lines, {MOST_LINES} at most"));
        }
        let stem = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if EMPTY_NAMES.contains(&stem.as_str()) {
            found.push(format!("{path}: the name says nothing about what it holds"));
        }
        // A module's doc comment also covers the file `tests.rs` in its folder.
        let beside = path.ends_with("/tests.rs") && path.contains("/src/");
        if !beside && !text.starts_with("//!") {
            found.push(format!("{path}: does not begin with a module doc"));
        }
    }
    nothing_found(&found);
}

/// Doc comments must name their subject: no line may begin with Who, What or Whose.
#[test]
fn sentences_of_documentation_name_their_subject() {
    let without = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        text.is_some_and(|text| {
            matches!(text.split_whitespace().next(), Some("Who" | "What" | "Whose"))
        })
    };
    let mut found = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let lines = text.lines().enumerate().filter(|(_, line)| without(line));
        found.extend(lines.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())));
    }
    nothing_found(&found);
}

#[test]
fn nothing_is_left_for_later() {
    // The words are assembled from parts, so that this file does not contain them.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimplemented", "!(")];
    let mut found = Vec::new();
    for (path, text) in files(&[".rs", ".md", ".toml", ".py", ".java", ".jmx"]) {
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(*word)) {
                found.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    nothing_found(&found);
}

#[test]
fn libraries_do_not_print() {
    let mut found = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let library = path.contains("/src/")
            && !path.starts_with("crates/cli/")
            && !path.contains("/src/bin/")
            && !path.ends_with("tests.rs");
        // Test modules are at the end of a source file, so the text before `#[cfg(test)]` is the library's code.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|_| library) {
            let code = line.split("//").next().unwrap_or_default();
            if ["print!(", "println!(", "eprint!(", "eprintln!("].iter().any(|p| code.contains(p)) {
                found.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    nothing_found(&found);
}

/// A test that prints a line and returns counts as passed. `skip` counts it as skipped.
#[test]
fn tests_that_do_not_run_are_counted_as_skipped() {
    let ways = ["println!(\"skipped", "println!(\"left out"];
    let mut found = Vec::new();
    for (path, text) in files(&["rs"]) {
        let tests = path.contains("/tests/") || path.starts_with("tests/");
        // The file house.rs contains the forbidden strings themselves, so it is not checked.
        if tests && !path.ends_with("house.rs") && ways.iter().any(|way| text.contains(way)) {
            found.push(format!("{path}: `skip` of tests/skipped.rs counts it"));
        }
    }
    nothing_found(&found);
}

/// Maximum columns of a prose line. Tables and code may be wider, and a long word or link cannot be broken.
const MOST_COLUMNS: usize = 120;

#[test]
fn lines_of_documents_are_short() {
    let pages = [
        "README.md",
        "README.zh-CN.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "ARCHITECTURE.md",
        "tests/parity/README.md",
        "tests/parity/fuzz/README.md",
    ];
    let mut found = Vec::new();
    for (path, text) in files(&[".md"]) {
        // A test generates docs/elements.md, so its line lengths are not checked.
        let page = path.starts_with("docs/") && path != "docs/elements.md";
        if !page && !pages.contains(&path.as_str()) {
            continue;
        }
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start().starts_with("```");
            fenced ^= code;
            let prose = !(fenced || code || line.starts_with("    ") || line.starts_with('|'));
            let breaks = line.trim_start_matches(['-', ' ']).contains(' ');
            let columns = line.chars().count();
            if prose && breaks && columns > MOST_COLUMNS {
                found.push(format!(
                    "{path}:{}: {columns} columns, {MOST_COLUMNS} at most",
                    number + 1
                ));
            }
        }
    }
    nothing_found(&found);
}

/// Source files that documents name as `room/file.rs` exist.
#[test]
fn sources_that_documents_name_are_there() {
    let sources: Vec<String> = files(&[".rs"]).into_iter().map(|(path, _)| path).collect();
    let mut found = Vec::new();
    for (path, text) in files(&[".md"]) {
        for name in text.split('`').skip(1).step_by(2) {
            let named = name.ends_with(".rs")
                && name.contains('/')
                && name.chars().all(|c| c.is_ascii_lowercase() || "/_.0123456789".contains(c));
            let there = |source: &String| {
                source.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            // `thing/tests.rs` is an example in the style rules, not a file.
            if named && name != "thing/tests.rs" && !sources.iter().any(there) {
                found.push(format!("{path}: {name} is not there"));
            }
        }
    }
    nothing_found(&found);
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut found = Vec::new();
    for (path, text) in files(&[".md"]) {
        let folder = root().join(&path).parent().map(Path::to_path_buf).unwrap_or_default();
        for (number, target) in links(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let linked = if file.is_empty() { root().join(&path) } else { folder.join(file) };
            if !linked.exists() {
                found.push(format!("{path}:{number}: {target}: no such file"));
            } else if !anchor.is_empty() && linked.extension().is_some_and(|end| end == "md") {
                let text = fs::read_to_string(&linked).unwrap_or_default();
                if !anchors(&text).iter().any(|known| known == anchor) {
                    found.push(format!("{path}:{number}: {target}: no such heading"));
                }
            }
        }
    }
    nothing_found(&found);
}

/// Maximum bytes of a file of the parity cases. Nobody reads a longer file.
const MOST_BYTES: usize = 60_000;

#[test]
fn files_of_parity_cases_are_short_and_there_once() {
    let mut paths = Vec::new();
    walk(&root().join("tests/parity/cases"), &[""], &mut paths);
    assert!(paths.len() > 1000, "the cases are elsewhere now");
    paths.sort();
    let cases = root().join("tests/parity/cases");
    let mut found = Vec::new();
    let mut first: BTreeMap<(String, Vec<u8>), String> = BTreeMap::new();
    for path in paths {
        let bytes = fs::read(&path).expect("a file of a case");
        let name = path.strip_prefix(&cases).unwrap_or(&path).to_string_lossy().into_owned();
        if bytes.len() > MOST_BYTES {
            found.push(format!("{name}: {} bytes, {MOST_BYTES} at most", bytes.len()));
        }
        // Settings, explained differences and recorded results belong to one case and may be equal between cases.
        let (_, file) = name.split_once('/').unwrap_or(("", &name));
        let own = ["case", "differs.md"].contains(&file)
            || file.contains("golden/")
            || file.contains("throng/");
        if own || bytes.is_empty() {
            continue;
        }
        match first.get(&(file.to_owned(), bytes.clone())) {
            Some(same) => found.push(format!("{name}: `from={same}` in `case` says the same")),
            None => _ = first.insert((file.to_owned(), bytes), name),
        }
    }
    nothing_found(&found);
}

/// Returns the targets of `[text](target)` outside code, with their line numbers.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || line.starts_with("    ") {
            continue;
        }
        // Splitting at backticks puts prose at even positions and code at odd positions.
        for prose in line.split('`').step_by(2) {
            for rest in prose.split("](").skip(1) {
                if let Some((target, _)) = rest.split_once(')') {
                    links.push((number + 1, target.to_string()));
                }
            }
        }
        // Also finds links whose text is code: there a backtick precedes `](`.
        for rest in line.split("`](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                links.push((number + 1, target.to_string()));
            }
        }
    }
    links
}

/// Returns the anchors of a document's headings, as GitHub and similar sites derive them.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(heading).collect()
}

/// Returns the first `rust-version` of a manifest.
fn rust_version(manifest: &str) -> String {
    let text = fs::read_to_string(root().join(manifest)).expect("a manifest");
    let line = text.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    line.unwrap_or_else(|| panic!("{manifest} has no rust-version"))
        .trim_end_matches('"')
        .to_owned()
}

#[test]
fn the_oldest_compiler_is_the_same_everywhere() {
    let version = rust_version("Cargo.toml");
    let readme = fs::read_to_string(root().join("README.md")).expect("a README");
    assert!(readme.contains(&format!("({version} or newer)")), "the README says otherwise");
}

#[test]
fn the_hosted_workflow_runs_every_section() {
    let run = fs::read_to_string(root().join(".ci/run")).expect("the checks");
    let sections = run.lines().find_map(|line| line.strip_prefix("all=("));
    let sections = sections.expect("the list of sections").trim_end_matches(')');
    let workflow = fs::read_to_string(root().join(".github/workflows/ci.yml")).expect("a workflow");
    // The sections that jobs pass to `.ci/run`, and the section "oldest", whose job has a separate compiler.
    let lines =
        workflow.lines().filter(|line| line.contains("sections:") || line.contains(".ci/run"));
    let ran: Vec<_> = lines.flat_map(|line| line.split([' ', '}'])).chain(["oldest"]).collect();
    let missing: Vec<_> = sections
        .split_whitespace()
        .filter(|section| !ran.contains(section))
        .map(|section| format!(".github/workflows/ci.yml does not run {section}"))
        .collect();
    nothing_found(&missing);
    let oldest = ["rust-version", r#"cargo "+$version" check --workspace --locked"#];
    assert!(oldest.iter().all(|part| workflow.contains(part)), "no job for the oldest compiler");
}

/// Methods that may call themselves through other methods: they walk the tree of controllers and recurse as deep as the
/// plan's tree.
const WALK_THE_TREE: &[&str] = &[
    "advance",
    "do_for_controller",
    "pull",
    "pull_children",
    "pull_java_backed",
    "pull_parent",
    "pull_sum",
    "pull_transaction",
    "pull_weighted",
];

/// A core and its parts: the variable name through which code calls the methods, and the type.
const PARTS: &[(&str, &str)] = &[
    ("core", "Core"),
    ("cx", "Context"),
    ("http", "Requests"),
    ("outgoing", "Outgoing"),
    ("answers", "Answers"),
    ("websocket", "WebSockets"),
    ("sessions", "Sessions"),
    ("jobs", "Jobs"),
    ("flow", "Flow"),
    ("walk", "Walk"),
    ("visit", "Visit"),
    ("reporting", "Reporting"),
    ("on", "Reporting"),
    ("samples", "Samples"),
];

/// A callee: the type of a core's part or the module of a function, and the name of the method or function.
type Callee = (String, String);

/// Returns the methods of core parts and the functions in an engine file, each with the callees in its body.
fn methods_of_parts(path: &str, text: &str) -> Vec<(Callee, Vec<Callee>)> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let module = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut owner = None;
    let mut found = Vec::<(Callee, Vec<Callee>)>::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        if line.starts_with("impl") {
            let is_of = |part: &&(&str, &str)| {
                let of = line.trim_end_matches(" {").rsplit(' ').next().unwrap_or_default();
                of == part.1 || of.starts_with(&format!("{}<", part.1))
            };
            owner = Some(PARTS.iter().find(is_of).map_or("", |part| part.1).to_owned());
        } else if line.starts_with('}') {
            owner = None;
        }
        let depth = line.len() - line.trim_start().len();
        if let Some(at) = line.find("fn ")
            && (line[..at].trim().is_empty() || line[..at].trim().starts_with("pub"))
            && depth == if owner.is_some() { 4 } else { 0 }
        {
            let of = owner.clone().unwrap_or_else(|| module.clone());
            found.push(((of, name(&line[at + 3..])), Vec::new()));
        }
        let Some((_, calls)) = found.last_mut() else { continue };
        for (at, _) in line.match_indices('(') {
            let called = line[..at].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            let called = called.unwrap_or_default();
            let before = &line[..at - called.len()];
            let of = |end: &str| {
                let end = before.trim_end_matches(end);
                end.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
            };
            let callee = if before.ends_with("self.") {
                owner.clone().unwrap_or_default()
            } else if before.ends_with('.') {
                let part = PARTS.iter().find(|part| part.0 == of("."));
                part.map_or("", |part| part.1).to_owned()
            } else if before.ends_with("::") {
                of("::").to_owned()
            } else {
                module.clone()
            };
            if !called.is_empty() && !callee.is_empty() && !before.ends_with("fn ") {
                calls.push((callee, called.to_owned()));
            }
        }
    }
    found.retain(|((of, _), _)| !of.is_empty());
    found
}

#[test]
fn only_the_walk_through_the_controllers_recurs() {
    let mut calls: BTreeMap<Callee, Vec<Callee>> = BTreeMap::new();
    for (path, text) in files(&[".rs"]) {
        if path.starts_with("crates/engine/src/") {
            for (callee, called) in methods_of_parts(&path, &text) {
                calls.entry(callee).or_default().extend(called);
            }
        }
    }
    assert!(calls.len() > 300, "the methods of a core are found elsewhere now");
    let mut found = Vec::new();
    for method in calls.keys() {
        let (mut seen, mut open) = (Vec::new(), vec![method]);
        while let Some(one) = open.pop() {
            for called in calls.get(one).into_iter().flatten() {
                if calls.contains_key(called) && !seen.contains(&called) {
                    seen.push(called);
                    open.push(called);
                }
            }
        }
        let expected = WALK_THE_TREE.contains(&method.1.as_str());
        if seen.contains(&method) && !expected && calls[method].iter().all(|one| one != method) {
            let (of, name) = method;
            found.push(format!("{of}::{name} calls itself through others: push a completion"));
        }
    }
    nothing_found(&found);
}
