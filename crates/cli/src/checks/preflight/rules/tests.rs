use super::super::place::{Place, Surroundings};
use super::Severity::{Fits, Tight, TooSmall};
use super::*;

/// Returns a machine with sufficient limits: a hardened server with 2 processors and 24 GiB, but with raised
/// limits.
fn host() -> Host {
    Host {
        descriptors: 20_000,
        files_open: 449,
        file_max: 12_000_000,
        ports: (32_768, 60_999),
        ports_reserved: 0,
        time_wait: 0,
        time_wait_reuse: 0,
        somaxconn: 65_535,
        syn_backlog: 65_535,
        tcp_mem: [1_000_000, 2_000_000, 3_000_000],
        tcp_rmem: [4096, 131_072, 6 << 20],
        tcp_wmem: [4096, 16_384, 4 << 20],
        page: 4096,
        conntrack: None,
        orphans_max: 2_000_000,
        time_wait_max: 2_000_000,
        threads: 88,
        threads_max: 32_768,
        threads_kernel: 192_730,
        nr_open: 1 << 20,
        machine_memory: 24 << 30,
        memory_total: 24 << 30,
        memory_available: 23 << 30,
        processors: 2,
        quota: 0,
        file_size: 0,
        is_pod: false,
        surroundings: Surroundings::default(),
    }
}

fn demand(websockets: u64) -> Demand {
    Demand {
        users: websockets,
        websockets,
        destinations: ["server:80".to_string()].into(),
        sources: 1,
        per_second: Some(5000.0),
        ..Demand::default()
    }
}

fn find<'f>(findings: &'f [Finding], what: &str) -> &'f Finding {
    findings
        .iter()
        .find(|f| f.what == what)
        .unwrap_or_else(|| panic!("{what} is not in {findings:?}"))
}

#[test]
fn a_small_load_fits_everywhere_and_asks_for_nothing() {
    let small = Host { somaxconn: 128, syn_backlog: 128, file_max: 10_000, ..host() };
    for finding in findings(&demand(50), &small) {
        assert_eq!(finding.severity, Severity::Fits, "{finding:?}");
        assert_eq!(finding.change, None, "{finding:?}");
    }
    assert_eq!(findings(&Demand::default(), &host()), []);
}

#[test]
fn what_cannot_be_read_is_passed_over() {
    let known = findings(&demand(1_000_000), &Host::default());
    assert!(known.iter().all(|f| f.severity == Severity::Fits), "{known:?}");
}

