use super::*;

fn reckoned(text: &str, load: u64) -> Reckoned {
    Chain::parse(text).unwrap_or_else(|m| panic!("{m:?}")).reckon(all(load))
}

/// Returns a load of WebSocket connections only.
fn all(connections: u64) -> Load {
    Load { connections, http: 0 }
}

/// Four proxies with 40,000 local ports each and five upstreams can open 800,000 connections. A team that wanted a
/// million was stuck 10 % below that, because connections are not distributed evenly.
#[test]
fn a_chain_of_four_proxies_and_five_upstreams_ends_at_800_000() {
    let r = reckoned("nginx*4:21000-61000 -> ingress*5", 1_000_000);
    assert_eq!(r.capacity, 800_000);
    assert_eq!(r.severity(), Severity::TooSmall);
    let text = r.text();
    assert!(text.contains("nginx -> ingress runs out first, at 800 000 connections"), "{text}");
    assert!(text.contains("4 x 1 address x 40 000 ports x 5 = 800 000"), "{text}");
    assert!(text.contains("each nginx needs 500 000 descriptors"), "{text}");
    assert_eq!(reckoned("nginx*4:21000-60999 -> ingress*5", 720_001).severity(), Severity::Tight);
    assert_eq!(reckoned("nginx*4:21000-60999 -> ingress*5", 500_000).severity(), Severity::Fits);
}

/// Improvements that raise the capacity above 1.2 million: all ports, or 11000-61000 with one more proxy or upstream.
/// The range 11000-61000 alone gives exactly a million, without a reserve.
#[test]
fn what_lifts_the_chain_above_a_million() {
    let capacity = |text| reckoned(text, 1_000_000).capacity;
    assert_eq!(capacity("nginx*4:1024-65535 -> ingress*5"), 1_290_240);
    assert_eq!(capacity("nginx*5:11000-61000 -> ingress*5"), 1_250_000);
    assert_eq!(capacity("nginx*4:11000-61000 -> ingress*6"), 1_200_000);
    let alone = reckoned("nginx*4:11000-61000 -> ingress*5", 1_000_000);
    assert_eq!((alone.capacity, alone.severity()), (1_000_000, Severity::Tight));
    let before = reckoned("nginx*4:21000-61000 -> ingress*5", 1_000_000);
    assert_eq!(
        before.remedies,
        [
            "ip_local_port_range 1024-65535 on nginx: 1 290 240",
            "one more nginx (5): 1 000 000",
            "one more ingress (6): 960 000",
            "one more address on each nginx (2): 1 600 000",
        ]
    );
}

#[test]
fn the_hop_that_runs_out_first_is_named_wherever_it_stands() {
    let chain = "nginx*4:21000-61000 -> ingress*5 -> gateway*3:32768-60999 -> pods*10";
    let r = reckoned(chain, 1_000_000);
    assert_eq!((r.first_out, r.capacity), (0, 800_000));
    let capacities: Vec<_> = r.links.iter().map(|l| (l.capacity, l.told, l.severity)).collect();
    let (tight, small) = (Severity::Tight, Severity::TooSmall);
    assert_eq!(
        capacities,
        [(800_000, true, small), (423_480, false, tight), (846_960, true, small)]
    );
    assert!(r.text().contains("(no range was given)"), "{}", r.text());
    let wider = chain.replace("21000-61000", "1024-65535");
    let r = reckoned(&wider, 1_000_000);
    assert_eq!((r.first_out, r.capacity), (2, 846_960));
    assert!(r.text().contains("gateway -> pods runs out first, at 846 960"), "{}", r.text());
    // If no port range is defined, all links use the default range and all of them are compared.
    let r = reckoned("a*2 -> b -> c", 1);
    assert_eq!((r.first_out, r.capacity, r.severity()), (1, 28_232, Severity::Fits));
    assert_eq!(reckoned("a:1-65535 -> b -> c:1-10 -> d", 100).first_out, 2);
}

