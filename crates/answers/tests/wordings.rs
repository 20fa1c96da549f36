//! The verdict on result files of other systems and languages: the same failure must get the same name.

use answers::rules;
use answers::verdict::Finding;
use record::Record;

const BIND: &str = "java.net.BindException";
const HOST: &str = "org.apache.http.conn.HttpHostConnectException";

const SOCKET: &str = "java.net.SocketException";
const TIMEOUT: &str = "java.net.SocketTimeoutException";
const DNS: &str = "java.net.UnknownHostException";
const ROUTE: &str = "java.net.NoRouteToHostException";

/// Returns rows of 50 users. After half a minute, three in ten requests fail with this class and message.
fn rows(class: &str, text: &str) -> String {
    let mut rows = String::from(
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,Latency,Connect\n",
    );
    for at in 0..6000_u64 {
        let (ms, user) = (1_700_000_000_000 + at * 10, at % 50 + 1);
        let row = if at > 3000 && at % 10 < 3 {
            format!(
                "{ms},2,Page,Non HTTP response code: {class},\"Non HTTP response message: {text}\",Users 1-{user},false,0,50,50,0,2"
            )
        } else {
            format!("{ms},{},Page,200,OK,Users 1-{user},true,300,50,50,20,1", 18 + at * 7 % 9)
        };
        rows += &row;
        rows.push('\n');
    }
    rows
}

fn verdict(class: &str, text: &str) -> Vec<Finding> {
    let record = Record::of_rows(rows(class, text).as_bytes()).expect("rows");
    rules::verdict(&record).findings
}

fn first(class: &str, text: &str) -> Finding {
    verdict(class, text).into_iter().next().expect("a finding")
}

#[test]
fn local_ports_that_run_out_are_named_in_all_languages() {
    for (class, text, advice) in [
        (
            "java.net.NoRouteToHostException",
            "Cannot assign requested address (Address not available)",
            "ip_local_port_range",
        ),
        (BIND, "Cannot assign requested address", "ip_local_port_range"),
        (BIND, "无法指定被请求的地址", "ip_local_port_range"),
        (BIND, "要求アドレスに割り当てられません", "ip_local_port_range"),
        (BIND, "Die angeforderte Adresse kann nicht zugewiesen werden", "ip_local_port_range"),
        (BIND, "Ne peut attribuer l'adresse demandée", "ip_local_port_range"),
        (BIND, "Невозможно назначить запрошенный адрес", "ip_local_port_range"),
        (BIND, "Não foi possível acessar o endereço requisitado", "ip_local_port_range"),
        (BIND, "No se puede asignar la dirección solicitada", "ip_local_port_range"),
        (BIND, "요청한 주소를 배정할 수 없습니다", "ip_local_port_range"),
        (BIND, "Address already in use: connect", "TcpTimedWaitDelay"),
        (
            "java.net.SocketException",
            "No buffer space available (maximum connections reached?): connect",
            "MaxUserPort",
        ),
        (BIND, "Can't assign requested address", "net.inet.ip.portrange.first"),
    ] {
        let found = first(class, text);
        assert_eq!(found.id, "ports", "{text}: {}", found.words.en);
        assert!(
            found.words.en.ends_with(&format!("because none was free: {text}")),
            "{}",
            found.words.en
        );
        assert!(found.advice.en.contains(advice), "{text}: {}", found.advice.en);
        assert!(found.advice.zh.contains(advice), "{text}: {}", found.advice.zh);
    }
}

#[test]
fn netty_adds_the_address_to_the_text() {
    let class = "io.netty.channel.AbstractChannel$AnnotatedConnectException";
    for (text, id) in [
        ("无法指定被请求的地址: shop/10.0.0.1:80", "ports"),
        ("Cannot assign requested address: shop/10.0.0.1:80", "ports"),
    ] {
        assert_eq!(first(class, text).id, id, "{text}");
    }
    let refused = |text| said(class, text).0;
    let english = refused("Connection refused: shop/10.0.0.1:80");
    assert_eq!(refused("拒绝连接: shop/10.0.0.1:80"), english);
}

