//! Causes of differences that are known, each with the place that documents it.
//!
//! A rule looks at the smallest plan and at its difference. It is as narrow as its cause: a plan with the same elements that differs in
//! another way is not meant. Plans that Throng refuses in words, before it sends anything, are told apart before they are made smaller.

use crate::difference::Difference;
use crate::tree::Element;

/// One cause.
pub(crate) struct Known {
    /// A few words for tables.
    pub(crate) name: &'static str,
    /// Where it is documented.
    pub(crate) documented: &'static str,
    fits: fn(&Element, &Difference) -> bool,
}

const KNOWN: &[Known] = &[
    Known {
        name: "an extractor that throws: JMeter loses the sample",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            let nameless = |element: &Element| {
                let name = element.value("BoundaryExtractor.refname");
                element.class == "BoundaryExtractor" && name.unwrap_or_default().is_empty()
            };
            difference.kind == "rows too many" && has(plan, nameless)
        },
    },
    Known {
        name: "the body of a sample without an answer: a stack trace in JMeter",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            const READERS: &[&str] =
                &["Assertion", "Extractor", "PostProcessor", "HTTPRawSampler", "ResultSaver"];
            let reads = |element: &Element| READERS.iter().any(|end| element.class.ends_with(end));
            let unanswered = ["Non HTTP response code", "500,java.net."];
            let others = ["responseCode", "rows missing", "rows too many"];
            has(plan, reads)
                && unanswered.iter().any(|text| difference.text.contains(text))
                // Lines of a trace inside of a message change how many lines there are.
                && (difference.text.contains("\\u0009at ")
                    || !others.iter().any(|kind| difference.kind.contains(kind)))
        },
    },
    Known {
        name: "a file that cannot be read is found out before the rest",
        documented: "differences.md, Results",
        fits: |_, difference| {
            let has = |mark: char, text: &str| {
                difference.text.lines().any(|line| line.starts_with(mark) && line.contains(text))
            };
            // JMeter has found something else that is wrong, or has sent a head without a body.
            let other = has('+', "FileNotFoundException") && !has('-', "FileNotFoundException");
            let sent =
                difference.kind == "requests" && has('-', " HTTP/1.1") && !has('+', " HTTP/1.1");
            other && has('-', "Exception") || sent && difference.files_missing
        },
    },
    Known {
        name: "what a Debug Sampler lists differs from run to run",
        documented: "tests/parity/README.md, What is not compared",
        fits: |plan, difference| {
            has(plan, |element| element.class == "DebugSampler")
                && difference.text.contains("JMeterVariables:")
                && !difference.kind.contains("responseCode")
        },
    },
    Known {
        name: "an automatic redirect to what is no URI is followed",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            let automatic =
                |element: &Element| element.value("HTTPSampler.auto_redirects") == Some("true");
            has(plan, automatic)
                && difference
                    .text
                    .contains("ClientProtocolException,Non HTTP response message: null")
        },
    },
    Known {
        name: "an implementation that is none, by a variable",
        documented: "differences.md, Load",
        fits: |_, difference| difference.text.contains("Unknown implementation type: '"),
    },
    Known {
        name: "the Java implementation keeps connections for all users",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            difference.kind == "requests"
                && has(plan, |e| e.value("HTTPSampler.implementation") == Some("Java"))
                && difference.text.contains("== connection")
        },
    },
    Known {
        name: "an idle time below zero, where a Dummy Sampler took no time",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            has(plan, |element| element.class.ends_with("DummySampler"))
                && difference
                    .text
                    .lines()
                    .any(|line| line.starts_with('-') && line.contains(",-1,_"))
        },
    },
];

fn has(plan: &Element, is: impl Fn(&Element) -> bool) -> bool {
    let mut found = false;
    plan.each(&mut |element| found |= is(element));
    found
}

/// The known cause of a difference, if it has one.
pub(crate) fn cause(plan: &Element, difference: &Difference) -> Option<&'static Known> {
    KNOWN.iter().find(|known| (known.fits)(plan, difference))
}
