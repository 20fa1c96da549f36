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
        "3003" => words!(
            "The gateway has another key or derives another: `throng mgs verify` finds the settings of a captured request (`throng explain mgs`).",
            "网关使用的密钥或派生方式不同：`throng mgs verify` 可从抓取的请求中找出设置（`throng explain mgs`）。"
        ),
        "7000" | "7001" | "7002" | "7014" => words!(
            "Compare secret, digest, join and headers with the gateway's: `throng mgs verify` finds them from a captured request (`throng explain mgs`).",
            "请与网关核对密钥、摘要、拼接方式和请求头：`throng mgs verify` 可从抓取的请求中找出它们（`throng explain mgs`）。"
        ),
        "7003" | "7007" => words!(
            "Compare the clocks (throng.mgs.clock.offset_ms), and throng.mgs.cache.window_s with the validity of time stamps at the gateway.",
            "请核对时钟（throng.mgs.clock.offset_ms），并将 throng.mgs.cache.window_s 与网关的时间戳有效期比较。"
        ),
        _ => return None,
    })
}

fn of_settings(cause: &CauseName) -> Words {
    if cause.message.contains(UNDECRYPTABLE) {
        return words!(
            "The gateway encrypts its answers in another way, or not at all: compare throng.mgs.decrypt, iv, gzip and derive (`throng explain mgs`).",
            "网关以其他方式加密响应，或根本不加密：请核对 throng.mgs.decrypt、iv、gzip 和 derive（`throng explain mgs`）。"
        );
    }
    if cause.message.contains(NO_RESULT_CODE) {
        return words!(
            "Something other than the gateway answered, or throng.mgs.header.result names another header (`throng explain mgs`).",
            "响应并非来自网关，或 throng.mgs.header.result 指定了其他响应头（`throng explain mgs`）。"
        );
    }
    words!(
        "These requests were not sent: correct the settings of RPC Gateway Security; `throng check` says what is wrong (`throng explain mgs`).",
        "这些请求没有发出：请更正 RPC Gateway Security 的设置；`throng check` 会指出问题（`throng explain mgs`）。"
    )
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
