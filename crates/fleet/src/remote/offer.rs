//! The resources that an agent offers, by which shares are distributed.

use stats::machine::Reading;

use super::wire::Offer;
use crate::size::raise_descriptors;

/// Returns the resources of this process and its machine.
pub(crate) fn offered() -> Offer {
    Offer {
        pid: std::process::id(),
        processors: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        descriptors: raise_descriptors(),
        memory: Reading::now().memory_available,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_offers_no_more_than_its_control_group_allows() {
        let (offer, machine) = (offered(), Reading::of_machine());
        assert!(offer.descriptors > 0 && offer.processors > 0 && offer.memory > 0);
        let limit = stats::control_group::Groups::own().memory().map(|limit| limit.most);
        assert!(offer.memory <= limit.unwrap_or(u64::MAX).min(machine.memory_total));
    }
}
