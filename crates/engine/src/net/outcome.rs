//! Failures of exchanges, and the table of JMeter's codes and messages for them in result files.

mod tls;

use std::fmt::Write;
use std::io::{self, ErrorKind};

use stats::{Outcome, Phase};

use crate::net::routes::Route;

/// Reason why an exchange failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The name cannot be resolved. `still` is true if it was unknown a moment ago and was not looked up a second
    /// time.
    UnknownHost {
        still: bool,
    },
    /// The plan's own name servers do not know the name; with JMeter's message.
    NotFound(String),
    /// The plan defines the host without an address.
    NoAddress,
    /// The local address for the connection does not exist; with Java's message.
    UnknownSource(String),
    /// The TCP connection could not be established.
    Connect(io::Error),
    ConnectTimeout,
    TlsTimeout,
    ResponseTimeout,
    /// Sending or receiving on the connection failed.
    Socket(io::Error),
    /// The response violated the protocol or ended too early.
    Http(wire::http1::Error),
    Tls(wire::tls::Error),
    /// The size of a chunk cannot be parsed; with the line that contains the size.
    ChunkSize(String),
    /// The request's own connection headers cannot be parsed; with HttpClient's message.
    Connection(String),
    /// The peer closed the connection during the TLS handshake.
    TlsClosed,
    /// The exchange was cut because the run ended at once.
    Cut,
    /// A Sample Timeout has interrupted the sample.
    Interrupted(Phase),
    TooManyRedirects(u32),
}

/// Writes the response code and message of a failure. Returns the outcome of its sample.
pub(crate) fn describe(
    failure: &Failure,
    route: &Route,
    code: &mut String,
    message: &mut String,
) -> Outcome {
    let (class, outcome) = classify(failure, route);
    code.clear();
    message.clear();
    code.push_str("Non HTTP response code: ");
    code.push_str(class);
    message.push_str("Non HTTP response message: ");
    let _ = match failure {
        Failure::UnknownSource(words) | Failure::NotFound(words) | Failure::Connection(words) => {
            message.write_str(words)
        }
        Failure::NoAddress => message.write_str("Connection is closed"),
        Failure::UnknownHost { still: true } => message.write_str(&route.host),
        Failure::UnknownHost { still: false } => {
            write!(message, "{}: Name or service not known", route.host)
        }
        Failure::ConnectTimeout => {
            attempt(route, message);
            message.write_str("Connect timed out")
        }
        Failure::Connect(error) => match classify_io(error) {
            Outcome::PortsExhausted | Outcome::FilesExhausted => message.write_str(&io_text(error)),
            _ => {
                attempt(route, message);
                message.write_str(&io_text(error))
            }
        },
        Failure::TlsTimeout | Failure::ResponseTimeout => message.write_str("Read timed out"),
        Failure::Socket(error) => message.write_str(&io_text(error)),
        Failure::Http(error) => http_text(*error, route, message),
        Failure::Tls(error) => message.write_str(&tls::text(error)),
        Failure::ChunkSize(text) => write!(message, "Bad chunk header: {text}"),
        Failure::TlsClosed => message.write_str("Remote host terminated the handshake"),
        Failure::Cut | Failure::Interrupted(_) => message.write_str("Socket closed"),
        Failure::TooManyRedirects(max) => {
            write!(message, "Exceeded maximum number of redirects: {max}")
        }
    };
    outcome
}

/// Writes the response code and message of a failure as JMeter does with Java's own client. Returns the outcome of its
/// sample.
pub(crate) fn describe_java(
    failure: &Failure,
    route: &Route,
    code: &mut String,
    message: &mut String,
) -> Outcome {
    use wire::http1::Error as Http;
    let outcome = describe(failure, route, code, message);
    let (class, words) = match failure {
        Failure::UnknownHost { .. } => ("java.net.UnknownHostException", route.host.clone()),
        Failure::ConnectTimeout => ("java.net.SocketTimeoutException", "Connect timed out".into()),
        Failure::Connect(error) => match outcome {
            Outcome::Refused => ("java.net.ConnectException", io_text(error)),
            Outcome::Timeout(_) => ("java.net.ConnectException", io_text(error)),
            _ => return outcome,
        },
        Failure::Http(Http::NoResponse) => {
            ("java.net.SocketException", "Unexpected end of file from server".into())
        }
        Failure::Http(
            Http::TruncatedChunk { .. } | Http::NoLastChunk | Http::TruncatedBody { .. },
        ) => ("java.io.IOException", "Premature EOF".into()),
        Failure::TooManyRedirects(max) => {
            ("java.net.ProtocolException", format!("Server redirected too many  times ({max})"))
        }
        _ => return outcome,
    };
    code.clear();
    message.clear();
    let _ = write!(code, "Non HTTP response code: {class}");
    let _ = write!(message, "Non HTTP response message: {words}");
    outcome
}

