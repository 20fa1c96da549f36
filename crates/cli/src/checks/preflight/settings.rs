//! Judges a file of kernel settings line by line: what each line lowers or raises on this machine, and at which
//! place the setting must be made.
//!
//! Supports the format of sysctl.conf: `key = value`, comments after `#` and `;`, and `-` before keys whose failure is
//! ignored. For all known limits, a larger value is better. Other settings are listed without a judgement.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

use serde::Serialize;
use stats::grouped::count;

use super::host::Host;
use super::place::{Place, Surroundings};

/// Limits for which a larger value is better.
pub(super) const LIMITS: [&str; 22] = [
    "net.core.somaxconn",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.rmem_default",
    "net.core.wmem_default",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_max_orphans",
    "net.netfilter.nf_conntrack_max",
    "fs.file-max",
    "fs.nr_open",
    "kernel.threads-max",
    "kernel.pid_max",
    "vm.max_map_count",
    "net.nf_conntrack_max",
    "fs.inotify.max_user_watches",
    "fs.inotify.max_user_instances",
];
/// Limits that the report lists with their place, if the program runs in a container.
pub(super) const PLACED: &[&str] = LIMITS.first_chunk::<19>().expect("so many limits").as_slice();
/// Settings that Linux has removed, with the version that removed them.
const GONE: [(&str, &str); 3] = [
    ("net.ipv4.tcp_tw_recycle", "4.12"),
    ("net.ipv4.ip_conntrack_max", "3.9"),
    ("net.ipv4.netfilter.ip_conntrack_max", "4.9"),
];
/// Largest accepted settings file in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Longest value of a setting on this machine in bytes.
const MOST_VALUE: u64 = 64 << 10;

/// Effect of a line on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    Lowers,
    Raises,
    Same,
    /// The setting is not a known limit, or its current value cannot be read.
    NotJudged,
    /// Applying this line with `sysctl` fails.
    Fails,
}

/// A line of the settings file, or a limit of this machine that was lowered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Setting {
    /// Line number, counted from 1. Absent for limits of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    pub(crate) key: String,
    /// Value in the file, or current value of a limit of this machine.
    pub(crate) value: String,
    /// Current value on this machine, or the kernel's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    pub(crate) effect: Effect,
    pub(crate) place: Place,
    /// Explanation of the line's effect for the user.
    pub(crate) words: String,
}

/// Parsed lines of a settings file: line number, key and value.
#[derive(Debug)]
pub(super) struct File {
    lines: Vec<(usize, String, String)>,
    /// Lines that cannot be parsed: line number, content and reason.
    faults: Vec<(usize, String, String)>,
}

impl File {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let failed = |error: std::io::Error| format!("--sysctl: cannot read {name}: {error}");
        let about = std::fs::metadata(path).map_err(failed)?;
        if !about.is_file() || about.len() > MOST_BYTES {
            return Err(format!("--sysctl: {name} is not a file of settings"));
        }
        let bytes = std::fs::read(path).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        parse(&text).map_err(|words| format!("--sysctl: {name}: {words}"))
    }

    /// Returns the values by file name relative to /proc. If a key occurs several times, the last line is used.
    /// Lines that would fail are left out; `now` returns current values.
    pub(super) fn values(&self, now: &dyn Fn(&str) -> Option<String>) -> HashMap<String, String> {
        let file = |key: &str| format!("sys/{}", key.replace('.', "/"));
        let takes = |key: &str, value: &str| {
            let before = now(key).map(|text| joined(&text));
            effect(key, value, before.as_deref()).0 != Effect::Fails
        };
        let lines = self.lines.iter().filter(|(_, key, value)| takes(key, value));
        lines.map(|(_, key, value)| (file(key), value.clone())).collect()
    }

    /// Judges each line by comparing it with the current value, which `now` returns.
    pub(super) fn judge(
        &self,
        now: &dyn Fn(&str) -> Option<String>,
        surroundings: &Surroundings,
    ) -> Vec<Setting> {
        let judge = |(line, key, value): &(usize, String, String)| {
            let before = now(key).map(|text| joined(&text));
            let (effect, words) = effect(key, value, before.as_deref());
            Setting {
                line: Some(*line),
                key: key.clone(),
                value: value.clone(),
                before,
                effect,
                place: surroundings.place(key),
                words,
            }
        };
        let fault = |(line, text, why): &(usize, String, String)| Setting {
            line: Some(*line),
            key: text.clone(),
            value: String::new(),
            before: None,
            effect: Effect::Fails,
            place: Place::Machine,
            words: format!("{why}: sysctl skips the line"),
        };
        let mut all: Vec<Setting> = self.lines.iter().map(judge).collect();
        all.extend(self.faults.iter().map(fault));
        all.sort_by_key(|setting| setting.line);
        all
    }
}

