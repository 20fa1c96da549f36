//! Distributes shares of the run by the resources that agents offer.
//!
//! A share is one process of an agent, and all shares have the same number of users. So an agent gets more load by more
//! shares. The number of its shares is proportional to its processors, and to the weight of its zone if zones have
//! weights. If the users need more file descriptors than these processes have, all numbers are multiplied.

use super::wire::Offer;
use crate::size::held_per_process;

/// The distribution of the shares over the agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deal {
    /// For each agent: the numbers of its shares.
    pub(crate) shares: Vec<Vec<u32>>,
    /// For each agent: the number of threads per process.
    pub(crate) cores: Vec<u32>,
    /// Number of connections that all agents can hold together, if each has connections in proportion to its shares.
    pub(crate) connections: u64,
}

/// Maximum number of shares per agent.
const MOST_EACH: u32 = 256;

/// The zones of the agents, and the weights of the zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Zones {
    /// For each agent: its zone.
    pub(crate) of: Vec<String>,
    /// Zones with the weights by which they get load.
    pub(crate) weights: Vec<(String, u32)>,
}

/// Distributes shares: `each` per agent if set, otherwise in proportion to zones and processors, with enough shares for
/// `connections`. `cores` is the number of threads per process; 0 selects the default.
pub(crate) fn deal(
    offers: &[Offer],
    zones: Option<&Zones>,
    each: Option<u32>,
    cores: u32,
    connections: u64,
) -> Deal {
    let processors: Vec<u64> = offers.iter().map(|offer| offer.processors.max(1).into()).collect();
    let mut counts: Vec<u32> = match (each, zones) {
        (Some(each), _) => vec![each.clamp(1, MOST_EACH); offers.len()],
        (None, None) => smallest(&processors),
        (None, Some(zones)) => weighted(&processors, zones),
    };
    if each.is_none() {
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let times = connections.div_ceil(holds(offers, &counts).max(1)).max(1);
        let times = u32::try_from(times).unwrap_or(MOST_EACH).min(MOST_EACH / most).max(1);
        for count in &mut counts {
            *count *= times;
        }
    }
    let cores =
        offers.iter().zip(&counts).map(|(offer, count)| threads(offer, *count, cores)).collect();
    Deal { connections: holds(offers, &counts), cores, shares: numbers(&counts) }
}

/// Returns the shares of hosts that each run the whole plan: as many processes as the connections need on that host,
/// numbered per host. The number of connections is the number that the smallest host can hold.
pub(crate) fn whole(offers: &[Offer], each: Option<u32>, cores: u32, connections: u64) -> Deal {
    let count = |offer: &Offer| {
        let held = held_per_process(offer.descriptors).max(1);
        let needed = u32::try_from(connections.div_ceil(held)).unwrap_or(MOST_EACH);
        each.unwrap_or(needed).clamp(1, MOST_EACH)
    };
    let counts: Vec<u32> = offers.iter().map(count).collect();
    let hosts = || offers.iter().zip(&counts);
    let holds = |(offer, count): (&Offer, &u32)| {
        held_per_process(offer.descriptors).saturating_mul(u64::from(*count))
    };
    Deal {
        connections: hosts().map(holds).min().unwrap_or(0),
        cores: hosts().map(|(offer, count)| threads(offer, *count, cores)).collect(),
        shares: counts.iter().map(|count| (0..*count).collect()).collect(),
    }
}

/// Returns the number of threads per process: the requested number, or the agent's processors divided by its processes.
fn threads(offer: &Offer, count: u32, cores: u32) -> u32 {
    if cores == 0 { (offer.processors / count).max(1) } else { cores }
}

/// Returns the smallest integers with the same ratio as `numbers`, each at most [`MOST_EACH`].
fn smallest(numbers: &[u64]) -> Vec<u32> {
    let unit = numbers.iter().copied().fold(0, common).max(1);
    let most = numbers.iter().map(|number| number / unit).max().unwrap_or(1);
    let shrunk = |number: &u64| {
        let number = number / unit;
        // Numbers above the limit are scaled and rounded, but never to 0.
        let fitted = if most <= u64::from(MOST_EACH) {
            number
        } else {
            (number * u64::from(MOST_EACH) + most / 2) / most
        };
        fitted.max(1) as u32
    };
    numbers.iter().map(shrunk).collect()
}

/// Returns the number of shares of each agent: within a zone proportional to processors, and over the zones
/// proportional to their weights.
fn weighted(processors: &[u64], zones: &Zones) -> Vec<u32> {
    let of_zone = |zone: &str| -> u64 {
        let agents = processors.iter().zip(&zones.of).filter(|(_, of)| *of == zone);
        agents.map(|(processors, _)| *processors).sum()
    };
    // With the common multiple of all zone sums, each zone has an integer per processor.
    let whole = zones
        .weights
        .iter()
        .map(|(zone, _)| of_zone(zone).max(1))
        .fold(1, |all, sum| all / common(all, sum) * sum);
    let share = |(processors, zone): (&u64, &String)| {
        let weight = zones.weights.iter().find(|(named, _)| named == zone);
        let weight = weight.map_or(1, |(_, weight)| u64::from(*weight));
        processors.saturating_mul(weight).saturating_mul(whole / of_zone(zone).max(1))
    };
    smallest(&processors.iter().zip(&zones.of).map(share).collect::<Vec<_>>())
}

