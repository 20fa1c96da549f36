//! Cookie Manager: which cookies users start with, when they are forgotten, and by which policy they are read.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{CookieManager, UserCookie};

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
        cookies.push(UserCookie { name, value, domain, path, secure });
    }
    let policy = props.str("CookieManager.policy").unwrap_or("standard").to_string();
    if matches!(policy.as_str(), "rfc2109" | "rfc2965") {
        let message = format!("cookies are read and sent by \"compatibility\", not by {policy}");
        ctx.warn(id, "cookie-policy", message, "\"standard\" is what servers of today expect");
    }
    Some(CookieManager {
        clear_each_iteration: ctx.flag(id, "CookieManager.clearEachIteration", false),
        controlled_by_group: ctx.flag(id, "CookieManager.controlledByThreadGroup", false),
        policy,
        cookies,
    })
}
