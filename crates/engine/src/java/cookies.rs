//! Cookies in messages: writes a user's cookies for Java, and reads back the cookies that Java has changed.
//!
//! A cookie without an explicit domain is sent only to the host that set it.

use wire::cookie::{Cookie, Jar};

use super::message::{self, CookieFlags};
use super::reader::{Malformed, Reader};
use super::writer::Writer;

/// Writes all cookies of a jar to a message.
pub(crate) fn write(jar: &Jar, out: &mut Writer<'_>) {
    let mut list = out.begin();
    for cookie in jar.iter() {
        list.count += 1;
        let path_given = if cookie.path_given { CookieFlags::PATH_GIVEN } else { 0 };
        let domain_given = if cookie.host_only { 0 } else { CookieFlags::DOMAIN_GIVEN };
        message::Cookie {
            name: &cookie.name,
            value: &cookie.value,
            domain: &cookie.domain,
            path: &cookie.path,
            secure: cookie.secure,
            expires_ms: cookie.expires_ms.unwrap_or(0),
            flags: path_given | domain_given,
            version: cookie.version,
        }
        .write(out);
    }
    out.end(list);
}

/// Reads a cookie from a message.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Cookie, Malformed> {
    let read = message::Cookie::read(reader)?;
    Ok(Cookie {
        name: read.name.to_owned(),
        value: read.value.to_owned(),
        domain: read.domain.to_owned(),
        path: read.path.to_owned(),
        secure: read.secure,
        host_only: read.flags & CookieFlags::DOMAIN_GIVEN == 0,
        path_given: read.flags & CookieFlags::PATH_GIVEN != 0,
        version: read.version,
        expires_ms: (read.expires_ms > 0).then_some(read.expires_ms),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_come_back_as_they_went() {
        let mut jar = Jar::new();
        for (name, host_only, expires_ms) in [("a", true, None), ("b", false, Some(5_000))] {
            jar.add(Cookie {
                name: name.into(),
                value: "v".into(),
                domain: "d".into(),
                path: "/".into(),
                secure: true,
                host_only,
                path_given: host_only,
                version: if host_only { 1 } else { -1 },
                expires_ms,
            });
        }
        let mut message = Vec::new();
        write(&jar, &mut Writer(&mut message));
        let mut reader = Reader::new(&message);
        let again = reader.list(read).expect("well formed");
        reader.end().expect("all read");
        assert_eq!(again, jar.iter().cloned().collect::<Vec<_>>());
    }
}
