//! Names that elements mention anywhere in their text: for what scripts may do to elements other than their own.
//!
//! Nothing is understood here; a word that stands somewhere is taken for a use. Costs a pass over the file, only where something may
//! run in Java.

use super::Context;
use super::scope::class;
use crate::compile::java_backing::is_script;

/// Functions that read variables by names that are made during the run.
const BY_NAME: &[&str] =
    &["__V(", "__eval", "__split", "__isVarDefined", "__isDefined", "__regexFunction", "__jexl"];
/// Elements that show all variables, or read those with made names.
const READERS: &[&str] =
    &["DebugSampler", "DebugPostProcessor", "ForeachController", "RegExUserParameters"];

impl Context<'_> {
    /// Whether a script may switch the loading of embedded resources on.
    pub(crate) fn scripts_load_pages(&mut self) -> bool {
        if let Some(known) = self.java_backing.loads_pages {
            return known;
        }
        let found = self.scripts_mention(&["setImageParser", "image_parser"]);
        self.java_backing.loads_pages = Some(found);
        found
    }

    /// Whether a script may change headers of a manager.
    pub(super) fn scripts_touch_headers(&self) -> bool {
        self.scripts_mention(&["eaderManager"])
    }

    /// Whether the plan reads variables of which it does not have the names.
    pub(super) fn reads_any_name(&self) -> bool {
        self.settings.properties.contains_key("sample_variables")
            || self.scripts.values().any(Option::is_some)
            || self.mentions(|class, xml| {
                READERS.contains(&class)
                    || BY_NAME.iter().any(|name| xml.contains(name))
                    || xml.contains(r#""Scope.variable">"#)
            })
    }

    /// Whether a script of the plan, or one in a file, may have one of the words.
    fn scripts_mention(&self, words: &[&str]) -> bool {
        self.mentions(|class, xml| {
            let script =
                is_script(class) && (runs_file(xml) || words.iter().any(|word| xml.contains(word)));
            script || xml.contains("${__") && words.iter().any(|word| xml.contains(word))
        })
    }

    fn mentions(&self, found: impl Fn(&str, &str) -> bool) -> bool {
        let doc = self.doc;
        self.settings.java_backing
            && doc.ids().any(|id| doc.is_enabled(id) && found(class(doc, id), &doc.xml(id)))
    }
}

/// Whether a script is not in the plan, as far as can be told from its element.
fn runs_file(xml: &str) -> bool {
    [r#"name="filename">"#, r#".filename">"#].iter().any(|mark| {
        let rest = xml.split_once(mark).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with('<'))
    })
}
