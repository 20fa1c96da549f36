//! JMeter's metrics and report: for a result file with `-g FILE -o FOLDER`, for a run with `-e -o FOLDER` or
//! `--jmeter-figures`.
//!
//! Existing folders and files are treated as in JMeter. They are checked before a run starts. After the start, a
//! failed report is printed as an error and does not change the run's exit code.

use std::fs;
use std::path::{Path, PathBuf};

use lang::property_file;
use report::jmeter::{self, Figures, Settings};
use report::model::RunPage;
use stats::jtl::source::Source;

use crate::args::request::Request;
use crate::exit::Exit;
use crate::inputs::properties::{Properties, Sources};
use crate::judge::verdict;
use crate::operator::console::Console;
use crate::print::terminal;

const FAMILY: &str = "jmeter.reportgenerator.";
const PAGE: &str = "index.html";
const STATISTICS: &str = "statistics.json";
/// Default folder of JMeter's report.
const FOLDER: &str = "report-output";

/// The settings of JMeter's metrics, checked, and a writable report folder if a report was requested.
pub(crate) struct Dashboard {
    place: Option<Place>,
    settings: Settings,
    /// Warnings about properties that have no effect on the report.
    pub(crate) warnings: Vec<String>,
}

/// Folder of JMeter's report.
struct Place {
    folder: PathBuf,
    /// True if `-o` named the folder, which was empty or was emptied.
    named: bool,
}

impl Dashboard {
    /// Prepares JMeter's metrics for Throng's own report page.
    pub(crate) fn without_folder(
        sources: &Sources,
        properties: &Properties,
    ) -> Result<Self, String> {
        let given = given(sources, properties);
        let settings = Settings::from_properties(given).map_err(|refused| refused.0)?;
        let mut names = properties.set_in_family(FAMILY);
        names.retain(|name| !jmeter::PROPERTIES.contains(name));
        let warnings = match names.len() {
            0 => Vec::new(),
            _ => vec![format!(
                "properties without effect on the report, which has JMeter's tables and not its graphs: {}",
                names.join(", ")
            )],
        };
        Ok(Self { place: None, settings, warnings })
    }

    /// Prepares JMeter's metrics with a report folder. The folder must not contain any of the files `of`.
    fn new(request: &Request, properties: &Properties, of: &[&Path]) -> Result<Self, String> {
        let made = Self::without_folder(&request.sources, properties)?;
        let given = given(&request.sources, properties);
        let own = |key: &str| given(&format!("{FAMILY}{key}")).filter(|value| !value.is_empty());
        let named = request.report.folder.is_some();
        let folder = request.report.folder.clone().unwrap_or_else(|| {
            let folder = own("outputdir").or_else(|| own("exporter.html.property.output_dir"));
            PathBuf::from(folder.unwrap_or_else(|| FOLDER.into()))
        });
        let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
        if named {
            make_room(&folder, request.force, of)?;
        }
        Ok(Self { place: Some(Place { folder, named }), ..made })
    }

    /// Prepares JMeter's metrics for the end of a run. `Err` is the exit code of a run that is not started.
    pub(crate) fn of_run(
        request: &Request,
        properties: &Properties,
        console: &mut Console,
    ) -> Result<Option<Self>, Exit> {
        let asked = &request.report;
        if let Some(folder) = asked.folder.as_ref().filter(|_| !asked.at_end) {
            let checked = std::path::absolute(folder)
                .map_err(|error| error.to_string())
                .and_then(|folder| make_room(&folder, request.force, &[&request.plan]));
            checked.map_err(|message| console.fail(&message, Exit::Bug))?;
            console.warn("-o without -e: no report is made");
        }
        if !asked.at_end && !asked.figures {
            return Ok(None);
        }
        if request.jtl.is_none() && !request.jtl_in_folder {
            let words = if asked.at_end {
                "Option -e requires -l option: the file that rows go to"
            } else {
                "--jmeter-figures needs the rows of all samples: add --jtl or -l FILE"
            };
            return Err(console.fail(words, Exit::Usage));
        }
        let made = request.jtl.as_deref().map_or(Ok(()), |file| check_results(file, request.force));
        let files: Vec<&Path> =
            request.jtl.iter().map(PathBuf::as_path).chain([&*request.plan]).collect();
        let made = made.and_then(|()| {
            if asked.at_end {
                Self::new(request, properties, &files)
            } else {
                Self::without_folder(&request.sources, properties)
            }
        });
        let made = made.map_err(|message| console.fail(&message, Exit::Bug))?;
        for warning in &made.warnings {
            console.warn(warning);
        }
        Ok(Some(made))
    }

    /// Reads the rows of result files, and computes JMeter's metrics. With `record`, also builds a record from the
    /// rows.
    pub(crate) fn read(
        &self,
        (file, source): (&Path, Source),
        further: &[PathBuf],
        record: bool,
    ) -> Result<jmeter::Read, String> {
        let checked = self.place.as_ref().map_or(Ok(()), Place::check);
        checked?;
        jmeter::read((file, source), further, &self.settings, record).map_err(|refused| refused.0)
    }

