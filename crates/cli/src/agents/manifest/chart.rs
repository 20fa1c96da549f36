//! Renders the Helm chart. Supports only the constructs that its templates use: values, `quote`, `b64enc`, and
//! conditions and loops on separate lines. A test renders every template and fails if one uses anything else.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The files of the Helm chart.
pub(super) struct Chart {
    values: &'static str,
    templates: [&'static str; 4],
}

/// The values with which a chart is rendered.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// Single values by path, with dots between the parts of the path.
    pub(super) scalars: BTreeMap<String, String>,
    /// Contents of the files in `keyFiles`, by name.
    pub(super) files: BTreeMap<String, String>,
}

/// The names to which a template can refer.
struct Scope<'a> {
    release: &'a str,
    values: &'a Values,
    /// Name and content of the current file in a loop over `keyFiles`.
    file: Option<(&'a str, &'a str)>,
}

impl Chart {
    pub(super) fn bundled() -> Self {
        macro_rules! file {
            ($name:literal) => {
                include_str!(concat!("../../../../../deploy/helm/throng-agents/", $name))
            };
        }
        Self {
            values: file!("values.yaml"),
            templates: [
                file!("templates/keys.yaml"),
                file!("templates/nats.yaml"),
                file!("templates/network.yaml"),
                file!("templates/agents.yaml"),
            ],
        }
    }

    /// Parses the chart's default values.
    pub(super) fn values(&self) -> Values {
        let mut values = Values::default();
        let mut path: Vec<&str> = Vec::new();
        for line in self.values.lines() {
            let text = line.trim();
            let Some((name, value)) = text.split_once(':').filter(|_| !text.starts_with('#'))
            else {
                continue;
            };
            path.truncate((line.len() - line.trim_start().len()) / 2);
            path.push(name);
            match value.trim() {
                "" | "{}" => {}
                value => {
                    let plain = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                    values.scalars.insert(path.join("."), plain.unwrap_or(value).to_owned());
                }
            }
        }
        values
    }

    /// Renders all objects, with `---` between them.
    pub(super) fn render(&self, release: &str, values: &Values) -> Result<String, String> {
        let scope = Scope { release, values, file: None };
        let mut all = String::new();
        for template in self.templates {
            let lines: Vec<&str> = template.lines().collect();
            let mut text = String::new();
            scope.block(&lines, &mut text)?;
            if !text.is_empty() {
                all += "---\n";
                all += &text;
            }
        }
        Ok(all)
    }
}

impl Scope<'_> {
    fn block(&self, lines: &[&str], out: &mut String) -> Result<(), String> {
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            let Some(control) = control(line) else {
                self.line(line, out)?;
                at += 1;
                continue;
            };
            let end = end(&lines[at..]).ok_or_else(|| format!("{line} has no end"))? + at;
            let inside = &lines[at + 1..end];
            if let Some(condition) = control.strip_prefix("if ") {
                if self.holds(condition)? {
                    self.block(inside, out)?;
                }
            } else if control == "range $name, $content := .Values.keyFiles" {
                for (name, content) in &self.values.files {
                    let file = Some((name.as_str(), content.as_str()));
                    Scope { file, ..*self }.block(inside, out)?;
                }
            } else {
                return Err(format!("{line} is not known"));
            }
            at = end + 1;
        }
        Ok(())
    }

    fn holds(&self, condition: &str) -> Result<bool, String> {
        if condition == ".Values.keyFiles" {
            return Ok(!self.values.files.is_empty());
        }
        Ok(!matches!(self.value(condition)?, "" | "false" | "0"))
    }

    fn line(&self, mut line: &str, out: &mut String) -> Result<(), String> {
        while let Some((before, rest)) = line.split_once("{{ ") {
            let (expression, rest) =
                rest.split_once(" }}").ok_or_else(|| format!("{line} has no end"))?;
            out.push_str(before);
            let (name, function) = expression.split_once(" | ").unwrap_or((expression, ""));
            let value = self.value(name)?;
            match function {
                "" => out.push_str(value),
                // Quotes as Go does. A value contains no control characters except those that are handled below.
                "quote" => {
                    let text = value.replace('\\', "\\\\").replace('"', "\\\"");
                    *out += &format!("\"{}\"", text.replace('\n', "\\n").replace('\r', "\\r"));
                }
                "b64enc" => out.push_str(&STANDARD.encode(value)),
                _ => return Err(format!("{expression} is not known")),
            }
            line = rest;
        }
        out.push_str(line);
        out.push('\n');
        Ok(())
    }

    fn value(&self, name: &str) -> Result<&str, String> {
        let found = match (name, self.file) {
            (".Release.Name", _) => Some(self.release),
            ("$name", Some((name, _))) => Some(name),
            ("$content", Some((_, content))) => Some(content),
            _ => name
                .strip_prefix(".Values.")
                .and_then(|path| self.values.scalars.get(path))
                .map(String::as_str),
        };
        found.ok_or_else(|| format!("{name} is not known"))
    }
}

/// Returns the content of a template line that holds a condition, a loop or an `end`.
fn control(line: &str) -> Option<&str> {
    line.trim().strip_prefix("{{- ")?.strip_suffix(" }}")
}

/// Returns the index of the line that ends the block which the first line starts.
fn end(lines: &[&str]) -> Option<usize> {
    let mut depth = 0_u32;
    lines.iter().position(|line| {
        match control(line) {
            Some("end") => depth -= 1,
            Some(_) => depth += 1,
            None => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_has_a_value_for_everything_and_no_object_without_a_kind() {
        let chart = Chart::bundled();
        let mut values = chart.values();
        let plain = chart.render("t", &values).expect("known names");
        assert_eq!(plain.matches("\nkind: ").count(), 2, "{plain}");
        values.scalars.insert("nats.enabled".into(), "true".into());
        values.files.insert("ca.pem".into(), "abc".into());
        let all = chart.render("t", &values).expect("known names");
        let kinds: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
        assert_eq!(kinds, ["Secret", "Service", "Deployment", "NetworkPolicy", "Job"]);
        assert!(all.contains("\n  ca.pem: YWJj\n"), "{all}");
        assert!(!all.contains("{{") && !all.contains("}}"), "{all}");
        assert_eq!(all.matches("\napiVersion: ").count(), 5);
    }

    #[test]
    fn a_value_stays_a_value() {
        let chart = Chart::bundled();
        let mut values = chart.values();
        values.scalars.insert("zone".into(), "a\"\nkind: Pod".into());
        let text = chart.render("t", &values).expect("known names");
        assert!(text.contains(r#"value: "a\"\nkind: Pod""#), "{text}");
        assert!(!text.lines().any(|line| line == "kind: Pod"));
    }

    #[test]
    fn what_the_templates_do_not_use_is_refused() {
        let values = Values::default();
        let scope = Scope { release: "t", values: &values, file: None };
        for bad in [
            "{{ .Values.none }}",
            "{{ .Release.Name | upper }}",
            "{{- with .Values }}",
            "{{ $name }}",
        ] {
            assert!(scope.block(&[bad, "{{- end }}"], &mut String::new()).is_err(), "{bad}");
        }
        assert!(scope.block(&["{{- if .Release.Name }}"], &mut String::new()).is_err());
    }
}
