//! `throng.toml` in the folder of a plan: load, thresholds, watched hosts, prices and properties of its runs.
//!
//! The command line takes precedence. A load option, a host or a property on the command line replaces that of the
//! file. A criterion on the command line replaces one of the file for the same metric, label and window; the file's
//! other criteria also apply. File names are relative to the folder of `throng.toml`. Properties work like those of
//! `-J`. An unknown key is an error that suggests the nearest known key.

use std::path::{Path, PathBuf};

use answers::criterion::{Criterion, Op};
use plan::load::{LoadOverrides, LoadSettings};
use report::model::Prices;
use toml::{Table, Value};

use crate::args::flags::load::{self, KEYS};
use crate::args::request::Request;
use crate::inputs::properties::{PROJECT_FILE, Setting, legible};
use crate::inputs::suggest::nearest;
use crate::judge::criteria::{Criteria, SERIES};

/// Names of the tables that `throng.toml` may contain.
const TABLES: [&str; 8] =
    ["load", "thresholds", "watch", "alerts", "series", "prices", "out", "properties"];
/// Keys of the table `prices`.
const PRICES: [&str; 5] = ["currency", "core-hour", "gib-hour", "gib-sent", "gib-received"];
/// Keys of the table `thresholds`.
const THRESHOLDS: [&str; 3] = ["fail", "abort-if", "junit"];

/// Adds the settings of the `throng.toml` in the plan's folder to the request, if the file exists. Returns a
/// message that names the file. The error is a message for the user.
pub(crate) fn apply(request: &mut Request) -> Result<Option<String>, String> {
    let path = request.folder().join(PROJECT_FILE);
    let text = match plan::input::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        format!("{}: {}", path.display(), record::mask::urls(&error.to_string()))
    })?;
    let file = ProjectText { path: &path, text: &text };
    let located = |Wrong { path, words }: Wrong| format!("{}: {words}", file.place(&path));
    let given = (request.load.clone(), request.criteria.clone());
    let replaced = add(request, &table, &request.folder()).map_err(located)?;
    file.note_places(request, &table, given);
    let read = vec![format!("{PROJECT_FILE} beside the plan is read")];
    Ok(Some([read, replaced].concat().join("; ")))
}

/// Returns the JUnit file that the `throng.toml` in this folder names, even if other parts of the file are invalid.
pub(crate) fn junit_of(folder: &Path) -> Option<PathBuf> {
    let text = plan::input::read_to_string(&folder.join(PROJECT_FILE)).ok()?;
    junit(&text.parse().ok()?, folder)
}

fn junit(table: &Table, folder: &Path) -> Option<PathBuf> {
    Some(folder.join(table.get("thresholds")?.get("junit")?.as_str()?))
}

/// An error in `throng.toml`.
#[derive(Debug)]
struct Wrong {
    /// Names of the tables and of the key in `throng.toml` to which the error refers.
    path: Vec<String>,
    /// Error message about `throng.toml` for the user.
    words: String,
}

fn wrong(path: &[&str], words: String) -> Wrong {
    Wrong { path: path.iter().map(ToString::to_string).collect(), words }
}

/// Path and content of the project file, for messages that name a line in the file.
struct ProjectText<'t> {
    path: &'t Path,
    text: &'t str,
}

