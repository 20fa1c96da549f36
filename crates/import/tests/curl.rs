//! curl commands and the requests of their plans. The same commands are compared with curl itself by
//! `tests/import/curl-oracle`.

mod plan;

use std::io;

use import::{Format, Imported, LOAD};

/// Files that commands of the tests name.
fn files(name: &str) -> io::Result<Vec<u8>> {
    match name {
        "a.txt" => Ok(b"one\r\ntwo&three\n".to_vec()),
        "headers" => Ok(b"A: 1\n\nB: 2\r\n".to_vec()),
        "jar" => Ok(b"# Netscape HTTP Cookie File\n\n.h\tTRUE\t/\tFALSE\t0\tc\td e\n#HttpOnly_h\tFALSE\t/x\tTRUE\t9\tf\tg\nbad\n".to_vec()),
        "binary" => Ok(vec![0xFF, 0x00]),
        "-" => Ok(b"from standard input".to_vec()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "No such file or directory")),
    }
}

fn import(text: &str) -> Imported {
    import::import("a.sh", text.as_bytes(), Format::Curl, LOAD, &mut files).expect("a known format")
}

/// Returns the requests of a script, without the header lines that every curl command has.
fn requests(text: &str) -> String {
    let imported = import(text);
    assert!(!imported.text.is_empty(), "{text}: {:?}", imported.findings);
    plan::shown(&imported.text).replace("User-Agent: curl/8.5.0\nAccept: */*\n", "~\n")
}

fn findings(text: &str) -> Vec<String> {
    import(text).findings.iter().map(ToString::to_string).collect()
}

#[test]
fn methods_and_addresses() {
    for (command, expected) in [
        ("curl http://h:81/a?b=c#d", "GET http://h:81/a?b=c\n~\n"),
        ("curl -I h", "HEAD http://h/\n~\n"),
        ("curl --head https://h/", "HEAD https://h/\n~\n"),
        ("curl -X PURGE h/a", "PURGE http://h/a\n~\n"),
        ("curl -XDELETE h/a", "DELETE http://h/a\n~\n"),
        ("curl --request=PATCH --url h", "PATCH http://h/\n~\n"),
        ("curl -sSLk https://h", "GET https://h/\n~\n[follows redirects]\n"),
        ("curl -L --no-location h", "GET http://h/\n~\n"),
        (
            "curl 'http://h/{a,b}?[1-2]'",
            "GET http://h/a?1\n~\nGET http://h/a?2\n~\nGET http://h/b?1\n~\nGET http://h/b?2\n~\n",
        ),
        ("curl -g 'http://h/?a[]={b}'", "GET http://h/?a[]=%7bb%7d\n~\n"),
        ("curl h/a/../b", "GET http://h/b\n~\n"),
        ("curl --path-as-is h/a/../b", "GET http://h/a/../b\n~\n"),
        ("curl --request-target /x h/a", "GET http://h/x\n~\n"),
        ("curl --proto-default https h", "GET https://h/\n~\n"),
        ("curl -v -o out -w '%{http_code}' -D - h -O h2", "GET http://h/\n~\nGET http://h2/\n~\n"),
        (
            "curl h/a --next -I h/b -: -d c h/d",
            "GET http://h/a\n~\nHEAD http://h/b\n~\nPOST http://h/d\n~\nContent-Type: application/x-www-form-urlencoded\n\nc\n",
        ),
        ("curl -- h -I", "GET http://h/\n~\nGET http://-I/\n~\n"),
        ("time sudo /usr/bin/curl h", "GET http://h/\n~\n"),
    ] {
        assert_eq!(requests(command), expected, "{command}");
    }
}

const TYPE: &str = "Content-Type: application/x-www-form-urlencoded\n";

#[test]
fn data() {
    for (options, body) in [
        ("-d a=b", "a=b"),
        ("-d a -d b --data c", "a&b&c"),
        ("-d ''", ""),
        ("--data-raw @a.txt", "@a.txt"),
        ("-d @a.txt", "onetwo&three"),
        ("-d @a.txt -d x", "onetwo&three&x"),
        ("--data-binary @a.txt -d x", "one\r\ntwo&three\n&x"),
        ("-d @-", "from standard input"),
        ("--data-urlencode 'a b&c'", "a+b%26c"),
        ("--data-urlencode '=a=b'", "a%3Db"),
        ("--data-urlencode 'n=a/\u{e9}'", "n=a%2F%C3%A9"),
        ("--data-urlencode @a.txt", "one%0D%0Atwo%26three%0A"),
        ("--data-urlencode n@a.txt", "n=one%0D%0Atwo%26three%0A"),
        ("--data-binary $'a\\nb'", "a\nb"),
        ("-d '{\"a\":\"\\u0041\"}'", "{\"a\":\"\\u0041\"}"),
        ("--data-ascii a --data-binary b --data-raw c", "a&b&c"),
    ] {
        let command = format!("curl {options} http://h/");
        let expected = format!("POST http://h/\n~\n{TYPE}\n{body}\n");
        assert_eq!(requests(&command), expected, "{command}");
    }
}

