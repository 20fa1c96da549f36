//! Generates test macros from the case folders, so that no case can be forgotten: one macro for native cases, one for
//! cases that need Java.
//!
//! Each macro creates a test for every case: `parity::native_cases!(check)` is `#[test] fn csv_basic() {
//! check("csv_basic") }` and so on.

use std::fmt::Write as _;
use std::path::Path;

/// Prefix of the names of cases that need a JVM; `case.rs` has the same constant.
const JVM: &str = "jvm_";

fn main() {
    println!("cargo::rerun-if-changed=cases");
    let mut names: Vec<String> = std::fs::read_dir("cases")
        .expect("the cases")
        .map(|entry| entry.expect("a case").file_name().into_string().expect("a name in ASCII"))
        .collect();
    names.sort();
    let (jvm, native): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name.starts_with(JVM));
    let text =
        list("native_cases", "run without Java", &native) + &list("jvm_cases", "need a JVM", &jvm);
    let folder = std::env::var_os("OUT_DIR").expect("a folder for what is built");
    std::fs::write(Path::new(&folder).join("lists.rs"), text).expect("the lists");
}

fn list(name: &str, which: &str, cases: &[String]) -> String {
    let mut text = format!(
        "/// One test for each of the cases that {which}: it calls `$check` with the name of its folder.\n"
    );
    let _ = writeln!(text, "#[macro_export]\nmacro_rules! {name} {{\n    ($check:ident) => {{");
    for case in cases {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(case.chars().all(plain), "{case}: a folder's name is the name of a test");
        let _ = writeln!(
            text,
            "        #[test]\n        fn {case}() {{\n            $check({case:?});\n        }}"
        );
    }
    text + "    };\n}\n"
}
