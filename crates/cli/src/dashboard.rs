//! JMeter's report: `-g FILE -o FOLDER` of a result file, and `-e -o FOLDER` of a run.
//!
//! Folders and files that may exist, and those that are refused, are JMeter's. All of it is checked before a run starts;
//! once it has started, a report that fails is said and does not change the run's exit code.

use std::fs;
use std::path::{Path, PathBuf};

use lang::property_file;
use report::jmeter::{self, Settings};

use crate::console::Console;
use crate::exit::Exit;
use crate::properties::Properties;
use crate::request::Request;
use crate::terminal;

const FAMILY: &str = "jmeter.reportgenerator.";
const PAGE: &str = "index.html";
const STATISTICS: &str = "statistics.json";
/// Where JMeter's reports go if nobody says so.
const FOLDER: &str = "report-output";

/// A report that can be made: its folder may be written to, and its properties make sense.
pub(crate) struct Dashboard {
    folder: PathBuf,
    /// `-o` named the folder, which then was empty or deleted.
    named: bool,
    settings: Settings,
    /// Properties that say nothing about what is made here.
    pub(crate) warnings: Vec<String>,
}

impl Dashboard {
    fn new(request: &Request, properties: &Properties, of: &[&Path]) -> Result<Self, String> {
        let below = of_home(request);
        let given = |key: &str| {
            let set = properties.get(key).map(str::to_owned);
            set.or_else(|| below.iter().rev().find(|pair| pair.0 == key).map(|pair| pair.1.clone()))
        };
        let settings = Settings::from_properties(given).map_err(|refused| refused.0)?;
        let own = |key: &str| given(&format!("{FAMILY}{key}")).filter(|value| !value.is_empty());
        let named = request.report.folder.is_some();
        let folder = request.report.folder.clone().or_else(|| {
            let folder = own("outputdir").or_else(|| own("exporter.html.property.output_dir"));
            Some(PathBuf::from(folder.unwrap_or_else(|| FOLDER.into())))
        });
        let folder =
            std::path::absolute(folder.unwrap_or_default()).map_err(|error| error.to_string())?;
        if named {
            make_room(&folder, request.force, of)?;
        }
        let mut names = properties.set_in_family(FAMILY);
        names.retain(|name| !jmeter::PROPERTIES.contains(name));
        let warnings = match names.len() {
            0 => Vec::new(),
            _ => vec![format!(
                "properties without effect on the report, which has JMeter's tables and not its graphs: {}",
                names.join(", ")
            )],
        };
        Ok(Self { folder, named, settings, warnings })
    }

    /// For the end of a run. `Err` is the exit code of a run that is not started.
    pub(crate) fn of_run(
        request: &Request,
        properties: &Properties,
        console: &mut Console,
    ) -> Result<Option<Self>, Exit> {
        if !request.report.at_end {
            let Some(folder) = &request.report.folder else { return Ok(None) };
            let checked = std::path::absolute(folder)
                .map_err(|error| error.to_string())
                .and_then(|folder| make_room(&folder, request.force, &[&request.plan]));
            checked.map_err(|message| console.fail(&message, Exit::Bug))?;
            console.warn("-o without -e: no report is made");
            return Ok(None);
        }
        if request.jtl.is_none() && !request.jtl_in_folder {
            return Err(
                console.fail("Option -e requires -l option: the file that rows go to", Exit::Usage)
            );
        }
        let made = request.jtl.as_deref().map_or(Ok(()), |file| check_results(file, request.force));
        let files: Vec<&Path> =
            request.jtl.iter().map(PathBuf::as_path).chain([&*request.plan]).collect();
        let made = made.and_then(|()| Self::new(request, properties, &files));
        let made = made.map_err(|message| console.fail(&message, Exit::Bug))?;
        for warning in &made.warnings {
            console.warn(warning);
        }
        Ok(Some(made))
    }

    /// Makes the report of a result file and gives its page.
    pub(crate) fn make(
        &self,
        file: &Path,
        further: &[PathBuf],
    ) -> Result<(PathBuf, Vec<String>), String> {
        let figures =
            jmeter::figures(file, further, &self.settings).map_err(|refused| refused.0)?;
        let io = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| format!("cannot write {path}: {error}")
        };
        if !self.named && holds_a_report(&self.folder) {
            return Err(not_empty(&self.folder));
        }
        fs::create_dir_all(&self.folder).map_err(io(&self.folder))?;
        let (page, statistics) = (self.folder.join(PAGE), self.folder.join(STATISTICS));
        fs::write(&statistics, figures.statistics_json() + "\n").map_err(io(&statistics))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        fs::write(&page, jmeter::page(&figures, &name)).map_err(io(&page))?;
        Ok((page, figures.notes.iter().map(ToString::to_string).collect()))
    }
}

/// `-g FILE`.
pub(crate) fn of_file(file: &Path, request: &Request) -> Exit {
    let Some(properties) = Properties::load_or_tell(&request.sources) else { return Exit::Usage };
    let readable =
        fs::File::open(file).and_then(|open| open.metadata()).is_ok_and(|about| about.is_file());
    let made = if readable {
        Dashboard::new(request, &properties, &[file])
    } else {
        Err(format!("Cannot read test results file : {}", file.display()))
    };
    let made = made.and_then(|dashboard| {
        dashboard.warnings.iter().for_each(|warning| terminal::warning(warning));
        dashboard.make(file, &jmeter::parts(file))
    });
    match made {
        Ok((page, notes)) => {
            for note in &notes {
                terminal::warning(note);
            }
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

/// The properties of `bin/reportgenerator.properties`, where JMeter's folder is named.
fn of_home(request: &Request) -> Vec<(String, String)> {
    let file =
        request.sources.home.as_ref().map(|home| home.join("bin/reportgenerator.properties"));
    let bytes = file.and_then(|file| fs::read(file).ok());
    bytes.and_then(|bytes| property_file::read(&bytes).ok()).unwrap_or_default()
}

/// A result file to which a run would append does not hold the run's rows alone.
fn check_results(file: &Path, force: bool) -> Result<(), String> {
    if !force && fs::metadata(file).is_ok_and(|about| about.len() > 0) {
        return Err(format!("Results file:{} is not empty; -f deletes it", file.display()));
    }
    Ok(())
}

/// Sees to it that the folder is empty or can be made. `force`: what is there is deleted, but not a folder that has one of
/// `files` or the working folder in it.
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
