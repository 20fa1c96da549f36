//! Settings of the proxy of a run.

use super::Properties;

/// A proxy for the whole run.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Hosts that connections reach without the proxy. A leading `*` stands for any string.
    pub(crate) except: Vec<String>,
    /// True if Java's default exceptions apply to Java's own client: `http.nonProxyHosts` is missing, or not empty.
    pub(crate) javas_own: bool,
}

impl Proxy {
    /// Returns true if HttpClient uses the proxy for a host.
    pub(crate) fn serves(&self, host: &str) -> bool {
        !self.except.iter().any(|name| match name.strip_prefix('*') {
            Some(end) => host.ends_with(end),
            None => name == host,
        })
    }

    /// Returns true if Java's own client uses the proxy for a host. A trailing `*` is allowed in exceptions too, and
    /// case is ignored. Java's default exceptions also apply, unless `http.nonProxyHosts` is set and empty.
    pub(crate) fn serves_java(&self, host: &str) -> bool {
        let mut host = host.to_ascii_lowercase();
        if host.contains(':') {
            host = format!("[{host}]");
        }
        let fits = |name: &str| {
            let name = name.to_ascii_lowercase();
            let (start, end) = (name.starts_with('*'), name.len() > 1 && name.ends_with('*'));
            let bare = &name[usize::from(start)..name.len() - usize::from(end)];
            match (start, end) {
                (true, true) => host.contains(bare),
                (true, false) => host.ends_with(bare),
                (false, true) => host.starts_with(bare),
                (false, false) => host == bare,
            }
        };
        let own = self.javas_own && JAVAS_OWN.iter().any(|name| fits(name));
        !own && !self.except.iter().any(|name| fits(name))
    }
}

/// Hosts that Java reaches without a proxy by default.
const JAVAS_OWN: [&str; 5] = ["localhost", "127.*", "[::1]", "0.0.0.0", "[::0]"];

/// Settings of the proxy of a run.
#[derive(Clone, Debug)]
pub(crate) struct Proxies {
    /// A proxy for all connections (`http.proxyHost`, `http.proxyPort`, `http.nonProxyHosts`).
    pub(crate) server: Option<Proxy>,
    /// User and password for the proxy (`http.proxyUser`, `http.proxyPass`).
    pub(crate) credentials: Option<(String, String)>,
    /// Credentials of HTTP requests for the proxy, with a domain (`http.proxyDomain`).
    pub(crate) login: Option<wire::auth::Credentials>,
    /// The domain of the credentials, for proxies that the plan sets.
    pub(crate) domain: String,
}

impl Proxies {
    pub(super) fn of(get: &Properties<'_>) -> Self {
        let server =
            get.of("http.proxyHost").filter(|host| !host.trim().is_empty()).map(|host| Proxy {
                host,
                port: get.number("http.proxyPort", 0).clamp(0, 65_535) as u16,
                except: get
                    .text("http.nonProxyHosts", "")
                    .split('|')
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
                javas_own: get.of("http.nonProxyHosts").is_none_or(|hosts| !hosts.is_empty()),
            });
        Self {
            server,
            credentials: get.of("http.proxyUser").zip(get.of("http.proxyPass")),
            login: get.of("http.proxyUser").filter(|user| !user.is_empty()).map(|user| {
                let password = get.text("http.proxyPass", "");
                wire::auth::Credentials::new(&get.text("http.proxyDomain", ""), &user, &password)
            }),
            domain: get.text("http.proxyDomain", ""),
        }
    }
}
