//! Plans as short texts: what each sampler sends.

use std::fmt::Write as _;

use jmx::{Document, Element, Props};

/// Returns the samplers of a plan: request line, header lines, body, and settings that are not the default.
pub(crate) fn shown(text: &str) -> String {
    let (document, findings) = jmx::parse("plan.jmx", text.as_bytes().to_vec()).expect("a plan");
    assert!(findings.is_empty(), "{findings:?}");
    let mut out = String::new();
    let elements: Vec<&Element> = document.ids().map(|id| document.element(id)).collect();
    let defaults = elements.iter().find(|element| element.tag == "ConfigTestElement");
    for element in &elements {
        match element.tag.as_str() {
            "HTTPSamplerProxy" => {
                show(&document, element, defaults.map(|one| &one.props), &mut out);
            }
            "CookieManager" => {
                for cookie in element.props.collection("CookieManager.cookies") {
                    let props = &cookie.object().expect("a cookie").props;
                    let text = |name: &str| props.str(name).unwrap_or_default().to_owned();
                    let (value, domain) = (text("Cookie.value"), text("Cookie.domain"));
                    let _ = writeln!(out, "cookie {}={value} {domain}", cookie.name);
                }
                let _ = writeln!(out, "keeps cookies");
            }
            "DNSCacheManager" => {
                for host in element.props.collection("DNSCacheManager.hosts") {
                    let props = &host.object().expect("a host").props;
                    let address = props.str("StaticHost.Address").unwrap_or_default();
                    let _ = writeln!(out, "host {} is {address}", host.name);
                }
            }
            "AuthManager" => {
                for entry in element.props.collection("AuthManager.auth_list") {
                    let props = &entry.object().expect("an entry").props;
                    let text = |name: &str| props.str(name).unwrap_or_default().to_owned();
                    let _ = writeln!(
                        out,
                        "login {} {}:{} at {}",
                        text("Authorization.mechanism"),
                        text("Authorization.username"),
                        text("Authorization.password"),
                        text("Authorization.url")
                    );
                }
            }
            _ => {}
        }
    }
    out
}

fn show(document: &Document, element: &Element, defaults: Option<&Props>, out: &mut String) {
    let props = &element.props;
    let text = |name: &str| {
        let own = props.str(name).filter(|text| !text.is_empty());
        own.or_else(|| defaults?.str(name)).unwrap_or_default()
    };
    let port = text("HTTPSampler.port");
    let colon = if port.is_empty() { "" } else { ":" };
    let _ = writeln!(
        out,
        "{} {}://{}{colon}{port}{}",
        text("HTTPSampler.method"),
        text("HTTPSampler.protocol"),
        text("HTTPSampler.domain"),
        text("HTTPSampler.path")
    );
    for child in &element.children {
        let headers = document.element(*child).props.collection("HeaderManager.headers");
        for header in headers.iter().filter_map(jmx::Prop::object) {
            let part = |name: &str| header.props.str(name).unwrap_or_default();
            let _ = writeln!(out, "{}: {}", part("Header.name"), part("Header.value"));
        }
    }
    for (name, shown) in [
        ("HTTPSampler.connect_timeout", "connect within"),
        ("HTTPSampler.response_timeout", "respond within"),
        ("HTTPSampler.ipSource", "from"),
        ("HTTPSampler.proxyHost", "proxy"),
        ("HTTPSampler.proxyPort", "proxy port"),
        ("HTTPSampler.proxyUser", "proxy user"),
        ("HTTPSampler.proxyPass", "proxy password"),
    ] {
        if !text(name).is_empty() {
            let _ = writeln!(out, "[{shown} {}]", text(name));
        }
    }
    if props.bool("HTTPSampler.follow_redirects") == Some(true) {
        out.push_str("[follows redirects]\n");
    }
    if props.bool("HTTPSampler.use_keepalive") == Some(false) {
        out.push_str("[closes]\n");
    }
    body(props, out);
}

fn body(props: &Props, out: &mut String) {
    let multipart = props.bool("HTTPSampler.DO_MULTIPART_POST") == Some(true);
    if multipart {
        let plain = props.bool("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART") == Some(true);
        out.push_str(if plain { "[form in parts]\n" } else { "[strict form in parts]\n" });
    }
    let arguments = props.object("HTTPsampler.Arguments").map(|object| &object.props);
    for argument in arguments.into_iter().flat_map(|props| props.collection("Arguments.arguments"))
    {
        let props = &argument.object().expect("an argument").props;
        assert_eq!(props.bool("HTTPArgument.always_encode"), Some(false));
        let value = props.str("Argument.value").unwrap_or_default();
        let kind = props.str("HTTPArgument.content_type").unwrap_or_default();
        match props.str("Argument.name") {
            Some(name) => {
                let _ = writeln!(out, "{name} = {value} {kind}");
            }
            None => {
                let _ = writeln!(out, "\n{value}");
            }
        }
    }
    let files = props.object("HTTPsampler.Files").map(|object| &object.props);
    for file in files.into_iter().flat_map(|props| props.collection("HTTPFileArgs.files")) {
        let props = &file.object().expect("a file").props;
        let text = |name: &str| props.str(name).unwrap_or_default();
        let (path, name) = (text("File.path"), text("File.paramname"));
        let _ = writeln!(out, "file {path} {name} {}", text("File.mimetype"));
    }
}