/// Returns the message of a failure as reported by a plain Java socket.
pub(crate) fn socket_text(failure: &Failure, route: &Route) -> String {
    match failure {
        Failure::UnknownHost { .. } | Failure::NoAddress => route.host.clone(),
        Failure::UnknownSource(words) | Failure::NotFound(words) => words.clone(),
        Failure::ConnectTimeout => "Connect timed out".into(),
        // For a proxy, the plug-in reports this message.
        Failure::Connect(error) if route.tunnel.is_some() => {
            format!("Proxy connection setup error: {}", io_text(error))
        }
        Failure::Connect(error) | Failure::Socket(error) => io_text(error),
        // Java closes the socket after a failed handshake. The plug-in does not notice, and later finds the socket
        // closed.
        Failure::Tls(_) | Failure::TlsClosed => "Socket is closed".into(),
        Failure::TlsTimeout | Failure::ResponseTimeout => "Read timed out".into(),
        Failure::Http(_)
        | Failure::ChunkSize(_)
        | Failure::Connection(_)
        | Failure::TooManyRedirects(_) => String::new(),
        Failure::Cut | Failure::Interrupted(_) => "Socket closed".into(),
    }
}

/// Returns the outcome of a sample that has failed with this failure.
pub(crate) fn kind(failure: &Failure, route: &Route) -> Outcome {
    classify(failure, route).1
}

fn attempt(route: &Route, message: &mut String) {
    let _ = write!(message, "Connect to {}:{} [", route.host, route.port);
    for (n, address) in route.addresses.iter().enumerate() {
        let own = if route.host.parse::<std::net::IpAddr>().is_ok() { "" } else { &*route.host };
        let name = route.found_as.get(n).map_or(own, String::as_str);
        let _ = write!(message, "{}{name}/{}", if n > 0 { ", " } else { "" }, address.ip());
    }
    message.push_str("] failed: ");
}

fn classify(failure: &Failure, route: &Route) -> (&'static str, Outcome) {
    use wire::http1::Error as Http;
    match failure {
        Failure::NoAddress => ("org.apache.http.ConnectionClosedException", Outcome::Dns),
        Failure::UnknownHost { .. } | Failure::UnknownSource(_) | Failure::NotFound(_) => {
            ("java.net.UnknownHostException", Outcome::Dns)
        }
        Failure::ConnectTimeout => {
            ("org.apache.http.conn.ConnectTimeoutException", Outcome::Timeout(Phase::Connect))
        }
        Failure::TlsTimeout => ("java.net.SocketTimeoutException", Outcome::Timeout(Phase::Tls)),
        Failure::ResponseTimeout => {
            ("java.net.SocketTimeoutException", Outcome::Timeout(Phase::Response))
        }
        Failure::Connect(error) => match classify_io(error) {
            // With a local address that the plan sets, the bind fails; otherwise the connect fails.
            Outcome::PortsExhausted
                if error.raw_os_error() == Some(nix::libc::EADDRNOTAVAIL)
                    && route.source.is_any() =>
            {
                ("java.net.NoRouteToHostException", Outcome::PortsExhausted)
            }
            Outcome::PortsExhausted => ("java.net.BindException", Outcome::PortsExhausted),
            Outcome::FilesExhausted => ("java.net.SocketException", Outcome::FilesExhausted),
            Outcome::Unreachable => ("java.net.NoRouteToHostException", Outcome::Unreachable),
            Outcome::Timeout(_) => {
                ("org.apache.http.conn.HttpHostConnectException", Outcome::Timeout(Phase::Connect))
            }
            outcome => ("org.apache.http.conn.HttpHostConnectException", outcome),
        },
        Failure::Socket(error) => match classify_io(error) {
            Outcome::Timeout(_) => ("java.net.SocketException", Outcome::Timeout(Phase::Response)),
            outcome => ("java.net.SocketException", outcome),
        },
        Failure::Http(Http::NoResponse) => {
            ("org.apache.http.NoHttpResponseException", Outcome::Closed)
        }
        Failure::Connection(_) => ("org.apache.http.ParseException", Outcome::Protocol),
        Failure::ChunkSize(_) => {
            ("org.apache.http.MalformedChunkCodingException", Outcome::Protocol)
        }
        Failure::Http(Http::BadChunkSize | Http::BadChunkEnd | Http::BadTrailer) => {
            ("org.apache.http.MalformedChunkCodingException", Outcome::Protocol)
        }
        Failure::Http(Http::TruncatedBody { .. } | Http::NoLastChunk) => {
            ("org.apache.http.ConnectionClosedException", Outcome::Closed)
        }
        Failure::Http(Http::TruncatedChunk { .. }) => {
            ("org.apache.http.TruncatedChunkException", Outcome::Closed)
        }
        Failure::Http(Http::TruncatedHead) => {
            ("org.apache.http.client.ClientProtocolException", Outcome::Closed)
        }
        Failure::Http(_) => ("org.apache.http.client.ClientProtocolException", Outcome::Protocol),

        Failure::Tls(error) => (tls::class(error), Outcome::Tls),
        Failure::TlsClosed => ("javax.net.ssl.SSLHandshakeException", Outcome::Tls),
        Failure::Cut => ("java.net.SocketException", Outcome::CutByEnd),
        Failure::Interrupted(phase) => ("java.net.SocketException", Outcome::Timeout(*phase)),
        Failure::TooManyRedirects(_) => ("java.io.IOException", Outcome::Protocol),
    }
}

