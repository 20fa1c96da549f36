//! Fuzzes the compiler of plans: every plan that can be parsed compiles without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok((document, _)) = jmx::parse("fuzz.jmx", data.to_vec()) else { return };
    let settings = plan::compile::Settings { folder: "/nowhere".into(), ..Default::default() };
    let compiled = plan::compile::compile(&document, &settings);
    drop(compiled);
});
