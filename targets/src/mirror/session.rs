//! Cookies and a login: the mirror's session handling.
//!
//! The session cookie is computed from the user name, so the mirror stores no sessions and answers the same after a
//! restart.

use super::reply::Reply;
use super::{Asked, page};
use crate::journal::latin1;
use crate::query::pairs;
use crate::request::Request;

const PASSWORD: &str = "secret";
/// Query parameters of `/cookies/set` that become attributes of every cookie in the answer, with the attributes' names.
const ATTRIBUTES: [(&str, &str); 7] = [
    ("path", "Path"),
    ("domain", "Domain"),
    ("max-age", "Max-Age"),
    ("expires", "Expires"),
    ("samesite", "SameSite"),
    ("secure", "Secure"),
    ("httponly", "HttpOnly"),
];

pub(super) fn set_cookies(asked: &Asked<'_>) -> Reply {
    let mut attributes = String::new();
    for (parameter, name) in ATTRIBUTES {
        match asked.text(parameter) {
            None => {}
            Some("") => attributes.push_str(&format!("; {name}")),
            Some(value) => attributes.push_str(&format!("; {name}={value}")),
        }
    }
    let reply = match asked.text("then") {
        Some(location) => Reply::redirect(302, location),
        None => Reply::text("cookies set\n"),
    };
    asked.query.iter().fold(reply, |reply, (name, value)| match name.as_str() {
        "raw" => reply.header("Set-Cookie", value),
        "then" => reply,
        _ if ATTRIBUTES.iter().any(|(parameter, _)| parameter == name) => reply,
        _ => reply.header("Set-Cookie", &format!("{name}={value}{attributes}")),
    })
}

pub(super) fn show_cookies(request: &Request<'_>) -> Reply {
    let lines: Vec<String> = request
        .lines()
        .map(latin1)
        .filter(|line| line.get(..7).is_some_and(|name| name.eq_ignore_ascii_case("cookie:")))
        .collect();
    Reply::text(&if lines.is_empty() { "no cookies\n".to_owned() } else { lines.join("\n") + "\n" })
}

pub(super) fn login(asked: &Asked<'_>) -> Reply {
    if asked.request.method != b"POST" {
        return Reply::new("text/html; charset=utf-8", page::HTML);
    }
    let form = pairs(&asked.request.body);
    let field = |name: &str| {
        form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str())
    };
    if field("user").is_empty() || field("password") != PASSWORD {
        return Reply::text("wrong user or password\n").with_status(401);
    }
    Reply::redirect(302, "/private")
        .header("Set-Cookie", &format!("session={}; Path=/; HttpOnly", session_of(field("user"))))
}

pub(super) fn logout() -> Reply {
    Reply::redirect(302, "/login")
        .header("Set-Cookie", "session=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
}

pub(super) fn private(request: &Request<'_>) -> Reply {
    let cookies = latin1(request.header("Cookie").unwrap_or_default());
    let session = cookies.split(';').find_map(|pair| pair.trim().strip_prefix("session="));
    let user = session.and_then(|session| session.split('-').next()).unwrap_or_default();
    if user.is_empty() || session != Some(session_of(user).as_str()) {
        return Reply::text("log in first\n").with_status(403);
    }
    Reply::text(&format!("hello {user}\n"))
}

/// Returns the session cookie's value: the user name with a checksum (FNV-1a, 32 bits), so that the mirror recognises
/// made-up values.
fn session_of(user: &str) -> String {
    let user: String = user.chars().filter(char::is_ascii_alphanumeric).collect();
    let sum = user
        .bytes()
        .fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{user}-{sum:08x}")
}