/// Parses a settings file. Lines that cannot be parsed are collected, because `sysctl -p` skips them. A file without
/// any valid line is an error.
fn parse(text: &str) -> Result<File, String> {
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    let text = text.trim_start_matches('\u{feff}');
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let pair = line.trim_start_matches('-').split_once('=');
        let Some((key, value)) = pair.filter(|(key, _)| !key.trim().is_empty()) else {
            faults.push((at + 1, format!("{line:.100}"), "expected key = value".to_owned()));
            continue;
        };
        let key = key.trim();
        if !is_key(key) {
            let why = "not the name of a setting".to_owned();
            faults.push((at + 1, format!("{key:.100}"), why));
            continue;
        }
        // If a key's first separator is a slash, slashes separate its parts, and dots belong to names.
        let key = key.replace('/', ".");
        lines.push((at + 1, key, joined(value)));
    }
    match faults.first() {
        Some((line, text, why)) if lines.is_empty() => Err(format!("line {line}: {why} ({text})")),
        _ => Ok(File { lines, faults }),
    }
}

/// Returns true if the string can name a file below /proc/sys: non-empty parts of letters, digits, `_`, `-` and
/// `*`.
fn is_key(key: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-*".contains(&b))
    };
    key.split(['.', '/']).all(is_part)
}

/// Reads the value of a setting from its file below `root`.
pub(super) fn value_below(root: &Path, key: &str) -> Option<String> {
    let path = root.join(key.replace('.', "/"));
    std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MOST_VALUE).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns a string with a single blank between its words.
fn joined(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    // A number that is too large is replaced by the largest value.
    let number = |word: &str| {
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| word.parse().unwrap_or(u64::MAX))
    };
    text.split(' ').map(number).collect()
}

/// Formats a value for the user, with thousands separators.
fn shown(text: &str) -> String {
    numbers(text).map_or(text.to_owned(), |all| {
        let all: Vec<_> = all.into_iter().map(count).collect();
        if all.len() == 1 { all[0].clone() } else { text.to_owned() }
    })
}

fn effect(key: &str, value: &str, before: Option<&str>) -> (Effect, String) {
    if let Some((_, since)) = GONE.iter().find(|(gone, _)| *gone == key) {
        return (Effect::Fails, format!("Linux has no such setting since {since}: the line fails"));
    }
    if !LIMITS.contains(&key) {
        return (Effect::NotJudged, "not judged: it is not a known limit".into());
    }
    let Some(new) = numbers(value) else {
        return (Effect::Fails, "the line fails: expected numbers".into());
    };
    let Some(before) = before else {
        return (Effect::NotJudged, "not judged: this machine does not show its own value".into());
    };
    let old = numbers(before).unwrap_or_default();
    if new.len() != old.len() {
        return (Effect::Fails, format!("the line fails: it takes {} numbers", old.len()));
    }
    let is_range = key == "net.ipv4.ip_local_port_range";
    if is_range && !matches!(new[..], [low, high] if 1 <= low && low <= high && high <= 65_535) {
        let words = "the line fails: expected ports from 1 to 65535, the first not above the last";
        return (Effect::Fails, words.into());
    }
    let (new, old) = if is_range { (ports(&new), ports(&old)) } else { (new, old) };
    let pairs = || new.iter().zip(&old);
    let from = shown(before);
    if pairs().any(|(new, old)| new < old) {
        (Effect::Lowers, format!("this lowers it from {from}"))
    } else if pairs().any(|(new, old)| new > old) {
        (Effect::Raises, format!("this raises it from {from}"))
    } else {
        (Effect::Same, "as it is on this machine".into())
    }
}

