//! Searches elements for names that their strings mention, to guess what scripts may do to other elements.
//!
//! The strings are not parsed: any occurrence of a word counts as a use. Cost: one pass over the file, only if a
//! part of the plan may run in Java.

use super::Context;
use super::scope::class;
use crate::compile::java_backing::is_script;

/// Functions that read variables by names built at run time.
const BY_NAME: &[&str] =
    &["__V(", "__eval", "__split", "__isVarDefined", "__isDefined", "__regexFunction", "__jexl"];
/// Classes of elements that show all variables, or read variables by names built at run time.
const READERS: &[&str] =
    &["DebugSampler", "DebugPostProcessor", "ForeachController", "RegExUserParameters"];

impl Context<'_> {
    /// True if a script may enable the download of embedded resources.
    pub(crate) fn scripts_load_pages(&mut self) -> bool {
        if let Some(known) = self.java_backing.loads_pages {
            return known;
        }
        let found = self.scripts_mention(&["setImageParser", "image_parser"]);
        self.java_backing.loads_pages = Some(found);
        found
    }

    /// True if a script may change the headers of a Header Manager.
    pub(super) fn scripts_touch_headers(&self) -> bool {
        self.scripts_mention(&["eaderManager"])
    }

    /// True if the plan may read variables whose names it does not contain.
    pub(super) fn reads_any_name(&self) -> bool {
        self.settings.properties.contains_key("sample_variables")
            || self.scripts.values().any(Option::is_some)
            || self.mentions(|class, xml| {
                READERS.contains(&class)
                    || BY_NAME.iter().any(|name| xml.contains(name))
                    || xml.contains(r#""Scope.variable">"#)
            })
    }

    /// Returns true if a script of the plan, or a script in a file, may contain one of the words. Scripts in files
    /// are not read and may contain any word.
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

/// True if the script seems to be in a separate file.
fn runs_file(xml: &str) -> bool {
    [r#"name="filename">"#, r#".filename">"#].iter().any(|mark| {
        let rest = xml.split_once(mark).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with('<'))
    })
}
