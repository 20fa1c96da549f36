use super::*;
use proptest::prelude::*;

#[test]
fn addresses_split_into_parts() {
    let url = split("http://example.com").unwrap();
    assert_eq!(
        (url.scheme, url.host, url.port, url.path_and_query, url.fragment),
        ("http", "example.com", None, "", None)
    );
    assert_eq!((url.path(), url.port_or_default(), url.is_https()), ("/", 80, false));
    let url = split("HTTPS://u:p@w@Example.com:8443/a/b?x=/y?z#f#g").unwrap();
    assert_eq!(
        (url.scheme, url.user_info, url.host, url.port),
        ("HTTPS", Some("u:p@w"), "Example.com", Some(8443))
    );
    assert_eq!(
        (url.path_and_query, url.fragment, url.path()),
        ("/a/b?x=/y?z", Some("f#g"), "/a/b")
    );
    assert!(url.is_https());
    let url = split("http://[2001:db8::1]:81?q").unwrap();
    assert_eq!(
        (url.host, url.port, url.path_and_query, url.path()),
        ("2001:db8::1", Some(81), "?q", "/")
    );
    assert_eq!(split("http://[::1]/").unwrap().host, "::1");
    assert_eq!(split("http://[fe80::1%eth0]/").unwrap().host, "fe80::1%eth0");
    assert_eq!(split("http://h:/x").unwrap().port, None);
    assert_eq!(split("https://h#f").unwrap().port_or_default(), 443);
    assert_eq!(split("http://my_host.ü/ä b").unwrap().path_and_query, "/ä b");
}

#[test]
fn what_is_no_address() {
    for (text, error) in [
        ("", Error::NoScheme),
        ("/a/b", Error::NoScheme),
        ("example.com/a:b", Error::NoScheme),
        ("1http://h", Error::NoScheme),
        ("http:/h", Error::NoHost),
        ("http:", Error::NoHost),
        ("http://", Error::NoHost),
        ("http:///a", Error::NoHost),
        ("http://:80/", Error::NoHost),
        ("http://u@/", Error::NoHost),
        ("http://h:x/", Error::BadPort),
        ("http://h:65536/", Error::BadPort),
        ("http://h:-1/", Error::BadPort),
        ("http://::1/", Error::NoHost),
        ("http://h h/", Error::BadHost),
        ("http://${host}/", Error::BadHost),
        ("http://[::1/", Error::BadHost),
        ("http://[::1]x/", Error::BadHost),
        ("http://[h]/", Error::BadHost),
    ] {
        assert_eq!(split(text), Err(error), "{text}");
    }
}

/// The right-hand sides are what JMeter 5.6.3 on Java 17 makes of the left ones.
#[test]
fn redirects_resolve_as_in_jmeter() {
    let base = "http://h:81/a/b/c?x=1#f";
    for (reference, expected) in [
        ("https://other/p?q", "https://other/p?q"),
        ("//other/p", "http://other/p"),
        ("/p", "http://h:81/p"),
        ("p", "http://h:81/a/b/p"),
        ("./p", "http://h:81/a/b/p"),
        ("p/./q/.", "http://h:81/a/b/p/q/"),
        ("../p", "http://h:81/a/p"),
        ("../../p", "http://h:81/p"),
        ("../../../p", "http://h:81/p"),
        ("../..", "http://h:81/"),
        ("/p/../q", "http://h:81/q"),
        ("/../q", "http://h:81/../q"),
        ("/./q", "http://h:81/./q"),
        ("/p/../", "http://h:81/"),
        ("http://other/a//b/../c?x/..", "http://other/a/c?x/.."),
        ("?q=2", "http://h:81/a/b/?q=2"),
        ("", base),
        ("#g", "http://h:81/a/b/c?x=1#g"),
        ("p?q#g", "http://h:81/a/b/p?q#g"),
        ("http:p", "http://h:81/a/b/p"),
        ("HTTP://Other/P", "http://Other/P"),
        ("  /p q  ", "http://h:81/p%20q"),
        ("/p?a=b c|d", "http://h:81/p?a=b%2520c%7Cd"),
        ("/p%20q", "http://h:81/p%20q"),
        ("/p%2", "http://h:81/p%252"),
        ("/p?a[]=1", "http://h:81/p?a[]=1"),
        ("/p[]", "http://h:81/p%5B%5D"),
        ("/é?ü", "http://h:81/é?ü"),
        ("p:q", "http://h:81/a/b/p:q"),
        ("/login?next=http://x/../y", "http://h:81/login?next=http://x/../y"),
    ] {
        let resolved = resolve(base, reference);
        match reference {
            // A scheme that nobody knows.
            "p:q" => assert_eq!(resolved, Err(Error::UnknownScheme)),
            _ => assert_eq!(resolved.as_deref(), Ok(expected), "{reference}"),
        }
    }
    assert_eq!(resolve("http://h", "p").as_deref(), Ok("http://h/p"));
    assert_eq!(resolve("http://h", "?q").as_deref(), Ok("http://h/?q"));
    assert_eq!(resolve("http://h/a/", "../../../../../x").as_deref(), Ok("http://h/../../x"));
    assert_eq!(resolve("http://u@h/a", "/b").as_deref(), Ok("http://u@h/b"));
}

#[test]
fn redirects_to_nowhere() {
    let base = "http://h/a";
    for (reference, error) in [
        ("ftp://h/", Error::UnknownScheme),
        ("mailto:x@y", Error::UnknownScheme),
        ("https:p", Error::NoHost),
        ("http://h:99999/", Error::BadPort),
        ("//<h>/", Error::BadHost),
    ] {
        assert_eq!(resolve(base, reference), Err(error), "{reference}");
    }
    assert_eq!(resolve("a/b", "/c"), Err(Error::NoScheme));
}

proptest! {
    #[test]
    fn any_text_splits_or_fails(text in ".{0,40}") {
        if let Ok(url) = split(&text) {
            prop_assert!(!url.host.is_empty());
            prop_assert!(matches!(url.path_and_query.bytes().next(), None | Some(b'/' | b'?')));
        }
    }

    #[test]
    fn any_reference_resolves_to_an_address_or_fails(
        base in "(http|https)://(u@)?h(:[0-9]{1,5})?(/[ab.]{0,3}){0,4}(\\?q)?",
        reference in "([ab ]|/|\\.|\\.\\./|//|\\?|#|:|@|%[0-9a-f]{0,2}|http:|é|\\[|\\]|\\||\u{1}){0,12}",
    ) {
        if let Ok(text) = resolve(&base, &reference) {
            let url = split(&text);
            prop_assert!(url.is_ok(), "{text}");
            prop_assert!(!text.contains(' '));
        }
    }
}
