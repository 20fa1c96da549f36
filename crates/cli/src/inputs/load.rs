//! Reads and compiles a plan file with its properties, for all commands that run or inspect a plan.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use jmx::{Diag, Included, Severity};
use plan::compile::{Compiled, Settings, WITHOUT_JAVA, compile};
use plan::plan::Plan;
use plan::support::{Level, Support};
use stats::jtl::source::{Source as Stream, is_stream};

use crate::inputs::imported::{self, Made};
use crate::inputs::java::{self, Needed};
use crate::inputs::properties::Properties;
use crate::print::render::{self, Colour};
use crate::print::terminal;

/// Number of findings of the same kind that are shown.
const FEW_FINDINGS: usize = 5;

/// A plan file with its compiled plan and its findings.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Name of the plan file as the user gave it.
    pub(crate) name: String,
    /// Content of the plan file. Empty if the file could not be read as a plan.
    pub(crate) source: String,
    pub(crate) plan: Option<Plan>,
    /// Findings of the compilation, sorted by file and line; findings of later checks follow unsorted.
    pub(crate) diags: Vec<Diag>,
    pub(crate) support: Vec<Support>,
    /// Files that the plan includes.
    pub(crate) included: Vec<Included>,
    /// True if elements that need Java stay in the plan.
    java_backing: bool,
}

impl Loaded {
    /// True if the plan was compiled and has no errors.
    pub(crate) fn is_valid(&self) -> bool {
        self.plan.is_some() && self.diags.iter().all(|diag| diag.severity < Severity::Error)
    }

    /// True if `throng run` would run the plan without `--skip-unsupported`.
    pub(crate) fn runs(&self) -> bool {
        self.is_valid() && self.obstacles().next().is_none()
    }

    /// True if elements that need Java run in Java. Otherwise they cannot run.
    pub(crate) fn has_java(&self) -> bool {
        self.java_backing
    }

    /// Returns the elements that cannot run and that would change the load or the checks.
    pub(crate) fn obstacles(&self) -> impl Iterator<Item = &Support> {
        self.support.iter().filter(|element| match element.level {
            Level::Unsupported => true,
            Level::Jvm => !self.java_backing,
            Level::Ignored | Level::Native => false,
        })
    }

    /// Returns the name and content of the file to which a finding or an element belongs. `name` is empty for the
    /// plan file itself.
    pub(crate) fn file<'a>(&'a self, name: Option<&'a str>) -> (&'a str, &'a str) {
        let Some(name) = name else { return (&self.name, &self.source) };
        let text = self.included.iter().find(|file| file.name == name);
        (name, text.map_or("", |file| &file.source))
    }

    /// Formats the findings as a compiler formats its messages.
    pub(crate) fn findings(&self, colour: Colour) -> String {
        render::folded(&self.diags, FEW_FINDINGS, render::kind, |diag| {
            let (file, source) = self.file(diag.file.as_deref());
            render::diag(diag, file, source, colour) + "\n"
        })
    }

    /// Returns the contents of the plan file and of all files that it includes.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> + Clone {
        std::iter::once(self.source.as_str())
            .chain(self.included.iter().map(|file| file.source.as_str()))
    }
}

/// Argument that means a plan from standard input.
const STANDARD_INPUT: &str = "-";

/// Name for a plan from standard input in messages, in results and in the name of the run's folder.
const ITS_NAME: &str = "stdin.jmx";

/// True if the plan is read from standard input, which can be read only once.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// A plan's name and content.
#[derive(Debug)]
pub(crate) enum Source {
    /// A plan file.
    File(PathBuf, Vec<u8>),
    /// A plan that was made from another source.
    Made(Made),
}

impl Source {
    /// Returns the name and content of the plan.
    pub(crate) fn plan(self) -> (PathBuf, Vec<u8>) {
        match self {
            Self::File(name, bytes) => (name, bytes),
            Self::Made(Made { name, text, .. }) => (name, text),
        }
    }
}

/// Returns the plan, or prints an error and returns `None`.
pub(crate) fn read(path: &Path) -> Option<Source> {
    read_source(path).map_err(|message| terminal::error(&message)).ok()
}

/// Returns the plan's name and content. The error is a message for the user.
pub(crate) fn read_quietly(path: &Path) -> Result<(PathBuf, Vec<u8>), String> {
    read_source(path).map(Source::plan)
}

