//! The files that a plan names, as far as they follow from its text: paths relative to the plan's folder, lengths and
//! hashes.
//!
//! Data files, files to send, included plans, script files, jars and gateway keys are recognized by the names of their
//! properties, and files that functions read by the function's first argument. Expressions are evaluated as far as
//! properties and User Defined Variables suffice. Missing files are ignored here; the run reports them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use jmx::{Document, ElementId, Prop, Value};
use sha2::{Digest, Sha256};

use super::wire::{Hash, Named};

/// The files of a plan.
#[derive(Debug, Default)]
pub struct Manifest {
    /// Number of folder levels from the common parent folder of all files down to the plan's folder.
    pub(crate) depth: u32,
    /// Each file of the plan, with its path on this machine.
    pub(crate) files: Vec<(Named, PathBuf)>,
    /// Paths of files that only CSV Data Sets read.
    data: BTreeSet<String>,
    /// Messages for the user about the files.
    pub notes: Vec<String>,
}

impl Manifest {
    /// True if only CSV Data Sets read the file with that path.
    pub(crate) fn is_data(&self, path: &str) -> bool {
        self.data.contains(path)
    }
}

/// JMeter functions that read the file named by their first argument.
const READERS: [&str; 5] =
    ["__CSVRead", "__StringFromFile", "_StringFromFile", "__FileToString", "__XPath"];

/// Property of elements and runs that contains the path of a mobile gateway's public key.
const GATEWAY_KEY: &str = "throng.mgs.public_key_file";

/// Finds the files that a plan in `folder` names.
pub fn manifest(
    document: &Document,
    properties: &HashMap<String, String, impl BuildHasher>,
    folder: &Path,
) -> io::Result<Manifest> {
    let property = |name: &str| properties.get(name).cloned();
    let mut found = Found::of(document, &property);
    for element in enabled(document).map(|id| document.element(id)) {
        // These elements write their files.
        let writes = ["ResultCollector", "ResultSaver"].contains(&element.test_class.as_str());
        for prop in element.props.iter() {
            let is_data = element.test_class == "CSVDataSet" && prop.name == "filename";
            found.props(prop, writes, is_data);
        }
    }
    // The key for requests without a gateway element in their scope.
    if let Some(path) = properties.get(GATEWAY_KEY) {
        found.path(path, false);
    }
    let mut manifest = Manifest { notes: found.notes, ..Manifest::default() };
    let mut others = BTreeSet::new();
    for (path, is_data) in found.paths {
        let here = folder.join(&path);
        if !here.is_file() {
            continue;
        }
        let (hash, length) = hash(&here)?;
        let Some((ups, path)) = normal(&path) else {
            manifest.notes.push(format!(
                "file {path} is not sent to agents: its path has .. after a folder name"
            ));
            continue;
        };
        manifest.depth = manifest.depth.max(ups);
        let of = if is_data { &mut manifest.data } else { &mut others };
        of.insert(path.clone());
        manifest.files.push((Named { path, hash, length }, here));
    }
    manifest.data.retain(|path| !others.contains(path));
    Ok(manifest)
}

/// Returns the files that elements of a plan read but that do not exist, each with its element, as far as they follow
/// from the plan's text. Data files of CSV Data Sets must be regular files. Included plans and jars are skipped,
/// because the compiler and Java check them.
pub fn missing(
    document: &Document,
    properties: &HashMap<String, String, impl BuildHasher>,
    folder: &Path,
) -> Vec<(ElementId, String)> {
    let property = |name: &str| properties.get(name).cloned();
    let mut found = Found::of(document, &property);
    let mut missing = Vec::new();
    for id in enabled(document) {
        let element = document.element(id);
        let class = element.test_class.as_str();
        let writes = WRITERS.iter().any(|name| class.contains(name));
        for prop in element.props.iter().filter(|prop| !LOOKED_UP_ELSEWHERE.contains(&&*prop.name))
        {
            found.props(prop, writes, false);
        }
        if class == "KeystoreConfig"
            && let Some(path) = properties.get("javax.net.ssl.keyStore")
        {
            found.path(path, false);
        }
        let is_data = class == "CSVDataSet";
        let paths = std::mem::take(&mut found.paths).into_keys();
        let is_there = |path: &Path| if is_data { path.is_file() } else { path.exists() };
        // Some functions and scripts resolve a path against the current directory.
        let lacks = |path: &String| !is_there(&folder.join(path)) && !is_there(Path::new(path));
        missing.extend(paths.filter(lacks).map(|path| (id, path)));
    }
    missing
}

