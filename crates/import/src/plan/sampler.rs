//! A sampler for a request, with its Header Manager.

use jmx::writer::{NewElement, NewProp};

use super::{Shared, arguments, login_element, same_server};
use crate::request::{Body, Content, Part, Request};
use crate::word::expression;

/// Returns the HTTP Request element with the elements under it.
pub(super) fn element(request: &Request, name: &str, shared: &Shared<'_>) -> NewElement {
    let mut element = NewElement::new("HTTPSamplerProxy", "HttpTestSampleGui", name);
    element.props.extend(address(request, shared));
    let raw = matches!(request.body, Body::Text(_));
    element = element
        .with(NewProp::bool("HTTPSampler.follow_redirects", request.follow_redirects))
        .with(NewProp::string("HTTPSampler.method", expression(&request.method)))
        .with(NewProp::bool("HTTPSampler.use_keepalive", !request.closes))
        .with(NewProp::bool("HTTPSampler.postBodyRaw", raw));
    element.props.extend(body(&request.body));
    element.props.extend(settings(request));
    element.children.extend(headers(request));
    if let Some(login) = request.login.as_ref().filter(|_| shared.login.is_none()) {
        element.children.push(login_element(&request.address, login));
    }
    element
}

/// Returns the properties of the address. A server that the defaults name is left out.
fn address(request: &Request, shared: &Shared<'_>) -> Vec<NewProp> {
    let address = &request.address;
    let mut props = Vec::new();
    if !shared.defaults.is_some_and(|defaults| same_server(defaults, address)) {
        props.push(NewProp::string("HTTPSampler.domain", expression(&address.host)));
        let inherited = shared.defaults.is_some_and(|defaults| defaults.port.is_some());
        let usual = if address.scheme == "https" { 443 } else { 80 };
        // An empty port would be that of the defaults.
        let port = address.port.or(inherited.then_some(usual));
        let port = port.map_or_else(String::new, |port| port.to_string());
        props.push(NewProp::string("HTTPSampler.port", port));
        props.push(NewProp::string("HTTPSampler.protocol", &address.scheme));
    }
    props.push(NewProp::string("HTTPSampler.path", expression(&address.target)));
    props
}

/// Returns the properties of the body.
fn body(body: &Body) -> Vec<NewProp> {
    let list = |members| {
        NewProp::object("HTTPsampler.Arguments", arguments("HTTPArgumentsPanel", members))
    };
    match body {
        Body::None => vec![list(Vec::new())],
        Body::Text(text) => {
            let props = vec![
                NewProp::bool("HTTPArgument.always_encode", false),
                NewProp::string("Argument.value", expression(text)),
                NewProp::string("Argument.metadata", "="),
            ];
            vec![list(vec![NewProp::element("", "HTTPArgument", props)])]
        }
        Body::File(file) => vec![files(vec![file_argument(file, "", "")]), list(Vec::new())],
        Body::Parts(parts) => form(parts, list),
    }
}

/// Returns the properties of a form in parts. If a text has a content type, the form is not browser-compatible, because
/// only then JMeter sends types of texts.
fn form(parts: &[Part], list: impl Fn(Vec<NewProp>) -> NewProp) -> Vec<NewProp> {
    let (mut texts, mut uploads) = (Vec::new(), Vec::new());
    let mut typed = false;
    for part in parts {
        match &part.content {
            Content::File(file) => uploads.push(file_argument(file, &part.name, &part.kind)),
            Content::Text(text) => {
                typed |= !part.kind.is_empty();
                texts.push(field(&part.name, text, &part.kind));
            }
        }
    }
    let mut props = vec![
        NewProp::bool("HTTPSampler.DO_MULTIPART_POST", true),
        NewProp::bool("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", !typed),
    ];
    if !uploads.is_empty() {
        props.push(files(uploads));
    }
    props.push(list(texts));
    props
}

fn field(name: &str, text: &str, kind: &str) -> NewProp {
    let name = expression(name);
    let mut props = vec![
        NewProp::bool("HTTPArgument.always_encode", false),
        NewProp::string("Argument.value", expression(text)),
        NewProp::string("Argument.metadata", "="),
        NewProp::bool("HTTPArgument.use_equals", true),
        NewProp::string("Argument.name", &name),
    ];
    if !kind.is_empty() {
        props.push(NewProp::string("HTTPArgument.content_type", expression(kind)));
    }
    NewProp::element(name, "HTTPArgument", props)
}

fn files(members: Vec<NewProp>) -> NewProp {
    let list = NewProp::collection("HTTPFileArgs.files", members);
    NewProp::element("HTTPsampler.Files", "HTTPFileArgs", vec![list])
}

fn file_argument(path: &str, name: &str, kind: &str) -> NewProp {
    let path = expression(path);
    let props = vec![
        NewProp::string("File.mimetype", expression(kind)),
        NewProp::string("File.path", &path),
        NewProp::string("File.paramname", expression(name)),
    ];
    NewProp::element(path, "HTTPFileArg", props)
}

/// Returns the properties of time limits, proxy and source address.
fn settings(request: &Request) -> Vec<NewProp> {
    let mut props = Vec::new();
    for (name, limit) in [
        ("HTTPSampler.connect_timeout", request.connect_timeout_ms),
        ("HTTPSampler.response_timeout", request.response_timeout_ms),
    ] {
        props.extend(limit.map(|ms| NewProp::string(name, ms.to_string())));
    }
    if let Some(proxy) = &request.proxy {
        for (name, value) in [
            ("HTTPSampler.proxyScheme", "http"),
            ("HTTPSampler.proxyHost", &proxy.host),
            ("HTTPSampler.proxyPort", &proxy.port.to_string()),
            ("HTTPSampler.proxyUser", &proxy.user),
            ("HTTPSampler.proxyPass", &proxy.password),
        ] {
            if !value.is_empty() {
                props.push(NewProp::string(name, expression(value)));
            }
        }
    }
    if let Some(source) = &request.source {
        let is_address = source.parse::<std::net::IpAddr>().is_ok() || source.contains('.');
        props.push(NewProp::string("HTTPSampler.ipSource", expression(source)));
        props.push(NewProp::int("HTTPSampler.ipSourceType", if is_address { 0 } else { 1 }));
    }
    props
}

fn headers(request: &Request) -> Option<NewElement> {
    let header = |(name, value): &(String, String)| {
        let props = vec![
            NewProp::string("Header.name", expression(name)),
            NewProp::string("Header.value", expression(value)),
        ];
        NewProp::element("", "Header", props)
    };
    (!request.headers.is_empty()).then(|| {
        let members = request.headers.iter().map(header).collect();
        NewElement::new("HeaderManager", "HeaderPanel", "HTTP Header Manager")
            .with(NewProp::collection("HeaderManager.headers", members))
    })
}
