//! RPC Gateway Security: signs and encrypts the requests in its scope for a mobile gateway.
//!
//! In a plan, the element is a Simple Config Element with properties of Throng (`throng.mgs.…`), which JMeter
//! loads, shows and ignores. If several are in scope, the nearest applies. Missing settings are taken from the
//! run's properties. Without an element in scope, these properties alone apply to every HTTP Request. All settings
//! are evaluated once per core.
//!
//! | module | subject |
//! |---|---|
//! | `review` | findings about settings that are known before a run |
//! | `scripts` | finds scripts and jars that do the same work, and states the possible saving |

mod key;
mod review;
mod scripts;

use jmx::ElementId;
use mgs::settings::{PREFIX, PROPERTIES};

use crate::compile::{Context, scope};
use crate::env::Env;
use crate::template::Template;

pub(crate) use review::{review, review_of_run};
pub(crate) use scripts::{review_class_path, review_script};

/// Templates of the settings of one mobile gateway.
#[derive(Debug)]
pub struct Gateway {
    texts: [Template; PROPERTIES.len()],
}

/// Compiles a Simple Config Element with [gateway properties](is_one).
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<Gateway> {
    let texts = PROPERTIES.map(|(name, _)| {
        let name = format!("{PREFIX}{name}");
        let default = ctx.settings.property(&name, "");
        let given = ctx.props(id).str(&name).filter(|text| !text.is_empty());
        ctx.text(id, given.unwrap_or(default))
    });
    Some(Gateway { texts })
}

/// Returns the gateway that the run's properties alone describe. `None` if there are no such properties or they are
/// disabled.
pub(crate) fn of_run(settings: &crate::compile::Settings) -> Option<Gateway> {
    if !settings.properties.keys().any(|name| name.starts_with(PREFIX)) {
        return None;
    }
    let text = |name| Template::Fixed(settings.property(&format!("{PREFIX}{name}"), "").into());
    Some(Gateway { texts: PROPERTIES.map(|(name, _)| text(name)) })
}

/// True if the element has gateway properties.
pub(crate) fn is_one(ctx: &Context<'_>, id: ElementId) -> bool {
    scope::class(ctx.doc, id) == "ConfigTestElement"
        && ctx.props(id).iter().any(|prop| prop.name.starts_with(PREFIX))
}

impl Gateway {
    /// Returns true if every response may have to be decrypted (`decrypt` is `always`), even if no element reads the
    /// response, because a failure fails the sample.
    pub fn may_decrypt_always(&self) -> bool {
        let may = |name, is: fn(&str) -> bool| {
            self.texts[place(name)].fixed().is_none_or(|word| is(word.trim()))
        };
        may("decrypt", |word| word.eq_ignore_ascii_case("always"))
            && may("encrypt", |word| !word.is_empty() && !word.eq_ignore_ascii_case("none"))
    }

    /// Evaluates the settings and reads the public key file. `None` if the gateway is disabled.
    pub fn settings(&self, env: &mut Env<'_>) -> Result<Option<mgs::Settings>, String> {
        let mut values: [String; PROPERTIES.len()] = std::array::from_fn(|at| {
            let mut value = String::new();
            self.texts[at].eval(env, &mut value);
            value
        });
        let file = place("public_key_file");
        if values[place("public_key")].trim().is_empty() && !values[file].trim().is_empty() {
            let name = values[file].trim();
            values[place("public_key")] = key::read(name, &env.shared.base_dir)?;
        }
        mgs::Settings::read(|name| Some(std::mem::take(&mut values[place(name)])))
    }
}

/// Returns the index of a property in [`PROPERTIES`].
fn place(name: &str) -> usize {
    PROPERTIES.iter().position(|(known, _)| *known == name).unwrap_or(0)
}
