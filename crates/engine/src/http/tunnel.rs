//! HTTP through proxies: which one a request goes through, and the tunnel that TLS needs.
//!
//! Plain requests name the server in their request line and the proxy passes them on. For TLS the proxy is asked for a
//! tunnel (`CONNECT`), with credentials if it wants some; what it answers instead of making one is the sample's answer.
//! Connections belong to proxy and server together, as in HttpClient.

use plan::http::{Request, show_lines};
use plan::plan::SamplerKind;
use wire::auth::{Asker, Credentials, Message};
use wire::http1::{Decoder, Event, Limits};

use crate::context::Context;
use crate::http::conn::{ConnId, State};
use crate::http::credentials;
use crate::http::receive::{Closing, broken, keep};
use crate::http::requests::Requests;
use crate::net::outcome::Failure;
use crate::net::routes::{Route, RouteId, Tunnel};
use crate::time::clock::Nanos;
use crate::users::Wait;

impl Requests {
    /// The connection to a proxy stands: it is asked for a tunnel.
    pub(crate) fn ask_for_way(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let now = cx.clock.now();
        let random = cx.random.bits().to_be_bytes();
        let entry = &mut self.conns[conn];
        entry.state = State::Tunnelling;
        entry.exchange.connect = now - entry.exchange.start;
        let (index, route) = (entry.user, entry.route);
        let Some(tunnel) = &cx.net.routes[route].tunnel else { return };
        let authority = format!("{}:{}", tunnel.host, tunnel.port);
        // JMeter's URLs do not show the usual port.
        let host = if tunnel.port == 443 { &tunnel.host } else { &authority };
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {host}\r\n").into_bytes();
        let agent = match cx.users[index].wait {
            Wait::Exchange(id) => match &cx.plan.samplers[id.0 as usize].kind {
                SamplerKind::Http(http) => http.user_agent(),
                _ => "",
            },
            _ => "",
        };
        if !agent.is_empty() {
            request.extend_from_slice(format!("User-Agent: {agent}\r\n").as_bytes());
        }
        let message = Message { method: "CONNECT", uri: &authority, body: None, random };
        credentials::talk(cx, index, route).dialogue.answer(Asker::Proxy, &message, &mut request);
        request.extend_from_slice(b"\r\n");
        let entry = &mut self.conns[conn];
        entry.decoder = Decoder::new(false, Limits::default());
        (entry.exchange.sent, entry.exchange.received) = (request.len() as u64, 0);
        (entry.exchange.latency, entry.exchange.has_body) = (0, false);
        entry.exchange.sent_at = now;
        if let Some(stash) = entry.stash.as_mut().filter(|stash| !stash.request_headers.is_empty())
        {
            // Should the proxy answer instead of the server, this was the request.
            stash.request_headers.clear();
            show_lines(&request, &mut stash.request_headers);
        }
        let limit = entry.exchange.limit;
        if !self.send_raw(cx, conn, &request) {
            return;
        }
        match limit {
            0 => cx.users[index].limit = Nanos::MAX,
            limit => cx.arm(index, now + limit),
        }
    }

    /// Takes bytes of a proxy's answer to the request for a tunnel.
    pub(crate) fn take_way(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        bytes: &[u8],
        now: Nanos,
    ) {
        let mut at = 0;
        loop {
            let entry = &mut self.conns[conn];
            let (used, event) = match entry.decoder.next(&bytes[at..]) {
                Ok(next) => next,
                Err(error) => return self.fail(cx, conn, &broken((at, error), bytes)),
            };
            at += used;
            entry.exchange.received += used as u64;
            match event {
                Event::NeedMore => {
                    keep(&mut entry.tail, &bytes[at..]);
                    return self.progress(cx, conn, now);
                }
                Event::Head(head) if (200..300).contains(&head.status) => {
                    entry.tail = Vec::new();
                    return self.way_is_free(cx, conn);
                }
                Event::Head(head) => {
                    let exchange = &mut entry.exchange;
                    (exchange.status, exchange.has_body) = (head.status, head.has_body);
                    exchange.keep_alive = head.keep_alive;
                    exchange.received += u64::from(head.reason.is_empty());
                    if let Some(stash) = entry.stash.as_mut() {
                        stash.keep_head(&head);
                        stash.body.clear();
                    }
                }
                Event::Body(body) => {
                    if let Some(stash) = entry.stash.as_mut().filter(|_| entry.exchange.keep_body) {
                        let most = cx.run.settings.bodies.most_of_body(entry.exchange.digest).1;
                        stash.keep_body(body, most);
                    }
                }
                Event::End => {
                    entry.tail = Vec::new();
                    return self.no_way(cx, conn, now, false);
                }
            }
        }
    }

