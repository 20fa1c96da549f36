//! Requests for a mobile gateway: signs and encrypts rendered requests, and reads result codes from response heads.
//! Hot.
//!
//! Each core has its own keys, cache and buffers. Requests without the header that names the operation are sent
//! unchanged. A gateway with wrong settings fails every sample in its scope, with the reason.

use std::fmt::Write;

use mgs::cache::Counts;
use mgs::settings::Answers;
use mgs::{Sealed, Sealer, code};
use plan::http::{Http, Request, Unsendable, header_lines};
use plan::plan::{Plan, SamplerId};
use plan::result::SampleResult;
use stats::gateway::{BY_RESULT_CODE, BY_SETTINGS, NO_RESULT_CODE};
use stats::{Counter, Recorder};

use crate::context::Context;
use crate::http::lines::value_of;
use crate::ids::UserId;
use crate::session::http1::{Encrypted, HttpExchange};

/// The keys of a gateway: `None` if the gateway is switched off, `Err` with the reason if its settings are wrong.
type Known = Result<Option<Box<Sealer>>, String>;

/// The gateways of a core, with their keys.
#[derive(Debug)]
pub(crate) struct Gateways {
    /// For each gateway: its keys; `None` until a request uses the gateway and its settings are evaluated.
    known: Vec<Option<Known>>,
    sealed: Sealed,
    /// Buffer for header lines.
    room: Vec<u8>,
    /// The key for the response to the request that is being sent; `None` if the request is not encrypted.
    pub(super) encrypted: Option<Encrypted>,
}

impl Gateways {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            known: plan.gateways.iter().map(|_| None).collect(),
            sealed: Sealed::default(),
            room: Vec::new(),
            encrypted: None,
        }
    }

    /// Signs and encrypts a rendered request, if its sampler has a gateway.
    pub(super) fn seal(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        http: &Http,
        request: &mut Request,
    ) -> Result<(), Unsendable> {
        self.encrypted = None;
        let Some(at) = http.gateway.filter(|_| !request.is_file) else { return Ok(()) };
        let known = &mut self.known[at as usize];
        if known.is_none() {
            *known = Some(read(cx, index, id, at));
        }
        let sealer = match known {
            Some(Ok(Some(sealer))) => sealer,
            Some(Err(words)) => return Err(Unsendable::new(BY_SETTINGS, words)),
            _ => return Ok(()),
        };
        let before = sealer.counts();
        let now_ms = cx.clock.wall_ms(cx.clock.now()).unsigned_abs();
        let Some(operation) = request.own_header(&sealer.settings().names.operation) else {
            return Ok(());
        };
        let operation = std::str::from_utf8(operation)
            .map_err(|_| Unsendable::new(BY_SETTINGS, "the name of the operation is not ASCII"))?;
        let done = sealer.seal(operation, &request.body, now_ms, &mut self.sealed);
        done.map_err(|words| Unsendable::new(BY_SETTINGS, &words))?;
        count(&mut cx.recorder, before, sealer.counts());
        let (settings, sealed) = (sealer.settings(), &self.sealed);
        let (names, encryption) = (&settings.names, settings.encryption.as_ref());
        let encryption = encryption.filter(|_| sealed.key.is_some());
        let own = [
            (&names.time, &sealed.stamp),
            (&names.sign, &sealed.sign),
            (&names.sign_type, &settings.sign_type),
        ];
        let own = own.into_iter().filter(|(_, value)| !value.is_empty());
        let others = encryption.into_iter().flat_map(|encryption| &encryption.headers);
        let lines = own.chain(others.map(|(name, value)| (name, value)));
        let lines = lines.map(|(name, value)| (name.as_str(), value.as_str()));
        let body = encryption.map(|_| &sealed.body[..]);
        request.seal(lines, body, &mut self.room);
        self.encrypted = encryption.zip(sealed.key).and_then(|(encryption, key)| {
            (encryption.answers != Answers::Never)
                .then_some(Encrypted { key, always: encryption.answers == Answers::Always })
        });
        Ok(())
    }

    /// Reads the result code from a gateway's response and stores it with the exchange.
    pub(super) fn judge(&self, http: &Http, head: &[u8], facts: &mut HttpExchange) {
        let known = http.gateway.and_then(|at| self.known[at as usize].as_ref());
        let Some(Ok(Some(sealer))) = known.filter(|_| (200..400).contains(&facts.status)) else {
            return;
        };
        let settings = sealer.settings();
        let name = settings.names.result.as_bytes();
        let mut lines = header_lines(head).filter(|_| settings.judges);
        let value = lines.find_map(|line| value_of(line, name)).unwrap_or_default();
        facts.result_code = failure_of(value.trim_ascii());
    }
}

