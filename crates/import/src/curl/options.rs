//! Table of curl's options: their names, whether a value follows, and their meaning for an import.
//!
//! The table has the consequence for each option that is not imported. Options about output, progress and other
//! protocols have no meaning for a load test.

/// An option of curl.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) long: &'static str,
    pub(super) short: Option<char>,
    pub(super) takes: bool,
    pub(super) does: Does,
}

/// Meaning of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// No effect on requests.
    Nothing,
    /// Not imported; the text is the consequence.
    Missing(&'static str),
    Url,
    Method,
    Header,
    Data(Data),
    Get,
    Head,
    Form,
    FormString,
    Upload,
    UrlQuery,
    User,
    Basic,
    Digest,
    AnyAuth,
    Bearer,
    Agent,
    Referer,
    Cookie,
    CookieJar,
    Range,
    Compressed,
    Location,
    Proxy,
    ProxyUser,
    Insecure,
    Resolve,
    ConnectTo,
    MaxTime,
    ConnectTimeout,
    Interface,
    GlobOff,
    PathAsIs,
    RequestTarget,
    ProtoDefault,
    Next,
}

/// Kinds of data options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// `-d`: `@FILE` is read without its line ends.
    Ascii,
    /// `--data-binary`: `@FILE` is read unchanged.
    Binary,
    /// `--data-raw`: `@` has no meaning.
    Raw,
    Urlencode,
    Json,
}

const fn flag(long: &'static str, does: Does) -> Known {
    Known { long, short: None, takes: false, does }
}

const fn value(long: &'static str, does: Does) -> Known {
    Known { long, short: None, takes: true, does }
}

impl Known {
    const fn or(self, short: char) -> Self {
        Self { short: Some(short), ..self }
    }
}

const H1: Does = Does::Missing("requests are sent as HTTP/1.1");
const NO_CHECK: Does = Does::Missing(
    "certificates of servers are not checked, as in JMeter; -Dthrong.tls.verify=true checks them with the roots of this machine",
);
const CLIENT_CERT: Does = Does::Missing(
    "no client certificate is sent: start the run with -Djavax.net.ssl.keyStore=FILE, where FILE is PKCS#12, JKS, or PEM with key and certificate",
);
const NO_LOGIN: Does =
    Does::Missing("this kind of authentication is not supported: requests have no credentials");
const TLS: Does = Does::Missing("settings of TLS are properties of the run");
const DIRECT: Does =
    Does::Missing("only HTTP proxies are supported: requests go without this proxy");
const PROXY_TLS: Does =
    Does::Missing("only plain HTTP to the proxy is supported: the option is left out");
const RETRY: Does = Does::Missing("a failed request is not repeated: it counts as failed");
const REDIRECT: Does =
    Does::Missing("redirects are followed as in JMeter: POST becomes GET after 301, 302 and 303");
const ONCE: Does = Does::Missing("the limit is left out: each response is read to its end");
const NAMES: Does = Does::Missing("names are resolved by the system");

