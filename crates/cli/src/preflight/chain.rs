//! Capacity of a chain of proxies, in connections: four-tuple arithmetic, hop by hop.
//!
//! A TCP connection is known by two addresses and two ports. An instance that opens connections to
//! one address and port of the next hop has as many as its local ports; so a hop carries
//! instances × addresses × ports × instances of the next. The hop with the least is where it ends.

use serde::Serialize;
use stats::grouped::count;

use super::finding::Severity;

/// Default ports of Linux: `32768 60999`.
const USUAL: (u16, u16) = (32_768, 60_999);
/// The widest range that leaves the ports below 1024 to the system.
const WIDEST: (u16, u16) = (1024, 65_535);
/// More of anything is a slip of the pen.
const MOST: u64 = 1_000_000;

/// A chain as it was given: at least two hops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain(Vec<Hop>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Hop {
    name: String,
    instances: u64,
    /// Local addresses of an instance.
    addresses: u64,
    /// Local ports, both ends included; `None` if not given.
    ports: Option<(u16, u16)>,
}

/// An error in a chain's text, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    pub(crate) text: String,
    /// Byte in the text.
    pub(crate) at: usize,
}

/// The connections that a hop can open to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Link {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) instances: u64,
    pub(crate) addresses: u64,
    pub(crate) ports: u64,
    pub(crate) next_instances: u64,
    /// Connections.
    pub(crate) capacity: u64,
    /// The range of ports was given, not assumed to be Linux's default.
    pub(crate) told: bool,
    pub(crate) severity: Severity,
    /// Descriptors an instance needs for the load: two a connection.
    pub(crate) descriptors_each: u64,
}

/// A chain, reckoned for a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reckoned {
    pub(crate) load: u64,
    pub(crate) links: Vec<Link>,
    /// Index of the link that runs out first among those whose ports were given (among all, if none was).
    pub(crate) first_out: usize,
    /// Connections at which it does.
    pub(crate) capacity: u64,
    /// Remedies: the chain's capacity if that hop had more of one resource, in words.
    pub(crate) remedies: Vec<String>,
}

impl Chain {
    /// Reads `nginx*4:21000-61000 -> ingress*5 x2 -> pods`: a name, then in any order `*` instances, `x` addresses of
    /// each, `:` local ports.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let mut hops = Vec::new();
        let mut reader = Reader { text, at: 0 };
        loop {
            hops.push(reader.hop()?);
            if !reader.arrow()? {
                break;
            }
        }
        if hops.len() < 2 {
            return Err(reader.mistake("a chain has at least two hops, with -> between them"));
        }
        Ok(Self(hops))
    }

    /// Computes the share of `load` connections at each hop.
    pub(crate) fn reckon(&self, load: u64) -> Reckoned {
        let links: Vec<Link> =
            self.0.windows(2).map(|pair| link(&pair[0], &pair[1], load)).collect();
        let told = links.iter().any(|link| link.told);
        let judged = links.iter().enumerate().filter(|(_, link)| link.told || !told);
        let (first_out, least) = judged.min_by_key(|(_, link)| link.capacity).expect("a link");
        let capacity = least.capacity;
        let remedies = if load > 0 && least.severity == Severity::Fits {
            Vec::new()
        } else {
            self.remedies(first_out)
        };
        Reckoned { load, links, first_out, capacity, remedies }
    }

    fn remedies(&self, at: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut tell = |what: String, change: &dyn Fn(&mut Self)| {
            let mut changed = self.clone();
            change(&mut changed);
            let one = link(&changed.0[at], &changed.0[at + 1], 0).capacity;
            out.push(format!("{what}: {}", count(one)));
        };
        let (hop, next) = (&self.0[at], &self.0[at + 1]);
        if width(hop.ports.unwrap_or(USUAL)) < width(WIDEST) {
            tell(format!("ip_local_port_range {}-{} on {}", WIDEST.0, WIDEST.1, hop.name), &|c| {
                c.0[at].ports = Some(WIDEST);
            });
        }
        tell(format!("one more {} ({})", hop.name, hop.instances + 1), &|c| c.0[at].instances += 1);
        tell(format!("one more {} ({})", next.name, next.instances + 1), &|c| {
            c.0[at + 1].instances += 1;
        });
        tell(format!("one more address on each {} ({})", hop.name, hop.addresses + 1), &|c| {
            c.0[at].addresses += 1;
        });
        out
    }
}

/// Ports of a range, both ends included; of an odd number Linux leaves one out, since it keeps even and odd ports apart
/// (`__inet_hash_connect`): 21000-61000 gives 40 000.
fn width(ports: (u16, u16)) -> u64 {
    let all = u64::from(ports.1 - ports.0) + 1;
    if all > 1 { all & !1 } else { all }
}

