//! Builds a request from JMeter's command line.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::args::flags;
use crate::args::jmeter_line::{self, Given};
use crate::args::request::{Request, check_proxy_scheme};
use crate::inputs::properties::Setting;

/// The action that JMeter's command line requests.
#[derive(Debug)]
pub(crate) enum Asked {
    /// A run of a plan.
    Run(Box<Request>),
    /// JMeter's report of a result file: `-g`.
    Report(PathBuf, Box<Request>),
    Help,
    Version,
}

/// Parses JMeter's command line without the program's name. The error is a message for the user.
pub(crate) fn asked(args: &[OsString]) -> Result<Asked, String> {
    let parsed = jmeter_line::parse(args, &flags::run_option)?;
    let given = &parsed.given;
    // Options that only Throng has are parsed as in `throng run`.
    let mut request = flags::run_options(&parsed.own)?;
    request.listen = true;
    let mut gui = true;
    let mut plan = None;
    let mut report = None;
    for option in given {
        let (first, second) = (option.first.to_string_lossy(), option.second.to_string_lossy());
        match option.flag.short {
            'h' | '?' => return Ok(Asked::Help),
            'v' => return Ok(Asked::Version),
            'n' => gui = false,
            't' => plan = Some(option.first),
            'l' => request.jtl = Some(option.first.into()),
            'f' => request.force = true,
            'j' => {
                let now = jiff::Timestamp::now().as_millisecond();
                let name = option.first.to_str().and_then(|name| dated(name, now));
                request.log = Some(name.map_or_else(|| option.first.into(), PathBuf::from));
            }
            'L' if second.is_empty() => request.levels.push((String::new(), first.into())),
            'L' => request.levels.push((first.into(), second.into())),
            'p' => request.sources.base = Some(option.first.into()),
            'd' => request.sources.home = Some(option.first.into()),
            'q' => request.sources.settings.push(Setting::File(option.first.into())),
            'J' => request.sources.settings.push(Setting::Jmeter(first.into(), second.into())),
            'S' => request.sources.settings.push(Setting::SystemFile(option.first.into())),
            'D' => request.sources.settings.push(Setting::System(first.into(), second.into())),
            proxy @ ('H' | 'P' | 'N' | 'u' | 'a') => request.set_proxy(proxy, &first),
            // The options about remote hosts are handled together below.
            'G' | 'R' | 'r' | 'X' => {}
            'E' => check_proxy_scheme(&first)?,
            'i' => request.log_config = Some(option.first.into()),
            'e' => request.report.at_end = true,
            'o' => request.report.folder = Some(option.first.into()),
            'g' => report = report.or(Some(option.first)),
            _ => return Err(refusal(option)),
        }
    }
    if let Some(file) = report {
        return Ok(Asked::Report(file.into(), Box::new(request)));
    }
    if gui {
        return Err(
            "there is no window to open: add -n to run the plan, or use `throng run PLAN.jmx`"
                .into(),
        );
    }
    jmeter_line::remote::apply(given, &mut request)?;
    match plan {
        None => Err("Non-GUI runs require a test plan: -t PLAN.jmx".into()),
        Some(plan) if plan == "LAST" => Err("-t LAST is not supported: name the plan".into()),
        Some(_) if request.jtl.as_ref().is_some_and(|jtl| jtl.as_os_str() == "LAST") => {
            Err("-l LAST is not supported: name the result file".into())
        }
        Some(plan) => {
            request.plan = plan.into();
            Ok(Asked::Run(Box::new(request)))
        }
    }
}

/// Returns the name of a log file with dates in place of the quoted patterns: `run_'yyyyMMdd'.log`. Returns `None`
/// if a quoted string is not a valid pattern.
fn dated(name: &str, now_ms: i64) -> Option<String> {
    let mut out = String::new();
    let mut quoted = false;
    for piece in name.split('\'') {
        if quoted {
            out.push_str(&stats::jtl::Pattern::new(piece)?.format(now_ms));
        } else {
            out.push_str(piece);
        }
        quoted = !quoted;
    }
    quoted.then_some(out)
}