#[test]
fn data_in_queries_and_files() {
    for (command, expected) in [
        ("curl -d a=b -G h", "GET http://h/?a=b\n~\n"),
        ("curl -G -d a --data-urlencode 'b= /' 'h/?c#d'", "GET http://h/?c&a&b=+%2f\n~\n"),
        (
            "curl --url-query a=1 --url-query +b%2F -d c h/?d",
            "POST http://h/?d&a=1&b%2f\n~\nContent-Type: application/x-www-form-urlencoded\n\nc\n",
        ),
        (
            "curl -X GET -d a h",
            "GET http://h/\n~\nContent-Type: application/x-www-form-urlencoded\n\na\n",
        ),
        (
            "curl --data-binary @b.bin h",
            "POST http://h/\n~\nContent-Type: application/x-www-form-urlencoded\nfile b.bin  \n",
        ),
        ("curl -H 'Content-Type:' --data-binary @b.bin h", "POST http://h/\n~\nfile b.bin  \n"),
        ("curl -T b.bin h/x/", "PUT http://h/x/b.bin\n~\nfile b.bin  \n"),
        ("curl -T 'dir/a b' h", "PUT http://h/a%20b\n~\nfile dir/a b  \n"),
        ("curl -T b.bin h/x", "PUT http://h/x\n~\nfile b.bin  \n"),
        ("curl -T - h/x", "PUT http://h/x\n~\n\nfrom standard input\n"),
        (
            "curl --json '{' --json '}' h",
            "POST http://h/\nUser-Agent: curl/8.5.0\nContent-Type: application/json\nAccept: application/json\n\n{}\n",
        ),
        (
            "curl --json {} -H 'accept: x' h",
            "POST http://h/\nUser-Agent: curl/8.5.0\naccept: x\nContent-Type: application/json\n\n{}\n",
        ),
        (
            "curl -d @- h <<E\na\nE\n",
            "POST http://h/\n~\nContent-Type: application/x-www-form-urlencoded\n\na\n",
        ),
        (
            "curl --data-binary @- h < b.bin",
            "POST http://h/\n~\nContent-Type: application/x-www-form-urlencoded\nfile b.bin  \n",
        ),
    ] {
        assert_eq!(requests(command), expected, "{command}");
    }
}

#[test]
fn headers() {
    for (options, expected) in [
        ("-H 'X: y' -H x2:z", "~\nX: y\nx2: z\n"),
        ("-H 'X;' -H 'Y:' -H 'Accept:'", "User-Agent: curl/8.5.0\nX: \n"),
        ("-H 'accept: a' -H 'user-agent: b'", "accept: a\nuser-agent: b\n"),
        (
            "-A me -e from -r 0-9 --compressed -b 'a=b; c' -b d=e",
            "Range: bytes=0-9\nUser-Agent: me\nAccept: */*\nAccept-Encoding: deflate, gzip, br\nReferer: from\nCookie: a=b; c;d=e\n",
        ),
        ("-b a=b -H 'Cookie: c'", "~\nCookie: c\n"),
        ("-u me:word", "Authorization: Basic bWU6d29yZA==\n~\n"),
        ("-u me:word -H 'Authorization: x'", "~\nAuthorization: x\n"),
        ("-r 5", "Range: bytes=5-\n~\n"),
        ("--oauth2-bearer t", "Authorization: Bearer t\n~\n"),
        ("-H 'Host: other'", "Host: other\n~\n"),
        ("-H 'Host: h'", "~\n"),
        ("-H @headers", "~\nA: 1\nB: 2\n"),
        ("-H 'Connection: close'", "~\n[closes]\n"),
        ("-H 'Connection: keep-alive'", "~\n"),
        ("-m 2.5 --connect-timeout 1", "~\n[connect within 1000]\n[respond within 2500]\n"),
        ("--interface eth0", "~\n[from eth0]\n"),
        (
            "-x http://p:8 -U a:b",
            "~\n[proxy p]\n[proxy port 8]\n[proxy user a]\n[proxy password b]\n",
        ),
        ("-x u:v@p", "~\n[proxy p]\n[proxy port 1080]\n[proxy user u]\n[proxy password v]\n"),
    ] {
        let command = format!("curl {options} http://h/");
        assert_eq!(requests(&command), format!("GET http://h/\n{expected}"), "{command}");
    }
    assert!(requests("curl http://u:p%40@h/").contains("Authorization: Basic dTpwQA==\n"));
}

