//! The verdict on result files of other systems and languages: the same failure has the same name.

use answers::rules;
use record::Record;

const BIND: &str = "java.net.BindException";
const HOST: &str = "org.apache.http.conn.HttpHostConnectException";

/// The verdict's first finding on 50 users of whom, after half of a minute, three in ten requests fail with that class and text.
fn first(class: &str, text: &str) -> answers::verdict::Finding {
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
    let record = Record::of_rows(rows.as_bytes()).expect("rows");
    let verdict = rules::verdict(&record);
    verdict.findings.into_iter().next().expect("a finding")
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
fn refusals_and_descriptors_are_of_one_kind_in_all_languages() {
    let failed = |text: &str| format!("Connect to shop:80 [shop/10.0.0.1] failed: {text}");
    let kinds = |texts: &[(&str, &str)]| -> Vec<&'static str> {
        texts.iter().map(|(class, text)| first(class, text).id).collect()
    };
    let refused = [
        "Connection refused (Connection refused)",
        "Connection refused: connect",
        "拒绝连接",
        "接続を拒否されました",
        "В соединении отказано",
        "Conexión rehusada",
    ]
    .map(failed);
    let refused: Vec<(&str, &str)> = refused.iter().map(|text| (HOST, &**text)).collect();
    let ids = kinds(&refused);
    assert!(ids.iter().all(|id| id == &ids[0]), "{ids:?}");
    let files = [
        "Too many open files",
        "Zu viele offene Dateien",
        "打开的文件过多",
        "Demasiados ficheros abiertos",
    ];
    let files = files.map(|text| ("java.net.SocketException", text));
    assert_eq!(kinds(&files), ["files_exhausted"; 4]);
}
