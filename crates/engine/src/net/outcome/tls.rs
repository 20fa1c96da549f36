//! Failures of TLS with the messages of Java 17, which JMeter writes into its results.
//!
//! The exception classes and messages of common failures were recorded from Java. Java has a message for every way
//! in which a server can violate the protocol. For these violations, the message is that of our TLS library.

use wire::tls::Error;
use wire::tls::rustls::{AlertDescription, CertificateError, Error as Tls, InvalidMessage};

const EXCEPTION: &str = "javax.net.ssl.SSLException";
const HANDSHAKE: &str = "javax.net.ssl.SSLHandshakeException";
const PROTOCOL: &str = "javax.net.ssl.SSLProtocolException";
const UNVERIFIED: &str = "javax.net.ssl.SSLPeerUnverifiedException";

/// Returns the class of the Java exception for a TLS failure.
pub(super) fn class(error: &Error) -> &'static str {
    let error = match error {
        Error::Tls(error) => error,
        Error::OldVersion(_) => return HANDSHAKE,
        _ => return EXCEPTION,
    };
    match error {
        Tls::AlertReceived(alert) => of_alert(*alert),
        Tls::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => UNVERIFIED,
        Tls::InvalidMessage(InvalidMessage::InvalidContentType)
        | Tls::DecryptError
        | Tls::PeerSentOversizedRecord
        | Tls::General(_) => EXCEPTION,
        Tls::InvalidMessage(_)
        | Tls::InappropriateMessage { .. }
        | Tls::InappropriateHandshakeMessage { .. } => PROTOCOL,
        _ => HANDSHAKE,
    }
}

/// Returns the message of the Java exception for a TLS failure.
pub(super) fn text(error: &Error) -> String {
    let error = match error {
        Error::Tls(error) => error,
        Error::OldVersion(version) => {
            let name = match version {
                0x0300 => "SSL30".to_owned(),
                0x0301..=0x0304 => format!("TLS1{}", version - 0x0301),
                other => format!("TLS-{}.{}", other >> 8, other & 0xFF),
            };
            return format!(
                "The server selected protocol version {name} is not accepted by client preferences [TLS13, TLS12]"
            );
        }
        error => return error.to_string(),
    };
    match error {
        Tls::AlertReceived(alert) => format!("Received fatal alert: {}", name(*alert)),
        Tls::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "Unsupported or unrecognized SSL message".into()
        }
        Tls::DecryptError => "Tag mismatch!".into(),
        Tls::General(text) => text.clone(),
        Tls::InvalidCertificate(error) => certificate(error),
        error => error.to_string(),
    }
}

fn certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed".into()
        }
        CertificateError::UnknownIssuer => {
            "PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target".into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<String> = presented.iter().map(|name| subject(name)).collect();
            format!(
                "Certificate for <{}> doesn't match any of the subject alternative names: [{}]",
                expected.to_str(),
                names.join(", ")
            )
        }
        error => format!("PKIX path validation failed: {error}"),
    }
}

/// Returns a name in a certificate, without the type that the TLS library adds in its error.
fn subject(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, rest)| rest.trim_end_matches(')'));
    inner.trim_matches('"').to_owned()
}

/// Returns Java's exception class for an alert. The class depends on whether the alert occurs only in handshakes.
fn of_alert(alert: AlertDescription) -> &'static str {
    match u8::from(alert) {
        10 => PROTOCOL,
        40..=51 | 60 | 70 | 71 | 100 | 109..=116 | 120 => HANDSHAKE,
        _ => EXCEPTION,
    }
}

fn name(alert: AlertDescription) -> String {
    let name = match u8::from(alert) {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        other => return format!("UNKNOWN ALERT ({other})"),
    };
    name.into()
}
