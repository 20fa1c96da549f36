use super::*;

const NOW: i64 = 1_700_000_000_000;
const URL: &str = "http://host/a";

fn head(lines: &[&str]) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n", lines.join("\r\n")).into_bytes()
}

fn noted(lines: &[&str], use_expires: bool) -> Cache {
    let mut cache = Cache::new(10);
    cache.note(URL, &head(lines), b"", use_expires, NOW).expect("sound headers");
    cache
}

fn fresh_at(lines: &[&str], now_ms: i64) -> bool {
    noted(lines, true).is_fresh(URL, &[], now_ms)
}

#[test]
fn validators_become_conditions() {
    let mut cache =
        noted(&["ETag: \"x\"", "last-modified:  Sun, 06 Nov 1994 08:49:37 GMT "], false);
    let conditions = cache.conditions(URL, &[]);
    assert_eq!(conditions.none_match.as_deref(), Some("\"x\""));
    assert_eq!(conditions.modified_since.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert!(!cache.is_fresh(URL, &[], NOW), "expiry is not asked for");
    assert!(cache.conditions("http://host/b", &[]).is_empty());
    assert!(noted(&["Content-Type: text/plain"], true).is_empty());
}

#[test]
fn the_first_answer_of_a_url_stays() {
    let mut cache = noted(&["ETag: one"], false);
    cache.note(URL, &head(&["ETag: two"]), b"", false, NOW).expect("sound");
    assert_eq!(cache.conditions(URL, &[]).none_match.as_deref(), Some("one"));
}

#[test]
fn expiry_is_worked_out_as_jmeter_does() {
    let second = |n: i64| NOW + n * 1000;
    assert!(fresh_at(&["Cache-Control: public, max-age=60, must-revalidate"], second(59)));
    assert!(!fresh_at(&["Cache-Control: max-age=60"], second(60)));
    assert!(!fresh_at(&["Cache-Control: max-age=-1"], NOW));
    assert!(!fresh_at(&["Cache-Control: no-cache"], NOW));
    assert!(noted(&["Cache-Control: no-store", "ETag: x"], true).is_empty());
    assert!(!noted(&["Cache-Control: no-store", "ETag: x"], false).is_empty());
    // Freshness by `Expires` alone, and by `max-age`, which overrides `Expires`.
    let expired = "Expires: Tue, 14 Nov 2023 22:13:20 GMT";
    assert!(!fresh_at(&[expired], NOW) && fresh_at(&[expired], NOW - 1));
    assert!(fresh_at(&[expired, "Cache-Control: max-age=5"], NOW));
    assert!(!fresh_at(&["Expires: 0", "ETag: x"], NOW));
    // Without expiry headers, a cached response is fresh for a year, or for a tenth of its age.
    assert!(fresh_at(&["ETag: x"], second(365 * 86_400 - 1)));
    let dated =
        ["Date: Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified: Tue, 14 Nov 2023 22:11:40 GMT"];
    assert!(fresh_at(&dated, second(9)) && !fresh_at(&dated, second(10)));
}

#[test]
fn what_jmeter_throws_at_is_told() {
    let mut cache = Cache::new(10);
    let mut note = |lines: &[&str]| cache.note(URL, &head(lines), b"", true, NOW);
    let age = |text: &str| Err(Malformed::MaxAge(text.into()));
    assert_eq!(note(&["Cache-Control: max-age=1;x"]), age("1;x"));
    assert_eq!(note(&["Cache-Control: max-age="]), age(""));
    assert_eq!(note(&["Cache-Control: max-age=, private"]), age(""));
    assert_eq!(note(&["Cache-Control: max-age=,"]), Err(Malformed::NoMaxAge));
    let modified = "Last-Modified: Tue, 14 Nov 2023 22:11:40 GMT";
    assert_eq!(note(&[modified, "Date: today"]), Err(Malformed::Date));
    let date = "Date: Tue, 14 Nov 2023 22:11:40 GMT";
    assert_eq!(note(&["Last-Modified: now", date]), Err(Malformed::LastModified));
}

#[test]
fn answers_vary_with_headers_of_the_plan() {
    let mut cache = Cache::new(10);
    let answer = head(&["ETag: de", "Vary: Accept-Language,  Accept"]);
    cache.note(URL, &answer, b"Accept-Language: de\n", true, NOW).expect("sound");
    assert!(cache.is_fresh(URL, &[b"X: y\r\nAccept-Language: de\r\n"], NOW));
    assert!(!cache.is_fresh(URL, &[b"Accept-Language: fr\r\n"], NOW));
    assert!(!cache.is_fresh(URL, &[b"accept-language: de\r\n"], NOW), "case counts");
    assert!(cache.conditions(URL, &[]).is_empty());
    assert!(noted(&["Vary: *", "ETag: x"], false).is_empty());
}

#[test]
fn what_was_used_longest_ago_goes() {
    let mut cache = Cache::new(2);
    let answer = head(&["ETag: x"]);
    for url in ["a", "b"] {
        cache.note(url, &answer, b"", false, NOW).expect("sound");
    }
    assert!(!cache.conditions("a", &[]).is_empty());
    cache.note("c", &answer, b"", false, NOW).expect("sound");
    assert!(cache.conditions("b", &[]).is_empty() && !cache.conditions("a", &[]).is_empty());
    assert_eq!(cache.len(), 2);
    let mut none = Cache::new(0);
    none.note("a", &answer, b"", false, NOW).expect("sound");
    assert!(none.is_empty());
}

#[test]
fn dates_in_all_three_forms() {
    let expected = Some(784_111_777_000);
    for text in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06 November 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 09:49:37 +0100",
        "Sun, 6-Nov-1994 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "'Sun, 06 Nov 1994 08:49:37 UTC'",
        "Sat, 37 Oct 1994 08:49:37 GMT",
    ] {
        assert_eq!(date::parse(text), expected, "{text}");
    }
    assert_eq!(date::parse("Sun, 06-Nov-94 08:49:37 GMT"), Some(3_939_871_777_000));
    for text in ["", "0", "-1", "never", "Sun, 06 Nov 1994 08:49:37", "06 Nov 1994 08:49:37 GMT"] {
        assert_eq!(date::parse(text), None, "{text}");
    }
}