/// Returns an error message about a refused option, with the option that replaces it.
fn refusal(option: &Given<'_>) -> String {
    let instead = match option.flag.short {
        's' => "hosts of -R and --fleet need no server: ssh reaches them",
        _ => "remove it",
    };
    format!("{} is not supported yet: {instead}", option.shown())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fleet::remote::Way;

    use super::*;

    fn asked(line: &[&str]) -> Result<Asked, String> {
        let args: Vec<OsString> = line.iter().map(Into::into).collect();
        super::asked(&args)
    }

    #[test]
    fn a_line_of_jmeter_becomes_a_request() {
        let line = [
            "-nt", "p.jmx", "-l", "o.jtl", "-f", "-Ja=1", "-qx", "-Ja=2", "-Gz=1", "-LDEBUG",
            "-pbase", "-j", "x.log",
        ];
        let Ok(Asked::Run(request)) = asked(&line) else { panic!("a run") };
        assert_eq!(request.plan, PathBuf::from("p.jmx"));
        assert_eq!(request.jtl, Some("o.jtl".into()));
        assert!(request.force && request.listen && !request.json);
        assert_eq!(request.levels, [(String::new(), "DEBUG".to_string())]);
        assert_eq!(request.sources.base, Some("base".into()));
        let a = |value: &str| Setting::Jmeter("a".into(), value.into());
        assert_eq!(request.sources.settings, [a("1"), Setting::File("x".into()), a("2")]);
    }

    #[test]
    fn every_flag_not_taken_is_refused_by_name_with_what_to_use_instead() {
        for (line, name) in [(&["-s"][..], "-s (--server)"), (&["-Ex"], "-E (--proxyScheme)")] {
            let error = asked(line).map(|_| ()).unwrap_err();
            assert!(
                error.starts_with(name) && error.contains("not supported yet: "),
                "{line:?}: {error}"
            );
        }
    }

    #[test]
    fn remote_hosts_each_run_the_whole_plan() {
        let on_line = |more: &[&str]| asked(&[&["-nt", "p.jmx"][..], more].concat());
        let hosts = |more: &[&str]| -> Vec<String> {
            let Ok(Asked::Run(request)) = on_line(more) else { panic!("a run: {more:?}") };
            match request.fleet {
                Some(Way::Whole(hosts)) => hosts.iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            }
        };
        assert_eq!(hosts(&["-R", "a,me@b:1099", "-X"]), ["a", "me@b:1099"]);
        assert_eq!(hosts(&["-r", "-Jremote_hosts=c, d"]), ["c", "d"]);
        assert_eq!(hosts(&["-r"]), ["127.0.0.1"], "as JMeter has it");
        assert_eq!(hosts(&["-r", "--remotestart=e", "-Jremote_hosts=c"]), ["e"]);
        assert_eq!(hosts(&["-X", "-Ga=1"]), Vec::<String>::new());
        let Ok(Asked::Run(request)) = on_line(&["-Ra", "-Gx=1", "-G", "g.properties"]) else {
            panic!("a run")
        };
        let global =
            [Setting::Jmeter("x".into(), "1".into()), Setting::File("g.properties".into())];
        assert_eq!(request.sources.global, global);
        for (line, words) in [
            (&["-R", "a", "--fleet", "ssh:b"][..], "both name machines"),
            (&["-R", "-n"], "invalid machine"),
            (&["-r", "-Jremote_hosts=,"], "need hosts"),
            (&["-R", "a", "--agents", "2"], "need --fleet nats://"),
        ] {
            let error = on_line(line).map(|_| ()).unwrap_err();
            assert!(error.contains(words), "{line:?}: {error}");
        }
    }

    #[test]
    fn options_of_throng_and_reports_are_taken_on_jmeters_line() {
        let line = ["-nt", "p.jmx", "--quiet", "--runs", "out", "--workers=3", "-e", "-o", "pages"];
        let Ok(Asked::Run(request)) = asked(&line) else { panic!("a run") };
        assert!(request.quiet && request.listen && !request.json);
        assert!(request.report.at_end);
        assert_eq!(request.report.folder, Some("pages".into()));
        assert_eq!((request.runs, request.workers), (PathBuf::from("out"), 3));
        let Ok(Asked::Report(file, request)) = asked(&["-gx.jtl", "-f", "-opages", "-Ja=b"]) else {
            panic!("a report")
        };
        assert!(file == Path::new("x.jtl") && request.force);
        assert_eq!(request.report.folder, Some("pages".into()));
        let error = asked(&["-nt", "p.jmx", "--workers=x"]).map(|_| ()).unwrap_err();
        assert!(error.contains("invalid value 'x' for '--workers <N>'"), "{error}");
    }

    #[test]
    fn dates_in_the_name_of_the_log_are_filled_in() {
        let now = 1_700_000_000_000;
        assert_eq!(dated("plain.log", now).as_deref(), Some("plain.log"));
        assert_eq!(dated("a_'yyyy'-'MM'.log", now).as_deref(), Some("a_2023-11.log"));
        assert_eq!(dated("a_'yyyy.log", now), None);
        assert_eq!(dated("a_'b'.log", now), None);
    }

    #[test]
    fn proxy_flags_set_what_they_set_in_jmeter() {
        let line = ["-nt", "p", "-H", "proxy", "-P8", "-N", "a|*.b", "-u", "me", "-a", "word"];
        let Ok(Asked::Run(request)) = asked(&line) else { panic!("a run") };
        let set = &request.sources.settings;
        for (name, value) in
            [("http.proxyHost", "proxy"), ("https.proxyPort", "8"), ("http.nonProxyHosts", "a|*.b")]
        {
            assert!(set.contains(&Setting::System(name.into(), value.into())), "{name}");
        }
        for (name, value) in [("http.proxyUser", "me"), ("http.proxyPass", "word")] {
            assert!(set.contains(&Setting::Jmeter(name.into(), value.into())), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        for (line, words) in [
            (&["-t", "p.jmx"][..], "add -n"),
            (&["-n"], "-t PLAN.jmx"),
            (&["-n", "-tLAST"], "name the plan"),
        ] {
            assert!(asked(line).map(|_| ()).unwrap_err().contains(words), "{line:?}");
        }
        assert!(matches!(asked(&["-h"]), Ok(Asked::Help)));
        assert!(matches!(asked(&["--version"]), Ok(Asked::Version)));
    }
}