/// Returns the number of connections that agents with these shares can hold. All shares are equal, so the process with
/// the fewest file descriptors limits all.
fn holds(offers: &[Offer], counts: &[u32]) -> u64 {
    let tightest =
        offers.iter().map(|offer| held_per_process(offer.descriptors)).min().unwrap_or(0);
    tightest.saturating_mul(counts.iter().map(|count| u64::from(*count)).sum())
}

/// Numbers the shares in rounds over the agents, so that the first few users are on different machines.
fn numbers(counts: &[u32]) -> Vec<Vec<u32>> {
    let mut shares = vec![Vec::new(); counts.len()];
    let mut next = 0;
    for round in 0..counts.iter().copied().max().unwrap_or(0) {
        for (own, count) in shares.iter_mut().zip(counts) {
            if round < *count {
                own.push(next);
                next += 1;
            }
        }
    }
    shares
}

/// Returns the greatest common divisor.
fn common(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(processors: u32, descriptors: u64) -> Offer {
        Offer { processors, descriptors, ..Offer::default() }
    }

    #[test]
    fn machines_get_shares_as_they_have_processors() {
        let equal = deal(&[offer(2, 20_000), offer(2, 20_000)], None, None, 0, 10);
        assert_eq!((equal.shares, equal.cores), (vec![vec![0], vec![1]], vec![2, 2]));
        let unequal = deal(&[offer(8, 20_000), offer(4, 20_000)], None, None, 0, 10);
        assert_eq!((unequal.shares, unequal.cores), (vec![vec![0, 2], vec![1]], vec![4, 4]));
        assert_eq!(unequal.connections, 3 * 19_700);
    }

    #[test]
    fn users_beyond_the_descriptors_get_more_processes() {
        let offers = [offer(8, 1_300), offer(4, 20_000)];
        let many = deal(&offers, None, None, 0, 10_000);
        // Three shares hold 3 000 connections, twelve shares 12 000.
        assert_eq!(many.shares.iter().map(Vec::len).collect::<Vec<_>>(), [8, 4]);
        assert_eq!((many.connections, many.cores), (12_000, vec![1, 1]));
        let mut all: Vec<u32> = many.shares.concat();
        all.sort_unstable();
        assert_eq!(all, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn zones_get_their_parts_and_their_agents_by_processors() {
        let zones = |of: &[&str], weights: &[(&str, u32)]| Zones {
            of: of.iter().map(ToString::to_string).collect(),
            weights: weights.iter().map(|(zone, weight)| (zone.to_string(), *weight)).collect(),
        };
        let counts = |processors: &[u32], zones: &Zones| -> Vec<usize> {
            let offers: Vec<Offer> = processors.iter().map(|n| offer(*n, 20_000)).collect();
            deal(&offers, Some(zones), None, 0, 10).shares.iter().map(Vec::len).collect()
        };
        let two = [("eu", 2), ("us", 1)];
        assert_eq!(counts(&[4, 4], &zones(&["eu", "us"], &two)), [2, 1]);
        assert_eq!(counts(&[4, 4, 4], &zones(&["eu", "us", "us"], &two)), [4, 1, 1]);
        assert_eq!(counts(&[2, 4, 3], &zones(&["eu", "eu", "us"], &two)), [2, 4, 3]);
        // Above the limit, the ratio is kept as far as possible.
        let odd = counts(&[127, 113], &zones(&["eu", "us"], &[("eu", 1), ("us", 1000)]));
        assert_eq!(odd, [1, 256]);
    }

    #[test]
    fn hosts_that_run_the_whole_plan_have_shares_of_their_own() {
        let offers = [offer(8, 1_300), offer(4, 20_000)];
        let both = whole(&offers, None, 0, 2_500);
        assert_eq!(both.shares, [vec![0, 1, 2], vec![0]]);
        assert_eq!((both.cores, both.connections), (vec![2, 4], 3_000));
        let asked = whole(&offers, Some(2), 3, 1);
        assert_eq!((asked.shares, asked.cores), (vec![vec![0, 1], vec![0, 1]], vec![3, 3]));
    }

    #[test]
    fn a_number_that_was_asked_for_is_for_each_machine() {
        let asked = deal(&[offer(8, 500), offer(4, 500)], None, Some(2), 3, 100_000);
        assert_eq!((asked.shares, asked.cores), (vec![vec![0, 2], vec![1, 3]], vec![3, 3]));
    }
}