#[test]
fn hops_may_be_told_in_any_order_and_spacing() {
    let hop = |name: &str, instances, addresses, ports| Hop {
        name: name.into(),
        instances,
        addresses,
        ports,
        nginx: None,
        memory: None,
        processors: None,
    };
    let chain = Chain::parse(" nginx*4x2:1-9→a-b.c_d : 10-20 * 3->x x2 ->  pods").unwrap();
    assert_eq!(
        chain.0,
        [
            hop("nginx", 4, 2, Some((1, 9))),
            hop("a-b.c_d", 3, 1, Some((10, 20))),
            hop("x", 1, 2, None),
            hop("pods", 1, 1, None),
        ]
    );
    assert_eq!(reckoned("a*2x3:1-10 -> b*4", 1).capacity, 2 * 3 * 10 * 4);
    assert_eq!(reckoned("a*1000000x1000000:1-65535 -> b*1000000", 1).capacity, u64::MAX);
}

/// Each row has the description of a chain, the position of the error, and a part of the message.
#[test]
fn mistakes_are_shown_where_they_are() {
    let table = [
        ("", 0, "the name of a hop"),
        ("nginx*4", 7, "at least two hops"),
        ("nginx ->", 8, "the name of a hop"),
        ("-> pods", 0, "the name of a hop"),
        ("nginx* -> pods", 7, "expected the number of instances"),
        ("nginx*0 -> pods", 6, "from 1 to 1000000"),
        ("nginx*99999999999999999999 -> pods", 6, "expected the number of instances"),
        ("nginx*4*5 -> pods", 7, "nginx has this already"),
        ("nginx x -> pods", 8, "addresses of each instance"),
        ("nginx:61000 -> pods", 6, "such as 21000-61000"),
        ("nginx:0-61000 -> pods", 6, "from 1 to 65535"),
        ("nginx:1-65536 -> pods", 6, "from 1 to 65535"),
        ("nginx:61000-21000 -> pods", 6, "above the last"),
        ("nginx:1-2, -> pods", 9, "expected -> and the next hop"),
        ("nginx > pods", 6, "expected -> and the next hop"),
        ("nginx -> é*3 -> 😀", 17, "the name of a hop"),
        ("nginx conf=/nowhere/n -> pods", 11, "cannot read /nowhere/n"),
        ("nginx memory=many -> pods", 13, "such as 64G"),
        ("nginx memory=64 -> pods", 13, "needs a unit (K, M, G or T), for example memory=64G"),
        ("nginx memory=64G -> pods", 17, "conf=nginx.conf"),
        ("nginx memory=68719476736 -> pods", 25, "conf=nginx.conf"),
    ];
    for (text, at, words) in table {
        let mistake = Chain::parse(text).expect_err(text);
        assert!(mistake.message.contains(words), "{text}: {mistake:?}");
        assert_eq!(mistake.at, at, "{text}: {mistake:?}");
    }
}

/// Returns the results for a chain whose first hop has this configuration, for a million connections over four
/// instances.
fn with_conf(conf: &str, hop: &str, http: u64) -> Reckoned {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, conf).expect("written");
    let text = format!("nginx*4:1024-65535 conf='{}' {hop} -> ingress*5", file.display());
    let chain = Chain::parse(&text).unwrap_or_else(|m| panic!("{m:?}"));
    chain.reckon(Load { connections: 1_000_000, http })
}

const LARGE: &str = "worker_processes 32; worker_rlimit_nofile 1000000; \
    events { worker_connections 1000000; } http { server { location / { proxy_pass http://up; ";

