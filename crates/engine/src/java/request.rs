//! A native sampler with a Java object that scripts have changed. It replaces the plan's sampler for one sample: an
//! HTTP request by its properties as strings, any other sampler as an XML element.

use plan::compile::ScriptedSampler;
use plan::http::{ScriptedArgument, ScriptedFile, ScriptedRequest};

use super::message::{self, RequestFlags, SamplerForm};
use super::reader::{Malformed, Reader};

/// The sampler of the current sample, with the changes by scripts.
#[derive(Debug)]
pub(crate) enum Changed {
    /// The sampler is unchanged from the plan.
    Planned,
    Http(ScriptedRequest),
    Other(ScriptedSampler),
}

/// Reads the changed sampler from a reply; `None` if no script has used the sampler.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Changed>, Malformed> {
    Ok(match SamplerForm::read(reader)? {
        SamplerForm::Unseen => None,
        SamplerForm::Http => Some(Changed::Http(http(message::Request::read(reader)?))),
        SamplerForm::Element => Some(Changed::Other(other(message::Given::read(reader)?))),
        SamplerForm::Planned => Some(Changed::Planned),
    })
}

fn other(read: message::Given<'_>) -> ScriptedSampler {
    ScriptedSampler {
        xml: read.xml.to_owned(),
        headers: read.headers.map(|headers| headers.iter().map(header).collect()),
        name: read.name.map(str::to_owned),
        lasting: read.lasting,
    }
}

fn header(read: &message::Header<'_>) -> (String, String) {
    (read.name.to_owned(), read.value.to_owned())
}

fn argument(read: &message::Argument<'_>) -> ScriptedArgument {
    ScriptedArgument {
        name: read.name.to_owned(),
        value: read.value.to_owned(),
        encode: read.encode,
        equals: read.equals,
        content_type: read.content_type.to_owned(),
    }
}

fn file(read: &message::SentFile<'_>) -> ScriptedFile {
    ScriptedFile {
        path: read.path.to_owned(),
        name: read.name.to_owned(),
        mime: read.mime.to_owned(),
    }
}

fn http(read: message::Request<'_>) -> ScriptedRequest {
    let is = |flag: u16| read.flags & flag != 0;
    ScriptedRequest {
        name: read.name.map(str::to_owned),
        lasting: is(RequestFlags::LASTING),
        protocol: read.protocol.to_owned(),
        domain: read.domain.to_owned(),
        port: read.port.to_owned(),
        path: read.path.to_owned(),
        method: read.method.to_owned(),
        encoding: read.encoding.to_owned(),
        connect_timeout: read.connect_timeout.to_owned(),
        response_timeout: read.response_timeout.to_owned(),
        embedded: read.embedded.to_owned(),
        follow_redirects: is(RequestFlags::FOLLOW_REDIRECTS),
        auto_redirects: is(RequestFlags::AUTO_REDIRECTS),
        keep_alive: is(RequestFlags::KEEP_ALIVE),
        multipart: is(RequestFlags::MULTIPART),
        compatible: is(RequestFlags::COMPATIBLE),
        raw: is(RequestFlags::RAW),
        loads_embedded: is(RequestFlags::LOADS_EMBEDDED),
        md5: is(RequestFlags::MD5),
        arguments: read.arguments.iter().map(argument).collect(),
        files: read.files.iter().map(file).collect(),
        headers: read.headers.iter().map(header).collect(),
    }
}
