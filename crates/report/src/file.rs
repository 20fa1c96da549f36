//! A page as one HTML file: the static first screen, data, style and script, and a content security policy that allows
//! nothing else.

use std::io::{BufWriter, IntoInnerError, Read};

use answers::verdict::Language;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::html::Html;

/// The script that `ui` builds for pages.
const SCRIPT: &str = include_str!("../../../ui/dist/report.js");
/// The style sheet that `ui` builds for pages.
const STYLE: &str = include_str!("../../../ui/dist/report.css");

/// Largest size in bytes of decompressed data that is read from a page.
const MOST_DATA: u64 = 256 << 20;

/// Start tag of the element that contains the data.
const DATA: &str = "<script type=\"application/gzip;base64\" id=\"data\">";

/// Renders a page. `heading` is shown above the links to the pages; `first` is the first screen.
pub fn page<T: Serialize>(
    title: &str,
    heading: &Html,
    first: &Html,
    data: &T,
    language: Language,
) -> String {
    let zh = language == Language::Chinese;
    let data = packed(data);
    let mut head = Html::new();
    head.raw("<!doctype html>\n<html lang=\"")
        .raw(if zh { "zh-CN" } else { "en" })
        .raw("\"><head><meta charset=\"utf-8\">");
    head.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; script-src '");
    head.text(&hash(SCRIPT)).raw("'; style-src '").text(&hash(STYLE)).raw("'\">");
    head.raw("<meta name=\"referrer\" content=\"no-referrer\"><meta name=\"color-scheme\" content=\"light dark\">");
    head.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>")
        .text(title)
        .raw("</title><style>");
    let mut body = Html::new();
    body.raw("</style></head><body><header class=\"top\">").append(heading);
    body.raw("<div id=\"tools\"><label><input type=\"checkbox\" id=\"zh\"").raw(if zh {
        " checked"
    } else {
        ""
    });
    body.raw(">中文</label></div></header><nav id=\"nav\"></nav><main><div id=\"first\">")
        .append(first);
    body.raw("</div><div id=\"pages\" hidden></div></main>").raw(DATA);
    // The built script and style contain no end tag of their element, which the tests check. The data contains no `<`
    // at all.
    [
        head.as_str(),
        STYLE,
        body.as_str(),
        &data,
        "</script><script>",
        SCRIPT,
        "</script></body></html>\n",
    ]
    .concat()
}

/// Encodes data as JSON, compressed with gzip, in base64.
fn packed<T: Serialize>(data: &T) -> String {
    // The encoder clears its buffer at each write, and JSON is written in pieces of a few bytes.
    let gz = GzEncoder::new(Vec::new(), Compression::best());
    let mut buffered = BufWriter::with_capacity(64 * 1024, gz);
    let written = serde_json::to_writer(&mut buffered, data).map_err(std::io::Error::from);
    // Writing into memory cannot fail, and the data consists of plain structs.
    let gz = written.and_then(|()| buffered.into_inner().map_err(IntoInnerError::into_error));
    let bytes = gz.and_then(GzEncoder::finish).unwrap_or_default();
    STANDARD.encode(bytes)
}

/// Reads the data that [`page`] wrote into a page. Returns `None` for any other text, and for data over the size limit.
pub fn data(html: &str) -> Option<serde_json::Value> {
    let (_, from) = html.split_once(DATA)?;
    let (text, _) = from.split_once("</script>")?;
    let bytes = STANDARD.decode(text).ok()?;
    // The page may come from anyone, and a short compressed text may expand to very large data.
    serde_json::from_reader(flate2::read::GzDecoder::new(&*bytes).take(MOST_DATA)).ok()
}

/// Returns the source expression of a content security policy that allows exactly this text.
pub fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_cannot_end_its_own_element() {
        let (script, style) = (SCRIPT.to_ascii_lowercase(), STYLE.to_ascii_lowercase());
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!style.contains("</style"));
        assert!(!style.contains("@import") && !style.contains("url(http"));
    }
}
