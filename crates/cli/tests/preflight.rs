//! `throng preflight` as users see it: reports about a plan, a chain of hosts, and changed settings.

mod program;

use std::io::{Read, Write};
use std::net::TcpListener;

use program::Program;
use serde_json::Value;

/// Returns a plan whose WebSocket users all start at once.
fn plan(users: &str, host: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="plan" enabled="true"/><hashTree>
<Arguments testclass="Arguments" testname="variables" enabled="true"><collectionProp name="Arguments.arguments">
<elementProp name="host" elementType="Argument"><stringProp name="Argument.name">host</stringProp><stringProp name="Argument.value">{host}</stringProp></elementProp>
</collectionProp></Arguments><hashTree/>
<ThreadGroup testclass="ThreadGroup" testname="users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">10</stringProp></ThreadGroup><hashTree>
<eu.luminis.jmeter.wssampler.OpenWebSocketSampler testclass="eu.luminis.jmeter.wssampler.OpenWebSocketSampler" testname="open" enabled="true">
<boolProp name="TLS">false</boolProp><stringProp name="server">${{host}}</stringProp><stringProp name="port">8123</stringProp><stringProp name="path">/chat</stringProp>
<stringProp name="connectTimeout">1000</stringProp><stringProp name="readTimeout">1000</stringProp></eu.luminis.jmeter.wssampler.OpenWebSocketSampler><hashTree/>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get" enabled="true">
<stringProp name="HTTPSampler.domain">${{from_a_file}}</stringProp><stringProp name="HTTPSampler.protocol">https</stringProp>
<stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_load_is_read_from_the_plan() {
    let program = Program::new();
    program.write("ws.jmx", &plan("${__P(users,200)}", "chat.example"));
    let ended = program.run(&["preflight", "ws.jmx", "--json", "-Jusers=300"]);
    let report = json(&ended.out);
    let demand = &report["demand"];
    assert_eq!(demand["users"], 300, "{ended:?}");
    assert_eq!((&demand["websockets"], &demand["http"]), (&300.into(), &300.into()));
    assert_eq!(demand["destinations"], serde_json::json!(["chat.example:8123"]));
    assert_eq!(demand["unknown_destinations"], 1);
    assert_eq!((&demand["local"], &demand["per_second"]), (&false.into(), &60.0.into()));
    assert_eq!(report["connections"], 600);
    let what: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["what"].as_str().unwrap())
        .collect();
    for expected in ["descriptors of a process", "local ports", "memory", "processors, for opening"]
    {
        assert!(what.contains(&expected), "{expected} is not in {what:?}");
    }
    let ended = program.run(&[
        "preflight",
        "ws.jmx",
        "--users",
        "4000",
        "--source",
        "127.0.0.2-127.0.0.9",
        "--json",
    ]);
    let demand = &json(&ended.out)["demand"];
    assert_eq!((&demand["websockets"], &demand["sources"]), (&4000.into(), &8.into()), "{ended:?}");
}

