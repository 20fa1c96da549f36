//! Start options of the JVM: Throng's options, then the user's. Of several options of a kind, the last wins.
//!
//! Defaults are those of JMeter's start script: a heap of at most 1 GiB, English, and the packages that plug-ins
//! open. Unlike in that script, the heap starts small, and there is one collector thread, because the JVM shares
//! its processors with the cores.

use std::path::Path;

use crate::settings::Settings;

/// Packages of Java whose internals JMeter and its plug-ins access.
const OPENED: &[&str] = &[
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.text",
    "java.base/java.util",
    "java.base/sun.security.ssl",
    "java.desktop/java.awt",
    "java.desktop/java.awt.font",
    "java.desktop/javax.swing.text.html",
    "java.desktop/sun.awt",
    "java.desktop/sun.awt.X11",
    "java.desktop/sun.awt.shell",
    "java.desktop/sun.swing",
];

/// Options for a large young generation from the start, because garbage collection stops all workers each time that the
/// young generation is full.
const ROOM: &[&str] = &["-Xms80m", "-XX:NewSize=64m"];
/// Heap size in bytes below which [`ROOM`] is not used: such a heap has no space for a large young generation.
const SMALL: usize = 256 << 20;

/// Option that stores the heap in large pages. In a virtual machine, address translation of small pages costs a tenth
/// of a JDBC statement's time. Java warns if the system has no large pages.
const LARGE_PAGES: &str = "-XX:+UseTransparentHugePages";
/// File in which the kernel shows whether programs can have large pages.
const HAS_LARGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Stack size of a thread without `-Xss`, in bytes: Java's own default.
const STACK: usize = 1 << 20;

