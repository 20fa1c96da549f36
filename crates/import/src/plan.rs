//! The plan of imported requests, as a person would build it.
//!
//! A Thread Group with a sampler for each request, and a Header Manager under each sampler. What requests share is in
//! the Thread Group: HTTP Request Defaults if several have the same host, managers for cookies, names and credentials.

mod names;
mod sampler;

use jmx::writer::{NewElement, NewObject, NewProp, write_plan};

use crate::Load;
use crate::findings::Findings;
use crate::request::{Address, Cookie, Login, Request};
use crate::shell::Variables;
use crate::word::expression;

/// Elements that requests share.
struct Shared<'a> {
    /// Address of the HTTP Request Defaults.
    defaults: Option<&'a Address>,
    /// Credentials for all requests to an address.
    login: Option<(&'a Address, &'a Login)>,
}

/// Returns the text of the plan.
pub(crate) fn text(
    requests: &[Request],
    title: &str,
    load: Load,
    variables: &Variables,
    findings: &mut Findings,
) -> String {
    let shared = Shared { defaults: defaults(requests), login: login(requests) };
    let mut group = thread_group(title, load);
    group.children.extend(shared.defaults.map(defaults_element));
    group.children.extend(hosts(requests));
    group.children.extend(cookies(requests, findings));
    group.children.extend(shared.login.map(|(address, login)| login_element(address, login)));
    for (request, name) in requests.iter().zip(names::names(requests)) {
        group.children.push(sampler::element(request, &name, &shared));
    }
    write_plan(&test_plan(title, variables, findings).child(group))
}

fn test_plan(title: &str, variables: &Variables, findings: &mut Findings) -> NewElement {
    let names = &variables.unknown;
    if !names.is_empty() {
        findings.line = 0;
        let shown: Vec<String> =
            names.iter().take(8).map(|name| format!("-J{name}=VALUE")).collect();
        let more = if names.len() > shown.len() { " and others" } else { "" };
        let message = format!(
            "variables of the shell are properties of the plan, empty unless the run sets them: {}{more}",
            shown.join(" ")
        );
        findings.warn("shell-variable", message);
    }
    let variable = |name: &String| {
        let props = vec![
            NewProp::string("Argument.name", name),
            NewProp::string("Argument.value", format!("${{__P({name},)}}")),
            NewProp::string("Argument.metadata", "="),
        ];
        NewProp::element(name, "Argument", props)
    };
    let defined = arguments("ArgumentsPanel", names.iter().map(variable).collect());
    NewElement::new("TestPlan", "TestPlanGui", title)
        .with(NewProp::object("TestPlan.user_defined_variables", defined))
        .with(NewProp::bool("TestPlan.functional_mode", false))
        .with(NewProp::bool("TestPlan.serialize_threadgroups", false))
}

/// Returns a list of arguments, as the plan and samplers have it.
fn arguments(gui: &str, members: Vec<NewProp>) -> NewObject {
    NewObject {
        class: "Arguments".to_owned(),
        guiclass: gui.to_owned(),
        testclass: "Arguments".to_owned(),
        testname: "User Defined Variables".to_owned(),
        props: vec![NewProp::collection("Arguments.arguments", members)],
    }
}

fn thread_group(title: &str, load: Load) -> NewElement {
    let main = NewObject {
        class: "LoopController".to_owned(),
        guiclass: "LoopControlPanel".to_owned(),
        testclass: "LoopController".to_owned(),
        testname: "Loop Controller".to_owned(),
        props: vec![
            NewProp::int("LoopController.loops", -1),
            NewProp::bool("LoopController.continue_forever", false),
        ],
    };
    NewElement::new("ThreadGroup", "ThreadGroupGui", title)
        .with(NewProp::int("ThreadGroup.num_threads", load.users.try_into().unwrap_or(i32::MAX)))
        .with(NewProp::int("ThreadGroup.ramp_time", 0))
        .with(NewProp::string("ThreadGroup.duration", load.seconds.to_string()))
        .with(NewProp::string("ThreadGroup.delay", "0"))
        .with(NewProp::bool("ThreadGroup.same_user_on_next_iteration", true))
        .with(NewProp::bool("ThreadGroup.scheduler", true))
        .with(NewProp::string("ThreadGroup.on_sample_error", "continue"))
        .with(NewProp::object("ThreadGroup.main_controller", main))
}

/// True if two addresses have the same scheme, host and port.
fn same_server(one: &Address, two: &Address) -> bool {
    one.scheme == two.scheme && one.host == two.host && one.port == two.port
}

/// Returns the address that most requests share, if at least two do.
fn defaults(requests: &[Request]) -> Option<&Address> {
    let mut servers: Vec<(&Address, usize)> = Vec::new();
    for Request { address, .. } in requests {
        let known = servers.iter().position(|(known, _)| same_server(known, address));
        match known {
            Some(at) => servers[at].1 += 1,
            // Lists may have a different host in each line.
            None if servers.len() < 256 => servers.push((address, 1)),
            None => {}
        }
    }
    let most = servers.iter().map(|(_, count)| *count).max().filter(|count| *count > 1)?;
    servers.into_iter().find(|(_, count)| *count == most).map(|(address, _)| address)
}

