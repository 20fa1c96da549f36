//! Query strings and bodies that consist of a request's parameters.

use lang::charset::Charset;
use lang::percent;

use super::file::{self, FileArgument};
use super::{Http, Request, Unsendable, header};
use crate::env::Env;

/// Kind of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Multipart,
    /// The body is the content of a file.
    File,
    /// The body is the concatenation of the parameters' values.
    Raw,
    Form,
    /// A form in a request that HttpClient repeats without JMeter, for example after a redirect. If the form is empty,
    /// the request has no body and no header lines about a body.
    Repeated,
}

/// Returns true if HttpClient sends requests with this method with a body, possibly an empty one.
fn may_enclose(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
}

impl Http {
    /// Appends the query string to the path. If the character set is unknown, the values are lost, as in JMeter.
    pub(super) fn write_query(
        &self,
        env: &mut Env<'_>,
        has_query: bool,
        out: &mut Request,
        file: &mut String,
    ) {
        let (mut name, mut value) = (env.core.take(), env.core.take());
        let charset = self.charset(env).ok();
        let mut mark = if has_query { '&' } else { '?' };
        let changed = std::mem::take(&mut out.changed);
        for parameter in self.parameters(&changed) {
            name.clear();
            parameter.name(env, &mut name);
            if name.is_empty() {
                continue;
            }
            file.push(std::mem::replace(&mut mark, '&'));
            let encode = parameter.encode(env);
            if encode {
                percent::form(&name, Charset::Utf8, &mut out.bytes, file);
            } else {
                file.push_str(&name);
            }
            parameter.separator(env, file);
            value.clear();
            parameter.value(&name, env, &mut value);
            match charset {
                Some(charset) if encode => percent::form(&value, charset, &mut out.bytes, file),
                None if encode => {}
                _ => file.push_str(&value),
            }
        }
        out.changed = changed;
        env.core.give(value);
        env.core.give(name);
    }

    /// Returns the kind of body of the request, if it has one.
    pub(super) fn body_of(
        &self,
        env: &mut Env<'_>,
        method: &str,
        first: bool,
        added: bool,
    ) -> Option<Body> {
        let file = self.sends_file(env);
        let file_alone = file && self.arguments.is_empty() && !added;
        // For a GET, JMeter first checks whether there is a body and then determines its kind.
        let get_with_body = first && method == "GET" && (file_alone || self.sends_raw(env, added));
        if !may_enclose(method) && !get_with_body {
            return None;
        }
        let complete =
            |file: &FileArgument, env: &mut Env<'_>| !file.path.parsed(env, str::is_empty);
        let multipart = self.multipart.get(env)
            || (!self.files.is_empty()
                && !file
                && self.files.iter().all(|file| complete(file, env)));
        if multipart {
            Some(Body::Multipart)
        } else if file_alone {
            Some(Body::File)
        } else if get_with_body || self.sends_raw(env, added) {
            Some(Body::Raw)
        } else {
            // HttpClient repeats a DELETE without its form if the form is empty.
            if first {
                return Some(Body::Form);
            }
            (method != "DELETE").then_some(Body::Repeated)
        }
    }

    /// Returns true if the request has exactly one file and the file has no parameter name: the file is the whole body.
    fn sends_file(&self, env: &mut Env<'_>) -> bool {
        let [file] = &self.files[..] else { return false };
        !file.path.parsed(env, str::is_empty) && file.name.parsed(env, str::is_empty)
    }

    /// Writes the body and the header lines about it.
    pub(super) fn write_body(
        &self,
        env: &mut Env<'_>,
        out: &mut Request,
        body: Option<Body>,
        present: header::Present,
    ) -> Result<(), Unsendable> {
        let Some(body) = body else { return Ok(()) };
        let charset = self.charset(env)?;
        let refused = || Unsendable::new("org.apache.http.client.ClientProtocolException", "null");
        if body == Body::Multipart {
            let missing = self.write_multipart(env, charset, out)?;
            if present.transfer_encoding {
                return Err(refused());
            }
            return missing.map_or(Ok(()), Err);
        }
        if matches!(body, Body::Form | Body::Repeated) {
            self.write_form(env, charset, out)?;
            if body == Body::Repeated && out.query_string.is_empty() {
                return Ok(());
            }
        }
        let mut described = present.content_type;
        if !present.content_type_value {
            described |= self.write_content_type(env, body, out);
        }
        let mut missing = None;
        match body {
            Body::Raw => self.write_raw(env, charset, out),
            Body::File => {
                missing = self.write_file(env, out).err();
                described = true;
            }
            Body::Form | Body::Repeated | Body::Multipart => {}
        }
        if body != Body::File {
            charset.encode(&out.query_string, &mut out.body);
        }
        if present.transfer_encoding {
            return Err(refused());
        }
        header::push_length(&mut out.headers, out.body.len());
        if !described {
            let kind = if body == Body::Raw {
                "text/plain; charset="
            } else {
                "application/x-www-form-urlencoded; charset="
            };
            header::push(&mut out.headers, "Content-Type", kind);
            out.headers.truncate(out.headers.len() - 2);
            out.headers.extend_from_slice(charset.name().as_bytes());
            out.headers.extend_from_slice(b"\r\n");
        }
        missing.map_or(Ok(()), Err)
    }

