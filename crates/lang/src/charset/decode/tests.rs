use super::*;
use proptest::prelude::*;

fn decoded(charset: &str, bytes: &[u8]) -> String {
    let mut out = String::from("<");
    decode_into(Some(charset), bytes, &mut out);
    out.split_off(1)
}

#[test]
fn latin1_is_not_windows_1252() {
    for name in ["ISO-8859-1", "latin1", "ISO8859_1"] {
        assert_eq!(decoded(name, b"a\x80\xe9"), "a\u{80}é");
    }
    assert_eq!(decoded("windows-1252", b"\x80\xe9"), "€é");
    assert_eq!(decoded("Cp1252", b"\x80\xe9"), "€é");
    assert_eq!(decoded("ISO-8859-9", b"\x80\xf0a\x9f"), "\u{80}ğa\u{9f}");
    assert_eq!(decoded("US-ASCII", b"a\xe9b"), "a\u{fffd}b");
}

#[test]
fn java_names_are_known() {
    assert_eq!(decoded("UTF8", "ü".as_bytes()), "ü");
    assert_eq!(decoded("GBK", b"\xd6\xd0"), "中");
    assert_eq!(decoded("gb2312", b"\xd6\xd0"), "中");
    assert_eq!(decoded("GB18030", b"\xd6\xd0"), "中");
    assert_eq!(decoded("Big5", b"\xa4\xa4"), "中");
    assert_eq!(decoded("Shift_JIS", b"\x82\xa0"), "あ");
    assert_eq!(decoded("MS932", b"\x82\xa0"), "あ");
    assert_eq!(decoded("ISO8859_2", b"\xb1"), "ą");
    assert_eq!(decoded("ISO8859_15", b"\xa4"), "€");
    assert_eq!(decoded("Cp866", b"\x80"), "А");
    for name in ["", "nonsense", "cp", "iso8859_", "é", "cp99999999999999999", "replacement"] {
        assert!(!is_known(name), "{name}");
        assert_eq!(decoded(name, "é".as_bytes()), "é", "{name}");
    }
}

#[test]
fn utf16_follows_its_mark() {
    assert_eq!(decoded("UTF-16", b"\xff\xfea\0"), "a");
    assert_eq!(decoded("UTF-16", b"\xfe\xff\0a"), "a");
    assert_eq!(decoded("UTF-16", b"\0a"), "a");
    assert_eq!(decoded("UTF-16LE", b"a\0"), "a");
    assert_eq!(decoded("UTF-16BE", b"\0a\0"), "a\u{fffd}");
}

#[test]
fn what_cannot_be_decoded_is_replaced() {
    assert_eq!(decoded("UTF-8", b"a\xffb\xe2\x82"), "a\u{fffd}b\u{fffd}");
    assert_eq!(decoded("UTF-8", b"\xef\xbb\xbfx"), "\u{feff}x");
    let mut out = String::new();
    decode_into(None, "ü".as_bytes(), &mut out);
    assert_eq!(out, "ü");
}

proptest! {
    #[test]
    fn any_bytes_decode(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        name in prop_oneof!["[a-zA-Z0-9_-]{0,12}", Just("gb18030".to_owned()), Just("iso-2022-jp".to_owned()), Just("utf-16".to_owned())],
    ) {
        let mut out = String::from("kept");
        decode_into(Some(&name), &bytes, &mut out);
        prop_assert!(out.starts_with("kept"));
        prop_assert_eq!(decoded("latin1", &bytes).chars().map(|c| c as u32 as u8).collect::<Vec<_>>(), bytes);
    }
}

#[test]
fn a_set_decodes_as_its_name_does() {
    let bytes: Vec<u8> = (0..=255).collect();
    for name in ["UTF-8", "ISO-8859-1", "US-ASCII", "UTF-16", "UTF-16LE", "ISO-8859-9", "TIS-620"] {
        let set = Charset::named(name).expect("a set");
        assert_eq!(set.decode(&bytes), decoded(name, &bytes), "{name}");
    }
    assert_eq!(Charset::Utf16.decode(b"\xff\xfea\0"), "a");
}
