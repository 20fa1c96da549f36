//! Certificates of servers that the program itself asks or tells, beside the systems under test: repositories, exporters,
//! collectors of figures.
//!
//! They are checked against this machine's roots, where companies put their own, as Java does. What plans test has settings
//! of its own, in `wire`.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// TLS of a client of such servers. It reads the machine's roots anew.
pub fn by_roots_of_system() -> TlsConfig {
    by_roots_of_system_and(&[])
}

/// `own` are believed beside the machine's roots.
pub fn by_roots_of_system_and(own: &[Certificate<'static>]) -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots = found.iter().map(|der| Certificate::from_der(der).to_owned());
    let roots: Vec<_> = roots.chain(own.iter().cloned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .build()
}