impl ProjectText<'_> {
    /// Returns the file and line of a table or key.
    fn place(&self, path: &[String]) -> String {
        let file = self.path.display();
        match line_of(self.text, path) {
            Some(line) => format!("{file}: line {line}"),
            None => file.to_string(),
        }
    }

    /// Returns the file and line of a string within the value of a key, because an entry of a list may be on its
    /// own line.
    fn place_within(&self, path: &[String], value: &str) -> String {
        let Some(first) = line_of(self.text, path) else { return self.place(path) };
        let mut lines = self.text.lines().enumerate().skip(first - 1);
        let line = lines.find(|(_, line)| line.contains(value)).map_or(first, |(at, _)| at + 1);
        format!("{}: line {line}", self.path.display())
    }

    /// Stores the file and line of each load setting, criterion and property from the project file, for messages of
    /// later checks. `given` are the load and the criteria of the command line.
    fn note_places(&self, request: &mut Request, table: &Table, given: (LoadOverrides, Criteria)) {
        let (load, criteria) = given;
        let path = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        if load.all.is_empty() && !request.load.all.is_empty() {
            request.load.places.push((String::new(), self.place(&path(&["load"]))));
        }
        let is_given = |group: &str| load.groups.iter().any(|(name, _)| name == group);
        let own = request.load.groups.iter().filter(|(name, _)| !is_given(name));
        let place = |name: &str| self.place(&path(&["load", "scenario", name]));
        request.load.places.extend(own.map(|(name, _)| (name.clone(), place(name))));
        let lists = [
            ("fail", &request.criteria.fail, &criteria.fail),
            ("abort-if", &request.criteria.abort, &criteria.abort),
        ];
        let mut places = Vec::new();
        for (key, all, given) in lists {
            let texts = table.get("thresholds").and_then(|list| list.get(key));
            let texts = texts.map_or(&[][..], |texts| {
                texts.as_array().map_or(std::slice::from_ref(texts), |list| list)
            });
            for text in texts.iter().filter_map(Value::as_str) {
                let Ok(criterion) = Criterion::parse(text) else { continue };
                if all.contains(&criterion) && !given.contains(&criterion) {
                    let place = self.place_within(&path(&["thresholds", key]), text);
                    places.push((criterion, place));
                }
            }
        }
        request.criteria.places = places;
        let sources = &mut request.sources;
        let own = sources.settings.iter().take(sources.of_project);
        let place = |setting: &Setting| match setting {
            Setting::Jmeter(name, _) if name == SERIES => {
                Some((name.clone(), self.place(&path(&["series"]))))
            }
            Setting::Jmeter(name, _) => {
                Some((name.clone(), self.place(&path(&["properties", name]))))
            }
            _ => None,
        };
        sources.places = own.filter_map(place).collect();
    }
}

/// Returns the line number of a table or key, counted from 1.
fn line_of(text: &str, path: &[String]) -> Option<usize> {
    let path: Vec<String> = path.iter().map(|name| name.replace(['"', '\''], "")).collect();
    let (key, within) = path.split_last()?;
    let (path, within) = (path.join("."), within.join("."));
    let mut table = String::new();
    let begins = |line: &str, key: &str| {
        let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ', '\t']).starts_with('='))
    };
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|name| name.split_once(']')) {
            table = name.0.replace(['"', '\''], "");
            if table == path {
                return Some(number + 1);
            }
        } else if table == within && begins(line, key)
            // The key may also be part of an inline table.
            || within.strip_prefix(&*table).is_some_and(|own| {
                begins(line, own.trim_start_matches('.')) && line.contains(key)
            })
        {
            return Some(number + 1);
        }
    }
    None
}

/// Adds the settings of all tables to the request. Returns messages about the file's settings that the command line
/// replaces.
fn add(request: &mut Request, table: &Table, folder: &Path) -> Result<Vec<String>, Wrong> {
    let mut replaced = Vec::new();
    // The JUnit file is set first. If another table has an error, the file must not keep the result of an earlier
    // run.
    request.junit = request.junit.take().or_else(|| junit(table, folder));
    known(table, &TABLES, &[])?;
    if let Some(load) = table.get("load") {
        add_load(request, of_table(load, "load")?)?;
    }
    if let Some(thresholds) = table.get("thresholds") {
        replaced = add_thresholds(request, of_table(thresholds, "thresholds")?)?;
    }
    if let Some(hosts) = table.get("watch") {
        for (name, url) in of_table(hosts, "watch")? {
            let path = ["watch", name];
            let host = watch::Host::parse(&format!("{name}={}", text(url, &path)?));
            let host = host.map_err(|words| wrong(&path, words))?;
            if request.watch.iter().all(|given| given.name != host.name) {
                request.watch.push(host);
            }
        }
    }
    if let Some(series) = table.get("series") {
        add_series(request, of_table(series, "series")?)?;
    }
    if let Some(prices) = table.get("prices") {
        request.prices = Some(prices_of(of_table(prices, "prices")?)?);
    }
    if let Some(url) = table.get("alerts") {
        let path = ["alerts"];
        let host = watch::Host::alertmanager(&text(url, &path)?);
        let host = host.map_err(|words| wrong(&path, words))?;
        let is_given = |one: &watch::Host| matches!(one.source, watch::Source::Alertmanager(_));
        if !request.watch.iter().any(is_given) {
            request.watch.push(host);
        }
    }
    if let Some(out) = table.get("out") {
        let path = ["out"];
        let texts = match out {
            Value::Array(list) => list.iter().map(|value| text(value, &path)).collect(),
            one => text(one, &path).map(|text| vec![text]),
        };
        let mut targets = export::Target::all(&texts?).map_err(|words| wrong(&path, words))?;
        for target in &mut targets {
            target.set_folder(folder);
        }
        if request.out.is_empty() {
            request.out = targets;
        }
    }
    if let Some(properties) = table.get("properties") {
        let mut own = Vec::new();
        add_properties(of_table(properties, "properties")?, "", &mut own)?;
        // The settings of the command line come after those of the file in the list, so that they take precedence.
        request.sources.of_project += own.len();
        request.sources.settings.splice(0..0, own);
    }
    Ok(replaced)
}

