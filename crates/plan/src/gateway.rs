//! RPC Gateway Security: requests in its scope are signed and encrypted for a mobile gateway.
//!
//! In a plan it is a Simple Config Element with properties of ours (`throng.mgs.…`), which JMeter loads, shows and ignores;
//! of several in scope the nearest counts. What it leaves open comes from the properties of the run, which make every HTTP
//! Request of a plan one for a gateway where no element is in scope. All is evaluated once per core.
//!
//! | module | subject |
//! |---|---|
//! | `review` | findings on settings, as far as they are known before a run |
//! | `scripts` | scripts and jars that do the same, and what the element would save |

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

/// The settings of one gateway.
#[derive(Debug)]
pub struct Gateway {
    texts: [Template; PROPERTIES.len()],
}

/// Compiles a Simple Config Element that [is one](is_one).
pub(crate) fn compile(ctx: &mut Context<'_>, id: ElementId) -> Option<Gateway> {
    let texts = PROPERTIES.map(|(name, _)| {
        let name = format!("{PREFIX}{name}");
        let default = ctx.settings.property(&name, "");
        let given = ctx.props(id).str(&name).filter(|text| !text.is_empty());
        ctx.text(id, given.unwrap_or(default))
    });
    Some(Gateway { texts })
}

/// The settings that the properties of the run make alone. `None`: there are none, or they are switched off.
pub(crate) fn of_run(settings: &crate::compile::Settings) -> Option<Gateway> {
    if !settings.properties.keys().any(|name| name.starts_with(PREFIX)) {
        return None;
    }
    let text = |name| Template::Fixed(settings.property(&format!("{PREFIX}{name}"), "").into());
    Some(Gateway { texts: PROPERTIES.map(|(name, _)| text(name)) })
}

/// Whether an element is one.
pub(crate) fn is_one(ctx: &Context<'_>, id: ElementId) -> bool {
    scope::class(ctx.doc, id) == "ConfigTestElement"
        && ctx.props(id).iter().any(|prop| prop.name.starts_with(PREFIX))
}

impl Gateway {
    /// Whether an answer that cannot be decrypted may fail its sample even where nobody reads it.
    pub fn may_decrypt_always(&self) -> bool {
        let may = |name, is: fn(&str) -> bool| {
            self.texts[place(name)].fixed().is_none_or(|word| is(word.trim()))
        };
        may("decrypt", |word| word.eq_ignore_ascii_case("always"))
            && may("encrypt", |word| !word.is_empty() && !word.eq_ignore_ascii_case("none"))
    }

    /// Evaluates the settings, and reads the file that has the public key. `None`: it is switched off.
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

/// Where a property stands in the table.
fn place(name: &str) -> usize {
    PROPERTIES.iter().position(|(known, _)| *known == name).unwrap_or(0)
}
