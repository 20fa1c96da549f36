//! Cookies in messages: those of a user's Cookie Manager, as Java sees them and as it leaves them.
//!
//! A cookie whose domain was not given goes to exactly one host.

use wire::cookie::{Cookie, Jar};

use super::reader::{Malformed, Reader};
use super::writer::Writer;

const PATH_GIVEN: u8 = 1;
const DOMAIN_GIVEN: u8 = 2;

/// Writes the cookies of a jar.
pub(crate) fn write(jar: &Jar, out: &mut Writer<'_>) {
    let mut list = out.begin();
    for cookie in jar.iter() {
        list.count += 1;
        for text in [&cookie.name, &cookie.value, &cookie.domain, &cookie.path] {
            out.text(text);
        }
        out.flag(cookie.secure);
        out.signed(cookie.expires_ms.unwrap_or(0));
        let path_given = if cookie.path_given { PATH_GIVEN } else { 0 };
        out.byte(path_given | if cookie.host_only { 0 } else { DOMAIN_GIVEN });
        out.int(cookie.version.cast_unsigned());
    }
    out.end(list);
}

/// Reads a cookie.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Cookie, Malformed> {
    let mut text = || reader.text().map(str::to_owned);
    let (name, value, domain, path) = (text()?, text()?, text()?, text()?);
    let (secure, expires, flags, version) =
        (reader.flag()?, reader.signed()?, reader.byte()?, reader.int()?);
    Ok(Cookie {
        name,
        value,
        domain,
        path,
        secure,
        host_only: flags & DOMAIN_GIVEN == 0,
        path_given: flags & PATH_GIVEN != 0,
        version: version.cast_signed(),
        expires_ms: (expires > 0).then_some(expires),
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
