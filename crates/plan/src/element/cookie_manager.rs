//! Cookie Manager: cookies of the plan, when cookies are cleared, and the policy for reading them.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{CookieManager, UserCookie};

const HANDLER: &str = "org.apache.jmeter.protocol.http.control.HC4CookieHandler";

/// Names of cookie policies; JMeter ignores their case.
const POLICIES: [&str; 9] = [
    "standard",
    "standard-strict",
    "ignorecookies",
    "netscape",
    "default",
    "compatibility",
    "best-match",
    "rfc2109",
    "rfc2965",
];

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<CookieManager> {
    let props = ctx.props(id);
    let mut cookies = Vec::new();
    for prop in props.collection("CookieManager.cookies") {
        let Some(cookie) = prop.object() else { continue };
        let name =
            cookie.props.str("TestElement.name").or(cookie.name.as_deref()).unwrap_or_default();
        let name = if name.is_empty() { &prop.name } else { name };
        let mut text = |name: &str| ctx.text(id, cookie.props.str(name).unwrap_or(""));
        let (value, domain, path) =
            (text("Cookie.value"), text("Cookie.domain"), text("Cookie.path"));
        let name = ctx.text(id, name);
        let secure = cookie.props.bool("Cookie.secure").unwrap_or(false);
        let domain_given = cookie.props.bool("Cookie.domain_specified").unwrap_or(false);
        let path_given = cookie.props.bool("Cookie.path_specified").unwrap_or(false);
        // Cookies that JMeter itself creates have version 1, which JMeter does not save.
        let version =
            cookie.props.int("Cookie.version").and_then(|version| version.try_into().ok());
        let version = version.unwrap_or(1);
        cookies.push(UserCookie {
            name,
            value,
            domain,
            path,
            secure,
            domain_given,
            path_given,
            version,
        });
    }
    let policy = props.str("CookieManager.policy").unwrap_or("standard").to_string();
    if let Some(complaint) = complaint(ctx, id) {
        let message = format!("{complaint}: each sample with this manager fails, as in JMeter");
        ctx.warn(id, "cookie-policy", message, "use \"standard\", which current servers expect");
    }
    Some(CookieManager {
        clear_each_iteration: ctx.flag(id, "CookieManager.clearEachIteration", false),
        controlled_by_group: ctx.flag(id, "CookieManager.controlledByThreadGroup", false),
        policy,
        cookies,
    })
}

/// Returns the reason why JMeter cannot create its cookie handler. Without a handler, each sample fails.
pub(crate) fn complaint(ctx: &Context<'_>, id: ElementId) -> Option<String> {
    let props = ctx.props(id);
    let policy = props.str("CookieManager.policy").unwrap_or("standard");
    if !POLICIES.contains(&policy.to_ascii_lowercase().as_str()) {
        return Some(format!("unknown cookie policy {policy:?}"));
    }
    let handler = props.str("CookieManager.implementation").unwrap_or(HANDLER);
    (handler != HANDLER).then(|| format!("unknown cookie handler {handler:?}"))
}