    /// The tunnel is made.
    fn way_is_free(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let (index, route) = (self.conns[conn].user, self.conns[conn].route);
        credentials::talk(cx, index, route).dialogue.accepted();
        // What it took counts in no sample.
        self.conns[conn].exchange.received = 0;
        if let Some(stash) = self.conns[conn].stash.as_mut() {
            stash.clear_answer();
            if !stash.request_headers.is_empty() {
                stash.request_headers.clear();
                show_lines(&stash.request, &mut stash.request_headers);
            }
        }
        self.start_tls(cx, conn, cx.clock.now());
    }

    /// The proxy has answered, but made no tunnel. It may want credentials; else its answer is the sample's.
    pub(crate) fn no_way(&mut self, cx: &mut Context<'_>, conn: ConnId, now: Nanos, ended: bool) {
        let entry = &self.conns[conn];
        let (index, route, keeps) = (entry.user, entry.route, entry.exchange.keep_alive && !ended);
        if entry.exchange.status < 200 {
            return self.fail(cx, conn, &Failure::Http(wire::http1::Error::NoResponse));
        }
        if entry.exchange.status == Asker::Proxy.status() {
            let login = credentials::proxy_login(cx, index, route);
            let head = self.conns[conn].stash.as_mut().map(|stash| std::mem::take(&mut stash.head));
            let head = head.unwrap_or_default();
            let again = credentials::talk(cx, index, route).dialogue.challenged(
                Asker::Proxy,
                &head,
                &|_| login.clone(),
            );
            if let Some(stash) = self.conns[conn].stash.as_mut() {
                stash.head = head;
            }
            if again && keeps {
                return self.ask_for_way(cx, conn);
            }
            if again {
                self.conns.drop_socket(conn);
                self.conns[conn].state = State::Connecting;
                return self.connect(cx, conn);
            }
        } else {
            credentials::talk(cx, index, route).dialogue.accepted();
        }
        let exchange = &mut self.conns[conn].exchange;
        // Whatever it says, it is not talked to any more.
        (exchange.want_keep_alive, exchange.challenges, exchange.arrival) = (false, false, now);
        self.finish(cx, conn, now, if ended { Closing::Broken } else { Closing::No });
    }
}

/// The route of a request: to its server, or to the proxy before it.
pub(crate) fn route_of(cx: &mut Context<'_>, request: &Request) -> RouteId {
    let own = &request.proxy;
    let dynamic = !own.host.trim().is_empty() && own.port > 0;
    let settings = &cx.run.settings;
    let source = match &settings.http.local_address {
        Some((local, _)) if request.source.is_any() => local,
        _ => &request.source,
    };
    let fixed =
        settings.proxy.server.as_ref().filter(|proxy| !dynamic && proxy.port > 0).filter(|proxy| {
            if request.java {
                proxy.serves_java(&request.host)
            } else {
                proxy.serves(&request.host)
            }
        });
    let (host, port, credentials) = match fixed {
        Some(proxy) => (&proxy.host, proxy.port, settings.proxy.login.clone()),
        None if dynamic => {
            let login = Credentials::new(&settings.proxy.domain, &own.user, &own.password);
            (&own.host, own.port, (!own.user.is_empty()).then_some(login))
        }
        None => {
            return cx.net.routes.to(request.secure, &request.host, request.port, source);
        }
    };
    let tunnel = Tunnel {
        host: request.host.clone(),
        port: request.port,
        forwarded: !request.secure,
        credentials,
    };
    let same = |route: &Route| {
        route.tunnel.as_ref() == Some(&tunnel)
            && !route.pinned
            && (route.secure, route.port) == (request.secure, port)
            && (&route.host, &route.source) == (host, source)
    };
    if let Some(at) = cx.net.routes.position(same) {
        return at;
    }
    cx.net.routes.add(Route {
        secure: request.secure,
        host: host.clone(),
        port,
        tunnel: Some(tunnel),
        source: source.clone(),
        ..Route::default()
    })
}

/// Whether requests of a route are passed on by a proxy.
pub(crate) fn is_forwarded(cx: &Context<'_>, route: RouteId) -> bool {
    cx.net.routes[route].tunnel.as_ref().is_some_and(|tunnel| tunnel.forwarded)
}