/// Measured by a team: 32 workers that allocate a million connections each took 14 GB before the first connection. With
/// large buffers and slow readers, a machine of 128 GB ran out of memory. With small buffers, it took 20 GB.
#[test]
fn memory_of_a_proxy_is_allocated_ahead_and_grows_with_slow_readers() {
    let large = format!("{LARGE} proxy_buffer_size 64k; proxy_buffers 8 64k; }} }} }}");
    let r = with_conf(&large, "memory=128G", 1_000_000);
    let hop = &r.hops[0];
    assert_eq!(hop.before, 32 * (432_000_000 + (4 << 20)));
    assert_eq!((hop.connections_each, hop.slow_each), (250_000, 8 << 16));
    assert_eq!((hop.severity, r.severity()), (Severity::TooSmall, Severity::TooSmall));
    assert_eq!((r.runs_out.hop.as_str(), r.runs_out.of), ("nginx", "memory"));
    assert_eq!(r.capacity, hop.capacity.expect("a capacity"));
    assert!(r.capacity < 1_000_000, "{r:?}");
    let text = r.text();
    for words in [
        "too small memory of nginx: 128 GiB each, needed ",
        "13 GiB before the first connection: 32 workers x 1 000 000 worker_connections x 432 bytes",
        "nginx runs out of memory first, at ",
        "-> worker_connections 19531: ",
        "-> proxy_buffering off, proxy_buffer_size 4k: 20 GiB in all",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let small =
        format!("{LARGE} proxy_buffering off; proxy_buffer_size 4k; proxy_buffers 4 8k; }} }} }}");
    let r = with_conf(&small, "memory=64G", 1_000_000);
    let hop = &r.hops[0];
    assert_eq!((hop.severity, hop.slow), (Severity::Fits, 0));
    // 19 to 21 GiB: the measured value plus the kernel's sockets.
    assert!((19..=21).contains(&((hop.before + hop.held) >> 30)), "{hop:?}");
    assert_eq!(r.runs_out.of, "local ports");
}

/// If the assumed local ports run out before the memory, the message names them, as an assumption.
#[test]
fn assumed_ports_that_end_first_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, "worker_processes 2; events { worker_connections 1000000; }")
        .expect("written");
    let r = reckoned(&format!("nginx*4 conf='{}' memory=64G -> ingress*5", file.display()), 1_000);
    assert_eq!((r.runs_out.of, r.capacity), ("local ports", 564_640));
    let words =
        "nginx -> ingress runs out first, at 564 640 connections, if its ports are Linux's default";
    assert!(r.text().contains(words), "{}", r.text());
}

#[test]
fn upgraded_connections_have_a_buffer_each_way_and_no_others() {
    let large = format!("{LARGE} proxy_buffer_size 64k; proxy_buffers 8 64k; }} }} }}");
    let hop = &with_conf(&large, "memory=64G", 0).hops[0];
    assert_eq!((hop.slow_each, hop.severity), (1 << 16, Severity::Fits));
    assert_eq!(hop.slow, 250_000 << 16);
}

const STREAM: &str = "worker_processes 32; events { worker_connections 1000000; } \
    stream { upstream up { server a:1; } server { listen 443; proxy_pass up; ";

