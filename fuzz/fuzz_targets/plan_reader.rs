//! Fuzzes the parser of plan files: any bytes are parsed or rejected without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = jmx::parse("fuzz.jmx", data.to_vec());
});
