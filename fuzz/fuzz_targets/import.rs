//! Fuzzes imports of curl commands and lists of URLs. No panic, each plan is read again without a finding, and its size is
//! bounded by the size of the input.
//!
//! Input: a byte of flags, the source. A flag chooses a script, a list, or the arguments of one command.

#![no_main]

use std::io;

use import::{Format, Imported, LOAD};
use libfuzzer_sys::fuzz_target;

/// Number of requests that one pattern in an address may make.
const PATTERN: usize = 1000;

fn files(name: &str) -> io::Result<Vec<u8>> {
    match name.len() % 4 {
        0 => Err(io::ErrorKind::NotFound.into()),
        1 => Ok(b"a=b\r\n\0c\tTRUE\t/\tFALSE\t0\td\te\n".to_vec()),
        2 => Ok(vec![0xFF, b'a']),
        _ => Ok(name.as_bytes().to_vec()),
    }
}

fn check(imported: &Imported, words: usize) {
    assert!(imported.requests <= words * PATTERN);
    if imported.text.is_empty() {
        assert_eq!(imported.requests, 0);
        return;
    }
    let (document, findings) =
        jmx::parse("plan.jmx", imported.text.clone().into_bytes()).expect("a plan");
    assert!(findings.is_empty(), "{findings:?}");
    let samplers = document.ids().filter(|id| document.element(*id).tag == "HTTPSamplerProxy");
    assert_eq!(samplers.count(), imported.requests);
}

fuzz_target!(|data: &[u8]| {
    let [flags, source @ ..] = data else { return };
    let _ = import::detect(source, "source");
    let format = match flags % 3 {
        0 => Format::Curl,
        1 => Format::Urls,
        _ => {
            let text = String::from_utf8_lossy(source);
            let arguments: Vec<String> = text.split('\n').map(str::to_owned).collect();
            return check(&import::curl_command(&arguments, LOAD, &mut files), arguments.len());
        }
    };
    if let Some(imported) = import::import("source", source, format, LOAD, &mut files) {
        // A variable that holds an address may be used in several words.
        check(&imported, source.len() + 1);
    }
});