/// Returns the number of ports in a range, as a list with one element.
fn ports(range: &[u64]) -> Vec<u64> {
    vec![range.last().unwrap_or(&0).saturating_add(1).saturating_sub(range[0])]
}

/// Returns the limits of this machine that are below the kernel's defaults, which means that they were lowered.
pub(super) fn lowered(host: &Host) -> Vec<Setting> {
    let [_, receive, _] = host.tcp_rmem;
    let [_, send, _] = host.tcp_wmem;
    // The kernel's defaults depend on memory: one file per 10 KiB, and one thread per eight stacks of 16 KiB.
    let memory = host.machine_memory;
    let table = [
        ("fs.nr_open", host.nr_open, 1 << 20),
        ("fs.file-max", host.file_max, memory / 10_240),
        ("kernel.threads-max", host.threads_kernel, memory / (8 * 16_384)),
        ("net.core.somaxconn", host.somaxconn, 4096),
        ("net.ipv4.tcp_rmem", receive, 131_072),
        ("net.ipv4.tcp_wmem", send, 16_384),
    ];
    // The kernel computes its defaults from less than the machine's memory, so values down to four fifths of the
    // estimate count as defaults.
    let is_lowered = |(_, now, own): &(&str, u64, u64)| *now > 0 && *now < own / 5 * 4;
    let setting = |(key, now, own): (&str, u64, u64)| Setting {
        line: None,
        key: key.to_owned(),
        value: now.to_string(),
        before: Some(own.to_string()),
        effect: Effect::Lowers,
        place: host.surroundings.place(key),
        words: format!("this lowers it from the kernel's own, about {}", count(own)),
    };
    table.into_iter().filter(is_lowered).map(setting).collect()
}

