//! Effective settings of a watched JVM: its maximum heap, collectors, version and options.
//!
//! jmx_exporter and micrometer publish the maximum heap, and the names of memory pools and collectors. They do not
//! publish the JVM's options; these are read from the command line if an exporter publishes the command line in
//! labels. The first value of a setting is kept. Collectors that appear later are added, because micrometer names a
//! collector only after its first pause.

mod command;

use record::{Fact, mask};

use crate::exposition::Sample;
use crate::reader::Figure;
use command::Command;

/// Maximum number of garbage collectors of a JVM; further ones are ignored.
const MOST_COLLECTORS: usize = 8;
/// Maximum length of a JVM's options or version in bytes; longer texts are cut.
const MOST_BYTES: usize = 2000;
/// Maximum number of command lines with misplaced options per host.
const MOST_COMMANDS: usize = 8;

/// The settings of a JVM that its exporter has published so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    heap_max: Option<u64>,
    /// Names of garbage collectors in alphabetical order.
    collectors: Vec<String>,
    version: Option<String>,
    arguments: Option<String>,
    /// Command lines of JVMs with misplaced options, without the options that are placed correctly.
    misplaced: Vec<Command>,
}

impl Settings {
    /// Stores the settings that a sample contains.
    pub(crate) fn add(&mut self, sample: &Sample<'_>) {
        let name = sample.name;
        if let Some(command) = Command::of(sample) {
            self.add_command(command);
        }
        if !name.starts_with("jvm_") && !name.starts_with("java_") {
            return;
        }
        let label = |key: &str| sample.labels.get(key);
        self.add_heap(sample);
        if name.starts_with("jvm_memory_") {
            // Micrometer names the pool in `id`, jmx_exporter in `pool`.
            let pool = label("id").or_else(|| label("pool"));
            if let Some(Kind::Of(collector)) = pool.as_deref().map(of_pool) {
                self.add_collector(collector);
            }
        } else if name.starts_with("jvm_gc_") || is_bean_of_collector(name) {
            let gc = label("gc").or_else(|| label("name"));
            match gc.as_deref().map(of_collector) {
                Some(Kind::Of(collector)) => self.add_collector(collector),
                Some(Kind::Unknown) => self.add_collector(gc.as_deref().unwrap_or_default()),
                Some(Kind::Any) | None => {}
            }
        } else if matches!(name, "jvm_info" | "jvm_runtime_info") && self.version.is_none() {
            self.version = label("version").filter(|version| !version.is_empty()).map(cut);
        }
    }

    fn add_command(&mut self, command: Command) {
        if command.is_own && self.arguments.is_none() && !command.options.is_empty() {
            self.arguments = Some(cut(masked(&command.options)));
        }
        let command = Command { options: Vec::new(), ..command };
        let is_new = !command.misplaced.is_empty() && !self.misplaced.contains(&command);
        if is_new && self.misplaced.len() < MOST_COMMANDS {
            self.misplaced.push(command);
        }
    }

    /// Stores the maximum heap from the metrics of one scrape.
    pub(crate) fn add_figures(&mut self, figures: &[Figure]) {
        let heap = figures.iter().find(|one| one.metric == "heap_max" && one.value > 0.0);
        self.heap_max = self.heap_max.or(heap.map(|one| one.value as u64));
    }

    /// Stores the maximum heap from a sample of an exporter whose samples must not be summed.
    fn add_heap(&mut self, sample: &Sample<'_>) {
        let is_heap = match sample.name {
            // Each of ZGC's two generations may use the whole heap, so their maxima must not be added.
            "jvm_memory_max_bytes" => {
                sample.labels.get("id").is_some_and(|pool| pool.starts_with("ZGC "))
            }
            // The name of jmx_exporter's bean when jmx_exporter runs outside of the watched JVM.
            name => name.eq_ignore_ascii_case("java_lang_Memory_HeapMemoryUsage_max"),
        };
        if is_heap && sample.value > 0.0 && self.heap_max.is_none() {
            self.heap_max = Some(sample.value as u64);
        }
    }