#[test]
fn a_file_without_messages_has_whole_sentences_and_no_kept_samples() {
    let head = "timeStamp,elapsed,label,responseCode,threadName,success,allThreads\n";
    let rows = |class: &str| -> String {
        let row = |at: u64| {
            let (ms, fails) = (1_700_000_000_000 + at * 10, at > 3000 && at % 10 < 3);
            let code =
                if fails { format!("Non HTTP response code: {class}") } else { "200".to_owned() };
            format!("{ms},{},Page,{code},Users 1-{},{},50\n", 18 + at * 7 % 9, at % 50 + 1, !fails)
        };
        head.to_owned() + &(0..6000).map(row).collect::<String>()
    };
    let first = |class: &str| {
        let record = Record::of_rows(rows(class).as_bytes()).expect("rows");
        rules::verdict(&record).findings.into_iter().next().expect("a finding")
    };
    let ports = first(BIND).words;
    assert!(ports.en.ends_with("samples failed because none was free."), "{}", ports.en);
    assert!(ports.zh.ends_with("个样本因没有空闲端口而失败。"), "{}", ports.zh);
    for class in ["javax.net.ssl.SSLHandshakeException", ROUTE, "org.example.OddException"] {
        let advice = first(class).advice;
        assert!(!advice.en.contains("kept samples"), "{class}: {}", advice.en);
        assert!(!advice.zh.contains("保留的样本"), "{class}: {}", advice.zh);
    }
}

/// Returns the ids of all findings, and the first sentence without the message that the system wrote.
fn said(class: &str, text: &str) -> (Vec<&'static str>, [String; 2]) {
    let findings = verdict(class, text);
    let words = &findings[0].words;
    // A long message is cut.
    let plain = |said: &str| {
        let name = class.rsplit('.').next().unwrap_or(class);
        let from = said.find(&format!("{name}: ")).map_or(said.len(), |at| at);
        said[..from].replace(text, "")
    };
    (findings.iter().map(|finding| finding.id).collect(), [plain(&words.en), plain(&words.zh)])
}

/// Messages for each cause, as Linux in several languages, macOS, Windows and Java itself write them.
const CAUSES: [(&str, &[(&str, &str)]); 8] = [
    (
        "refused",
        &[
            (
                HOST,
                "Connect to shop:80 [shop/10.0.0.1] failed: Connection refused (Connection refused)",
            ),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: Connection refused: connect"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: 拒绝连接"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: 接続を拒否されました"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: Verbindungsaufbau abgelehnt"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: В соединении отказано"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: Conexión rehusada"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: 연결이 거부됨"),
        ],
    ),
    (
        "reset",
        &[
            (SOCKET, "Connection reset"),
            (SOCKET, "Connection reset by peer"),
            (SOCKET, "连接被对方重设"),
            (SOCKET, "接続が相手からリセットされました"),
            (SOCKET, "Die Verbindung wurde vom Kommunikationspartner zurückgesetzt"),
            (SOCKET, "Соединение сброшено другой стороной"),
            (SOCKET, "Broken pipe (Write failed)"),
            (SOCKET, "Software caused connection abort: socket write error"),
            (SOCKET, "你的主机中的软件中止了一个已建立的连接。"),
            (SOCKET, "Se ha anulado una conexión establecida por el software en su equipo host."),
        ],
    ),
    (
        "no answer to connect",
        &[
            (
                HOST,
                "Connect to shop:80 [shop/10.0.0.1] failed: Connection timed out (Connection timed out)",
            ),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: Connection timed out: connect"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: Operation timed out"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: 连接超时"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: Expiró el tiempo de conexión"),
            (HOST, "Connect to shop:80 [shop/10.0.0.1] failed: 接続がタイムアウトしました"),
        ],
    ),
    ("no answer", &[(TIMEOUT, "Read timed out"), (TIMEOUT, "Read timed out.")]),
    (
        "unknown host",
        &[
            (DNS, "shop: Name or service not known"),
            (DNS, "shop: 未知的名称或服务"),
            (DNS, "shop: Der Name oder der Dienst ist nicht bekannt"),
            (DNS, "shop"),
            (DNS, "不知道这样的主机。 (shop)"),
        ],
    ),
    (
        "no route",
        &[
            (ROUTE, "No route to host (Host unreachable)"),
            (ROUTE, "No route to host: connect"),
            (ROUTE, "没有到主机的路由"),
            (ROUTE, "Keine Route zum Zielrechner"),
            (ROUTE, "Нет маршрута до узла"),
        ],
    ),
    (
        "files",
        &[
            (SOCKET, "Too many open files"),
            (SOCKET, "Too many open files: connect"),
            (SOCKET, "Zu viele offene Dateien"),
            (SOCKET, "打开的文件过多"),
            (SOCKET, "Demasiados ficheros abiertos"),
            (SOCKET, "Слишком много открытых файлов"),
        ],
    ),
    (
        "tls",
        &[
            ("javax.net.ssl.SSLHandshakeException", "Received fatal alert: handshake_failure"),
            (
                "javax.net.ssl.SSLHandshakeException",
                "Remote host closed connection during handshake",
            ),
        ],
    ),
];

