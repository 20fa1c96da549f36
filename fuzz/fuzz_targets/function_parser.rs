//! Texts with variables and functions: any text compiles, and keeps its source. Nothing is evaluated.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::text::{Text, TextCompiler};

fuzz_target!(|source: &str| {
    let mut compiler = TextCompiler::default();
    let text = Text::compile(source, &mut compiler);
    assert_eq!(text.raw(), source);
    let _ = text.variables();
});
