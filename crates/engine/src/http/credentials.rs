//! Credentials of users: adds them to requests, and answers authentication challenges.
//!
//! As in HttpClient, a challenged request is resent within the same sample. The sample's time covers all its
//! requests; its sizes are the sizes of the last request. A user's HTTP client keeps learned credentials per server, as
//! JMeter's client does. Two entries for one server differ only in their realms.

use std::ops::Range;

use plan::http::{Http, Request, show_lines};
use plan::plan::{Authorization, SamplerId};
use wire::auth::{Challenger, Credentials, Dialogue, Message};
use wire::session::Ticket;

use crate::context::Context;
use crate::http::entries::names_of;
use crate::http::lines::value_of;
use crate::http::opening::{self, PoolFinder};
use crate::http::{basic, proxy};
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::session::Sessions;
use crate::session::exchange::Call;
use crate::session::http1::{HttpCall, Stash};

/// The credentials that a user's HTTP client has for one server.
#[derive(Debug)]
pub(crate) struct Keyring {
    route: RouteId,
    keys: Vec<Key>,
}

/// The authentication state between a user and a proxy, kept across requests.
#[derive(Debug)]
pub(crate) struct ProxyAuth {
    pub(crate) route: RouteId,
    pub(crate) dialogue: Dialogue,
    /// True if the HTTP client has dropped the proxy's credentials, because an Authorization Manager had no entry
    /// for the URL.
    pub(crate) lost: bool,
}

/// The result of checking a response for an authentication challenge.
#[derive(Debug)]
pub(super) enum Challenged {
    /// The response was a challenge, and the request is resent.
    Again,
    /// The response is final for the sample. Contains its kept parts.
    No(Option<Box<Stash>>),
}

/// Credentials for one realm, or for any realm.
#[derive(Clone, Debug)]
struct Key {
    realm: Option<String>,
    credentials: Credentials,
}

/// The authentication state of one sample.
#[derive(Debug)]
pub(crate) struct Round {
    route: RouteId,
    server: Dialogue,
    keys: Vec<Key>,
    /// Authentication state for a forwarding proxy.
    proxy: Option<Dialogue>,
    /// Byte range of the credentials lines in the request.
    lines: Range<usize>,
    /// True if a request with this method may have a body.
    entity: bool,
    /// True if the plan itself sets the line `Authorization` or, for `own_proxy`, `Proxy-Authorization`.
    own: bool,
    own_proxy: bool,
}

impl crate::users::Part for Round {}

/// Credentials and authentication state that a user's HTTP client has learned.
#[derive(Debug, Default)]
struct KnownCredentials {
    keyrings: Vec<Keyring>,
    talks: Vec<ProxyAuth>,
}

impl crate::users::Part for KnownCredentials {}

impl crate::users::Extra {
    /// Returns the routes for which the user's client has credentials or authentication state.
    pub(crate) fn credential_routes(&self) -> impl Iterator<Item = RouteId> + '_ {
        let learned = self.parts.get::<KnownCredentials>().into_iter();
        let known = learned.flat_map(|learned| {
            let rings = learned.keyrings.iter().map(|ring| ring.route);
            rings.chain(learned.talks.iter().map(|talk| talk.route))
        });
        known.chain(self.parts.get::<Round>().map(|round| round.route))
    }
}

/// Checks a response for an authentication challenge, and resends the request if the user has credentials.
pub(super) fn answers_challenge(
    places: &PoolFinder,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
) -> Challenged {
    let exchange = &mut sessions.exchanges[ticket];
    let index = exchange.user;
    let round = cx.users[index].extra.as_mut().and_then(|extra| extra.parts.take::<Round>());
    let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else {
        return Challenged::No(None);
    };
    let Some(mut round) = round else { return Challenged::No(stash.take()) };
    let head = stash.as_ref().map_or(&[][..], |stash| &stash.head);
    let again = challenged(cx, index, &mut round, facts.status, head);
    let Some(stash) = stash.as_mut().filter(|_| again) else {
        // If HttpClient follows redirects itself, it keeps the authentication state.
        let goes_on =
            facts.auto_follow && matches!(facts.status, 301..=308) && round.server.has_begun();
        if goes_on {
            cx.users[index].extra().parts.put(round);
        }
        return Challenged::No(stash.take());
    };
    *facts = facts.for_next_request();
    let (route, java) = (round.route, facts.java);
    let mut request = std::mem::take(&mut exchange.request);
    write_credentials(cx, &mut round, &mut request);
    cx.users[index].extra().parts.put(round);
    stash.clear_answer();
    if !stash.request_headers.is_empty() {
        stash.request_headers.clear();
        show_lines(&request, &mut stash.request_headers);
    }
    sessions.renew(&mut cx.around(), ticket);
    let (now, place) = (cx.clock.now(), places.of(cx, index, java));
    match opening::idle_line(cx, sessions, index, place, route, now) {
        Some(line) => {
            sessions.start_on(&mut cx.around(), ticket, line, &request);
            // The request may have to be sent once more.
            sessions.exchanges[ticket].request = request;
        }
        None => {
            sessions.exchanges[ticket].request = request;
            opening::open(cx, sessions, ticket, 0);
        }
    }
    Challenged::Again
}

