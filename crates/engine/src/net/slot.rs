//! Tokens of connections: the slab of a connection, its index there, and the generation of its socket.
//!
//! The event driver identifies connections only by their tokens. Each protocol has a slab with its own number,
//! which tells the loop the protocol of an event.

use crate::net::transport::Transport;

/// Bit mask of the generation in a token.
const GENERATION: u32 = 0x3fff_ffff;

/// Position of a connection: the number of its slab (two bits), and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) slab: u8,
    pub(crate) index: u32,
}

impl Slot {
    /// Returns the slot of a token, even if the slot has another socket by now.
    #[inline]
    pub(crate) fn of(token: u64) -> Self {
        Self { slab: (token >> 62) as u8, index: token as u32 }
    }

    /// Returns the token under which the slot's current socket is registered.
    #[inline]
    pub(crate) fn token(self, transport: &Transport) -> u64 {
        let generation = transport.generation & GENERATION;
        u64::from(self.slab) << 62 | u64::from(generation) << 32 | u64::from(self.index)
    }
}

/// Returns true if the token belongs to the current socket of its slot.
#[inline]
pub(crate) fn is_present(token: u64, transport: &Transport) -> bool {
    (token >> 32) as u32 & GENERATION == transport.generation & GENERATION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_name_slab_index_and_socket() {
        let mut transport = Transport::default();
        for slab in 0..3 {
            let slot = Slot { slab, index: 0x8000_0007 };
            let token = slot.token(&transport);
            assert_eq!(Slot::of(token), slot);
            assert!(is_present(token, &transport));
            transport.close();
            assert!(!is_present(token, &transport));
        }
    }

    #[test]
    fn generations_wrap_within_their_bits() {
        let mut transport = Transport::default();
        transport.generation = u32::MAX;
        let slot = Slot { slab: 0, index: 1 };
        let token = slot.token(&transport);
        assert_eq!(Slot::of(token), slot);
        assert!(is_present(token, &transport));
    }
}
