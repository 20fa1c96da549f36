//! The words of errors of requests through a mobile gateway. Samples fail with them, and the verdict knows such errors by
//! them, in runs as in result files.

/// The end of the message of a sample that failed by its result code; before it is the meaning of the code.
pub const BY_RESULT_CODE: &str = "(result code of the gateway)";
/// The last word of the code of a sample that failed by the settings, in decryption or for want of a result code.
pub const BY_SETTINGS: &str = "throng.mgs";
/// In the message of a sample whose answer could not be decrypted.
pub const UNDECRYPTABLE: &str = "the answer cannot be decrypted";
/// In the message of a sample whose answer has something else where its result code should be.
pub const NO_RESULT_CODE: &str = "the gateway's result code is 0 or no number";
