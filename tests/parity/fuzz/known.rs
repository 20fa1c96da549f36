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
                element.class == "BoundaryExtractor"
                    && element.value("BoundaryExtractor.refname").unwrap_or_default().is_empty()
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
            has(plan, reads)
                && unanswered.iter().any(|text| difference.text.contains(text))
                && !difference.kind.contains("responseCode")
                && !difference.kind.contains("rows missing")
                && !difference.kind.contains("rows too many")
        },
    },
    Known {
        name: "a file that cannot be read is found out before the rest",
        documented: "differences.md, Results",
        fits: |_, difference| {
            let lines =
                |mark: char| difference.text.lines().filter(move |line| line.starts_with(mark));
            lines('+').any(|line| line.contains("FileNotFoundException"))
                && !lines('-').any(|line| line.contains("FileNotFoundException"))
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
