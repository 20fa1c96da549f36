use proptest::prelude::*;

use super::*;

#[test]
fn depth_is_bounded() {
    assert!(!is_known(&"(".repeat(100_000)));
    assert!(!is_known(&format!("{}1", "-".repeat(10) + &"(".repeat(100))));
}

#[test]
fn what_is_not_known_is_told() {
    for source in [
        "x = 1",
        "[1,2]",
        "new('java.util.Date')",
        "if (true) 1",
        "sampleResult.getTime()",
        "ctx.threadNum",
        "\"a\".split(\"b\")",
        "\"a\".getClass()",
        "foo.bar",
        "f(1)",
        "1 == 1 == true",
        "1 -> 2",
        "a?.b",
        "\"x\" =~ [1,2]",
        "\"x\" =~ \"(?<n>x)\"",
        "1.5f",
        "0x10",
    ] {
        assert!(!is_known(source), "{source}");
    }
}

proptest! {
    #[test]
    fn nothing_panics_while_it_is_read(
        source in r#"([a-c0-9é .,;()?:!=<>&|+*/%~^$'-]|vars|empty|size|not|\.substring\(|"a"|=~ "){0,16}"#,
    ) {
        let _ = is_known(&source);
    }
}
