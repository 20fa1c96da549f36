//! Scrapes an exporter once a second.

use std::io::Read;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use record::mask;
use ureq::Agent;

use crate::reader::Reader;
use crate::{PACE, Reporter, is_over};

/// Maximum length of a response in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// Time limit of one scrape.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn follow(url: &str, reporter: &mut Reporter, ended: &Receiver<()>) {
    let agent = agent(url);
    let start = Instant::now();
    let mut reader = Reader::default();
    loop {
        let asked = Instant::now();
        match fetch(&agent, url) {
            Ok(text) => {
                // The time of the request is used: exporters read their metrics when the request arrives, and
                // writing may take a second.
                let figures = reader.read(&text, (asked - start).as_secs_f64());
                reporter.figures(figures);
                if let Some(settings) = reader.new_settings() {
                    reporter.settings(settings);
                }
            }
            Err(why) => reporter.failure(&why),
        }
        let rest = PACE.saturating_sub(asked.elapsed()).max(PACE / 10);
        if is_over(ended, rest) {
            return;
        }
    }
}

/// Scrapes an exporter once, without keeping the connection; returns the text.
pub(crate) fn once(url: &str) -> Result<String, String> {
    fetch(&agent(url), url)
}

pub(crate) fn agent(url: &str) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        // Watched hosts are contacted directly, without the proxies of the environment.
        .proxy(None)
        // A redirect is reported and not followed.
        .max_redirects(0)
        .user_agent(concat!("throng/", env!("CARGO_PKG_VERSION")));
    if !url.starts_with("https:") {
        return config.build().into();
    }
    config.tls_config(trust::by_roots_of_system()).build().into()
}

fn fetch(agent: &Agent, url: &str) -> Result<String, String> {
    let text = text(agent, url, "text/plain;version=0.0.4,*/*;q=0.1")?;
    if crate::exposition::samples(&text).next().is_none() {
        return Err(format!("{}: the response has no Prometheus metrics", mask::url(url)));
    }
    Ok(text)
}

/// Returns the text at a URL; `accept` is the request's `Accept` header. Errors name the URL without its secrets.
pub(crate) fn text(agent: &Agent, url: &str, accept: &str) -> Result<String, String> {
    let failed = |words: String| format!("{}: {}", mask::url(url), mask::urls(&words));
    let request = agent.get(url).header("Accept", accept);
    let mut answer = request.call().map_err(|error| failed(words(&error)))?;
    if answer.status().is_redirection() {
        let to = answer.headers().get("location").and_then(|to| to.to_str().ok());
        let to = to.unwrap_or("another URL");
        return Err(failed(format!("redirected to {to:.200}; use that URL instead")));
    }
    let mut bytes = Vec::new();
    let mut body = answer.body_mut().as_reader().take(MOST_BYTES + 1);
    body.read_to_end(&mut bytes).map_err(|error| failed(words(&error.into())))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(format!("the response is longer than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => format!("no complete response within {} s", PATIENCE.as_secs()),
        ureq::Error::Rustls(error) => format!("TLS: {error}"),
        ureq::Error::Io(error) => io_words(error),
        other => other.to_string(),
    }
}

/// Returns a description of an error: TLS errors and timeouts are taken out of the I/O errors around them.
fn io_words(error: &std::io::Error) -> String {
    let Some(inner) = error.get_ref() else { return error.to_string() };
    if let Some(error) = inner.downcast_ref::<ureq::Error>() {
        return words(error);
    }
    match inner.downcast_ref::<rustls::Error>() {
        Some(error) => format!("TLS: {error}"),
        None => error.to_string(),
    }
}
