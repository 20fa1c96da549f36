//! Outcomes of failures, found by the messages in result files: messages of Linux, Windows and macOS, in the
//! languages of systems and JVMs.
//!
//! The class of an exception decides first, if it has one meaning. Otherwise its message decides. Java's own messages,
//! and those of its table of Windows sockets, are always English. Messages of the operating system are translated;
//! `wordings.tsv` lists them. Until JDK 12, Java on Unix adds an English message in brackets. Hosts, paths and URLs
//! around such messages may contain any word, so that whole messages are compared. Many messages occur on one system
//! only ([`System::of`]).

use std::collections::HashMap;
use std::sync::LazyLock;

use stats::{Outcome, Phase};

/// The meaning of a message by itself. Its outcome also depends on the class of the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// No local address or port was available.
    Ports,
    /// An address is in use. In an attempt to connect, no free local port was available.
    InUse,
    Refused,
    /// The peer or a host on the way broke an open connection.
    Reset,
    /// The generator's own system ended an open connection (error 10053 of Windows).
    Aborted,
    /// TCP itself gave up on the connection after its own timeout.
    TimedOut,
    ConnectTimedOut,
    ReadTimedOut,
    Unreachable,
    Files,
    Dns,
    Denied,
}

/// The operating system that wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Linux,
    MacOs,
    Windows,
}

const LANGUAGES: &str = include_str!("wordings.tsv");

/// English messages of Java, and of its table of Windows sockets.
const JAVA: &[(Kind, &str)] = &[
    (Kind::Ports, "no buffer space available (maximum connections reached?)"),
    (Kind::Ports, "cannot assign requested address"),
    (Kind::InUse, "address already in use"),
    (Kind::Refused, "connection refused"),
    (Kind::Reset, "connection reset"),
    (Kind::Reset, "connection reset by peer"),
    (Kind::Reset, "network dropped connection on reset"),
    (Kind::Reset, "software caused connection abort"),
    (Kind::Reset, "java.net.socketexception: connection reset"),
    (Kind::Reset, "broken pipe"),
    (Kind::ConnectTimedOut, "connect timed out"),
    (Kind::ReadTimedOut, "read timed out"),
    (Kind::TimedOut, "connection timed out"),
    (Kind::TimedOut, "operation timed out"),
    (Kind::Unreachable, "no route to host"),
    (Kind::Unreachable, "network is unreachable"),
    (Kind::Unreachable, "host unreachable"),
    (Kind::Unreachable, "host is unreachable"),
    (Kind::Denied, "permission denied"),
];
/// English messages that Java appends in brackets to a translated message, on Unix until JDK 12.
const BRACKETS: &[(Kind, &str)] = &[
    (Kind::Ports, "address not available"),
    (Kind::Refused, "connection refused"),
    (Kind::TimedOut, "connection timed out"),
    (Kind::Unreachable, "host unreachable"),
    (Kind::Files, "too many open files"),
];
/// Names of calls that follow a message of Java's table of Windows sockets.
const CALLS: &[&str] =
    &["connect", "getsockopt", "no further information", "recv failed", "socket write error"];

/// The meaning of a message, and the system that wrote it if only one system uses the message.
type Known = (Kind, Option<System>);

/// Upper limit for the length of the messages in the table, bytes.
const LONGEST: usize = 410;

/// Java's message for error 10053 of Windows.
const ABORT: &str = "software caused connection abort";

static TEXTS: LazyLock<HashMap<String, Known>> = LazyLock::new(|| {
    let rows = LANGUAGES.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| {
        let mut cells = line.split('\t');
        let (kind, systems) = (kind_of(cells.next()?)?, cells.next()?);
        Some((plain(cells.nth(1)?), (kind, system_of(systems))))
    });
    let mut texts: HashMap<String, Known> = rows.collect();
    for (kind, text) in JAVA {
        texts.entry((*text).to_owned()).or_insert((*kind, None));
    }
    texts
});

fn system_of(names: &str) -> Option<System> {
    match names {
        "glibc" | "musl" => Some(System::Linux),
        "macos" => Some(System::MacOs),
        "windows" => Some(System::Windows),
        _ => None,
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "ports" => Kind::Ports,
        "in-use" => Kind::InUse,
        "refused" => Kind::Refused,
        "reset" => Kind::Reset,
        "aborted" => Kind::Aborted,
        "timeout" => Kind::TimedOut,
        "unreachable" => Kind::Unreachable,
        "files" => Kind::Files,
        "dns" => Kind::Dns,
        "denied" => Kind::Denied,
        _ => return None,
    })
}

