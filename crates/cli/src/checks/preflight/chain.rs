//! Capacity of a chain of proxies in connections. It is limited by TCP ports at each hop, and by memory if it is known.
//!
//! A TCP connection is identified by two addresses and two ports. Per local address, an instance can open as many
//! connections to one address and port of the next hop as it has local ports. So the capacity of a hop is instances
//! × addresses × ports × instances of the next hop. The hop with the smallest capacity limits the chain.

mod memory;
mod nginx;

use std::path::Path;

use serde::Serialize;
use stats::grouped::count;

use super::finding::Severity;
use crate::inputs::size;
pub(crate) use memory::Load;
use memory::Memory;
use nginx::Nginx;

/// Default range of local ports in Linux: `32768 60999`.
const USUAL: (u16, u16) = (32_768, 60_999);
/// Widest range of local ports without the system's ports below 1024.
const WIDEST: (u16, u16) = (1024, 65_535);
/// Largest number that is accepted for any value. A larger number is probably a typing error.
const MOST: u64 = 1_000_000;

/// A chain of at least two hops (proxies or servers), as the user defined it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain(Vec<Hop>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Hop {
    name: String,
    instances: u64,
    /// Number of local addresses of a proxy instance.
    addresses: u64,
    /// Range of local ports, including both ends. `None` if the chain does not define it.
    ports: Option<(u16, u16)>,
    /// The hop's nginx.conf, if the chain names it.
    nginx: Option<Nginx>,
    /// Memory of an instance in bytes, if the chain defines it.
    memory: Option<u64>,
    /// Number of processors of an instance, if the chain defines it.
    processors: Option<u64>,
}

/// An error in the description of a chain, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    pub(crate) text: String,
    /// Byte offset of the error in the description of the chain.
    pub(crate) at: usize,
}

/// A hop and the next hop, with the number of connections between them and the factors of this number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Link {
    pub(crate) from: String,
    pub(crate) to: String,
    /// Number of instances of the hop.
    pub(crate) instances: u64,
    /// Number of local addresses of an instance.
    pub(crate) addresses: u64,
    /// Number of usable local ports of an address.
    pub(crate) ports: u64,
    /// Number of instances of the next hop.
    pub(crate) next_instances: u64,
    /// Number of connections that the hop can open to the next hop.
    pub(crate) capacity: u64,
    /// True if the port range was defined. False if Linux's default is assumed.
    pub(crate) told: bool,
    /// Result of comparing the load with the capacity.
    pub(crate) severity: Severity,
    /// Number of descriptors that an instance needs for the load: two for each connection.
    pub(crate) descriptors_each: u64,
}

/// Computed limits of a chain of proxies under a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reckoned {
    /// Number of connections for which the limits were computed.
    pub(crate) load: u64,
    /// Links between successive hops, starting at the first hop.
    pub(crate) links: Vec<Link>,
    /// Memory and connections of the hops for which the nginx configuration is known.
    pub(crate) hops: Vec<Memory>,
    /// The limit that is reached first.
    pub(crate) runs_out: RunsOut,
    /// Index of the link with the smallest capacity among those with a defined port range, or among all links if no
    /// range was defined.
    pub(crate) first_out: usize,
    /// Number of connections that the chain can carry.
    pub(crate) capacity: u64,
    /// Descriptions of possible improvements: the capacity of the weakest link with more of one resource.
    pub(crate) remedies: Vec<String>,
}

/// The limit of a chain that is reached first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RunsOut {
    /// Name of a hop. For local ports, names of two hops with an arrow between them.
    pub(crate) hop: String,
    /// The exhausted resource: `local ports`, `memory`, `worker_connections` or `worker_rlimit_nofile`.
    pub(crate) of: &'static str,
    /// Number of connections at which the limit is reached.
    pub(crate) capacity: u64,
}

impl Chain {
    /// Parses `nginx*4:21000-61000 conf=nginx.conf memory=64G -> ingress*5 x2 -> pods`. A hop is a name, followed
    /// in any order by `*` and the number of instances, `x` and the number of addresses of each, `:` and the local
    /// ports, and the configuration, memory and processors of each instance.
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

    /// Computes the limits of the chain under a load.
    pub(crate) fn reckon(&self, load: Load) -> Reckoned {
        let links: Vec<Link> =
            self.0.windows(2).map(|pair| link(&pair[0], &pair[1], load.connections)).collect();
        let hops: Vec<Memory> = self.0.iter().filter_map(|hop| memory::of(hop, load)).collect();
        let told = links.iter().any(|link| link.told);
        let judged = links.iter().enumerate().filter(|(_, link)| link.told || !told);
        let (first_out, least) = judged.min_by_key(|(_, link)| link.capacity).expect("a link");
        let runs_out = first_of(least, &hops);
        let remedies = if load.connections > 0 && least.severity == Severity::Fits {
            Vec::new()
        } else {
            self.remedies(first_out)
        };
        let capacity = runs_out.capacity;
        Reckoned { load: load.connections, links, hops, runs_out, first_out, capacity, remedies }
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

/// Returns the limit that is reached first: the local ports of the link, or the memory or the connections of a hop.
fn first_of(link: &Link, hops: &[Memory]) -> RunsOut {
    let ports = RunsOut {
        hop: format!("{} -> {}", link.from, link.to),
        of: "local ports",
        capacity: link.capacity,
    };
    let of_hop = |hop: &Memory| {
        let all = [("memory", hop.capacity), (hop.limited_by, hop.connections)];
        all.map(|(of, capacity)| {
            capacity.map(|capacity| RunsOut { hop: hop.hop.clone(), of, capacity })
        })
    };
    let of_hops = hops.iter().flat_map(of_hop).flatten();
    of_hops.chain([ports.clone()]).min_by_key(|one| one.capacity).unwrap_or(ports)
}

/// Returns the number of usable ports in a range, including both ends. If the number is odd, Linux leaves one port
/// out, because it separates even and odd ports (`__inet_hash_connect`): 21000-61000 has 40,000 usable ports.
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
            // A limit that is based on an assumed port range is only a warning.
            Severity::TooSmall if hop.ports.is_none() => Severity::Tight,
            severity => severity,
        },
        descriptors_each: load.saturating_mul(2).div_ceil(hop.instances),
    }
}

