//! Credentials for requests of Java's own client, added as in JMeter: always `Basic`, before the server asks, with
//! name and password in UTF-8 and without the domain. Authentication challenges in responses are ignored.

use base64::Engine as _;
use plan::http::Request;
use plan::plan::SamplerId;

use crate::context::Context;
use crate::http::entries::names_of;
use crate::http::lines::value_of;
use crate::ids::UserId;

/// Adds the credentials of an Authorization Manager to an assembled request.
pub(crate) fn add_basic(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    manager: u32,
    request: &Request,
    out: &mut Vec<u8>,
) {
    // A client that follows redirects itself keeps the `Authorization` line of its first request.
    let extra = cx.users[index].extra.as_ref();
    let chain = extra.and_then(|extra| extra.redirect.as_ref()).filter(|chain| chain.java);
    let names = match chain {
        Some(chain) => {
            let mut first = Request::default();
            first.secure = chain.first_url.starts_with("https");
            first.url.push_str(&chain.first_url);
            names_of(&first, true)
        }
        None => names_of(request, true),
    };
    let entries = &cx.plan.auth_managers[manager as usize].entries;
    let entry = entries.iter().find(|entry| {
        let prefix = cx.text_of(index, id, &entry.url);
        names.iter().any(|name| name.starts_with(&prefix))
    });
    let Some(entry) = entry else { return };
    let user = cx.text_of(index, id, &entry.user);
    let password = cx.text_of(index, id, &entry.password);
    let secret = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    let head = out.len() - request.body.len();
    let mut from = 0;
    let mut own = None;
    for line in out[..head].split_inclusive(|byte| *byte == b'\n') {
        if value_of(line.trim_ascii_end(), b"authorization").is_some() {
            own = Some(from..from + line.len());
        }
        from += line.len();
    }
    if let Some(own) = own {
        // The header name keeps the plan's spelling.
        let name = String::from_utf8_lossy(&out[own.start..own.start + 13]).into_owned();
        out.splice(own, format!("{name}: Basic {secret}\r\n").into_bytes());
        return;
    }
    let behind = &request.headers[request.own_end..];
    let first = behind.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let at = memchr::memmem::rfind(&out[..head], first).unwrap_or(head - 2);
    out.splice(at..at, format!("Authorization: Basic {secret}\r\n").into_bytes());
}

/// Appends the `Authorization` line of an Authorization Manager to the headers that the result shows, as JMeter
/// does. Java hides this line if the plan itself sets it.
pub(crate) fn show(request: &Request, sent: &[u8], out: &mut String) {
    let lines = sent.split(|byte| *byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    let own = |value: &[u8]| {
        let mut lines = request.headers.split(|byte| *byte == b'\n');
        lines.any(|line| value_of(line, b"authorization") == Some(value))
    };
    for value in
        lines.filter_map(|line| value_of(line, b"authorization")).filter(|value| !own(value))
    {
        out.push_str("Authorization: ");
        out.push_str(&String::from_utf8_lossy(value));
        out.push('\n');
    }
}
