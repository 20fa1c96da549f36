//! Elements around samplers: config elements, timers, processors, assertions and listeners, with each of their
//! properties.

use crate::controllers::Make;
use crate::grammar::Maker;
use crate::samplers::arguments;
use crate::tree::{Element, Property};
use crate::values::{literal, number, text};

pub(crate) const AROUND: &[(usize, (&str, Make))] = &[
    // Config elements, each with its weight in random plans.
    (8, ("HeaderManager", headers)),
    (7, ("CSVDataSet", csv)),
    (6, ("Arguments", variables)),
    (4, ("ConfigTestElement", defaults)),
    (7, ("CookieManager", cookies)),
    (7, ("CounterConfig", counter)),
    (3, ("RandomVariableConfig", random)),
    (4, ("CacheManager", cache)),
    (2, ("AuthManager", credentials)),
    (2, ("JavaConfig", java_defaults)),
    // Timers, each with its weight in random plans.
    (
        4,
        ("ConstantTimer", |maker| {
            Element::new("ConstantTimer", "ConstantTimerGui", maker.name("Wait"))
                .string("ConstantTimer.delay", number(maker.dice, &["0", "1", "2", "-1"]))
        }),
    ),
    (
        2,
        ("UniformRandomTimer", |maker| {
            spread(maker, "UniformRandomTimer", "UniformRandomTimerGui")
        }),
    ),
    (
        1,
        ("GaussianRandomTimer", |maker| {
            spread(maker, "GaussianRandomTimer", "GaussianRandomTimerGui")
        }),
    ),
    (
        1,
        ("PoissonRandomTimer", |maker| {
            spread(maker, "PoissonRandomTimer", "PoissonRandomTimerGui")
        }),
    ),
    // Pre-processors, each with its weight in random plans.
    (7, ("UserParameters", user_parameters)),
    (
        1,
        ("RegExUserParameters", |maker| {
            Element::new("RegExUserParameters", "RegExUserParametersGui", maker.name("Refs"))
                .string("RegExUserParameters.regex_ref_name", text(maker.dice, &["e", "e", "none"]))
                .string("RegExUserParameters.param_names_gr_nr", number(maker.dice, &["1", "0"]))
                .string("RegExUserParameters.param_values_gr_nr", number(maker.dice, &["1", "2"]))
        }),
    ),
    (
        2,
        ("URLRewritingModifier", |maker| {
            Element::new("URLRewritingModifier", "URLRewritingModifierGui", maker.name("Rewrite"))
                .string("argument_name", text(maker.dice, &["sid", "sid", "k"]))
                .flag("path_extension", maker.dice.chance(40))
                .flag("path_extension_no_equals", maker.dice.chance(30))
                .flag("path_extension_no_questionmark", maker.dice.chance(30))
                .flag("cache_value", maker.dice.chance(30))
        }),
    ),
    (
        1,
        ("AnchorModifier", |maker| {
            Element::new("AnchorModifier", "AnchorModifierGui", maker.name("Links"))
        }),
    ),
    // Post-processors, each with its weight in random plans.
    (10, ("RegexExtractor", regex)),
    (6, ("JSONPostProcessor", json)),
    (6, ("BoundaryExtractor", boundary)),
    (
        3,
        ("DebugPostProcessor", |maker| {
            Element::new("DebugPostProcessor", "TestBeanGUI", maker.name("Shown"))
                .flag("displaySamplerProperties", false)
                // One of the variables has an object number whose length differs from run to run.
                .flag("displayJMeterVariables", false)
                .flag("displayJMeterProperties", false)
                .flag("displaySystemProperties", false)
        }),
    ),
    (4, ("HtmlExtractor", html)),
    (4, ("XPathExtractor", xpath)),
    (2, ("XPath2Extractor", xpath2)),
    (3, ("JMESPathExtractor", jmespath)),
    // Assertions, each with its weight in random plans.
    (14, ("ResponseAssertion", response)),
    (
        4,
        ("JSONPathAssertion", |maker| {
            json_assertion(
                maker,
                "JSONPathAssertion",
                "JSON_PATH",
                &["$.name", "$.list[*]", "$.none", "$.n"],
            )
        }),
    ),
    (
        2,
        ("JMESPathAssertion", |maker| {
            json_assertion(maker, "JMESPathAssertion", "JMES_PATH", &["name", "list", "none", "n"])
        }),
    ),
    (
        3,
        ("DurationAssertion", |maker| {
            let element =
                Element::new("DurationAssertion", "DurationAssertionGui", maker.name("Quick"))
                    .string(
                        "DurationAssertion.duration",
                        // Limits are so long that even a slow run does not exceed them.
                        *maker.dice.pick(&[
                            "30000",
                            "${__P(none,30000)}",
                            "",
                            "0",
                            "-1",
                            "x",
                            "${u}",
                        ]),
                    );
            scope(maker, element, "Assertion.scope")
        }),
    ),
    (5, ("SizeAssertion", size)),
    (
        2,
        ("XPathAssertion", |maker| {
            let element = Element::new("XPathAssertion", "XPathAssertionGui", maker.name("Path"))
                .flag("XPath.negate", maker.dice.chance(30))
                .string(
                    "XPath.xpath",
                    text(maker.dice, &["//item", "/", "count(//item)=2", "//none", "//["]),
                )
                .flag("XPath.validate", false)
                .flag("XPath.whitespace", maker.dice.chance(30))
                .flag("XPath.tolerant", maker.dice.chance(30))
                .flag("XPath.namespace", maker.dice.chance(30));
            scope(maker, element, "Assertion.scope")
        }),
    ),
    (
        1,
        ("XPath2Assertion", |maker| {
            let element =
                Element::new("XPath2Assertion", "XPath2AssertionGui", maker.name("Path2"))
                    .flag("XPath.negate", maker.dice.chance(30))
                    .string(
                        "XPath.xpath",
                        *maker.dice.pick(&["//item", "/", "count(//item)=2", "//none"]),
                    )
                    .string("XPath.namespaces", "");
            scope(maker, element, "Assertion.scope")
        }),
    ),
    (
        2,
        ("XMLAssertion", |maker| {
            Element::new("XMLAssertion", "XMLAssertionGui", maker.name("XML"))
        }),
    ),
    (
        2,
        ("MD5HexAssertion", |maker| {
            Element::new("MD5HexAssertion", "MD5HexAssertionGui", maker.name("MD5")).string(
                "MD5HexAssertion.size",
                text(maker.dice, &["444bcb3a3fcf8389296c49467f27e1d6", "x", ""]),
            )
        }),
    ),
    // Listeners, each with its weight in random plans.
    (
        6,
        ("ResultAction", |maker| {
            Element::new("ResultAction", "ResultActionGui", maker.name("On error"))
                .int("OnError.action", *maker.dice.pick(&[0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6]))
        }),
    ),
    (
        3,
        ("ResultSaver", |maker| {
            Element::new("ResultSaver", "ResultSaverGui", maker.name("Saved"))
                .string("FileSaver.filename", text(maker.dice, &["saved-", "saved", "kept"]))
                .flag("FileSaver.errorsonly", maker.dice.chance(30))
                .flag("FileSaver.successonly", maker.dice.chance(20))
                .flag("FileSaver.skipsuffix", maker.dice.chance(30))
                .flag("FileSaver.skipautonumber", maker.dice.chance(30))
                .string("FileSaver.variablename", *maker.dice.pick(&["", "s", "w"]))
        }),
    ),
    (
        2,
        ("SampleTimeout", |maker| {
            Element::new("SampleTimeout", "SampleTimeoutGui", maker.name("Limit")).string(
                "InterruptTimer.timeout",
                *maker.dice.pick(&["5000", "${__P(none,5000)}", "0", "", "x", "${u}"]),
            )
        }),
    ),
];