    fn add_collector(&mut self, name: &str) {
        let name = name.replace(|c: char| c.is_control() || c == ',', " ");
        let Err(place) = self.collectors.binary_search(&name) else { return };
        if self.collectors.len() < MOST_COLLECTORS && name.len() <= 100 {
            self.collectors.insert(place, name);
        }
    }

    /// Returns the settings known so far, as facts of the host.
    pub(crate) fn facts(&self, host: &std::sync::Arc<str>) -> Vec<Fact> {
        let collectors = (!self.collectors.is_empty()).then(|| self.collectors.join(", "));
        let misplaced = self.misplaced.iter().filter_map(|one| one.shown(self.heap_max));
        let masked = |line: String| masked(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let misplaced: Vec<String> = misplaced.map(masked).collect();
        let known = [
            (Fact::HEAP_MAX, self.heap_max.map(|bytes| bytes.to_string())),
            (Fact::COLLECTORS, collectors),
            (Fact::JAVA, self.version.clone()),
            (Fact::ARGUMENTS, self.arguments.clone()),
            (Fact::MISPLACED, (!misplaced.is_empty()).then(|| cut(misplaced.join("; ")))),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let fact = |(name, value): (&str, String)| Fact {
            host: host.clone(),
            name: name.into(),
            value: value.into(),
        };
        known.map(fact).collect()
    }
}

/// Garbage collector to which the name of a memory pool or of a collector bean belongs.
enum Kind<'a> {
    /// The name belongs to this garbage collector only.
    Of(&'a str),
    /// Several garbage collectors use the name.
    Any,
    Unknown,
}

/// Returns the garbage collector that uses a memory pool. Source: the pools of HotSpot, JDK 8 to 25
/// (`MemoryPoolMXBean.getName`).
fn of_pool(pool: &str) -> Kind<'static> {
    Kind::Of(match pool {
        _ if pool.starts_with("G1 ") => "G1",
        _ if pool.starts_with("PS ") => "Parallel",
        "ZGC Young Generation" | "ZGC Old Generation" => "generational ZGC",
        "ZHeap" => "ZGC",
        "CMS Old Gen" => "CMS",
        "Eden Space" => "Serial",
        "Epsilon Heap" => "Epsilon",
        _ if pool.starts_with("Shenandoah") => "Shenandoah",
        _ => return Kind::Unknown,
    })
}

/// Returns the garbage collector for a name from `GarbageCollectorMXBean.getName`.
fn of_collector(name: &str) -> Kind<'static> {
    Kind::Of(match name {
        _ if name.starts_with("G1 ") => "G1",
        _ if name.starts_with("PS ") => "Parallel",
        _ if name.starts_with("ZGC M") => "generational ZGC",
        _ if name.starts_with("ZGC") => "ZGC",
        _ if name.starts_with("Shenandoah") => "Shenandoah",
        "Copy" => "Serial",
        "ConcurrentMarkSweep" => "CMS",
        "Epsilon Heap" => "Epsilon",
        // `ParNew` is CMS's young collector; `MarkSweepCompact` is the old collector of Serial and ParNew.
        "ParNew" | "MarkSweepCompact" => return Kind::Any,
        _ => return Kind::Unknown,
    })
}

/// True if jmx_exporter built the metric's name from the bean of a garbage collector. jmx_exporter can be configured to
/// write lower case.
fn is_bean_of_collector(name: &str) -> bool {
    const BEAN: &str = "java_lang_GarbageCollector_";
    name.get(..BEAN.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(BEAN))
}

/// Joins JVM options to a line, in which the values of secret properties and the arguments of agents are masked.
fn masked(options: &[String]) -> String {
    let option = |option: &String| match option.split_once('=') {
        Some((name, _)) if name.starts_with("-javaagent:") || name.starts_with("-agent") => {
            format!("{name}=***")
        }
        Some((name, _)) if mask::is_secret_parameter(name.trim_start_matches("-D")) => {
            format!("{name}=***")
        }
        _ => mask::urls(option).into_owned(),
    };
    options.iter().map(option).collect::<Vec<_>>().join(" ")
}

