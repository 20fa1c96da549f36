//! Phrases in the error messages of requests through a mobile gateway. Failed samples contain them, and the verdict
//! recognizes gateway errors by them, in runs and in result files.

/// End of the message of a sample that failed by its result code; it follows the meaning of the code.
pub const BY_RESULT_CODE: &str = "(result code of the gateway)";
/// Suffix of the response code of a sample that failed because of gateway settings, a failed decryption or a missing
/// result code.
pub const BY_SETTINGS: &str = "throng.mgs";
/// Part of the message of a sample whose response could not be decrypted.
pub const UNDECRYPTABLE: &str = "the answer cannot be decrypted";
/// Part of the message of a sample whose response contains no valid result code.
pub const NO_RESULT_CODE: &str = "the gateway's result code is 0 or no number";