    /// Writes the content type of the request's file, or the default content type of forms. Returns true if a line was
    /// written.
    pub(super) fn write_content_type(
        &self,
        env: &mut Env<'_>,
        body: Body,
        out: &mut Request,
    ) -> bool {
        let mut mime = env.core.take();
        if let Some(file) =
            self.files.first().filter(|_| !matches!(body, Body::Form | Body::Repeated))
        {
            file.mime.eval(env, &mut mime);
        }
        if mime.is_empty() && self.form_by_default {
            mime.push_str("application/x-www-form-urlencoded");
        }
        let any = !mime.is_empty();
        if any {
            header::push(&mut out.headers, "Content-Type", &mime);
        }
        env.core.give(mime);
        any
    }

    fn write_file(&self, env: &mut Env<'_>, out: &mut Request) -> Result<(), Unsendable> {
        out.query_string.push_str(file::NOT_SHOWN);
        let Some(file) = self.files.first() else { return Ok(()) };
        let mut path = env.core.take();
        file.path.eval(env, &mut path);
        let content = file::content(&path, env);
        env.core.give(path);
        out.body.extend_from_slice(&content?);
        Ok(())
    }

    /// True if the body consists of the parameters' values: the plan requests this, or no parameter has a name.
    fn sends_raw(&self, env: &mut Env<'_>, added: bool) -> bool {
        self.raw.get(env)
            || (!added
                && !self.arguments.is_empty()
                && self.arguments.iter().all(|argument| {
                    // JMeter evaluates the name twice: to check whether it is present, and whether it is empty.
                    if argument.name.calls() {
                        argument.name.parsed(env, |_| ());
                    }
                    argument.name.parsed(env, str::is_empty)
                }))
    }

    pub(super) fn write_raw(&self, env: &mut Env<'_>, charset: Charset, out: &mut Request) {
        let changed = std::mem::take(&mut out.changed);
        let (mut name, mut value) = (env.core.take(), env.core.take());
        for parameter in self.parameters(&changed) {
            name.clear();
            parameter.name(env, &mut name);
            if parameter.encode(env) {
                value.clear();
                parameter.value(&name, env, &mut value);
                percent::form(&value, charset, &mut out.bytes, &mut out.query_string);
            } else {
                parameter.value(&name, env, &mut out.query_string);
            }
        }
        env.core.give(value);
        env.core.give(name);
        out.changed = changed;
    }

    fn write_form(
        &self,
        env: &mut Env<'_>,
        charset: Charset,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        let changed = std::mem::take(&mut out.changed);
        let (mut name, mut value) = (env.core.take(), env.core.take());
        let mut result = Ok(());
        for parameter in self.parameters(&changed) {
            if !parameter.has_name(env, &mut name) {
                continue;
            }
            value.clear();
            parameter.value(&name, env, &mut value);
            if !parameter.encode(env) {
                result = decode(&mut name, charset, &mut out.bytes, env)
                    .and_then(|()| decode(&mut value, charset, &mut out.bytes, env));
                if result.is_err() {
                    break;
                }
            }
            if !out.query_string.is_empty() {
                out.query_string.push('&');
            }
            percent::form_bytes(&name, charset, &mut out.bytes, &mut out.query_string);
            out.query_string.push('=');
            percent::form_bytes(&value, charset, &mut out.bytes, &mut out.query_string);
        }
        env.core.give(value);
        env.core.give(name);
        out.changed = changed;
        result
    }
}

/// Decodes a string that is already encoded, because all strings are encoded later.
fn decode(
    text: &mut String,
    charset: Charset,
    bytes: &mut Vec<u8>,
    env: &mut Env<'_>,
) -> Result<(), Unsendable> {
    if !text.contains(['%', '+']) {
        return Ok(());
    }
    let mut decoded = env.core.take();
    let result = percent::decode(text, charset, bytes, &mut decoded);
    std::mem::swap(text, &mut decoded);
    env.core.give(decoded);
    result.map_err(|message| Unsendable::new("java.lang.IllegalArgumentException", &message))
}
