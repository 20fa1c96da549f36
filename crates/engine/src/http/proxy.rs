//! Proxies of HTTP: finds the proxy for a request.
//!
//! A connection belongs to the combination of proxy and server, as in HttpClient.

use plan::http::Request;
use wire::auth::Credentials;

use crate::context::Context;
use crate::net::routes::{Route, RouteId, Tunnel};

/// Returns the route of a request: directly to its server, or through a proxy.
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

/// Returns true if a proxy forwards the requests of a route, without a tunnel.
pub(crate) fn is_forwarded(cx: &Context<'_>, route: RouteId) -> bool {
    cx.net.routes[route].tunnel.as_ref().is_some_and(|tunnel| tunnel.forwarded)
}