/// Normalizes a string: lower case, one space for each run of white space, no full stop at the end.
fn plain(text: &str) -> String {
    let text = text.replace('’', "'").to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', '。', ' ']).to_owned()
}

/// Removes the address that Netty appends: `TEXT: shop/10.0.0.1:80`.
fn without_address(text: &str) -> &str {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let is_address = |end: &str| {
        !end.contains(' ') && end.rsplit_once(':').is_some_and(|(_, port)| is_port(port))
    };
    text.rsplit_once(": ").filter(|(_, end)| is_address(end)).map_or(text, |(text, _)| text)
}

/// Returns the meaning of a message. The lookup uses the whole message or the part that the system wrote.
fn known(message: &str) -> Option<Known> {
    let message = message.strip_prefix("Non HTTP response message: ").unwrap_or(message);
    let text = plain(message);
    // Pattern: `Connect to shop:80 [shop/10.0.0.1] failed: TEXT`
    let text = text.rsplit_once("failed: ").map_or(&*text, |(_, behind)| behind);
    let text = without_address(text);
    let known = |text: &str| TEXTS.get(text.trim_end_matches(['.', '。'])).copied();
    let in_brackets = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let bracket = in_brackets.and_then(|(before, within)| {
        let word = BRACKETS.iter().find(|(_, word)| *word == within);
        let system = || known(before).and_then(|(_, system)| system);
        // Pattern: `TEXT (connect failed)` or `PATH (TEXT)`
        word.map(|(kind, _)| (*kind, system())).or_else(|| known(before)).or_else(|| known(within))
    });
    let called = || {
        let (before, call) = text.rsplit_once(": ")?;
        let (kind, _) = CALLS.contains(&call).then(|| known(before)).flatten()?;
        let kind = if before == ABORT { Kind::Aborted } else { kind };
        Some((kind, Some(System::Windows)))
    };
    // Pattern: `shop.example: TEXT`
    let behind_name = || text.split_once(": ").and_then(|(_, text)| known(text));
    known(text).or(bracket).or_else(called).or_else(behind_name)
}

fn kind(message: &str) -> Option<Kind> {
    known(message).map(|(kind, _)| kind)
}

impl System {
    /// Returns the system that wrote this message; `None` if several systems use the message, or it is unknown.
    pub fn of(message: &str) -> Option<Self> {
        known(message)?.1
    }
}

/// Returns true if the message says that the generator's own system ended a connection.
pub fn is_abort(message: &str) -> bool {
    kind(message) == Some(Kind::Aborted)
}

/// Returns true if the message says that the operating system, not a limit of the plan, gave up a connection.
pub fn timed_out_by_system(message: &str) -> bool {
    kind(message) == Some(Kind::TimedOut)
}

/// Returns true if a response contains a system's message about a lack of free local ports, in any language. Then
/// the server that sent the response lacks ports, not the generator.
pub fn names_ports(answer: &str) -> bool {
    let answer = plain(answer);
    let mut ports = TEXTS.iter().filter(|(_, (kind, _))| *kind == Kind::Ports);
    ports.any(|(text, _)| answer.contains(&**text))
}

/// Returns true if the message says that the client closed its own connection: messages of Java and of its HTTP
/// client.
pub fn closed_here(message: &str) -> bool {
    const WORDS: [&str; 3] = ["socket closed", "interrupted", "connection pool shut down"];
    let message = message.to_lowercase();
    WORDS.iter().any(|words| message.contains(words))
}

