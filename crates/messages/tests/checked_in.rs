//! Checks that both sides agree with `messages.txt`.
//!
//! The Rust modules and the Java classes are generated from it and compared with the files in the repository.
//! `UPDATE_MESSAGES=1` writes the files.

use std::path::{Path, PathBuf};

use messages::description::{self, Block};
use messages::{DESCRIPTION, java, rust};

const UPDATE: &str = "UPDATE_MESSAGES=1 cargo test -p throng-messages";

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn blocks() -> Vec<Block> {
    description::read(DESCRIPTION).unwrap_or_else(|why| panic!("messages.txt, {why}"))
}

/// Compares a file with its generated content. Writes the file first if `UPDATE_MESSAGES` is set.
fn check(path: &str, made: &str) {
    let file = file(path);
    if std::env::var_os("UPDATE_MESSAGES").is_some() {
        std::fs::write(&file, made).expect("a file");
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = there.lines().zip(made.lines()).position(|(is, should)| is != should);
    let line = differs.unwrap_or_else(|| there.lines().count().min(made.lines().count())) + 1;
    assert!(there == made, "{path}, line {line}, is not what messages.txt makes: {UPDATE}");
}

#[test]
fn the_rust_side_is_what_the_description_makes() {
    check("crates/engine/src/java/message/numbers.rs", &rust::numbers(&blocks()));
    check("crates/engine/src/java/message/records.rs", &rust::records(&blocks()));
}

#[test]
fn the_java_side_is_what_the_description_makes() {
    check("crates/jvm/java/src/main/java/dev/throng/Message.java", &java::numbers(&blocks()));
    check("crates/jvm/java/src/main/java/dev/throng/Records.java", &java::records(&blocks()));
}

#[test]
fn what_is_wrong_with_a_description_is_said_with_its_line() {
    for (text, words) in [
        ("enum A u8: a\n    b 1: b", "line 2: expected an entry of the form: name = number"),
        ("enum A u8: a\n    b = x: b", "line 2: the value is not a number"),
        ("enum A u8: a\n    b = 1: b\n    c = 1: c", "A: duplicate entry c"),
        ("flags A u8: a\n    b = 3: b", "A: b is not a single bit"),
        ("record A: a\n    B c", "A: unknown type B"),
        ("record A: a\n    u8 b\n    str b", "A has two fields called b"),
        ("record A: a\n    u8 b\nnumber A u8 = 1: a", "two blocks are called A"),
        ("table A u8: a", "line 1: unknown kind of block"),
        ("    u8 b", "line 1: an entry without a block"),
    ] {
        let why = description::read(text).expect_err(text);
        assert!(why.starts_with(words), "{text:?}: {why}");
    }
}
