//! Makes two runs comparable: parts that cannot be equal are masked, everything else is kept as written.
//!
//! Masked are times (`timeStamp`, `elapsed`, `Latency`, `IdleTime`, `Connect`), port numbers, and the time in a
//! Duration Assertion's message. Also masked is `bytes` of samples that failed without an answer, for which JMeter
//! counts the letters of a Java stack trace. A case may demand times rounded to a multiple instead, or, with several
//! users, an order that does not depend on the clock.

use crate::document;
use crate::server::Seen;
use std::fmt::Write as _;

/// Requests whose path contains this differ in every run; the case checks them with an assertion instead.
pub const VARIES: &str = "/varies";

/// Rules for comparing a case, one word per line in its file `case`.
#[derive(Default)]
pub struct Rules {
    /// True if the case has several users: rows are sorted by thread name, connections by content, and user counts are
    /// masked.
    pub users: bool,
    /// Multiple, in milliseconds, to which times are rounded before they are compared; `None` if times are masked.
    pub round: Option<u64>,
    /// True if the order of rows depends on timers that differ by a tenth of a second, so a busy machine may need
    /// further attempts.
    pub timed: bool,
    /// True if `bytes` of every failed row is masked, because parents sum up the stack traces of their children.
    pub traces: bool,
    /// Labels of samples whose size depends on the machine; their `bytes` and `sentBytes` are masked.
    pub varies: Vec<String>,
    /// True if the column `bytes` of every result row is masked.
    pub sizes: bool,
    /// True if samplers report longer times than they took, so the rest of a transaction's time may be negative.
    pub claims: bool,
    /// True if the case was recorded only once, with a plug-in that is in no public repository.
    pub by_hand: bool,
    /// True if a user has several requests in flight, so requests are compared without their order and connections.
    pub side_by_side: bool,
    /// True if both programs refuse to run the plan: only the absence of requests is compared.
    pub refused: bool,
    /// True if boundaries of multipart bodies have random content and length, so `sentBytes` is masked.
    pub boundaries: bool,
    /// True if the metrics that Backend Listeners send to `${__P(collector)}` are compared.
    pub figures: bool,
    /// Database server of `tests/servers`, which the plan reaches at `${__P(dbport)}`. Without `PARITY_SERVERS`, the
    /// case is skipped.
    pub server: Option<String>,
    /// Name prefix of a library that the JMeter home must have; otherwise the case is skipped.
    pub jar: Option<String>,
    /// Classes shared by several cases: files in `tests/parity/java`, without extension.
    pub classes: Vec<String>,
    /// Additional arguments for both programs; `${port}` is the target's port.
    pub arguments: Vec<String>,
    /// Options of `throng target tls-front`, which provides TLS in front of the target.
    pub tls: Option<Vec<String>>,
    /// Files shared from other cases, as `CASE/FILE`.
    pub from: Vec<String>,
    /// Files that the plan writes. CSV files with a header are compared like rows, other files as text.
    pub files: Vec<String>,
}

impl Rules {
    pub fn read(text: &str) -> Self {
        let mut rules = Self::default();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            match line.split_once('=').unwrap_or((line, "")) {
                ("users", _) => rules.users = true,
                ("varies", label) => rules.varies.push(label.to_owned()),
                ("sizes", _) => rules.sizes = true,
                ("claims", _) => rules.claims = true,
                ("by_hand", _) => rules.by_hand = true,
                ("boundaries", _) => rules.boundaries = true,
                ("refused", _) => rules.refused = true,
                ("timed", _) => rules.timed = true,
                ("traces", _) => rules.traces = true,
                ("side_by_side", _) => rules.side_by_side = true,
                ("figures", _) => rules.figures = true,
                ("round", ms) => rules.round = Some(ms.parse().expect("round in ms")),
                ("server", name) => rules.server = Some(name.to_owned()),
                ("jar", name) => rules.jar = Some(name.to_owned()),
                ("class", name) => rules.classes.push(name.to_owned()),
                ("arg", argument) => rules.arguments.push(argument.to_owned()),
                ("tls", option) => {
                    let options = rules.tls.get_or_insert_default();
                    options.extend((!option.is_empty()).then(|| option.to_owned()));
                }
                ("from", file) => rules.from.push(file.to_owned()),
                ("file", name) => rules.files.push(name.to_owned()),
                (other, _) => panic!("unknown rule {other}"),
            }
        }
        rules
    }
}