/// Options that are imported.
const IMPORTED: &[Known] = &[
    value("url", Does::Url),
    value("request", Does::Method).or('X'),
    value("header", Does::Header).or('H'),
    value("data", Does::Data(Data::Ascii)).or('d'),
    value("data-ascii", Does::Data(Data::Ascii)),
    value("data-binary", Does::Data(Data::Binary)),
    value("data-raw", Does::Data(Data::Raw)),
    value("data-urlencode", Does::Data(Data::Urlencode)),
    value("json", Does::Data(Data::Json)),
    flag("get", Does::Get).or('G'),
    flag("head", Does::Head).or('I'),
    value("form", Does::Form).or('F'),
    value("form-string", Does::FormString),
    value("upload-file", Does::Upload).or('T'),
    value("url-query", Does::UrlQuery),
    value("user", Does::User).or('u'),
    flag("basic", Does::Basic),
    flag("digest", Does::Digest),
    flag("anyauth", Does::AnyAuth),
    value("oauth2-bearer", Does::Bearer),
    value("user-agent", Does::Agent).or('A'),
    value("referer", Does::Referer).or('e'),
    value("cookie", Does::Cookie).or('b'),
    value("cookie-jar", Does::CookieJar).or('c'),
    value("range", Does::Range).or('r'),
    flag("compressed", Does::Compressed),
    flag("location", Does::Location).or('L'),
    flag("location-trusted", Does::Location),
    flag("follow", Does::Location),
    value("proxy", Does::Proxy).or('x'),
    value("proxy1.0", Does::Proxy),
    value("proxy-user", Does::ProxyUser).or('U'),
    flag("insecure", Does::Insecure).or('k'),
    value("resolve", Does::Resolve),
    value("connect-to", Does::ConnectTo),
    value("max-time", Does::MaxTime).or('m'),
    value("connect-timeout", Does::ConnectTimeout),
    value("interface", Does::Interface),
    flag("globoff", Does::GlobOff).or('g'),
    flag("path-as-is", Does::PathAsIs),
    value("request-target", Does::RequestTarget),
    value("proto-default", Does::ProtoDefault),
    flag("next", Does::Next).or(':'),
];

