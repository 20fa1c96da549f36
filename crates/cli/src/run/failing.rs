//! Detects failed scripts by the log lines of JMeter's classes. A pre-processor, a listener or a function that throws
//! an exception changes no sample, so nothing else would report the failure.
//!
//! The messages are those of JMeter. They are the same for Java's classes and for scripts that run natively. A log
//! line costs one comparison of its logger name.

/// Prefixes of the simple names of JMeter's classes that run scripts.
const CLASSES: &[&str] =
    &["BSF", "BeanShell", "Groovy", "JSR223", "JavaScript", "Jexl2Function", "Jexl3Function"];

/// Prefixes of the log messages about failed scripts.
const WORDS: &[&str] = &[
    "An error occurred while evaluating",
    "BSF error",
    "Error in BeanShellAssertion",
    "Error processing Javascript",
    "Error running ",
    "Exception executing script",
    "Problem evaluating the script",
    "Problem in ",
];

/// Largest number of characters that are shown of a message about a failed script.
const MOST: usize = 240;

/// Returns the failing script and its exception in one line, if this log line reports a failure.
pub(crate) fn script(logger: &str, text: &str) -> Option<String> {
    let class = logger.rsplit('.').next()?;
    if !CLASSES.iter().any(|start| class.starts_with(start))
        || !WORDS.iter().any(|start| text.starts_with(start))
    {
        return None;
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut words = lines.next()?.to_owned();
    // The next line has the exception, and the lines after it the stack trace.
    if let Some(thrown) = lines.next().filter(|line| !line.starts_with("at ")) {
        words = format!("{}: {thrown}", words.trim_end_matches(':'));
    }
    let words = words.replace("javax.script.ScriptException: ", "");
    if words.chars().count() <= MOST {
        return Some(words);
    }
    let mut short: String = words.chars().take(MOST).collect();
    short.push('…');
    Some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_known_by_class_and_words() {
        let java = "Problem in JSR223 script, sign\njavax.script.ScriptException: groovy.lang.MissingPropertyException: No such property: key\n\tat org.codehaus";
        let pre = "org.apache.jmeter.modifiers.JSR223PreProcessor";
        let expected = "Problem in JSR223 script, sign: groovy.lang.MissingPropertyException: No such property: key";
        assert_eq!(script(pre, java).as_deref(), Some(expected));
        let native = "Problem in JSR223 script, sign: javax.script.ScriptException: java.lang.NullPointerException";
        let expected = "Problem in JSR223 script, sign: java.lang.NullPointerException";
        assert_eq!(script(pre, native).as_deref(), Some(expected));
        assert_eq!(script("org.apache.jmeter.modifiers.JSR223PreProcessor.sign", java), None);
        assert_eq!(script(pre, "Script did not return a value"), None);
        assert_eq!(script("org.apache.jmeter.threads.JMeterThread", java), None);
        let long = script(pre, &format!("Problem in JSR223 script, {}", "ä".repeat(500)));
        assert_eq!(long.map(|words| words.chars().count()), Some(MOST + 1));
    }
}
