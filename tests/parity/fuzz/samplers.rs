//! Samplers, with each of their properties.

use crate::controllers::Make;
use crate::grammar::{Extra, Maker};
use crate::tree::{Element, Property};
use crate::values::{number, text};

pub(crate) const SAMPLERS: &[(usize, (&str, Make))] = &[
    (40, ("HTTPSamplerProxy", request)),
    (6, ("DebugSampler", debug)),
    (12, ("TestAction", action)),
    (8, ("JavaSampler", java)),
    (8, ("kg.apc.jmeter.samplers.DummySampler", dummy)),
    (3, ("TCPSampler", tcp)),
    (3, ("kg.apc.jmeter.samplers.HTTPRawSampler", raw)),
];

/// Paths of the target; `beside/replies` has its answers.
pub(crate) const PATHS: &[&str] = &[
    "/ok",
    "/ok",
    "/ok",
    "/echo/${v}",
    "/echo?x=${v}&y=${c}",
    "/404",
    "/500",
    "/moved",
    "/found",
    "/hops",
    "/loop",
    "/page",
    "/json",
    "/items",
    "/html",
    "/cookie",
    "/gone-cookie",
    "/chunked",
    "/drop",
    "/close",
    "/none",
    "/flaky",
    "/cached",
    "/style.css",
    "/broken-page",
    "/redirect-page",
    "/see-other",
    "/temporary",
    "/no-location",
    "/odd-location",
    "/session",
    "/unauthorised",
];

pub(crate) fn arguments(maker: &mut Maker, class: &'static str) -> Property {
    let mut items = Vec::new();
    for _ in 0..*maker.dice.pick(&[0, 0, 1, 1, 2, 3]) {
        let name = text(maker.dice, &["x", "y", "a b", "", "ü", "q&"]);
        let value =
            text(maker.dice, &["1", "two words", "ü€", "", "a=b&c", "%41+", "${v}", "${c}"]);
        let mut parts = vec![
            Property::string("Argument.name", name.clone()),
            Property::string("Argument.value", value),
            Property::string("Argument.metadata", if maker.dice.chance(90) { "=" } else { "" }),
        ];
        if class == "HTTPArgument" {
            parts.push(Property::leaf(
                "boolProp",
                "HTTPArgument.always_encode",
                maker.dice.chance(50).to_string(),
            ));
            parts.push(Property::leaf(
                "boolProp",
                "HTTPArgument.use_equals",
                maker.dice.chance(85).to_string(),
            ));
            if maker.dice.chance(10) {
                let kind = *maker.dice.pick(&["application/json", "", "text/plain; charset=UTF-8"]);
                parts.push(Property::string("HTTPArgument.content_type", kind));
            }
        }
        items.push(Property::object(&name, class, parts));
    }
    let list = Property::list("Arguments.arguments", items);
    Property::object(
        if class == "HTTPArgument" { "HTTPsampler.Arguments" } else { "arguments" },
        "Arguments",
        vec![list],
    )
}

/// Creates a request that certainly fails.
pub(crate) fn failing(name: String) -> Element {
    let list = Property::list("Arguments.arguments", Vec::new());
    Element::new("HTTPSamplerProxy", "HttpTestSampleGui", name)
        .with(Property::object("HTTPsampler.Arguments", "Arguments", vec![list]))
        .string("HTTPSampler.path", "/404")
        .string("HTTPSampler.method", "GET")
}

fn request(maker: &mut Maker) -> Element {
    let element = Element::new("HTTPSamplerProxy", "HttpTestSampleGui", maker.name("H"));
    let element = with_body(maker, element);
    let method = if maker.dice.chance(65) {
        "GET"
    } else {
        maker.dice.pick(&[
            "POST", "POST", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "TRACE", "",
            "get", "${u}",
        ])
    };
    let element = element
        .string("HTTPSampler.path", text(maker.dice, PATHS))
        .string("HTTPSampler.method", method);
    let redirects = maker.dice.below(20);
    let element = element
        .flag("HTTPSampler.follow_redirects", redirects > 3)
        .flag("HTTPSampler.auto_redirects", redirects < 3)
        .flag("HTTPSampler.use_keepalive", maker.dice.chance(85));
    let properties = [WHERE, CONTENT, EMBEDDED, MANNER];
    properties.into_iter().fold(element, |element, some| maker.some(element, some))
}

fn with_body(maker: &mut Maker, element: Element) -> Element {
    if !maker.dice.chance(15) {
        return element.with(arguments(maker, "HTTPArgument"));
    }
    let body = text(maker.dice, &["raw ${v}", "{\"a\": \"${c}\"}", "", "ü€", "a\nb"]);
    let argument = Property::object(
        "",
        "HTTPArgument",
        vec![
            Property::leaf("boolProp", "HTTPArgument.always_encode", "false"),
            Property::string("Argument.value", body),
            Property::string("Argument.metadata", "="),
        ],
    );
    let list = Property::list("Arguments.arguments", vec![argument]);
    element.flag("HTTPSampler.postBodyRaw", true).with(Property::object(
        "HTTPsampler.Arguments",
        "Arguments",
        vec![list],
    ))
}