/// Adds the file's series to those of the command line. A series of the command line replaces one with the same name.
fn add_series(request: &mut Request, table: &Table) -> Result<(), Wrong> {
    let mut lines = Vec::new();
    for (name, source) in table {
        let path = ["series", name];
        let line = format!("{name}={}", text(source, &path)?);
        lines.push(engine::check_series(&line).map_err(|words| wrong(&path, words))?);
    }
    let given = request.sources.settings.iter_mut().find_map(|setting| match setting {
        Setting::Jmeter(name, value) if name == SERIES => Some(value),
        _ => None,
    });
    let name = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
    match given {
        Some(given) => {
            let names: Vec<String> = given.lines().map(name).collect();
            let more = lines.into_iter().filter(|line| !names.contains(&name(line)));
            more.for_each(|line| *given = format!("{given}\n{line}"));
        }
        None => {
            let setting = Setting::Jmeter(SERIES.into(), lines.join("\n"));
            request.sources.of_project += 1;
            request.sources.settings.insert(0, setting);
        }
    }
    Ok(())
}

/// Adds the properties of a table. Property names contain dots, and TOML reads unquoted names with dots as nested
/// tables.
fn add_properties(table: &Table, within: &str, out: &mut Vec<Setting>) -> Result<(), Wrong> {
    for (name, value) in table {
        let name = format!("{within}{name}");
        match value {
            Value::Table(inner) => add_properties(inner, &format!("{name}."), out)?,
            _ => {
                let path = ["properties", &name];
                let value = text(value, &path)?;
                legible::wrong(&name, &value).map_or(Ok(()), |words| Err(wrong(&path, words)))?;
                out.push(Setting::Jmeter(name, value));
            }
        }
    }
    Ok(())
}

/// Parses the prices of a table. A missing price is zero.
fn prices_of(table: &Table) -> Result<Prices, Wrong> {
    known(table, &PRICES, &["prices"])?;
    let price = |key: &str| {
        let Some(value) = table.get(key) else { return Ok(0.0) };
        let number = match value {
            Value::Float(number) => Some(*number),
            Value::Integer(number) => Some(*number as f64),
            _ => None,
        };
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| {
            wrong(&["prices", key], format!("prices.{key} must be a number from 0 on"))
        })
    };
    let currency = match table.get("currency") {
        None => String::new(),
        Some(Value::String(name)) if name.len() <= 20 && !name.contains(char::is_control) => {
            name.clone()
        }
        Some(_) => {
            let words = "prices.currency must be a short text, such as \"EUR\"".to_owned();
            return Err(wrong(&["prices", "currency"], words));
        }
    };
    Ok(Prices {
        currency,
        core_hour: price("core-hour")?,
        gib_hour: price("gib-hour")?,
        gib_sent: price("gib-sent")?,
        gib_received: price("gib-received")?,
    })
}

fn add_load(request: &mut Request, table: &Table) -> Result<(), Wrong> {
    let keys: Vec<&str> = KEYS.into_iter().chain(["scenario"]).collect();
    known(table, &keys, &["load"])?;
    let own = ask(table.iter().filter(|(key, _)| *key != "scenario"), &["load"])?;
    request.load.all = over(&request.load.all, own);
    request.load.all.check().map_err(|words| wrong(&["load"], words))?;
    let Some(scenarios) = table.get("scenario") else { return Ok(()) };
    for (group, value) in of_table(scenarios, "load.scenario")? {
        let ask = match value {
            Value::String(word) if word == "off" => None,
            Value::Table(values) => {
                let path = ["load", "scenario", group];
                known(values, &KEYS, &path)?;
                Some(ask(values.iter(), &path)?)
            }
            _ => {
                let words =
                    format!("load.scenario.{group} must be \"off\" or a table of users, ramp, …");
                return Err(wrong(&["load", "scenario", group], words));
            }
        };
        if request.load.groups.iter().all(|(name, _)| name != group) {
            request.load.groups.push((group.clone(), ask));
        }
    }
    Ok(())
}

