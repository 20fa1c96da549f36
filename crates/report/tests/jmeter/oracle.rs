//! Runs the real JMeter on a case, and returns its report in comparable form.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::cases::Case;

/// Returns the JMeter of `JMETER_HOME_5_6_3`, or the one that `tests/parity/get-jmeter` installs; `None` without JMeter
/// or Java.
pub(crate) fn home() -> Option<PathBuf> {
    let made = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/throng/jmeter-5.6.3"));
    let home = std::env::var_os("JMETER_HOME_5_6_3").map(PathBuf::from).or_else(made)?;
    let java = Command::new("java").arg("-version").output().is_ok_and(|ran| ran.status.success());
    (home.join("bin/ApacheJMeter.jar").is_file() && java).then_some(home)
}

/// Returns `statistics.json` and the tables that JMeter creates for a case.
pub(crate) fn answer(home: &Path, case: &Case) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("rows.jtl"), (case.rows)()).expect("the rows");
    let mut jmeter = Command::new("java");
    jmeter
        .args(["-Xmx1g", "-Djava.awt.headless=true", "-jar"])
        .arg(home.join("bin/ApacheJMeter.jar"));
    jmeter.args(["-g", "rows.jtl", "-o", "out", "-j", "log"]).current_dir(folder.path());
    jmeter.args(case.properties().map(|(key, value)| format!("-J{key}={value}")));
    let ran = jmeter.output().expect("JMeter runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}: {said}", case.name);
    let statistics =
        fs::read_to_string(folder.path().join("out/statistics.json")).expect("statistics.json");
    let page = fs::read_to_string(folder.path().join("out/content/js/dashboard.js"))
        .expect("dashboard.js");
    (statistics, tables(&page))
}

/// Extracts the tables from the script of JMeter's page.
fn tables(page: &str) -> Value {
    let table = |name: &str| {
        let (_, rest) =
            page.split_once(&format!("createTable($(\"#{name}\"), ")).expect("the table");
        let (text, _) = rest.split_once(", function(index, item)").expect("its end");
        let table: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
        let data = |row: &Value| row["data"].clone();
        let items = table["items"].as_array().expect("rows").iter().map(data);
        let items: Vec<_> =
            items.filter(|row| row.as_array().is_some_and(|row| !row.is_empty())).collect();
        json!({ "overall": data(&table["overall"]), "items": items })
    };
    let (_, rest) = page.split_once("var data = {").expect("the summary");
    let (summary, _) = rest.split_once('}').expect("its end");
    let summary: Value = serde_json::from_str(&format!("{{{summary}}}")).expect("the summary");
    json!({
        "apdex": table("apdexTable"),
        "errors": table("errorsTable"),
        "top5": table("top5ErrorsBySamplerTable"),
        "requests": summary,
    })
}