/// Reads a plan file, or makes a plan of curl commands or URLs. `-` is standard input. The error is a message for the
/// user.
pub(crate) fn read_source(path: &Path) -> Result<Source, String> {
    if imported::is_url(path) {
        return imported::of_url(path).map(Source::Made);
    }
    let (name, bytes) = read_bytes(path)?;
    Ok(match imported::of_file(&name, &bytes)? {
        Some(made) => Source::Made(made),
        None => Source::File(name, bytes),
    })
}

/// Returns the name and content of a file. `-` is standard input. The error is a message for the user.
fn read_bytes(path: &Path) -> Result<(PathBuf, Vec<u8>), String> {
    let given = is_standard_input(path);
    let read = match () {
        () if given => standard_input(),
        // Reading a named pipe fails if no program opens it for writing within some time.
        () if is_stream(path) => Stream::open(path).and_then(plan::input::read_stream),
        () => plan::input::read_any(path),
    };
    match read {
        Ok(bytes) => Ok((if given { ITS_NAME.into() } else { path.to_owned() }, bytes)),
        Err(error) => {
            let named = if given {
                "the plan can't be read from standard input".to_owned()
            } else {
                format!("the file {} doesn't exist or can't be opened", path.display())
            };
            Err(format!("{named}: {error}"))
        }
    }
}

fn standard_input() -> io::Result<Vec<u8>> {
    let input = io::stdin().lock();
    if input.is_terminal() {
        return Err(io::Error::other("it is a terminal; pipe a plan into it, or name a file"));
    }
    plan::input::read_stream(input)
}

/// Returns the folder of a plan file, to which file names in the plan are relative.
pub(crate) fn folder(plan: &Path) -> PathBuf {
    plan.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// A plan that was compiled as a run compiles it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) loaded: Loaded,
    /// Java installation for the elements that need one. `None` if the plan needs no Java or no Java is available.
    pub(crate) java: Option<Needed>,
    /// Reason why no Java is available for a plan that needs one. Elements that need Java then cannot run.
    pub(crate) no_java: Option<String>,
}

/// Compiles the content of a plan file for a run on this machine. Searches for Java if the plan needs it. The
/// properties then contain the available plug-ins, and whether elements that need Java are left out.
pub(crate) fn prepare(path: &Path, bytes: &[u8], properties: &mut Properties) -> Prepared {
    java::note_plugins(properties, bytes);
    let loaded = load(path, bytes.to_vec(), properties);
    let get = |key: &str| properties.get(key).map(str::to_owned);
    let needed = loaded.plan.as_ref().map_or(Ok(None), |plan| java::needed(plan, get));
    match needed {
        Ok(java) => Prepared { loaded, java, no_java: None },
        Err(words) => {
            properties.leave_java_out();
            let loaded = load(path, bytes.to_vec(), properties);
            Prepared { loaded, java: None, no_java: Some(words) }
        }
    }
}

/// Compiles the content of a plan file, without a search for Java.
pub(crate) fn load(path: &Path, bytes: Vec<u8>, properties: &Properties) -> Loaded {
    let name = path.display().to_string();
    let (document, mut diags) = match jmx::parse(&name, bytes) {
        Ok(parsed) => parsed,
        Err(jmx::NotXml(diag)) => {
            return Loaded {
                name,
                source: String::new(),
                plan: None,
                diags: vec![*diag],
                support: Vec::new(),
                included: Vec::new(),
                java_backing: false,
            };
        }
    };
    let Compiled { plan, diags: found, support, included } =
        compile(&document, &settings(path, properties));
    diags.extend(found);
    diags.sort_by_key(|diag| (diag.file.clone(), diag.line));
    let source = document.source().to_string();
    let java_backing = java_backing(properties);
    Loaded { name, source, plan, diags, support, included, java_backing }
}

/// Returns true if elements that only Java can run are run in Java instead of being left out.
fn java_backing(properties: &Properties) -> bool {
    properties.get(WITHOUT_JAVA).is_none()
}

fn settings(path: &Path, properties: &Properties) -> Settings {
    Settings {
        properties: properties.to_map(),
        folder: folder(path),
        java_backing: java_backing(properties),
    }
}