/// Returns all options of the JVM in order, except the class path.
pub(crate) fn options(
    settings: &Settings,
    home: &Path,
    crash_report: Option<&Path>,
) -> Vec<String> {
    let mut options = vec![
        // Ctrl-C and SIGTERM are handled by the run, not by Java.
        "-Xrs".to_owned(),
        "-XX:-UsePerfData".to_owned(),
        "-Xshare:auto".to_owned(),
        // The smallest initial heap that all collectors accept, whatever the maximum heap.
        "-Xms8m".to_owned(),
        format!("-Xmx{}", settings.heap.as_deref().unwrap_or("1g")),
        "-XX:+UseSerialGC".to_owned(),
        "-Djava.awt.headless=true".to_owned(),
        "-Djava.security.egd=file:/dev/urandom".to_owned(),
        "-Duser.language=en".to_owned(),
        "-Duser.region=EN".to_owned(),
        format!("-Djmeter.home={}", home.display()),
    ];
    if is_roomy(settings) {
        options.extend(ROOM.iter().map(|option| (*option).to_owned()));
        let pages = std::fs::read_to_string(HAS_LARGE_PAGES).unwrap_or_default();
        options.extend(gives_large_pages(&pages).then(|| LARGE_PAGES.to_owned()));
    }
    options.extend(crash_report.map(|file| format!("-XX:ErrorFile={}", file.display())));
    // Some systems lack packages below `sun`; Java then prints a warning that helps no user.
    options.extend(OPENED.iter().map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
    if settings.options.iter().any(|option| is_collector(option)) {
        options.retain(|option| !is_collector(option));
    }
    options.extend(joined(&settings.options));
    // A property file or a flag overrides a system property among the options of Java.
    options.extend(settings.system.iter().cloned());
    options
}

/// Joins each option with its value by `=`. Java's command line takes the values as separate arguments, but a JVM that
/// runs in this process needs one string per option.
fn joined(options: &[String]) -> Vec<String> {
    const WITH_VALUE: &[&str] = &["--add-opens", "--add-exports", "--add-modules", "--add-reads"];
    let mut out: Vec<String> = Vec::new();
    for option in options {
        match out.last_mut() {
            Some(last) if WITH_VALUE.contains(&last.as_str()) => {
                last.push('=');
                last.push_str(option);
            }
            _ => out.push(option.clone()),
        }
    }
    // Only the program `java` accepts `-server` and `-client`, not a JVM in this process.
    out.retain(|option| !["-server", "-client"].contains(&option.as_str()));
    out
}

/// Returns true for an option that selects a garbage collector. Java refuses two such options.
fn is_collector(option: &str) -> bool {
    option.starts_with("-XX:+Use") && option.ends_with("GC")
}

/// Returns true if the maximum heap is at least [`SMALL`] and the user has set no size of a part of the heap.
fn is_roomy(settings: &Settings) -> bool {
    let divides = |option: &String| option.starts_with("-Xm") || option.contains("NewSize");
    let heap = settings.heap.as_deref().map_or(Some(SMALL), size);
    !settings.options.iter().any(divides) && heap.is_some_and(|heap| heap >= SMALL)
}

/// Returns true if the kernel gives large pages to programs that request them. `words` is the kernel's list of modes,
/// with the current one in brackets.
fn gives_large_pages(words: &str) -> bool {
    words.contains("[madvise]") || words.contains("[always]")
}

/// Parses a memory size in Java's notation, such as `512m`, and returns bytes.
fn size(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// Returns the stack size of a worker in bytes: the last `-Xss` wins.
pub(crate) fn stack(settings: &Settings) -> usize {
    let given = |option: &String| {
        let text = option
            .strip_prefix("-Xss")
            .map(str::to_owned)
            .or_else(|| option.strip_prefix("-XX:ThreadStackSize=").map(|kib| format!("{kib}k")))?;
        size(&text)
    };
    settings.options.iter().rev().find_map(given).unwrap_or(STACK).clamp(256 << 10, 1 << 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(options: &[&str]) -> Settings {
        let options = options.iter().map(ToString::to_string).collect();
        Settings { options, ..Settings::default() }
    }

    fn made(settings: &Settings) -> Vec<String> {
        options(settings, Path::new("/jmeter"), Some(Path::new("/run/crash.log")))
    }

    #[test]
    fn what_lives_shortly_has_room_unless_the_heap_is_small_or_the_users() {
        let has_room = |settings: &Settings| made(settings).iter().any(|one| one == "-Xms80m");
        assert!(has_room(&with(&["-Dfoo=1"])));
        assert!(!has_room(&with(&["-Xmx16m"])) && !has_room(&with(&["-XX:MaxNewSize=4m"])));
        let heap = |heap: &str| Settings { heap: Some(heap.into()), ..Settings::default() };
        assert!(has_room(&heap("2g")) && !has_room(&heap("64m")) && !has_room(&heap("much")));
    }

    #[test]
    fn large_pages_are_asked_for_where_they_are_given() {
        assert!(gives_large_pages("always [madvise] never") && gives_large_pages("[always]"));
        assert!(!gives_large_pages("always madvise [never]") && !gives_large_pages(""));
    }

    #[test]
    fn the_users_options_come_last() {
        let settings = Settings { heap: Some("3g".into()), ..with(&["-Xmx2g", "-server"]) };
        let options = made(&settings);
        let at = |wanted: &str| options.iter().position(|option| option == wanted);
        assert!(at("-Xmx3g") < at("-Xmx2g"), "{options:?}");
        assert!(at("-Xrs").is_some() && at("-server").is_none());
        assert!(at("-XX:ErrorFile=/run/crash.log").is_some());
    }

    #[test]
    fn one_collector_is_asked_for() {
        let options = made(&with(&["-XX:+UseG1GC", "-XX:MaxGCPauseMillis=100"]));
        let collectors: Vec<_> = options.iter().filter(|option| is_collector(option)).collect();
        assert_eq!(collectors, ["-XX:+UseG1GC"]);
    }

    #[test]
    fn values_that_stand_apart_are_joined() {
        let options = made(&with(&["--add-opens", "java.base/java.io=ALL-UNNAMED", "-Dx=1"]));
        assert!(options.contains(&"--add-opens=java.base/java.io=ALL-UNNAMED".to_owned()));
        assert!(options.contains(&"-Dx=1".to_owned()));
    }

    #[test]
    fn stacks_are_as_java_writes_them() {
        assert_eq!(stack(&with(&[])), STACK);
        assert_eq!(stack(&with(&["-Xss512k", "-Xss2m"])), 2 << 20);
        assert_eq!(stack(&with(&["-XX:ThreadStackSize=512"])), 512 << 10);
        assert_eq!(stack(&with(&["-Xss1"])), 256 << 10);
        assert_eq!(stack(&with(&["-Xssmuch"])), STACK);
    }
}
