use super::*;
use proptest::prelude::*;

const NOW: i64 = 1_700_000_000_000;
const AT: Origin = Origin { host: "www.example.com", path: "/shop/cart", secure: false };

fn with(policy: Policy) -> Jar {
    Jar::with_rules(Rules { policy, ..Rules::default() })
}

fn store(jar: &mut Jar, origin: &Origin, text: &str) -> Result<bool, Rejected> {
    let mut set = false;
    jar.store(origin, text.as_bytes(), NOW, |stored| set = matches!(stored, Stored::Set(_)))?;
    Ok(set)
}

fn sent(jar: &mut Jar, host: &str, path: &str, secure: bool) -> String {
    let mut out = Vec::new();
    let any = jar.header(&Origin { host, path, secure }, NOW, &mut out);
    assert_eq!(any, !out.is_empty());
    String::from_utf8(out).unwrap()
}

/// Stores the cookie of a `Set-Cookie` value; returns the `Cookie` header of the next request to the same origin.
fn echo(text: &str) -> String {
    let mut jar = Jar::new();
    assert_eq!(store(&mut jar, &AT, text), Ok(true), "{text}");
    sent(&mut jar, AT.host, AT.path, true)
}

fn only(text: &str) -> Cookie {
    let mut jar = Jar::new();
    assert_eq!(store(&mut jar, &AT, text), Ok(true), "{text}");
    jar.iter().next().unwrap().clone()
}

