//! Names of character sets. The table has the names that only Java has, or that Java reads differently from browsers.
//! The other names are labels of the web, as in `encoding_rs`.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, KOI8_R, KOI8_U, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_874, WINDOWS_1254,
};

use super::Charset::{self, Ascii, Latin1, Other, Utf8, Utf16, Utf16Be, Utf16Le};

/// Character sets with all of their Java names in lower case, the most common sets first.
const NAMES: &[(&[&str], Charset)] = &[
    (&["utf-8", "utf8", "unicode-1-1-utf-8"], Utf8),
    (
        &[
            "iso-8859-1",
            "iso8859-1",
            "iso8859_1",
            "iso_8859-1",
            "iso_8859_1",
            "8859_1",
            "latin1",
            "l1",
            "cp819",
            "ibm819",
        ],
        Latin1,
    ),
    (&["us-ascii", "ascii", "ascii7", "iso646-us", "ansi_x3.4-1968", "646", "cp367", "us"], Ascii),
    (&["utf-16", "utf16", "utf_16", "unicode", "unicodebig"], Utf16),
    (&["utf-16be", "utf_16be", "x-utf-16be", "unicodebigunmarked"], Utf16Be),
    (&["utf-16le", "utf_16le", "x-utf-16le", "x-utf-16le-bom", "unicodelittleunmarked"], Utf16Le),
    (&["iso-8859-9", "iso8859-9", "iso8859_9", "latin5", "l5"], Other(WINDOWS_1254, "ISO-8859-9")),
    (&["tis-620", "tis620"], Other(WINDOWS_874, "TIS-620")),
    (&["iso-8859-11", "iso8859_11", "x-iso-8859-11"], Other(WINDOWS_874, "x-iso-8859-11")),
    (&["gb2312", "euc_cn", "euc-cn"], Other(GBK, "GB2312")),
    (&["cp936"], Other(GBK, "GBK")),
    (&["ms936", "x-mswin-936"], Other(GBK, "x-mswin-936")),
    (&["ms950"], Other(BIG5, "x-windows-950")),
    (&["cp950"], Other(BIG5, "x-IBM950")),
    (&["sjis"], Other(SHIFT_JIS, "Shift_JIS")),
    (&["ms932", "windows-932", "windows-31j"], Other(SHIFT_JIS, "windows-31j")),
    (&["euc_jp", "eucjp"], Other(EUC_JP, "EUC-JP")),
    (&["euc_kr"], Other(EUC_KR, "EUC-KR")),
    (&["ms949", "x-windows-949"], Other(EUC_KR, "x-windows-949")),
    (&["koi8_r"], Other(KOI8_R, "KOI8-R")),
    (&["koi8_u"], Other(KOI8_U, "KOI8-U")),
];

/// Returns the character set with this Java name; letter case does not matter.
pub(super) fn find(name: &str) -> Option<Charset> {
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    if let Some((_, charset)) = NAMES.iter().find(|(names, _)| is(names)) {
        return Some(*charset);
    }
    let encoding =
        Encoding::for_label_no_replacement(name.as_bytes()).or_else(|| numbered(name))?;
    // The encoders of `encoding_rs` for UTF-16 write UTF-8, so UTF-16 has its own variants here.
    Some(if encoding == UTF_16BE {
        Utf16Be
    } else if encoding == UTF_16LE {
        Utf16Le
    } else if encoding == UTF_8 {
        Utf8
    } else {
        Other(encoding, encoding.name())
    })
}

/// Resolves character set names with numbers: `Cp1252` is windows-1252, `ISO8859_2` is iso-8859-2.
fn numbered(name: &str) -> Option<&'static Encoding> {
    let mut label = [0; 16];
    let (prefix, number) =
        if let Some(number) = name.get(2..).filter(|_| name[..2].eq_ignore_ascii_case("cp")) {
            ("windows-", number)
        } else {
            let number = name.get(8..).filter(|_| name[..8].eq_ignore_ascii_case("iso8859_"))?;
            ("iso-8859-", number)
        };
    let len = prefix.len() + number.len();
    label.get_mut(..prefix.len())?.copy_from_slice(prefix.as_bytes());
    label.get_mut(prefix.len()..len)?.copy_from_slice(number.as_bytes());
    Encoding::for_label_no_replacement(&label[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_java_and_of_the_web_lead_to_one_set() {
        let named = |name: &str| Charset::named(name).map(Charset::name);
        for (name, set) in [
            ("UTF8", Some("UTF-8")),
            (" latin1 ", Some("ISO-8859-1")),
            ("cp1252", Some("windows-1252")),
            ("ISO8859_2", Some("ISO-8859-2")),
            ("latin5", Some("ISO-8859-9")),
            ("EUC_CN", Some("GB2312")),
            ("ucs-2", Some("UTF-16LE")),
            ("koi8_r", Some("KOI8-R")),
            ("MS932", Some("windows-31j")),
            ("no such set", None),
            ("cp", None),
            ("c\u{e9}", None),
        ] {
            assert_eq!(named(name), set, "{name}");
        }
    }

    /// Under each of its names, a character set decodes the text that it has encoded.
    #[test]
    fn each_name_reads_what_it_writes() {
        for (names, _) in NAMES {
            for name in *names {
                let set = Charset::named(name).expect("a set");
                let mut bytes = Vec::new();
                set.encode("a1", &mut bytes);
                let mut text = String::new();
                crate::charset::decode_into(Some(name), &bytes, &mut text);
                assert_eq!(text, "a1", "{name}");
            }
        }
    }
}