/// A test case: its name, a modification of a setup that passes all checks, and the expected finding with its severity
/// and its command.
type Row = (&'static str, fn(&mut Demand, &mut Host), &'static str, Severity, Option<&'static str>);

fn check(table: &[Row]) {
    for (name, change, what, severity, command) in table {
        let (mut demand, mut host) = (demand(20_000), host());
        change(&mut demand, &mut host);
        let findings = findings(&demand, &host);
        let found = find(&findings, what);
        assert_eq!(found.severity, *severity, "{name}: {found:?}");
        assert_eq!(
            found.change.as_ref().map(super::Change::command).as_deref(),
            *command,
            "{name}"
        );
        let says_what_to_do = found.change.is_some() || found.advice.is_some();
        assert!(*severity == Fits || says_what_to_do, "{name}: {found:?}");
    }
}

#[test]
fn each_limit_of_files_and_threads_is_found() {
    check(&[
        (
            "files",
            |_, h| h.file_max = 20_000,
            "open files of the machine",
            TooSmall,
            Some("sysctl -w fs.file-max=25811"),
        ),
        (
            "files nearly",
            |_, h| h.file_max = 21_000,
            "open files of the machine",
            Tight,
            Some("sysctl -w fs.file-max=25811"),
        ),
        ("threads", |_, h| h.threads_max = 90, "threads of the machine", TooSmall, None),
    ]);
}

#[test]
fn each_limit_of_local_ports_is_found() {
    const MORE_PORTS: Option<&str> = Some("sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"");
    check(&[
        ("ports", |d, _| d.websockets = 30_000, "local ports", TooSmall, MORE_PORTS),
        (
            "two destinations",
            |d, _| {
                d.websockets = 30_000;
                d.destinations.insert("server:81".into());
            },
            "local ports",
            Fits,
            None,
        ),
        ("two sources", |d, _| (d.websockets, d.sources) = (30_000, 2), "local ports", Fits, None),
        ("TIME_WAIT", |_, h| h.time_wait = 9_000, "local ports", Tight, MORE_PORTS),
        (
            "TIME_WAIT, taken again",
            |_, h| (h.time_wait, h.time_wait_reuse) = (9_000, 1),
            "local ports",
            Fits,
            None,
        ),
        (
            "TIME_WAIT, taken again on this machine alone",
            |_, h| (h.time_wait, h.time_wait_reuse) = (9_000, 2),
            "local ports",
            Tight,
            MORE_PORTS,
        ),
        ("reserved", |_, h| h.ports_reserved = 7_000, "local ports", Tight, MORE_PORTS),
    ]);
}

#[test]
fn each_limit_of_listeners_and_the_firewall_is_found() {
    check(&[
        ("somaxconn elsewhere", |_, h| h.somaxconn = 128, "backlog of listeners", Fits, None),
        (
            "somaxconn here",
            |d, h| (d.local, h.somaxconn) = (true, 128),
            "backlog of listeners",
            Tight,
            Some("sysctl -w net.core.somaxconn=6250"),
        ),
        (
            "somaxconn at once",
            |d, h| (d.local, d.per_second, h.somaxconn) = (true, None, 128),
            "backlog of listeners",
            Tight,
            Some("sysctl -w net.core.somaxconn=25000"),
        ),
        (
            "SYN here",
            |d, h| (d.local, h.syn_backlog) = (true, 128),
            "half-open connections",
            Tight,
            Some("sysctl -w net.ipv4.tcp_max_syn_backlog=6250"),
        ),
        (
            "conntrack",
            |_, h| h.conntrack = Some((500, 20_100)),
            "connections tracked by the firewall",
            TooSmall,
            Some("sysctl -w net.netfilter.nf_conntrack_max=25625"),
        ),
        (
            "conntrack fits",
            |_, h| h.conntrack = Some((500, 262_144)),
            "connections tracked by the firewall",
            Fits,
            None,
        ),
    ]);
}

#[test]
fn connections_out_of_a_cluster_share_the_ports_of_the_node() {
    let to = |n, to: &str| Demand { destinations: [to.to_owned()].into(), ..demand(n) };
    let outside = |n| to(n, "shop.example:443");
    let wide = Host { is_pod: true, ports: (1024, 65_535), ..host() };
    let here = |demand: &Demand, host: &Host| {
        findings(demand, host).into_iter().find(|found| found.what == "ports of the node")
    };
    let found = here(&outside(20_000), &wide).expect("a finding");
    assert_eq!((found.severity, found.advice), (Fits, None));
    let found = here(&outside(70_000), &wide).expect("a finding");
    assert_eq!(found.severity, Tight, "its own ports say that it cannot be: {found:?}");
    assert!(found.advice.is_some_and(|advice| advice.contains("hostNetwork")));
    for inside in ["shop:80", "shop.default.svc:80", "shop.default.svc.cluster.local:443"] {
        assert_eq!(here(&to(70_000, inside), &wide), None, "{inside}");
    }
    assert_eq!(here(&Demand { local: true, ..outside(70_000) }, &wide), None);
    assert_eq!(here(&outside(70_000), &host()), None, "no pod");
}

#[test]
fn each_limit_of_memory_and_closing_is_found() {
    check(&[
        (
            "tcp_mem",
            |_, h| h.tcp_mem = [1000, 2000, 3000],
            "memory of TCP",
            TooSmall,
            Some("sysctl -w net.ipv4.tcp_mem=\"15000 20000 30000\""),
        ),
        (
            "tcp_mem nearly",
            |_, h| h.tcp_mem = [1000, 2000, 6000],
            "memory of TCP",
            Tight,
            Some("sysctl -w net.ipv4.tcp_mem=\"15000 20000 30000\""),
        ),
        ("memory", |_, h| h.memory_available = 100 << 20, "memory", TooSmall, None),
        ("rate", |d, _| d.per_second = Some(40_000.0), "processors, for opening", TooSmall, None),
        (
            "orphans",
            |_, h| h.orphans_max = 8192,
            "closing connections",
            Tight,
            Some("sysctl -w net.ipv4.tcp_max_orphans=25000"),
        ),
        (
            "TIME_WAIT buckets",
            |_, h| h.time_wait_max = 8192,
            "connections in TIME_WAIT",
            Tight,
            Some("sysctl -w net.ipv4.tcp_max_tw_buckets=25000"),
        ),
    ]);
}

#[test]
fn more_workers_than_processors_can_run_are_too_many() {
    let found = |users, workers| {
        let demand = Demand { workers, ..demand(users) };
        let host = Host { descriptors: 20_000, ..host() };
        let findings = findings(&demand, &host);
        let descriptors = find(&findings, "descriptors of all processes");
        (descriptors.severity, descriptors.advice.clone().unwrap_or_default())
    };
    let (severity, advice) = found(9_000_000, None);
    assert_eq!(severity, Severity::TooSmall);
    assert!(advice.starts_with("457 worker processes are too many for 2 processors: "), "{advice}");
    assert_eq!(found(1_000_000, None).0, Severity::Fits);
    assert_eq!(found(9_000_000, Some(457)).0, Severity::Fits, "asked for");
}

/// A million users on one machine with 20,000 descriptors per process, against a target on the same machine.
#[test]
fn a_million_takes_workers_addresses_and_room() {
    let demand = Demand { local: true, ..demand(1_000_000) };
    let host = Host { file_max: 2_466_186, ports: (1024, 65_530), ..host() };
    let findings = findings(&demand, &host);
    assert_eq!(workers(&demand, &host), 51);
    let descriptors = find(&findings, "descriptors of all processes");
    assert_eq!(descriptors.severity, Severity::Fits);
    assert!(descriptors.why.contains("51 worker processes by itself"), "{descriptors:?}");
    let given = super::findings(&Demand { workers: Some(51), ..demand.clone() }, &host);
    let descriptors = find(&given, "descriptors of all processes");
    assert!(descriptors.why.contains("51 worker processes, "), "{descriptors:?}");
    assert_eq!(find(&findings, "open files of the machine").severity, Severity::Fits);
    let ports = find(&findings, "local ports");
    assert_eq!((ports.severity, ports.now.starts_with("64 506 ")), (Severity::TooSmall, true));
    let advice = ports.advice.as_deref().unwrap_or_default();
    assert!(
        advice.starts_with("both are needed: with that range, also connect from 17 addresses: -Jthrong.source.addresses=127.0.0.2-"),
        "{advice}"
    );
    let memory = find(&findings, "memory");
    assert_eq!(memory.severity, Severity::Fits);
    // 1 KiB per user in user space, and 5 KiB of kernel memory for each end of the connection.
    assert!(
        memory.needed.starts_with("11 GiB (1.6 GiB of this program, 9.5 GiB of the kernel"),
        "{memory:?}"
    );
    let seventeen = Demand { sources: 17, ..demand };
    assert_eq!(find(&super::findings(&seventeen, &host), "local ports").severity, Severity::Tight);
    let twenty = Demand { sources: 20, ..seventeen };
    assert_eq!(find(&super::findings(&twenty, &host), "local ports").severity, Severity::Fits);
}

#[test]
fn tls_takes_ten_times_the_memory_and_more_of_the_processors() {
    let demand = Demand { websockets: 0, secure_websockets: 100_000, ..demand(0) };
    let findings = findings(&demand, &host());
    let memory = find(&findings, "memory");
    assert!(memory.needed.contains("1.0 GiB of this program"), "{memory:?}");
    assert_eq!(find(&findings, "processors, for opening").severity, Severity::TooSmall);
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let most = u64::MAX / 1_000_000;
    let demand = Demand {
        https: 1_000_000_000,
        sources: most,
        per_second: Some(f64::MAX),
        local: true,
        ..demand(1_000_000_000)
    };
    let host = Host {
        ports: (1, 65_535),
        conntrack: Some((u64::MAX, u64::MAX)),
        files_open: u64::MAX,
        file_max: u64::MAX,
        ..host()
    };
    assert!(!findings(&demand, &host).is_empty());
}

#[test]
fn limits_of_the_process_are_found_at_any_load() {
    let small = Host { quota: 200, file_size: 20_480, ..host() };
    for demand in [Demand::default(), demand(50)] {
        let found = findings(&demand, &small);
        let quota = find(&found, "CPU quota");
        assert_eq!((quota.severity, quota.now.as_str()), (Tight, "0.2 processors"));
        let size = find(&found, "size of a file");
        assert_eq!(size.severity, TooSmall);
        assert!(
            size.advice.as_ref().is_some_and(|advice| advice.contains("ulimit -f")),
            "{size:?}"
        );
    }
    let roomy = Host { quota: 2000, file_size: 1 << 40, ..host() };
    let found = findings(&demand(50), &roomy);
    assert!(found.iter().all(|finding| finding.severity == Fits), "{found:?}");
}

#[test]
fn a_message_longer_than_a_socket_holds_is_named() {
    let found = |message, rmem, wmem| {
        let demand = Demand { message, ..demand(50) };
        let host = Host { tcp_rmem: rmem, tcp_wmem: wmem, ..host() };
        let all = findings(&demand, &host).into_iter();
        all.filter(|finding| finding.what.contains("buffer of a socket")).collect::<Vec<_>>()
    };
    let (rmem, wmem) = (host().tcp_rmem, host().tcp_wmem);
    let short = [4096, 4096, 16 << 20];
    let both = found(Some(3000), short, wmem);
    assert_eq!([both[0].severity, both[1].severity], [Tight, Fits], "{both:?}");
    let change = both[0].change.as_ref().expect("a change");
    assert_eq!(change.command(), "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 16777216\"");
    assert_eq!(both[0].needed, "3 000 bytes of the largest message");
    let both = found(Some(10_000), rmem, [4096, 4096, 4096]);
    assert_eq!([both[0].severity, both[1].severity], [Fits, Tight], "{both:?}");
    let change = both[1].change.as_ref().expect("a change");
    assert_eq!(change.to, "4096 16384 16384");
    // Linux's default buffers, small messages, and unknown sizes.
    for (message, rmem, wmem) in [
        (Some(60_000), rmem, wmem),
        (Some(2000), short, [4096, 4096, 4096]),
        (Some(5000), [0; 3], [0; 3]),
        (None, short, short),
    ] {
        let all = found(message, rmem, wmem);
        assert!(all.iter().all(|finding| finding.severity == Fits), "{all:?}");
    }
}

#[test]
fn a_change_says_where_it_is_made() {
    let surroundings = Surroundings { is_container: true, own_network: true, is_read_only: true };
    let host = Host { surroundings, ..host() };
    let all = findings(&demand(1_000_000), &host);
    let ports = find(&all, "local ports").text();
    let words = "start the container with --sysctl net.ipv4.ip_local_port_range=\"1024 65535\"";
    assert!(ports.contains(words), "{ports}");
    let change = find(&all, "closing connections").change.as_ref();
    assert_eq!(change.map(|change| change.place), None);
    let few = Host { orphans_max: 1000, ..host };
    let all = findings(&demand(50_000), &few);
    let change = find(&all, "closing connections").change.as_ref().expect("a change");
    assert_eq!(change.place, Place::Host);
    assert!(change.way().starts_with("on the host of this container: sysctl -w "), "{change:?}");
}