#[test]
fn forms() {
    for (options, expected) in [
        (
            "-F a=b -F 'c=@d.png' -F 'e=@f;type=x/y'",
            "[form in parts]\na = b \nfile d.png c image/png\nfile f e x/y\n",
        ),
        (
            "-F 'a=@x.txt,y.bin'",
            "[form in parts]\nfile x.txt a text/plain\nfile y.bin a application/octet-stream\n",
        ),
        (
            "-F 'a=<a.txt' --form-string 'b=@c;d'",
            "[form in parts]\na = one\r\ntwo&three\n \nb = @c;d \n",
        ),
        ("-F 'a=\"x;y\"'", "[form in parts]\na = x;y \n"),
        (
            "-F 'a=@b' -F 'c={};type=application/json'",
            "[strict form in parts]\nc = {} application/json\nfile b a application/octet-stream\n",
        ),
    ] {
        let command = format!("curl {options} http://h/");
        let expected = format!("POST http://h/\n~\n{expected}");
        // Carriage returns of a text are kept.
        assert_eq!(requests(&command), expected, "{command}");
    }
    let typed = requests("curl -F 'a={\"b\":1};type=application/json' -F c=d h");
    assert!(typed.contains(
        "--------------------------0000000000000000\r\nContent-Disposition: form-data; name=\"a\"\r\n\
         Content-Type: application/json\r\n\r\n{\"b\":1}\r\n"
    ), "{typed}");
}

#[test]
fn what_requests_share_is_in_the_group() {
    let text = "curl -c jar h/a; curl -b jar h/b; curl --digest -u a:b https://i/c; curl --resolve h:80:10.0.0.1 h:81/d";
    assert_eq!(
        requests(text),
        "host h is 10.0.0.1\ncookie c=d e h\ncookie f=g h\nkeeps cookies\nlogin DIGEST a:b at https://i/\n\
         GET http://h/a\n~\nGET http://h/b\n~\nGET https://i/c\n~\nGET http://h:81/d\n~\n"
    );
    let imported = import(text);
    assert!(imported.text.contains("testname=\"GET h/a\""), "{}", imported.text);
    assert!(imported.text.contains("HttpDefaultsGui"));
    // The port of the defaults does not become that of another host.
    let text = "curl h:81/a; curl h:81/b; curl i/c";
    assert!(requests(text).ends_with("GET http://i:80/c\n~\n"));
}

#[test]
fn names_tell_requests_apart() {
    let names = |text: &str| -> Vec<String> {
        let plan = import(text).text;
        let parts = plan.split("testclass=\"HTTPSamplerProxy\" testname=\"").skip(1);
        parts.filter_map(|part| Some(part.split_once('"')?.0.to_owned())).collect()
    };
    assert_eq!(names("curl h/a?x; curl -d y h/a"), ["GET /a", "POST /a"]);
    assert_eq!(names("curl 'h/?a=[1-2]'"), ["GET /?a=1", "GET /?a=2"]);
    assert_eq!(names("curl h; curl h; curl i"), ["GET h/ #1", "GET h/ #2", "GET i/"]);
    assert_eq!(names("curl \"h/$A\""), ["GET /$A"]);
}

#[test]
fn variables_become_properties() {
    let text = "T=$(login)\ncurl -H \"Authorization: Bearer $T\" -u \"$U:x\" \"http://h/${ID}?a=\\$b\" -d '{\"x\":\"${y}\\\"}'";
    let shown = requests(text);
    assert!(shown.contains("Authorization: Bearer ${T}\n"), "{shown}");
    assert!(shown.starts_with("POST http://h/${ID}?a=$b\n"), "{shown}");
    assert!(shown.contains("\n\n{\"x\":\"${__char(36)}{y}\\\\\"}\n"), "{shown}");
    let imported = import(text);
    assert!(imported.text.contains(">${__P(T,)}<"), "{}", imported.text);
    let found = findings(text).join("\n");
    assert!(found.contains("-JT=VALUE -JU=VALUE -JID=VALUE"), "{found}");
    let login = requests("curl -u \"$U:$P\" h");
    assert!(login.contains("login BASIC ${U}:${P} at http://h/\n"), "{login}");
}