fn classify_io(error: &io::Error) -> Outcome {
    match error.raw_os_error() {
        Some(nix::libc::EADDRNOTAVAIL | nix::libc::EADDRINUSE) => return Outcome::PortsExhausted,
        Some(nix::libc::EMFILE | nix::libc::ENFILE | nix::libc::ENOBUFS) => {
            return Outcome::FilesExhausted;
        }
        Some(nix::libc::EHOSTUNREACH | nix::libc::ENETUNREACH) => return Outcome::Unreachable,
        _ => {}
    }
    match error.kind() {
        ErrorKind::ConnectionRefused => Outcome::Refused,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            Outcome::Reset
        }
        ErrorKind::TimedOut => Outcome::Timeout(Phase::Connect),
        _ => Outcome::Other,
    }
}

/// Returns the message of a system error as Java's NIO channels report it: the system's own message.
pub(crate) fn io_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns the message of a system error as Java's sockets report it.
fn io_text(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(nix::libc::ECONNREFUSED) => "Connection refused".into(),
        Some(nix::libc::ECONNRESET) => "Connection reset".into(),
        Some(nix::libc::EPIPE) => "Broken pipe (Write failed)".into(),
        Some(nix::libc::ETIMEDOUT) => "Connection timed out".into(),
        Some(nix::libc::EADDRNOTAVAIL) => "Cannot assign requested address".into(),
        Some(nix::libc::EADDRINUSE) => "Address already in use".into(),
        Some(nix::libc::EMFILE | nix::libc::ENFILE) => "Too many open files".into(),
        Some(nix::libc::EHOSTUNREACH) => "No route to host".into(),
        Some(nix::libc::ENETUNREACH) => "Network is unreachable".into(),
        _ => error.to_string(),
    }
}

fn http_text(error: wire::http1::Error, route: &Route, message: &mut String) -> std::fmt::Result {
    use wire::http1::Error;
    match error {
        Error::NoResponse => {
            let (host, port) = match &route.tunnel {
                Some(behind) => (&behind.host, behind.port),
                None => (&route.host, route.port),
            };
            write!(message, "{host}:{port} failed to respond")
        }
        Error::TruncatedBody { expected, got } => write!(
            message,
            "Premature end of Content-Length delimited message body (expected: {}; received: {})",
            grouped(expected),
            grouped(got)
        ),
        Error::TruncatedChunk { expected, got } => {
            let (expected, got) = (grouped(expected), grouped(got));
            write!(message, "Truncated chunk (expected size: {expected}; actual size: {got})")
        }
        Error::NoLastChunk => {
            message.write_str("Premature end of chunk coded message body: closing chunk expected")
        }
        Error::BadChunkSize | Error::BadChunkEnd | Error::BadTrailer => write!(message, "{error}"),
        // HttpClient wraps these errors without adding a message.
        Error::HeadTooLarge { .. }
        | Error::TooManyHeaders { .. }
        | Error::BadStatusLine
        | Error::BadHeader
        | Error::TruncatedHead => message.write_str("null"),
    }
}

/// Formats a number as HttpClient does, with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
