//! The option `--out KIND=ADDRESS`: the destinations of metrics, with their credentials.
//!
//! Secrets come from environment variables, or from the user and password in an address. No message contains them:
//! addresses are shown without user, password and query.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Default port of the endpoint that Prometheus scrapes.
const PORT: u16 = 9464;
/// Default interval between two messages to a target. JMeter's InfluxDB listener has the same default.
const INTERVAL: Duration = Duration::from_secs(5);

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    InfluxDb,
    /// Prometheus scrapes an endpoint of this process.
    Prometheus,
    RemoteWrite,
    Otlp,
}

const KINDS: [(&str, Kind); 4] = [
    ("influxdb", Kind::InfluxDb),
    ("prometheus", Kind::Prometheus),
    ("prometheus-remote-write", Kind::RemoteWrite),
    ("otlp", Kind::Otlp),
];

/// A target as the user requested it.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub kind: Kind,
    /// The URL for POST requests without user and password, or for Prometheus the address and port of the endpoint.
    pub(crate) url: String,
    /// Kind and address of the target, as messages show them.
    shown: String,
    user: Option<(String, String)>,
    /// Name of the system under test; the default is the plan's name.
    pub(crate) application: Option<String>,
    pub(crate) interval: Duration,
    /// File with certificates to trust in addition to the system's certificates.
    pub(crate) roots: Option<PathBuf>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Target {
    /// Resolves the path of the certificate file against `folder` instead of the working directory.
    pub fn set_folder(&mut self, folder: &Path) {
        self.roots = self.roots.take().map(|file| folder.join(file));
    }

    /// Parses `KIND=ADDRESS[,application=NAME][,interval=SECONDS][,ca=FILE]`. Errors never quote possible secrets.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, address) = text.split_once('=').unwrap_or((text, ""));
        let Some((name, kind)) = KINDS.into_iter().find(|known| known.0 == kind) else {
            let kind: String = kind.chars().take(30).collect();
            let known = KINDS.map(|known| known.0).join(", ");
            return Err(format!(
                "--out: unknown kind {kind}; use one of {known}, for example --out influxdb=http://localhost:8086/jmeter"
            ));
        };
        let failed = |words: String| format!("--out {name}: {words}");
        let (address, options) = options(address);
        let (mut application, mut interval, mut roots) = (None, INTERVAL, None);
        for (option, value) in options {
            match option {
                "application" if !value.trim().is_empty() => application = Some(value.to_owned()),
                "interval" => {
                    let seconds = value.strip_suffix('s').unwrap_or(value).parse::<u64>();
                    let seconds = seconds.ok().filter(|seconds| (1..=3600).contains(seconds));
                    let wrong = || failed("interval must be from 1s to 3600s".to_owned());
                    interval = Duration::from_secs(seconds.ok_or_else(wrong)?);
                }
                "ca" if !value.is_empty() => roots = Some(value.into()),
                _ => return Err(failed(format!("{option} has no value"))),
            }
        }
        let mut target = Self {
            kind,
            url: String::new(),
            shown: String::new(),
            user: None,
            application,
            interval,
            roots,
        };
        if kind == Kind::Prometheus {
            target.url = endpoint(address).map_err(failed)?;
            target.shown = format!("prometheus at http://{}/metrics", target.url);
        } else {
            target.set_url(address).map_err(failed)?;
            target.shown = format!("{name} at {}", target.url.split('?').next().unwrap_or(""));
        }
        Ok(target)
    }

    /// Parses several targets and keeps their order.
    pub fn all(texts: &[String]) -> Result<Vec<Self>, String> {
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    /// Returns kind and address of the target, as messages show them.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn set_url(&mut self, address: &str) -> Result<(), String> {
        let example = match self.kind {
            Kind::InfluxDb => "http://localhost:8086/jmeter",
            Kind::RemoteWrite => "http://localhost:9090/api/v1/write",
            Kind::Otlp | Kind::Prometheus => "http://localhost:4318",
        };
        let wrong = || format!("expected an http or https URL, for example {example}");
        let (scheme, rest) = address.split_once("://").ok_or_else(wrong)?;
        let rest = rest.split('#').next().unwrap_or("");
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = match authority.rsplit_once('@') {
            None => authority,
            Some((user, host)) => {
                let (user, password) = user.split_once(':').unwrap_or((user, ""));
                self.user = Some((decoded(user), decoded(password)));
                host
            }
        };
        let odd = |c: char| c.is_control() || c == ' ' || c == '"' || c == '\\';
        if !matches!(scheme, "http" | "https") || host.is_empty() || rest.contains(odd) {
            return Err(wrong());
        }
        let (path, query) = match path.split_once('?') {
            None => (path, None),
            Some((path, query)) => (path, Some(query)),
        };
        let path = self.full_path(path, query)?;
        self.url = format!("{scheme}://{host}{path}");
        Ok(())
    }

    /// Returns the path and query of POST requests. Missing parts of the user's URL get the target's defaults.
    fn full_path(&self, path: &str, query: Option<&str>) -> Result<String, String> {
        let with_query = |path: &str| match query {
            None => path.to_owned(),
            Some(query) => format!("{path}?{query}"),
        };
        let has = |name: &str| {
            query.is_some_and(|query| {
                query.split('&').any(|part| part.split('=').next() == Some(name))
            })
        };
        let short = path.trim_matches('/');
        match self.kind {
            Kind::InfluxDb if short.ends_with("api/v2/write") => {
                if !has("bucket") {
                    return Err("the URL of InfluxDB 2 needs ?org=…&bucket=…".into());
                }
                if has("precision") {
                    return Err("remove precision from the URL: times are in nanoseconds".into());
                }
                Ok(with_query(path))
            }
            Kind::InfluxDb if short == "write" || short.ends_with("/write") => {
                if !has("db") {
                    return Err("the URL needs ?db=…, the name of the database".into());
                }
                if has("precision") {
                    return Err("remove precision from the URL: times are in nanoseconds".into());
                }
                Ok(with_query(path))
            }
            Kind::InfluxDb if short.is_empty() || short.contains('/') || query.is_some() => {
                Err("append the name of the database to the URL, for example http://localhost:8086/jmeter; for InfluxDB 2, use http://localhost:8086/api/v2/write?org=…&bucket=…".into())
            }
            Kind::InfluxDb => Ok(format!("/write?db={short}")),
            Kind::RemoteWrite if short.is_empty() => Ok(with_query("/api/v1/write")),
            Kind::Otlp if short.is_empty() => Ok(with_query("/v1/metrics")),
            Kind::RemoteWrite | Kind::Otlp | Kind::Prometheus => Ok(with_query(path)),
        }
    }

    /// Returns the HTTP headers of each message, including secrets. Environment variables override the user and
    /// password in the address.
    pub(crate) fn headers(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<(String, String)> {
        let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        let prefix = match self.kind {
            Kind::InfluxDb => "THRONG_INFLUXDB",
            Kind::RemoteWrite => "THRONG_REMOTE_WRITE",
            Kind::Otlp | Kind::Prometheus => "THRONG_OTLP",
        };
        let user = match given(&format!("{prefix}_USER")) {
            Some(user) => Some((user, given(&format!("{prefix}_PASSWORD")).unwrap_or_default())),
            None => self.user.clone(),
        };
        let scheme = if self.kind == Kind::InfluxDb { "Token" } else { "Bearer" };
        if let Some(token) = given(&format!("{prefix}_TOKEN")) {
            add("Authorization", format!("{scheme} {}", token.trim()));
        } else if let Some((user, password)) = user {
            add(
                "Authorization",
                format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))),
            );
        }
        match self.kind {
            Kind::InfluxDb => add("Content-Type", "text/plain; charset=utf-8".into()),
            Kind::RemoteWrite => {
                add("Content-Type", "application/x-protobuf".into());
                add("Content-Encoding", "snappy".into());
                add("X-Prometheus-Remote-Write-Version", "0.1.0".into());
            }
            Kind::Otlp | Kind::Prometheus => add("Content-Type", "application/json".into()),
        }
        // OpenTelemetry's standard variables contain headers in the form `name=value,name=value`.
        let lists: &[&str] = match self.kind {
            Kind::Otlp => &["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS"],
            Kind::RemoteWrite => &["THRONG_REMOTE_WRITE_HEADERS"],
            Kind::InfluxDb | Kind::Prometheus => &[],
        };
        for list in lists.iter().filter_map(|name| given(name)) {
            for (name, value) in list.split(',').filter_map(|pair| pair.split_once('=')) {
                headers.retain(|header| !header.0.eq_ignore_ascii_case(name.trim()));
                headers.push((name.trim().to_owned(), decoded(value.trim())));
            }
        }
        headers
    }
}