/// A `stream` session has two buffers. Measured with nginx 1.22: 33.6 KB with full buffers of 16 KiB, 9.6 KB with full
/// buffers of 4 KiB, and 9.3 KB before any data in both cases.
#[test]
fn sessions_of_stream_have_two_buffers() {
    let r = with_conf(&format!("{STREAM} }} }}"), "memory=16G", 0);
    let hop = &r.hops[0];
    let kernel = 10 << 10;
    assert_eq!((hop.stream, hop.slow_each), (true, 24 << 10));
    assert_eq!(hop.held, 250_000 * ((10 << 10) + kernel));
    assert_eq!((hop.severity, r.runs_out.of), (Severity::TooSmall, "memory"));
    assert_eq!(hop.connections, Some(4 * 32 * 1_000_000 / 2), "as many as of http");
    let text = r.text();
    for words in [
        " for 250 000 sessions of its own, the kernel's sockets included\n",
        "more while readers are slow: 24 KiB of buffers a session of stream; ",
        "-> proxy_buffer_size 4k in stream: ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let small =
        &with_conf(&format!("{STREAM} proxy_buffer_size 4k; }} }}"), "memory=64G", 0).hops[0];
    assert_eq!((small.slow, small.held, small.advice.len()), (0, hop.held, 0));
    // The memory of a `stream` session is the same whether or not it carries HTTP.
    let http = with_conf(&format!("{STREAM} }} }}"), "memory=16G", 1_000_000);
    assert_eq!((http.hops[0].held, http.hops[0].slow), (hop.held, hop.slow));
}

#[test]
fn of_http_and_stream_the_larger_buffers_count() {
    let http = "http { server { location / { proxy_pass http://up; proxy_buffers 8 64k; } } }";
    let both = format!("{STREAM} }} }} {http}");
    assert!(!with_conf(&both, "", 1_000_000).hops[0].stream);
    let both = format!("{STREAM} proxy_buffer_size 1m; }} }} {http}");
    assert!(with_conf(&both, "", 1_000_000).hops[0].stream);
}

#[test]
fn a_proxy_that_lets_too_few_connections_through_is_named() {
    let conf = "worker_processes auto; events { worker_connections 10240; }";
    let r = with_conf(conf, "cpus=8", 0);
    assert_eq!(r.hops[0].connections, Some(4 * 8 * 10_240 / 2));
    assert_eq!((r.runs_out.of, r.capacity), ("worker_connections", 163_840));
    assert_eq!(r.severity(), Severity::TooSmall);
    let text = r.text();
    assert!(text.contains("too small connections of nginx: 163 840 "), "{text}");
    assert!(text.contains("-> worker_connections 78125\n"), "{text}");
}

/// Without processors the number of workers is unknown. Without memory, the memory is not judged.
#[test]
fn what_is_not_known_of_a_proxy_does_not_fit() {
    let conf = "worker_processes auto; events { worker_connections 10240; }";
    let r = with_conf(conf, "", 0);
    assert_eq!((r.hops[0].workers, r.severity()), (None, Severity::Tight));
    assert_eq!(r.not_judged(), ["memory of nginx", "connections of nginx"]);
    let text = r.text();
    for words in [
        "  unknown   memory of nginx: needed ",
        "each, not judged: give memory=SIZE",
        "  unknown   connections of nginx: worker_processes is auto: give cpus=N\n",
        "  of what is judged, nginx -> ingress runs out first, at ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // More nginx workers need more memory.
    let r = with_conf(conf, "memory=64G", 0);
    assert_eq!(r.not_judged(), ["memory of nginx", "connections of nginx"]);
    assert!(r.text().contains("  unknown   memory of nginx: 64 GiB each, needed at least "));
    let r = with_conf(conf, "memory=1G", 0);
    assert_eq!((r.not_judged().len(), r.severity()), (1, Severity::TooSmall));
    // If one worker is enough, the number of workers does not matter.
    let one = "worker_processes auto; events { worker_connections 1000000; }";
    let r = with_conf(one, "", 0);
    assert_eq!(r.not_judged(), ["memory of nginx"]);
    let r = with_conf("worker_processes 50; events { worker_connections 65536; }", "", 0);
    assert_eq!((r.severity(), r.not_judged().len()), (Severity::Fits, 1));
    assert!(!r.text().contains("fits      memory"), "{}", r.text());
}

#[test]
fn only_what_is_short_is_advised() {
    let advised = |files: &str, connections: u64| {
        let conf =
            format!("worker_processes 32; {files} events {{ worker_connections {connections}; }}");
        let r = with_conf(&conf, "", 0);
        (r.hops[0].advice.clone(), r.runs_out.of)
    };
    let (files, both) =
        ("worker_rlimit_nofile 19531", "worker_connections 19531 and worker_rlimit_nofile 19531");
    let low = "worker_rlimit_nofile 1000;";
    assert_eq!(advised(low, 100_000), (vec![files.to_owned()], "worker_rlimit_nofile"));
    assert_eq!(advised(low, 2000), (vec![both.to_owned()], "worker_rlimit_nofile"));
    let connections = (vec!["worker_connections 19531".to_owned()], "worker_connections");
    assert_eq!(advised("worker_rlimit_nofile 100000;", 1000), connections);
    assert_eq!(advised("", 1000), connections);
}

#[test]
fn includes_that_are_not_here_are_named() {
    let r = with_conf("http { include conf.d/*.conf; include mime.types; }", "", 0);
    assert_eq!(r.hops[0].absent_includes, ["conf.d/*.conf", "mime.types"]);
    let words = "no file here fits these includes: conf.d/*.conf, mime.types\n";
    assert!(r.text().contains(words), "{}", r.text());
    let many: Vec<_> = (0..15).map(|n| format!("include {n}.conf;")).collect();
    assert!(with_conf(&many.join(" "), "", 0).text().contains(", 9.conf, 5 more\n"));
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "[a-x*:0-9> →-]{0,40}") {
        match Chain::parse(&text) {
            Ok(chain) => { chain.reckon(all(1_000_000)).text(); }
            Err(mistake) => assert!(text.is_char_boundary(mistake.at)),
        }
    }
}