    /// Writes the report, if there is a report folder. Returns the path of the report's page.
    pub(crate) fn write(&self, figures: &Figures, html: &str) -> Result<Option<PathBuf>, String> {
        let Some(Place { folder, .. }) = &self.place else { return Ok(None) };
        let io = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| format!("cannot write {path}: {error}")
        };
        fs::create_dir_all(folder).map_err(io(folder))?;
        let (page, statistics) = (folder.join(PAGE), folder.join(STATISTICS));
        fs::write(&statistics, figures.statistics_json() + "\n").map_err(io(&statistics))?;
        fs::write(&page, html).map_err(io(&page))?;
        Ok(Some(page))
    }
}

impl Place {
    /// Checks the report folder. A default folder may contain other files, but no report.
    fn check(&self) -> Result<(), String> {
        if !self.named && holds_a_report(&self.folder) {
            return Err(not_empty(&self.folder));
        }
        Ok(())
    }
}

/// Runs `-g FILE`: builds JMeter's report of a result file.
pub(crate) fn of_file(file: &Path, request: &Request) -> Exit {
    let Some(properties) = Properties::load_or_tell(&request.sources) else { return Exit::Usage };
    match report_of(file, request, &properties) {
        Ok(page) => {
            if !request.quiet {
                terminal::out(&format!("Report: {}\n", page.display()));
            }
            Exit::Ok
        }
        Err(message) => {
            terminal::error(&format!("An error occurred: {message}"));
            Exit::Bug
        }
    }
}

fn report_of(file: &Path, request: &Request, properties: &Properties) -> Result<PathBuf, String> {
    let source = jmeter::open(file).map_err(|refused| refused.0)?;
    let dashboard = Dashboard::new(request, properties, &[file])?;
    dashboard.warnings.iter().for_each(|warning| terminal::warning(warning));
    let jmeter::Read { figures, record } =
        dashboard.read((file, source), &jmeter::parts(file), true)?;
    figures.notes.iter().for_each(|note| terminal::warning(&note.to_string()));
    let language = verdict::language(request.lang);
    let record = record.unwrap_or_default();
    let page = crate::results::page::page(file, &record, Some(&figures), RunPage::new);
    let html = report::run(&page, language);
    Ok(dashboard.write(&figures, &html)?.unwrap_or_default())
}

/// Returns the values of properties. Properties that the user has set take precedence over those of [`of_home`].
fn given<'p>(
    sources: &Sources,
    properties: &'p Properties,
) -> impl Fn(&str) -> Option<String> + use<'p> {
    let below = of_home(sources);
    move |key| {
        let set = properties.get(key).map(str::to_owned);
        set.or_else(|| below.iter().rev().find(|pair| pair.0 == key).map(|pair| pair.1.clone()))
    }
}

/// Reads the properties of `bin/reportgenerator.properties`, if JMeter's folder is known.
fn of_home(sources: &Sources) -> Vec<(String, String)> {
    let file = sources.home.as_ref().map(|home| home.join("bin/reportgenerator.properties"));
    let bytes = file.and_then(|file| fs::read(file).ok());
    bytes.and_then(|bytes| property_file::read(&bytes).ok()).unwrap_or_default()
}

/// Refuses a result file with content. The run would append to it, and the file would then contain rows of other
/// runs.
fn check_results(file: &Path, force: bool) -> Result<(), String> {
    if !force && fs::metadata(file).is_ok_and(|about| about.len() > 0) {
        return Err(format!("Results file:{} is not empty; -f deletes it", file.display()));
    }
    Ok(())
}

/// Makes sure that the folder is empty or can be created. If `force` is true, deletes its content, unless the
/// folder contains one of `files` or is the working folder.
fn make_room(folder: &Path, force: bool, files: &[&Path]) -> Result<(), String> {
    let shown = folder.display();
    let Ok(about) = fs::metadata(folder) else {
        let parent = folder.parent().unwrap_or(folder);
        let writable = rustix::fs::access(parent, rustix::fs::Access::WRITE_OK).is_ok();
        let words = || {
            format!(
                "Cannot write to '{shown}' as folder does not exist and parent folder is not writable"
            )
        };
        return writable.then_some(()).ok_or_else(words);
    };
    if about.is_file() {
        if !force {
            return Err(format!("Cannot write to '{shown}' as it is an existing file"));
        }
        let words = |error| {
            format!(
                "Cannot write to '{shown}' as it is an existing file and delete failed: {error}"
            )
        };
        return fs::remove_file(folder).map_err(words);
    }
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Ok(());
    }
    if !force {
        return Err(not_empty(folder));
    }
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let within = |path: &Path| real(path).starts_with(real(folder));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let precious = [Path::new(".")].into_iter().chain(files.iter().copied()).chain(home.as_deref());
    if let Some(path) = precious.into_iter().find(|path| within(path)) {
        let path = real(path);
        return Err(format!(
            "-f does not delete '{shown}', since {} is in it: name a folder of its own",
            path.display()
        ));
    }
    let words = |error| {
        format!(
            "Cannot write to '{shown}' as folder is not empty and cleanup failed with error:{error}"
        )
    };
    fs::remove_dir_all(folder).and_then(|()| fs::create_dir(folder)).map_err(words)
}

fn not_empty(folder: &Path) -> String {
    format!("Cannot write to '{}' as folder is not empty", folder.display())
}

fn holds_a_report(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let file = entry.path().is_file();
        if file {
            [PAGE, STATISTICS].contains(&&*name)
        } else {
            name == "content" || name.starts_with("sbadmin2-")
        }
    })
}