impl Setting {
    pub(super) fn text(&self) -> String {
        let line = self.line.map_or(String::new(), |line| format!("line {line}: "));
        let place = self.place.words();
        let value = match &*self.value {
            "" => String::new(),
            value => format!(" = {}", shown(value)),
        };
        format!("  {line}{}{value}: {}{place}\n", self.key, self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> (Vec<(Effect, String)>, HashMap<String, String>) {
        let now = |key: &str| {
            let table = [
                ("fs.file-max", "2466186"),
                ("net.core.somaxconn", "4096"),
                ("net.ipv4.tcp_rmem", "4096\t131072\t6291456"),
                ("net.ipv4.ip_local_port_range", "32768\t60999"),
            ];
            table.iter().find(|(one, _)| *one == key).map(|(_, value)| (*value).to_owned())
        };
        let file = parse(text).expect("settings");
        let all = file.judge(&now, &Surroundings::default());
        let all = all.into_iter().map(|one| (one.effect, one.text())).collect();
        (all, file.values(&now))
    }

    #[test]
    fn each_line_is_judged_by_what_the_machine_has() {
        let text = "# a comment\n\nfs.file-max = 65535\n-net/core/somaxconn=65535\n\
            net.ipv4.tcp_rmem = 4096 4096   16777216\nnet.ipv4.ip_local_port_range = 1024 65000\n\
            net.ipv4.tcp_tw_recycle = 1\nnet.ipv4.tcp_fin_timeout = 15\n\
            net.core.somaxconn = 4096\nnet.ipv4.tcp_rmem = 4096\nfs.file-max = many\n\
            net.ipv4.ip_local_port_range = 40000 50000\nkernel.threads-max = 65535\n";
        let (found, values) = judged(text);
        let effects: Vec<_> = found.iter().map(|(effect, _)| *effect).collect();
        use Effect::{Fails, Lowers, NotJudged, Raises, Same};
        assert_eq!(
            effects,
            [
                Lowers, Raises, Lowers, Raises, Fails, NotJudged, Same, Fails, Fails, Lowers,
                NotJudged
            ]
        );
        assert_eq!(found[0].1, "  line 3: fs.file-max = 65 535: this lowers it from 2 466 186\n");
        // A line that `sysctl` rejects changes nothing.
        let value = |key: &str| values.get(&format!("sys/{key}")).map(String::as_str);
        assert_eq!(value("net/core/somaxconn"), Some("4096"));
        assert_eq!(value("net/ipv4/tcp_rmem"), Some("4096 4096 16777216"));
        assert_eq!(value("fs/file-max"), Some("65535"));
        assert_eq!(value("net/ipv4/tcp_tw_recycle"), None);
        assert!(parse("# a\nnonsense").is_err_and(|words| words.starts_with("line 2: ")));
    }

    #[test]
    fn lines_that_are_no_settings_fail_and_the_others_are_judged() {
        let text = "\u{feff}fs.file-max = 65535\nvm.swappiness 10\n\
            sysctl -w net.core.somaxconn=65535\nnet.core.somaxconn = 65535\n";
        let (found, values) = judged(text);
        let effects: Vec<_> = found.iter().map(|(effect, _)| *effect).collect();
        assert_eq!(effects, [Effect::Lowers, Effect::Fails, Effect::Fails, Effect::Raises]);
        let words = "  line 2: vm.swappiness 10: expected key = value: sysctl skips the line\n";
        assert_eq!(found[1].1, words);
        assert_eq!(values.len(), 2);
    }

    #[test]
    fn a_range_of_ports_that_the_kernel_refuses_changes_nothing() {
        for range in ["1024", "60999 32768", "0 9", "1024 65536", "a b", "1 2 3"] {
            let (found, values) = judged(&format!("net.ipv4.ip_local_port_range = {range}"));
            assert_eq!(found[0].0, Effect::Fails, "{range}");
            assert!(values.is_empty(), "{range}");
        }
    }

    #[test]
    fn only_settings_of_the_kernel_are_read() {
        for key in ["/etc/hostname", ".etc.hostname", "a/../b", "-/dev/zero", "a b", "$x", "a..b"] {
            let words = parse(&format!("{key} = 1")).expect_err(key);
            assert!(words.starts_with("line 1: ") && words.contains("not the name of"), "{words}");
        }
        assert!(parse("-net/ipv4/conf/eth0.1/rp_filter=1\nnet.ipv4.conf.*.rp_filter=1").is_ok());
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        std::fs::create_dir(root.join("net")).expect("made");
        std::fs::write(root.join("net/a"), "1\n").expect("written");
        std::fs::write(root.join("net/long"), vec![b'1'; 1 << 20]).expect("written");
        std::os::unix::fs::symlink("/dev/zero", root.join("net/zero")).expect("made");
        assert_eq!(value_below(root, "net.a").as_deref(), Some("1\n"));
        let long = value_below(root, "net.long").map(|text| text.len() as u64);
        assert_eq!(long, Some(MOST_VALUE));
        assert_eq!([value_below(root, "net.zero"), value_below(root, "net")], [None, None]);
    }

    #[test]
    fn limits_below_the_kernels_own_are_named() {
        let host = Host {
            nr_open: 65_535,
            file_max: 65_535,
            threads_kernel: 65_535,
            somaxconn: 4096,
            machine_memory: 24 << 30,
            tcp_rmem: [4096, 4096, 16 << 20],
            ..Host::default()
        };
        let keys = |host: &Host| -> Vec<String> {
            lowered(host).into_iter().map(|setting| setting.key).collect()
        };
        let expected = ["fs.nr_open", "fs.file-max", "kernel.threads-max", "net.ipv4.tcp_rmem"];
        assert_eq!(keys(&host), expected);
        // The kernel's defaults, on large and small machines, and values that could not be read.
        let own = Host {
            nr_open: 1 << 20,
            file_max: 2_466_186,
            threads_kernel: 192_730,
            tcp_rmem: [4096, 131_072, 6 << 20],
            tcp_wmem: [4096, 16_384, 4 << 20],
            ..host
        };
        assert!(keys(&own).is_empty(), "{:?}", keys(&own));
        assert!(
            keys(&Host { machine_memory: 1 << 30, file_max: 95_000, threads_kernel: 7600, ..own })
                .is_empty()
        );
        assert!(keys(&Host::default()).is_empty());
    }
}
