//! Keystore Configuration: selects the keys in the key store that are presented to servers which request a client
//! certificate.
//!
//! The element applies to the whole run, wherever it is in the plan. Its templates are evaluated once, before the
//! first user. The property `javax.net.ssl.keyStore` names the key store.

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

/// The keys to load from the key store, and the way in which a user chooses a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySelection {
    /// Index of the first key, from 0.
    pub first: i64,
    /// Index of the last key; -1 means the last key of the store.
    pub last: i64,
    /// Variable with the alias of the key to use; if empty, the keys are used in turn.
    pub variable: String,
}

impl Default for KeySelection {
    /// Creates the default: without the element, JMeter loads only the first key.
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

/// Returns the keys that the plan's elements select together. The first element with preloading decides, otherwise
/// the last element, because loaded keys stay loaded. The error is the message with which JMeter ends the test.
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