#[test]
fn the_verdict_on_a_cause_is_the_same_in_all_languages() {
    for (cause, texts) in CAUSES {
        let all: Vec<_> = texts.iter().map(|(class, text)| said(class, text)).collect();
        for (one, (_, text)) in all.iter().zip(texts) {
            assert_eq!(*one, all[0], "{cause}: {text}");
        }
        if cause == "files" {
            assert_eq!(all[0].0[0], "files_exhausted");
        }
    }
}

#[test]
fn advice_is_for_the_system_that_wrote_the_file() {
    let files = |text: &str| first(SOCKET, text).advice.en;
    assert!(files("打开的文件过多").contains("ulimit -n"));
    assert!(files("Too many open files: connect").contains("Windows sets no limit"));
    let connect = |text: &str| {
        let text = format!("Connect to shop:80 [shop/10.0.0.1] failed: {text}");
        first(HOST, &text).advice.en
    };
    assert!(connect("连接超时").contains("tcp_syn_retries"));
    assert!(connect("Connection timed out: connect").contains("Max SYN Retransmissions"));
    assert!(connect("Operation timed out").contains("firewall"));
    assert!(!connect("Operation timed out").contains("gives up after"));
    let reset = |text: &str| first(SOCKET, text).advice.en;
    assert!(reset("Software caused connection abort: recv failed").contains("10053"));
    assert!(!reset("Connection reset").contains("10053"));
}

#[test]
fn a_file_of_macos_is_known_by_any_of_its_texts() {
    let mut rows = rows(SOCKET, "Too many open files");
    rows += &format!(
        "1700000060000,2,Page,Non HTTP response code: {BIND},Non HTTP response message: Can't assign requested address,Users 1-1,false,0,50,50,0,2\n"
    );
    let verdict = rules::verdict(&Record::of_rows(rows.as_bytes()).expect("rows"));
    let found = verdict.findings.iter().find(|one| one.id == "files_exhausted").expect("files");
    assert!(found.advice.en.contains("launchctl limit maxfiles"), "{}", found.advice.en);
}

/// A connect timeout counts as a limit of the plan only if Java's message says so. A message of the operating
/// system means the time limit of the operating system.
#[test]
fn connects_that_the_system_gave_up_are_no_limit_of_the_plan() {
    for (class, text, is_of_plan) in [
        (HOST, "Connect to 10.0.0.7:8080 [/10.0.0.7] failed: Connection timed out: connect", false),
        (HOST, "Connect to shop:80 failed: Connection timed out (Connection timed out)", false),
        (SOCKET, "连接超时", false),
        (TIMEOUT, "connect timed out", true),
        (TIMEOUT, "Read timed out", true),
    ] {
        let late = rows(class, text).replace(",2,Page,Non", ",21010,Page,Non");
        let verdict = rules::verdict(&Record::of_rows(late.as_bytes()).expect("rows"));
        let says = verdict.findings.iter().any(|found| found.words.en.contains("the plan's own"));
        assert_eq!(says, is_of_plan, "{text}: {:#?}", verdict.findings);
    }
}
