//! The record in a run's folder, as the program writes it: after a normal end, after a kill, and from several
//! processes.

mod program;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use program::{ASKING, Program};
use record::kept::Why;
use record::{ClassName, Ending, Record};

const NEVER: Duration = Duration::from_secs(60);

fn read(program: &Program) -> Record {
    Record::read(&program.run_folder()).expect("a record")
}

/// Runs the plan [`ASKING`] against a new target and returns the record.
fn asked(more: &[&str]) -> (Program, Record) {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let program = Program::new();
    program.write("asking.jmx", ASKING);
    let port = format!("-Jport={}", target.addr().port());
    let mut line = vec!["run", "asking.jmx", "--runs", "runs", &port];
    line.extend(more);
    let ended = program.run(&line);
    assert_eq!(ended.code, 0, "{ended:?}");
    let record = read(&program);
    (program, record)
}

/// Returns a label's samples, errors and elapsed time in the whole record, and the sum of its phases without lateness
/// and lag.
fn sums(record: &Record, name: &str) -> (u64, u64, u64, u64) {
    let number = record.labels.iter().position(|label| &*label.name == name).expect("the label");
    let parts = record.seconds.iter().flat_map(|second| &second.labels);
    parts.filter(|part| part.0 as usize == number).fold((0, 0, 0, 0), |sum, (_, part)| {
        let p = &part.phases;
        let spent = p.room + p.dns + p.connect + p.tls + p.send + p.wait + p.receive;
        (sum.0 + part.count, sum.1 + part.errors, sum.2 + part.elapsed, sum.3 + spent)
    })
}

#[test]
fn a_run_is_recorded_by_second_label_cause_and_phase() {
    let (_program, record) = asked(&[]);
    assert_eq!(record.flaws, []);
    assert_eq!(record.frame.ending, Ending::Completed);
    assert_eq!((record.frame.load.users, &*record.frame.plan), (4, "asking.jmx"));
    assert!(record.frame.threads > 0 && record.frame.processors > 0 && record.frame.memory > 0);
    for (label, errors) in [("Ask", 0), ("Nobody", 80)] {
        let (count, failed, elapsed, spent) = sums(&record, label);
        assert_eq!((count, failed), (80, errors), "{label}");
        // Each of the 7 phases of a second is rounded down to whole microseconds.
        let least = elapsed - 7000 * record.seconds.len() as u64;
        assert!(spent <= elapsed && spent >= least, "{label}: {spent} of {elapsed} ns");
    }
    let all = |of: fn(&record::Part) -> u64| -> u64 {
        record.seconds.iter().map(|second| of(&second.all)).sum()
    };
    assert_eq!((all(|part| part.count), all(|part| part.errors)), (160, 80));
    assert_eq!((all(|part| part.failed.total()), all(|part| part.service.total())), (80, 160));
    assert_eq!(all(|part| part.slots.iter().map(|n| u64::from(*n)).sum()), 160);
    let causes: u64 = record.seconds.iter().flat_map(|second| &second.causes).map(|c| c.1).sum();
    assert_eq!((causes, record.causes.len()), (80, 1));
    assert_eq!(&*record.causes[0].first_label, "Nobody");
    let last = record.seconds.last().expect("seconds");
    assert!(last.machine.is_some() && last.started == 4, "{last:?}");
}

#[test]
fn a_killed_run_is_there_up_to_its_last_second() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "--runs", "runs", "-Jusers=3", "-Jloops=-1", "-Jms=20"];
    let mut child = program.start(&line);
    let since = Instant::now();
    let lines = || {
        let folder = std::fs::read_dir(program.path("runs")).ok()?.flatten().next()?.path();
        let text = std::fs::read_to_string(folder.join("seconds.jsonl")).ok()?;
        Some(text.lines().count())
    };
    while lines().unwrap_or(0) < 3 {
        assert!(since.elapsed() < NEVER);
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let told = lines().expect("seconds");
    let record = read(&program);
    // The record gets a second directly after that second's line in `seconds.jsonl`.
    assert!(record.seconds.len() + 1 >= told, "{} of {told}", record.seconds.len());
    assert_eq!(record.frame.ending, Ending::Unknown);
    assert!(record.frame.length_ms > 1500, "{:?}", record.frame);
    assert!(record.seconds.iter().map(|second| second.all.count).sum::<u64>() > 100);
    assert_eq!(record.labels.len(), 1);
}