/// Parts of the class names of elements that write the file they name.
const WRITERS: [&str; 7] = [
    "ResultCollector",
    "ResultSaver",
    "FileWriter",
    "vizualizers",
    "reporters",
    "Visualizer",
    "SaveGraphs",
];
/// Properties with paths that the compiler or Java checks.
const LOOKED_UP_ELSEWHERE: [&str; 2] =
    ["IncludeController.includepath", "TestPlan.user_define_classpath"];

/// Returns the enabled elements of a plan.
fn enabled(document: &Document) -> impl Iterator<Item = ElementId> {
    document.ids().filter(|id| document.is_enabled(*id))
}

/// The files found so far.
struct Found<'a> {
    property: &'a dyn Fn(&str) -> Option<String>,
    variables: BTreeMap<String, String>,
    /// Paths of the files. The value is true if only CSV Data Sets use the path.
    paths: BTreeMap<String, bool>,
    notes: Vec<String>,
}

impl<'a> Found<'a> {
    /// Creates an empty list of files, with the variables that the plan defines.
    fn of(document: &Document, property: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let (variables, paths, notes) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut found = Self { property, variables, paths, notes };
        for id in enabled(document) {
            found.variables(document.element(id).props.iter());
        }
        found
    }

    /// Adds variables that the plan defines. Their values may be parts of paths.
    fn variables<'p>(&mut self, props: impl Iterator<Item = &'p Prop>) {
        for prop in props {
            for member in
                prop.object().into_iter().flat_map(|object| object.props.iter()).chain([prop])
            {
                for argument in member.members() {
                    let Some(object) = argument.object() else { continue };
                    let text = |name: &str| object.props.str(name).map(str::to_owned);
                    if let (Some(name), Some(value)) =
                        (text("Argument.name"), text("Argument.value"))
                    {
                        self.variables.insert(name, value);
                    }
                }
            }
        }
    }

    fn props(&mut self, prop: &Prop, writes: bool, is_data: bool) {
        match &prop.value {
            Value::Text(_, text) => {
                if !writes && is_file(&prop.name) {
                    // A list of jars is one property.
                    let list = prop.name == "TestPlan.user_define_classpath";
                    let parts = if list { text.split(',').collect() } else { vec![text.as_str()] };
                    for part in parts {
                        self.path(part, is_data);
                    }
                }
                self.functions(text);
            }
            Value::Object(object) => {
                for prop in object.props.iter() {
                    self.props(prop, writes, false);
                }
            }
            Value::List(members) | Value::Map(members) => {
                for prop in members {
                    self.props(prop, writes, false);
                }
            }
            Value::Other(_) => {}
        }
    }

    /// Adds the files that functions in a string read.
    fn functions(&mut self, text: &str) {
        for name in READERS {
            for (at, _) in text.match_indices(&format!("${{{name}(")) {
                let first = first_argument(&text[at + name.len() + 3..]);
                self.path(&first, false);
            }
        }
    }

    fn path(&mut self, text: &str, is_data: bool) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match self.value(text, 0) {
            Some(path) => {
                let path = path.trim();
                if !path.is_empty() {
                    *self.paths.entry(path.to_owned()).or_insert(true) &= is_data;
                }
            }
            None => {
                let note = format!(
                    "file {text} is not sent to agents: its name is only known during the run; copy it to each machine"
                );
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
    }

    /// Evaluates a string of the plan; `None` if it needs more than properties and variables.
    fn value(&self, text: &str, depth: u32) -> Option<String> {
        let Some(at) = text.find("${") else { return Some(text.to_owned()) };
        let length = closing(&text[at + 2..])?;
        let inner = &text[at + 2..at + 2 + length];
        let rest = self.value(&text[at + 3 + length..], depth)?;
        if depth > 8 {
            return None;
        }
        let call = |name: &str| {
            let arguments = inner.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
            Some(arguments.split(',').map(str::trim).collect::<Vec<_>>())
        };
        let value = if let Some(arguments) = call("__P") {
            (self.property)(arguments.first()?).or_else(|| {
                arguments.get(1).map(|default| (*default).to_owned()).or(Some("1".into()))
            })?
        } else if let Some(arguments) = call("__property") {
            (self.property)(arguments.first()?)?
        } else if inner.contains('(') {
            return None;
        } else {
            self.value(self.variables.get(inner.trim())?, depth + 1)?
        };
        Some(format!("{}{value}{rest}", &text[..at]))
    }
}

