use super::*;

#[test]
fn charsets_are_found_in_content_types() {
    let find = |text: &'static str| charset_of(text.as_bytes());
    assert_eq!(find("text/html; charset=utf-8"), Some("utf-8"));
    assert_eq!(find("text/html;CHARSET=\"GBK\""), Some("GBK"));
    assert_eq!(find("text/html; charset='x'; a=b"), Some("x"));
    assert_eq!(find("text/plain; charset= ISO-8859-1 ;format=flowed"), Some("ISO-8859-1"));
    assert_eq!(find("text/html; charset=\"open"), Some("open"));
    for none in [
        "",
        "text/html",
        "text/html; charset=",
        "text/html; charset=;",
        "text/html; charset=\"\"",
        "charset",
    ] {
        assert_eq!(find(none), None, "{none}");
    }
    assert_eq!(charset_of(b"a; charset=\xff"), None);
}

#[test]
fn a_page_may_name_its_charset() {
    let page = b"<html><META HTTP-EQUIV=\"Content-Type\" content=\"text/html; charset=Shift_JIS\">";
    assert_eq!(charset_in_html(page), Some("Shift_JIS"));
    assert_eq!(
        charset_in_html(b"<meta http-equiv='content-type' content='text/html; charset=x'>"),
        None
    );
    assert_eq!(
        charset_in_html(b"<meta http-equiv=\"content-type\" content=\"text/html; charset=x"),
        None
    );
    assert_eq!(charset_in_html(&[&[b' '; 2000], &page[..]].concat()), None);
}
