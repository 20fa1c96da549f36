//! HTTP through proxies: which one a request goes through, and the tunnel that TLS needs.
//!
//! Plain requests name the server in their request line and the proxy passes them on. For TLS the proxy is asked for a
//! tunnel (`CONNECT`), with credentials if it wants some; what it answers instead of making one is the sample's answer.
//! Connections belong to proxy and server together, as in HttpClient.

use plan::http::{Request, show_lines};
use plan::plan::SamplerKind;
use wire::auth::{Asker, Credentials, Message};
use wire::session::Ticket;

use crate::context::Context;
use crate::http::answer::Closing;
use crate::http::credentials;
use crate::http::requests::Requests;
use crate::net::outcome::Failure;
use crate::net::routes::{Route, RouteId, Tunnel};
use crate::session::Sessions;
use crate::session::exchange::Call;
use crate::session::http1::HttpCall;

/// The connection of an exchange stands to a proxy, which is asked for a tunnel.
pub(crate) fn ask_for_tunnel(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let random = cx.random.bits().to_be_bytes();
    let exchange = &mut sessions.exchanges[ticket];
    let (index, route) = (exchange.user, exchange.route);
    let Some(tunnel) = &cx.net.routes[route].tunnel else { return };
    let authority = format!("{}:{}", tunnel.host, tunnel.port);
    // JMeter's URLs do not show the usual port.
    let host = if tunnel.port == 443 { &tunnel.host } else { &authority };
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {host}\r\n").into_bytes();
    let agent = match &cx.plan.samplers[exchange.sampler.0 as usize].kind {
        SamplerKind::Http(http) => http.user_agent(),
        _ => "",
    };
    if !agent.is_empty() {
        request.extend_from_slice(format!("User-Agent: {agent}\r\n").as_bytes());
    }
    let message = Message { method: "CONNECT", uri: &authority, body: None, random };
    credentials::talk(cx, index, route).dialogue.answer(Asker::Proxy, &message, &mut request);
    request.extend_from_slice(b"\r\n");
    // Should the proxy answer instead of the server, this was the request.
    show_request(&mut exchange.call, &request);
    sessions.ask_proxy(&mut cx.around(), ticket, &request);
}

/// Shows a request in place of the one shown before, if one is.
fn show_request(call: &mut Call, request: &[u8]) {
    if let Call::Http(HttpCall { stash: Some(stash), .. }) = call
        && !stash.request_headers.is_empty()
    {
        stash.request_headers.clear();
        show_lines(request, &mut stash.request_headers);
    }
}

impl Requests {
    /// A proxy has answered the request for a tunnel.
    pub(super) fn end_tunnelling(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        ticket: Ticket,
        closing: Closing,
    ) {
        let exchange = &mut sessions.exchanges[ticket];
        let (index, route) = (exchange.user, exchange.route);
        let Call::Http(http) = &mut exchange.call else { return };
        if !(200..300).contains(&http.facts.status) {
            return self.end_refused(cx, sessions, ticket, closing);
        }
        credentials::talk(cx, index, route).dialogue.accepted();
        if let Some(stash) = &mut http.stash {
            stash.clear_answer();
        }
        show_request(&mut exchange.call, &exchange.request);
        sessions.leave_proxy(&mut cx.around(), ticket);
        let settings = cx.tls_config(cx.users.owner(index));
        let now = cx.clock.now();
        sessions.secure(&mut cx.around(), ticket, settings, now);
        let exchange = &sessions.exchanges[ticket];
        if closing != Closing::No && sessions.is_on(exchange.line, ticket) {
            // The end of the stream lies there, and is told once only.
            cx.net.unfinished.push_back((sessions.lines.token(exchange.line), true));
        }
    }

    /// The proxy has made no tunnel. It may want credentials; else its answer is the sample's.
    fn end_refused(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        ticket: Ticket,
        closing: Closing,
    ) {
        let exchange = &mut sessions.exchanges[ticket];
        let (index, route) = (exchange.user, exchange.route);
        let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else { return };
        let keeps = facts.keep_alive && closing != Closing::Broken;
        if facts.status < 200 {
            let failure = Failure::Http(wire::http1::Error::NoResponse);
            return self.fail(cx, sessions, ticket, &failure);
        }
        if facts.status == Asker::Proxy.status() {
            let login = credentials::proxy_login(cx, index, route);
            let head = stash.as_ref().map_or(&[][..], |stash| &stash.head);
            let again = credentials::talk(cx, index, route).dialogue.challenged(
                Asker::Proxy,
                head,
                &|_| login.clone(),
            );
            if again {
                if let Some(stash) = stash {
                    stash.clear_answer();
                }
                if !keeps {
                    return sessions.reconnect(&mut cx.around(), ticket);
                }
                sessions.renew(&mut cx.around(), ticket);
                return ask_for_tunnel(cx, sessions, ticket);
            }
        } else {
            credentials::talk(cx, index, route).dialogue.accepted();
        }
        // Whatever it says, it is not talked to any more.
        (facts.want_keep_alive, facts.challenges) = (false, false);
        exchange.arrival = exchange.ended;
        self.finish(cx, sessions, ticket, closing);
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
