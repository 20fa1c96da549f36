//! `throng fleet manifest`: prints the Kubernetes objects of waiting agents.
//!
//! The objects are those of the Helm chart in `deploy/helm`: the program contains the chart's templates and fills
//! in the same values. It contacts no cluster and writes only to standard output.

mod chart;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::args::flags::ManifestFlags;
use crate::exit::Exit;
use crate::print::terminal;

use self::chart::{Chart, Values};

/// Largest file of a key or a certificate in bytes.
const LONGEST: u64 = 64 << 10;

pub(crate) fn run(flags: &ManifestFlags) -> Exit {
    let values = match values(flags) {
        Ok(values) => values,
        Err(words) => return failed(&words, Exit::Usage),
    };
    match Chart::bundled().render(&flags.name, &values) {
        Ok(text) => {
            terminal::out(&text);
            Exit::Ok
        }
        Err(words) => failed(&words, Exit::Bug),
    }
}

fn failed(words: &str, exit: Exit) -> Exit {
    terminal::error(words);
    exit
}

/// Returns the chart's values, overridden by the values of the command line.
fn values(flags: &ManifestFlags) -> Result<Values, String> {
    for (option, name) in [("--name", &flags.name), ("--prefix", &flags.prefix)] {
        if !is_label(name) {
            return Err(format!(
                "{option} {name:?}: lower-case letters, digits and '-' within, at most 40"
            ));
        }
    }
    let mut values = Chart::bundled().values();
    let mut set = |name: &str, value: String| drop(values.scalars.insert(name.to_owned(), value));
    set("agents", flags.agents.to_string());
    set("namePrefix", flags.prefix.clone());
    set("nats.enabled", flags.with_nats.to_string());
    let given = [
        ("image.name", &flags.image),
        ("nats.url", &flags.nats),
        ("pool", &flags.pool),
        ("zone", &flags.zone),
        ("resources.cpu", &flags.cpu),
        ("resources.memory", &flags.memory),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            set(name, value.clone());
        }
    }
    if !flags.allow_target.is_empty() {
        set("allowTarget", flags.allow_target.join(","));
    }
    if let Some(folder) = &flags.keys {
        let agents = (0..flags.agents).map(|index| format!("agent-{}{index}.nk", flags.prefix));
        let names =
            ["ca.pem", "operator.pub", "seal.key"].map(str::to_owned).into_iter().chain(agents);
        values.files = names
            .map(|name| Ok((name.clone(), key(folder, &name)?)))
            .collect::<Result<BTreeMap<_, _>, String>>()?;
    }
    Ok(values)
}

/// Reads a key or certificate file that `throng fleet up` has written.
fn key(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name);
    let fits = |about: fs::Metadata| about.is_file() && about.len() <= LONGEST;
    if fs::metadata(&path).is_ok_and(fits)
        && let Ok(text) = fs::read_to_string(&path)
    {
        return Ok(text);
    }
    Err(format!(
        "{} does not exist or is not a key; create the agents' keys with: throng fleet up --folder {} --agents NAME,NAME…",
        path.display(),
        folder.display()
    ))
}

/// Returns true if Kubernetes accepts this string as part of a name.
fn is_label(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=40).contains(&name.len())
        && name.chars().all(|c| letter(c) || c == '-')
        && name.starts_with(letter)
        && name.ends_with(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_kubernetes_takes() {
        assert!(["throng", "a-1", "k"].into_iter().all(is_label));
        let long = "x".repeat(41);
        for bad in ["", "-a", "a-", "A", "a.b", "a b", "a\nkind: x", long.as_str()] {
            assert!(!is_label(bad), "{bad:?}");
        }
    }
}
