//! Where an HTTP request is sent from (IP spreading): an address or a name of this machine, or one of its devices.

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// The local end of a connection, as a plan names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The kind of thing that the name names.
    pub kind: SourceKind,
    /// The name; blank is any address.
    pub name: String,
}

/// `HTTPSampler.ipSourceType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// An address or a host name.
    #[default]
    Host,
    /// The first address of a device.
    Device,
    /// Its first of IPv4.
    DeviceV4,
    /// Its first of IPv6.
    DeviceV6,
}

impl Source {
    /// Whether there is any at all.
    pub fn is_any(&self) -> bool {
        self.name.trim().is_empty()
    }
}

impl SourceKind {
    /// The kind of a number; none for numbers on which JMeter fails.
    pub(super) fn of(number: i32) -> Option<Self> {
        Some(match number {
            0 => Self::Host,
            1 => Self::Device,
            2 => Self::DeviceV4,
            3 => Self::DeviceV6,
            _ => return None,
        })
    }

    /// The Java class of addresses that are wanted.
    pub fn class(self) -> &'static str {
        match self {
            Self::Host | Self::Device => "InetAddress",
            Self::DeviceV4 => "Inet4Address",
            Self::DeviceV6 => "Inet6Address",
        }
    }
}

/// A source as the plan has it.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) kind: SourceKind,
    pub(super) name: Template,
}

impl Spread {
    pub(super) fn compile(
        ctx: &mut Context<'_>,
        text: impl Fn(&mut Context<'_>, &str, &str) -> Template,
    ) -> Self {
        let kind = text(ctx, "HTTPSampler.ipSourceType", "0");
        let kind = kind.fixed().and_then(|kind| kind.parse().ok()).and_then(SourceKind::of);
        Self { kind: kind.unwrap_or_default(), name: text(ctx, "HTTPSampler.ipSource", "") }
    }

    pub(super) fn eval(&self, env: &mut Env<'_>, out: &mut Source) {
        out.kind = self.kind;
        self.name.eval(env, &mut out.name);
    }
}
