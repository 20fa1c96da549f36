//! Names that the strings of a plan read as properties, and names of its variables.
//!
//! A plan reads a property with `__P`, `__property` or a script. The same word in another place, as in `${users}`
//! or in the name of an element, does not read a property. Then `-Jusers=50` has no effect, which is easily
//! overlooked.

use std::collections::BTreeSet;

/// A name that the user may have meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// A property that the plan or Throng reads.
    Property(String),
    /// A variable of the plan with the same name or a similar one.
    Variable(String),
}

/// Calls that read a property. The name of the property follows.
const CALLS: [&str; 10] = [
    "__P(",
    "__property(",
    "props.get(",
    "props.getOrDefault(",
    "getProperty(",
    "getPropDefault(",
    "props.containsKey(",
    "props[",
    "ctx.properties[",
    "System.properties[",
];

/// Expressions in scripts that read all properties.
const WHOLE: [&str; 7] = [
    "props.each",
    "props.find",
    "props.collect",
    "props.entrySet",
    "props.keySet",
    "props.stringPropertyNames",
    "props.propertyNames",
];

/// Names in the strings of a plan.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    properties: BTreeSet<String>,
    variables: BTreeSet<String>,
    /// Strings in which properties are read: values of elements with calls, and scripts.
    texts: Vec<String>,
    /// True if some name is only known at run time, so that the plan may read any property.
    is_open: bool,
}

impl Readers {
    /// Collects the names in the contents of a plan's files, which are XML.
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut readers = Self::default();
        for text in texts {
            let mut rest = text;
            while let Some((before, from)) = rest.split_once("<![CDATA[") {
                readers.add_nodes(before);
                let (content, behind) = from.split_once("]]>").unwrap_or((from, ""));
                readers.add(content);
                rest = behind;
            }
            readers.add_nodes(rest);
        }
        readers
    }

    /// Adds the names in XML without CDATA sections.
    fn add_nodes(&mut self, xml: &str) {
        for (tag, text) in xml.split('<').filter_map(|part| part.split_once('>')) {
            self.add(text);
            // Names of elements are attributes, which may also contain function calls.
            if tag.contains("${__") {
                self.add(tag);
            }
        }
    }

    /// Notes that a file which was not collected may read any property.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }

    /// Adds the names in a string of an element.
    fn add(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        for part in text.split("${").skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            let is_plain =
                name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
            if is_plain && !name.is_empty() && !name.starts_with("__") {
                self.variables.insert(name.to_owned());
            }
        }
        for call in CALLS {
            for (at, _) in text.match_indices(call) {
                self.add_argument(call, &text[at + call.len()..]);
            }
        }
        self.is_open |= WHOLE.iter().any(|whole| text.contains(whole));
        let lower = text.to_ascii_lowercase();
        if lower.contains("prop") || text.contains("__P(") {
            self.texts.push(text.to_owned());
        }
    }

    /// Adds the name in the first argument of a call.
    fn add_argument(&mut self, call: &str, rest: &str) {
        let rest = rest.trim_start();
        let quotes = ["&quot;", "&apos;", "\"", "'"];
        let name = match quotes.iter().find_map(|quote| Some((*quote, rest.strip_prefix(*quote)?)))
        {
            // An expression such as `"host." + name` is known only at run time.
            Some((quote, rest)) => rest
                .split_once(quote)
                .filter(|(_, behind)| behind.trim_start().starts_with([',', ')', ']']))
                .map(|(name, _)| name),
            None if call.starts_with("__") => rest.split([',', ')']).next(),
            None => None,
        };
        match name.map(str::trim).filter(|name| !name.contains('$')) {
            Some(name) => {
                self.properties.insert(name.to_owned());
            }
            None => self.is_open = true,
        }
    }

    /// True if the plan may read the property.
    pub(crate) fn reads(&self, key: &str) -> bool {
        self.is_open
            || self.properties.contains(key)
            || self.texts.iter().any(|text| has_word(text, key))
    }

    /// Returns the name that the user may have meant by a property that nothing reads: the variable of that name,
    /// or a property or variable that differs in at most two letters. `known` are the properties that Throng reads.
    pub(crate) fn meant(
        &self,
        key: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> Option<Meant> {
        if self.variables.contains(key) {
            return Some(Meant::Variable(key.to_owned()));
        }
        let known = known.map(|name| -> &str { name });
        let properties = self.properties.iter().map(String::as_str).chain(known);
        if let Some(name) = near(key, properties) {
            return Some(Meant::Property(name.to_owned()));
        }
        let name = near(key, self.variables.iter().map(String::as_str))?;
        Some(Meant::Variable(name.to_owned()))
    }
}