/// Options that change requests or connections and are not imported.
const MISSING: &[Known] = &[
    flag("http2", H1),
    flag("http2-prior-knowledge", H1),
    flag("http3", H1),
    flag("http3-only", H1),
    flag("http1.0", H1).or('0'),
    value("cacert", NO_CHECK),
    value("capath", NO_CHECK),
    value("crlfile", NO_CHECK),
    value("pinnedpubkey", NO_CHECK),
    flag("cert-status", NO_CHECK),
    flag("ca-native", NO_CHECK),
    value("cert", CLIENT_CERT).or('E'),
    value("key", CLIENT_CERT),
    value("cert-type", CLIENT_CERT),
    value("key-type", CLIENT_CERT),
    value("pass", CLIENT_CERT),
    flag("ssl-auto-client-cert", CLIENT_CERT),
    flag("ntlm", NO_LOGIN),
    flag("ntlm-wb", NO_LOGIN),
    flag("negotiate", NO_LOGIN),
    value("aws-sigv4", NO_LOGIN),
    flag("netrc", NO_LOGIN).or('n'),
    flag("netrc-optional", NO_LOGIN),
    value("netrc-file", NO_LOGIN),
    value("login-options", NO_LOGIN),
    value("delegation", NO_LOGIN),
    value("service-name", NO_LOGIN),
    value("tlsuser", NO_LOGIN),
    value("tlspassword", NO_LOGIN),
    value("tlsauthtype", NO_LOGIN),
    value("ciphers", TLS),
    value("tls13-ciphers", TLS),
    value("curves", TLS),
    value("sigalgs", TLS),
    value("tls-max", TLS),
    value("ech", TLS),
    flag("tlsv1", TLS).or('1'),
    flag("tlsv1.0", TLS),
    flag("tlsv1.1", TLS),
    flag("tlsv1.2", TLS),
    flag("tlsv1.3", TLS),
    flag("sslv2", TLS).or('2'),
    flag("sslv3", TLS).or('3'),
    flag("ssl-allow-beast", TLS),
    value("engine", TLS),
    value("socks4", DIRECT),
    value("socks4a", DIRECT),
    value("socks5", DIRECT),
    value("socks5-hostname", DIRECT),
    value("socks5-gssapi-service", DIRECT),
    flag("socks5-basic", DIRECT),
    flag("socks5-gssapi", DIRECT),
    flag("socks5-gssapi-nec", DIRECT),
    value("preproxy", DIRECT),
    value("noproxy", Does::Missing("the proxy is used for all hosts: -N HOSTS excludes hosts")),
    value("proxy-header", Does::Missing("the proxy does not get this header")),
    flag("proxytunnel", Does::Missing("plain HTTP requests go through the proxy without a tunnel"))
        .or('p'),
    flag("proxy-anyauth", Does::Nothing),
    flag("proxy-basic", Does::Nothing),
    flag("proxy-digest", Does::Nothing),
    flag("proxy-ntlm", NO_LOGIN),
    flag("proxy-negotiate", NO_LOGIN),
    value("proxy-service-name", NO_LOGIN),
    value("proxy-cacert", PROXY_TLS),
    value("proxy-capath", PROXY_TLS),
    value("proxy-cert", PROXY_TLS),
    value("proxy-cert-type", PROXY_TLS),
    value("proxy-ciphers", PROXY_TLS),
    value("proxy-crlfile", PROXY_TLS),
    value("proxy-key", PROXY_TLS),
    value("proxy-key-type", PROXY_TLS),
    value("proxy-pass", PROXY_TLS),
    value("proxy-pinnedpubkey", PROXY_TLS),
    value("proxy-tls13-ciphers", PROXY_TLS),
    value("proxy-tlsauthtype", PROXY_TLS),
    value("proxy-tlspassword", PROXY_TLS),
    value("proxy-tlsuser", PROXY_TLS),
    flag("proxy-insecure", PROXY_TLS),
    flag("proxy-ca-native", PROXY_TLS),
    flag("proxy-http2", PROXY_TLS),
    flag("proxy-tlsv1", PROXY_TLS),
    flag("proxy-ssl-allow-beast", PROXY_TLS),
    flag("proxy-ssl-auto-client-cert", PROXY_TLS),
    value("retry", RETRY),
    flag("retry-all-errors", RETRY),
    flag("retry-connrefused", RETRY),
    value("retry-delay", RETRY),
    value("retry-max-time", RETRY),
    flag("post301", REDIRECT),
    flag("post302", REDIRECT),
    flag("post303", REDIRECT),
    value(
        "max-redirs",
        Does::Missing(
            "the limit of redirects is the property httpsampler.max_redirects, 20 by default",
        ),
    ),
    value("proto", Does::Missing("only http and https are supported, and both are allowed")),
    value("proto-redir", Does::Missing("redirects to http and https are followed")),
    value("max-filesize", ONCE),
    value("speed-limit", ONCE).or('Y'),
    value("speed-time", ONCE).or('y'),
    value(
        "limit-rate",
        Does::Missing(
            "the bandwidth is not limited: the property httpclient.socket.http.cps limits it",
        ),
    ),
    value("rate", Does::Missing("the rate of requests is set by --rps")),
    value("continue-at", Does::Missing("no Range header is sent: -r sets one")).or('C'),
    value("time-cond", Does::Missing("no If-Modified-Since header is sent: -H sets one")).or('z'),
    value("etag-compare", Does::Missing("no If-None-Match header is sent: -H sets one")),
    flag("junk-session-cookies", Does::Missing("session cookies of the file are sent")).or('j'),
    flag("ignore-content-length", Does::Missing("the response's Content-Length counts")),
    flag("tr-encoding", Does::Missing("no TE header is sent: -H sets one")),
    flag("crlf", Does::Missing("line ends of the upload are not changed")),
    flag("use-ascii", Does::Missing("line ends of the upload are not changed")).or('B'),
    flag("form-escape", Does::Missing("names of form fields are escaped as in JMeter")),
    flag("ipv4", NAMES).or('4'),
    flag("ipv6", NAMES).or('6'),
    value("dns-servers", NAMES),
    value("dns-interface", NAMES),
    value("dns-ipv4-addr", NAMES),
    value("dns-ipv6-addr", NAMES),
    value("doh-url", NAMES),
    flag("doh-insecure", NAMES),
    flag("doh-cert-status", NAMES),
    value("local-port", Does::Missing("the system chooses the local port")),
    flag("haproxy-protocol", Does::Missing("no PROXY line is sent")),
    value("haproxy-clientip", Does::Missing("no PROXY line is sent")),
    value(
        "unix-socket",
        Does::Missing("UNIX sockets are not supported: the request goes to the host of its URL"),
    ),
    value(
        "abstract-unix-socket",
        Does::Missing("UNIX sockets are not supported: the request goes to the host of its URL"),
    ),
    value("hsts", Does::Missing("http stays http")),
    value("alt-svc", H1),
    value("config", Does::Missing("the file is not read: its options have no effect")).or('K'),
    value("variable", Does::Missing("variables of curl are not replaced")),
    flag("ssl", Does::Nothing),
];