/// Returns true if a response is a challenge for which the user has untried credentials.
fn challenged(
    cx: &mut Context<'_>,
    index: UserId,
    round: &mut Round,
    status: u16,
    head: &[u8],
) -> bool {
    let route = round.route;
    let login = proxy_login(cx, index, route);
    let Round { server, keys, proxy, .. } = round;
    let mut again = false;
    if status == Challenger::Server.status() {
        again = server.challenged(Challenger::Server, head, &|realm| for_realm(keys, realm));
    } else if status != Challenger::Proxy.status() {
        server.accepted();
    }
    if let Some(proxy) = proxy {
        if status == Challenger::Proxy.status() {
            again |= proxy.challenged(Challenger::Proxy, head, &|_| login.clone());
        } else {
            proxy.accepted();
        }
    }
    if !again && let Some(proxy) = round.proxy.take() {
        proxy_auth(cx, index, route).dialogue = proxy;
    }
    again
}

/// Adds credentials to a request that has an Authorization Manager, or that uses a proxy which may require
/// credentials. Returns true if the client will answer a challenge in the response.
pub(crate) fn add_credentials(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    http: &Http,
    request: &Request,
    route: RouteId,
    out: &mut Vec<u8>,
) -> bool {
    if request.java {
        if let Some(manager) = http.auth {
            basic::add_basic(cx, index, id, manager, request, out);
        }
        return false;
    }
    let forwarded = proxy::is_forwarded(cx, route);
    if http.auth.is_none() && !forwarded {
        return false;
    }
    let extra = cx.users[index].extra();
    let silent = extra.redirect.as_ref().is_some_and(|chain| chain.silent);
    let kept = extra.parts.take::<Round>().filter(|round| silent && round.route == route);
    let mut round = match kept {
        Some(round) => round,
        None => Box::new(begin_round(cx, index, id, http.auth, request, route)),
    };
    let at = out.len() - request.body.len() - 2;
    round.lines = at..at;
    round.entity = match request.method.as_str() {
        "GET" => !request.body.is_empty(),
        "HEAD" | "OPTIONS" | "TRACE" => false,
        _ => true,
    };
    let plan = &request.headers[..request.own_end];
    let is_own = |line| value_of(line, b"authorization").is_some();
    round.own = plan.split(|byte| *byte == b'\n').any(is_own);
    let is_own = |line| value_of(line, b"proxy-authorization").is_some();
    round.own_proxy = plan.split(|byte| *byte == b'\n').any(is_own);
    if forwarded {
        round.proxy = Some(std::mem::take(&mut proxy_auth(cx, index, route).dialogue));
    }
    write_credentials(cx, &mut round, out);
    cx.users[index].extra().parts.put(round);
    true
}

/// Returns the user's authentication state with the proxy of a route.
pub(crate) fn proxy_auth<'c>(
    cx: &'c mut Context<'_>,
    index: UserId,
    route: RouteId,
) -> &'c mut ProxyAuth {
    let owner = cx.users.owner(index);
    let talks = &mut cx.users[owner].extra().parts.or_default::<KnownCredentials>().talks;
    let at = match talks.iter().position(|talk| talk.route == route) {
        Some(at) => at,
        None => {
            talks.push(ProxyAuth { route, dialogue: Dialogue::default(), lost: false });
            talks.len() - 1
        }
    };
    &mut talks[at]
}

/// Returns the user's credentials for the proxy of a route.
pub(crate) fn proxy_login(
    cx: &mut Context<'_>,
    index: UserId,
    route: RouteId,
) -> Option<Credentials> {
    if proxy_auth(cx, index, route).lost || !cx.run.settings.http.auth_preemptive {
        return None;
    }
    cx.net.routes[route].tunnel.as_ref()?.credentials.clone()
}

/// Replaces the lines `Authorization` and `Proxy-Authorization` of a request.
fn write_credentials(cx: &mut Context<'_>, round: &mut Round, out: &mut Vec<u8>) {
    let mut lines = Vec::new();
    if !round.own || round.proxy.is_some() {
        let line = out.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split(' ');
        let message = Message {
            method: words.next().unwrap_or_default(),
            uri: words.next().unwrap_or_default(),
            body: round.entity.then(|| &out[round.lines.end + 2..]),
            random: cx.random.bits().to_be_bytes(),
        };
        if !round.own {
            round.server.answer(Challenger::Server, &message, &mut lines);
        }
        if let Some(proxy) = round.proxy.as_mut().filter(|_| !round.own_proxy) {
            proxy.answer(Challenger::Proxy, &message, &mut lines);
        }
    }
    let end = round.lines.start + lines.len();
    out.splice(round.lines.clone(), lines);
    round.lines.end = end;
}