/// Determines the outcome from the class of an exception and its message. `code` is a response code such as `Non
/// HTTP response code: java.net.BindException`. Returns `None` if they determine no outcome.
pub(crate) fn outcome(code: &str, message: &str) -> Option<Outcome> {
    let class = code.strip_prefix("Non HTTP response code: ").unwrap_or(code);
    let class = class.rsplit(['.', '$']).next().unwrap_or(class);
    // Netty has subclasses of Java's exceptions with this prefix.
    let class = class.strip_prefix("Annotated").unwrap_or(class);
    let kind = kind(message);
    let connecting = |kind: Option<Kind>| match kind {
        Some(Kind::Ports | Kind::InUse) => Outcome::PortsExhausted,
        Some(Kind::TimedOut | Kind::ConnectTimedOut) => Outcome::Timeout(Phase::Connect),
        Some(Kind::Unreachable) => Outcome::Unreachable,
        Some(Kind::Files) => Outcome::FilesExhausted,
        _ => Outcome::Refused,
    };
    Some(match class {
        "UnknownHostException" => Outcome::Dns,
        // HTTP samplers bind no port other than the local port of a connection. Binding a source address that does not
        // exist fails at once.
        "BindException" if kind != Some(Kind::Denied) => Outcome::PortsExhausted,
        "ConnectTimeoutException" if kind == Some(Kind::ReadTimedOut) => {
            Outcome::Timeout(Phase::Tls)
        }
        "ConnectTimeoutException" => Outcome::Timeout(Phase::Connect),
        "SocketTimeoutException" if kind == Some(Kind::ConnectTimedOut) => {
            Outcome::Timeout(Phase::Connect)
        }
        "SocketTimeoutException" => Outcome::Timeout(Phase::Response),
        "HttpHostConnectException" | "ConnectException" => connecting(kind),
        "NoRouteToHostException" if kind == Some(Kind::Ports) => Outcome::PortsExhausted,
        "NoRouteToHostException" => Outcome::Unreachable,
        "NoHttpResponseException" | "TruncatedChunkException" | "ConnectionClosedException" => {
            Outcome::Closed
        }
        "SSLHandshakeException" if kind.is_none() => Outcome::Tls,
        "FileNotFoundException" if kind == Some(Kind::Files) => Outcome::FilesExhausted,
        "FileNotFoundException" => Outcome::File,
        _ => by_text(kind?)?,
    })
}

/// Returns the outcome that a message alone determines.
fn by_text(kind: Kind) -> Option<Outcome> {
    Some(match kind {
        Kind::Ports => Outcome::PortsExhausted,
        Kind::Refused => Outcome::Refused,
        Kind::Reset | Kind::Aborted => Outcome::Reset,
        Kind::ConnectTimedOut => Outcome::Timeout(Phase::Connect),
        // The peer of an open connection does not respond.
        Kind::TimedOut | Kind::ReadTimedOut => Outcome::Timeout(Phase::Response),
        Kind::Unreachable => Outcome::Unreachable,
        Kind::Files => Outcome::FilesExhausted,
        Kind::Dns => Outcome::Dns,
        Kind::InUse | Kind::Denied => return None,
    })
}

/// Returns the outcome of the longest message of the table that occurs as whole words within other words. Messages
/// for unknown names and for denied access are skipped: other failures have the same messages ("System error").
fn within(words: &str) -> Option<Outcome> {
    let is_edge = |at: &usize| {
        let (before, behind) = words.split_at(*at);
        let is_letter = |of: Option<char>| of.is_some_and(char::is_alphanumeric);
        !(is_letter(before.chars().next_back()) && is_letter(behind.chars().next()))
    };
    let places = words.char_indices().map(|(at, _)| at).chain([words.len()]);
    let edges: Vec<usize> = places.filter(is_edge).collect();
    let parts = edges.iter().enumerate().flat_map(|(at, from)| {
        let ends = edges[at + 1..].iter().take_while(move |to| *to - from <= LONGEST);
        ends.filter_map(move |to| words.get(*from..*to))
    });
    let told = parts.filter_map(|part| {
        let (kind, _) = TEXTS.get(part)?;
        let is_one = !matches!(kind, Kind::Dns | Kind::Denied | Kind::InUse);
        is_one.then_some((part.len(), *kind))
    });
    told.max_by_key(|(length, _)| *length).and_then(|(_, kind)| by_text(kind))
}