#[test]
fn several_processes_record_what_one_does() {
    let facts = |record: &Record| {
        let labels: Vec<_> = ["Ask", "Nobody"].map(|name| sums(record, name)).into();
        let mut causes: Vec<_> = record.causes.iter().map(|cause| cause.message.clone()).collect();
        causes.sort();
        (labels.iter().map(|sum| (sum.0, sum.1)).collect::<Vec<_>>(), causes, record.has)
    };
    let (_one, one) = asked(&["-Jloops=60"]);
    let (_three, three) = asked(&["-Jloops=60", "--workers", "3"]);
    assert_eq!(facts(&one), facts(&three));
    assert_eq!(three.seconds.last().map(|second| second.generator.workers > 0), Some(true));
    let slots: u32 = three.seconds.iter().flat_map(|second| second.all.slots).sum();
    assert_eq!(slots, 480);
}

#[test]
fn exchanges_are_told_apart_by_address_and_header_and_some_are_kept() {
    let (_program, record) = asked(&["-Jthrong.record.header=content-length"]);
    let classes = record.seconds.iter().flat_map(|second| &second.classes);
    let count = |name: &str| -> (u64, u64, u64) {
        let is = |class: &ClassName| match class {
            ClassName::Address(address) => address.ends_with(name),
            ClassName::Header { value, .. } => &**value == name,
        };
        let of = classes.clone().filter(|class| is(&record.classes[class.0 as usize]));
        of.fold((0, 0, 0), |sum, (_, class)| {
            (sum.0 + class.count, sum.1 + class.errors, sum.2 + class.opened)
        })
    };
    assert_eq!(count("127.0.0.1:1"), (80, 80, 0));
    let all: u64 = classes.clone().map(|class| class.1.count).sum();
    let header = record.classes.iter().find_map(|class| match class {
        ClassName::Header { value, .. } => Some(value.to_string()),
        ClassName::Address(_) => None,
    });
    assert_eq!(count(&header.expect("a header")).0, 80);
    assert_eq!(all, 240, "80 to each address, and 80 with the header");
    let mut served: Vec<(String, &str)> = record
        .served
        .iter()
        .map(|(class, label)| {
            let class = match &record.classes[*class as usize] {
                ClassName::Address(address) => address.rsplit(':').next().unwrap_or(""),
                ClassName::Header { .. } => "header",
            };
            let class = if class == "1" || class == "header" { class } else { "service" };
            (class.to_owned(), &*record.labels[*label as usize].name)
        })
        .collect();
    served.sort();
    let pair = |class: &str, label| (class.to_owned(), label);
    assert_eq!(served, [pair("1", "Nobody"), pair("header", "Ask"), pair("service", "Ask")]);
    let connects: u64 = record.seconds.iter().map(|second| second.connect.total()).sum();
    assert!(connects >= 4, "{connects}");
    assert!(record.has.classes && record.has.kept);
    let errors: Vec<_> = record.kept.iter().filter(|kept| kept.why == Why::Error).collect();
    assert_eq!(errors.len(), 5, "the first of the only cause");
    assert!(errors.iter().all(|kept| kept.cause == Some(0) && &*kept.address == "127.0.0.1:1"));
    let name = |kept: &record::Kept| record.labels[kept.label as usize].name.to_string();
    let slow: std::collections::BTreeSet<_> =
        record.kept.iter().filter(|kept| kept.why == Why::Slow).map(name).collect();
    assert_eq!(slow.len(), 2, "of each label: {slow:?}");
    assert!(record.kept.iter().any(|kept| kept.why == Why::Random));
}

