//! Segments that the run's connections sent again: of all that the machine's did, those to destinations of the run.

use std::collections::HashMap;
use std::net::SocketAddr;

use record::{Class, ClassName, Recording};
use stats::snapshot_file::Retransmits;
use watch::retransmits::{self, Again};

/// Destinations that may turn out to be the run's.
const MOST_UNKNOWN: usize = 1000;

/// The retransmissions of a run.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// `None`: nobody looks, or the kernel does not say.
    follower: Option<retransmits::Retransmits>,
    /// Those to destinations that the run has had no exchange with by now: the first may take long to end.
    unknown: HashMap<SocketAddr, Again>,
    /// The sentence for the log.
    word: Option<String>,
}

impl Followed {
    /// Looks from now on.
    pub(super) fn start(&mut self) {
        self.follower = Some(retransmits::Retransmits::start());
    }

    /// The segments since the last call.
    pub(super) fn take(&mut self, recording: &Recording) -> Option<Vec<Retransmits>> {
        match self.follower.as_ref()?.take() {
            Ok(grown) => Some(self.sort(grown, |address| recording.knows(address))),
            Err(error) => {
                self.follower = None;
                self.word = Some(format!(
                    "segments sent again are known for the machine alone, not by destination: the kernel gives no list of sockets: {error}"
                ));
                None
            }
        }
    }

    /// Gives those to known destinations, the others wait.
    fn sort(
        &mut self,
        grown: HashMap<SocketAddr, Again>,
        is_known: impl Fn(&str) -> bool,
    ) -> Vec<Retransmits> {
        for (to, again) in grown {
            let sum = self.unknown.entry(to).or_default();
            (sum.data, sum.syn) = (sum.data + again.data, sum.syn + again.syn);
        }
        let mut list = Vec::new();
        self.unknown.retain(|to, again| {
            let text = to.to_string();
            let known = is_known(&text);
            if known {
                list.push(Retransmits { to: text, data: again.data, syn: again.syn });
            }
            !known
        });
        if self.unknown.len() > MOST_UNKNOWN {
            self.unknown.clear();
        }
        list.sort_by(|a, b| a.to.cmp(&b.to));
        list
    }

    /// Something for the log, once.
    pub(super) fn word(&mut self) -> Option<String> {
        self.word.take()
    }
}

/// The same as a class of exchanges.
pub(super) fn class(one: &Retransmits) -> (ClassName, Class) {
    let class =
        Class { retransmitted: one.data + one.syn, syn_retransmitted: one.syn, ..Class::default() };
    (ClassName::Address(one.to.as_str().into()), class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_wait_until_the_run_is_known_to_go_there() {
        let to: SocketAddr = "10.0.0.7:80".parse().unwrap();
        let other: SocketAddr = "10.0.0.8:80".parse().unwrap();
        let mut followed = Followed::default();
        let again = |data, syn| Again { data, syn };
        let first = HashMap::from([(to, again(0, 1)), (other, again(9, 9))]);
        assert!(followed.sort(first, |_| false).is_empty());
        let second = HashMap::from([(to, again(2, 1))]);
        let list = followed.sort(second, |address| address == "10.0.0.7:80");
        assert_eq!(list, [Retransmits { to: "10.0.0.7:80".into(), data: 2, syn: 2 }]);
        assert!(followed.sort(HashMap::new(), |address| address == "10.0.0.7:80").is_empty());
    }
}
