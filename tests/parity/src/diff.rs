//! A line diff short enough for a test's output. The algorithm is quadratic, which suffices for small golden files.

use std::fmt::Write as _;

/// Returns the differing lines with two lines of context, or `None` if the texts are equal.
pub fn between(expected: &str, got: &str) -> Option<String> {
    if expected == got {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) =
        (expected.split('\n').collect(), got.split('\n').collect());
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut lines: Vec<(char, &str)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j >= b.len() || (i < a.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', a[i]));
            i += 1;
        } else {
            lines.push(('+', b[j]));
            j += 1;
        }
    }
    let mut text = String::new();
    let mut last = None;
    for (n, (mark, line)) in lines.iter().enumerate() {
        let near =
            lines[n.saturating_sub(2)..(n + 3).min(lines.len())].iter().any(|(m, _)| *m != ' ');
        if near {
            if last.is_some_and(|l| l + 1 < n) {
                text.push_str("  …\n");
            }
            let _ = writeln!(text, "{mark} {line}");
            last = Some(n);
        }
    }
    Some(text)
}