#[test]
fn everything_left_out_is_named() {
    for (command, words) in [
        ("curl --http2 h", "--http2: requests are sent as HTTP/1.1"),
        ("curl -E c.pem h", "-E: no client certificate"),
        ("curl --nosuch h", "--nosuch is not known"),
        ("curl -s? h", "-? is not known"),
        ("curl --expand-data '{{a}}' h", "--expand-data is not known"),
        ("curl --ntlm -u a:b h", "--ntlm: this kind of authentication"),
        ("curl -x socks5://p h", "-x socks5://p: only HTTP proxies"),
        ("curl -H 'Transfer-Encoding: chunked' -d a h", "-H Transfer-Encoding: the body"),
        ("curl -H x h", "-H x: a header is NAME: VALUE"),
        ("curl -H 'User-Agent:' h", "User-Agent cannot be removed"),
        ("curl -X OPTIONS -d a h", "OPTIONS is sent without its body"),
        ("curl -X POST h", "POST without data"),
        ("curl -F 'a=@b;filename=c' h", "the file name c is not sent"),
        ("curl -F 'a=@b' -F c=d h", "files are sent after the other fields"),
        ("curl -u me h", "there is no password"),
        ("curl -e ';auto' -L h", "-e ;auto"),
        ("curl 'h/a|b'", "curl sends | as it is"),
        ("curl h/a//b", "JMeter removes doubled slashes"),
        ("curl -H 'Host: a' h:81", "appends the port"),
        ("curl -b nofile h", "the run begins without cookies"),
        ("wget h; curl h", "wget is not curl"),
        ("for i in 1 2; do curl h; done", "loops of a script"),
        ("curl -T nofile h", "nofile does not exist"),
        ("curl --max-redirs 3 h", "httpsampler.max_redirects"),
    ] {
        let found = findings(command).join("\n");
        assert!(found.contains(words), "{command}: {found}");
        let imported = import(command);
        assert!(!imported.text.is_empty() || found.contains("error["), "{command}: {found}");
    }
}

#[test]
fn one_bad_command_does_not_fail_the_others() {
    let text = "curl -d @nofile h/a\ncurl h/b\ncurl\ncurl 'h/[1-2000]'\ncurl ftp://h/\ncurl -I -d a h\ncurl -F a=b -d c h\ncurl -d @binary h\ncurl -X\n";
    assert_eq!(requests(text), "GET http://h/b\n~\n");
    let imported = import(text);
    let lines: Vec<u32> = imported.findings.iter().map(|diag| diag.line).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6, 7, 8, 9, 9], "{:?}", imported.findings);
    assert!(imported.findings.iter().all(|diag| diag.file.as_deref() == Some("a.sh")));
}

#[test]
fn a_copied_command_of_windows_is_read() {
    let text = "curl ^\"https://h/a?b=c^&d=^%^20^\" ^\r\n  -H ^\"accept: a^\" ^\r\n  --data-raw ^\"^{^\\^\"x^\\^\":1^}^\"\r\n";
    assert_eq!(
        requests(text),
        "POST https://h/a?b=c&d=%20\nUser-Agent: curl/8.5.0\naccept: a\nContent-Type: application/x-www-form-urlencoded\n\n{\"x\":1}\n"
    );
}

#[test]
fn a_command_line_and_urls_are_imported() {
    let words: Vec<String> = ["-d", "a${b}$c", "http://h/"].map(str::to_owned).into();
    let imported = import::curl_command(&words, LOAD, &mut files);
    assert!(plan::shown(&imported.text).ends_with("\na${__char(36)}{b}$c\n"), "{}", imported.text);
    assert!(imported.findings.is_empty(), "{:?}", imported.findings);
    assert!(imported.text.contains("testclass=\"ThreadGroup\" testname=\"h\""));
    let urls = import::urls(&["https://h/a".to_owned(), "POST http://i/".to_owned()], LOAD);
    assert_eq!(
        plan::shown(&urls.text),
        "GET https://h/a\n[follows redirects]\nPOST http://i/\n[follows redirects]\n"
    );
    assert_eq!(urls.requests, 2);
}

#[test]
fn words_of_a_command_line_are_told_apart() {
    use import::CurlWord::{Option, Unknown, Url};
    for (word, expected) in [
        ("--data", Option(true)),
        ("--data=a", Option(false)),
        ("--sil", Option(false)),
        ("--no-keepalive", Option(false)),
        ("-sSLk", Option(false)),
        ("-sX", Option(true)),
        ("-XPOST", Option(false)),
        ("--users", Unknown),
        ("-", Url),
        ("http://h", Url),
    ] {
        assert_eq!(import::curl_word(word, false), expected, "{word}");
    }
    assert_eq!(import::curl_word("--sil", true), Unknown);
}

#[test]
fn every_prefix_and_suffix_is_read() {
    let text = "A=1; curl -sX POST -u a:b \"h/$A/{b,[1-3]}?c\" -F 'd=@e;type=f,g;filename=h' -F i=j;type=k -b 'l=m' \\\n -x n:1 --resolve o:1:2 --json '{\"p\": \"\\u0041\"}' $'q\\x41' | jq; curl ^\"r^\" ^\n -d @- <<E\nE\n";
    for (at, _) in text.char_indices() {
        for part in [&text[..at], &text[at..]] {
            import(part);
            let arguments: Vec<String> = part.split(' ').map(str::to_owned).collect();
            import::curl_command(&arguments, LOAD, &mut files);
        }
    }
}
