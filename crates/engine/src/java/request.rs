//! A native sampler as scripts have left its object in Java, which takes the place of the plan's for one sample: an HTTP request by its properties as texts, any other as an element.

use plan::compile::GivenSampler;
use plan::http::{Given, GivenArgument, GivenFile};

use super::reader::{Malformed, Reader};

/// The sampler of a sample, as scripts have left it.
#[derive(Debug)]
pub(crate) enum Changed {
    /// It is what the plan says.
    Planned,
    Http(Given),
    Other(GivenSampler),
}

/// Reads what has become of a sampler; `None` if nobody looked.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Changed>, Malformed> {
    Ok(match reader.byte()? {
        0 => None,
        1 => Some(Changed::Http(http(reader)?)),
        2 => Some(Changed::Other(other(reader)?)),
        3 => Some(Changed::Planned),
        _ => return Err(Malformed("there is no such form of a sampler")),
    })
}

fn other(reader: &mut Reader<'_>) -> Result<GivenSampler, Malformed> {
    let xml = reader.text()?.to_owned();
    let headers = reader.maybe(|reader| reader.list(header))?;
    let name = reader.maybe(|reader| Ok(reader.text()?.to_owned()))?;
    Ok(GivenSampler { xml, headers, name, lasting: reader.flag()? })
}

fn header(reader: &mut Reader<'_>) -> Result<(String, String), Malformed> {
    Ok((reader.text()?.to_owned(), reader.text()?.to_owned()))
}

fn http(reader: &mut Reader<'_>) -> Result<Given, Malformed> {
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
    let headers = reader.list(header)?;
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
