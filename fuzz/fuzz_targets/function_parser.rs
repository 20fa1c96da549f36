//! Fuzzes texts with variables and functions: every text compiles and keeps its source. Nothing is evaluated.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::template::{Template, TemplateCompiler};

fuzz_target!(|source: &str| {
    let mut compiler = TemplateCompiler::default();
    let text = Template::compile(source, &mut compiler);
    assert_eq!(text.raw(), source);
    let _ = text.variables();
});
