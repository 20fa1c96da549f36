//! Detects requests to this machine: to a loopback address or to one of its own addresses.

use std::collections::HashSet;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use stats::class::ClassDelta;

/// Destination addresses that were already checked.
#[derive(Debug, Default)]
pub(super) struct Here {
    looked: HashSet<Arc<str>>,
}

impl Here {
    /// True if one of the new addresses in a second belongs to this machine.
    pub(super) fn look(&mut self, classes: &[ClassDelta]) -> bool {
        let mut found = false;
        for class in classes.iter().filter(|class| class.header.is_empty() && class.count > 0) {
            found |= self.looked.insert(Arc::clone(&class.value)) && is_here(&class.value);
        }
        found
    }
}

/// Returns true if the address can be bound, which is only possible for addresses of this machine.
fn is_here(address: &str) -> bool {
    let Ok(address) = address.parse::<SocketAddr>() else { return false };
    address.ip().is_loopback() || UdpSocket::bind((address.ip(), 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_here_and_addresses_of_documents_are_not() {
        assert!(is_here("127.0.0.9:80") && is_here("[::1]:443"));
        assert!(!is_here("192.0.2.1:80") && !is_here("[2001:db8::1]:80") && !is_here("x"));
    }
}