#[test]
fn a_pair_is_read_and_sent_back() {
    assert_eq!(echo("a=b"), "a=b");
    assert_eq!(echo(" a = b ; HttpOnly; SameSite=Lax"), "a=b");
    assert_eq!(echo("a=b=c"), "a=b=c");
    assert_eq!(echo("a=\"b c\""), "a=\"b c\"");
    assert_eq!(echo("a=\"plain\""), "a=plain");
    assert_eq!(echo("a=b   c"), "a=\"b c\"");
    assert_eq!(echo(r#"a="x;y\"z\\w\q""#), r#"a="x;y\"z\\w\\q""#);
    assert_eq!(echo("a=x\"y;z\"w; Path=/"), "a=\"xy;zw\"");
    assert_eq!(echo("a=\"open; Path=/"), "a=\"open; Path=/\"");
    assert_eq!(echo("a b=c"), "a b=c");
}

#[test]
fn what_is_no_cookie() {
    let mut jar = Jar::new();
    for text in ["", "=b", " ", "a", ";a=b"] {
        assert_eq!(store(&mut jar, &AT, text), Ok(false), "{text}");
    }
    assert_eq!(store(&mut jar, &AT, "a;b=c"), Err(Rejected::NoValue));
    assert_eq!(store(&mut jar, &AT, "a=b; domain="), Err(Rejected::BlankDomain));
    assert_eq!(store(&mut jar, &AT, "a=b; domain"), Err(Rejected::BlankDomain));
    assert_eq!(store(&mut jar, &AT, "a=b; Expires=tomorrow"), Err(Rejected::Expires));
    assert_eq!(jar.iter().count(), 0);
}

#[test]
fn bytes_come_back_as_they_were() {
    let mut jar = Jar::new();
    jar.store(&AT, b"a=\xc3\xa9\xff", NOW, |_| ()).unwrap();
    let mut out = Vec::new();
    assert!(jar.header(&AT, NOW, &mut out));
    assert_eq!(out, b"a=\xc3\xa9\xff");
    jar.clear();
    jar.add(Cookie {
        name: "x".into(),
        value: "€".into(),
        domain: AT.host.into(),
        path: "/".into(),
        ..Cookie::default()
    });
    assert_eq!(sent(&mut jar, AT.host, "/", false), "x=?");
}

#[test]
fn without_a_domain_only_the_host_gets_it() {
    let mut jar = Jar::new();
    store(&mut jar, &AT, "a=b; path=/").unwrap();
    assert_eq!(sent(&mut jar, "WWW.example.com", "/", false), "a=b");
    for host in ["example.com", "sub.www.example.com", "xwww.example.com"] {
        assert_eq!(sent(&mut jar, host, "/", false), "", "{host}");
    }
}

#[test]
fn with_a_domain_its_hosts_get_it() {
    for domain in ["example.com", ".example.com", "EXAMPLE.com"] {
        let mut jar = Jar::new();
        store(&mut jar, &AT, &format!("a=b; path=/; Domain={domain}")).unwrap();
        for host in ["example.com", "www.example.com", "a.b.example.com"] {
            assert_eq!(sent(&mut jar, host, "/", false), "a=b", "{domain} {host}");
        }
        for host in ["notexample.com", "com", "example.com.evil", ".example.com"] {
            assert_eq!(sent(&mut jar, host, "/", false), "", "{domain} {host}");
        }
    }
    let cookie = only("a=b; domain=example.com.");
    assert_eq!((cookie.domain.as_str(), cookie.host_only), (AT.host, false));
    assert_eq!(only("a=b; domain=x.org; domain=example.com").domain, "example.com");
}

#[test]
fn a_foreign_domain_is_rejected_unless_unchecked() {
    let mut jar = Jar::new();
    for domain in ["other.com", "sub.www.example.com", "ample.com", "ww.example.com"] {
        assert_eq!(
            store(&mut jar, &AT, &format!("a=b; domain={domain}")),
            Err(Rejected::Domain),
            "{domain}"
        );
    }
    // A single label is a valid cookie domain: this policy has no list of public suffixes.
    assert_eq!(store(&mut jar, &AT, "a=b; domain=com"), Ok(true));
    let mut jar = Jar::with_rules(Rules { check: false, ..Rules::default() });
    assert_eq!(store(&mut jar, &AT, "a=b; domain=other.com"), Ok(true));
    let ip = Origin { host: "10.0.0.1", ..AT };
    let mut jar = Jar::new();
    assert_eq!(store(&mut jar, &ip, "a=b; domain=0.0.1"), Err(Rejected::Domain));
    assert_eq!(store(&mut jar, &ip, "a=b; domain=10.0.0.1; path=/"), Ok(true));
    assert_eq!(sent(&mut jar, "10.0.0.1", "/", false), "a=b");
    assert_eq!(
        sent(&mut jar, "1.10.0.0.1", "/", false),
        "a=b",
        "not an address, so a host of the domain"
    );
}

#[test]
fn paths() {
    assert_eq!(only("a=b").path, "/shop");
    assert_eq!(only("a=b; path=").path, "/");
    assert_eq!(only("a=b; path").path, "/");
    assert_eq!(only("a=b; path=x").path, "x");
    let top = Origin { path: "/x", ..AT };
    let mut jar = Jar::new();
    store(&mut jar, &top, "a=b").unwrap();
    store(&mut jar, &Origin { path: "", ..AT }, "b=c").unwrap();
    assert!(jar.iter().all(|cookie| cookie.path == "/"));
    for (cookie, yes, no) in [
        ("/", &["/", "/a", ""][..], &[][..]),
        ("/a", &["/a", "/a/", "/a/b"], &["/", "/ab", "/A"]),
        ("/a/", &["/a", "/a/", "/a/b"], &["/", "/ab"]),
    ] {
        let mut jar = Jar::new();
        store(&mut jar, &AT, &format!("a=b; path={cookie}")).unwrap();
        for path in yes {
            assert_eq!(sent(&mut jar, AT.host, path, false), "a=b", "{cookie} {path}");
        }
        for path in no {
            assert_eq!(sent(&mut jar, AT.host, path, false), "", "{cookie} {path}");
        }
    }
}

#[test]
fn secure_cookies_stay_off_plain_connections() {
    let mut jar = Jar::new();
    store(&mut jar, &AT, "a=b; Secure; path=/").unwrap();
    assert_eq!(sent(&mut jar, AT.host, "/", false), "");
    assert_eq!(sent(&mut jar, AT.host, "/", true), "a=b");
}

#[test]
fn longer_paths_go_first_then_the_order_of_setting() {
    let mut jar = Jar::new();
    for text in
        ["a=1; path=/", "b=2; path=/shop/cart", "c=3; path=/shop", "d=4; path=/", "e=5; path=/shop"]
    {
        store(&mut jar, &AT, text).unwrap();
    }
    assert_eq!(sent(&mut jar, AT.host, AT.path, false), "b=2; c=3; e=5; a=1; d=4");
    store(&mut jar, &AT, "a=6; path=/").unwrap();
    assert_eq!(sent(&mut jar, AT.host, AT.path, false), "b=2; c=3; e=5; d=4; a=6");
}

#[test]
fn a_cookie_is_replaced_if_name_domain_and_path_agree() {
    let mut jar = Jar::new();
    store(&mut jar, &AT, "a=1; path=/").unwrap();
    store(&mut jar, &AT, "a=2; path=/shop").unwrap();
    store(&mut jar, &AT, "A=3; path=/").unwrap();
    store(&mut jar, &AT, "a=4; path=/; domain=example.com").unwrap();
    assert_eq!(jar.iter().count(), 4);
    store(&mut jar, &AT, "a=5; path=/; Secure").unwrap();
    assert_eq!(jar.iter().count(), 4);
    let cookie = jar.iter().last().unwrap();
    assert_eq!((cookie.value.as_str(), cookie.secure), ("5", true));
}

#[test]
fn empty_values_and_past_dates_delete() {
    for delete in [
        "a=; path=/",
        "a=x; path=/; Max-Age=-1",
        "a=x; path=/; max-age=0",
        "a=x; path=/; Expires=Thu, 01-Jan-1970 00:00:10 GMT",
    ] {
        let mut jar = Jar::new();
        store(&mut jar, &AT, "a=1; path=/").unwrap();
        store(&mut jar, &AT, "b=2; path=/").unwrap();
        let mut done = Vec::new();
        jar.store(&AT, delete.as_bytes(), NOW, |stored| done.push(stored == Stored::Deleted))
            .unwrap();
        assert_eq!(done, [true], "{delete}");
        assert_eq!(sent(&mut jar, AT.host, "/", false), "b=2", "{delete}");
    }
    let mut jar = Jar::with_rules(Rules { delete_empty: false, ..Rules::default() });
    assert_eq!(store(&mut jar, &AT, "a="), Ok(true));
    assert_eq!(sent(&mut jar, AT.host, AT.path, false), "a=");
}

#[test]
fn ages_and_dates() {
    assert_eq!(only("a=b").expires_ms, None);
    assert_eq!(only("a=b; max-age=60").expires_ms, Some(NOW + 60_000));
    assert_eq!(only("a=b; max-age=60; expires=nonsense").expires_ms, Some(NOW + 60_000));
    for ignored in [
        "max-age=",
        "max-age",
        "max-age=x",
        "max-age=1.5",
        "max-age=99999999999",
        "max-age=+1",
        "expires=",
        "expires",
    ] {
        assert_eq!(only(&format!("a=b; {ignored}")).expires_ms, None, "{ignored}");
    }
    // JMeter treats a cookie's expiry in the first second of 1970 as no expiry.
    assert_eq!(only("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT").expires_ms, None);
    let mut jar = with(Policy::Strict);
    for strict in ["a=b; max-age=x", "a=b; max-age=-1", "a=b; max-age="] {
        assert_eq!(store(&mut jar, &AT, strict), Err(Rejected::MaxAge));
    }
    assert_eq!(store(&mut jar, &AT, "a=b; expires="), Err(Rejected::Expires));
}

#[test]
fn forms_of_dates() {
    let expected = Some(2_000_000_000_000);
    for text in [
        "Wed, 18 May 2033 03:33:20 GMT",
        "Wednesday, 18-May-33 03:33:20 GMT",
        "Wed May 18 03:33:20 2033",
        "18 may 2033 3:33:20",
        "03:33:20 18 2033 MAYDAY",
        "Wed, 18-May-2033 03:33:20.5 UTC",
        "{18|x}~May 2033+03:33:20z",
    ] {
        assert_eq!(date::parse(text), expected, "{text}");
    }
    assert_eq!(date::parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    assert_eq!(date::parse("01 Jan 70 00:00:00"), Some(0));
    assert_eq!(date::parse("29 Feb 2000 00:00:00"), Some(951_782_400_000));
    assert_eq!(date::parse("31 Feb 2001 00:00:00"), date::parse("3 Mar 2001 00:00:00"));
    assert_eq!(date::parse("31 Dec 9999 23:59:59"), Some(253_402_300_799_000));
    for text in [
        "",
        "18 May 2033",
        "May 2033 03:33:20",
        "18 2033 03:33:20",
        "18 May 03:33:20",
        "32 May 2033 03:33:20",
        "0 May 2033 03:33:20",
        "18 May 1600 03:33:20",
        "18 May 2033 24:00:00",
        "18 May 2033 03:60:00",
        "18 May 2033 03:33:60",
        "18 May 20333 03:33:20",
        "18 May 2033 03:33",
        "é May 2033 :::",
    ] {
        assert_eq!(date::parse(text), None, "{text}");
    }
}

#[test]
fn expired_cookies_are_sent_unless_dropped() {
    for (drop_expired, later) in [(false, "a=b"), (true, "")] {
        let mut jar = Jar::with_rules(Rules { drop_expired, ..Rules::default() });
        store(&mut jar, &AT, "a=b; max-age=10").unwrap();
        let mut out = Vec::new();
        jar.header(&AT, NOW + 9_000, &mut out);
        assert_eq!(out, b"a=b");
        out.clear();
        jar.header(&AT, NOW + 10_000, &mut out);
        assert_eq!(out, later.as_bytes());
    }
}

#[test]
fn cookies_can_be_added_by_hand() {
    let mut jar = Jar::new();
    let cookie = |value: &str, domain: &str| Cookie {
        name: "n".into(),
        value: value.into(),
        domain: domain.into(),
        path: "/".into(),
        ..Cookie::default()
    };
    jar.add(cookie("1", ".example.com"));
    jar.add(cookie("2", ".example.com"));
    jar.add(cookie("3", ""));
    assert_eq!(sent(&mut jar, "www.example.com", "/", false), "n=2");
    jar.add(cookie("", ".example.com"));
    assert_eq!(sent(&mut jar, "www.example.com", "/", false), "");
}

#[test]
fn the_draft_policies() {
    let store = |host, text: &str, policy| {
        let origin = Origin { host, ..AT };
        let mut jar = with(policy);
        let stored = jar.store(&origin, text.as_bytes(), NOW, |_| ());
        let mut out = Vec::new();
        jar.header(&Origin { host, ..AT }, NOW, &mut out);
        stored.map(|()| String::from_utf8(out).unwrap())
    };
    let netscape = Policy::Netscape;
    assert_eq!(
        store("www.example.com", "a=\"b c\"; max-age=0; domain=.example.com", netscape),
        Ok("a=\"b c\"".into())
    );
    assert_eq!(store("www.example.com", "a=b; domain=.com", netscape), Err(Rejected::Domain));
    assert_eq!(store("www.example.de", "a=b; domain=.example.de", netscape), Err(Rejected::Domain));
    assert_eq!(
        store("www.example.de", "a=b; domain=.example.de", Policy::Compatibility),
        Ok("a=b".into())
    );
    assert_eq!(store("h", "a=b; expires=Wed, 18-May-33 03:33:20 GMT", netscape), Ok("a=b".into()));
    assert_eq!(
        store("h", "a=b; expires=Wed, 18 May 2033 03:33:20 GMT", netscape),
        Err(Rejected::Expires)
    );
    assert_eq!(store("h", "a", netscape), Ok(String::new()));
    assert_eq!(store("h", "a=b; path=/shop; path=/other", netscape), Ok("a=b".into()));
    assert_eq!(store("h", "a=b", Policy::Ignore), Ok(String::new()));
    // Cookies of Netscape's draft are sent in the order of setting.
    let mut jar = with(Policy::Compatibility);
    for text in [b"a=1; path=/".as_slice(), b"b=2; path=/shop"] {
        jar.store(&AT, text, NOW, |_| ()).unwrap();
    }
    assert_eq!(sent(&mut jar, AT.host, AT.path, false), "a=1; b=2");
}

/// Compares the `Cookie` headers of all requests in recorded conversations with those that JMeter's Cookie Manager
/// sent.
#[test]
fn conversations_of_jmeter() {
    let table = std::env::var("COOKIES_TABLE").ok();
    let table = table.map(|path| std::fs::read_to_string(path).expect("a table"));
    let table = table.as_deref().unwrap_or(include_str!("table/cookies.txt"));
    let mut jar = Jar::new();
    let (mut begun, mut wrong) = (0, Vec::new());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a date");
    let now = i64::try_from(now.as_millis()).expect("a date");
    for (number, line) in (1..).zip(table.lines()) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["policy", name] => {
                jar = with(Policy::named(name).expect("a policy"));
                begun = number;
            }
            ["own", name, value, domain, path, secure, version, path_given, domain_given] => {
                jar.add(Cookie {
                    name: name.into(),
                    value: value.into(),
                    domain: domain.into(),
                    path: path.into(),
                    secure: secure == "true",
                    host_only: domain_given == "false",
                    path_given: path_given == "true",
                    version: version.parse().expect("a version"),
                    expires_ms: None,
                });
            }
            ["set", url, text] => {
                let _ = jar.store(&origin_of(url), text.as_bytes(), now, |_| ());
            }
            ["get", url, header] => {
                let mut out = Vec::new();
                jar.header(&origin_of(url), now, &mut out);
                let sent = String::from_utf8(out).expect("text");
                if sent != header.replacen('-', "", usize::from(header == "-")) {
                    wrong.push(format!("{begun}..{number}: {line}\n    here: {sent}"));
                }
            }
            _ => panic!("line {number}: {line}"),
        }
    }
    assert!(begun > 0);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

fn origin_of(url: &str) -> Origin<'_> {
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.strip_suffix(":8080").unwrap_or(authority);
    let path = path.split('?').next().unwrap_or("");
    Origin { host, path, secure: scheme == "https" }
}

proptest! {
    #[test]
    fn any_bytes_store_and_send(
        texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..8),
        policy in prop_oneof![Just(Policy::Standard), Just(Policy::Strict), Just(Policy::Netscape), Just(Policy::Compatibility), Just(Policy::Rfc2109)],
    ) {
        check_any(&texts, policy);
    }

    #[test]
    fn any_likely_text_stores_and_sends(
        texts in proptest::collection::vec(
            "([ab =;,\"\\\\\t]|Domain=|Path=|Expires=|Max-Age=|Secure|[0-9]{1,4}|:|Jan|\\.|example\\.com|/){0,20}", 0..8),
        policy in prop_oneof![Just(Policy::Standard), Just(Policy::Strict), Just(Policy::Netscape), Just(Policy::Compatibility), Just(Policy::Rfc2109)],
    ) {
        check_any(&texts, policy);
    }

    #[test]
    fn a_plain_pair_survives(name in "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}", value in "[!#-+./-:<-\\[\\]-~-]{1,20}") {
        let pair = format!("{name}={value}");
        prop_assert_eq!(echo(&pair), pair);
    }

    #[test]
    fn a_date_survives(seconds in -11_000_000_000i64..250_000_000_000) {
        // Dates are formatted by the inverse of the parser's calendar: day by day from 1601.
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (mut year, mut month, mut day) = (1601i64 , 1usize, days + 134_774);
        let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
        prop_assume!(day >= 0);
        while day >= 365 + i64::from(leap(year)) {
            day -= 365 + i64::from(leap(year));
            year += 1;
        }
        let lengths = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        while day >= lengths[month - 1] {
            day -= lengths[month - 1];
            month += 1;
        }
        let name = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month - 1];
        let text = format!("Xxx, {:02} {name} {year} {:02}:{:02}:{:02} GMT", day + 1, of_day / 3600, of_day / 60 % 60, of_day % 60);
        prop_assert_eq!(date::parse(&text), Some(seconds * 1000), "{}", text);
    }
}

