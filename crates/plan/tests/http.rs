//! Compares rendered HTTP requests with those of JMeter 5.6.3.

#![allow(clippy::format_collect, reason = "documents of tests are short")]

extern crate plan as subject;

mod world;

use plan::http::{Request, Unsendable};
use plan::plan::SamplerKind;
use world::{World, http_sampler, text_of};

/// The table was created by `java.net.URL`, `java.net.URI` and HttpClient 4.5.14, called in JMeter's order.
#[test]
fn urls_are_those_of_java() {
    let mut wrong = Vec::new();
    for line in include_str!("data/url.tsv").lines() {
        let fields: Vec<_> = line.split('\t').map(text_of).collect();
        let [protocol, domain, port, path, kind, one, two, url] = &fields[..] else {
            panic!("{line}")
        };
        let props = [
            ("HTTPSampler.protocol", protocol),
            ("HTTPSampler.domain", domain),
            ("HTTPSampler.port", port),
            ("HTTPSampler.path", path),
        ];
        let mut world = World::literal(&http_sampler(
            &props.map(|(name, value)| (name, value.as_str())),
            "",
            "",
        ));
        let mut request = Request::default();
        let got = match world.render(0, &mut request) {
            Ok(()) => {
                let lines: String = request.headers.iter().map(|byte| *byte as char).collect();
                let host = lines
                    .lines()
                    .find_map(|line| line.strip_prefix("Host: "))
                    .unwrap_or("")
                    .to_string();
                ["ok".to_string(), request.target.clone(), host, request.url.clone()]
            }
            Err(failure) => {
                let url = if failure.no_url { "-".to_string() } else { request.url.clone() };
                let after =
                    |text: &str| text.split_once(": ").map_or("", |(_, rest)| rest).to_string();
                ["error".to_string(), after(&failure.code), after(&failure.message), url]
            }
        };
        let expected = [kind.clone(), one.clone(), two.clone(), url.clone()];
        if got != expected {
            wrong.push(format!(
                "{protocol:?} {domain:?} {port:?} {path:?}\n  java {expected:?}\n  here {got:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The expected values are the requests and rows that JMeter 5.6.3 produced for each sampler of the plan in the
/// folder of the table.
#[test]
fn requests_are_those_of_jmeter() {
    let compiled = world::compile_source(
        include_str!("data/requests.jmx"),
        &plan::compile::Settings::default(),
    );
    let recorded: serde_json::Value =
        serde_json::from_str(include_str!("data/requests.json")).expect("JSON");
    let mut world = World::new(compiled);
    let mut request = Request::default();
    let (mut wrong, mut at) = (Vec::new(), 0);
    for row in recorded.as_array().expect("rows") {
        let field = |name: &str| row[name].as_str().unwrap_or("").to_string();
        // A sample without a URL has no name in its row.
        let named = |sampler: &plan::plan::Sampler| sampler.name.fixed() == Some(&*field("name"));
        at = if field("name").is_empty() {
            at + 1
        } else {
            world.plan.samplers.iter().position(named).expect("it")
        };
        let (expected, got) = match world.render(at, &mut request) {
            Ok(()) => {
                let mut sent = format!("{} {} HTTP/1.1\r\n", request.method, request.target);
                let latin1 =
                    |bytes: &[u8]| bytes.iter().map(|byte| *byte as char).collect::<String>();
                sent += &latin1(&request.headers);
                sent += "\r\n";
                let mut headers = String::new();
                let sent_bytes: Vec<u8> = sent.chars().map(|c| c as u8).collect();
                plan::http::show_lines(&sent_bytes, &mut headers);
                sent += &latin1(&request.body);
                // JMeter shows the characters that it could not send.
                let shown = field("headers").replace(['€', '日'], "?").replace("a\nb", "a b");
                let expected = [field("sent"), field("url"), field("query"), shown];
                (expected, [sent, request.url.clone(), request.query_string.clone(), headers])
            }
            Err(failure) => {
                let url = if failure.no_url { String::new() } else { request.url.clone() };
                (
                    [field("code"), field("message"), field("url"), field("name")],
                    [
                        failure.code,
                        failure.message,
                        url,
                        if failure.no_url { String::new() } else { field("name") },
                    ],
                )
            }
        };
        // Ports are checked only when the connection is opened.
        if got != expected && !field("message").contains("port out of range") {
            wrong.push(format!("{}\n  jmeter {expected:?}\n  here   {got:?}", field("name")));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The table was created by JMeter's own code that computes the next URL from a `Location`.
#[test]
fn redirects_lead_where_jmeter_goes() {
    let mut wrong = Vec::new();
    for line in include_str!("data/location.tsv").lines() {
        let fields: Vec<_> = line.split('\t').map(text_of).collect();
        let [base, location, kind, expected] = &fields[..] else { panic!("{line}") };
        let mut url = String::new();
        let got = match plan::http::location(base, location, true, &mut url) {
            Ok(()) => ("ok".to_string(), url),
            Err(failure) => {
                let after =
                    |text: &str| text.split_once(": ").map_or("", |(_, rest)| rest).to_string();
                (
                    "error".to_string(),
                    format!("{}: {}", after(&failure.code), after(&failure.message)),
                )
            }
        };
        if got != (kind.clone(), expected.clone()) {
            wrong.push(format!(
                "{base:?} {location:?}\n  jmeter {kind} {expected:?}\n  here   {} {:?}",
                got.0, got.1
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the target of a redirect; the error is the message of an exception.
fn redirected(base: &str, reference: &str) -> Result<String, String> {
    let mut url = String::new();
    plan::http::location(base, reference, true, &mut url).map_err(|failure| failure.message)?;
    Ok(url)
}

/// The right-hand sides are the results of JMeter 5.6.3 on Java 17.
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
        ("/login?next=http://x/../y", "http://h:81/login?next=http://x/../y"),
    ] {
        assert_eq!(redirected(base, reference).as_deref(), Ok(expected), "{reference}");
    }
    for (base, reference, expected) in [
        ("http://h", "p", "http://h/p"),
        ("http://h", "?q", "http://h/?q"),
        ("http://h/a/", "../../../../../x", "http://h/../../x"),
        ("http://u@h/a", "/b", "http://u@h/b"),
    ] {
        assert_eq!(redirected(base, reference).as_deref(), Ok(expected), "{reference}");
    }
}

/// Returns the URL of the request that follows a redirect, or the failure of its sample.
fn followed(base: &str, reference: &str) -> Result<String, Unsendable> {
    let mut url = String::new();
    plan::http::location(base, reference, true, &mut url)?;
    let mut world = World::literal(&http_sampler(&[], "", ""));
    let mut request = Request::default();
    world.with(|plan, env| match &plan.samplers[0].kind {
        SamplerKind::Http(http) => http.render_redirect(&url, "GET", env, &mut request),
        other => panic!("{other:?}"),
    })?;
    Ok(url)
}

#[test]
fn the_type_of_a_file_stays_where_httpclient_follows() {
    let file = |mime: &str| {
        format!(
            r#"<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
        <elementProp name="" elementType="HTTPFileArg"><stringProp name="File.path">/dev/null</stringProp>
        <stringProp name="File.paramname"></stringProp><stringProp name="File.mimetype">{mime}</stringProp></elementProp></collectionProp></elementProp>"#
        )
    };
    for (mime, first, kept) in [
        ("text/x-own", "GET", true),
        ("text/x-own", "POST", true),
        ("text/x-own", "HEAD", false),
        ("", "POST", false),
    ] {
        let mut world = World::literal(&http_sampler(&[], &file(mime), ""));
        let mut request = Request::default();
        let rendered = world.with(|plan, env| match &plan.samplers[0].kind {
            SamplerKind::Http(http) => {
                http.render_silent_redirect("http://h/b", "GET", first, env, &mut request)
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(rendered, Ok(()));
        let mut lines =
            "Connection: keep-alive\r\nContent-Type: text/x-own\r\nHost: h\r\n".to_owned();
        if !kept {
            lines = lines.replace("Content-Type: text/x-own\r\n", "");
        }
        let head = String::from_utf8_lossy(&request.headers);
        assert!(head.starts_with(&lines), "{mime} {first}: {head}");
        assert!(request.body.is_empty());
    }
}

#[test]
fn redirects_to_nowhere() {
    for (base, reference, message) in [
        ("http://h/a", "ftp://h/", "ftp protocol is not supported"),
        ("http://h/a", "mailto:x@y", "URI does not specify a valid host name: mailto:x@y"),
        ("http://h/a", "p:q", "unknown protocol: p"),
        ("http://h/a", "https:p", "URI does not specify a valid host name: https:p"),
        ("http://h/a", "http://h:99999/", "port out of range:99999"),
        ("http://h/a", "//<h>/", "Illegal character in authority at index 7: http://<h>/"),
        ("a/b", "/c", "unknown protocol: "),
    ] {
        let failure = followed(base, reference).expect_err(reference);
        let shown = format!("Non HTTP response message: {message}");
        assert_eq!(failure.message, shown, "{reference}");
    }
}

proptest::proptest! {
    #[test]
    fn any_redirect_leads_to_an_address_or_fails(
        base in "(http|https)://(u@)?h(:[0-9]{1,5})?(/[ab.]{0,3}){0,4}(\\?q)?",
        reference in "([ab ]|/|\\.|\\.\\./|//|\\?|#|:|@|%[0-9a-f]{0,2}|http:|é|\\[|\\]|\\||\u{1}){0,12}",
    ) {
        if let Ok(url) = followed(&base, &reference) {
            let address = lang::url::absolute(&url);
            proptest::prop_assert!(address.is_ok(), "{:?}: {}", address, url);
            proptest::prop_assert!(!url.contains(' '), "{}", url);
        }
    }
}

/// Returns a world with a form that uploads the file at `path`.
fn upload(path: &str) -> World {
    let more = format!(
        r#"<boolProp name="HTTPSampler.BROWSER_COMPATIBLE_MULTIPART">true</boolProp>
        <elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
        <elementProp name="" elementType="HTTPFileArg"><stringProp name="File.path">{path}</stringProp>
        <stringProp name="File.paramname">f</stringProp><stringProp name="File.mimetype">text/plain</stringProp></elementProp>
        </collectionProp></elementProp>
        <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="a" elementType="HTTPArgument"><stringProp name="Argument.name">a</stringProp>
        <stringProp name="Argument.value">b</stringProp></elementProp></collectionProp></elementProp>"#
    );
    let props = [("HTTPSampler.method", "POST"), ("HTTPSampler.domain", "h.test")];
    World::literal(&http_sampler(&props, &more, ""))
}

#[test]
fn files_are_sent_but_not_shown_and_read_once() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("upload.txt");
    std::fs::write(&path, "secret").unwrap();
    let mut world = upload(path.to_str().unwrap());
    let mut request = Request::default();
    world.render(0, &mut request).unwrap();
    std::fs::remove_file(&path).unwrap();
    let shown = request.query_string.clone();
    let (boundary, _) = shown[2..].split_once("\r\n").unwrap();
    assert!((30..=40).contains(&boundary.len()), "{boundary}");
    let body = |content: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"upload.txt\"\r\n\
             Content-Type: text/plain\r\n\r\n{content}\r\n--{boundary}--\r\n"
        )
    };
    assert_eq!(String::from_utf8(request.body.clone()).unwrap(), body("secret"));
    assert_eq!(shown, body("<actual file content, not shown here>"));
    world.render(0, &mut request).unwrap();
    assert!(String::from_utf8(request.body.clone()).unwrap().contains("secret"), "read once");
    assert!(!request.query_string.contains(boundary), "a boundary of its own");
    let failure = upload("/nonexistent/x").render(0, &mut request).unwrap_err();
    assert_eq!(failure.code, "Non HTTP response code: java.io.FileNotFoundException");
    let message = "Non HTTP response message: /nonexistent/x (No such file or directory)";
    assert_eq!(failure.message, message);
}

#[test]
fn files_are_told_by_the_protocol_and_may_be_relative() {
    let cases = [
        ("file", "a/b c.txt", "file:a/b%20c.txt", Some("a/b c.txt")),
        ("file", "/x//y%C3%A9/", "file:/x//y%C3%A9/", Some("/x/yé")),
        ("file", "/", "file:/", Some("/")),
        ("file", "", "file:", Some("")),
        ("FILE", "/x", "file:/x", None),
        ("http", "file:/x", "http://h/file:/x", None),
    ];
    for (protocol, path, url, file) in cases {
        let mut world = World::literal(&http_sampler(
            &[
                ("HTTPSampler.protocol", protocol),
                ("HTTPSampler.domain", "h"),
                ("HTTPSampler.path", path),
            ],
            "",
            "",
        ));
        let mut request = Request::default();
        let made = world.render(0, &mut request);
        assert_eq!(request.url, url);
        assert_eq!(request.is_file, file.is_some(), "{protocol} {path}");
        if let Some(file) = file {
            assert_eq!(made, Ok(()));
            assert_eq!(request.target, file);
            assert_eq!(request.method, "GET");
        }
    }
}

#[test]
fn links_to_files_are_files_only_among_files() {
    for (protocol, is_file) in [("file", true), ("http", false)] {
        let mut world =
            World::literal(&http_sampler(&[("HTTPSampler.protocol", protocol)], "", ""));
        let mut request = Request::default();
        let made = world.with(|plan, env| match &plan.samplers[0].kind {
            plan::plan::SamplerKind::Http(http) => {
                http.render_redirect("file:/etc/hostname", "GET", env, &mut request)
            }
            other => panic!("{other:?}"),
        });
        assert_eq!((request.is_file, made.is_ok()), (is_file, is_file));
    }
}
