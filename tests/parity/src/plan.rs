//! Short plans of the cases: expands `plan.xml`, which omits default values, to a whole `plan.jmx`.
//!
//! `elements/*.xml` contain each element as JMeter's GUI writes it. A short plan names an element and only the values
//! that differ. `README.md` has the rules. Nothing is guessed: an unknown name is a panic.

use crate::markup::{self, Node};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Attributes that any element may have.
const GENERAL: &[&str] = &["guiclass", "testclass", "testname", "enabled", "name", "elementType"];

/// Marks in `elements/*.xml`: the name that plans use, a property that exists only if a plan names it, and the property
/// that gets the element's text.
const AS: &str = "as";
const OPTIONAL: &str = "optional";
const MAIN: &str = "main";
/// Attribute that lists properties or attributes to remove from an element.
const WITHOUT: &str = "without";
/// Attribute of a value with the number of repetitions of its text.
const TIMES: &str = "times";

/// Elements as JMeter's GUI writes them, by the names that plans use.
pub(crate) struct Elements(BTreeMap<String, Node>);

/// Path to a property: its index among the children, then the index within that child, and so on.
type Way = Vec<usize>;

impl Elements {
    /// Reads the definitions of elements from all files of a folder.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut known = BTreeMap::new();
        for path in fs::read_dir(folder).expect("the elements").flatten().map(|file| file.path()) {
            let text = fs::read_to_string(&path).expect("a file with elements");
            let root = markup::parse(&text);
            let root = root.unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
            for mut element in root.children {
                let name = element.attribute(AS).unwrap_or(&element.tag).to_owned();
                element.attributes.retain(|(name, _)| name != AS);
                let twice = known.insert(name.clone(), element);
                assert!(twice.is_none(), "{}: {name} is there twice", path.display());
            }
        }
        Self(known)
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Expands a short plan to the whole plan.
    pub(crate) fn whole(&self, text: &str) -> Result<String, String> {
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        out +=
            "<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n  <hashTree>\n";
        self.write(&markup::parse(text)?, 2, &mut out);
        out += "  </hashTree>\n</jmeterTestPlan>\n";
        Ok(out)
    }

    /// Writes an element, and its child elements in its `hashTree`.
    fn write(&self, short: &Node, depth: usize, out: &mut String) {
        let (element, inner) = self.element(short);
        element.write(depth, out);
        let indent = "  ".repeat(depth);
        if inner.is_empty() {
            *out += &format!("{indent}<hashTree/>\n");
            return;
        }
        *out += &format!("{indent}<hashTree>\n");
        for child in inner {
            self.write(child, depth + 1, out);
        }
        *out += &format!("{indent}</hashTree>\n");
    }

    /// Expands an element; returns it with its child elements.
    fn element<'a>(&self, short: &'a Node) -> (Node, Vec<&'a Node>) {
        match self.0.get(&short.tag) {
            Some(known) => self.filled(short, known),
            None => {
                let (properties, inner) =
                    short.children.iter().partition(|child| is_property(child));
                let properties: Vec<&Node> = properties;
                let children = properties.into_iter().map(|one| self.property(one)).collect();
                (Node { children, ..short.clone() }, inner)
            }
        }
    }

    /// Returns a property as written, with the entries of its lists expanded.
    fn property(&self, short: &Node) -> Node {
        let child = |child: &Node| match self.entry(child) {
            Some(entry) if short.tag == "collectionProp" => entry,
            _ => self.property(child),
        };
        Node { children: short.children.iter().map(child).collect(), ..short.clone() }
    }

    /// Expands an entry of a list, such as an `Argument`.
    fn entry(&self, short: &Node) -> Option<Node> {
        let known = self.0.get(&short.tag).filter(|known| known.tag == "elementProp")?;
        Some(self.filled(short, known).0)
    }

    /// Returns a known element with the values of a plan.
    fn filled<'a>(&self, short: &'a Node, known: &Node) -> (Node, Vec<&'a Node>) {
        let mut whole = known.clone();
        let mut inner = Vec::new();
        let names = properties(known);
        for (name, value) in &short.attributes {
            if let Some(way) = names.get(name.as_str()) {
                set(&mut whole, way, &value.replace("&quot;", "\""));
            } else if name != WITHOUT && name != TIMES {
                assert!(GENERAL.contains(&&**name), "<{}>: there is no {name}", short.tag);
                whole.set_attribute(name, value);
            }
        }
        if short.children.is_empty() && !short.text.trim().is_empty() {
            let main = whole.children.iter_mut().find(|one| one.attribute(MAIN).is_some());
            let main = main.unwrap_or_else(|| panic!("<{}> has no text", short.tag));
            main.text = text_of(short);
        }
        let list = the_list(known);
        for child in &short.children {
            if is_property(child) {
                let property = self.property(child);
                match whole.children.iter_mut().find(|one| key(one) == key(&property)) {
                    Some(old) => *old = property,
                    None => whole.children.push(property),
                }
            } else if let Some(way) = names.get(child.tag.as_str()) {
                set(&mut whole, way, &text_of(child));
            } else if let Some(entry) = self.entry(child) {
                let way = list.as_ref().unwrap_or_else(|| panic!("<{}> has no list", short.tag));
                let named = |list: &Node| {
                    let name = key(&entry);
                    list.children.iter().position(|one| !name.is_empty() && key(one) == name)
                };
                let old = named(at(known, way));
                let list = at_mut(&mut whole, way);
                match old {
                    Some(old) => list.children[old] = entry,
                    None => list.children.push(entry),
                }
            } else {
                inner.push(child);
            }
        }
        // Paths to properties consist of indexes, so removals must come last.
        for name in short.attribute(WITHOUT).iter().flat_map(|names| names.split(' ')) {
            let before = whole.children.len() + whole.attributes.len();
            whole.attributes.retain(|(known, _)| known != name);
            whole.children.retain(|one| short_name(key(one)) != name);
            let after = whole.children.len() + whole.attributes.len();
            assert!(after < before, "<{}> is without {name} anyway", short.tag);
        }
        follow(&mut whole);
        without_marks(&mut whole);
        (whole, inner)
    }
}