fn check_any(texts: &[impl AsRef<[u8]>], policy: Policy) {
    let mut jar = with(policy);
    for text in texts {
        let _ = jar.store(&AT, text.as_ref(), NOW, |_| ());
    }
    let mut out = Vec::new();
    jar.header(&AT, NOW, &mut out);
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "a cookie must not end its header");
    for (i, a) in jar.iter().enumerate() {
        assert!(!a.value.is_empty() && !a.name.is_empty());
        for b in jar.iter().skip(i + 1) {
            assert!((&a.name, &a.domain, &a.path) != (&b.name, &b.domain, &b.path));
        }
    }
}

#[test]
fn very_many_are_kept_as_few_are() {
    for policy in [Policy::Standard, Policy::Netscape, Policy::Rfc2109] {
        let mut jar = with(policy);
        // Expected cookies, in the order in which they were last set.
        let mut model: Vec<(String, String, &str)> = Vec::new();
        for n in 0_u32..3000 {
            let name = format!("c{}", n.wrapping_mul(2_654_435_761) % 400);
            let path = if n % 3 == 0 { "/shop" } else { "/" };
            let deletes = n % 5 == 4;
            let value = if deletes { String::new() } else { n.to_string() };
            store(&mut jar, &AT, &format!("{name}={value}; Path={path}")).unwrap();
            model.retain(|(other, _, other_path)| (other, *other_path) != (&name, path));
            if !deletes {
                model.push((name, value, path));
            }
        }
        assert!(model.len() > 2 * index::FEW);
        let kept = jar.iter().map(|cookie| (&*cookie.name, &*cookie.value, &*cookie.path));
        assert!(kept.eq(model.iter().map(|(name, value, path)| (&**name, &**value, *path))));
        let mut line: Vec<_> = model.iter().collect();
        if policy == Policy::Standard {
            line.sort_by_key(|(.., path)| Reverse(path.len()));
        }
        if policy != Policy::Rfc2109 {
            let line: Vec<_> =
                line.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
            assert_eq!(sent(&mut jar, AT.host, AT.path, false), line.join("; "));
        }
        jar.clear();
        store(&mut jar, &AT, "a=b").unwrap();
        assert_eq!(jar.iter().count(), 1);
    }
}

