//! TCP segments that the run's connections retransmitted. The kernel reports all retransmissions of the machine, of
//! which those to destinations of the run are selected.

use std::collections::HashMap;
use std::net::SocketAddr;

use record::{Class, ClassName, Recording};
use stats::snapshot_file::Retransmits;
use watch::retransmits::{self, Again};

/// Largest number of unknown destinations that are kept, because they may later turn out to belong to the run.
const MOST_UNKNOWN: usize = 1000;

/// Retransmissions of a run.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// `None` if retransmissions are not counted, or if the kernel does not report them.
    follower: Option<retransmits::Retransmits>,
    /// Retransmissions to destinations to which no exchange has finished yet. The first exchange with a destination
    /// may take long.
    unknown: HashMap<SocketAddr, Again>,
    /// Log message about missing retransmission counts.
    word: Option<String>,
}

impl Followed {
    /// Starts counting retransmissions.
    pub(super) fn start(&mut self) {
        self.follower = Some(retransmits::Retransmits::start());
    }

    /// Returns the retransmitted segments since the last call, by destination.
    pub(super) fn take(&mut self, recording: &Recording) -> Option<Vec<Retransmits>> {
        match self.follower.as_ref()?.take() {
            Ok(grown) => Some(self.sort(grown, |address| recording.knows(address))),
            Err(error) => {
                self.follower = None;
                self.word = Some(format!(
                    "retransmitted segments are known only for the whole machine, not by destination: the kernel gives no list of sockets: {error}"
                ));
                None
            }
        }
    }

    /// Returns the retransmissions to known destinations. Keeps the others until their destination is known.
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

    /// Returns the message about missing retransmission counts, on the first call only.
    pub(super) fn word(&mut self) -> Option<String> {
        self.word.take()
    }
}

/// Returns the retransmissions of a destination in the form of a class of exchanges.
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