impl Reckoned {
    pub(crate) fn severity(&self) -> Severity {
        let of_hops = self.hops.iter().map(Memory::worst);
        let all = self.links.iter().map(|link| link.severity).chain(of_hops);
        all.max().unwrap_or(Severity::Fits)
    }

    /// Returns descriptions of limits that could not be judged, such as `memory of nginx`.
    pub(crate) fn not_judged(&self) -> Vec<String> {
        let of_hop = |hop: &Memory| {
            let what = hop.not_judged.iter();
            what.map(|what| format!("{what} of {}", hop.hop)).collect::<Vec<_>>()
        };
        self.hops.iter().flat_map(of_hop).collect()
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
        for hop in &self.hops {
            out.push_str(&hop.text());
        }
        let RunsOut { hop, of, capacity } = &self.runs_out;
        let of = if *of == "local ports" { String::new() } else { format!(" of {of}") };
        let known = if self.not_judged().is_empty() { "" } else { "of what is judged, " };
        let link = &self.links[self.first_out];
        let assumed = if self.runs_out.of == "local ports" && !link.told {
            ", if its ports are Linux's default"
        } else {
            ""
        };
        out.push_str(&format!(
            "  {known}{hop} runs out{of} first, at {} connections{assumed}\n",
            count(*capacity)
        ));
        if !self.remedies.is_empty() && self.runs_out.of != "local ports" {
            out.push_str(&format!(
                "  local ports of {} -> {}: {}\n",
                link.from,
                link.to,
                count(link.capacity)
            ));
        }
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

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
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

    /// Parses an arrow. Returns true if another hop follows.
    fn arrow(&mut self) -> Result<bool, Mistake> {
        self.skip_blanks();
        if self.rest().is_empty() {
            return Ok(false);
        }
        if self.take("->") || self.take("→") {
            return Ok(true);
        }
        Err(self.mistake(
            "expected -> and the next hop, or an option of this hop: *INSTANCES, xADDRESSES, :FIRST-LAST, conf=FILE, \
             memory=SIZE or cpus=N",
        ))
    }

    fn hop(&mut self) -> Result<Hop, Mistake> {
        self.skip_blanks();
        let name = self.name();
        if name.is_empty() {
            return Err(self.mistake("expected the name of a hop"));
        }
        let (mut instances, mut addresses, mut ports) = (None, None, None);
        let (mut nginx, mut memory, mut processors) = (None, None, None);
        loop {
            self.skip_blanks();
            let start = self.at;
            let twice = if self.take("*") {
                instances.replace(self.number("instances")?).is_some()
            } else if self.take("x") {
                addresses.replace(self.number("addresses of each instance")?).is_some()
            } else if self.take(":") {
                ports.replace(self.range()?).is_some()
            } else if self.take("conf=") {
                nginx.replace(self.conf()?).is_some()
            } else if self.take("memory=") {
                memory.replace(self.size()?).is_some()
            } else if self.take("cpus=") {
                processors.replace(self.number("processors")?).is_some()
            } else {
                break;
            };
            if twice {
                self.at = start;
                return Err(self.mistake(format!("{name} has this already")));
            }
        }
        if nginx.is_none() && (memory.is_some() || processors.is_some()) {
            return Err(
                self.mistake("memory= and cpus= need the hop's configuration: conf=nginx.conf")
            );
        }
        let (instances, addresses) = (instances.unwrap_or(1), addresses.unwrap_or(1));
        Ok(Hop { name, instances, addresses, ports, nginx, memory, processors })
    }

    /// Parses the characters up to a blank, or a quoted string.
    fn value(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (begin, length, after) = match quote {
            Some(quote) => (1, rest[1..].find(quote).unwrap_or(rest.len() - 1), 1),
            None => (0, rest.find(char::is_whitespace).unwrap_or(rest.len()), 0),
        };
        self.at += (begin + length + after).min(rest.len());
        &rest[begin..begin + length]
    }

    fn conf(&mut self) -> Result<Nginx, Mistake> {
        let start = self.at;
        let read = Nginx::read(Path::new(self.value()));
        read.map_err(|words| {
            self.at = start;
            self.mistake(words)
        })
    }

    fn size(&mut self) -> Result<u64, Mistake> {
        let start = self.at;
        let text = self.value();
        // A short number without a unit is probably not meant in bytes.
        let is_short = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        if let Some(bytes) = size::bytes(text).filter(|bytes| *bytes > 0 && !is_short) {
            return Ok(bytes);
        }
        let words = if is_short {
            format!("memory needs a unit (K, M, G or T), for example memory={text}G")
        } else {
            "expected the memory of each instance, such as 64G".to_owned()
        };
        self.at = start;
        Err(self.mistake(words))
    }

    /// Parses a name of letters, digits, `_`, `.` and `-`. The `-` of an arrow is not part of the name.
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
