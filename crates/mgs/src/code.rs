//! Result codes of the gateway. A response with HTTP status 200 carries its result code in a header.

/// The gateway's result code for success.
pub const SUCCESS: i64 = 1000;

/// Returns the meaning of a result code in the gateway's documentation; `None` for an unknown code.
pub fn words(code: i64) -> Option<&'static str> {
    Some(match code {
        1000 => "success",
        1001 => "access denied",
        1002 => "rate limited",
        1005 => "not authorised",
        2000 => "session timed out",
        3000 => "API missing or closed",
        3001 => "request data is empty",
        3002 => "request format is wrong",
        3003 => "decryption failed",
        4001 => "back end timed out",
        4002 => "back end failed",
        4003 => "host of the API group is unknown",
        5000 => "unknown error",
        6000 => "service not found",
        7000 => "no key for checking signatures",
        7001 => "signature parameters are missing",
        7002 => "signature check failed",
        7003 => "time stamp is expired or invalid",
        7007 => "time stamp is missing",
        7014 => "signature is missing",
        8002 => "CORS preflight was refused",
        _ => return range(code),
    })
}

/// Returns the meaning of the range to which a result code without its own entry belongs; `None` outside all ranges.
fn range(code: i64) -> Option<&'static str> {
    match code {
        6001..=6999 => Some("error of the service"),
        7000..=7999 => Some("signature refused"),
        1001..=5999 => Some("error of the gateway"),
        _ => None,
    }
}
