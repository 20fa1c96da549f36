//! Compiles the elements in scope to one request.
//!
//! A property that is missing or empty in the sampler is taken from the nearest defaults element that defines it.
//! Parameters of defaults are appended. Header Managers are merged from the inside out: a header of an outer
//! manager is sent unless an inner manager has a header with the same name.

use std::sync::Arc;

use jmx::{ElementId, Kind, Prop, Value};
use lang::links::Parsers;

use super::file::FileArgument;
use super::source::{SourceKind, Spread};
use super::{Argument, Client, Header, Http, Proxy, Resources};
use crate::compile::{Context, scope};
use crate::pattern::Pattern;
use crate::plan::Managers;
use crate::support::Level;
use crate::template::Template;
use crate::template::flag::{self, Flag};

/// Compiles a sampler with the config elements in its scope, nearest first.
pub(crate) fn compile(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
    managers: Managers,
) -> Http {
    let mut chain = vec![id];
    chain.extend(configs.iter().filter(|config| is_defaults(ctx, **config)));
    let chain = Chain(chain);
    let java = ctx.settings.property("throng.http.java_version", "17.0.15").to_string();
    let mut http = Http {
        cookies: managers.cookies,
        cookie_handler_missing: managers.cookie_handler_missing,
        cache: managers.cache,
        auth: managers.auth,
        dns: managers.dns,
        gateway: managers.gateway,
        method: chain.text(ctx, "HTTPSampler.method", "GET"),
        protocol: chain.text(ctx, "HTTPSampler.protocol", ""),
        domain: chain.text(ctx, "HTTPSampler.domain", ""),
        port: chain.text(ctx, "HTTPSampler.port", ""),
        path: chain.text(ctx, "HTTPSampler.path", ""),
        encoding: chain.text(ctx, "HTTPSampler.contentEncoding", ""),
        arguments: arguments(ctx, &chain),
        raw: chain.flag(ctx, "HTTPSampler.postBodyRaw"),
        changes: Arc::default(),
        files: files(ctx, &chain),
        multipart: chain.flag(ctx, "HTTPSampler.DO_MULTIPART_POST"),
        compatible: chain.flag(ctx, "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART"),
        headers: headers(ctx, configs),
        connect_timeout: chain.text(ctx, "HTTPSampler.connect_timeout", ""),
        response_timeout: chain.text(ctx, "HTTPSampler.response_timeout", ""),
        follow_redirects: chain.flag(ctx, "HTTPSampler.follow_redirects"),
        auto_redirects: chain.flag(ctx, "HTTPSampler.auto_redirects"),
        keep_alive: chain.flag(ctx, "HTTPSampler.use_keepalive"),
        source: Spread::compile(ctx, |ctx, name, default| chain.text(ctx, name, default)),
        proxy: proxy(ctx, &chain),
        resources: resources(ctx, &chain),
        loads_pages: None,
        md5: matches!(chain.flag(ctx, "HTTPSampler.md5"), Flag::Fixed(true)),
        user_agent: if ctx.settings.is("httpclient4.default_user_agent_disabled", false) {
            "".into()
        } else {
            format!("Apache-HttpClient/4.5.14 (Java/{java})").into()
        },
        client: Client {
            name: chain.text(ctx, "HTTPSampler.implementation", ""),
            default: ctx.settings.property("jmeter.httpsampler", "HttpClient4").into(),
            java: format!("Java/{java}").into(),
        },
        form_by_default: ctx.settings.is("http.post_add_content_type_if_missing", false),
        fixed: false,
    };
    http.fixed = http.nothing_varies();
    http
}

/// Compiles the proxy that the plan sets, unless its name is certainly blank.
fn proxy(ctx: &mut Context<'_>, chain: &Chain) -> Option<Proxy> {
    let host = chain.text(ctx, "HTTPSampler.proxyHost", "");
    let blank = host.fixed().is_some_and(|host| host.trim().is_empty());
    (!blank).then(|| Proxy {
        host,
        port: chain.text(ctx, "HTTPSampler.proxyPort", ""),
        user: chain.text(ctx, "HTTPSampler.proxyUser", ""),
        password: chain.text(ctx, "HTTPSampler.proxyPass", ""),
    })
}

/// True if the element has default properties for HTTP Requests.
pub(crate) fn is_defaults(ctx: &Context<'_>, id: ElementId) -> bool {
    let gui = ctx.doc.element(id).gui_class.rsplit('.').next().unwrap_or("");
    scope::class(ctx.doc, id) == "ConfigTestElement"
        && matches!(gui, "HttpDefaultsGui" | "UrlConfigGui" | "SimpleConfigGui" | "LoginConfigGui")
}

