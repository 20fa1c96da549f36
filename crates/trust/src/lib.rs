//! Trusted certificates for connections that the program itself makes, apart from those to the systems under test:
//! to repositories, exporters and collectors of metrics.
//!
//! Server certificates are checked against this machine's root certificates, as Java does; companies add their own
//! roots there. TLS of requests in plans has separate settings, in the crate `wire`.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Builds the TLS configuration of a client that trusts this machine's root certificates. Each call reads them from
/// disk.
pub fn by_roots_of_system() -> TlsConfig {
    by_roots_of_system_and(&[])
}

/// As [`by_roots_of_system`], but the client also trusts the certificates in `own`.
pub fn by_roots_of_system_and(own: &[Certificate<'static>]) -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots = found.iter().map(|der| Certificate::from_der(der).to_owned());
    let roots: Vec<_> = roots.chain(own.iter().cloned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .build()
}
