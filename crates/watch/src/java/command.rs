//! Parses command lines of JVMs that exporters publish in labels. Options before the program are in force. Options
//! after `-jar FILE` or the main class are misplaced: Java passes them to the program as arguments.
//!
//! Sources: output of jmx_exporter 0.16.1 and 0.19.0 and of OpenTelemetry's Java agent 2.10.0, and the documentation
//! of process-exporter and windows_exporter. From version 0.20.0, jmx_exporter does not read system properties. No
//! version reads lists of strings such as `InputArguments`.

use crate::exposition::Sample;

/// The command line of a JVM, reduced to its options and the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// JVM options before the program, with their values.
    pub(super) options: Vec<String>,
    /// The program: `-jar app.jar`, a main class, or a module.
    pub(super) program: String,
    /// JVM options among the program's arguments.
    pub(super) misplaced: Vec<String>,
    /// True if the exporter runs in this JVM. Other exporters publish the command lines of all processes on a host.
    pub(super) is_own: bool,
}

impl Command {
    /// Returns the command line of a JVM if the labels of a sample contain one.
    pub(super) fn of(sample: &Sample<'_>) -> Option<Self> {
        const PROPERTY: &str = "sun.java.command";
        let label = |key: &str| sample.labels.get(key);
        match sample.name {
            "target_info" => {
                let line =
                    label("process_command_args").or_else(|| label("process_command_line"))?;
                Some(Self { is_own: true, ..Self::of_line(&line)? })
            }
            "windows_process_info" => Self::of_line(&label("cmdline")?),
            "namedprocess_namegroup_num_procs" => {
                let group = label("groupname")?;
                // process-exporter prints its template `{{.Matches}}` as a Go map, `map[name:value]`.
                let inner = group.strip_prefix("map[").and_then(|rest| rest.strip_suffix(']'));
                let inner = inner.and_then(|pair| pair.split_once(':'));
                Self::of_line(inner.map_or(&*group, |(_, value)| value))
            }
            // In jmx_exporter, a rule of the user defines the names of metric and labels.
            name if sample.value == 1.0 => {
                let is_named =
                    name.contains("sun_java_command") || sample.labels.mentions(PROPERTY);
                let values = sample.labels.iter().filter(|_| is_named);
                let mut commands = values.filter_map(|(_, value)| Self::of_property(&value));
                commands.find(|command| !command.misplaced.is_empty())
            }
            _ => None,
        }
    }

    /// Parses the value of the property `sun.java.command`: a jar file or class, and its arguments.
    fn of_property(value: &str) -> Option<Self> {
        let mut words = value.split_whitespace().map(str::to_owned);
        let program = words.next().filter(|word| !word.starts_with('-'))?;
        let is_jar = [".jar", ".war"].iter().any(|end| program.to_ascii_lowercase().ends_with(end));
        let program = if is_jar { format!("-jar {program}") } else { program };
        let misplaced = words.filter(|word| is_of_machine(word)).collect();
        Some(Self { program, misplaced, is_own: true, ..Self::default() })
    }

    /// Parses a whole command line: a plain string, or a list in Java's format or in JSON.
    fn of_line(line: &str) -> Option<Self> {
        let mut words = words_of(line).into_iter();
        // A path to `java` that contains spaces is split into several words. An option before `java` belongs to
        // another program.
        let first = words.find(|word| is_java(word) || word.starts_with('-'))?;
        if first.starts_with('-') {
            return None;
        }
        let (mut options, mut program) = (Vec::new(), None);
        while let Some(word) = words.next() {
            match &*word {
                "-jar" => program = Some(format!("-jar {}", words.next()?)),
                "-m" | "--module" => program = Some(words.next()?),
                // The content of an argument file is unknown, and may include the program.
                file if file.starts_with('@') => return None,
                name if takes_a_value(name) => {
                    options.push(word);
                    options.push(words.next()?);
                    continue;
                }
                option if option.starts_with('-') => {
                    options.push(word);
                    continue;
                }
                _ => program = Some(word),
            }
            break;
        }
        let misplaced = words.filter(|word| is_of_machine(word) && !options.contains(word));
        let misplaced = misplaced.collect();
        Some(Self { program: program?, misplaced, options, is_own: false })
    }

