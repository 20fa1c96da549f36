//! Transport of Backend Listeners' data: lines over HTTP or UDP to InfluxDB, metrics over TCP to Graphite.
//!
//! Data that cannot be sent is dropped, as in JMeter. The first failure is reported at once, the number of failures
//! at the end of the run. Time limits are those of JMeter.

use std::io::Write;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use stats::backend::{Metric, pickle};
use ureq::Agent;

use crate::results::feed::BackendSettings;

/// Reason why a Backend Listener will send nothing.
#[derive(Debug)]
pub(crate) struct Unusable(pub(crate) String);

impl Unusable {
    /// Returns the message for the listener of this name.
    pub(crate) fn message_for(&self, name: &str) -> String {
        format!("{name}: no metrics will be sent: {}", self.0)
    }
}

/// JMeter's time limit for connecting to Graphite, and for each write.
const GRAPHITE_LIMIT: Duration = Duration::from_secs(1);

/// Sender of lines to InfluxDB.
#[derive(Debug)]
pub(crate) struct Lines {
    way: Way,
    failures: u64,
}

#[derive(Debug)]
enum Way {
    Http { agent: Box<Agent>, url: String, token: Option<String> },
    Udp { address: String },
}

impl Lines {
    pub(crate) fn new(
        settings: &BackendSettings,
        number: &impl Fn(&str, u64) -> u64,
    ) -> Result<Self, Unusable> {
        let url = settings.get("influxdbUrl").unwrap_or("").to_owned();
        let sender = settings.get("influxdbMetricsSender").unwrap_or("").trim();
        let way = match class_name(sender) {
            "HttpMetricsSender" => {
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return Err(Unusable(format!("influxdbUrl is not a URL: {url:?}")));
                }
                let limit = |name: &str, default| Duration::from_millis(number(name, default));
                let answer = limit("backend_influxdb.socket_timeout", 3000);
                let config = Agent::config_builder()
                    .http_status_as_error(false)
                    .timeout_connect(Some(limit("backend_influxdb.connection_timeout", 1000)))
                    .timeout_send_request(Some(answer))
                    .timeout_send_body(Some(answer))
                    .timeout_recv_response(Some(answer))
                    .timeout_recv_body(Some(answer))
                    .user_agent("ApacheJMeter5.6.3")
                    .max_redirects(0)
                    .max_redirects_will_error(false)
                    .tls_config(trust::by_roots_of_system())
                    .build();
                let token = settings.get("influxdbToken").filter(|token| !token.trim().is_empty());
                Way::Http {
                    agent: Box::new(config.into()),
                    url,
                    token: token.map(|token| format!("Token {token}")),
                }
            }
            "UdpMetricsSender" => match url.split(':').collect::<Vec<_>>()[..] {
                [_, port] if port.parse::<u16>().is_ok() => Way::Udp { address: url },
                _ => {
                    return Err(Unusable(format!(
                        "InfluxDB url '{url}' is wrong. The format should be <host/ip>:<port>"
                    )));
                }
            },
            _ => return Err(Unusable(format!("unknown metrics sender {sender:?}"))),
        };
        Ok(Self { way, failures: 0 })
    }

    /// Sends lines to InfluxDB.
    pub(crate) fn send(&mut self, lines: &str, complain: &impl Fn(String)) {
        if lines.is_empty() {
            return;
        }
        let sent = match &self.way {
            Way::Http { agent, url, token } => post(agent, url, token.as_deref(), lines),
            Way::Udp { address } => datagram(address, lines),
        };
        note(sent, &mut self.failures, complain);
    }

    pub(crate) fn end(&mut self, complain: &impl Fn(String)) {
        sum_up(self.failures, complain);
    }
}

fn post(agent: &Agent, url: &str, token: Option<&str>, lines: &str) -> Result<(), String> {
    let mut request = agent.post(url).header("Content-Type", "text/plain; charset=UTF-8");
    if let Some(token) = token {
        request = request.header("Authorization", token);
    }
    let failed = |error: ureq::Error| format!("cannot send to {url}: {error}");
    let mut answer = request.send(lines).map_err(failed)?;
    let status = answer.status().as_u16();
    if (200..400).contains(&status) {
        // The connection is reused only if its response was read.
        let _ = answer.body_mut().read_to_vec();
        return Ok(());
    }
    let body = answer.body_mut().read_to_string().unwrap_or_default();
    Err(format!("{url} returned status {status}: {}", body.trim()))
}

fn datagram(address: &str, lines: &str) -> Result<(), String> {
    let sent = resolve(address).and_then(|to| {
        let local: SocketAddr =
            if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
        UdpSocket::bind(local)?.send_to(lines.as_bytes(), to)
    });
    sent.map(drop).map_err(|error| format!("cannot send to {address}: {error}"))
}

fn resolve(address: &str) -> std::io::Result<SocketAddr> {
    let unknown = || std::io::Error::other("the name does not resolve to an address");
    address.to_socket_addrs()?.next().ok_or_else(unknown)
}

/// Sender of metrics to Graphite.
#[derive(Debug)]
pub(crate) struct Carbon {
    address: String,
    pickled: bool,
    stream: Option<TcpStream>,
    failures: u64,
}

impl Carbon {
    pub(crate) fn new(settings: &BackendSettings) -> Result<Self, Unusable> {
        let host = settings.get("graphiteHost").unwrap_or("");
        let port = settings.get("graphitePort").and_then(|port| port.parse::<u16>().ok());
        let sender = settings.get("graphiteMetricsSender").unwrap_or("").trim();
        let pickled = match class_name(sender) {
            "TextGraphiteMetricsSender" => false,
            "PickleGraphiteMetricsSender" => true,
            _ => return Err(Unusable(format!("unknown metrics sender {sender:?}"))),
        };
        let address = format!("{host}:{}", port.unwrap_or(2003));
        Ok(Self { address, pickled, stream: None, failures: 0 })
    }

    /// Sends metrics with a time stamp in seconds.
    pub(crate) fn send(&mut self, metrics: &[Metric], seconds: i64, complain: &impl Fn(String)) {
        let message = if self.pickled {
            pickle(metrics, seconds)
        } else {
            let mut text = String::new();
            for metric in metrics {
                metric.line(seconds, &mut text);
            }
            text.into_bytes()
        };
        let sent = self.write(&message);
        if sent.is_err() {
            self.stream = None;
        }
        let sent = sent.map_err(|error| format!("cannot send to {}: {error}", self.address));
        note(sent, &mut self.failures, complain);
    }

    fn write(&mut self, message: &[u8]) -> std::io::Result<()> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect_timeout(&resolve(&self.address)?, GRAPHITE_LIMIT)?;
                stream.set_write_timeout(Some(GRAPHITE_LIMIT))?;
                self.stream.insert(stream)
            }
        };
        stream.write_all(message)
    }

    pub(crate) fn end(&mut self, complain: &impl Fn(String)) {
        sum_up(self.failures, complain);
    }
}

/// Returns the last part of a class name.
fn class_name(full: &str) -> &str {
    full.rsplit('.').next().unwrap_or(full)
}

fn note(sent: Result<(), String>, failures: &mut u64, complain: &impl Fn(String)) {
    if let Err(words) = sent {
        if *failures == 0 {
            complain(words);
        }
        *failures += 1;
    }
}

fn sum_up(failures: u64, complain: &impl Fn(String)) {
    if failures > 1 {
        complain(format!("failed to send {failures} messages"));
    }
}