/// Determines the outcome from system messages within longer ones, such as those of plug-ins and of other tools.
pub(crate) fn outcome_within(code: &str, message: &str) -> Option<Outcome> {
    let words = plain(&format!("{code} {message}"));
    let text = within(&words);
    if matches!(text, Some(Outcome::PortsExhausted | Outcome::FilesExhausted)) {
        return text;
    }
    let first_of = |known: &[(&str, Outcome)]| {
        known.iter().find(|(part, _)| words.contains(part)).map(|(_, outcome)| *outcome)
    };
    // Names of classes are the same in all languages, and so are the messages of Apache's HTTP client.
    let class = first_of(&[
        ("unknownhostexception", Outcome::Dns),
        ("connecttimeoutexception", Outcome::Timeout(Phase::Connect)),
    ]);
    let rest = || {
        first_of(&[
            ("sockettimeoutexception", Outcome::Timeout(Phase::Response)),
            ("timed out", Outcome::Timeout(Phase::Response)),
            ("noroutetohost", Outcome::Unreachable),
            ("unreachable", Outcome::Unreachable),
            ("nohttpresponseexception", Outcome::Closed),
            ("connectionclosedexception", Outcome::Closed),
            ("premature end", Outcome::Closed),
            ("failed to respond", Outcome::Closed),
            ("javax.net.ssl", Outcome::Tls),
            ("filenotfoundexception", Outcome::File),
        ])
    };
    let is_http = || words.contains("org.apache.http") && words.contains("exception");
    class.or(text).or_else(rest).or_else(|| is_http().then_some(Outcome::Protocol))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes and messages of exceptions, with the outcome of each.
    const SEEN: &[(&str, &str, Outcome)] = &[
        ("java.net.BindException", "Address already in use: connect", Outcome::PortsExhausted),
        ("java.net.BindException", "Can't assign requested address", Outcome::PortsExhausted),
        ("java.net.BindException", "无法指定被请求的地址", Outcome::PortsExhausted),
        ("java.net.BindException", "無法指定所需的位址", Outcome::PortsExhausted),
        (
            "java.net.SocketException",
            "No buffer space available (maximum connections reached?): connect",
            Outcome::PortsExhausted,
        ),
        (
            "java.net.NoRouteToHostException",
            "Die angeforderte Adresse kann nicht zugewiesen werden (Address not available)",
            Outcome::PortsExhausted,
        ),
        (
            "org.apache.http.conn.HttpHostConnectException",
            "Connect to shop:80 [shop/10.0.0.1] failed: Cannot assign requested address (connect failed)",
            Outcome::PortsExhausted,
        ),
        (
            "org.apache.http.conn.HttpHostConnectException",
            "Connect to shop:80 [shop/10.0.0.1] failed: Connexion refusée (Connection refused)",
            Outcome::Refused,
        ),
        (
            "org.apache.http.conn.HttpHostConnectException",
            "Connect to shop:80 [shop/10.0.0.1] failed: 连接被拒绝",
            Outcome::Refused,
        ),
        (
            "org.apache.http.conn.HttpHostConnectException",
            "Connect to shop:80 [shop/10.0.0.1] failed: Connection timed out: connect",
            Outcome::Timeout(Phase::Connect),
        ),
        (
            "java.net.ConnectException",
            "Expiró el tiempo de conexión (Connection timed out)",
            Outcome::Timeout(Phase::Connect),
        ),
        (
            "org.apache.http.conn.ConnectTimeoutException",
            "Connect to shop:443 [shop/10.0.0.1] failed: Read timed out",
            Outcome::Timeout(Phase::Tls),
        ),
        ("java.net.SocketTimeoutException", "Read timed out", Outcome::Timeout(Phase::Response)),
        ("java.net.SocketTimeoutException", "connect timed out", Outcome::Timeout(Phase::Connect)),
        ("java.net.SocketException", "Connection reset", Outcome::Reset),
        ("java.net.SocketException", "接続が相手からリセットされました", Outcome::Reset),
        ("java.net.SocketException", "你的主机中的软件中止了一个已建立的连接。", Outcome::Reset),
        (
            "javax.net.ssl.SSLException",
            "Eine bestehende Verbindung wurde softwaregesteuert\r\ndurch den Hostcomputer abgebrochen",
            Outcome::Reset,
        ),
        ("javax.net.ssl.SSLException", "Connection reset", Outcome::Reset),
        (
            "java.net.SocketException",
            "Software caused connection abort: socket write error",
            Outcome::Reset,
        ),
        ("java.net.SocketException", "Обрыв канала (Write failed)", Outcome::Reset),
        ("java.net.NoRouteToHostException", "找不到通往該主機的路由路徑", Outcome::Unreachable),
        ("java.net.SocketException", "A rede está fora de alcance", Outcome::Unreachable),
        ("java.net.UnknownHostException", "不知道这样的主机。 (shop.example)", Outcome::Dns),
        ("java.net.SocketException", "열린 파일이 너무 많음", Outcome::FilesExhausted),
        (
            "java.io.FileNotFoundException",
            "/tmp/data.csv (Demasiados ficheros abiertos)",
            Outcome::FilesExhausted,
        ),
        ("java.io.FileNotFoundException", "C:\\data.csv (系統找不到指定的檔案。)", Outcome::File),
        ("org.apache.http.NoHttpResponseException", "shop:80 failed to respond", Outcome::Closed),
        (
            "io.netty.channel.AbstractChannel$AnnotatedConnectException",
            "无法指定被请求的地址: shop/10.0.0.1:80",
            Outcome::PortsExhausted,
        ),
        (
            "io.netty.channel.AbstractChannel$AnnotatedConnectException",
            "Connection refused: no further information: /[::1]:80",
            Outcome::Refused,
        ),
        (
            "io.netty.channel.AbstractChannel$AnnotatedNoRouteToHostException",
            "Keine Route zum Zielrechner: shop/10.0.0.1:443",
            Outcome::Unreachable,
        ),
        (
            "io.netty.channel.AbstractChannel$AnnotatedSocketException",
            "Cannot assign requested address: shop/10.0.0.1:80",
            Outcome::PortsExhausted,
        ),
    ];

    #[test]
    fn words_among_others_are_those_of_the_table_in_all_languages() {
        for (text, expected) in [
            ("connect to broker: 拒绝连接, tried 3 times", Some(Outcome::Refused)),
            ("broker (无法指定被请求的地址)", Some(Outcome::PortsExhausted)),
            ("I/O error, connexion refusée; giving up", Some(Outcome::Refused)),
            ("pool: Too many open files.", Some(Outcome::FilesExhausted)),
            ("java.net.UnknownHostException: broker", Some(Outcome::Dns)),
            ("the call timed out", Some(Outcome::Timeout(Phase::Response))),
            // The first message contains an entry of the table only as a part of a word; the second occurs in other
            // failures, too.
            ("目标主机关闭了连接", None),
            ("System error 17", None),
        ] {
            assert_eq!(outcome_within("Plug-in", text), expected, "{text}");
        }
    }

    #[test]
    fn failures_are_of_one_kind_in_all_languages() {
        for (class, text, expected) in SEEN {
            let code = format!("Non HTTP response code: {class}");
            let message = format!("Non HTTP response message: {text}");
            assert_eq!(outcome(&code, &message), Some(*expected), "{class}: {text}");
        }
    }

    #[test]
    fn texts_are_those_of_a_system() {
        for (text, system) in [
            ("Address already in use: connect", Some(System::Windows)),
            (
                "Connect to shop:80 [shop/10.0.0.1] failed: Connection refused: connect",
                Some(System::Windows),
            ),
            ("你的主机中的软件中止了一个已建立的连接。", Some(System::Windows)),
            ("Can't assign requested address", Some(System::MacOs)),
            ("Cannot assign requested address", Some(System::Linux)),
            ("拒绝连接 (Connection refused)", Some(System::Linux)),
            ("Connection refused (Connection refused)", None),
            ("Read timed out", None),
        ] {
            assert_eq!(System::of(text), system, "{text}");
        }
        assert!(names_ports("502: connect() failed (99: Cannot assign requested address)"));
        assert!(names_ports("I/O error: 无法指定被请求的地址; nested exception"));
        assert!(!names_ports("Internal Server Error"));
    }

    #[test]
    fn names_of_hosts_and_paths_are_no_words() {
        let of =
            |class: &str, text: &str| outcome(&format!("Non HTTP response code: {class}"), text);
        assert_eq!(
            of("java.io.FileNotFoundException", "Connection refused.json"),
            Some(Outcome::File)
        );
        assert_eq!(of("java.lang.IllegalStateException", "broken pipe in the plan"), None);
        assert_eq!(of("java.net.SocketException", "Permission denied: connect"), None);
    }

    #[test]
    fn the_table_has_each_text_once_and_only_kinds_that_are_known() {
        let rows: Vec<&str> = LANGUAGES.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.iter().all(|row| row.split('\t').count() == 4));
        assert!(rows.iter().all(|row| kind_of(row.split('\t').next().unwrap_or("")).is_some()));
        let texts: std::collections::BTreeSet<String> =
            rows.iter().map(|row| plain(row.rsplit('\t').next().unwrap_or(""))).collect();
        assert_eq!(texts.len(), rows.len());
    }
}