/// True if a property is the path of a file that is read.
fn is_file(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name == "File.path"
        || name == GATEWAY_KEY
        || name == "IncludeController.includepath"
        || name == "TestPlan.user_define_classpath"
        || lower == "filename"
        || (lower.ends_with(".filename") && name != "FileSaver.filename")
}

/// Returns the length of the text before the closing brace of an expression. `text` begins after `${`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the first argument of a function call. `text` begins after the opening parenthesis.
fn first_argument(text: &str) -> String {
    let mut depth = 0;
    for (at, char) in text.char_indices() {
        match char {
            '{' | '(' => depth += 1,
            ',' | ')' if depth == 0 => return text[..at].to_owned(),
            '}' | ')' => depth -= 1,
            _ => {}
        }
    }
    text.to_owned()
}

/// Normalizes a path. Returns the number of leading `..` and the path after them without `.`; absolute paths stay
/// unchanged. Returns `None` if `..` occurs later in the path.
pub(crate) fn normal(path: &str) -> Option<(u32, String)> {
    if path.starts_with('/') {
        return Some((0, path.to_owned()));
    }
    let (mut ups, mut parts) = (0, Vec::new());
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir if parts.is_empty() => ups += 1,
            Component::ParentDir => return None,
            Component::Normal(part) => parts.push(part.to_str()?),
            _ => {}
        }
    }
    Some((ups, "../".repeat(ups as usize) + &parts.join("/")))
}

