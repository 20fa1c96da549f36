//! Applies a Java reply to a result: times, strings and verdicts. If the job failed, the result fails.

use plan::result::SampleResult;
use stats::Phases;

use super::reply::{Failed, Out};
use super::{InFlight, Reply};
use crate::context::Context;
use crate::time::clock::MS;
use crate::time::timing::Timing;

/// Applies a Java reply to the result. If the job failed, the result fails as with a failed assertion.
pub(super) fn amend(
    cx: &Context<'_>,
    result: &mut SampleResult,
    timing: &mut Timing,
    read: &Result<Reply<'_>, Failed>,
    job: &InFlight,
) {
    let reply = match read {
        Ok(reply) => reply,
        Err(failed) => {
            result.success = false;
            result.add_assertion(&job.what).fail_with_error(failed);
            return;
        }
    };
    if let Some(found) = &reply.result {
        let start_ms = result.start_ms;
        let times = (result.elapsed, result.idle);
        found.put_into(result, &cx.run.settings.bodies.default_encoding);
        timing.start += (result.start_ms - start_ms).saturating_mul(MS);
        if result.start_ms != start_ms || (result.elapsed, result.idle) != times {
            timing.idle = result.idle;
            timing.end = timing.start + result.idle.saturating_add_unsigned(result.elapsed);
        }
        (timing.latency, timing.connect) = (result.latency, result.connect);
        timing.phases = Phases::of_times(result.elapsed, result.latency, result.connect);
        (timing.received, timing.sent) = (result.bytes, result.sent);
    }
    if let Out::Verdicts(verdicts) = &reply.out {
        for verdict in verdicts {
            verdict.add_to(result);
            result.success &= !(verdict.failure || verdict.error);
        }
    }
}
