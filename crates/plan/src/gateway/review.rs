//! Review of a gateway's settings that are known before a run, including the key file.
//!
//! Settings with expressions are checked during the run, which fails samples with the same message.

use std::path::Path;

use jmx::{Diag, ElementId};
use mgs::settings::{PREFIX, PROPERTIES};

use super::{Gateway, compile, is_one, key, place};
use crate::compile::Context;
use crate::support::Level;

/// Names of the settings that determine whether the public key is suitable.
const OF_KEY: [&str; 6] = ["encrypt", "public_key", "public_key_file", "cipher", "iv", "ephemeral"];

/// Reports findings about a gateway element.
pub(crate) fn review(ctx: &mut Context<'_>, id: ElementId) {
    if !is_one(ctx, id) {
        return;
    }
    let what = "signs and encrypts requests for a mobile gateway; JMeter ignores it";
    ctx.remark(id, Level::Native, what);
    for prop in ctx.props(id).iter().filter(|prop| prop.name.starts_with(PREFIX)) {
        if !PROPERTIES.iter().any(|(name, _)| prop.name == format!("{PREFIX}{name}")) {
            let message = format!("{} is not a property of RPC Gateway Security", prop.name);
            ctx.warn(id, "unknown-property", message, "throng explain mgs lists the properties");
        }
    }
    let Some(gateway) = compile(ctx, id) else { return };
    if let Some(diag) = found(&gateway, &ctx.settings.folder) {
        ctx.report(diag.on(ctx.doc, id));
    }
}

/// Reports findings about settings that come only from the run's properties.
pub(crate) fn review_of_run(ctx: &mut Context<'_>, gateway: &Gateway) {
    if let Some(diag) = found(gateway, &ctx.settings.folder) {
        ctx.report(diag);
    }
}

/// Returns a warning if the gateway's constant settings make every request fail. The path of the key file is resolved
/// in the working directory, or else in `folder`, the plan's folder.
fn found(gateway: &Gateway, folder: &Path) -> Option<Diag> {
    let value = |name: &str| gateway.texts[place(name)].fixed();
    let settings = mgs::Settings::read(|name| value(name).map(str::to_owned));
    let fails = |problem: String| {
        Diag::warning("gateway-security", problem).help("every request in its scope will fail")
    };
    let mut settings = match settings {
        Ok(settings) => settings?,
        Err(problem) => return Some(fails(problem)),
    };
    let known = OF_KEY.iter().all(|name| value(name).is_some());
    if let Some(encryption) = settings.encryption.as_mut().filter(|_| known) {
        let file = value("public_key_file").unwrap_or_default().trim();
        if encryption.public_key.trim().is_empty() && !file.is_empty() {
            match key::read(file, folder) {
                Ok(key) => encryption.public_key = key,
                Err(problem) => return Some(fails(problem)),
            }
        }
        if let Err(problem) = mgs::Sealer::new(settings.clone(), 1) {
            return Some(fails(problem));
        }
    }
    let secret = value("secret").is_some_and(str::is_empty);
    let digest = settings.signing.filter(|signing| secret && signing.secret_counts())?;
    let digest = mgs::settings::digest_word(digest.digest);
    let message =
        format!("requests are signed with {digest} and an empty secret: {PREFIX}secret is not set");
    let help = format!("set it, or set {PREFIX}sign=none if the gateway checks no signatures");
    Some(Diag::warning("gateway-secret", message).help(help))
}
