//! Renders a request: URL, request target, header lines in HttpClient's order, and body.
//!
//! Lines are sent in this order: `Connection`, the plan's headers, cookies, `Content-Length`, `Content-Type`,
//! `Host`, `User-Agent`; the last four only if the plan does not set them. Checks run in JMeter's order, so that
//! the result reports the same first error.

use lang::charset::Charset;
use lang::{percent, uri, url};

use super::body::Body;
use super::{Http, Request, Unsendable, header};
use crate::env::Env;

/// Java's message if JMeter has no cookie handler.
const NO_HANDLER: &str = "Cannot invoke \"org.apache.jmeter.protocol.http.control.CookieHandler.getCookieHeaderForURL(org.apache.jmeter.testelement.property.CollectionProperty, java.net.URL, boolean)\" because \"this.cookieHandler\" is null";
const BAD_URL: &str = "java.net.MalformedURLException";

impl Http {
    /// Renders the first request of a sample.
    pub fn render(&self, env: &mut Env<'_>, out: &mut Request) -> Result<(), Unsendable> {
        out.clear();
        self.method.eval(env, &mut out.method);
        let built = self.write_url(env, out);
        thrown(env).map_err(|failure| Unsendable { no_url: true, ..failure })?;
        let fault = built.map_err(|url::Malformed(message)| Unsendable {
            no_url: true,
            ..Unsendable::new(BAD_URL, &message)
        })?;
        if self.is_of_file(env, out) {
            return Ok(());
        }
        out.java = self.is_sent_by_java(env)?;
        if out.java {
            return self.write(env, out, true);
        }
        verify(&out.url)?;
        if let Some(fault) = fault {
            let authority = &out.url[url::split(&out.url).protocol.end + 3..];
            let end = authority.find('/').unwrap_or(authority.len());
            let message = format!("{fault}: {}", &authority[..end]);
            return Err(Unsendable::new("java.net.URISyntaxException", &message));
        }
        if !is_method(&out.method) {
            let message = format!("Unexpected method: '{}'", out.method);
            return Err(Unsendable::new("java.lang.IllegalArgumentException", &message));
        }
        self.write(env, out, true)
    }

    /// Renders the request that follows a redirect to the absolute URL `url`.
    pub fn render_redirect(
        &self,
        url: &str,
        method: &str,
        env: &mut Env<'_>,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        self.render_at(url, method, false, env, out)
    }

    /// Renders the request of a redirect that HttpClient follows without JMeter, after a request with the method
    /// `from`. The request keeps the header lines that JMeter set for the first request, and the content type of a
    /// file that is not resent.
    pub fn render_silent_redirect(
        &self,
        url: &str,
        method: &str,
        from: &str,
        env: &mut Env<'_>,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        self.render_redirect(url, method, env, out)?;
        let was = self.body_of(env, from, true, out.changed.adds());
        let kept = was.filter(|body| *body != Body::Multipart && out.body.is_empty());
        let present = header::Present::of(&out.headers);
        if let Some(body) = kept
            && !present.content_type_value
        {
            // The content type is inserted before the header lines of HttpClient.
            let mut rest = out.headers.split_off(out.own_end);
            self.write_content_type(env, body, out);
            out.agent_at += out.headers.len() - out.own_end;
            out.headers.append(&mut rest);
        }
        thrown(env)
    }

    /// Renders the request for an embedded resource at the absolute URL `url`. JMeter sends it as if the sampler
    /// had the method GET. The request has the body of the page's own request, unless that body is a form.
    pub fn render_embedded(
        &self,
        url: &str,
        env: &mut Env<'_>,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        self.render_at(url, "GET", true, env, out)
    }

    fn render_at(
        &self,
        url: &str,
        method: &str,
        first: bool,
        env: &mut Env<'_>,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        out.clear();
        out.method.push_str(method);
        out.url.push_str(url);
        if self.is_of_file(env, out) {
            return Ok(());
        }
        out.java = self.is_sent_by_java(env)?;
        if !out.java {
            verify(url)?;
        }
        self.write(env, out, first)
    }

    /// Returns true for a `file:` URL, and then prepares the request for reading the file. The sampler's protocol must
    /// be `file` in lower case, as in JMeter.
    fn is_of_file(&self, env: &mut Env<'_>, out: &mut Request) -> bool {
        if !out.url.starts_with("file:") || !self.protocol.parsed(env, |name| name == "file") {
            return false;
        }
        out.is_file = true;
        out.method.clear();
        out.method.push_str("GET");
        self.encoding.eval(env, &mut out.charset);
        let parts = url::split(&out.url);
        out.host.push_str(&out.url[parts.host]);
        out.bytes.clear();
        percent::unescape(&out.url[parts.path], &mut out.bytes);
        let path = String::from_utf8_lossy(&out.bytes);
        // As in `java.io.File`, there are no double slashes and no slash at the end.
        for c in path.chars() {
            if c != '/' || !out.target.ends_with('/') {
                out.target.push(c);
            }
        }
        if out.target.len() > 1 && out.target.ends_with('/') {
            out.target.pop();
        }
        true
    }