#[test]
fn text_says_whether_it_fits() {
    let program = Program::new();
    program.write("ws.jmx", &plan("3", "localhost"));
    let ended = program.run(&["preflight", "ws.jmx"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended
            .out
            .starts_with("Load: 3 users, holding at most 3 WebSocket, 3 HTTP, to localhost:8123\n"),
        "{ended:?}"
    );
    assert!(ended.out.contains(" local ports: "), "{ended:?}");
    // Other programs on this machine may make the result tight.
    let fits =
        ended.out.ends_with("\nIt fits.\n") || ended.out.ends_with("\nIt fits, but tightly.\n");
    assert!(fits, "{ended:?}");
}

#[test]
fn a_chain_names_the_hop_that_runs_out() {
    let program = Program::new();
    let chain = "nginx*4:21000-60999 -> ingress*5";
    let ended = program.run(&["preflight", "--users", "1000000", "--chain", chain, "--json"]);
    assert_eq!(ended.code, 8, "{ended:?}");
    let report = json(&ended.out);
    assert_eq!(report["chain"]["capacity"], 800_000);
    assert_eq!(report["chain"]["links"][0]["severity"], "too_small");
    let wider = "nginx*4:1024-65535 -> ingress*5";
    let report =
        json(&program.run(&["preflight", "--users", "1000000", "--chain", wider, "--json"]).out);
    assert_eq!(report["chain"]["capacity"], 1_290_240);
    assert_eq!(report["chain"]["links"][0]["severity"], "fits");
    let ended = program.run(&["preflight", "--users", "1000000", "--chain", chain]);
    assert!(
        ended.out.contains("  nginx -> ingress runs out first, at 800 000 connections\n"),
        "{ended:?}"
    );
    assert!(
        ended.out.contains("with ip_local_port_range 1024-65535 on nginx: 1 290 240\n"),
        "{ended:?}"
    );
}

#[test]
fn a_dry_run_changes_nothing_and_shows_the_way_back() {
    let program = Program::new();
    let range =
        || std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let before = range();
    let ended = program.run(&["preflight", "--users", "900000000", "--fix", "--dry-run"]);
    assert_eq!(ended.code, 8, "so many connections have no ports on one address: {ended:?}");
    assert!(ended.out.contains("would change: sysctl -w "), "{ended:?}");
    assert!(ended.out.contains("To undo this:\n  sysctl -w "), "{ended:?}");
    assert_eq!(range(), before);
}

#[test]
fn mistakes_are_shown_and_end_with_2() {
    let program = Program::new();
    let table: &[(&[&str], &str)] = &[
        (&["preflight"], "<PLAN>"),
        (&["preflight", "none.jmx"], "none.jmx doesn't exist"),
        (&["preflight", "--users", "0"], "0 is not in"),
        (&["preflight", "--users", "5", "--dry-run"], "--fix"),
        (&["preflight", "--users", "5", "--source", "nowhere0"], "nowhere0: expected an address"),
        (
            &["preflight", "--users", "5", "--chain", "nginx*4:9-1 -> b"],
            "the first port is above the last\n  nginx*4:9-1 -> b\n          ^",
        ),
    ];
    for (line, words) in table {
        let ended = program.run(line);
        assert_eq!(ended.code, 2, "{line:?}: {ended:?}");
        assert!(ended.err.contains(words), "{line:?}: {ended:?}");
    }
}

#[test]
fn a_run_that_fits_is_told_nothing() {
    let program = Program::new();
    let ended = program.run(&["run", "plan.jmx"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.err.contains("needed"), "{ended:?}");
}

/// Returns a plan with nested controllers.
fn deep(levels: usize) -> String {
    let (begin, end) = program::PLAN.split_once("<!--more-->").expect("a place");
    let open = r#"<GenericController guiclass="LogicControllerGui" testclass="GenericController" testname="c" enabled="true"/><hashTree>"#;
    format!("{begin}{}{}{end}", open.repeat(levels), "</hashTree>".repeat(levels))
}

#[test]
fn no_plan_fits_that_check_and_run_refuse() {
    let with = |element: &str| program::PLAN.replace("<!--more-->", element);
    let class = r#"<com.example.BurstTimer guiclass="x" testclass="com.example.BurstTimer" testname="Bursts" enabled="true"/><hashTree/>"#;
    let table = [
        ("nested", deep(5000), ""),
        ("class", with(class), ""),
        ("cut", program::PLAN[..program::PLAN.len() / 2].to_owned(), ""),
        ("text", "no plan\n".to_owned(), ""),
        ("empty", String::new(), ""),
        ("property", program::PLAN.to_owned(), "-Jthrong.source.addresses=nowhere0"),
        ("good", program::PLAN.to_owned(), "-Jx=1"),
    ];
    let program = Program::new();
    for (name, text, property) in table {
        let file = format!("{name}.jmx");
        program.write(&file, &text);
        let run = |verb: &str| {
            let line = [verb, &file, property];
            program.run(if property.is_empty() { &line[..2] } else { &line })
        };
        let (check, preflight, ran) = (run("check"), run("preflight"), run("run"));
        let runs = [&check, &ran].map(|ended| ended.code == 0);
        assert_eq!(runs, [name == "good"; 2], "{name}: {check:?} {ran:?}");
        assert_eq!(preflight.code == 0, name == "good", "{name}: {preflight:?}");
        assert_eq!(preflight.out.contains("It fits"), name == "good", "{name}: {preflight:?}");
        if check.code == 3 {
            assert_eq!(preflight.code, 3, "{name}: {preflight:?}");
            assert!(preflight.err.contains("The plan does not run"), "{name}: {preflight:?}");
            let line = ["preflight", &file, "--json", property];
            let line = if property.is_empty() { &line[..3] } else { &line };
            let json = json(&program.run(line).out);
            assert_eq!(json["plan"]["runs"], false, "{name}");
        }
    }
}

#[test]
fn findings_of_a_plan_that_runs_stand_before_the_sums() {
    let program = Program::new();
    let data = r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="names" enabled="true">
<stringProp name="filename">names.csv</stringProp><stringProp name="variableNames">name</stringProp></CSVDataSet><hashTree/>"#;
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", data));
    let ended = program.run(&["preflight", "plan.jmx"]);
    assert!(ended.code == 0 && ended.out.starts_with("Load: 1 user"), "{ended:?}");
    assert!(
        ended.err.contains("warning[missing-file]: the file names.csv is not there"),
        "{ended:?}"
    );
}

#[test]
fn a_plan_that_run_would_refuse_has_the_form_of_every_report() {
    let program = Program::new();
    program.write("bad.jmx", "<jmeterTestPlan");
    let ended = program.run(&["preflight", "bad.jmx", "--json"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let (refused, good) = (json(&ended.out), program.run(&["preflight", "plan.jmx", "--json"]));
    assert_eq!(
        (&refused["severity"], &refused["plan"]["runs"]),
        (&"refused".into(), &false.into())
    );
    assert!(refused["plan"]["findings"][0]["message"].is_string(), "{refused}");
    let names = |report: &Value| -> Vec<String> {
        let all = report.as_object().expect("an object").keys().cloned();
        all.filter(|name| name != "plan").collect()
    };
    assert_eq!(names(&refused), names(&json(&good.out)));
}

#[test]
fn a_chain_with_a_configuration_names_the_hop_without_memory() {
    let program = Program::new();
    let conf = "worker_processes 32;\nevents { worker_connections 1000000; }\n\
        http { server { location / { proxy_pass http://up; } } }\n";
    program.write("nginx.conf", conf);
    let run = |memory: &str, json: &[&str]| {
        let chain = format!("nginx*4:1024-65535 conf=nginx.conf memory={memory} -> ingress*5");
        let line = ["preflight", "--users", "900000", "--chain", &chain];
        program.run(&[&line, json].concat())
    };
    let ended = run("8G", &[]);
    assert_eq!(ended.code, 8, "{ended:?}");
    assert!(
        ended.out.contains("  nginx runs out of memory first, at 0 connections\n"),
        "{ended:?}"
    );
    assert!(ended.out.contains("13 GiB before the first connection: 32 workers"), "{ended:?}");
    let report = json(&run("64G", &["--json"]).out);
    let hop = &report["chain"]["hops"][0];
    assert_eq!((&hop["workers"], &hop["severity"]), (&32.into(), &"fits".into()), "{report}");
    assert_eq!(report["chain"]["runs_out"]["of"], "local ports");
    let chain = "nginx conf=none.conf -> pods";
    let ended = program.run(&["preflight", "--users", "5", "--chain", chain]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("cannot read none.conf"), "{ended:?}");
}

#[test]
fn a_file_of_settings_is_judged_line_by_line() {
    let program = Program::new();
    let text = "fs.nr_open = 1000\nnet.ipv4.ip_local_port_range = 60000 60009\n\
        net.ipv4.tcp_rmem = 4096 4096 6291456\nnet.ipv4.tcp_tw_recycle = 1\n";
    program.write("sysctl.conf", text);
    let ended = program.run(&["preflight", "--sysctl", "sysctl.conf"]);
    assert_eq!(ended.code, 0, "without a load nothing is too small: {ended:?}");
    for words in ["line 1: fs.nr_open = 1 000: this lowers it from ", "line 4: ", "the line fails"]
    {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    assert!(!ended.out.contains("It fits") && !ended.out.contains("Load:"), "{ended:?}");
    let line = ["preflight", "--users", "50", "--message", "3K", "--sysctl", "sysctl.conf"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 8, "{ended:?}");
    for words in [
        "This machine, with the settings of sysctl.conf\n",
        "too small local ports: ",
        "tight     receive buffer of a socket: 4.0 KiB initially, 2.0 KiB of it for the window, needed 3 072 bytes",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    program.write("odd.conf", "not a setting\n");
    let ended = program.run(&["preflight", "--sysctl", "odd.conf"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("odd.conf: line 1: expected key = value"), "{ended:?}");
}

/// Starts a server that answers each connection with a string. Returns its address.
fn serve(text: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(text.as_bytes());
        }
    });
    address
}

#[test]
fn watched_hosts_are_asked_once_and_those_that_do_not_answer_named() {
    let program = Program::new();
    let good = serve("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nnode_load1 0.5\nx 1\n");
    let bad = serve("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let down = serve("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nnginx_up 0\n");
    program.write("throng.toml", &format!("[watch]\ndown = \"http://{down}\"\n"));
    let hosts = [format!("good={good}"), format!("bad={bad}")];
    let line = ["preflight", "plan.jmx", "--watch", &hosts[0], "--watch", &hosts[1], "--watch"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "  answers   good: 2 figures\n",
        "  no answer bad: http://",
        "502",
        "  not up    down: the exporter answers",
        "  2 of 3 watched hosts give no figures.\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    let report = json(&program.run(&[&line[..], &["--json"]].concat()).out);
    assert_eq!(report["watched"][0]["figures"], 2, "{report}");
    assert!(report["watched"][1]["problem"].as_str().is_some_and(|words| words.contains("502")));
}

#[test]
fn perfmon_agents_of_the_plan_are_asked_once_too() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let read = socket.read(&mut [0; 100]).unwrap_or(0);
            assert_eq!(read, "test\n".len(), "nothing is asked but whether it is an agent");
            let _ = socket.write_all(b"Yep\n");
        }
    });
    let row = |host: &str, port: &str, kind: &str| {
        let cells = [host, port, kind, ""]
            .map(|cell| format!("<stringProp name=\"1\">{cell}</stringProp>"));
        format!("<collectionProp name=\"1\">{}</collectionProp>", cells.concat())
    };
    let there = format!("${{__P(agent,{port})}}");
    let rows = [
        row("127.0.0.1", &there, "CPU"),
        row("127.0.0.1", &there, "Memory"),
        row("127.0.0.2", "1", "CPU"),
    ];
    let collector = format!(
        "<kg.apc.jmeter.perfmon.PerfMonCollector guiclass=\"kg.apc.jmeter.vizualizers.PerfMonGui\" \
         testclass=\"kg.apc.jmeter.perfmon.PerfMonCollector\" testname=\"Servers\" enabled=\"true\">\
         <stringProp name=\"filename\">servers.csv</stringProp>\
         <collectionProp name=\"metricConnections\">{}</collectionProp>\
         </kg.apc.jmeter.perfmon.PerfMonCollector><hashTree/>",
        rows.concat()
    );
    let program = Program::new();
    program.write("perfmon.jmx", &program::PLAN.replace("<!--more-->", &collector));
    let ended = program.run(&["preflight", "perfmon.jmx", "--watch"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "  answers   127.0.0.1: 2 metrics\n",
        "  no answer 127.0.0.2: 127.0.0.2:1",
        "  1 of 2 watched hosts give no figures.\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    assert!(!program.path("servers.csv").exists(), "a file is for a run");
    let ended = program.run(&["preflight", "perfmon.jmx"]);
    assert!(!ended.out.contains("Watched hosts"), "nobody has asked for it: {ended:?}");
    let ended = program.run(&[
        "preflight",
        "perfmon.jmx",
        "--watch",
        &format!("x={}", serve("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx 1\n")),
    ]);
    assert!(ended.out.contains("  1 of 3 watched hosts give no figures.\n"), "{ended:?}");
}

#[test]
fn hosts_of_throng_toml_are_asked_without_a_plan_or_their_absence_is_said() {
    let program = Program::new();
    for line in [&["preflight", "--watch"][..], &["preflight", "plan.jmx", "--watch"]] {
        let ended = program.run(line);
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{ended:?}");
        assert!(ended.err.contains("none is named there"), "{ended:?}");
    }
    let alerts = serve("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[]");
    program.write("throng.toml", &format!("alerts = \"http://user:hidden@{alerts}\"\n"));
    for line in [&["preflight", "--watch"][..], &["preflight", "plan.jmx", "--watch"]] {
        let ended = program.run(line);
        assert_eq!(ended.code, 0, "{ended:?}");
        let words = "  answers   the Alertmanager: 0 firing alerts\n  The watched host answers.\n";
        assert!(ended.out.contains(words), "{ended:?}");
    }
    let closed = "http://user:hidden@127.0.0.1:1/m?token=hidden";
    program.write("throng.toml", &format!("alerts = \"{closed}\"\n[watch]\ndb = \"{closed}\"\n"));
    let ended = program.run(&["preflight", "--watch"]);
    assert_eq!(ended.out.matches("http://***@127.0.0.1:1/m?token=***").count(), 2, "{ended:?}");
    assert!(!ended.out.contains("hidden") && !ended.err.contains("hidden"), "{ended:?}");
    let wrong = "gateway=ftp://user:hidden@h/?token=hidden";
    let ended = program.run(&["preflight", "--watch", wrong]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let said = ended.err.contains("ftp://***@h/?token=***") && !ended.err.contains("hidden");
    assert!(said, "{ended:?}");
}

#[test]
fn a_chain_that_is_not_known_whole_does_not_fit_whole() {
    let program = Program::new();
    let conf = "worker_processes auto; events { worker_connections 1024; } http { include conf.d/*.conf; }";
    program.write("nginx.conf", conf);
    let run = |hop: &str| {
        let chain = format!("nginx*4:1024-65535 conf=nginx.conf {hop} -> ingress*5");
        program.run(&["preflight", "--users", "5000", "--chain", &chain])
    };
    let ended = run("memory=64G");
    assert_eq!(ended.code, 0, "{ended:?}");
    for words in [
        "connections of nginx: worker_processes is auto: give cpus=N\n",
        "no file here fits these includes: conf.d/*.conf\n",
        "\nWhat is judged fits. Not judged: memory of nginx, connections of nginx.\n",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    assert!(!ended.out.contains("It fits"), "{ended:?}");
    let ended = run("memory=64G cpus=16");
    assert!(ended.out.contains("\nIt fits"), "{ended:?}");
}

#[test]
fn lines_that_fail_do_not_replace_what_the_machine_has() {
    let program = Program::new();
    program.write("sysctl.conf", "net.ipv4.ip_local_port_range = 1024\n");
    let line = ["preflight", "--users", "100000", "--sysctl", "sysctl.conf"];
    let ended = program.run(&line);
    assert_eq!(ended.code, 8, "{ended:?}");
    assert!(ended.out.contains("too small local ports: "), "{ended:?}");
    program.write("sysctl.conf", "/etc/hostname = 1\n");
    let ended = program.run(&line);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.err.contains("line 1: not the name of a setting (/etc/hostname)"), "{ended:?}");
}

#[test]
fn the_size_of_a_message_is_read_from_the_plan() {
    let program = Program::new();
    let write = format!(
        r#"<eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler testclass="eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler" testname="say" enabled="true">
<boolProp name="createNewConnection">false</boolProp><stringProp name="payloadType">Text</stringProp><stringProp name="requestData">{}</stringProp>
</eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler><hashTree/>
<HTTPSamplerProxy"#,
        "m".repeat(5000)
    );
    program.write("ws.jmx", &plan("20", "chat.example").replacen("<HTTPSamplerProxy", &write, 1));
    let report = json(&program.run(&["preflight", "ws.jmx", "--json"]).out);
    assert_eq!(report["demand"]["message"], 5000, "{report}");
}

/// Returns a plan with two thread groups of one user each, whose WebSockets lead to ports 8123 and 8124 of a host.
fn two_groups() -> String {
    let one = plan("1", "chat.example");
    let (before, rest) = one.split_once("<ThreadGroup").expect("a group");
    let end = "</hashTree></hashTree></jmeterTestPlan>";
    let first = rest.strip_suffix(end).expect("the end of the plan");
    let second = first.replace("testname=\"users\"", "testname=\"guests\"").replace("8123", "8124");
    format!("{before}<ThreadGroup{first}<ThreadGroup{second}{end}")
}

#[test]
fn users_are_spread_over_the_groups_that_the_project_file_keeps() {
    let program = Program::new();
    program.write("ws.jmx", &two_groups());
    let demand = || {
        let ended = program.run(&["preflight", "ws.jmx", "--users", "100", "--json"]);
        let demand = json(&ended.out)["demand"].clone();
        (demand["websockets"].clone(), demand["destinations"].clone())
    };
    let (first, second) = ("chat.example:8123", "chat.example:8124");
    assert_eq!(demand(), (100.into(), serde_json::json!([first, second])));
    program.write("throng.toml", "[load.scenario]\nguests = 'off'\n");
    assert_eq!(demand(), (100.into(), serde_json::json!([first])));
}

#[test]
fn the_number_of_worker_processes_is_that_of_a_run_with_the_same_properties() {
    let program = Program::new();
    let workers = |line: &[&str]| {
        let ended = program.run(&[line, &["--json"]].concat());
        json(&ended.out)["workers"].clone()
    };
    assert_eq!(workers(&["preflight", "plan.jmx"]), 1);
    assert_eq!(workers(&["preflight", "plan.jmx", "-Jthrong.workers=3"]), 3);
    assert_eq!(workers(&["preflight", "--users", "5", "-Jthrong.workers=3"]), 3);
    program.write("throng.toml", "[properties]\nthrong.workers = 2\n");
    assert_eq!(workers(&["preflight", "plan.jmx"]), 2);
}

#[test]
fn criteria_that_no_sample_can_meet_are_refused_as_by_check_and_run() {
    let program = Program::new();
    program.write("throng.toml", "[thresholds]\nfail = ['p99 < 1s for label Slep']\n");
    for (verb, code) in [("check", 3), ("preflight", 3), ("run", 4)] {
        let ended = program.run(&[verb, "plan.jmx"]);
        assert_eq!(ended.code, code, "{verb}: {ended:?}");
        let words = ended.out.clone() + &ended.err;
        assert!(words.contains("did you mean \"Sleep\"?"), "{verb}: {ended:?}");
    }
    let refused = json(&program.run(&["preflight", "plan.jmx", "--json"]).out);
    assert_eq!(refused["plan"]["findings"][0]["code"], "criterion", "{refused}");
}

#[test]
fn a_group_that_no_run_starts_has_no_users() {
    let program = Program::new();
    let users = |duration: &str| {
        let ramp = r#"<stringProp name="ThreadGroup.ramp_time">10</stringProp>"#;
        let times = format!(
            r#"{ramp}<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{duration}</stringProp>"#
        );
        program.write("ws.jmx", &plan("3", "chat.example").replace(ramp, &times));
        let report = json(&program.run(&["preflight", "ws.jmx", "--json"]).out);
        (report["demand"]["users"].clone(), report["connections"].clone())
    };
    assert_eq!(users("60"), (3.into(), 6.into()));
    assert_eq!(users("0"), (0.into(), 0.into()));
}

#[test]
fn given_users_are_those_of_a_group_whose_number_is_unknown() {
    let program = Program::new();
    program.write("number.txt", "5");
    program.write("ws.jmx", &plan("${__FileToString(number.txt)}", "chat.example"));
    let demand = |more: &[&str]| {
        let ended = program.run(&[&["preflight", "ws.jmx", "--json"], more].concat());
        let demand = &json(&ended.out)["demand"];
        ["users", "unknown_users", "websockets"].map(|name| demand[name].as_u64())
    };
    assert_eq!(demand(&[]), [Some(0), Some(1), Some(0)]);
    assert_eq!(demand(&["--users", "70"]), [Some(70), Some(0), Some(70)]);
}