fn defaults_element(address: &Address) -> NewElement {
    let port = address.port.map_or_else(String::new, |port| port.to_string());
    let mut element =
        NewElement::new("ConfigTestElement", "HttpDefaultsGui", "HTTP Request Defaults")
            .with(NewProp::object(
                "HTTPsampler.Arguments",
                arguments("HTTPArgumentsPanel", Vec::new()),
            ))
            .with(NewProp::string("HTTPSampler.domain", expression(&address.host)));
    if !port.is_empty() {
        element = element.with(NewProp::string("HTTPSampler.port", port));
    }
    element.with(NewProp::string("HTTPSampler.protocol", &address.scheme))
}

/// Returns a DNS Cache Manager for the names that have addresses of their own.
fn hosts(requests: &[Request]) -> Option<NewElement> {
    let mut hosts: Vec<&(String, String)> = Vec::new();
    for host in requests.iter().flat_map(|request| &request.hosts) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let host = |(name, addresses): &&(String, String)| {
        let props = vec![
            NewProp::string("StaticHost.Name", expression(name)),
            NewProp::string("StaticHost.Address", expression(addresses)),
        ];
        NewProp::element(expression(name), "StaticHost", props)
    };
    (!hosts.is_empty()).then(|| {
        NewElement::new("DNSCacheManager", "DNSCachePanel", "DNS Cache Manager")
            .with(NewProp::collection("DNSCacheManager.servers", Vec::new()))
            .with(NewProp::collection("DNSCacheManager.hosts", hosts.iter().map(host).collect()))
            .with(NewProp::bool("DNSCacheManager.clearEachIteration", false))
            .with(NewProp::bool("DNSCacheManager.isCustomResolver", false))
    })
}

/// Returns a Cookie Manager if a request keeps the cookies of its response.
fn cookies(requests: &[Request], findings: &mut Findings) -> Option<NewElement> {
    if requests.iter().all(|request| request.jar.is_none()) {
        return None;
    }
    let literal = |(name, _): &(String, String)| name.eq_ignore_ascii_case("cookie");
    if let Some(request) = requests.iter().find(|request| request.headers.iter().any(literal)) {
        findings.line = request.line;
        let message = "the plan has a Cookie Manager: its cookies, once there are some, replace the Cookie header";
        findings.warn("curl-cookies", message);
    }
    let mut all: Vec<&Cookie> = Vec::new();
    for cookie in requests.iter().filter_map(|request| request.jar.as_ref()).flatten() {
        if !all.contains(&cookie) {
            all.push(cookie);
        }
    }
    let cookie = |cookie: &&Cookie| {
        let props = vec![
            NewProp::string("Cookie.value", expression(&cookie.value)),
            NewProp::string("Cookie.domain", expression(&cookie.domain)),
            NewProp::string("Cookie.path", expression(&cookie.path)),
            NewProp::bool("Cookie.secure", cookie.secure),
            NewProp::long("Cookie.expires", 0),
            NewProp::bool("Cookie.path_specified", true),
            NewProp::bool("Cookie.domain_specified", true),
        ];
        let name = expression(&cookie.name);
        let object = NewObject {
            class: "Cookie".to_owned(),
            testname: name.clone(),
            props,
            ..NewObject::default()
        };
        NewProp::object(name, object)
    };
    let element = NewElement::new("CookieManager", "CookiePanel", "HTTP Cookie Manager")
        .with(NewProp::collection("CookieManager.cookies", all.iter().map(cookie).collect()))
        .with(NewProp::bool("CookieManager.clearEachIteration", true))
        .with(NewProp::bool("CookieManager.controlledByThreadGroup", false));
    Some(element)
}

/// Returns the credentials that all requests to a server have, if no other server needs credentials.
fn login(requests: &[Request]) -> Option<(&Address, &Login)> {
    let first = requests.iter().find(|request| request.login.is_some())?;
    let (address, login) = (&first.address, first.login.as_ref()?);
    let alike = |request: &Request| match &request.login {
        Some(other) => other == login && same_server(&request.address, address),
        None => !same_server(&request.address, address),
    };
    requests.iter().all(alike).then_some((address, login))
}

/// Returns an Authorization Manager for a server.
fn login_element(address: &Address, login: &Login) -> NewElement {
    let port = address.port.map_or_else(String::new, |port| format!(":{port}"));
    let url = format!("{}://{}{port}/", address.scheme, expression(&address.host));
    let props = vec![
        NewProp::string("Authorization.url", url),
        NewProp::string("Authorization.username", expression(&login.user)),
        NewProp::string("Authorization.password", expression(&login.password)),
        NewProp::string("Authorization.domain", ""),
        NewProp::string("Authorization.realm", ""),
        NewProp::string("Authorization.mechanism", if login.digest { "DIGEST" } else { "BASIC" }),
    ];
    let entry = NewProp::element("", "Authorization", props);
    NewElement::new("AuthManager", "AuthPanel", "HTTP Authorization Manager")
        .with(NewProp::collection("AuthManager.auth_list", vec![entry]))
        .with(NewProp::bool("AuthManager.controlledByThreadGroup", false))
}