/// A sampler and the defaults elements in its scope, nearest first.
struct Chain(Vec<ElementId>);

impl Chain {
    /// Returns the property of the nearest element that has a non-empty value for it, and this element.
    fn find<'a>(&self, ctx: &Context<'a>, name: &str) -> Option<(ElementId, &'a Prop)> {
        let mut last = None;
        for id in &self.0 {
            let Some(prop) = ctx.props(*id).get(name) else { continue };
            last = Some((*id, prop));
            if !matches!(&prop.value, Value::Text(Kind::String, text) if text.is_empty()) {
                break;
            }
        }
        last
    }

    fn text(&self, ctx: &mut Context<'_>, name: &str, default: &str) -> Template {
        match self.find(ctx, name) {
            Some((id, prop)) => ctx.text(id, prop.text().unwrap_or("")),
            None => Template::Fixed(default.into()),
        }
    }

    fn pattern(&self, ctx: &mut Context<'_>, name: &str) -> Pattern {
        let found = self.find(ctx, name);
        let source =
            Pattern::compile(found.and_then(|(_, prop)| prop.text()).unwrap_or(""), &mut ctx.text);
        if let Some((id, _)) = found {
            ctx.settle(id);
        }
        source
    }

    fn flag(&self, ctx: &mut Context<'_>, name: &str) -> Flag {
        match self.find(ctx, name) {
            Some((id, prop)) => flag::of_prop(ctx, id, prop),
            None => Flag::Fixed(false),
        }
    }
}

/// Compiles the settings for embedded resources; `None` if none are ever downloaded.
fn resources(ctx: &mut Context<'_>, chain: &Chain) -> Option<Resources> {
    let enabled = chain.flag(ctx, "HTTPSampler.image_parser");
    if matches!(enabled, Flag::Fixed(false)) && !ctx.scripts_load_pages() {
        return None;
    }
    let settings = ctx.settings;
    Some(Resources {
        enabled,
        concurrent: chain.flag(ctx, "HTTPSampler.concurrentDwn"),
        pool: chain.text(ctx, "HTTPSampler.concurrentPool", ""),
        allow: chain.pattern(ctx, "HTTPSampler.embedded_url_re"),
        exclude: chain.pattern(ctx, "HTTPSampler.embedded_url_exclude_re"),
        parsers: Arc::new(Parsers::new(|name, default| settings.property(name, default))),
    })
}

fn arguments(ctx: &mut Context<'_>, chain: &Chain) -> Vec<Argument> {
    let mut found = Vec::new();
    for id in &chain.0 {
        let Some(object) = ctx.props(*id).object("HTTPsampler.Arguments") else { continue };
        for prop in object.props.collection("Arguments.arguments") {
            let Some(argument) = prop.object() else { continue };
            let text = |name: &str| argument.props.str(name).unwrap_or("");
            // An argument of the plain class is always encoded.
            let plain = !argument.class.is_empty() && !argument.class.ends_with("HTTPArgument");
            let encode = match argument.props.get("HTTPArgument.always_encode") {
                _ if plain => Flag::Fixed(true),
                Some(prop) => flag::of_prop(ctx, *id, prop),
                None => Flag::Fixed(false),
            };
            found.push(Argument {
                name: ctx.text(*id, text("Argument.name")),
                value: ctx.text(*id, text("Argument.value")),
                separator: ctx.text(*id, text("Argument.metadata")),
                encode,
                content_type: ctx.text(
                    *id,
                    argument.props.str("HTTPArgument.content_type").unwrap_or("text/plain"),
                ),
            });
        }
    }
    found
}

/// Compiles the files of a sampler and its defaults. Old plans name files outside of this list; Throng ignores
/// them, as JMeter does.
fn files(ctx: &mut Context<'_>, chain: &Chain) -> Vec<FileArgument> {
    let mut found = Vec::new();
    for id in &chain.0 {
        let Some(object) = ctx.props(*id).object("HTTPsampler.Files") else { continue };
        for prop in object.props.collection("HTTPFileArgs.files") {
            let Some(file) = prop.object() else { continue };
            let text = |name: &str| file.props.str(name).unwrap_or("");
            found.push(FileArgument {
                path: ctx.text(*id, text("File.path")),
                name: ctx.text(*id, text("File.paramname")),
                mime: ctx.text(*id, text("File.mimetype")),
            });
        }
    }
    found
}