/// Parses a load from a table of `throng.toml`.
fn ask<'a>(
    values: impl Iterator<Item = (&'a String, &'a Value)>,
    path: &[&str],
) -> Result<LoadSettings, Wrong> {
    let mut ask = LoadSettings::default();
    for (key, value) in values {
        let path = [path, &[key.as_str()]].concat();
        let within = path[..path.len() - 1].join(".");
        let set = load::set(&mut ask, key, &text(value, &path)?);
        set.map_err(|words| wrong(&path, format!("{within}.{words}")))?;
    }
    ask.check().map_err(|words| wrong(path, format!("{}: {words}", path.join("."))))?;
    Ok(ask)
}

/// Combines a load of the command line with a load of the file. If two values exclude each other, the value of the
/// command line is used.
fn over(line: &LoadSettings, file: LoadSettings) -> LoadSettings {
    let no_users = line.rate.is_some();
    let no_rate = line.users.is_some();
    let no_length = line.hold.is_some() || line.duration.is_some();
    LoadSettings {
        users: line.users.or(file.users.filter(|_| !no_users)),
        rate: line.rate.or(file.rate.filter(|_| !no_rate)),
        max_users: line.max_users.or(file.max_users.filter(|_| !no_rate)),
        ramp: line.ramp.or(file.ramp),
        hold: line.hold.or(file.hold.filter(|_| !no_length)),
        steps: line.steps.or(file.steps),
        duration: line.duration.or(file.duration.filter(|_| !no_length)),
        iterations: line.iterations.or(file.iterations),
    }
}

fn add_thresholds(request: &mut Request, table: &Table) -> Result<Vec<String>, Wrong> {
    known(table, &THRESHOLDS, &["thresholds"])?;
    let list = |key: &str| -> Result<Vec<Criterion>, Wrong> {
        let path = ["thresholds", key];
        let one = |value: &Value| {
            let parsed = Criterion::parse(&text(value, &path)?);
            parsed.map_err(|words| wrong(&path, format!("thresholds.{key}: {words}")))
        };
        match table.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(texts)) => texts.iter().map(one).collect(),
            Some(value) => Ok(vec![one(value)?]),
        }
    };
    let (fail, abort) = (list("fail")?, list("abort-if")?);
    let mut replaced = join(&mut request.criteria.fail, fail, "--fail");
    replaced.extend(join(&mut request.criteria.abort, abort, "--abort-if"));
    if let Some(file) = table.get("junit") {
        text(file, &["thresholds", "junit"])?;
    }
    Ok(replaced)
}

/// Returns a message for each criterion that was replaced.
fn join(given: &mut Vec<Criterion>, own: Vec<Criterion>, option: &str) -> Vec<String> {
    let is_upper = |op| matches!(op, Op::Less | Op::AtMost);
    let is_replaced = |own: &Criterion| {
        given.iter().any(|one| {
            (&one.figure, &one.label, one.over) == (&own.figure, &own.label, own.over)
                && (one.op == Op::Equal
                    || own.op == Op::Equal
                    || is_upper(one.op) == is_upper(own.op))
        })
    };
    let (replaced, kept): (Vec<_>, Vec<_>) = own.into_iter().partition(is_replaced);
    given.splice(0..0, kept);
    replaced.iter().map(|one| format!("{option} replaces its '{one}'")).collect()
}

fn of_table<'a>(value: &'a Value, name: &str) -> Result<&'a Table, Wrong> {
    let words = || format!("{name} must be a table: [{name}]");
    value.as_table().ok_or_else(|| wrong(&name.split('.').collect::<Vec<_>>(), words()))
}

/// Returns a TOML value in the form in which it would be written on the command line.
fn text(value: &Value, path: &[&str]) -> Result<String, Wrong> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(is) => Ok(is.to_string()),
        _ => Err(wrong(path, format!("{} must be a string or a number", path.join(".")))),
    }
}