fn text_of(short: &Node) -> String {
    let times = short.attribute(TIMES).map(|times| times.parse().expect("a number of times"));
    short.text.repeat(times.unwrap_or(1))
}

fn is_property(node: &Node) -> bool {
    node.tag.ends_with("Prop") || node.tag == "FloatProperty"
}

/// Returns the name of a property, which is an attribute or, in some properties, a child tag.
fn key(property: &Node) -> &str {
    let inside = || property.children.iter().find(|child| child.tag == "name");
    let inside = || inside().map(|name| name.text.as_str());
    property.attribute("name").or_else(inside).unwrap_or(&property.tag)
}

/// Returns the last part of a property's name, which plans use to set it.
fn short_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_group(property: &Node) -> bool {
    matches!(property.tag.as_str(), "collectionProp" | "elementProp" | "objProp")
}

/// Returns the paths to properties that a short name identifies uniquely.
fn properties(known: &Node) -> BTreeMap<&str, Way> {
    let mut found: BTreeMap<&str, Vec<Way>> = BTreeMap::new();
    walk(known, &mut Vec::new(), &mut |property, way| {
        if property.tag.ends_with("Prop") && !is_group(property) && property.children.is_empty() {
            found.entry(short_name(key(property))).or_default().push(way.to_vec());
        }
    });
    let single = found.into_iter().filter(|(_, ways)| ways.len() == 1);
    single.filter_map(|(name, mut ways)| Some((name, ways.pop()?))).collect()
}

/// Returns the path to the only list property of an element.
fn the_list(known: &Node) -> Option<Way> {
    let mut found = Vec::new();
    walk(known, &mut Vec::new(), &mut |property, way| {
        if property.tag == "collectionProp" {
            found.push(way.to_vec());
        }
    });
    found.pop().filter(|_| found.is_empty())
}

/// Visits the properties of an element, and the properties of elements inside properties.
fn walk<'a>(node: &'a Node, way: &mut Way, visit: &mut impl FnMut(&'a Node, &[usize])) {
    for (place, child) in node.children.iter().enumerate() {
        way.push(place);
        visit(child, way);
        if child.tag == "elementProp" {
            walk(child, way, visit);
        }
        way.pop();
    }
}

fn at<'a>(node: &'a Node, way: &[usize]) -> &'a Node {
    way.iter().fold(node, |node, place| &node.children[*place])
}

fn at_mut<'a>(node: &'a mut Node, way: &[usize]) -> &'a mut Node {
    way.iter().fold(node, |node, place| &mut node.children[*place])
}

fn set(whole: &mut Node, way: &[usize], value: &str) {
    let property = at_mut(whole, way);
    value.clone_into(&mut property.text);
    property.attributes.retain(|(name, _)| name != OPTIONAL);
}

