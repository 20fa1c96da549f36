//! Tunnels through proxies for TLS connections.
//!
//! Without TLS, the request line contains the whole URL, and the proxy forwards the request. For TLS, the proxy is
//! asked for a tunnel (`CONNECT`), with credentials if it requires them. If the proxy refuses the tunnel, its
//! response is the sample's response.

use plan::http::show_lines;
use plan::plan::SamplerKind;
use wire::auth::{Challenger, Message};
use wire::session::Ticket;

use crate::context::Context;
use crate::http::credentials;
use crate::http::opening::Closing;
use crate::ids::{RouteId, UserId};
use crate::net::outcome::Failure;
use crate::session::Sessions;
use crate::session::exchange::Call;
use crate::session::http1::HttpCall;

/// Sends a `CONNECT` request to the proxy of an exchange's connection.
pub(crate) fn ask_for_tunnel(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
    let random = cx.random.bits().to_be_bytes();
    let exchange = &mut sessions.exchanges[ticket];
    let (index, route) = (exchange.user, exchange.route);
    let Some(tunnel) = &cx.net.routes[route].tunnel else { return };
    let authority = format!("{}:{}", tunnel.host, tunnel.port);
    // JMeter's URLs omit the default port.
    let host = if tunnel.port == 443 { &tunnel.host } else { &authority };
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {host}\r\n").into_bytes();
    let agent = match cx.plan.kind_of(exchange.sampler()) {
        Some(SamplerKind::Http(http)) => http.user_agent(),
        _ => "",
    };
    if !agent.is_empty() {
        request.extend_from_slice(format!("User-Agent: {agent}\r\n").as_bytes());
    }
    let message = Message { method: "CONNECT", uri: &authority, body: None, random };
    credentials::proxy_auth(cx, index, route).dialogue.answer(
        Challenger::Proxy,
        &message,
        &mut request,
    );
    request.extend_from_slice(b"\r\n");
    // If the proxy refuses the tunnel, the sample shows this request.
    show_request(&mut exchange.call, &request);
    sessions.ask_proxy(&mut cx.around(), ticket, &request);
}

/// Shows the `CONNECT` request in the result instead of the sampler's request, if the result shows requests.
fn show_request(call: &mut Call, request: &[u8]) {
    if let Call::Http(HttpCall { stash: Some(stash), .. }) = call
        && !stash.request_headers.is_empty()
    {
        stash.request_headers.clear();
        show_lines(request, &mut stash.request_headers);
    }
}

/// The outcome of a `CONNECT` request.
#[derive(Debug)]
pub(super) enum Tunnelled {
    /// The exchange continues: with TLS, or with another `CONNECT` request.
    GoesOn,
    /// The proxy's response is the sample's response.
    Answer,
    Failed(Failure),
}

/// Handles the proxy's response to a `CONNECT` request: continues with TLS through the tunnel, or handles the refusal.
pub(super) fn end_tunnelling(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    closing: Closing,
) -> Tunnelled {
    let exchange = &mut sessions.exchanges[ticket];
    let (index, route) = (exchange.user, exchange.route);
    let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else {
        return Tunnelled::GoesOn;
    };
    if !(200..300).contains(&facts.status) {
        return end_refused(cx, sessions, ticket, closing);
    }
    credentials::proxy_auth(cx, index, route).dialogue.accepted();
    if let Some(stash) = stash {
        stash.clear_answer();
    }
    show_request(&mut exchange.call, &exchange.request);
    sessions.leave_proxy(&mut cx.around(), ticket);
    let settings = cx.tls_config(cx.users.owner(index));
    let now = cx.clock.now();
    sessions.secure(&mut cx.around(), ticket, settings, now);
    let exchange = &sessions.exchanges[ticket];
    if closing != Closing::No && sessions.is_on(exchange.line, ticket) {
        // The end of the stream is already in the socket, and edge-triggered events do not report it a second time.
        cx.net.unfinished.push_back((sessions.lines.token(exchange.line), true));
    }
    Tunnelled::GoesOn
}

/// Handles a proxy that has refused the tunnel: answers its authentication challenge, or takes its response as the
/// sample's response.
fn end_refused(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    closing: Closing,
) -> Tunnelled {
    let exchange = &mut sessions.exchanges[ticket];
    let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else {
        return Tunnelled::GoesOn;
    };
    if facts.status < 200 {
        return Tunnelled::Failed(Failure::Http(wire::http1::Error::NoResponse));
    }
    let keeps = facts.keep_alive && closing != Closing::Broken;
    let head = stash.as_ref().map_or(&[][..], |stash| &stash.head);
    if asks_again(cx, exchange.user, exchange.route, facts.status, head) {
        if let Some(stash) = stash {
            stash.clear_answer();
        }
        if keeps {
            sessions.renew(&mut cx.around(), ticket);
            ask_for_tunnel(cx, sessions, ticket);
        } else {
            sessions.reconnect(&mut cx.around(), ticket);
        }
        return Tunnelled::GoesOn;
    }
    // This connection is not reused, whatever the proxy's headers say.
    (facts.want_keep_alive, facts.challenges) = (false, false);
    exchange.arrival = exchange.ended;
    Tunnelled::Answer
}

/// Returns true if a proxy that has refused the tunnel demands credentials, and the user has credentials that were
/// not tried.
fn asks_again(
    cx: &mut Context<'_>,
    index: UserId,
    route: RouteId,
    status: u16,
    head: &[u8],
) -> bool {
    if status != Challenger::Proxy.status() {
        credentials::proxy_auth(cx, index, route).dialogue.accepted();
        return false;
    }
    let login = credentials::proxy_login(cx, index, route);
    let dialogue = &mut credentials::proxy_auth(cx, index, route).dialogue;
    dialogue.challenged(Challenger::Proxy, head, &|_| login.clone())
}
