//! Backends that nobody asked about: named by the headers of kept answers, within a label.
// Each test binary uses its own part of the situations.
mod situations;

use std::sync::Arc;

use answers::rules;
use record::kept::Why;
use record::{Kept, Record};
use situations::all::quiet;
use stats::{Outcome, Phases};

/// A run with 60 answers that were kept at random: label, header line, ms, and whether the answer failed.
fn with_kept(of: impl Fn(usize) -> (u32, String, u64, bool)) -> Record {
    let mut record = quiet();
    record.labels.push(record.labels[0].clone());
    record.kept = (0..60)
        .map(|n| {
            let (label, line, ms, failed) = of(n);
            let text = |text: &str| -> Arc<str> { text.into() };
            Kept {
                why: Why::Random,
                label,
                cause: None,
                outcome: if failed { Outcome::Status } else { Outcome::Ok },
                start_ms: record.frame.start_ms,
                elapsed: ms * 1_000_000,
                phases: Phases::default(),
                code: text("200"),
                message: text("OK"),
                address: text("10.0.0.1:80"),
                reused: true,
                sent: 100,
                received: 100,
                request: text(""),
                response: format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n").into(),
            }
        })
        .collect();
    record
}

fn said(record: &Record) -> String {
    let verdict = rules::verdict(record);
    let found = verdict.findings.into_iter().find(|finding| finding.id == "backend_uneven");
    found.map(|finding| finding.words.en).unwrap_or_default()
}

#[test]
fn a_slow_backend_is_named_by_any_usual_header() {
    for header in ["X-Served-By: web-", "Via: 1.1 node", "Set-Cookie: JSESSIONID=***.r"] {
        let record = with_kept(|n| {
            let ill = n % 3 == 1;
            (0, format!("{header}{}", n % 3), if ill { 200 } else { 20 + n as u64 % 7 }, false)
        });
        let said = said(&record);
        let name = header.split_once(": ").map_or("", |(name, _)| name);
        assert!(said.starts_with(&format!("One of 3 backends is slow: {name}")), "{said}");
        assert!(said.contains("takes 200 ms at the median, the others 23 ms"), "{said}");
        assert!(said.contains("(20 of 60 answers kept"), "{said}");
    }
}

#[test]
fn a_failing_backend_is_named() {
    let record = with_kept(|n| (0, format!("X-Backend: b{}", n % 3), 20, n % 6 == 1));
    let said = said(&record);
    assert!(said.starts_with("One of 3 backends fails: X-Backend: b1 fails 50 %"), "{said}");
}

#[test]
fn two_services_of_a_plan_are_no_backends_of_each_other() {
    let record = with_kept(|n| {
        let slow = n % 2 == 1;
        (n as u32 % 2, format!("X-Served-By: s{}", n % 2), if slow { 300 } else { 10 }, false)
    });
    assert_eq!(said(&record), "");
}

#[test]
fn names_that_do_not_go_with_the_times_say_nothing() {
    let alike = with_kept(|n| (0, format!("X-Host: h{}", n % 2), 20 + n as u64 * 7 % 30, false));
    assert_eq!(said(&alike), "");
    // A few slow answers of one backend, and a name for each answer.
    let few = with_kept(|n| {
        (0, format!("X-Host: h{}", n % 2), if n % 10 == 1 { 300 } else { 20 }, false)
    });
    assert_eq!(said(&few), "");
    let each = with_kept(|n| (0, format!("X-Host: h{n}"), 20 + n as u64, false));
    assert_eq!(said(&each), "");
}
