//! Unit tests: bytes in hexadecimal notation, and descriptions of frames.

use super::{Frame, FrameKind, binary};

fn parsed(text: &str) -> Result<Vec<u8>, ()> {
    let mut out = Vec::new();
    binary::parse(text, &mut out).map(|()| out)
}

#[test]
fn bytes_are_read_as_java_reads_numbers() {
    assert_eq!(parsed("ca fe 0xba 0x1be"), Ok(vec![0xca, 0xfe, 0xba, 0xbe]));
    assert_eq!(parsed("cafe  f"), Ok(vec![0xca, 0xfe, 0x0f]));
    assert_eq!(parsed("-1"), Ok(vec![0xff]));
    assert_eq!(parsed(" \t"), Ok(vec![]));
    for bad in ["0x", "0x-1", "xy", "ca\nfe", "0x80000000", "é"] {
        assert_eq!(parsed(bad), Err(()), "{bad}");
    }
}

#[test]
fn frames_are_described_as_the_plug_in_does() {
    let frame = Frame {
        kind: FrameKind::Binary,
        fin: true,
        continuation: false,
        payload: &[0xff; 17],
        size: 19,
        placeholder: false,
    };
    let mut out = String::new();
    frame.describe(&mut out);
    let bytes = ["0xff"; 16].join(" ");
    assert_eq!(out, format!("Binary frame, payload (length 17): {bytes} ..."));
    out.clear();
    Frame { kind: FrameKind::Close, payload: &[0x83, 0xe8], ..frame }.describe(&mut out);
    assert_eq!(out, "Close frame with status code -31768 and close reason 'null'");
    let waiting = Frame { kind: FrameKind::Text, fin: false, placeholder: true, ..frame };
    assert!(waiting.shown().starts_with(b"<not showing"));
    assert_eq!(waiting.type_name(), "non-final text");
}
