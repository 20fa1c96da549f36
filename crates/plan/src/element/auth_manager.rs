//! Authorization Manager: credentials, selected by URL prefix.

use jmx::ElementId;

use crate::compile::Context;
use crate::plan::{AuthManager, Authorization};
use crate::support::Level;

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<AuthManager> {
    let mut entries = Vec::new();
    for prop in ctx.props(id).collection("AuthManager.auth_list") {
        let Some(entry) = prop.object() else { continue };
        let mut text = |name: &str| ctx.text(id, entry.props.str(name).unwrap_or(""));
        entries.push(Authorization {
            url: text("Authorization.url"),
            user: text("Authorization.username"),
            password: text("Authorization.password"),
            domain: text("Authorization.domain"),
            realm: text("Authorization.realm"),
            waits: mechanism(entry.props.str("Authorization.mechanism")) == "DIGEST",
        });
    }
    Some(AuthManager { entries })
}

/// Returns the mechanism of an entry; JMeter's default is Basic.
fn mechanism(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("BASIC")
}

/// True if an entry uses Kerberos.
pub(crate) fn asks_for_kerberos(ctx: &Context<'_>, id: ElementId) -> bool {
    let entries = ctx.props(id).collection("AuthManager.auth_list").iter();
    let mut entries = entries.filter_map(jmx::Prop::object);
    entries.any(|entry| mechanism(entry.props.str("Authorization.mechanism")) == "KERBEROS")
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    for prop in ctx.props(id).collection("AuthManager.auth_list") {
        let Some(entry) = prop.object() else { continue };
        match mechanism(entry.props.str("Authorization.mechanism")) {
            "BASIC" | "BASIC_DIGEST" | "DIGEST" => {}
            "KERBEROS" if ctx.settings.java_backing => {
                let what = "Kerberos (Authorization.mechanism): requests in its scope run in Java";
                ctx.remark(id, Level::Jvm, what);
            }
            "KERBEROS" => ctx.remark(
                id,
                Level::Unsupported,
                "Kerberos (Authorization.mechanism) is not supported without Java",
            ),
            other => {
                let message = format!("unknown Authorization.mechanism {other}");
                ctx.remark(id, Level::Unsupported, message);
            }
        }
    }
}