/// Returns the name that is nearest to `key`: it differs in at most two letters, and in fewer than half of the
/// letters.
fn near<'a>(key: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = key.chars().count();
    let names = names.filter(|name| name.chars().count().abs_diff(length) <= 2);
    let (distance, name) = names.map(|name| (strsim::osa_distance(key, name), name)).min()?;
    let letters = length.min(name.chars().count());
    (distance <= 2 && distance * 2 < letters).then_some(name)
}

/// Objects of scripts whose members are properties.
const OBJECTS: [&str; 3] = ["props.", "props?.", "properties."];

/// Returns true if a string contains a name as a separate word: not as a part of a longer name, and not as the
/// variable `${name}`. In Groovy, `props.name` also reads the property.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_variable = before.ends_with("${") && after.starts_with('}');
        if OBJECTS.iter().any(|object| before.ends_with(*object)) {
            return !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        }
        !is_variable && !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<p><stringProp name="Argument.name">users</stringProp>
        <stringProp name="n">${users}</stringProp><stringProp name="r">${__P(ramp,5)}</stringProp>
        <stringProp name="s">log.info(props.get(&quot;region&quot;)); def p = props; p.get(target)</stringProp>
        <stringProp name="t">loops of host</stringProp></p>"#;

    #[test]
    fn variables_and_names_of_elements_read_no_property() {
        let readers = Readers::of([PLAN].into_iter());
        for key in ["ramp", "region", "target"] {
            assert!(readers.reads(key), "{key}");
        }
        for key in ["users", "loops", "host", "regio", "nothing"] {
            assert!(!readers.reads(key), "{key}");
        }
        for call in ["__P(${name},5)", "props.get('host.' + name)", "props[name]"] {
            let open = PLAN.replace("${__P(ramp,5)}", call);
            let readers = Readers::of([open.as_str()].into_iter());
            assert!(readers.reads("nothing"), "{call}: the variable may hold any name");
        }
    }

    #[test]
    fn scripts_read_properties_as_members_and_in_cdata_sections() {
        for script in [
            "props.region.trim()",
            "props?.region",
            "ctx.properties.region",
            "props[&quot;region&quot;]",
            "<![CDATA[for (i = 0; i < 3 && 2 > 1; i++) { x = props.get(\"region\") }]]>",
        ] {
            let plan = format!("<p><stringProp name=\"script\">{script}</stringProp></p>");
            let readers = Readers::of([plan.as_str()].into_iter());
            assert!(readers.reads("region") && !readers.reads("regions"), "{script}");
        }
        let argument = "<p><stringProp name=\"Argument.name\">user</stringProp></p>";
        let meant = Readers::of([argument].into_iter()).meant("user", [].into_iter());
        assert_eq!(meant, None, "a field of a request is no variable");
    }

    #[test]
    fn a_name_within_two_letters_is_meant() {
        let readers = Readers::of([PLAN].into_iter());
        let meant = |key| readers.meant(key, ["summariser.name"].into_iter());
        let property = |name: &str| Some(Meant::Property(name.into()));
        assert_eq!(meant("users"), Some(Meant::Variable("users".into())));
        assert_eq!(meant("usres"), Some(Meant::Variable("users".into())));
        assert_eq!(meant("rmap"), property("ramp"));
        assert_eq!(meant("regoin"), property("region"));
        assert_eq!(meant("sumariser.name"), property("summariser.name"));
        assert_eq!(meant("lamb"), None);
        assert_eq!(meant("duration"), None);
    }
}
