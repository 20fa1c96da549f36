//! A request with a Java object that scripts have changed: for one sample, the object's strings replace the strings of
//! the plan.
//!
//! Managers, proxy and source address are taken from the plan, because scripts cannot change them. Cost: a copy of
//! the compiled request, only for samples whose request was changed.

use std::sync::Arc;

use super::file::FileArgument;
use super::{Argument, Header, Http};
use crate::template::Template;
use crate::template::flag::Flag;

/// An HTTP Request as changed by scripts. All strings have their expressions evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the plan's elements")]
pub struct ScriptedRequest {
    pub protocol: String,
    pub domain: String,
    pub port: String,
    pub path: String,
    pub method: String,
    pub encoding: String,
    pub connect_timeout: String,
    pub response_timeout: String,
    /// Pattern of the URLs of embedded resources to download.
    pub embedded: String,
    pub follow_redirects: bool,
    pub auto_redirects: bool,
    pub keep_alive: bool,
    pub multipart: bool,
    pub compatible: bool,
    /// True if the body consists of the arguments' values.
    pub raw: bool,
    pub loads_embedded: bool,
    pub md5: bool,
    pub arguments: Vec<ScriptedArgument>,
    pub files: Vec<ScriptedFile>,
    /// Names and values of the headers.
    pub headers: Vec<(String, String)>,
    /// New name of the sampler, if scripts changed it.
    pub name: Option<String>,
    /// True if scripts have changed headers that other samplers also send. The user's later requests then keep this
    /// change.
    pub lasting: bool,
}

/// A parameter of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the plan's elements")]
pub struct ScriptedArgument {
    pub name: String,
    pub value: String,
    pub encode: bool,
    /// True if `=` separates name and value.
    pub equals: bool,
    pub content_type: String,
}

/// A file that the request sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the plan's elements")]
pub struct ScriptedFile {
    pub path: String,
    pub name: String,
    pub mime: String,
}

impl Http {
    /// Returns a copy of this request with the strings of `given`, the request as scripts have changed it.
    pub fn given(&self, given: ScriptedRequest) -> Self {
        let text = |text: String| Template::Fixed(text.into());
        let flag = Flag::Fixed;
        let argument = |argument: ScriptedArgument| Argument {
            name: text(argument.name),
            value: text(argument.value),
            separator: text(if argument.equals { "=" } else { "" }.to_owned()),
            encode: flag(argument.encode),
            content_type: text(argument.content_type),
        };
        let file = |file: ScriptedFile| FileArgument {
            path: text(file.path),
            name: text(file.name),
            mime: text(file.mime),
        };
        let header =
            |(name, value)| Header { name: text(name), value: text(value), inherited: false };
        Self {
            cookies: self.cookies,
            cookie_handler_missing: self.cookie_handler_missing,
            cache: self.cache,
            auth: self.auth,
            dns: self.dns,
            gateway: self.gateway,
            method: text(given.method),
            protocol: text(given.protocol),
            domain: text(given.domain),
            port: text(given.port),
            path: text(given.path),
            encoding: text(given.encoding),
            arguments: given.arguments.into_iter().map(argument).collect(),
            raw: flag(given.raw),
            changes: Arc::clone(&self.changes),
            files: given.files.into_iter().map(file).collect(),
            multipart: flag(given.multipart),
            compatible: flag(given.compatible),
            headers: given.headers.into_iter().map(header).collect(),
            connect_timeout: text(given.connect_timeout),
            response_timeout: text(given.response_timeout),
            follow_redirects: flag(given.follow_redirects),
            auto_redirects: flag(given.auto_redirects),
            keep_alive: flag(given.keep_alive),
            source: self.source.clone(),
            proxy: self.proxy.clone(),
            md5: given.md5,
            // The script decides whether embedded resources are downloaded; the plan defines how.
            resources: None,
            loads_pages: Some(given.loads_embedded),
            user_agent: self.user_agent.clone(),
            form_by_default: self.form_by_default,
            client: self.client.clone(),
            fixed: false,
        }
    }
}