    /// True if Java's own client sends the request, false for HttpClient. Fails for an unknown implementation, or if an
    /// expression threw an exception.
    fn is_sent_by_java(&self, env: &mut Env<'_>) -> Result<bool, Unsendable> {
        let client = &self.client;
        let found = client.name.parsed(env, |name| {
            let name = if name.trim().is_empty() { &*client.default } else { name };
            match name {
                "Java" | "HTTPSampler" => Ok(true),
                "HttpClient4" | "HttpClient3.1" => Ok(false),
                _ => Err(format!("Unknown implementation type: '{name}'")),
            }
        });
        let nobody = |failure| Unsendable { no_client: true, ..failure };
        thrown(env).map_err(nobody)?;
        found.map_err(|words| nobody(Unsendable::new("java.lang.IllegalArgumentException", &words)))
    }

    /// Writes the request except for its URL.
    fn write(&self, env: &mut Env<'_>, out: &mut Request, first: bool) -> Result<(), Unsendable> {
        out.response_timeout_ms = u32::try_from(self.response_timeout.int(env)).unwrap_or(0);
        out.connect_timeout_ms = u32::try_from(self.connect_timeout.int(env)).unwrap_or(0);
        out.follow_redirects = self.follow_redirects.get(env);
        out.auto_redirects = self.auto_redirects.get(env);
        self.source.eval(env, &mut out.source);
        if let Some(proxy) = &self.proxy {
            proxy.host.eval(env, &mut out.proxy.host);
            proxy.user.eval(env, &mut out.proxy.user);
            proxy.password.eval(env, &mut out.proxy.password);
            out.proxy.port = proxy.port.parsed(env, |text| text.trim().parse().unwrap_or(0));
        }
        let parts = url::split(&out.url);
        if out.java {
            self.write_java(env, out, &parts)?;
            return thrown(env);
        }
        let keep_alive = self.keep_alive.get(env);
        header::push(
            &mut out.headers,
            "Connection",
            if keep_alive { "keep-alive" } else { "close" },
        );
        let method = std::mem::take(&mut out.method);
        let body = self.body_of(env, &method, first, out.changed.adds());
        out.method = method;
        self.write_headers(env, out, &parts, body == Some(Body::Multipart));
        out.own_end = out.headers.len();
        out.cookie_at = if out.own_cookie.is_empty() { out.own_end } else { out.own_cookie.start };
        thrown(env)?;
        self.ask_for_cookies(out, &parts)?;
        let present = header::Present::of(&out.headers);
        self.write_body(env, out, body, present)?;
        thrown(env)?;
        self.write_target(out, &parts, present)?;
        out.keep_alive = !present.close;
        if present.odd_connection
            && let Some(fault) = header::connection_fault(&out.headers)
        {
            out.connection_fault = fault;
        }
        out.expects_continue = body.is_some() && present.expects_continue;
        Ok(())
    }

    /// Writes the URL. An error in the host is returned as a value, because it counts only if the rest of the URL is
    /// valid.
    fn write_url(
        &self,
        env: &mut Env<'_>,
        out: &mut Request,
    ) -> Result<Option<String>, url::Malformed> {
        let mut path = env.core.take();
        self.path.eval(env, &mut path);
        self.apply_changes(env, &mut path, out);
        encode_spaces(&mut path);
        let result = if path.starts_with("http://") || path.starts_with("https://") {
            url::resolve(None, &path, &mut out.url).map(|()| None)
        } else {
            let (mut protocol, mut domain) = (env.core.take(), env.core.take());
            if let Some(target) = &out.changed.target {
                protocol.push_str(&target.protocol);
                domain.push_str(&target.domain);
            } else {
                self.protocol.eval(env, &mut protocol);
                self.domain.eval(env, &mut domain);
            }
            if protocol.is_empty() {
                protocol.push_str("http");
            }
            let is_file = protocol.eq_ignore_ascii_case("file");
            let mut file = env.core.take();
            if !path.starts_with('/') && !is_file {
                file.push('/');
            }
            file.push_str(&path);
            if matches!(out.method.as_str(), "GET" | "DELETE" | "OPTIONS") {
                self.write_query(env, path.contains('?'), out, &mut file);
            }
            let port = self.port.parsed(env, |text| text.trim().parse().unwrap_or(0));
            let port = Some(port).filter(|port| !is_default_port(&protocol, *port));
            // File URLs may be relative, and have no host.
            let port = port.filter(|_| !is_file);
            if is_file {
                domain.clear();
            }
            let result = url::assemble(&protocol, &domain, port, &file, &mut out.url);
            let result = result.map(|()| url::host_fault(&domain));
            env.core.give(domain);
            env.core.give(protocol);
            env.core.give(file);
            result
        };
        env.core.give(path);
        result
    }