/// Splits the text into the address and the options that follow it.
fn options(text: &str) -> (&str, Vec<(&str, &str)>) {
    let (mut address, mut options) = (text, Vec::new());
    while let Some((before, last)) = address.rsplit_once(',') {
        let Some((name @ ("application" | "interval" | "ca"), value)) = last.split_once('=') else {
            break;
        };
        options.push((name, value));
        address = before;
    }
    (address, options)
}

/// Returns address and port of the endpoint: loopback unless another address is specified.
fn endpoint(text: &str) -> Result<String, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if text.is_empty() {
        return Ok(format!("127.0.0.1:{PORT}"));
    }
    if let Ok(port) = port.parse::<u16>() {
        return Ok(format!("127.0.0.1:{port}"));
    }
    if text.parse::<SocketAddr>().is_ok() {
        return Ok(text.to_owned());
    }
    match text.rsplit_once(':') {
        Some(("localhost", port)) if port.parse::<u16>().is_ok() => Ok(format!("127.0.0.1:{port}")),
        _ => {
            Err(format!("expected an address to listen on, for example :{PORT} or 0.0.0.0:{PORT}"))
        }
    }
}

/// Decodes percent-encoding: `%40` is `@`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> String {
        Target::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).url
    }

    #[test]
    fn addresses_are_completed() {
        for (text, expected) in [
            ("influxdb=http://h:8086/db", "http://h:8086/write?db=db"),
            ("influxdb=http://h:8086/write?db=x&rp=y", "http://h:8086/write?db=x&rp=y"),
            (
                "influxdb=https://h/api/v2/write?org=o&bucket=b",
                "https://h/api/v2/write?org=o&bucket=b",
            ),
            ("prometheus", "127.0.0.1:9464"),
            ("prometheus=:1234", "127.0.0.1:1234"),
            ("prometheus=1234", "127.0.0.1:1234"),
            ("prometheus=[::1]:1", "[::1]:1"),
            ("prometheus=0.0.0.0:9464", "0.0.0.0:9464"),
            ("prometheus-remote-write=http://h:9090", "http://h:9090/api/v1/write"),
            ("prometheus-remote-write=http://h/receive", "http://h/receive"),
            ("otlp=http://h:4318", "http://h:4318/v1/metrics"),
            ("otlp=http://h:4318/otlp/v1/metrics?a=b", "http://h:4318/otlp/v1/metrics?a=b"),
        ] {
            assert_eq!(url(text), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_are_explained_without_secrets() {
        for (text, words) in [
            ("influx=http://a:secret@h/db", "unknown kind influx; use one of influxdb, "),
            ("influxdb=http://a:secret@h", "the name of the database"),
            ("influxdb=ftp://a:secret@h/db", "expected an http or https URL"),
            ("influxdb=http://a:secret@h/write", "needs ?db="),
            ("influxdb=http://a:secret@h/write?db=d&precision=ms", "remove precision from the URL"),
            ("influxdb=http://a:secret@h/api/v2/write", "?org=…&bucket=…"),
            ("otlp=secret:4318", "http://localhost:4318"),
            ("prometheus=host.example:9464", "for example :9464"),
            ("otlp=http://h,interval=0", "interval must be from 1s"),
        ] {
            let error = Target::parse(text).expect_err(text);
            assert!(error.contains(words) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn options_stand_behind_the_address() {
        let text = "influxdb=http://h/a,b,application=my shop,interval=10s";
        let target = Target::parse(text).expect("a target");
        assert_eq!(target.url, "http://h/write?db=a,b");
        assert_eq!(target.application.as_deref(), Some("my shop"));
        assert_eq!(target.interval, Duration::from_secs(10));
    }

    #[test]
    fn secrets_are_in_headers_and_nowhere_else() {
        let text = "influxdb=https://me:s%40cret@h/api/v2/write?org=o&bucket=b&p=hidden";
        let target = Target::parse(text).expect("a target");
        for shown in [format!("{target:?}"), target.shown().to_owned()] {
            assert_eq!(shown, "influxdb at https://h/api/v2/write");
        }
        let header = |variable: &dyn Fn(&str) -> Option<String>, name: &str| {
            let headers = target.headers(variable);
            headers.into_iter().find(|header| header.0 == name).map(|header| header.1)
        };
        let basic = format!("Basic {}", STANDARD.encode("me:s@cret"));
        assert_eq!(header(&|_| None, "Authorization"), Some(basic));
        let token = |name: &str| (name == "THRONG_INFLUXDB_TOKEN").then(|| "abc\n".to_owned());
        assert_eq!(header(&token, "Authorization").as_deref(), Some("Token abc"));
        let otlp = Target::parse("otlp=http://h").expect("a target");
        let variable = |name: &str| {
            (name == "OTEL_EXPORTER_OTLP_HEADERS").then(|| "api-key=a%20b,x=y".to_owned())
        };
        let headers = otlp.headers(&variable);
        assert!(
            headers.contains(&("api-key".into(), "a b".into()))
                && headers.contains(&("x".into(), "y".into()))
        );
    }
}