/// Replaces attribute values that begin with `@` by the value of the property they name.
fn follow(whole: &mut Node) {
    for place in 0..whole.attributes.len() {
        let mut value = whole.attributes[place].1.clone();
        while let Some(name) = value.strip_prefix('@') {
            let property = whole.children.iter().find(|one| short_name(key(one)) == name);
            value = match property {
                Some(property) => property.text.replace('"', "&quot;"),
                None => whole.attribute(name).unwrap_or_default().to_owned(),
            };
        }
        whole.attributes[place].1 = value;
    }
}

fn without_marks(node: &mut Node) {
    node.children.retain(|child| child.attribute(OPTIONAL).is_none());
    node.attributes.retain(|(name, _)| name != MAIN);
    node.children.iter_mut().for_each(without_marks);
}

#[cfg(test)]
mod tests {
    use super::Elements;
    use crate::markup;

    const KNOWN: &str = r#"<elements>
        <elementProp as="Argument" name="@name" elementType="Argument">
            <stringProp name="Argument.name"/>
            <stringProp name="Argument.value" main="true"/>
        </elementProp>
        <Sampler guiclass="G" testclass="Sampler" testname="" enabled="true">
            <elementProp name="Sampler.arguments" elementType="Arguments">
                <collectionProp name="Arguments.arguments"/>
            </elementProp>
            <stringProp name="Sampler.path"/>
            <stringProp name="Sampler.method">GET</stringProp>
            <boolProp name="Sampler.raw" optional="true"/>
        </Sampler>
        <Sampler as="Sampler.few" guiclass="G" testclass="Sampler" testname="" enabled="true">
            <stringProp name="Sampler.path"/>
        </Sampler>
    </elements>"#;

    fn whole(short: &str) -> String {
        let root = markup::parse(KNOWN).expect("the elements");
        let name = |one: &crate::markup::Node| one.attribute("as").unwrap_or(&one.tag).to_owned();
        let known = root.children.into_iter().map(|mut one| {
            let name = name(&one);
            one.attributes.retain(|(name, _)| name != "as");
            (name, one)
        });
        let text = Elements(known.collect()).whole(short).expect("a plan");
        let (_, rest) = text.split_once("  <hashTree>\n").expect("a tree");
        rest.strip_suffix("  </hashTree>\n</jmeterTestPlan>\n").expect("its end").to_owned()
    }

    #[test]
    fn an_element_has_all_that_goes_without_saying() {
        let expected = r#"    <Sampler guiclass="G" testclass="Sampler" testname="a" enabled="true">
      <elementProp name="Sampler.arguments" elementType="Arguments">
        <collectionProp name="Arguments.arguments">
          <elementProp name="n" elementType="Argument">
            <stringProp name="Argument.name">n</stringProp>
            <stringProp name="Argument.value">1 &lt; 2</stringProp>
          </elementProp>
        </collectionProp>
      </elementProp>
      <stringProp name="Sampler.path">/a "b"</stringProp>
      <stringProp name="Sampler.method">GET</stringProp>
    </Sampler>
    <hashTree>
      <Sampler guiclass="G" testclass="Sampler" testname="" enabled="false">
        <stringProp name="Sampler.path">xxx</stringProp>
      </Sampler>
      <hashTree/>
    </hashTree>
"#;
        let short = r#"<Sampler testname="a" path="/a &quot;b&quot;">
            <Argument name="n">1 &lt; 2</Argument>
            <Sampler.few enabled="false"><path times="3">x</path></Sampler.few>
        </Sampler>"#;
        assert_eq!(whole(short), expected);
    }

    #[test]
    fn what_is_not_there_can_be_said() {
        let expected = r#"    <Sampler guiclass="G" testclass="Sampler" testname="">
      <stringProp name="Sampler.path"></stringProp>
      <intProp name="Sampler.method">1</intProp>
      <boolProp name="Sampler.raw">true</boolProp>
      <stringProp name="another">2</stringProp>
    </Sampler>
    <hashTree>
      <Unknown testname="u">
        <stringProp name="own">3</stringProp>
      </Unknown>
      <hashTree/>
    </hashTree>
"#;
        let short = r#"<Sampler raw="true" without="enabled arguments">
            <intProp name="Sampler.method">1</intProp>
            <stringProp name="another">2</stringProp>
            <Unknown testname="u"><stringProp name="own">3</stringProp></Unknown>
        </Sampler>"#;
        assert_eq!(whole(short), expected);
    }

    #[test]
    #[should_panic(expected = "there is no pth")]
    fn a_name_that_is_not_known_is_said() {
        whole(r#"<Sampler pth="/a"/>"#);
    }

    #[test]
    #[should_panic(expected = "is without raw anyway")]
    fn a_property_can_be_left_out_only_where_it_is() {
        whole(r#"<Sampler.few without="raw"/>"#);
    }
}
