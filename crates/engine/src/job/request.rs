//! A request as pre-processors in Java have left it: its properties as texts, which take the place of the plan's for one sample.

use plan::http::{Given, GivenArgument, GivenFile};

use super::reader::{Malformed, Reader};

/// Reads a request.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Given, Malformed> {
    let mut text = || reader.text().map(str::to_owned);
    let (protocol, domain, port) = (text()?, text()?, text()?);
    let (path, method, encoding) = (text()?, text()?, text()?);
    let (connect_timeout, response_timeout, embedded) = (text()?, text()?, text()?);
    let flags = reader.short()?;
    let is = |bit: u16| flags & 1 << bit != 0;
    let arguments = reader.list(|reader| {
        let (name, value) = (reader.text()?.to_owned(), reader.text()?.to_owned());
        let (encode, equals) = (reader.flag()?, reader.flag()?);
        let content_type = reader.text()?.to_owned();
        Ok(GivenArgument { name, value, encode, equals, content_type })
    })?;
    let files = reader.list(|reader| {
        let (path, name) = (reader.text()?.to_owned(), reader.text()?.to_owned());
        Ok(GivenFile { path, name, mime: reader.text()?.to_owned() })
    })?;
    let headers =
        reader.list(|reader| Ok((reader.text()?.to_owned(), reader.text()?.to_owned())))?;
    let name = reader.maybe(|reader| Ok(reader.text()?.to_owned()))?;
    Ok(Given {
        name,
        lasting: is(8),
        protocol,
        domain,
        port,
        path,
        method,
        encoding,
        connect_timeout,
        response_timeout,
        embedded,
        follow_redirects: is(0),
        auto_redirects: is(1),
        keep_alive: is(2),
        multipart: is(3),
        compatible: is(4),
        raw: is(5),
        loads_embedded: is(6),
        md5: is(7),
        arguments,
        files,
        headers,
    })
}