/// Formats the requests as text, grouped by connection in the order of opening.
pub fn requests(seen: &[Seen], rules: &Rules, ports: &[(&str, u16)]) -> String {
    let count = seen.iter().map(|s| s.connection).max().unwrap_or(0);
    let count = if rules.side_by_side { seen.len() } else { count };
    let mut connections = vec![String::new(); count];
    for (n, request) in seen.iter().enumerate() {
        let at = if rules.side_by_side { n } else { request.connection - 1 };
        let text = &mut connections[at];
        let head = String::from_utf8(request.head.clone())
            .unwrap_or_else(|_| request.head.iter().map(|&b| char::from(b)).collect());
        let (head, body) = without_boundary(head, &request.body);
        let varies = head.split(' ').nth(1).is_some_and(|target| target.contains(VARIES));
        for line in head.trim_end_matches("\r\n").split("\r\n") {
            let line = if varies && line.starts_with("Content-Length: ") {
                "Content-Length: _"
            } else {
                line
            };
            text.push_str(&without_nonces(&visible(line)));
            text.push('\n');
        }
        if !varies && !body.is_empty() {
            for line in String::from_utf8_lossy(&body).split('\n') {
                let _ = writeln!(text, "| {}", visible(line));
            }
        }
        text.push('\n');
    }
    if rules.users || rules.side_by_side {
        connections.sort();
    }
    let mut all = String::new();
    for (i, text) in connections.iter().enumerate() {
        let _ = write!(all, "== connection {}\n{text}", i + 1);
    }
    without_keys(&without_ports(&all, ports))
}

/// Replaces the random boundary of a multipart body by `BOUNDARY`; `Content-Length` is adjusted to the shown body.
fn without_boundary(head: String, body: &[u8]) -> (String, Vec<u8>) {
    let marked = head.split_once("; boundary=").map(|(_, rest)| rest);
    let Some(boundary) = marked.and_then(|rest| rest.split([';', '\r']).next()) else {
        return (head, body.to_vec());
    };
    let mut shown = replaced(body, boundary.as_bytes());
    if shown == body {
        // The multipart body has an encoding with two bytes per letter.
        let wide: Vec<u8> = boundary.bytes().flat_map(|byte| [0, byte]).collect();
        shown = replaced(body, &wide);
    }
    let length = |body: &[u8]| format!("Content-Length: {}\r\n", body.len());
    let head = head.replace(&length(body), &length(&shown));
    (head.replace(boundary, "BOUNDARY"), shown)
}

fn replaced(body: &[u8], boundary: &[u8]) -> Vec<u8> {
    let mut shown = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.windows(boundary.len()).position(|part| part == boundary) {
        shown.extend_from_slice(&rest[..at]);
        shown.extend_from_slice(b"BOUNDARY");
        rest = &rest[at + boundary.len()..];
    }
    shown.extend_from_slice(rest);
    shown
}

fn visible(line: &str) -> String {
    line.chars()
        .flat_map(|c| {
            let shown: Vec<char> =
                if c.is_control() { c.escape_default().collect() } else { vec![c] };
            shown
        })
        .collect()
}

/// Masks the rows of a CSV file with a header, by column name. Quotes and line ends inside fields are kept.
pub fn rows(text: &str, rules: &Rules, ports: &[(&str, u16)]) -> String {
    let text = without_keys(&without_durations(&without_ports(text, ports)));
    // Groovy numbers its script classes in the order of compilation, and MariaDB its connections.
    let text = without_numbers("(conn=", &without_numbers("Script", &text));
    if text.starts_with("<?xml") {
        return document::normal(&text, rules);
    }
    let mut records = records(&text);
    if records.is_empty() {
        return text;
    }
    let header = records.remove(0);
    let column = |name: &str| header.iter().position(|h| *h == name);
    let times: Vec<usize> =
        ["elapsed", "Latency", "IdleTime", "Connect"].into_iter().filter_map(column).collect();
    let mut masked: Vec<usize> = column("timeStamp").into_iter().collect();
    if rules.users {
        masked.extend(["grpThreads", "allThreads"].into_iter().filter_map(column));
    }
    for record in &mut records {
        for &i in masked.iter().filter(|&&i| i < header.len()) {
            if let Some(field) = record.get_mut(i) {
                *field = digits_masked(field);
            }
        }
        let is = |name: &str, f: &dyn Fn(&str) -> bool| {
            column(name).and_then(|i| record.get(i)).is_some_and(|v| f(v))
        };
        let unanswered = is("responseCode", &|v| v.starts_with("Non HTTP response code"));
        let failed = is("success", &|v| v == "false");
        let varies = is("URL", &|v| v.contains(VARIES))
            || is("label", &|v| rules.varies.iter().any(|l| l == v));
        if (varies || rules.boundaries)
            && let Some(field) = column("sentBytes").and_then(|i| record.get_mut(i))
        {
            *field = digits_masked(field);
        }
        if (varies || unanswered || rules.sizes || (rules.traces && failed))
            && let Some(field) = column("bytes").and_then(|i| record.get_mut(i))
        {
            *field = digits_masked(field);
        }
        for &i in &times {
            if let Some(field) = record.get_mut(i) {
                *field = time(field, rules);
            }
        }
    }
    if rules.users {
        let thread = column("threadName").unwrap_or(0);
        records.sort_by(|a, b| a.get(thread).cmp(&b.get(thread)));
    }
    records.insert(0, header);
    records.iter().fold(String::new(), |all, record| all + &record.join(",") + "\n")
}

