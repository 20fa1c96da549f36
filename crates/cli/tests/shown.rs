//! Output shown in the documents is the program's real output.
//!
//! A block after `<!-- output of: SCENE -->` in a document contains lines that the scene prints, in that order. Numbers
//! may differ if the scene says so. `UPDATE_DOCS=1 cargo test -p throng --test shown` updates the blocks.

mod program;

use std::path::{Path, PathBuf};

use program::Program;

/// A scene produces output: a shell script that runs in a folder with the plans of `tests/shown`. `$0` is the program.
struct Scene {
    name: &'static str,
    script: &'static str,
    /// True if numbers may differ, because they vary from run to run.
    numbers_vary: bool,
}

/// Shell lines that start the bundled target with the options in `$target` and set `port`.
const TARGET: &str = r#"
    "$0" target $target --port 0 --seconds 60 > target.txt & pid=$!
    until grep -q '^listening on' target.txt; do sleep 0.05; done
    port=$(sed -n 's/^listening on .*:\([0-9]*\).*/\1/p' target.txt)
    trap 'kill $pid' EXIT
"#;

const SCENES: &[Scene] = &[
    Scene { name: "check", script: r#""$0" check plan.jmx"#, numbers_vary: false },
    Scene {
        name: "chain",
        script: r#""$0" preflight --users 1000000 --chain "nginx*4:21000-60999 -> ingress*5""#,
        numbers_vary: false,
    },
    Scene {
        name: "demo",
        script: r#""$0" demo fitness -Jalone=0 -Jrampup=10 -Jusers=6 -Jduration=8 -Jsummariser.interval=3"#,
        numbers_vary: true,
    },
    Scene {
        name: "tls",
        script: r#"target="fixed --tls"; TARGET; "$0" run https.jmx -Jport=$port"#,
        numbers_vary: true,
    },
];

/// Files with output blocks, and the number of blocks in each.
const DOCUMENTS: &[(&str, usize)] = &[
    ("docs/checking-a-plan.md", 2),
    ("docs/preflight.md", 1),
    ("docs/reading-results.md", 1),
    ("docs/running-a-plan.md", 1),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the output of a scene, standard error first.
fn play(scene: &Scene) -> String {
    let program = Program::new();
    for plan in std::fs::read_dir(root().join("crates/cli/tests/shown")).expect("plans").flatten() {
        let text = std::fs::read_to_string(plan.path()).expect("a plan");
        program.write(&plan.file_name().to_string_lossy(), &text);
    }
    let ended = program.shell(&scene.script.replace("TARGET;", TARGET));
    format!("{}{}", ended.err, ended.out)
}

/// Reduces several blanks to one and, if numbers vary, replaces each number by `#`.
fn mask(line: &str, numbers_vary: bool) -> String {
    if !numbers_vary {
        return line.trim_end().to_owned();
    }
    let mut out = String::new();
    let mut chars = line.trim().chars().peekable();
    while let Some(char) = chars.next() {
        let in_number = |next: char| next.is_ascii_digit() || ".,".contains(next);
        if char.is_ascii_digit() {
            // A blank followed by three digits continues a number (thousands), but not after a name such as p99.
            let named = out.ends_with(char::is_alphabetic);
            while let Some(next) = chars.peek().copied() {
                let grouped = next == ' ' && !named && {
                    let mut ahead = chars.clone();
                    ahead.next();
                    let digits = ahead.by_ref().take(3).filter(char::is_ascii_digit).count();
                    digits == 3 && !ahead.next().is_some_and(char::is_alphanumeric)
                };
                if !in_number(next) && !grouped {
                    break;
                }
                chars.next();
            }
            out.push('#');
        } else if !(char == ' ' && out.ends_with(' ')) {
            out.push(char);
        }
    }
    out
}

/// An output block in a document: its scene, and the range of its lines.
struct Block {
    scene: String,
    from: usize,
    to: usize,
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("<!-- output of: ") else { continue };
        let scene = rest.trim_end_matches("-->").trim().to_owned();
        let from = at + 2;
        let inside = |line: &&&str| line.is_empty() || line.starts_with("    ");
        let mut to = from + lines[from..].iter().take_while(inside).count();
        while to > from && lines[to - 1].is_empty() {
            to -= 1;
        }
        found.push(Block { scene, from, to });
    }
    found
}

#[test]
fn what_documents_show_is_output() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut played: Vec<(&str, String)> = Vec::new();
    let mut wrong = Vec::new();
    for (document, count) in DOCUMENTS {
        let path = root().join(document);
        let text = std::fs::read_to_string(&path).expect("a document");
        let lines: Vec<&str> = text.lines().collect();
        let mut new: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let blocks = blocks(&lines);
        assert_eq!(blocks.len(), *count, "blocks in {document}");
        for block in blocks {
            let scene = SCENES.iter().find(|scene| scene.name == block.scene);
            let scene = scene.unwrap_or_else(|| panic!("{document}: no scene {}", block.scene));
            if !played.iter().any(|(name, _)| *name == scene.name) {
                played.push((scene.name, play(scene)));
            }
            let (_, output) = played.iter().find(|(name, _)| *name == scene.name).expect("played");
            let mut rest = output.lines();
            for at in block.from..block.to {
                let shown = lines[at].strip_prefix("    ").unwrap_or(lines[at]);
                let masked = mask(shown, scene.numbers_vary);
                match rest.find(|line| mask(line, scene.numbers_vary) == masked) {
                    Some(line) if !line.trim().is_empty() => {
                        new[at] = format!("    {}", line.trim_end());
                    }
                    Some(_) => {}
                    None => {
                        wrong.push(format!("{document}:{}: {shown}\n{output}", at + 1));
                        break;
                    }
                }
            }
        }
        if update {
            std::fs::write(&path, new.join("\n") + "\n").expect("a document");
        }
    }
    assert!(wrong.is_empty(), "no longer printed:\n{}", wrong.join("\n"));
}

#[test]
fn numbers_are_masked_and_words_are_not() {
    assert_eq!(mask("  p50 12.1  p99 123 ms; 9 873 opened", true), "p# # p# # ms; # opened");
    assert_eq!(mask("a 5 b 17 c", true), "a # b # c");
    assert_eq!(mask("a 5 ", false), "a 5");
}