#[test]
fn samples_chosen_by_chance_have_the_head_of_their_answer_though_nobody_asked() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let program = Program::new();
    let sampler = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Get" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/PATH</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    </HTTPSamplerProxy><hashTree/>"#;
    // The first request is constant. The last request contains variables, so it may change.
    for (path, rows) in [("", &[][..]), ("", &["--jtl"]), ("${__P(port)}${__threadNum}", &[])] {
        let sampler = sampler.replace("PATH", path);
        program.write("plain.jmx", &program::PLAN.replace("<!--more-->", &sampler));
        let port = format!("-Jport={}", target.addr().port());
        let line = ["run", "plain.jmx", &port, "-Jusers=3", "-Jloops=200", "-Jms=0", "--no-report"];
        let ended = program.run(&[&line[..], rows].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let record = read(&program);
        let random = record.kept.iter().filter(|kept| kept.why == Why::Random);
        let get = |kept: &&record::Kept| &*record.labels[kept.label as usize].name == "Get";
        let heads: Vec<&str> = random.filter(get).map(|kept| &*kept.response).collect();
        assert!(!heads.is_empty(), "of 1200 samples half are of that label");
        assert!(heads.iter().all(|head| head.starts_with("HTTP/1.1 200 OK\r\n")), "{heads:?}");
        std::fs::remove_dir_all(program.path("runs")).expect("the folder of runs");
    }
    target.stop();
}

/// Starts a server that redirects to a missing page, to a closed port and to itself; other requests succeed. It runs
/// until the test process ends.
fn redirects() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = std::io::BufReader::new(stream);
                let mut line = String::new();
                while std::io::BufRead::read_line(&mut reader, &mut line).is_ok_and(|n| n > 0) {
                    if line.ends_with("\r\n\r\n") {
                        let path = line.split(' ').nth(1).unwrap_or_default();
                        let head = match path {
                            "/to404" => "302 Found\r\nLocation: /404",
                            "/nowhere" | "/nowhere?" => "302 Found",
                            "/loop" => "302 Found\r\nLocation: /loop",
                            "/404" => "404 Not Found",
                            _ => "200 OK",
                        };
                        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: 2\r\n\r\nok");
                        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                        line.clear();
                    }
                }
            });
        }
    });
    port
}

