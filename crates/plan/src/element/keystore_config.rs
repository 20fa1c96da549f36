//! Keystore Configuration: which keys of the key store are presented to servers that ask for a certificate.
//!
//! It concerns the whole run, wherever it stands; its texts are evaluated once, before the first user. The key store itself is named
//! by `javax.net.ssl.keyStore`.

use jmx::ElementId;

use crate::compile::Context;
use crate::env::Env;
use crate::template::Template;

/// A compiled Keystore Configuration.
#[derive(Debug)]
pub struct KeystoreConfig {
    preload: Template,
    first: Template,
    last: Template,
    variable: Template,
}

/// Which keys of the store are loaded, and how one is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySelection {
    /// Number of the first key, from 0.
    pub first: i64,
    /// Number of the last; -1 is the last there is.
    pub last: i64,
    /// The variable that names a key of the store; empty: one key after the other.
    pub variable: String,
}

impl Default for KeySelection {
    /// Without the element JMeter loads the first key alone.
    fn default() -> Self {
        Self { first: 0, last: 0, variable: String::new() }
    }
}

pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> KeystoreConfig {
    KeystoreConfig {
        preload: ctx.prop(id, "preload"),
        first: ctx.prop(id, "startIndex"),
        last: ctx.prop(id, "endIndex"),
        variable: ctx.prop(id, "clientCertAliasVarName"),
    }
}

/// The keys that the elements of a plan select together. The first that preloads decides, else the last: what is loaded stays. An error is
/// what JMeter ends the test with.
pub fn selection(
    configs: &[KeystoreConfig],
    env: &mut Env<'_>,
    property: impl Fn(&str) -> Option<String>,
) -> Result<KeySelection, String> {
    let mut found = None;
    for config in configs {
        found = Some(config.selection(env, &property)?);
        if value(&config.preload, env).eq_ignore_ascii_case("true") {
            break;
        }
    }
    Ok(found.unwrap_or_default())
}

impl KeystoreConfig {
    fn selection(
        &self,
        env: &mut Env<'_>,
        property: &impl Fn(&str) -> Option<String>,
    ) -> Result<KeySelection, String> {
        let mut number = |text: &Template, key: &str, default: i32| {
            let default = property(key).and_then(|n| n.trim().parse().ok()).unwrap_or(default);
            i64::from(value(text, env).parse().unwrap_or(default))
        };
        let first = number(&self.first, "https.keyStoreStartIndex", 0);
        let last = number(&self.last, "https.keyStoreEndIndex", -1);
        if last != -1 && first > last {
            return Err(
                "Keystore Config error : Alias start index must be lower than Alias end index"
                    .into(),
            );
        }
        if first < 0 || last < -1 {
            return Err(format!(
                "Could not create keystore: Invalid index(es). Start={first}, end={last}"
            ));
        }
        Ok(KeySelection { first, last, variable: value(&self.variable, env) })
    }
}

fn value(text: &Template, env: &mut Env<'_>) -> String {
    let mut out = String::new();
    text.eval(env, &mut out);
    out
}
