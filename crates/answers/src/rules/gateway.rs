//! Errors of requests through a mobile gateway: errors that its result codes name, and errors in its settings.
//!
//! The words at the end of the sample's message distinguish a result code from a status code.

use record::CauseName;
use stats::gateway::{BY_RESULT_CODE, BY_SETTINGS, NO_RESULT_CODE, UNDECRYPTABLE};

use super::say::words;
use crate::verdict::Words;

/// Returns the result code of an error if the error comes from a mobile gateway.
fn result_code(cause: &CauseName) -> Option<&str> {
    cause.message.ends_with(BY_RESULT_CODE).then_some(&*cause.code)
}

/// Returns true if the gateway reports that it limits the rate of requests.
pub(super) fn limits(cause: &CauseName) -> bool {
    result_code(cause) == Some("1002")
}

/// Returns advice on an error of a request through a mobile gateway, if there is better advice than the general one.
pub(super) fn advice(cause: &CauseName) -> Option<Words> {
    if cause.code.ends_with(BY_SETTINGS) {
        return Some(of_settings(cause));
    }
    Some(match result_code(cause)? {
        "3003" => words!(mgs_key_advice),
        "7000" | "7001" | "7002" | "7014" => words!(mgs_signature_advice),
        "7003" | "7007" => words!(mgs_clock_advice),
        _ => return None,
    })
}

fn of_settings(cause: &CauseName) -> Words {
    if cause.message.contains(UNDECRYPTABLE) {
        return words!(mgs_answer_advice);
    }
    if cause.message.contains(NO_RESULT_CODE) {
        return words!(mgs_other_server_advice);
    }
    words!(mgs_settings_advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_on_what_a_gateway_said() {
        let said = |code: &str, message: &str| {
            let cause = CauseName {
                outcome: stats::Outcome::Status,
                code: code.into(),
                message: message.into(),
                first_label: "".into(),
            };
            (advice(&cause).map(|words| words.en).unwrap_or_default(), limits(&cause))
        };
        let by_code = |code: &str| said(code, "x (result code of the gateway)");
        for (code, words) in [("7002", "secret"), ("3003", "key"), ("7003", "clocks"), ("6001", "")]
        {
            let (advice, limited) = by_code(code);
            assert!(
                advice.contains(words) && advice.is_empty() == words.is_empty(),
                "{code}: {advice}"
            );
            assert!(!limited);
        }
        assert!(by_code("1002").1);
        assert_eq!(said("1002", "OK"), (String::new(), false), "a status that a server made up");
        let own = "Non HTTP response code: throng.mgs";
        for (message, words) in [
            ("the gateway's public key is missing", "not sent"),
            ("the answer cannot be decrypted: its padding is wrong", "answers"),
            ("the gateway's result code is 0 or no number", "header.result"),
        ] {
            assert!(said(own, message).0.contains(words), "{message}");
        }
    }
}