/// Compiles the headers of the managers in scope, nearest manager first.
pub(crate) fn headers(ctx: &mut Context<'_>, configs: &[ElementId]) -> Vec<Header> {
    let mut found: Vec<Header> = Vec::new();
    let managers = configs.iter().filter(|id| scope::class(ctx.doc, **id) == "HeaderManager");
    for (nth, id) in managers.copied().collect::<Vec<_>>().into_iter().enumerate() {
        // Function calls in a manager share one state for all samplers in its scope.
        let around = ctx.text.enter(id);
        for prop in ctx.props(id).collection("HeaderManager.headers") {
            let Some(header) = prop.object() else { continue };
            let name =
                header.props.str("Header.name").or_else(|| header.props.str("TestElement.name"));
            let name = ctx.text(id, name.unwrap_or(""));
            let value = ctx.text(id, header.props.str("Header.value").unwrap_or(""));
            let inherited = nth > 0;
            let known = |other: &Header| match (other.name.fixed(), name.fixed()) {
                (Some(one), Some(two)) => one.eq_ignore_ascii_case(two),
                _ => false,
            };
            if inherited && found.iter().any(known) {
                continue;
            }
            found.push(Header { name, value, inherited });
        }
        ctx.text.leave(around);
    }
    // If all names are constant, duplicate headers have already been omitted.
    if found.iter().all(|header| header.name.fixed().is_some()) {
        for header in &mut found {
            header.inherited = false;
        }
    }
    found
}

impl Http {
    fn nothing_varies(&self) -> bool {
        let texts = [
            &self.method,
            &self.protocol,
            &self.domain,
            &self.port,
            &self.path,
            &self.encoding,
            &self.connect_timeout,
            &self.response_timeout,
            &self.source.name,
            &self.client.name,
        ];
        let flags = [
            &self.raw,
            &self.multipart,
            &self.compatible,
            &self.follow_redirects,
            &self.auto_redirects,
            &self.keep_alive,
        ];
        let is_fixed = |flag: &Flag| matches!(flag, Flag::Fixed(_));
        // A signed request is not constant, because its signature contains the time.
        self.gateway.is_none()
            && texts.iter().all(|text| text.fixed().is_some())
            && self.protocol.fixed() != Some("file")
            && flags.iter().all(|flag| is_fixed(flag))
            && self.proxy.iter().all(|proxy| {
                let texts = [&proxy.host, &proxy.port, &proxy.user, &proxy.password];
                texts.iter().all(|text| text.fixed().is_some())
            })
            && self.headers.iter().all(|h| h.name.fixed().is_some() && h.value.fixed().is_some())
            && self.arguments.iter().all(|argument| {
                let texts =
                    [&argument.name, &argument.value, &argument.separator, &argument.content_type];
                texts.iter().all(|text| text.fixed().is_some()) && is_fixed(&argument.encode)
            })
            && self.files.iter().all(FileArgument::is_fixed)
    }
}

/// Reports parts of a sampler or its defaults that are not sent as in JMeter.
pub(crate) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let gateway = crate::gateway::is_one(ctx, id);
    if scope::class(ctx.doc, id) == "ConfigTestElement" && !is_defaults(ctx, id) && !gateway {
        return ctx.remark(id, Level::Ignored, "defaults for samplers that do not run natively");
    }
    let props = ctx.props(id);
    let is = |name: &str| props.bool(name).unwrap_or(false);
    let set = |name: &str| props.str(name).is_some_and(|text| !text.is_empty());
    if set("HTTPSampler.FILE_NAME") {
        let message = "the file (HTTPSampler.FILE_NAME) is not sent: JMeter 5.6.3 does not read this property";
        ctx.warn(id, "old-file", message, "add it to the list of files (HTTPsampler.Files)");
    }
    if is("HTTPSampler.image_parser") {
        let settings = ctx.settings;
        for class in Parsers::new(|name, default| settings.property(name, default)).replaced {
            let message = format!("links are found by JMeter's default parser, not by {class}");
            ctx.warn(id, "parser-replaced", message, "for broken pages the links may differ");
        }
    }
    let findings = [
        (
            set("HTTPSampler.proxyHost")
                && props
                    .str("HTTPSampler.proxyScheme")
                    .is_some_and(|scheme| !matches!(scheme, "" | "http")),
            Level::Unsupported,
            "only plain HTTP to the proxy is supported (HTTPSampler.proxyScheme)",
        ),
        (
            set("HTTPSampler.ipSource")
                && props
                    .str("HTTPSampler.ipSourceType")
                    .is_some_and(|kind| kind.parse().ok().and_then(SourceKind::of).is_none()),
            Level::Unsupported,
            "the source address type (HTTPSampler.ipSourceType) must be a number from 0 to 3",
        ),
    ];
    for (found, level, consequence) in findings {
        if found {
            ctx.remark(id, level, consequence);
        }
    }
}