/// Parses the result code of a failure from a header value. Returns 0 if the code means success or the header is
/// missing, and [`UNREADABLE`] if the value is 0 or not a number.
fn failure_of(value: &[u8]) -> i32 {
    let code = std::str::from_utf8(value).ok().and_then(|value| value.parse::<i32>().ok());
    match code {
        None if value.is_empty() => 0,
        None | Some(0) => UNREADABLE,
        Some(code) if i64::from(code) == code::SUCCESS => 0,
        Some(code) => code,
    }
}

/// Result code that stands for a header value that is not a valid result code.
const UNREADABLE: i32 = i32::MIN;

/// Evaluates the settings of a gateway and reads its key.
fn read(cx: &mut Context<'_>, index: UserId, id: SamplerId, at: u32) -> Known {
    let gateway = &cx.plan.gateways[at as usize];
    let settings = cx.with_env(index, id, |env| gateway.settings(env));
    let cores = cx.run.cores as usize;
    let made = settings.and_then(|settings| {
        settings.map(|settings| Sealer::new(settings, cores).map(Box::new)).transpose()
    });
    if let Err(words) = &made {
        cx.log(format!("RPC Gateway Security: {words}"));
    }
    made
}

/// Counts the signatures and encryptions of one request in the statistics.
fn count(recorder: &mut Recorder, before: Counts, after: Counts) {
    for (counter, before, after) in [
        (Counter::MgsSealed, before.sealed, after.sealed),
        (Counter::MgsSealedCpu, before.spent_ns, after.spent_ns),
        (Counter::MgsCacheHits, before.hits, after.hits),
        (Counter::MgsCacheMisses, before.misses, after.misses),
        (Counter::MgsCacheEvictions, before.evictions, after.evictions),
        (Counter::MgsCacheSavedCpu, before.saved_ns, after.saved_ns),
    ] {
        recorder.add(counter, after - before);
    }
}

/// Fails a result with the gateway's result code.
pub(super) fn refuse(result: &mut SampleResult, result_code: i32) {
    if result_code == UNREADABLE {
        return fail(result, format_args!("{NO_RESULT_CODE}"));
    }
    result.success = false;
    result.code.clear();
    result.message.clear();
    let _ = write!(result.code, "{result_code}");
    let words = code::words(i64::from(result_code)).unwrap_or("unknown result code");
    let _ = write!(result.message, "{words} {BY_RESULT_CODE}");
}

/// Fails a result because of the gateway's settings, or because decryption failed.
pub(super) fn fail(result: &mut SampleResult, words: std::fmt::Arguments<'_>) {
    result.success = false;
    result.code.clear();
    result.message.clear();
    let _ = write!(result.code, "Non HTTP response code: {BY_SETTINGS}");
    let _ = write!(result.message, "Non HTTP response message: {words}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_success_and_silence_is_failure() {
        for (value, wanted) in [
            ("1000", 0),
            ("", 0),
            ("7002", 7002),
            ("-1", -1),
            ("0", UNREADABLE),
            ("OK", UNREADABLE),
            ("10000000000", UNREADABLE),
            ("1000, 1000", UNREADABLE),
        ] {
            assert_eq!(failure_of(value.as_bytes()), wanted, "{value}");
        }
        assert_eq!(failure_of(b"\xff"), UNREADABLE);
        let mut result = SampleResult::default();
        refuse(&mut result, UNREADABLE);
        assert!(!result.success && result.code.ends_with(BY_SETTINGS), "{}", result.code);
        refuse(&mut result, 7002);
        assert_eq!(result.code, "7002");
    }
}