fn link(hop: &Hop, next: &Hop, load: u64) -> Link {
    let ports = width(hop.ports.unwrap_or(USUAL));
    let each = hop.instances.saturating_mul(hop.addresses).saturating_mul(ports);
    let capacity = each.saturating_mul(next.instances);
    Link {
        from: hop.name.clone(),
        to: next.name.clone(),
        instances: hop.instances,
        addresses: hop.addresses,
        ports,
        next_instances: next.instances,
        capacity,
        told: hop.ports.is_some(),
        severity: match Severity::of(load, capacity) {
            // What was only assumed is a question, not a finding.
            Severity::TooSmall if hop.ports.is_none() => Severity::Tight,
            severity => severity,
        },
        descriptors_each: load.saturating_mul(2).div_ceil(hop.instances),
    }
}

impl Reckoned {
    pub(crate) fn severity(&self) -> Severity {
        self.links.iter().map(|link| link.severity).max().unwrap_or(Severity::Fits)
    }

    pub(crate) fn text(&self) -> String {
        let mut out = format!("Chain, for {} connections\n", count(self.load));
        for link in &self.links {
            let sum = format!(
                "{} x {} address{} x {} ports x {}",
                link.instances,
                link.addresses,
                if link.addresses == 1 { "" } else { "es" },
                count(link.ports),
                link.next_instances
            );
            let told = if link.told {
                String::new()
            } else {
                ", if its ports are Linux's default 32768-60999 (no range was given)".into()
            };
            out.push_str(&format!(
                "  {:9} {} -> {}: {sum} = {}{told}\n",
                link.severity.word(),
                link.from,
                link.to,
                count(link.capacity)
            ));
            out.push_str(&format!(
                "            each {} needs {} descriptors (two a connection; nginx: worker_rlimit_nofile, and \
                 worker_connections over all workers)\n",
                link.from,
                count(link.descriptors_each)
            ));
        }
        let link = &self.links[self.first_out];
        out.push_str(&format!(
            "  {} -> {} runs out first, at {} connections\n",
            link.from,
            link.to,
            count(self.capacity)
        ));
        for remedy in &self.remedies {
            out.push_str(&format!("    with {remedy}\n"));
        }
        out
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { message: message.into(), text: self.text.into(), at: self.at }
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, what: &str) -> bool {
        let taken = self.rest().starts_with(what);
        self.at += if taken { what.len() } else { 0 };
        taken
    }

    /// Whether another hop follows.
    fn arrow(&mut self) -> Result<bool, Mistake> {
        self.skip_blanks();
        if self.rest().is_empty() {
            return Ok(false);
        }
        if self.take("->") || self.take("→") {
            return Ok(true);
        }
        Err(self.mistake(
            "expected -> and the next hop, or one of *INSTANCES, xADDRESSES, :FIRST-LAST of this one",
        ))
    }

    fn hop(&mut self) -> Result<Hop, Mistake> {
        self.skip_blanks();
        let name = self.name();
        if name.is_empty() {
            return Err(self.mistake("expected the name of a hop"));
        }
        let (mut instances, mut addresses, mut ports) = (None, None, None);
        loop {
            self.skip_blanks();
            let start = self.at;
            let twice = if self.take("*") {
                instances.replace(self.number("instances")?).is_some()
            } else if self.take("x") {
                addresses.replace(self.number("addresses of each instance")?).is_some()
            } else if self.take(":") {
                ports.replace(self.range()?).is_some()
            } else {
                break;
            };
            if twice {
                self.at = start;
                return Err(self.mistake(format!("{name} has this already")));
            }
        }
        Ok(Hop {
            name,
            instances: instances.unwrap_or(1),
            addresses: addresses.unwrap_or(1),
            ports,
        })
    }

    /// Letters, digits, `_`, `.` and `-`, but not the `-` of an arrow.
    fn name(&mut self) -> String {
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|(at, c)| {
                let arrow = rest[*at..].starts_with("->");
                arrow || !(c.is_alphanumeric() || "_.-".contains(*c))
            })
            .map_or(rest.len(), |(at, _)| at);
        let name = rest[..end].to_string();
        self.at += end;
        name
    }

    fn digits(&mut self) -> Option<u64> {
        let end = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..end].parse().ok();
        self.at += if number.is_some() { end } else { 0 };
        number
    }

    fn number(&mut self, of: &str) -> Result<u64, Mistake> {
        self.skip_blanks();
        let start = self.at;
        match self.digits() {
            Some(n) if (1..=MOST).contains(&n) => Ok(n),
            Some(_) => {
                self.at = start;
                Err(self.mistake(format!("the number of {of} is from 1 to {MOST}")))
            }
            None => Err(self.mistake(format!("expected the number of {of}"))),
        }
    }

    fn range(&mut self) -> Result<(u16, u16), Mistake> {
        self.skip_blanks();
        let start = self.at;
        let first = self.digits();
        self.skip_blanks();
        let dash = !self.rest().starts_with("->") && self.take("-");
        self.skip_blanks();
        let last = if dash { self.digits() } else { None };
        let port = |n: Option<u64>| n.and_then(|n| u16::try_from(n).ok()).filter(|n| *n > 0);
        match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok((first, last)),
            (Some(_), Some(_)) => {
                self.at = start;
                Err(self.mistake("the first port is above the last"))
            }
            _ => {
                self.at = start;
                Err(self.mistake("expected a range of ports from 1 to 65535, such as 21000-61000"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