/// Returns an error if the table has unknown keys.
fn known(table: &Table, keys: &[&str], path: &[&str]) -> Result<(), Wrong> {
    let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) else { return Ok(()) };
    let within = path.iter().map(|name| [*name, "."].concat()).collect::<String>();
    let hint = match nearest(key, keys.iter().copied()) {
        Some(near) => format!("did you mean {within}{near}?"),
        None => format!("known are {}", keys.join(", ")),
    };
    let words = format!("{within}{key} is not known: {hint}");
    Err(wrong(&[path, &[key.as_str()]].concat(), words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn criteria_of_both_hold_but_for_those_of_the_same_figure() {
        let parse = |text: &str| Criterion::parse(text).expect("a criterion");
        let joined = |line: &str, file: &[&str]| {
            let mut given = vec![parse(line)];
            let words = join(&mut given, file.iter().map(|text| parse(text)).collect(), "--fail");
            (given.len(), words)
        };
        let (all, words) = joined(
            "p95 < 800ms",
            &["p95 < 500ms", "error% < 1", "p95 < 1s for label A", "p99 < 2s"],
        );
        assert_eq!(
            (all, words),
            (4, vec!["--fail replaces its 'response p95 < 500ms'".to_owned()])
        );
        assert_eq!(joined("count < 9", &["count > 3"]), (2, vec![]), "both ends of a range");
        assert_eq!(joined("count = 9", &["count > 12"]).0, 1);
        assert_eq!(joined("errors < 9 over 5s", &["errors < 9"]).0, 2);
    }

    fn added(mut request: Request, text: &str) -> Result<Request, String> {
        let table: Table = text.parse().expect("TOML");
        add(&mut request, &table, Path::new("plans")).map_err(|wrong| wrong.words)?;
        Ok(request)
    }

    #[test]
    fn everything_has_its_place_and_the_command_line_wins() {
        let mut request = Request::default();
        request.load.all.rate = Some(5.0);
        request.load.all.hold = Some(Duration::from_secs(1));
        request.sources.settings.push(Setting::Jmeter("host".into(), "line".into()));
        request.criteria.fail.push(Criterion::parse("count > 1").expect("a criterion"));
        let request = added(
            request,
            r#"
            [load]
            users = 200
            ramp = "30s"
            duration = "5m"
            [load.scenario]
            Guests = "off"
            Buyers = { users = 5, iterations = 2 }
            [thresholds]
            fail = ["p99 < 500ms"]
            abort-if = "error% > 20 over 30s"
            junit = "tests.xml"
            [properties]
            host = "file"
            port = 80
            jmeter.save.saveservice.url = false
            "jmeter.save.saveservice.bytes" = false
            "#,
        )
        .expect("all is known");
        let all = &request.load.all;
        assert_eq!(
            (all.users, all.rate, all.ramp),
            (None, Some(5.0), Some(Duration::from_secs(30)))
        );
        assert_eq!((all.duration, all.hold), (None, Some(Duration::from_secs(1))));
        assert_eq!(request.load.groups.len(), 2);
        let fail: Vec<String> = request.criteria.fail.iter().map(ToString::to_string).collect();
        assert_eq!(fail, ["response p99 < 500ms", "count > 1"]);
        assert_eq!(request.criteria.abort.len(), 1);
        assert_eq!(request.junit, Some("plans/tests.xml".into()));
        let last = request.sources.settings.last();
        assert_eq!(last, Some(&Setting::Jmeter("host".into(), "line".into())));
        assert_eq!(request.sources.settings.len(), 5);
        for name in ["url", "bytes"] {
            let name = format!("jmeter.save.saveservice.{name}");
            let setting = Setting::Jmeter(name, "false".into());
            assert!(request.sources.settings.contains(&setting), "{setting:?}");
        }
    }

    #[test]
    fn the_line_of_a_key_is_found() {
        let text = "[load]\nusers = 1\n[load.scenario]\nA = { rampp = 1 }\n[laod]\n[thresholds]\n'fails' = 1\n[load.scenario.'B c']\nramp = 1\n";
        for (path, line) in [
            ("laod", Some(5)),
            ("load.users", Some(2)),
            ("load.scenario.A.rampp", Some(4)),
            ("thresholds.fails", Some(7)),
            ("load.scenario.B c.ramp", Some(9)),
            ("something", None),
        ] {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            assert_eq!(line_of(text, &path), line, "{path:?}");
        }
    }

    #[test]
    fn unknown_keys_are_errors_with_the_one_that_was_meant() {
        for (text, words) in [
            ("[laod]\nusers = 1", "laod is not known: did you mean load?"),
            ("[load]\nuser = 1", "load.user is not known: did you mean load.users?"),
            ("[load.scenario.A]\nrampp = '1s'", "did you mean load.scenario.A.ramp?"),
            ("[load.scenario]\nA = 5", "must be \"off\" or a table"),
            ("[thresholds]\nfails = 'p99 < 1s'", "did you mean thresholds.fail?"),
            ("[thresholds]\nfail = 'p99 < 1'", "has no unit"),
            ("[load]\nramp = 30", "has no unit"),
            ("load = 1", "load must be a table"),
            ("[load]\nusers = 1\nrps = 2", "set either users or rps"),
            ("[properties]\na = []", "must be a string or a number"),
            ("[properties]\nthrong.stop.unconnected = 'x'", "it must be a whole number"),
            (
                "[thresholds]\nfail = 'checks% > 101'",
                "thresholds.fail: \"checks% > 101\": checks% is 100%",
            ),
        ] {
            let error = added(Request::default(), text).map(|_| ()).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
