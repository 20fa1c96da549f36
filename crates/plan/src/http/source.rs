//! Local address of HTTP requests (IP spreading): an address, a host name or a network interface of this machine.

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// Local address of a connection, as the plan names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Kind of `name`: an address or host name, or a network interface.
    pub kind: SourceKind,
    /// Address, host name or interface; blank means any address.
    pub name: String,
}

/// Source type as in `HTTPSampler.ipSourceType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// An address or a host name.
    #[default]
    Host,
    /// The first address of a network interface.
    Device,
    /// The first IPv4 address of a network interface.
    DeviceV4,
    /// The first IPv6 address of a network interface.
    DeviceV6,
}

impl Source {
    /// True if any local address may be used.
    pub fn is_any(&self) -> bool {
        self.name.trim().is_empty()
    }
}

impl SourceKind {
    /// Returns the source type that a number of `HTTPSampler.ipSourceType` stands for; `None` for numbers on which
    /// JMeter fails.
    pub(super) fn of(number: i32) -> Option<Self> {
        Some(match number {
            0 => Self::Host,
            1 => Self::Device,
            2 => Self::DeviceV4,
            3 => Self::DeviceV6,
            _ => return None,
        })
    }

    /// Returns the Java class that represents the requested addresses.
    pub fn class(self) -> &'static str {
        match self {
            Self::Host | Self::Device => "InetAddress",
            Self::DeviceV4 => "Inet4Address",
            Self::DeviceV6 => "Inet6Address",
        }
    }
}

/// Local address of requests, as templates of the plan.
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