/// Native elements that the grammar does not generate, each with the reason.
pub(crate) const LEFT_OUT: &[(&str, &str)] = &[
    ("TestPlan", "each plan has one"),
    ("ThreadGroup", "each plan has one or two"),
    ("SetupThreadGroup", "by chance, with the groups"),
    ("PostThreadGroup", "by chance, with the groups"),
    ("TestFragmentController", "with a Module Controller"),
    ("OpenModelThreadGroup", "it goes by the clock"),
    ("kg.apc.jmeter.threads.UltimateThreadGroup", "it goes by the clock"),
    ("kg.apc.jmeter.threads.SteppingThreadGroup", "it goes by the clock"),
    ("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", "it goes by the clock"),
    ("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", "it goes by the clock"),
    ("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", "it goes by the clock"),
    (
        "com.blazemeter.jmeter.controller.ParallelSampler",
        "the order of its branches is that of threads",
    ),
    ("SystemSampler", "it runs programs"),
    ("com.jmeter.sse.SSESampler", "it needs a target for events"),
    ("kg.apc.jmeter.config.redis.RedisDataSet", "it needs a Redis server"),
    ("kg.apc.jmeter.samplers.UDPSampler", "it needs a target for datagrams"),
    ("kg.apc.jmeter.perfmon.PerfMonCollector", "it needs an agent on a host"),
    (
        "JMeter.plugins.functional.samplers.websocket.WebSocketSampler",
        "the plug-in is in no repository of artefacts",
    ),
    ("eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.OpenWebSocketSampler", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.CloseWebSocketSampler", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.PingPongSampler", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.TextFrameFilter", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.BinaryFrameFilter", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.wssampler.PingFrameFilter", "WebSocket has its own cases"),
    ("eu.luminis.jmeter.assertions.BinaryContentAssertion", "WebSocket has its own cases"),
    ("DNSCacheManager", "it needs names that resolve"),
    ("KeystoreConfig", "it needs a target with TLS"),
    (
        "kg.apc.jmeter.config.VariablesFromCSV",
        "the plug-in is not in the JMeter home of the parity cases",
    ),
    (
        "kg.apc.jmeter.config.VariablesFromCSVFile",
        "the plug-in is not in the JMeter home of the parity cases",
    ),
    (
        "kg.apc.jmeter.modifiers.FifoPutPostProcessor",
        "the plug-in is not in the JMeter home of the parity cases",
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
        "the plug-in is not in the JMeter home of the parity cases",
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
        "the plug-in is not in the JMeter home of the parity cases",
    ),
    (
        "kg.apc.jmeter.vizualizers.CorrectedResultCollector",
        "the plug-in is not in the JMeter home of the parity cases",
    ),
    ("ConstantThroughputTimer", "it goes by the clock"),
    ("PreciseThroughputTimer", "it goes by the clock"),
    ("kg.apc.jmeter.timers.VariableThroughputTimer", "it goes by the clock"),
    ("SyncTimer", "one user would wait for ever"),
    ("ResultCollector", "the run itself has one"),
    ("Summariser", "it writes no rows"),
    ("BackendListener", "it needs a collector"),
];

/// Sets the results of a sample, or the variable, that an element examines.
fn scope(maker: &mut Maker, element: Element, name: &str) -> Element {
    match maker.dice.below(10) {
        0 => element.string(name, "children"),
        1 => element.string(name, "all"),
        2 => element
            .string(name, "variable")
            .string("Scope.variable", *maker.dice.pick(&["v", "e", "u", "n", "doc"])),
        _ => element,
    }
}

fn headers(maker: &mut Maker) -> Element {
    let mut items = Vec::new();
    for _ in 0..=maker.dice.below(3) {
        let name = *maker.dice.pick(&[
            "X-A",
            "X-A",
            "x-a",
            "X-B",
            "Accept",
            "Content-Type",
            "User-Agent",
            "Cookie",
            "Accept-Encoding",
            "Connection",
            "Host",
            "Referer",
            "",
            "Content-Length",
        ]);
        let value = if name == "Accept-Encoding" {
            "identity".to_owned()
        } else {
            text(maker.dice, &["1", "${v}", "${c}", "", "text/plain", "ü"]).replace('\n', " ")
        };
        let parts =
            vec![Property::string("Header.name", name), Property::string("Header.value", value)];
        items.push(Property::object(name, "Header", parts));
    }
    Element::new("HeaderManager", "HeaderPanel", maker.name("Headers"))
        .with(Property::list("HeaderManager.headers", items))
}

fn csv(maker: &mut Maker) -> Element {
    let file = *maker.dice.pick(&[
        "data.csv",
        "data.csv",
        "data.csv",
        "one.csv",
        "empty.csv",
        "quoted.csv",
        "nowhere.csv",
        "${u}",
    ]);
    let names = *maker.dice.pick(&["a,b", "a,b", "a", "", "a,b,d", "v,b", "a;b", " a , b "]);
    Element::new("CSVDataSet", "TestBeanGUI", maker.name("CSV"))
        .string("delimiter", *maker.dice.pick(&[",", ",", ",", ";", "\\t", ""]))
        .string("fileEncoding", *maker.dice.pick(&["UTF-8", "", "ISO-8859-1"]))
        .string("filename", file)
        .flag("ignoreFirstLine", maker.dice.chance(25))
        .flag("quotedData", maker.dice.chance(30))
        .flag("recycle", maker.dice.chance(60))
        .string(
            "shareMode",
            *maker.dice.pick(&["shareMode.all", "shareMode.group", "shareMode.thread", "x"]),
        )
        .flag("stopThread", maker.dice.chance(30))
        .string("variableNames", names)
}

fn variables(maker: &mut Maker) -> Element {
    let mut items = Vec::new();
    for _ in 0..=maker.dice.below(2) {
        let name = *maker.dice.pick(&["v", "n", "w", "x", "list_1", "bare1", "none"]);
        let value = text(maker.dice, &["udv", "2", "3", "${v}", "${n}"]);
        let parts = vec![
            Property::string("Argument.name", name),
            Property::string("Argument.value", value),
            Property::string("Argument.metadata", "="),
        ];
        items.push(Property::object(name, "Argument", parts));
    }
    Element::new("Arguments", "ArgumentsPanel", maker.name("Variables"))
        .with(Property::list("Arguments.arguments", items))
}

fn defaults(maker: &mut Maker) -> Element {
    let element = Element::new("ConfigTestElement", "HttpDefaultsGui", maker.name("Defaults"));
    let element = if maker.dice.chance(50) {
        element.with(arguments(maker, "HTTPArgument"))
    } else {
        element
    };
    maker.some(
        element,
        &[
            (30, |maker, e| {
                e.string("HTTPSampler.path", text(maker.dice, &["/default", "/echo/d"]))
            }),
            (15, |maker, e| {
                e.string("HTTPSampler.protocol", *maker.dice.pick(&["http", "HTTP", ""]))
            }),
            (15, |maker, e| {
                e.string(
                    "HTTPSampler.contentEncoding",
                    *maker.dice.pick(&["UTF-8", "ISO-8859-1", ""]),
                )
            }),
            (10, |maker, e| {
                e.string("HTTPSampler.implementation", *maker.dice.pick(&["Java", "HttpClient4"]))
            }),
            (10, |_, e| e.flag("HTTPSampler.image_parser", true)),
            (10, |_, e| e.flag("HTTPSampler.md5", true)),
            (10, |maker, e| {
                e.string("HTTPSampler.response_timeout", *maker.dice.pick(&["5000", "", "${u}"]))
            }),
            (5, |_, e| e.string("HTTPSampler.port", "${__P(closed)}")),
            (5, |_, e| e.string("HTTPSampler.domain", "localhost")),
        ],
    )
}

fn cookies(maker: &mut Maker) -> Element {
    let mut items = Vec::new();
    for _ in 0..*maker.dice.pick(&[0, 0, 1, 2]) {
        let name = *maker.dice.pick(&["u", "k", "z"]);
        items.push(Property::object(
            name,
            "Cookie",
            vec![
                Property::string("Cookie.value", text(maker.dice, &["1", "${v}", "a b"])),
                Property::string(
                    "Cookie.domain",
                    *maker.dice.pick(&["127.0.0.1", "127.0.0.1", "example.org", ""]),
                ),
                Property::string("Cookie.path", *maker.dice.pick(&["/", "", "/echo"])),
                Property::leaf("boolProp", "Cookie.secure", maker.dice.chance(10).to_string()),
                Property::leaf(
                    "longProp",
                    "Cookie.expires",
                    *maker.dice.pick(&["0", "0", "4102444800", "1"]),
                ),
            ],
        ));
    }
    let policy = *maker.dice.pick(&[
        "standard",
        "standard",
        "standard",
        "compatibility",
        "default",
        "netscape",
        "ignoreCookies",
        "best-match",
        "standard-strict",
    ]);
    Element::new("CookieManager", "CookiePanel", maker.name("Cookies"))
        .with(Property::list("CookieManager.cookies", items))
        .flag("CookieManager.clearEachIteration", maker.dice.chance(40))
        .flag("CookieManager.controlledByThreadGroup", maker.dice.chance(20))
        .string("CookieManager.policy", policy)
}

fn counter(maker: &mut Maker) -> Element {
    Element::new("CounterConfig", "CounterConfigGui", maker.name("Counter"))
        .string("CounterConfig.start", number(maker.dice, &["1", "0", "5", "-3", ""]))
        .string("CounterConfig.end", number(maker.dice, &["", "3", "2", "10"]))
        .string("CounterConfig.incr", number(maker.dice, &["1", "2", "-1", ""]))
        .string("CounterConfig.name", *maker.dice.pick(&["c", "c", "c", "v", "n", ""]))
        .string("CounterConfig.format", *maker.dice.pick(&["", "", "000", "ID-#", "x"]))
        .flag("CounterConfig.per_user", maker.dice.chance(50))
        .flag("CounterConfig.reset_on_tg_iteration", maker.dice.chance(30))
}

fn random(maker: &mut Maker) -> Element {
    // The random variable always gets the same value: there is only one, or the seed is fixed.
    let one = maker.dice.chance(50);
    Element::new("RandomVariableConfig", "TestBeanGUI", maker.name("Drawn"))
        .string(
            "maximumValue",
            if one { "7".to_owned() } else { number(maker.dice, &["1000", "9"]) },
        )
        .string("minimumValue", if one { "7" } else { "1" })
        .string("outputFormat", *maker.dice.pick(&["", "000", "R#"]))
        .flag("perThread", maker.dice.chance(50))
        .string("randomSeed", if one { "" } else { "42" })
        .string("variableName", *maker.dice.pick(&["r", "r", "v", ""]))
}

fn cache(maker: &mut Maker) -> Element {
    Element::new("CacheManager", "CacheManagerGui", maker.name("Cache"))
        .flag("clearEachIteration", maker.dice.chance(40))
        .flag("useExpires", maker.dice.chance(60))
        .flag("CacheManager.controlledByThread", maker.dice.chance(20))
}

fn credentials(maker: &mut Maker) -> Element {
    let url = *maker.dice.pick(&[
        "http://127.0.0.1:${__P(port)}/",
        "http://127.0.0.1:${__P(port)}/unauthorised",
        "",
        "http://example.org/",
    ]);
    let item = Property::object(
        "",
        "Authorization",
        vec![
            Property::string("Authorization.url", url),
            Property::string("Authorization.username", text(maker.dice, &["me", "${v}"])),
            Property::string("Authorization.password", text(maker.dice, &["pw", ""])),
            Property::string("Authorization.domain", ""),
            Property::string("Authorization.realm", *maker.dice.pick(&["", "place"])),
            Property::string(
                "Authorization.mechanism",
                *maker.dice.pick(&["BASIC", "BASIC_DIGEST", "DIGEST"]),
            ),
        ],
    );
    Element::new("AuthManager", "AuthPanel", maker.name("Credentials"))
        .with(Property::list("AuthManager.auth_list", vec![item]))
        .flag("AuthManager.clearEachIteration", maker.dice.chance(20))
        .flag("AuthManager.controlledByThreadGroup", maker.dice.chance(20))
}

fn java_defaults(maker: &mut Maker) -> Element {
    Element::new("JavaConfig", "JavaConfigGui", maker.name("Java defaults"))
        .with(arguments(maker, "Argument"))
        .string("classname", "org.apache.jmeter.protocol.java.test.JavaTest")
}

fn spread(maker: &mut Maker, class: &str, gui: &str) -> Element {
    Element::new(class, gui, maker.name("Wait"))
        .string("ConstantTimer.delay", number(maker.dice, &["0", "1"]))
        .string("RandomTimer.range", number(maker.dice, &["0", "1", "0.5"]))
}

fn user_parameters(maker: &mut Maker) -> Element {
    let value = text(maker.dice, &["up", "${__counter(FALSE,)}", "${v}", "${c}"]);
    let second = literal(maker.dice);
    let name = *maker.dice.pick(&["p", "p", "v", "w", "n"]);
    let names = vec![Property::string("0", name), Property::string("1", "p2")];
    let rows = vec![Property::list(
        "0",
        vec![Property::string("0", value), Property::string("1", second)],
    )];
    Element::new("UserParameters", "UserParametersGui", maker.name("Parameters"))
        .with(Property::list("UserParameters.names", names))
        .with(Property::list("UserParameters.thread_values", rows))
        .flag("UserParameters.per_iteration", maker.dice.chance(40))
}

fn regex(maker: &mut Maker) -> Element {
    let pattern = text(
        maker.dice,
        &[
            "token=(\\d+)",
            "(\\w)(\\w)",
            "o(k)",
            "href=\"([^\"]*)",
            "(none)",
            "(?i)HTTP/1.1 (\\d+)",
            "[",
            "name\": *\"(.*?)\"",
        ],
    );
    let element = Element::new("RegexExtractor", "RegexExtractorGui", maker.name("Regex"))
        .string(
            "RegexExtractor.useHeaders",
            *maker.dice.pick(
                [
                    "false",
                    "false",
                    "false",
                    "true",
                    "URL",
                    "code",
                    "message",
                    "request_headers",
                    "unescaped",
                    "as_document",
                ]
                .as_slice(),
            ),
        )
        .string("RegexExtractor.refname", text(maker.dice, &["e", "e", "e", "v", "list"]))
        .string("RegexExtractor.regex", pattern)
        .string(
            "RegexExtractor.template",
            text(maker.dice, &["$1$", "$1$", "$0$", "$1$-$2$", "", "x", "$9$"]),
        )
        .string("RegexExtractor.default", text(maker.dice, &["D", "", "${v}"]))
        .string("RegexExtractor.match_number", number(maker.dice, &["1", "1", "2", "-1", "9"]));
    let element = if maker.dice.chance(10) {
        element.flag("RegexExtractor.default_empty_value", true)
    } else {
        element
    };
    scope(maker, element, "Sample.scope")
}

fn json(maker: &mut Maker) -> Element {
    let (names, paths, numbers, defaults) = *maker.dice.pick(&[
        ("e", "$.name", "1", "D"),
        ("e", "$.list[*]", "-1", "D"),
        ("list", "$.list[*]", "-1", ""),
        ("e", "$.none", "1", "D"),
        ("e;w", "$.name;$.n", "1;1", "D;E"),
        ("e", "$.list[*]", "2", "D"),
        ("e", "$.list", "", ""),
        ("e", "$..", "1", "D"),
        ("v", "$.nested.deep", "1", ""),
        ("", "$.n", "1", "D"),
    ]);
    let element = Element::new("JSONPostProcessor", "JSONPostProcessorGui", maker.name("JSON"))
        .string("JSONPostProcessor.referenceNames", names)
        .string("JSONPostProcessor.jsonPathExprs", paths)
        .string("JSONPostProcessor.match_numbers", numbers)
        .string("JSONPostProcessor.defaultValues", defaults);
    let element = if maker.dice.chance(25) {
        element.flag("JSONPostProcessor.compute_concat", true)
    } else {
        element
    };
    scope(maker, element, "Sample.scope")
}

fn boundary(maker: &mut Maker) -> Element {
    let element = Element::new("BoundaryExtractor", "BoundaryExtractorGui", maker.name("Between"))
        .string(
            "BoundaryExtractor.useHeaders",
            *maker.dice.pick(
                ["false", "false", "false", "true", "URL", "code", "message", "request_headers"]
                    .as_slice(),
            ),
        )
        .string("BoundaryExtractor.refname", text(maker.dice, &["e", "e", "v"]))
        .string("BoundaryExtractor.lboundary", text(maker.dice, &["token=", "<", "\"", "", "none"]))
        .string("BoundaryExtractor.rboundary", text(maker.dice, &[";", ">", "\"", ""]))
        .string("BoundaryExtractor.default", text(maker.dice, &["D", ""]))
        .string("BoundaryExtractor.match_number", number(maker.dice, &["1", "1", "2", "-1"]));
    let element = if maker.dice.chance(10) {
        element.flag("BoundaryExtractor.default_empty_value", true)
    } else {
        element
    };
    scope(maker, element, "Sample.scope")
}

fn html(maker: &mut Maker) -> Element {
    let element = Element::new("HtmlExtractor", "HtmlExtractorGui", maker.name("CSS"))
        .string("HtmlExtractor.refname", text(maker.dice, &["e", "e", "list"]))
        .string(
            "HtmlExtractor.expr",
            *maker.dice.pick(&["a", "li", "#menu a", "input[name=token]", "none", "a:first-child"]),
        )
        .string("HtmlExtractor.attribute", *maker.dice.pick(&["", "href", "value", "none"]))
        .string("HtmlExtractor.default", text(maker.dice, &["D", ""]))
        .string("HtmlExtractor.match_number", number(maker.dice, &["1", "1", "2", "-1"]))
        .string("HtmlExtractor.extractor_impl", *maker.dice.pick(&["", "", "JSOUP"]));
    scope(maker, element, "Sample.scope")
}

fn xpath(maker: &mut Maker) -> Element {
    let element = Element::new("XPathExtractor", "XPathExtractorGui", maker.name("XPath"))
        .string("XPathExtractor.default", text(maker.dice, &["D", ""]))
        .string("XPathExtractor.refname", text(maker.dice, &["e", "e", "list"]))
        .string("XPathExtractor.matchNumber", number(maker.dice, &["-1", "1", "2", "0x"]))
        .string(
            "XPathExtractor.xpathQuery",
            *maker.dice.pick(&["//item", "//item/@id", "//none", "count(//item)", "//["]),
        )
        .flag("XPathExtractor.validate", false)
        .flag("XPathExtractor.tolerant", maker.dice.chance(30))
        .flag("XPathExtractor.namespace", maker.dice.chance(20));
    scope(maker, element, "Sample.scope")
}

fn xpath2(maker: &mut Maker) -> Element {
    let element = Element::new("XPath2Extractor", "XPath2ExtractorGui", maker.name("XPath2"))
        .string("XPathExtractor2.default", text(maker.dice, &["D", ""]))
        .string("XPathExtractor2.refname", "e")
        .string("XPathExtractor2.matchNumber", *maker.dice.pick(&["-1", "0", "1", "2"]))
        .string("XPathExtractor2.xpathQuery", *maker.dice.pick(&["//item", "//item/@id", "//none"]))
        .flag("XPathExtractor2.fragment", false)
        .string("XPathExtractor2.namespaces", "");
    scope(maker, element, "Sample.scope")
}

fn jmespath(maker: &mut Maker) -> Element {
    let element = Element::new("JMESPathExtractor", "JMESPathExtractorGui", maker.name("JMES"))
        .string("JMESExtractor.referenceName", text(maker.dice, &["e", "e", "list"]))
        .string(
            "JMESExtractor.jmesPathExpr",
            *maker.dice.pick(&["name", "list", "none", "list[1]", "n", "nested.deep"]),
        )
        .string("JMESExtractor.matchNumber", number(maker.dice, &["1", "-1", "2", ""]))
        .string("JMESExtractor.defaultValue", text(maker.dice, &["D", ""]));
    scope(maker, element, "Sample.scope")
}

fn response(maker: &mut Maker) -> Element {
    let field = *maker.dice.pick(
        [
            "response_data",
            "response_data",
            "response_data",
            "response_code",
            "response_message",
            "response_headers",
            "request_headers",
            "sample_label",
            "response_data_as_document",
            "request_data",
        ]
        .as_slice(),
    );
    let mut strings = Vec::new();
    for _ in 0..*maker.dice.pick(&[0, 1, 1, 1, 2]) {
        let text = text(
            maker.dice,
            &["ok", "404", "200", "OK", "${v}", "token", "(?i)O[KF]", "none", "["],
        );
        strings.push(Property::string("0", text));
    }
    // Test types of a Response Assertion: contains 2, matches 1, equals 8, substring 16; plus the modifiers "not" 4 or
    // "or" 32.
    let kind = *maker.dice.pick(&[2, 2, 16, 16, 1, 8]) + *maker.dice.pick(&[0, 0, 4, 32, 36]);
    let element = Element::new("ResponseAssertion", "AssertionGui", maker.name("Assert"))
        .with(Property::list("Asserion.test_strings", strings))
        .string(
            "Assertion.custom_message",
            if maker.dice.chance(20) {
                text(maker.dice, &["own ${v}", "${e}"])
            } else {
                String::new()
            },
        )
        .string("Assertion.test_field", format!("Assertion.{field}"))
        .flag("Assertion.assume_success", maker.dice.chance(25))
        .int("Assertion.test_type", kind);
    scope(maker, element, "Assertion.scope")
}

fn json_assertion(maker: &mut Maker, class: &str, path: &str, paths: &[&str]) -> Element {
    Element::new(class, &format!("{class}Gui"), maker.name("Assert"))
        .string(path, *maker.dice.pick(paths))
        .string(
            "EXPECTED_VALUE",
            text(maker.dice, &["Throng", "42", "Thr.*", "", "[\"a\",\"b\",\"c\"]"]),
        )
        .flag("JSONVALIDATION", maker.dice.chance(70))
        .flag("EXPECT_NULL", maker.dice.chance(20))
        .flag("INVERT", maker.dice.chance(25))
        .flag("ISREGEX", maker.dice.chance(50))
}

fn size(maker: &mut Maker) -> Element {
    let field = *maker.dice.pick(&[
        "response_data",
        "response_network_size",
        "response_headers",
        "response_code",
        "response_message",
    ]);
    let element = Element::new("SizeAssertion", "SizeAssertionGui", maker.name("Size"))
        .string("Assertion.test_field", format!("SizeAssertion.{field}"))
        .string("SizeAssertion.size", number(maker.dice, &["2", "3", "0", "100"]))
        .int("SizeAssertion.operator", 1 + maker.dice.below(6) as i64);
    scope(maker, element, "Assertion.scope")
}
