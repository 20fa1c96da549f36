//! Lists of URLs: one in each line, with a method before it if it is not GET. `#` begins a comment.

use crate::curl::url::{self, Rules};
use crate::findings::Findings;
use crate::request::Request;
use crate::word;

/// Largest number of requests of a list.
const MOST: usize = 10_000;

/// True if a line is a URL, or a method and a URL.
pub(crate) fn is_line(line: &str) -> bool {
    let (_, url) = parts(line);
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    (lower.starts_with("http://") || lower.starts_with("https://")) && !url.contains([' ', '\t'])
}

/// Splits a line into its method and URL.
fn parts(line: &str) -> (&str, &str) {
    match line.split_once([' ', '\t']) {
        Some((method, url)) if is_method(method) => (method, url.trim()),
        _ => ("GET", line),
    }
}

fn is_method(word: &str) -> bool {
    (3..=20).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns the requests of a list.
pub(crate) fn requests(text: &str, findings: &mut Findings) -> Vec<Request> {
    let lines = text.lines().zip(1..).map(|(line, number)| (number, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    requests_of(lines, findings)
}

/// Returns the requests of lines with their numbers.
pub(crate) fn requests_of<'a>(
    lines: impl Iterator<Item = (u32, &'a str)>,
    findings: &mut Findings,
) -> Vec<Request> {
    let mut requests = Vec::new();
    for (number, line) in lines {
        findings.line = number;
        if requests.len() == MOST {
            let message =
                format!("the list has more than {MOST} URLs: this one and the others are left out");
            findings.warn("many-urls", message);
            break;
        }
        let (method, url) = parts(line);
        let Some(parsed) = url::parse(&word::plain(url), Rules::default(), findings) else {
            continue;
        };
        let mut request = Request {
            line: number,
            method: method.to_owned(),
            address: parsed.address,
            follow_redirects: true,
            ..Request::default()
        };
        if let Some(user) = parsed.user {
            let (user, password) = user.split_once(':').unwrap_or((&user, ""));
            request.login = Some(crate::request::Login {
                user: user.to_owned(),
                password: password.to_owned(),
                digest: false,
            });
        }
        requests.push(request);
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_request() {
        let mut findings = Findings::default();
        let text = "# a\n\nhttp://h/a\n  POST https://h/b?c=d  \nh:81\nhttp://x y/\n";
        let found = requests(text, &mut findings);
        let lines: Vec<_> = found
            .iter()
            .map(|request| {
                format!("{} {} {}", request.line, request.method, request.address.target)
            })
            .collect();
        assert_eq!(lines, ["3 GET /a", "4 POST /b?c=d", "5 GET /"]);
        assert_eq!(findings.list.len(), 1);
        assert_eq!(findings.list[0].line, 6);
    }
}