    /// Writes host, port and request target.
    fn write_target(
        &self,
        out: &mut Request,
        parts: &url::Parts,
        present: header::Present,
    ) -> Result<(), Unsendable> {
        let Request { url, host, headers, target, bytes, .. } = out;
        let protocol = &url[parts.protocol.clone()];
        let name = &url[parts.host.clone()];
        out.secure = protocol == "https";
        let decoded;
        let name = if name.contains('%') && !name.starts_with('[') {
            decoded = percent_decoded(name);
            &decoded
        } else {
            name
        };
        if name.is_empty() {
            let message = format!("URI does not specify a valid host name: {url}");
            return Err(Unsendable::new(
                "org.apache.http.client.ClientProtocolException",
                &message,
            ));
        }
        if !matches!(protocol, "http" | "https") {
            let message = format!("{protocol} protocol is not supported");
            return Err(Unsendable::new(
                "org.apache.http.conn.UnsupportedSchemeException",
                &message,
            ));
        }
        host.push_str(name.trim_start_matches('[').trim_end_matches(']'));
        out.port = match parts.port {
            Some(port) => u16::try_from(port).map_err(|_| {
                let message = format!("port out of range:{port}");
                Unsendable::new("java.lang.IllegalArgumentException", &message)
            })?,
            None => default_port(out.secure),
        };
        if !present.host {
            match parts.port {
                Some(port) => header::push_with_port(headers, "Host", name, port),
                None => header::push(headers, "Host", name),
            }
        }
        out.agent_at = headers.len();
        if !self.user_agent.is_empty() && !present.user_agent {
            header::push(headers, "User-Agent", &self.user_agent);
        }
        let query = parts.query.clone().map(|query| &url[query]);
        uri::target(&url[parts.path.clone()], query, bytes, target);
        out.path_len = target.find('?').unwrap_or(target.len());
        Ok(())
    }

    /// Checks the cookie manager as JMeter does before sending. The check fails if the cookie manager is unusable,
    /// or if the URL has no host.
    pub(super) fn ask_for_cookies(
        &self,
        out: &Request,
        parts: &url::Parts,
    ) -> Result<(), Unsendable> {
        if self.cookie_handler_missing {
            return Err(Unsendable::new("java.lang.NullPointerException", NO_HANDLER));
        }
        if self.cookies.is_some() && out.url[parts.host.clone()].trim().is_empty() {
            let message = "Host may not be blank";
            return Err(Unsendable::new("java.lang.IllegalArgumentException", message));
        }
        Ok(())
    }

    /// Returns the character set that the plan names. If it is unknown, returns JMeter's failure.
    pub(super) fn charset(&self, env: &mut Env<'_>) -> Result<Charset, Unsendable> {
        self.encoding.parsed(env, |name| {
            let name = if name.is_empty() { "UTF-8" } else { name };
            Charset::named(name).ok_or_else(|| {
                let legal = name.chars().all(|c| c.is_ascii_alphanumeric() || "-+.:_".contains(c));
                let class = if legal {
                    "UnsupportedCharsetException"
                } else {
                    "IllegalCharsetNameException"
                };
                Unsendable::new(&format!("java.nio.charset.{class}"), name)
            })
        })
    }
}

/// True if HttpClient4 accepts the method: any HTTP token is valid.
fn is_method(method: &str) -> bool {
    let of_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !method.is_empty() && method.bytes().all(of_token)
}

/// Rejects a URL that is not a valid URI.
fn verify(url: &str) -> Result<(), Unsendable> {
    uri::verify(url)
        .map_err(|bad| Unsendable::new("java.net.URISyntaxException", &bad.message(url)))
}

/// Fails if an expression of the request threw an exception, with that exception. Leaves exceptions that end the user
/// to the engine.
pub(super) fn thrown(env: &mut Env<'_>) -> Result<(), Unsendable> {
    match env.core.thrown.take_if(|thrown| !thrown.stops_user()) {
        Some(thrown) => Err(Unsendable::new(thrown.class, &thrown.message)),
        None => Ok(()),
    }
}

/// Decodes a host name. If the name is not a valid host, HttpClient takes the host from the URL's authority, with
/// escape sequences resolved.
fn percent_decoded(name: &str) -> String {
    let mut decoded = String::new();
    // All escape sequences are valid after `verify`.
    let _ =
        percent::decode(&name.replace('+', "%2B"), Charset::Utf8, &mut Vec::new(), &mut decoded);
    decoded
}

pub(super) fn encode_spaces(path: &mut String) {
    while let Some(at) = path.find(' ') {
        path.replace_range(at..=at, "%20");
    }
}

/// True if the URL may omit the port; 0 means that no port is given.
pub(super) fn is_default_port(protocol: &str, port: i32) -> bool {
    match port {
        0 => true,
        80 => protocol.eq_ignore_ascii_case("http"),
        443 => protocol.eq_ignore_ascii_case("https"),
        _ => false,
    }
}

pub(super) fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}