/// Options without meaning for a load test.
const WITHOUT_MEANING: &[Known] = &[
    flag("silent", Does::Nothing).or('s'),
    flag("show-error", Does::Nothing).or('S'),
    flag("include", Does::Nothing).or('i'),
    flag("show-headers", Does::Nothing),
    flag("verbose", Does::Nothing).or('v'),
    flag("fail", Does::Nothing).or('f'),
    flag("fail-with-body", Does::Nothing),
    flag("fail-early", Does::Nothing),
    flag("progress-bar", Does::Nothing).or('#'),
    flag("progress-meter", Does::Nothing),
    flag("buffer", Does::Nothing),
    flag("no-buffer", Does::Nothing).or('N'),
    value("output", Does::Nothing).or('o'),
    value("output-dir", Does::Nothing),
    flag("out-null", Does::Nothing),
    flag("remote-name", Does::Nothing).or('O'),
    flag("remote-name-all", Does::Nothing),
    flag("remote-header-name", Does::Nothing).or('J'),
    flag("remote-time", Does::Nothing).or('R'),
    flag("remove-on-error", Does::Nothing),
    flag("clobber", Does::Nothing),
    flag("skip-existing", Does::Nothing),
    flag("create-dirs", Does::Nothing),
    value("create-file-mode", Does::Nothing),
    value("write-out", Does::Nothing).or('w'),
    value("dump-header", Does::Nothing).or('D'),
    value("stderr", Does::Nothing),
    value("trace", Does::Nothing),
    value("trace-ascii", Does::Nothing),
    value("trace-config", Does::Nothing),
    flag("trace-time", Does::Nothing),
    flag("trace-ids", Does::Nothing),
    value("libcurl", Does::Nothing),
    flag("styled-output", Does::Nothing),
    flag("suppress-connect-headers", Does::Nothing),
    flag("xattr", Does::Nothing),
    flag("raw", Does::Nothing),
    value("etag-save", Does::Nothing),
    flag("disable", Does::Nothing).or('q'),
    flag("http1.1", Does::Nothing),
    flag("http0.9", Does::Nothing),
    flag("alpn", Does::Nothing),
    flag("npn", Does::Nothing),
    flag("sessionid", Does::Nothing),
    flag("keepalive", Does::Nothing),
    value("keepalive-time", Does::Nothing),
    value("keepalive-cnt", Does::Nothing),
    flag("tcp-nodelay", Does::Nothing),
    flag("tcp-fastopen", Does::Nothing),
    flag("mptcp", Does::Nothing),
    value("ip-tos", Does::Nothing),
    value("vlan-priority", Does::Nothing),
    flag("false-start", Does::Nothing),
    flag("tls-earlydata", Does::Nothing),
    flag("ssl-no-revoke", Does::Nothing),
    flag("ssl-revoke-best-effort", Does::Nothing),
    flag("ssl-reqd", Does::Nothing),
    value("random-file", Does::Nothing),
    value("egd-file", Does::Nothing),
    value("expect100-timeout", Does::Nothing),
    value("happy-eyeballs-timeout-ms", Does::Nothing),
    flag("disallow-username-in-url", Does::Nothing),
    flag("parallel", Does::Nothing).or('Z'),
    flag("parallel-immediate", Does::Nothing),
    value("parallel-max", Does::Nothing),
    value("parallel-max-host", Does::Nothing),
    flag("metalink", Does::Nothing),
    flag("manual", Does::Nothing).or('M'),
    flag("version", Does::Nothing).or('V'),
    value("help", Does::Nothing).or('h'),
    // Options of other protocols.
    flag("append", Does::Nothing).or('a'),
    flag("list-only", Does::Nothing).or('l'),
    flag("compressed-ssh", Does::Nothing),
    flag("disable-eprt", Does::Nothing),
    flag("disable-epsv", Does::Nothing),
    value("ftp-account", Does::Nothing),
    value("ftp-alternative-to-user", Does::Nothing),
    flag("ftp-create-dirs", Does::Nothing),
    value("ftp-method", Does::Nothing),
    flag("ftp-pasv", Does::Nothing),
    value("ftp-port", Does::Nothing).or('P'),
    flag("ftp-pret", Does::Nothing),
    flag("ftp-skip-pasv-ip", Does::Nothing),
    flag("ftp-ssl-ccc", Does::Nothing),
    value("ftp-ssl-ccc-mode", Does::Nothing),
    flag("ftp-ssl-control", Does::Nothing),
    value("hostpubmd5", Does::Nothing),
    value("hostpubsha256", Does::Nothing),
    value("ipfs-gateway", Does::Nothing),
    value("krb", Does::Nothing),
    value("mail-auth", Does::Nothing),
    value("mail-from", Does::Nothing),
    value("mail-rcpt", Does::Nothing),
    flag("mail-rcpt-allowfails", Does::Nothing),
    value("pubkey", Does::Nothing),
    value("quote", Does::Nothing).or('Q'),
    value("sasl-authzid", Does::Nothing),
    flag("sasl-ir", Does::Nothing),
    value("telnet-option", Does::Nothing).or('t'),
    value("tftp-blksize", Does::Nothing),
    flag("tftp-no-options", Does::Nothing),
    value("upload-flags", Does::Nothing),
];

