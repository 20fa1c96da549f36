//! Query strings and bodies made of a request's parameters.

use super::{Http, Request, Unsendable, header, percent};
use crate::charset::Charset;
use crate::env::Env;

/// Whether requests of that method carry a body, even an empty one: all but those that must not.
fn may_enclose(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
}

impl Http {
    /// Appends the query string to the path. A character set that does not exist loses the values, as in JMeter.
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
        for argument in &self.arguments {
            name.clear();
            argument.name.eval(env, &mut name);
            if name.is_empty() {
                continue;
            }
            file.push(std::mem::replace(&mut mark, '&'));
            let encode = argument.encode.get(env);
            if encode {
                percent::form(&name, Charset::Utf8, &mut out.bytes, file);
            } else {
                file.push_str(&name);
            }
            argument.separator.eval(env, file);
            value.clear();
            argument.value.eval(env, &mut value);
            match charset {
                Some(charset) if encode => percent::form(&value, charset, &mut out.bytes, file),
                None if encode => {}
                _ => file.push_str(&value),
            }
        }
        env.core.give(value);
        env.core.give(name);
    }

    /// Writes the body and the header lines that describe it.
    pub(super) fn write_body(
        &self,
        env: &mut Env<'_>,
        out: &mut Request,
        first: bool,
        present: header::Present,
    ) -> Result<(), Unsendable> {
        let raw = self.sends_raw(env);
        let get_with_body = first && raw && out.method == "GET";
        if !may_enclose(&out.method) && !get_with_body {
            return Ok(());
        }
        let charset = self.charset(env)?;
        let by_default = self.form_by_default && !present.content_type_value;
        if by_default {
            header::push(&mut out.headers, "Content-Type", "application/x-www-form-urlencoded");
        }
        if raw {
            self.write_raw(env, charset, out);
        } else {
            self.write_form(env, charset, out)?;
        }
        charset.encode(&out.query_string, &mut out.body);
        if present.transfer_encoding {
            return Err(Unsendable::new("org.apache.http.client.ClientProtocolException", "null"));
        }
        header::push_length(&mut out.headers, out.body.len());
        if !present.content_type && !by_default {
            let kind = if raw {
                "text/plain; charset="
            } else {
                "application/x-www-form-urlencoded; charset="
            };
            header::push(&mut out.headers, "Content-Type", kind);
            out.headers.truncate(out.headers.len() - 2);
            out.headers.extend_from_slice(charset.name().as_bytes());
            out.headers.extend_from_slice(b"\r\n");
        }
        Ok(())
    }

    /// Whether the values of the parameters make up the body: asked for, or none of them has a name.
    fn sends_raw(&self, env: &mut Env<'_>) -> bool {
        self.raw.get(env)
            || (!self.arguments.is_empty()
                && self.arguments.iter().all(|argument| argument.name.parsed(env, str::is_empty)))
    }

    fn write_raw(&self, env: &mut Env<'_>, charset: Charset, out: &mut Request) {
        for argument in &self.arguments {
            if argument.encode.get(env) {
                let mut value = env.core.take();
                argument.value.eval(env, &mut value);
                percent::form(&value, charset, &mut out.bytes, &mut out.query_string);
                env.core.give(value);
            } else {
                argument.value.eval(env, &mut out.query_string);
            }
        }
    }

    fn write_form(
        &self,
        env: &mut Env<'_>,
        charset: Charset,
        out: &mut Request,
    ) -> Result<(), Unsendable> {
        let (mut name, mut value) = (env.core.take(), env.core.take());
        let mut result = Ok(());
        for argument in &self.arguments {
            name.clear();
            argument.name.eval(env, &mut name);
            let undefined = name.trim().starts_with("${") && name.ends_with('}');
            if name.trim().is_empty() || undefined {
                continue;
            }
            value.clear();
            argument.value.eval(env, &mut value);
            if !argument.encode.get(env) {
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
        result
    }
}

/// What is already encoded is decoded first, to be encoded again.
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
