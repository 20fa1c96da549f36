//! The format of a file, found from its content first and its name second.

use crate::curl;
use crate::findings::Findings;
use crate::urls;

/// Format of a file with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A plan of JMeter.
    Jmx,
    /// curl commands.
    Curl,
    /// A URL in each line.
    Urls,
    /// A recording of a browser (HAR).
    Har,
    /// None of the known formats.
    Unknown,
}

/// Number of bytes that decide the format.
const SAMPLE: usize = 64 * 1024;

/// Finds the format of a file from its content, or from its name if the content shows nothing.
pub fn detect(bytes: &[u8], name: &str) -> Format {
    let mut sample = bytes;
    if sample.len() > SAMPLE {
        sample = &sample[..SAMPLE];
    }
    let text = decoded(sample);
    let start = text.trim_start();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let ending = ending.as_deref().unwrap_or_default();
    if start.starts_with('<') {
        let is_page = start.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case("<html"));
        return if is_page && ending != "jmx" { Format::Unknown } else { Format::Jmx };
    }
    if start.starts_with('{') {
        let is_har = start.contains("\"log\"") && start.contains("\"entries\"");
        return if is_har || ending == "har" { Format::Har } else { Format::Unknown };
    }
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split([' ', '\t', ';', '|', '&', '(']);
        if words.any(curl::is_curl) {
            return Format::Curl;
        }
        if urls::is_line(line) {
            return Format::Urls;
        }
    }
    match ending {
        "jmx" => Format::Jmx,
        "har" => Format::Har,
        "curl" => Format::Curl,
        "urls" => Format::Urls,
        _ => Format::Unknown,
    }
}

/// Returns the text of a file. Reports bytes that are not text.
pub(crate) fn text(bytes: &[u8], findings: &mut Findings) -> String {
    let text = decoded(bytes);
    if text.contains('\u{FFFD}') && !bytes.windows(3).any(|window| window == "\u{FFFD}".as_bytes())
    {
        let message = "the file is not valid UTF-8: its invalid bytes are sent as U+FFFD";
        findings.warn("not-utf8", message);
    }
    text
}

/// Decodes UTF-8, or UTF-16 with a byte order mark.
fn decoded(bytes: &[u8]) -> String {
    let units = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => units(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_before_the_name() {
        for (text, name, format) in [
            ("<?xml version=\"1.0\"?><jmeterTestPlan>", "a", Format::Jmx),
            ("\u{FEFF}<jmeterTestPlan>", "a.sh", Format::Jmx),
            ("#!/bin/sh\nset -e\ncurl http://h", "a", Format::Curl),
            ("A=1; curl http://h", "a.txt", Format::Curl),
            ("/usr/bin/curl -s h", "-", Format::Curl),
            ("curl.exe ^\"h^\"", "a.bat", Format::Curl),
            ("# list\n\nhttps://h/a\n", "a", Format::Urls),
            ("POST https://h/a", "a", Format::Urls),
            ("{\"log\": {\"entries\": []}}", "a", Format::Har),
            ("{\"a\": 1}", "a.json", Format::Unknown),
            ("<html>", "a", Format::Unknown),
            ("", "a.jmx", Format::Jmx),
            ("", "a", Format::Unknown),
            ("hello", "a.txt", Format::Unknown),
        ] {
            assert_eq!(detect(text.as_bytes(), name), format, "{text}");
        }
    }

    #[test]
    fn utf_16_is_read() {
        let bytes: Vec<u8> = "\u{FEFF}curl h".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(detect(&bytes, "a"), Format::Curl);
    }
}
