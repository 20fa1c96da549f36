use super::*;

/// Looks up an option like the options of `throng run`, for tests.
fn own(name: &str) -> Option<bool> {
    [("quiet", false), ("json", false), ("workers", true), ("runs", true)]
        .iter()
        .find(|(own, _)| *own == name)
        .map(|(_, takes)| *takes)
}

/// Returns each parsed option as the string `flag first second`.
fn parsed(line: &[&str]) -> Result<Vec<String>, String> {
    let args: Vec<OsString> = line.iter().map(OsString::from).collect();
    let parsed = parse(&args, &own)?;
    let shown = |given: &Given<'_>| {
        let (first, second) = (given.first.to_string_lossy(), given.second.to_string_lossy());
        format!("{} {first} {second}", given.flag.short)
    };
    Ok(parsed.given.iter().map(shown).collect())
}

fn ok(line: &[&str]) -> Vec<String> {
    parsed(line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
}

#[test]
fn arguments_are_attached_or_next() {
    for line in [
        &["-tplan.jmx"][..],
        &["-t", "plan.jmx"],
        &["-t=plan.jmx"],
        &["--testfile", "plan.jmx"],
        &["--testfile=plan.jmx"],
        &["--testfile=", "plan.jmx"],
    ] {
        assert_eq!(ok(line), ["t plan.jmx "], "{line:?}");
    }
    assert_eq!(ok(&["-t", "-odd.jmx"]), ["t -odd.jmx "], "whatever follows is the argument");
}

#[test]
fn short_options_bundle() {
    assert_eq!(ok(&["-nft", "p.jmx", "-l", "o.jtl"]), ["n  ", "f  ", "t p.jmx ", "l o.jtl "]);
    assert_eq!(ok(&["-nftp.jmx"]), ["n  ", "f  ", "t p.jmx "]);
}

#[test]
fn options_with_two_arguments_take_every_form() {
    for line in [
        &["-Jk=v"][..],
        &["-J", "k=v"],
        &["-Jk", "v"],
        &["-J", "k", "v"],
        &["--jmeterproperty", "k=v"],
        &["--jmeterproperty=k=v"],
    ] {
        assert_eq!(ok(line), ["J k v"], "{line:?}");
    }
    assert_eq!(ok(&["-Jk=a=b"]), ["J k a=b"]);
    assert_eq!(ok(&["-Jk="]), ["J k "]);
    assert_eq!(ok(&["-Jk"]), ["J k "], "at the end");
    assert_eq!(ok(&["-Jk", "-n"]), ["J k ", "n  "], "before an option");
    assert_eq!(ok(&["-LDEBUG", "-Ljmeter.util=INFO"]), ["L DEBUG ", "L jmeter.util INFO"]);
}

#[test]
fn what_is_malformed_is_refused() {
    for (line, message) in [
        (&["-t"][..], "Missing argument to option -t"),
        (&["--testfile"], "Missing argument to option --testfile"),
        (&["-J"], "Missing argument to option -J"),
        (&["-J=v"], "Unable to parse first argument for option -J"),
        (&["-"], "Malformed option -"),
        (&["-nZ"], "Unknown option -Z"),
        (&["--nope=1"], "Unknown option --nope"),
        (&["--workers"], "Missing argument to option --workers"),
        (&["-n", "plan.jmx"], "Unknown arg: plan.jmx"),
        (&["--", "plan.jmx"], "Unknown arg: plan.jmx"),
        (&["-n", "-n"], "Duplicate options for -n/--nongui found."),
        (&["-ta", "-tb"], "Duplicate options for -t/--testfile found."),
        (&["-g", "a", "-l", "b"], "Incompatible options -l/--logfile and -g/--reportonly found."),
        (&["-r"], "-r and -R and -X are only valid in non-GUI mode"),
    ] {
        assert_eq!(parsed(line), Err(message.to_string()), "{line:?}");
    }
    assert_eq!(ok(&["-qa", "-qb", "-Sa", "-Sb"]).len(), 4, "these repeat");
}

#[test]
fn options_that_only_throng_has_are_kept_as_they_are() {
    let line = ["-n", "--quiet", "-tp.jmx", "--workers", "4", "--runs=out", "--json", "-Ja=1"];
    let args = line.map(OsString::from);
    let parsed = parse(&args, &own).expect("a line");
    assert_eq!(parsed.own, ["--quiet", "--workers", "4", "--runs=out", "--json"]);
    assert_eq!(parsed.given.len(), 3);
}

#[test]
fn names_of_files_are_bytes() {
    let name = OsStr::from_bytes(b"pl\xe4ne.jmx");
    let args = ["-n".into(), "-t".into(), name.to_owned(), OsStr::from_bytes(b"-l\xff").to_owned()];
    let parsed = parse(&args, &own).expect("a line");
    assert_eq!(parsed.given[1].first, name);
    assert_eq!(parsed.given[2].first.as_bytes(), b"\xff");
}
