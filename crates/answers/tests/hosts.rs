//! Several similar watched hosts, one of which gets too little traffic: the reason, as far as the metrics show it.
// Each test binary uses only a part of the module `situations`.
mod situations;

use answers::rules;
use record::{Record, Series, Unit};
use situations::all::quiet;

/// Returns a run of one minute with watched hosts of these names and metrics, constant over all seconds.
fn watching(hosts: &[(&str, &str, f64)]) -> Record {
    let mut record = quiet();
    let series = |(host, metric, _): &(&str, &str, f64)| Series {
        host: (*host).into(),
        metric: (*metric).into(),
        unit: Unit::PerSecond,
    };
    record.series = hosts.iter().map(series).collect();
    for second in &mut record.seconds {
        second.watched = (0u32..).zip(hosts.iter().map(|host| host.2)).collect();
    }
    record.has.targets = true;
    record
}

/// Returns a run with gateways that receive `bytes` per second each, behind a proxy that repeats `repeats` connect
/// attempts.
fn gateways(bytes: &[f64], repeats: f64) -> Record {
    const NAMES: [&str; 3] = ["gateway-1", "gateway-2", "gateway-3"];
    let of = |(name, bytes): (&'static str, &f64)| (name, "net_received", *bytes);
    let mut hosts: Vec<_> = NAMES.into_iter().zip(bytes).map(of).collect();
    hosts.push(("proxy", "syn_retransmits", repeats));
    watching(&hosts)
}

fn said(record: &Record) -> (String, String) {
    let finding = rules::verdict(record).findings.into_iter().find(|one| one.id == "host_uneven");
    finding.map(|finding| (finding.words.en, finding.advice.en)).unwrap_or_default()
}

#[test]
fn a_host_that_cannot_be_reached_is_told_from_one_that_is_missing() {
    let (words, advice) = said(&gateways(&[1e6, 2e3], 0.4));
    assert!(words.contains("proxy repeats 0.40 attempts to connect each second"), "{words}");
    assert!(words.ends_with("gateway-2 is probably in its list and cannot be reached."), "{words}");
    assert!(advice.contains("network policy"), "{advice}");
    let (words, advice) = said(&gateways(&[1e6, 2e3], 0.0));
    assert!(words.starts_with("gateway-2 gets 0.2 %") && !words.contains("attempts"), "{words}");
    assert!(advice.contains("in the list") && advice.contains("ip_hash"), "{advice}");
}

#[test]
fn with_three_hosts_a_choice_by_address_is_told_from_one_that_is_missing() {
    let (words, advice) = said(&gateways(&[1e3, 1e6, 2e3], 0.0));
    assert!(words.starts_with("gateway-2 gets 99.7 % of the traffic"), "{words}");
    assert!(advice.contains("ip_hash") && advice.contains("--source"), "{advice}");
    let (words, advice) = said(&gateways(&[1e6, 1.1e6, 2e3], 0.0));
    assert!(words.ends_with("and the others share evenly."), "{words}");
    assert!(!advice.contains("ip_hash"), "{advice}");
    let (words, advice) = said(&gateways(&[1e6, 3e5, 2e3], 0.0));
    assert!(words.starts_with("gateway-3 gets") && advice.contains("ip_hash"), "{words} {advice}");
    assert_eq!(said(&gateways(&[1e6, 1e6, 8e5], 5.0)).0, "");
}

#[test]
fn the_repeats_of_a_host_itself_say_nothing_of_those_before_it() {
    let hosts = [
        ("gateway-1", "net_received", 1e6),
        ("gateway-2", "net_received", 2e3),
        ("gateway-1", "syn_retransmits", 0.4),
    ];
    let (words, _) = said(&watching(&hosts));
    assert!(words.starts_with("gateway-2 gets") && !words.contains("attempts"), "{words}");
}