/// Properties for the server of a request.
const WHERE: &[(usize, Extra)] = &[
    (6, |_, e| e.string("HTTPSampler.port", "${__P(closed)}")),
    (2, |maker, e| {
        e.string("HTTPSampler.port", number(maker.dice, &["${__P(port)}", "0", "70000", "abc"]))
    }),
    (2, |maker, e| {
        e.string(
            "HTTPSampler.domain",
            *maker.dice.pick(&["localhost", "", "127.0.0.1:1", "${u}", "${v}", " "]),
        )
    }),
    (3, |maker, e| {
        e.string(
            "HTTPSampler.protocol",
            *maker.dice.pick(&["http", "HTTP", "", "gopher", "file", "${u}"]),
        )
    }),
];

/// Properties for the content of a request.
const CONTENT: &[(usize, Extra)] = &[
    (6, |maker, e| {
        e.string(
            "HTTPSampler.contentEncoding",
            *maker.dice.pick(&["UTF-8", "ISO-8859-1", "UTF-16", "", "nope", "utf-8"]),
        )
    }),
    (10, |_, e| e.flag("HTTPSampler.DO_MULTIPART_POST", true)),
    (3, |_, e| e.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", true)),
    (8, |maker, e| {
        let parts = vec![
            Property::string(
                "File.path",
                *maker.dice.pick(&["body.txt", "body.txt", "lines.txt", "nowhere.txt", "${u}"]),
            ),
            Property::string("File.paramname", text(maker.dice, &["f", "f", ""])),
            Property::string("File.mimetype", text(maker.dice, &["text/plain", "", "image/png"])),
        ];
        let files = Property::list(
            "HTTPFileArgs.files",
            vec![Property::object("body.txt", "HTTPFileArg", parts)],
        );
        e.with(Property::object("HTTPsampler.Files", "HTTPFileArgs", vec![files]))
    }),
];

/// Properties for embedded resources of a page.
const EMBEDDED: &[(usize, Extra)] = &[
    (10, |maker, e| {
        let e = e.flag("HTTPSampler.image_parser", true);
        if maker.dice.chance(25) {
            e.flag("HTTPSampler.concurrentDwn", true).string("HTTPSampler.concurrentPool", "1")
        } else {
            e
        }
    }),
    (4, |maker, e| {
        e.string("HTTPSampler.embedded_url_re", *maker.dice.pick(&[".*png", "", "nothing", "["]))
    }),
    (3, |maker, e| {
        e.string("HTTPSampler.embedded_url_exclude_re", *maker.dice.pick(&[".*css", "", ".*"]))
    }),
];

/// Properties for client, digest and timeouts of a request.
const MANNER: &[(usize, Extra)] = &[
    (5, |_, e| e.flag("HTTPSampler.md5", true)),
    (10, |maker, e| {
        e.string(
            "HTTPSampler.implementation",
            *maker.dice.pick(&["Java", "Java", "HttpClient4", "", "HttpClient3.1", "${u}"]),
        )
    }),
    (4, |maker, e| {
        // Timeouts are so long that even a slow run does not exceed them.
        let limit = *maker.dice.pick(&["5000", "${__P(none,5000)}", "", "0", "x", "${u}"]);
        e.string("HTTPSampler.connect_timeout", limit)
    }),
    (4, |maker, e| {
        let limit = *maker.dice.pick(&["5000", "${__P(none,5000)}", "", "0", "x", "${u}"]);
        e.string("HTTPSampler.response_timeout", limit)
    }),
];

fn debug(maker: &mut Maker) -> Element {
    let shows = maker.dice.chance(40);
    let name = maker.name("D");
    // An object among the variables has a number whose length differs between runs. The comparison therefore masks the
    // size of this sample, which it finds by the sample's name.
    let name = if shows { name.split(' ').next().unwrap_or_default().to_owned() } else { name };
    Element::new("DebugSampler", "TestBeanGUI", name)
        .flag("displayJMeterProperties", false)
        .flag("displayJMeterVariables", shows)
        .flag("displaySystemProperties", false)
}

fn action(maker: &mut Maker) -> Element {
    // Actions of a Flow Control Action: stop, pause, stop now, and the loop actions; pauses are short.
    let action = *maker.dice.pick(&[0, 0, 1, 2, 3, 3, 4, 4, 5, 5, 6]);
    let target = *maker.dice.pick(&[0, 0, 0, 2]);
    Element::new("TestAction", "TestActionGui", maker.name("F"))
        .int("ActionProcessor.action", action)
        .int("ActionProcessor.target", target)
        .string("ActionProcessor.duration", number(maker.dice, &["0", "1", "2", ""]))
}

fn pairs(name: &str, pairs: &[(&str, String)]) -> Property {
    let items = pairs.iter().map(|(name, value)| {
        let parts = vec![
            Property::string("Argument.name", *name),
            Property::string("Argument.value", value.clone()),
            Property::string("Argument.metadata", "="),
        ];
        Property::object(name, "Argument", parts)
    });
    Property::object(
        name,
        "Arguments",
        vec![Property::list("Arguments.arguments", items.collect())],
    )
}

fn java(maker: &mut Maker) -> Element {
    let sleep = maker.dice.chance(25);
    let class = if sleep { "SleepTest" } else { "JavaTest" };
    let mut given = Vec::new();
    if sleep {
        given.push(("SleepTime", number(maker.dice, &["0", "1"])));
        given.push(("SleepMask", number(maker.dice, &["0x0", "0"])));
    } else {
        given.push(("Sleep_Time", number(maker.dice, &["0", "1"])));
        given.push(("Sleep_Mask", "0x0".to_owned()));
        if maker.dice.chance(60) {
            given.push(("Label", text(maker.dice, &["label", "", "${v}"])));
        }
        given.push(("ResponseCode", text(maker.dice, &["200", "", "${c}"])));
        given.push(("ResponseMessage", text(maker.dice, &["fine", "", "${v}"])));
        given.push(("Status", text(maker.dice, &["OK", "OK", "ok", "NOK", ""])));
        given.push(("SamplerData", text(maker.dice, &["data", "${v}"])));
        given.push(("ResultData", text(maker.dice, &["token=17;", "${v}", "[1,2]"])));
    }
    Element::new("JavaSampler", "JavaTestSamplerGui", maker.name("J"))
        .with(pairs("arguments", &given))
        .string("classname", format!("org.apache.jmeter.protocol.java.test.{class}"))
}

fn dummy(maker: &mut Maker) -> Element {
    let data =
        text(maker.dice, &["token=17;", "{\"a\":[1,2]}", "<i id='1'>x</i>", "${v}", "", "${e}"]);
    Element::new(
        "kg.apc.jmeter.samplers.DummySampler",
        "kg.apc.jmeter.samplers.DummySamplerGui",
        maker.name("Y"),
    )
    .flag("WAITING", maker.dice.chance(20))
    .flag("SUCCESFULL", maker.dice.chance(75))
    .string("RESPONSE_CODE", text(maker.dice, &["200", "200", "500", ""]))
    .string("RESPONSE_MESSAGE", text(maker.dice, &["OK", "${v}", ""]))
    .string("REQUEST_DATA", text(maker.dice, &["asked", "${v}"]))
    .string("RESPONSE_DATA", data)
    .string("RESPONSE_TIME", number(maker.dice, &["0", "1"]))
    .string("LATENCY", "0")
    .string("CONNECT", "0")
    .string("URL", *maker.dice.pick(&["", "http://h/p", "nothing"]))
    .string("RESULT_CLASS", "org.apache.jmeter.samplers.SampleResult")
}

fn tcp(maker: &mut Maker) -> Element {
    let path = *maker.dice.pick(&["/close", "/close", "/close", "/drop"]);
    Element::new("TCPSampler", "TCPSamplerGui", maker.name("TCP"))
        .string("TCPSampler.server", "127.0.0.1")
        .string(
            "TCPSampler.port",
            *maker.dice.pick(&[
                "${__P(port)}",
                "${__P(port)}",
                "${__P(port)}",
                "${__P(closed)}",
                "",
            ]),
        )
        .flag("TCPSampler.reUseConnection", maker.dice.chance(50))
        .flag("TCPSampler.closeConnection", maker.dice.chance(50))
        .string("TCPSampler.timeout", "3000")
        .string("TCPSampler.request", format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n"))
}

fn raw(maker: &mut Maker) -> Element {
    let path = *maker.dice.pick(&["/ok", "/404", "/chunked", "/close", "/echo/${v}"]);
    Element::new(
        "kg.apc.jmeter.samplers.HTTPRawSampler",
        "kg.apc.jmeter.samplers.HTTPRawSamplerGui",
        maker.name("R"),
    )
    .string("hostname", "127.0.0.1")
    .string(
        "port",
        *maker.dice.pick(&["${__P(port)}", "${__P(port)}", "${__P(port)}", "${__P(closed)}"]),
    )
    .flag("keepalive", false)
    .string("timeout", "3000")
    .string("data", format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
    .string("fileName", "")
    .flag("parse", maker.dice.chance(60))
}
