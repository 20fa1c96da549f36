//! Counters of the gateway. `/stats` returns them as JSON, `/stats/reset` sets them to zero.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use super::backend::Backends;
use super::codes::{CODES, position};
use super::keys::Transport;
use super::limits::Limits;

#[derive(Default)]
pub(super) struct Stats {
    pub(super) requests: AtomicU64,
    /// Number of answers, by position of the result code in [`CODES`].
    codes: [AtomicU64; CODES.len()],
    /// Number of requests with a correct signature.
    pub(super) verified: AtomicU64,
    /// Number of requests whose body was decrypted, by kind of the transporting key.
    decrypted: [AtomicU64; Transport::ALL.len()],
    pub(super) encrypted_answers: AtomicU64,
    /// Processor time for checking signatures, and for decrypting and encrypting bodies, in nanoseconds.
    pub(super) crypto: AtomicU64,
}

pub(super) fn add(count: &AtomicU64, number: u64) {
    count.fetch_add(number, Ordering::Relaxed);
}

impl Stats {
    pub(super) fn answered(&self, code: u16) {
        add(&self.codes[position(code)], 1);
    }

    pub(super) fn decrypted(&self, transport: Transport) {
        let index = Transport::ALL.iter().position(|(_, one)| *one == transport);
        add(&self.decrypted[index.unwrap_or_default()], 1);
    }

    pub(super) fn json(&self, limits: &Limits, backends: &Backends) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let codes = CODES.iter().zip(&self.codes).filter(|(_, count)| of(count) > 0);
        let codes: Map<String, Value> =
            codes.map(|((code, _), count)| (code.to_string(), json!(of(count)))).collect();
        let decrypted = Transport::ALL.iter().zip(&self.decrypted);
        let decrypted: Map<String, Value> =
            decrypted.map(|((name, _), count)| ((*name).to_owned(), json!(of(count)))).collect();
        let backend = |one: &super::backend::Backend| (one.name.clone(), json!(of(&one.served)));
        let served: Map<String, Value> = backends.all().iter().map(backend).collect();
        json!({
            "requests": of(&self.requests), "codes": codes, "verified": of(&self.verified),
            "decrypted": decrypted, "encrypted_answers": of(&self.encrypted_answers),
            "crypto_ms": of(&self.crypto) as f64 / 1e6, "most_at_once": limits.most(),
            "backends": served, "upstream_opened": of(&backends.opened),
            "upstream_reused": of(&backends.reused),
        })
        .to_string()
    }

    pub(super) fn reset(&self, limits: &Limits, backends: &Backends) {
        let own = [&self.requests, &self.verified, &self.encrypted_answers, &self.crypto];
        let served = backends.all().iter().map(|backend| &backend.served);
        let all = own.into_iter().chain(&self.codes).chain(&self.decrypted).chain(served);
        for count in all.chain([&backends.opened, &backends.reused]) {
            count.store(0, Ordering::Relaxed);
        }
        limits.forget_most();
    }
}
