//! Asking an exporter once a second.

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::reader::Reader;
use crate::{PACE, Teller, is_over};

/// Longest text that is read, bytes.
const MOST_BYTES: u64 = 16 << 20;
/// Time limit of a question.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn follow(url: &str, teller: &mut Teller, ended: &Receiver<()>) {
    let agent = agent(url);
    let start = Instant::now();
    let mut reader = Reader::default();
    loop {
        let asked = Instant::now();
        match fetch(&agent, url) {
            Ok(text) => {
                // Exporters read their figures when they are asked, and some take a second to write them.
                let figures = reader.read(&text, (asked - start).as_secs_f64());
                teller.figures(figures);
            }
            Err(why) => teller.failure(&why),
        }
        let rest = PACE.saturating_sub(asked.elapsed()).max(PACE / 10);
        if is_over(ended, rest) {
            return;
        }
    }
}

fn agent(url: &str) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        // Hosts that are watched are asked themselves.
        .proxy(None)
        .user_agent(concat!("throng/", env!("CARGO_PKG_VERSION")));
    if !url.starts_with("https:") {
        return config.build().into();
    }
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = found.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(provider))
        .build();
    config.tls_config(tls).build().into()
}

fn fetch(agent: &Agent, url: &str) -> Result<String, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{url}: {error}");
    let request = agent.get(url).header("Accept", "text/plain;version=0.0.4,*/*;q=0.1");
    let mut answer = request.call().map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    let mut body = answer.body_mut().as_reader().take(MOST_BYTES + 1);
    body.read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{url}: the text is longer than {} MiB", MOST_BYTES >> 20));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if crate::exposition::samples(&text).next().is_none() {
        return Err(format!("{url}: the answer has no metrics of Prometheus"));
    }
    Ok(text)
}