/// Masks a time in milliseconds, or rounds it if the case compares times.
fn time(field: &str, rules: &Rules) -> String {
    let field = field.strip_prefix('-').filter(|_| rules.claims).unwrap_or(field);
    match (rules.round, field.parse::<i64>()) {
        (Some(step), Ok(ms)) => {
            let step = step as i64;
            format!("{}", (ms + step / 2).div_euclid(step) * step)
        }
        _ => digits_masked(field),
    }
}

/// Masks a number as `_`; other text is kept, so that it shows as a difference.
pub fn digits_masked(field: &str) -> String {
    if !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit()) {
        "_".to_owned()
    } else {
        field.to_owned()
    }
}

fn records(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![vec![String::new()]];
    let mut quoted = false;
    for c in text.chars() {
        let record = all.last_mut().expect("never empty");
        match c {
            '"' => {
                quoted = !quoted;
                record.last_mut().expect("never empty").push(c);
            }
            ',' if !quoted => record.push(String::new()),
            '\n' if !quoted => all.push(vec![String::new()]),
            _ => record.last_mut().expect("never empty").push(c),
        }
    }
    if all.last().is_some_and(|r| r.len() == 1 && r[0].is_empty()) {
        all.pop();
    }
    all
}

/// Replaces `It took 1,003 milliseconds` by `It took _ milliseconds`.
fn without_durations(text: &str) -> String {
    let mut pieces = text.split("It took ");
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        masked.push_str("It took _");
        masked.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ','));
    }
    masked
}

/// Masks numbers directly after a word: `Script7.groovy` becomes `Script_.groovy`.
fn without_numbers(word: &str, text: &str) -> String {
    let mut pieces = text.split(word);
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        masked.push_str(word);
        masked.push_str(if rest.len() < piece.len() { "_" } else { "" });
        masked.push_str(rest);
    }
    masked
}

/// Masks the random parts of a Digest authentication header: the client nonce, and the response computed from it.
fn without_nonces(line: &str) -> String {
    const NONCE: &str = "cnonce=\"";
    let masked = |text: &str, name: &str| match text.split_once(name) {
        Some((before, rest)) => {
            let end = rest.find('"').unwrap_or(rest.len());
            format!("{before}{name}{}{}", "_".repeat(end), &rest[end..])
        }
        None => text.to_owned(),
    };
    if line.contains(NONCE) { masked(&masked(line, NONCE), "response=\"") } else { line.to_owned() }
}

/// Masks the random values of the WebSocket handshake.
fn without_keys(text: &str) -> String {
    let mut text = text.to_owned();
    for name in ["Sec-WebSocket-Key: ", "Sec-WebSocket-Accept: "] {
        let mut pieces = text.split(name);
        let mut masked = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            masked.push_str(name);
            let value =
                piece.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b));
            let length = value.count();
            masked.push_str(if matches!(length, 24 | 28) { "_" } else { &piece[..length] });
            masked.push_str(&piece[length..]);
        }
        text = masked;
    }
    text
}

fn without_ports(text: &str, ports: &[(&str, u16)]) -> String {
    ports.iter().fold(text.to_owned(), |t, (name, port)| {
        t.replace(&format!(":{port}"), &format!(":{name}"))
            .replace(&format!("={port}"), &format!("={name}"))
    })
}
