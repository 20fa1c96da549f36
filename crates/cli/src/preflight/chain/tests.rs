use super::*;

fn reckoned(text: &str, load: u64) -> Reckoned {
    Chain::parse(text).unwrap_or_else(|m| panic!("{m:?}")).reckon(load)
}

/// Four proxies with 40 000 local ports each before five upstreams end at 800 000 connections; that is where a team
/// that wanted a million stood still, 10 % earlier, as connections are not spread evenly.
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

/// Remedies that lift it above 1.2 million: all ports, or 11000-61000 with one proxy or upstream more. That range alone is
/// a million, with nothing to spare.
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
    // Where no ports were told, all count as usual.
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

/// Each row: the text, where the mistake is, and words of the diagnosis.
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
    ];
    for (text, at, words) in table {
        let mistake = Chain::parse(text).expect_err(text);
        assert!(mistake.message.contains(words), "{text}: {mistake:?}");
        assert_eq!(mistake.at, at, "{text}: {mistake:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "[a-x*:0-9> →-]{0,40}") {
        match Chain::parse(&text) {
            Ok(chain) => { chain.reckon(1_000_000).text(); }
            Err(mistake) => assert!(text.is_char_boundary(mistake.at)),
        }
    }
}