    /// Returns the program and the misplaced options as on the command line; `None` without such options. Leaves out
    /// an option for the maximum heap size that agrees with `heap_max`, the size in force.
    pub(super) fn shown(&self, heap_max: Option<u64>) -> Option<String> {
        let is_out = |option: &&String| {
            let (Some(heap), Some(asked)) = (heap_max, heap_of(option)) else { return true };
            heap.abs_diff(asked) as f64 > CLOSE * asked as f64
        };
        let options: Vec<&str> = self.misplaced.iter().filter(is_out).map(String::as_str).collect();
        (!options.is_empty()).then(|| format!("{} {}", self.program, options.join(" ")))
    }
}

/// Largest relative difference between `-Xmx` and the published maximum heap at which the two count as equal. Some
/// collectors publish less than `-Xmx`, because they reserve a survivor space.
const CLOSE: f64 = 0.1;

/// Parses the maximum heap size in bytes from an option such as `-Xmx1g`.
fn heap_of(option: &str) -> Option<u64> {
    let text = option.strip_prefix("-Xmx").or_else(|| option.strip_prefix("-XX:MaxHeapSize="))?;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let shift = match text[digits..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// True if a word of a command line is an option that only JVMs have. `-D` does not count: other programs have it, too.
fn is_of_machine(word: &str) -> bool {
    const BEGINS: [&str; 10] = [
        "-XX:",
        "-Xlog:",
        "-Xloggc:",
        "-Xbootclasspath",
        "-Xrunjdwp:",
        "-javaagent:",
        "-agentlib:",
        "-agentpath:",
        "-verbose:gc",
        "-XshowSettings",
    ];
    const WHOLE: [&str; 6] = ["-Xint", "-Xcomp", "-Xmixed", "-Xnoclassgc", "-Xrs", "-Xbatch"];
    let sized = ["-Xmx", "-Xms", "-Xmn", "-Xss"];
    let is_size = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    BEGINS.iter().any(|begin| word.starts_with(begin))
        || WHOLE.contains(&word)
        || sized.iter().any(|begin| word.strip_prefix(begin).is_some_and(is_size))
}

/// True if an option of the `java` launcher takes the next word as its value. Source: `java --help` of Java 21.
fn takes_a_value(option: &str) -> bool {
    const ALL: [&str; 18] = [
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--upgrade-module-path",
        "--add-modules",
        "--limit-modules",
        "--add-exports",
        "--add-opens",
        "--add-reads",
        "--patch-module",
        "--enable-native-access",
        "--illegal-native-access",
        "--finalization",
        "--source",
        "-d",
        "--describe-module",
    ];
    ALL.contains(&option)
}

fn is_java(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    matches!(&*name, "java" | "java.exe" | "javaw" | "javaw.exe")
}

/// Splits a command line into words. The command line is a plain string, or a list in JSON or in Java's format.
fn words_of(line: &str) -> Vec<String> {
    let line = line.trim();
    if let Ok(list) = serde_json::from_str::<Vec<String>>(line) {
        return list;
    }
    if let Some(list) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return list.split(", ").map(str::to_owned).collect();
    }
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exposition::samples;

    fn shown(text: &str) -> Option<String> {
        samples(text).find_map(|sample| Command::of(&sample))?.shown(None)
    }

    #[test]
    fn options_behind_the_program_are_found_as_exporters_show_them() {
        let expected = "-jar app/app.jar -Xmx1g -XX:+UseG1GC";
        let args = "/usr/lib/jvm/java-17-openjdk-amd64/bin/java, -javaagent:a.jar, -Dotel.logs.exporter=none, -Xmx64m, -jar, \
                    app/app.jar, -Xmx1g, -XX:+UseG1GC, --server.port=1";
        let json = format!("[\\\"{}\\\"]", args.replace(", ", "\\\",\\\""));
        let line = args.replace(", ", " ");
        for text in [
            // Output of jmx_exporter 0.16.1 and 0.19.0 with rules for `SystemProperties`.
            "sun_java_command_info{command=\"app/app.jar -Xmx1g -XX:+UseG1GC --server.port=1\",} 1.0".to_owned(),
            "jvm_system_property{key=\"sun.java.command\",value=\"app/app.jar -Xmx1g -XX:+UseG1GC\",} 1.0".into(),
            // Output of OpenTelemetry's Java agent 2.10.0, sent directly and through the OpenTelemetry Collector.
            format!("target_info{{process_command_args=\"[{args}]\",service_name=\"app\"}} 1"),
            format!("target_info{{process_command_args=\"{json}\"}} 1"),
            format!("target_info{{process_command_line=\"{line}\"}} 1"),
            format!("namedprocess_namegroup_num_procs{{groupname=\"{line}\"}} 1"),
            format!("namedprocess_namegroup_num_procs{{groupname=\"map[Line:{line}]\"}} 2"),
            "windows_process_info{process=\"java\",cmdline=\"\\\"C:\\\\Program Files\\\\Java\\\\bin\\\\java.exe\\\" -jar app/app.jar -Xmx1g -XX:+UseG1GC\"} 1".into(),
            "windows_process_info{cmdline=\"C:\\\\Program Files\\\\Java\\\\bin\\\\java.exe -jar app/app.jar -Xmx1g -XX:+UseG1GC\"} 1".into(),
        ] {
            assert_eq!(shown(&text).as_deref(), Some(expected), "{text}");
        }
        let class = "target_info{process_command_line=\"/bin/java -cp a:b --add-opens x=y -Xms1g com.App run -Xss2m\"} 1";
        assert_eq!(shown(class).as_deref(), Some("com.App -Xss2m"));
    }

    #[test]
    fn options_in_force_and_arguments_of_programs_are_not_misplaced() {
        for text in [
            "sun_java_command_info{command=\"app.jar --server.port=1 -Dx=y -Xyz -X -Xmx\"} 1",
            "sun_java_command_info{command=\"app.jar -Xmx1g\"} 0",
            "jvm_system_property{key=\"java.vm.name\",value=\"app.jar -Xmx1g\"} 1",
            "target_info{process_command_line=\"/bin/java -Xmx1g -jar app.jar -Xmx1g\"} 1",
            "target_info{process_command_line=\"/bin/java -cp -Xmx1g App\"} 1",
            "target_info{process_command_line=\"/bin/java @options App -Xmx1g\"} 1",
            "target_info{process_command_line=\"/bin/java -jar\"} 1",
            "target_info{process_command_line=\"[]\"} 1",
            "namedprocess_namegroup_num_procs{groupname=\"java\"} 1",
            "namedprocess_namegroup_num_procs{groupname=\"sh -c exec java -jar a.jar -Xmx1g\"} 1",
            "namedprocess_namegroup_num_procs{groupname=\"/usr/bin/mysqld -jar x -Xmx1g\"} 1",
            "jvm_info{version=\"17\"} 1",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_heap_that_is_in_force_by_another_way_is_not_named() {
        let text = "sun_java_command{command=\"app.jar -Xmx1g -XX:+UseG1GC\"} 1";
        let command = samples(text).find_map(|sample| Command::of(&sample)).expect("a command");
        let of = |heap| command.shown(heap).expect("options");
        assert_eq!(of(Some(1 << 30)), "-jar app.jar -XX:+UseG1GC");
        assert_eq!(of(Some(990 << 20)), "-jar app.jar -XX:+UseG1GC");
        assert_eq!(of(Some(4 << 30)), "-jar app.jar -Xmx1g -XX:+UseG1GC");
    }
}