#[test]
fn failures_behind_redirects_count_whether_rows_are_written_or_not() {
    let port = redirects();
    let ask = |name: &str, path: &str, follow: bool| {
        format!(
            r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}" enabled="true">
            <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
            <stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
            <boolProp name="HTTPSampler.follow_redirects">{follow}</boolProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    let plan = [
        ask("Gone", "/to404", true),
        ask("Nowhere", "/nowhere", true),
        ask("Not followed", "/nowhere", false),
        ask("Loop", "/loop", true),
        ask("Well", "/", true),
    ];
    let program = Program::new();
    program.write("plan.jmx", &program::PLAN.replace("<!--more-->", &plan.concat()));
    let told = |more: &[&str]| {
        let line = ["run", "plan.jmx", "--json", "--no-report", "-Jloops=3", "-Jms=0"];
        let ended = program.run(&[&line[..], more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let summary: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
        let mut errors: Vec<String> = summary["errors"]
            .as_array()
            .expect("causes")
            .iter()
            .map(|cause| format!("{} {} {}", cause["count"], cause["code"], cause["message"]))
            .collect();
        errors.sort();
        (summary["failed"].clone(), errors)
    };
    let with_rows = told(&["-l", "rows.jtl"]);
    assert_eq!(with_rows.0, 12, "{with_rows:?}");
    assert_eq!(told(&[]), with_rows);
}

#[test]
fn secrets_of_urls_are_in_no_file_that_people_get() {
    let path = "-Jpath=/x?pw=ho1cha&jwt=ho2cha&sig=ho3cha&code=ho4cha&session=ho5cha&user=anna";
    let label = "-Jlabel=http://me:ho6cha@host/?key=ho7cha";
    let (program, record) = asked(&["-l", "out.jtl", path, label]);
    assert!(!record.kept.is_empty());
    let requests: Vec<_> = record.kept.iter().map(|kept| &*kept.request).collect();
    let line = "/x?pw=***&jwt=***&sig=***&code=***&session=***&user=anna";
    assert!(requests.iter().any(|request| request.contains(line)), "{requests:?}");
    for file in ["record", "report.html", "throng.log"] {
        let bytes = std::fs::read(program.run_folder().join(file)).expect(file);
        let text = String::from_utf8_lossy(&bytes);
        for secret in 1..=7 {
            assert!(!text.contains(&format!("ho{secret}cha")), "secret {secret} is in {file}");
        }
    }
}

#[test]
fn secrets_are_not_kept() {
    let (program, record) = asked(&["-l", "out.jtl", "-Jpath=/x?token=opensesame&a=1"]);
    let requests: Vec<_> = record.kept.iter().map(|kept| &*kept.request).collect();
    assert!(requests.iter().any(|text| text.contains("token=***&a=1")), "{requests:?}");
    let bytes = std::fs::read(program.run_folder().join("record")).expect("the file");
    assert!(
        Record::of_bytes(&bytes)
            .is_some_and(|record| !format!("{record:?}").contains("opensesame"))
    );
}

/// Returns a sampler element with these string properties.
fn sampler(class: &str, name: &str, properties: &[(&str, &str)]) -> String {
    let text = |(key, value): &(&str, &str)| {
        ["<stringProp name=\"", key, "\">", value, "</stringProp>"].concat()
    };
    let properties: Vec<String> = properties.iter().map(text).collect();
    let properties = properties.concat();
    format!(
        "<{class} testclass=\"{class}\" testname=\"{name}\" enabled=\"true\">{properties}</{class}><hashTree/>"
    )
}

#[test]
#[allow(clippy::too_many_lines)] // One run, which the test examines in all respects.
fn samples_of_tcp_and_websockets_have_phases_and_the_class_of_their_address() {
    let echo = targets::start(targets::Config::new("websocket-echo")).expect("a target");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let tcp_port = tcp.local_addr().expect("an address").port().to_string();
    std::thread::spawn(move || {
        for mut connection in tcp.incoming().flatten() {
            let mut byte = [0];
            while connection.read_exact(&mut byte).is_ok() {
                let _ = connection.write_all(b"hello\n");
            }
        }
    });
    let port = echo.addr().port().to_string();
    let web = |kind: &str| format!("eu.luminis.jmeter.wssampler.{kind}WebSocketSampler");
    let to = |port| [("server", "127.0.0.1"), ("port", port), ("path", "/")];
    let limits = [("connectTimeout", "9000"), ("readTimeout", "9000")];
    let says = [("createNewConnection", "false"), ("payloadType", "Text"), ("requestData", "hi")];
    let plain = |port| {
        [("TCPSampler.server", "127.0.0.1"), ("TCPSampler.port", port), ("TCPSampler.request", "x")]
    };
    let samplers = [
        sampler(&web("Open"), "Open", &[&to(&port)[..], &limits].concat()),
        sampler(&web("RequestResponse"), "Talk", &[&says[..], &limits].concat()),
        sampler(&web("Open"), "Refused", &[&to("1")[..], &limits].concat()),
        sampler(
            "TCPSampler",
            "Tcp",
            &[&plain(&tcp_port)[..], &[("TCPSampler.EolByte", "10")]].concat(),
        ),
        sampler("TCPSampler", "Tcp refused", &plain("1")),
    ];
    let program = Program::new();
    program.write("many.jmx", &program::PLAN.replace("<!--more-->", &samplers.concat()));
    let ended = program.run(&[
        "run",
        "many.jmx",
        "--runs",
        "runs",
        "-Jloops=3",
        "-Jthrong.websocket.reconnect.first_ms=0",
    ]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let record = read(&program);
    let phases = |name: &str| {
        let number = record.labels.iter().position(|label| &*label.name == name).expect("a label");
        let mut sum = stats::Phases::default();
        let parts = record.seconds.iter().flat_map(|second| &second.labels);
        parts.filter(|part| part.0 as usize == number).for_each(|part| sum.add(&part.1.phases));
        sum
    };
    for (name, failed) in [("Open", 0), ("Talk", 0), ("Refused", 3), ("Tcp", 0), ("Tcp refused", 3)]
    {
        let (count, errors, elapsed, spent) = sums(&record, name);
        assert_eq!((count, errors), (3, failed), "{name}");
        let least = elapsed.saturating_sub(7000 * record.seconds.len() as u64);
        assert!(spent <= elapsed && spent >= least, "{name}: {spent} of {elapsed} ns");
    }
    let (open, talk, refused) = (phases("Open"), phases("Talk"), phases("Refused"));
    let reused = |name: &str| {
        let kept = record.kept.iter();
        let of = kept.filter(|kept| &*record.labels[kept.label as usize].name == name);
        of.map(|kept| kept.reused).collect::<Vec<_>>()
    };
    for name in ["Refused", "Tcp refused"] {
        assert!(!reused(name).is_empty() && !reused(name).contains(&true), "{name}");
    }
    assert!(reused("Talk").contains(&true));
    assert!(open.connect > 0 && open.wait > 0 && open.tls == 0, "{open:?}");
    assert!(talk.connect == 0 && talk.wait > 0, "{talk:?}");
    assert!(refused.connect > 0 && refused.wait == 0, "{refused:?}");
    let class = |port: &str| {
        let address = format!("127.0.0.1:{port}");
        let is = |class: &ClassName| matches!(class, ClassName::Address(to) if **to == *address);
        let number = record.classes.iter().position(is).unwrap_or_else(|| panic!("{address}"));
        let all = record.seconds.iter().flat_map(|second| &second.classes);
        let of = all.filter(|class| class.0 as usize == number);
        of.fold((0, 0, 0), |sum, (_, class)| {
            (sum.0 + class.count, sum.1 + class.errors, sum.2 + class.opened)
        })
    };
    assert_eq!(class(&port), (6, 0, 3), "opened and talked to");
    assert_eq!(class("1"), (6, 6, 0), "three of each kind");
    assert_eq!(class(&tcp_port), (3, 0, 1), "on one connection");
    assert!(record.frame.target_is_here);
}

#[test]
fn the_record_says_where_the_target_is_and_what_the_plan_asserts() {
    let (_program, record) = asked(&[]);
    assert!(record.frame.target_is_here);
    let setting = |name: &str| {
        let found = record.frame.settings.iter().find(|setting| setting.0 == name);
        found.map(|setting| setting.1.as_str())
    };
    assert_eq!((setting("assertions"), setting("dns_pinned")), (Some("0"), Some("true")));
    let program = Program::new();
    assert_eq!(program.run(&["run", "plan.jmx", "--runs", "runs"]).code, 0);
    let record = read(&program);
    assert!(!record.frame.target_is_here, "it asks nobody");
    assert!(record.frame.settings.contains(&("dns_pinned".into(), "false".into())));
}

/// Returns the length of the longest gap: consecutive slots without samples between the first and the last sample.
fn longest_gap(record: &Record) -> usize {
    // Skips the first second. It may be short, and then no sample can fall into its last slots.
    let seconds = record.seconds.iter().skip(1);
    let slots: Vec<u32> = seconds.flat_map(|second| second.all.slots).collect();
    let is = |n: &u32| *n > 0;
    let (Some(first), Some(last)) = (slots.iter().position(is), slots.iter().rposition(is)) else {
        return 0;
    };
    slots[first..=last].split(is).map(<[u32]>::len).max().unwrap_or(0)
}

/// The server pauses for 700 ms of every 2 s, which leaves a gap of several slots. Processes report their seconds at
/// different moments. If the coordinator did not align the slots by time, the samples of one process would fill the gap
/// of another.
#[test]
fn slots_of_several_processes_are_those_of_one() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = format!("-Jport={}", server.local_addr().expect("an address").port());
    let begun = Instant::now();
    std::thread::spawn(move || {
        for connection in server.incoming().flatten() {
            std::thread::spawn(move || answer(connection, begun));
        }
    });
    for more in [&[][..], &["--workers", "3"]] {
        let program = Program::new();
        let plan = ASKING.replace(
            "<stringProp name=\"HTTPSampler.port\">1</",
            "<stringProp name=\"HTTPSampler.port\">${__P(port)}</",
        );
        program.write("asking.jmx", &plan);
        let line = ["run", "asking.jmx", "--runs", "runs", "-Jusers=6", "-Jloops=230", &port];
        let ended = program.run(&[&line, more].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let record = read(&program);
        assert!((4..=9).contains(&longest_gap(&record)), "{more:?}: {:?}", {
            record.seconds.iter().map(|second| second.all.slots).collect::<Vec<_>>()
        });
        let slots: u32 = record.seconds.iter().flat_map(|second| second.all.slots).sum();
        assert_eq!(slots, 6 * 230 * 2);
    }
}

/// Answers each request after 10 ms, but sends nothing in the last 700 ms of every 2 s.
fn answer(mut connection: std::net::TcpStream, begun: Instant) -> std::io::Result<()> {
    let mut text = Vec::<u8>::new();
    let mut buffer = [0; 4096];
    loop {
        match connection.read(&mut buffer)? {
            0 => return Ok(()),
            n => text.extend(&buffer[..n]),
        }
        while let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            text.drain(..end + 4);
            std::thread::sleep(Duration::from_millis(10));
            let within = begun.elapsed().as_millis() as u64 % 2000;
            if within >= 1300 {
                std::thread::sleep(Duration::from_millis(2000 - within));
            }
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        }
    }
}

#[test]
fn the_length_asked_for_is_that_of_groups_whose_begin_is_known() {
    let target = targets::start(targets::Config::new("fixed")).expect("a target");
    let group = |class: &str| {
        format!(
            r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="{class}" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">7</stringProp>
</{class}><hashTree>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${{__P(port)}}</stringProp>
    <stringProp name="HTTPSampler.path">/x</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
  </HTTPSamplerProxy><hashTree/>
</hashTree>"#
        )
    };
    let plan = |groups: &[&str], serialized: bool| {
        let groups: String = groups.iter().map(|class| group(class)).collect();
        format!(
            r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"><boolProp name="TestPlan.serialize_threadgroups">{serialized}</boolProp></TestPlan><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>"#
        )
    };
    let (main, setup) = ("ThreadGroup", "SetupThreadGroup");
    for (groups, serialized, length) in [
        (&[main, main][..], false, Some(7000)),
        (&[main, main], true, Some(14_000)),
        // The length is unknown at the start, because the main group starts only when the setUp group ends.
        (&[setup, main], false, None),
    ] {
        let program = Program::new();
        program.write("groups.jmx", &plan(groups, serialized));
        let port = format!("-Jport={}", target.addr().port());
        let ended = program.run(&["run", "groups.jmx", "--runs", "runs", &port]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let frame = read(&program).frame;
        match length {
            Some(_) => assert_eq!(frame.load.length_ms, length, "{groups:?} {serialized}"),
            None => {
                let (told, most) = (frame.load.length_ms, 7000 + frame.length_ms);
                assert!(told.is_some_and(|told| (7000..=most).contains(&told)), "{told:?}");
            }
        }
    }
}