#[test]
fn cookies_of_a_plan_stand_beside_each_other_until_one_is_set() {
    let cookie = |value: &str| Cookie {
        name: "k".into(),
        value: value.into(),
        domain: "www.example.com".into(),
        path: "/".into(),
        ..Cookie::default()
    };
    for policy in ["standard", "netscape"] {
        let rules = Rules { policy: Policy::named(policy).unwrap(), ..Rules::default() };
        let mut jar = Jar::with_rules(rules);
        jar.add_beside(cookie("1"));
        jar.add_beside(cookie("a"));
        assert_eq!(sent(&mut jar, "www.example.com", "/", false), "k=1; k=a");
        let origin = Origin { host: "www.example.com", path: "/", secure: false };
        jar.store(&origin, b"k=new; path=/", 0, |_| ()).unwrap();
        assert_eq!(sent(&mut jar, "www.example.com", "/", false), "k=new");
    }
}

#[test]
fn letters_are_latin_1_or_as_java_writes_them() {
    let mut jar = Jar::new();
    let [domain, path] = ["www.example.com", "/"].map(String::from);
    jar.add(Cookie { name: "z".into(), value: "ü€".into(), domain, path, ..Cookie::default() });
    let origin = Origin { host: "www.example.com", path: "/", secure: false };
    let (mut latin1, mut utf8) = (Vec::new(), Vec::new());
    assert!(jar.header(&origin, 0, &mut latin1) && jar.header_as_it_is(&origin, 0, &mut utf8));
    assert_eq!((latin1, utf8), (b"z=\xfc?".to_vec(), "z=ü€".as_bytes().to_vec()));
}
