use proptest::prelude::*;

use super::reading::{Texts, Ticks, page_of};
use super::sockets::{Sockets, StateCount};
use super::*;
use crate::control_group::Limit;

/// Returns files of /proc that were recorded on Linux 6.18 with a million connections on loopback. Long rows are cut to
/// the columns that are read and a few neighbours.
fn saved() -> Texts {
    Texts {
        sockstat: "sockets: used 2000315\nTCP: inuse 1000052 orphan 3 tw 17 alloc 1000113 mem 182\nUDP: inuse 2 mem 0\n"
            .into(),
        sockstat6: "TCP6: inuse 5\nUDP6: inuse 1\n".into(),
        snmp: "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
               Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n\
               Tcp: 1 200 120000 -1 821480 231376 589918 29469 1999996 170027258 170008230 9345 0 612564 0\n"
            .into(),
        netstat: "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPAbortOnClose TCPAbortOnMemory TCPAbortOnTimeout TCPMemoryPressures TCPTimeWaitOverflow TCPFromZeroWindowAdv TCPToZeroWindowAdv TCPWantZeroWindowAdv TCPSynRetrans\n\
                  TcpExt: 0 9304 9310 8813 4 2 1 6 1110 1111 922009 104\n\
                  IpExt: InNoRoutes\nIpExt: 0\n"
            .into(),
        loadavg: "200.13 0.59 0.73 2/88 18976\n".into(),
        stat: "cpu  1000 100 400 8000 500 0 60 40 7 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\ncpufreq 1\n".into(),
        meminfo: "MemTotal:       24684092 kB\nMemFree:  9161176 kB\nMemAvailable:   23939104 kB\n".into(),
        port_range: "1024\t65530\n".into(),
    }
}

#[test]
fn every_figure_is_found_in_saved_text() {
    let reading = Reading::of(&saved(), 4096);
    assert_eq!(
        reading.sockets,
        Sockets {
            in_use: 1_000_057,
            established: 1_999_996,
            time_wait: 17,
            orphans: 3,
            allocated: 1_000_113,
            memory: 182 * 4096,
            states_from: "sums",
            states: Vec::new(),
        }
    );
    let tcp = reading.tcp;
    assert_eq!(
        (tcp.segments_out, tcp.retransmitted, tcp.resets_sent),
        (170_008_230, 9345, 612_564)
    );
    assert_eq!((tcp.zero_windows_left, tcp.zero_windows_offered), (1110, 1111));
    assert_eq!((tcp.zero_windows_wanted, tcp.syn_retransmitted), (922_009, 104));
    assert_eq!((tcp.listen_overflows, tcp.listen_drops), (9304, 9310));
    assert_eq!((tcp.aborted_unread, tcp.aborted_memory, tcp.aborted_timeout), (8813, 4, 2));
    assert_eq!((tcp.memory_pressures, tcp.time_wait_overflows), (1, 6));
    assert_eq!(reading.ticks, Ticks { all: 10_100, busy: 1600, stolen: 40 });
    assert_eq!((reading.processors, reading.local_ports), (2, 64_507));
    assert!((reading.load - 200.13).abs() < 1e-9);
    assert_eq!(reading.memory_available, 23_939_104 * 1024);
}

#[test]
fn a_second_is_the_difference_of_two_readings() {
    let before = Reading::of(&saved(), 4096);
    let mut texts = saved();
    texts.netstat = texts.netstat.replace(" 1111 ", " 1151 ");
    texts.snmp = texts.snmp.replace(" 170008230 9345 ", " 170009230 9445 ");
    texts.stat = "cpu  1150 100 400 8050 500 0 60 40 7 0\n".into();
    let machine = Machine::between(&before, &Reading::of(&texts, 4096));
    assert_eq!((machine.segments_out, machine.retransmitted), (1000, 100));
    assert_eq!((machine.zero_windows_offered, machine.zero_windows_left), (40, 0));
    assert!((machine.cpu - 0.75).abs() < 1e-9, "{}", machine.cpu);
    let back = Machine::between(&Reading::of(&texts, 4096), &before);
    assert_eq!(back.zero_windows_offered, 0, "counters that were set back count nothing");
}