fn begin_round(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    manager: Option<u32>,
    request: &Request,
    route: RouteId,
) -> Round {
    let mut round = Round {
        route,
        server: Dialogue::default(),
        keys: Vec::new(),
        proxy: None,
        lines: 0..0,
        entity: false,
        own: false,
        own_proxy: false,
    };
    let Some(manager) = manager else { return round };
    let entries = &cx.plan.auth_managers[manager as usize].entries;
    if !cx.run.settings.http.auth_preemptive {
        round.keys = keys_for(cx, index, id, entries, request);
        return round;
    }
    let names = names_of(request, proxy::is_forwarded(cx, route));
    let entry = entries.iter().find(|entry| {
        let prefix = cx.text_of(index, id, &entry.url);
        names.iter().any(|name| name.starts_with(&prefix))
    });
    let owner = cx.users.owner(index);
    let Some(entry) = entry else {
        cx.users[owner]
            .extra()
            .parts
            .or_default::<KnownCredentials>()
            .keyrings
            .retain(|ring| ring.route != route);
        if cx.net.routes[route].tunnel.is_some() {
            proxy_auth(cx, index, route).lost = true;
        }
        return round;
    };
    let key = key_of(cx, index, id, entry);
    let rings = &mut cx.users[owner].extra().parts.or_default::<KnownCredentials>().keyrings;
    let ring = match rings.iter_mut().position(|ring| ring.route == route) {
        Some(at) => &mut rings[at],
        None => {
            rings.push(Keyring { route, keys: Vec::new() });
            let last = rings.len() - 1;
            &mut rings[last]
        }
    };
    match ring.keys.iter_mut().find(|known| known.realm == key.realm) {
        Some(known) => *known = key,
        None => ring.keys.push(key),
    }
    round.keys.clone_from(&ring.keys);
    if !entry.waits
        && let Some(credentials) = for_realm(&round.keys, None)
    {
        round.server = Dialogue::preemptive(credentials);
    }
    round
}

/// Returns the credentials of an Authorization Manager that match the server of a request, for use after a
/// challenge.
fn keys_for(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    entries: &[Authorization],
    request: &Request,
) -> Vec<Key> {
    let mut keys = Vec::new();
    for entry in entries {
        let url = cx.text_of(index, id, &entry.url);
        let (user, password) =
            (cx.text_of(index, id, &entry.user), cx.text_of(index, id, &entry.password));
        let realm = Some(cx.text_of(index, id, &entry.realm));
        let fits = lang::url::absolute(&url).is_ok_and(|url| {
            url.host == request.host.to_lowercase() && url.port_or_default() == request.port
        });
        if fits {
            keys.push(Key { realm, credentials: Credentials { user, password } });
        }
    }
    keys
}

fn key_of(cx: &mut Context<'_>, index: UserId, id: SamplerId, entry: &Authorization) -> Key {
    let domain = cx.text_of(index, id, &entry.domain);
    let user = cx.text_of(index, id, &entry.user);
    let password = cx.text_of(index, id, &entry.password);
    let realm = cx.text_of(index, id, &entry.realm);
    Key {
        realm: Some(realm).filter(|realm| !realm.is_empty()),
        credentials: Credentials::new(&domain, &user, &password),
    }
}

/// Returns the credentials that match a challenge best: credentials of its realm, else credentials without a realm. A
/// challenge without a realm accepts any credentials, but credentials without a realm come first.
fn for_realm(keys: &[Key], realm: Option<&str>) -> Option<Credentials> {
    let of = |realm: Option<&str>| keys.iter().find(|key| key.realm.as_deref() == realm);
    let found = match realm {
        Some(_) => of(realm).or_else(|| of(None)),
        None => of(None).or(keys.first()),
    };
    found.map(|key| key.credentials.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(realm: Option<&str>, user: &str) -> Key {
        Key { realm: realm.map(str::to_owned), credentials: Credentials::new("", user, "") }
    }

    #[test]
    fn credentials_of_the_realm_come_before_general_ones() {
        let keys = [key(Some("a"), "one"), key(None, "two"), key(Some("b"), "three")];
        let user = |keys: &[Key], realm| for_realm(keys, realm).map(|found| found.user);
        assert_eq!(user(&keys, Some("b")).as_deref(), Some("three"));
        assert_eq!(user(&keys, Some("c")).as_deref(), Some("two"));
        assert_eq!(user(&keys, None).as_deref(), Some("two"));
        assert_eq!(user(&keys[..1], Some("c")), None);
        assert_eq!(user(&keys[..1], None).as_deref(), Some("one"));
    }
}