fn cut(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text[..text.floor_char_boundary(MOST_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exposition::samples;

    fn known(text: &str) -> Vec<(String, String)> {
        let mut settings = Settings::default();
        samples(text).for_each(|sample| settings.add(&sample));
        let facts = settings.facts(&"app".into());
        facts.into_iter().map(|fact| (fact.name.to_string(), fact.value.to_string())).collect()
    }

    fn collectors(text: &str) -> String {
        let known = known(text).into_iter().find(|(name, _)| name == Fact::COLLECTORS);
        known.map_or_else(String::new, |(_, value)| value)
    }

    #[test]
    fn collectors_have_the_names_that_options_have() {
        let pool = |name: &str| format!("jvm_memory_max_bytes{{area=\"heap\",id=\"{name}\"}} 1\n");
        let gc = |name: &str| format!("jvm_gc_collection_seconds_count{{gc=\"{name}\",}} 1\n");
        let pause = |name: &str| {
            format!("jvm_gc_pause_seconds_count{{action=\"end of minor GC\",gc=\"{name}\"}} 1\n")
        };
        for (text, expected) in [
            (gc("G1 Young Generation") + &gc("G1 Old Generation"), "G1"),
            (gc("G1 Concurrent GC") + &pool("G1 Old Gen"), "G1"),
            (gc("PS Scavenge") + &gc("PS MarkSweep"), "Parallel"),
            (pool("PS Old Gen"), "Parallel"),
            (gc("Copy") + &gc("MarkSweepCompact"), "Serial"),
            (pool("Eden Space") + &pool("Tenured Gen"), "Serial"),
            (gc("ZGC Cycles") + &gc("ZGC Pauses") + &pool("ZHeap"), "ZGC"),
            (gc("ZGC Minor Cycles") + &gc("ZGC Major Pauses"), "generational ZGC"),
            (pool("ZGC Young Generation") + &pool("ZGC Old Generation"), "generational ZGC"),
            (gc("Shenandoah Pauses") + &pool("Shenandoah"), "Shenandoah"),
            (gc("ParNew") + &gc("ConcurrentMarkSweep") + &pool("CMS Old Gen"), "CMS"),
            (pause("G1 Young Generation"), "G1"),
            (
                "java_lang_GarbageCollector_CollectionCount{name=\"G1 Old Generation\"} 1\n".into(),
                "G1",
            ),
            (gc("scavenge") + &gc("global"), "global, scavenge"),
            (pool("Metaspace") + &pool("CodeCache"), ""),
            ("my_gc_seconds{gc=\"G1 Old Generation\"} 1\n".into(), ""),
        ] {
            assert_eq!(collectors(&text), expected, "{text}");
        }
    }

    #[test]
    fn version_and_options_are_read_where_they_are_told() {
        let text = "jvm_info{runtime=\"OpenJDK Runtime Environment\",vendor=\"Eclipse\",version=\"17.0.9+9\",} 1\n\
                    target_info{process_command_args=\"[/bin/java, -Xmx1g, -Dstore.password=hidden, -javaagent:a.jar=token=hidden, -jar, a.jar, -XX:+UseG1GC, -javaagent:b.jar=hidden]\"} 1\n";
        let expected = [
            (Fact::JAVA, "17.0.9+9"),
            (Fact::ARGUMENTS, "-Xmx1g -Dstore.password=*** -javaagent:a.jar=***"),
            (Fact::MISPLACED, "-jar a.jar -XX:+UseG1GC -javaagent:b.jar=***"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(known(&text.repeat(2)), expected);
        assert!(known("jvm_info{version=\"\"} 1\njvm_threads_current 3\n").is_empty());
    }

    #[test]
    fn options_of_each_machine_on_a_host_are_kept_and_no_others() {
        let of = |line: &str| {
            format!("namedprocess_namegroup_num_procs{{groupname=\"java {line}\"}} 1\n")
        };
        let text = of("-Xmx2g -jar a.jar -Xms1g") + &of("-jar b.jar") + &of("App -Xss1m");
        let expected = (Fact::MISPLACED.to_owned(), "-jar a.jar -Xms1g; App -Xss1m".to_owned());
        assert_eq!(known(&text), [expected]);
        let many: String = (0..20).map(|n| of(&format!("App{n} -Xss1m"))).collect();
        assert_eq!(known(&many)[0].1.split("; ").count(), MOST_COMMANDS);
    }
}