fn all() -> impl Iterator<Item = &'static Known> {
    IMPORTED.iter().chain(MISSING).chain(WITHOUT_MEANING)
}

/// Finds an option by its letter.
pub(super) fn short(letter: char) -> Option<&'static Known> {
    all().find(|known| known.short == Some(letter))
}

/// Finds an option by its long name, or by the beginning of a name that no other option has.
pub(super) fn long(name: &str) -> Option<&'static Known> {
    if let Some(known) = all().find(|known| known.long == name) {
        return Some(known);
    }
    let mut similar = all().filter(|known| !name.is_empty() && known.long.starts_with(name));
    let found = similar.next()?;
    similar.next().is_none().then_some(found)
}

/// True if curl has a long option of exactly this name.
pub(super) fn is_long(name: &str) -> bool {
    let negated = name.strip_prefix("no-").unwrap_or(name);
    all().any(|known| known.long == name || (known.long == negated && !known.takes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let longs: Vec<_> = all().map(|known| known.long).collect();
        let shorts: Vec<_> = all().filter_map(|known| known.short).collect();
        for (at, name) in longs.iter().enumerate() {
            assert!(!longs[..at].contains(name), "{name}");
        }
        for (at, name) in shorts.iter().enumerate() {
            assert!(!shorts[..at].contains(name), "{name}");
        }
        assert!(longs.len() > 250, "{}", longs.len());
    }

    #[test]
    fn names_may_be_shortened() {
        assert_eq!(long("sil").map(|known| known.long), Some("silent"));
        assert_eq!(long("data").map(|known| known.long), Some("data"));
        assert_eq!(long("data-").map(|known| known.long), None);
        assert_eq!(long("nosuch").map(|known| known.long), None);
        assert!(is_long("no-keepalive") && is_long("no-buffer") && !is_long("no-data"));
    }
}