/// Returns the hash and the length of a file.
pub(crate) fn hash(path: &Path) -> io::Result<(Hash, u64)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut length, mut buffer) = (Sha256::new(), 0, vec![0; 256 << 10]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((digits(&hasher.finalize()), length)),
            Ok(n) => {
                hasher.update(&buffer[..n]);
                length += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn digits(bytes: &[u8]) -> Hash {
    let digit = |n: u8| char::from_digit(n.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<jmeterTestPlan version="1.2"><hashTree>
<TestPlan testclass="TestPlan" testname="P"><elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="dir" elementType="Argument"><stringProp name="Argument.name">dir</stringProp><stringProp name="Argument.value">${__P(base,data)}</stringProp></elementProp>
</collectionProp></elementProp></TestPlan><hashTree>
<CSVDataSet testclass="CSVDataSet" testname="a"><stringProp name="filename">${dir}/a.csv</stringProp></CSVDataSet><hashTree/>
<CSVDataSet testclass="CSVDataSet" testname="b"><stringProp name="filename">../shared/./b.csv</stringProp></CSVDataSet><hashTree/>
<CSVDataSet testclass="CSVDataSet" testname="c"><stringProp name="filename">${unknown}.csv</stringProp></CSVDataSet><hashTree/>
<CSVDataSet testclass="CSVDataSet" testname="off" enabled="false"><stringProp name="filename">off.csv</stringProp></CSVDataSet><hashTree/>
<ResultCollector testclass="ResultCollector" testname="r"><stringProp name="filename">out.csv</stringProp></ResultCollector><hashTree/>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="h"><stringProp name="HTTPSampler.path">/x/${__CSVRead(${dir}/read.csv,0)}/${__StringFromFile(text.txt)}</stringProp>
<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files"><elementProp name="" elementType="HTTPFileArg"><stringProp name="File.path">up.bin</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/>
<ConfigTestElement testclass="ConfigTestElement" testname="RPC Gateway Security"><stringProp name="throng.mgs.public_key_file">${dir}/key.pem</stringProp></ConfigTestElement><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#;

    #[test]
    fn a_plan_names_its_files_by_properties_variables_and_functions() {
        let scratch = std::env::temp_dir().join(format!("throng-manifest-{}", std::process::id()));
        let folder = scratch.join("plans");
        for file in [
            "plans/elsewhere/a.csv",
            "plans/elsewhere/read.csv",
            "shared/b.csv",
            "plans/text.txt",
            "plans/up.bin",
            "plans/out.csv",
            "plans/off.csv",
            "plans/elsewhere/key.pem",
            "plans/run.pem",
        ] {
            let path = scratch.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, file).expect("a file");
        }
        let (document, _) = jmx::parse("p", PLAN.as_bytes().to_vec()).expect("XML");
        let properties = [("base", "elsewhere"), (GATEWAY_KEY, "run.pem")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let properties = HashMap::from(properties);
        let manifest = manifest(&document, &properties, &folder).expect("readable files");
        let paths: Vec<&str> =
            manifest.files.iter().map(|(named, _)| named.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "../shared/b.csv",
                "elsewhere/a.csv",
                "elsewhere/key.pem",
                "elsewhere/read.csv",
                "run.pem",
                "text.txt",
                "up.bin"
            ]
        );
        assert_eq!(manifest.depth, 1);
        assert!(
            manifest.notes.len() == 1 && manifest.notes[0].contains("${unknown}.csv"),
            "{:?}",
            manifest.notes
        );
        let (named, _) = &manifest.files[0];
        assert_eq!((named.length, named.hash.len()), (12, 64));
        let _ = std::fs::remove_dir_all(scratch);
    }

    #[test]
    fn the_hash_is_sha_256() {
        let path = std::env::temp_dir().join(format!("throng-hash-{}", std::process::id()));
        std::fs::write(&path, "abc").expect("a file");
        // The example in FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(&path).expect("readable"), (expected.to_owned(), 3));
        let _ = std::fs::remove_file(path);
    }

    #[test]
    fn missing_files_are_named_with_their_elements() {
        let scratch = tempdir();
        std::fs::create_dir_all(scratch.join("data")).expect("a folder");
        std::fs::write(scratch.join("data/a.csv"), "1").expect("a file");
        let plan = PLAN.replace("</hashTree></hashTree></jmeterTestPlan>", r#"
<JSR223Sampler testclass="JSR223Sampler" testname="script"><stringProp name="filename">${dir}/gone.groovy</stringProp></JSR223Sampler><hashTree/>
<kg.apc.jmeter.reporters.FlexibleFileWriter testclass="kg.apc.jmeter.reporters.FlexibleFileWriter" testname="w"><stringProp name="filename">w.txt</stringProp></kg.apc.jmeter.reporters.FlexibleFileWriter><hashTree/>
<KeystoreConfig testclass="KeystoreConfig" testname="keys"/><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#);
        let (document, _) = jmx::parse("p.jmx", plan.into_bytes()).expect("a plan");
        let properties =
            HashMap::from([("javax.net.ssl.keyStore".to_owned(), "keys.p12".to_owned())]);
        let found: Vec<(String, String)> = missing(&document, &properties, &scratch)
            .into_iter()
            .map(|(id, path)| (document.element(id).name.clone(), path))
            .collect();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, path)| (name.as_str(), path.as_str())).collect();
        let expected = [
            ("b", "../shared/./b.csv"),
            ("h", "data/read.csv"),
            ("h", "text.txt"),
            ("h", "up.bin"),
            ("RPC Gateway Security", "data/key.pem"),
            ("script", "data/gone.groovy"),
            ("keys", "keys.p12"),
        ];
        assert_eq!(found, expected);
        std::fs::remove_dir_all(scratch.parent().expect("a parent")).expect("removed");
    }

    fn tempdir() -> PathBuf {
        let name = format!("throng-missing-{}/plans", std::process::id());
        std::env::temp_dir().join(name)
    }
}