#[test]
fn states_are_counted_from_the_table() {
    let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n\
                 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n\
                 1: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0\n\
                 2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0\n\
                 3: 0100007F:1F90 0100007F:C002 FF nonsense\n4: x y\n5: a b 00\n";
    let six = "header\n0: 0:0 0:0 06 0\n";
    let mut sockets = Sockets::default();
    sockets.count_states(&[table, six, ""]);
    let count = |state, count| StateCount { state, count };
    assert_eq!(sockets.states_from, "table");
    assert_eq!(
        sockets.states,
        [count("ESTABLISHED", 2), count("TIME_WAIT", 1), count("LISTEN", 1)]
    );
}

#[test]
fn missing_files_and_odd_numbers_are_nothing() {
    assert_eq!(
        Reading::of(&Texts::default(), 4096),
        Reading {
            sockets: Sockets { states_from: "sums", ..Sockets::default() },
            ..Reading::default()
        }
    );
    let huge = "99999999999999999999999999";
    let texts = Texts {
        sockstat: format!("TCP: inuse -1 tw {huge} mem 18446744073709551615 orphan"),
        snmp: "Tcp: OutSegs CurrEstab\nTcp: 7".into(),
        netstat: "TcpExt: ListenDrops\n".into(),
        loadavg: "NaN".into(),
        stat: format!("cpu  18446744073709551615 18446744073709551615 {huge}"),
        meminfo: "MemTotal: 18446744073709551615 kB\nMemAvailable: much\n".into(),
        port_range: "61000 11000".into(),
        ..Texts::default()
    };
    let reading = Reading::of(&texts, 65_536);
    assert_eq!((reading.sockets.in_use, reading.sockets.time_wait), (0, 0));
    assert_eq!((reading.tcp.segments_out, reading.sockets.established), (7, 0));
    assert_eq!((reading.load, reading.local_ports), (0.0, 0));
    assert_eq!((reading.memory_total, reading.memory_available), (u64::MAX, 0));
    assert_eq!(text::ports("1024 65536"), 0);
    assert_eq!(text::ports("5000 5000"), 1);
}

#[test]
fn the_size_of_a_page_is_in_the_auxiliary_vector() {
    let word = |n: usize| n.to_ne_bytes().to_vec();
    let auxv = [word(33), word(1), word(6), word(65_536), word(0), word(0)].concat();
    assert_eq!(page_of(&auxv), 65_536);
    assert_eq!(page_of(&auxv[..20]), 4096);
    assert_eq!(page_of(&[word(6), word(3)].concat()), 4096);
}

#[test]
fn this_machine_can_be_read() {
    let mut watch = Watch::start();
    let machine = watch.look();
    assert!(machine.processors > 0 && machine.memory_total > 0, "{machine:?}");
    assert!((0.0..=1.0).contains(&machine.cpu));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_is_too_odd(text in ".{0,200}", line in prop::sample::select(vec!["TCP:", "Tcp:", "TcpExt:", "cpu ", "MemTotal:"]), at in any::<prop::sample::Index>()) {
        let text = format!("{line}{text}\n{line} {text}");
        let mut cut = at.index(text.len() + 1);
        while !text.is_char_boundary(cut) { cut -= 1; }
        let text = text[..cut].to_string();
        let texts = Texts {
            sockstat: text.clone(), sockstat6: text.clone(), snmp: text.clone(), netstat: text.clone(),
            loadavg: text.clone(), stat: text.clone(), meminfo: text.clone(), port_range: text.clone(),
        };
        let reading = Reading::of(&texts, 4096);
        let machine = Machine::between(&Reading::default(), &reading);
        prop_assert!(machine.cpu <= 1.0 && machine.load >= 0.0);
        let mut sockets = reading.sockets;
        sockets.count_states(&[&text]);
    }
}

#[test]
fn memory_is_that_of_a_control_group_with_a_lower_limit() {
    let machine = Reading { memory_total: 5000, memory_available: 4000, ..Reading::default() };
    let memory = |limit: Option<Limit>| {
        let reading = machine.clone().within(limit);
        (reading.memory_total, reading.memory_available)
    };
    assert_eq!(memory(Some(Limit { most: 1000, used: 400 })), (1000, 600));
    assert_eq!(memory(Some(Limit { most: 1000, used: 1200 })), (1000, 0));
    assert_eq!(memory(Some(Limit { most: 9000, used: 400 })), (5000, 4000));
    assert_eq!(memory(None), (5000, 4000));
}
