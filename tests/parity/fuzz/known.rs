//! Known causes of differences, each with the place that documents it.
//!
//! A rule examines the smallest plan and its difference. The rule is as narrow as its cause: it does not match a plan
//! with the same elements that differs in another way. Plans that Throng refuses before it sends anything are sorted
//! out before shrinking.

use crate::difference::Difference;
use crate::tree::{Element, Property};

/// A known cause of differences.
pub(crate) struct Known {
    /// Name of the cause in a few words, for tables.
    pub(crate) name: &'static str,
    /// Document and section that describe the cause.
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
                // An expression may evaluate to an empty variable name too.
                let name = name.unwrap_or_default();
                element.class == "BoundaryExtractor" && (name.is_empty() || name.contains("${__"))
            };
            let throws = |element: &Element| {
                let functions = ["${__intSum(", "${__longSum("];
                element.class.ends_with("Extractor")
                    && functions.iter().any(|function| element.mentions(function))
            };
            let is_number = |text: &str| text.is_empty() || text.parse::<i32>().is_ok();
            let numberless = |element: &Element| {
                element.class == "JMESPathExtractor"
                    && !is_number(element.value("JMESExtractor.matchNumber").unwrap_or_default())
            };
            difference.kind.contains("rows too many")
                && (has(plan, nameless) || has(plan, numberless) || has(plan, throws))
        },
    },
    Known {
        name: "the body of a sample without an answer: a stack trace in JMeter",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            const READERS: &[&str] =
                &["Assertion", "Extractor", "PostProcessor", "HTTPRawSampler", "ResultSaver"];
            let reads = |element: &Element| READERS.iter().any(|end| element.class.ends_with(end));
            let unanswered = [
                "Non HTTP response code",
                "500,java.net.",
                "received  : [[[java.",
                "received  : [[[org.apache.http.",
                "(String)\"\"java.",
            ];
            let others = ["responseCode", "rows missing", "rows too many"];
            has(plan, reads)
                && unanswered.iter().any(|text| difference.text.contains(text))
                // Stack trace lines inside a message change the number of rows.
                && (["\\u0009at ", "\tat java.", "\tat%20", "%09at%20", "Test failed: text"].iter().any(|text| difference.text.contains(text))
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
            // JMeter found another error first, or sent a head without a body.
            let other = has('+', "FileNotFoundException") && !has('-', "FileNotFoundException");
            let sent =
                difference.kind == "requests" && has('-', " HTTP/1.1") && !has('+', " HTTP/1.1");
            // A request that JMeter sent only in part, or not at all, closes its connection.
            let lines = || difference.text.lines().filter(|line| line.starts_with(['-', '+']));
            let reconnects = difference.kind == "requests"
                && lines()
                    .all(|line| line.starts_with("- == connection") || line == "--- requests.txt");
            other && has('-', "Exception") || (sent || reconnects) && difference.files_missing
        },
    },
    Known {
        name: "what a Debug Sampler lists differs from run to run",
        documented: "tests/parity/README.md, What is not compared",
        fits: |plan, difference| {
            let lists = |element: &Element| {
                element.class == "DebugSampler"
                    && element.value("displayJMeterVariables") == Some("true")
            };
            // Messages of assertions that depend on the object numbers in the listing: the numbers contain searched
            // digits, or change a digest or a size.
            let found = [
                "JMeterVariables:",
                "JMeterThread.pack=",
                "asserting MD5 sum",
                "Test failed: text expected",
                "The result was the wrong size",
            ];
            has(plan, lists)
                && found.iter().any(|text| difference.text.contains(text))
                && !difference.kind.contains("responseCode")
        },
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
        name: "a time below zero: a Dummy Sampler's sample has it in JMeter, or is lost where it waits",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            let dummy = |element: &Element| element.class.ends_with("DummySampler");
            let below = |element: &Element| {
                dummy(element)
                    && element.value("RESPONSE_TIME").unwrap_or_default().starts_with('-')
            };
            has(plan, below) && difference.kind.contains("rows too many")
                || has(plan, dummy) && difference.text.lines().any(|line| line.starts_with("- _,-"))
        },
    },
    Known {
        name: "a data file that several CSV Data Sets read in different ways",
        documented: "differences.md, Load",
        fits: |plan, _| {
            let mut files = Vec::new();
            plan.each(&mut |element| {
                if element.class == "CSVDataSet" {
                    files.push(element.value("filename").unwrap_or_default());
                }
            });
            files.sort_unstable();
            files.windows(2).any(|two| two[0] == two[1])
        },
    },
    Known {
        name: "an XML document that JTidy fails at",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            let tolerant = |element: &Element| {
                element.value("XPathExtractor.tolerant") == Some("true")
                    || element.value("XPath.tolerant") == Some("true")
            };
            let said = difference.text.contains("Index -1 out of bounds for length 128");
            // An extractor of all matches throws, and JMeter loses the sample.
            let lost =
                difference.kind.contains("rows too many") && difference.text.contains("/items");
            has(plan, tolerant) && (said || lost)
        },
    },
    Known {
        name: "what a Module Controller points to, with an Include Controller that has no file",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            let without = |element: &Element| {
                element.class == "IncludeController"
                    && element.value("IncludeController.includepath") != Some("fragment.jmx")
            };
            difference.kind.contains("rows too many")
                && has(plan, without)
                && has(plan, |element| element.class == "ModuleController")
        },
    },
    Known {
        name: "an expression that cannot be read, in a Test Fragment",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            let fragment = |element: &Element| element.class == "TestFragmentController";
            has(plan, fragment) && difference.text.contains("\n- not written")
        },
    },
    Known {
        name: "a port number, or a boundary, that is cut short",
        documented: "tests/parity/README.md, What is not compared",
        fits: |_, difference| {
            let cut = |mark: &str| {
                difference
                    .text
                    .lines()
                    .any(|line| line.starts_with(mark) && line.ends_with("...]]]"))
            };
            cut("- Host: 127.0.0.1:") && cut("+ Host: 127.0.0.1:")
                || cut("- Content-Type: multipart") && cut("+ Content-Type: multipart")
        },
    },
    Known {
        name: "the MIME type of a file that a body without multipart goes with: JMeter evaluates it several times",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            // The first evaluation returns the property's old value, the second one the value just set.
            let sets = |element: &Element| {
                let mut jmx = String::new();
                element.properties.iter().for_each(|property| property.write(&mut jmx));
                jmx.contains("<stringProp name=\"File.mimetype\">${__setProperty(")
            };
            let mut lines = difference.text.lines().filter(|line| line.starts_with(['-', '+']));
            difference.kind == "requests"
                && has(plan, sets)
                && lines.all(|line| {
                    line == "--- requests.txt" || line[1..].starts_with(" Content-Type: ")
                })
        },
    },
    Known {
        name: "the plan's own Content-Type, behind a redirect that a multipart POST follows by itself",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            let form = |element: &Element| {
                element.value("HTTPSampler.auto_redirects") == Some("true")
                    && element.value("HTTPSampler.DO_MULTIPART_POST") == Some("true")
            };
            let mut lines = difference.text.lines().filter(|line| line.starts_with(['-', '+']));
            difference.kind == "requests"
                && has(plan, form)
                && lines
                    .all(|line| line == "--- requests.txt" || line.starts_with("+ Content-Type: "))
        },
    },
    Known {
        name: "an argument that a sampler and its defaults have alike: JMeter loses the sampler's",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            let arguments = |class: &str| {
                let mut found = Vec::new();
                plan.each(&mut |element| {
                    if element.class == class {
                        element.objects("HTTPArgument", &mut found);
                    }
                });
                found
            };
            let defaults = arguments("ConfigTestElement");
            let count = |mark: char, text: &str| -> usize {
                let lines = difference.text.lines().filter(|line| line.starts_with(mark));
                lines.map(|line| line.matches(text).count()).sum()
            };
            let lost = |items: &&[Property]| {
                let value = items.iter().find_map(|item| item.text("Argument.name"));
                let name = value.map(|name| format!("{name}="));
                name.is_some_and(|name| count('+', &name) > count('-', &name))
            };
            let moved = ["too many", "missing"].iter().any(|word| difference.kind.contains(word));
            let samplers = arguments("HTTPSamplerProxy");
            !moved && samplers.iter().filter(|items| defaults.contains(items)).any(lost)
        },
    },
    Known {
        name: "users that end while their controllers are made ready are not counted",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            let across = |element: &Element| {
                element.value("InterleaveControl.accrossThreads") == Some("true")
            };
            // With multi-line messages, the difference appears in another column.
            let rows = difference.kind.starts_with("rows ");
            let moved = ["too many", "missing"].iter().any(|word| difference.kind.contains(word));
            has(plan, across) && rows && !moved && difference.text.contains(",1,0,")
        },
    },
    Known {
        name: "a loop that finds no sampler goes on; JMeter's thread ends with a stack overflow",
        documented: "differences.md, Load",
        fits: |_, difference| {
            let ours = difference.ended.as_deref().unwrap_or_default();
            ours.starts_with("did not end") && !difference.text.contains("- did not end")
        },
    },
    Known {
        name: "an Interleave Controller whose controllers have nothing to run: JMeter's thread looks without end",
        documented: "differences.md, Load",
        fits: |plan, difference| {
            let interleave = |element: &Element| element.class == "InterleaveControl";
            has(plan, interleave) && difference.text.contains("\n- did not end")
        },
    },
    Known {
        name: "a transaction around a sample that never began: JMeter's time is minus the time of day",
        documented: "differences.md, Results",
        fits: |plan, difference| {
            let transaction = |element: &Element| element.class == "TransactionController";
            let mut lost = difference.text.lines().filter(|line| line.starts_with("- "));
            let minus_epoch = |field: &str| {
                field
                    .strip_prefix('-')
                    .is_some_and(|ms| ms.len() == 13 && ms.parse::<u64>().is_ok())
            };
            has(plan, transaction)
                && difference.kind.starts_with("rows ")
                && lost.all(|line| line.split(',').any(minus_epoch))
        },
    },
];

fn has(plan: &Element, is: impl Fn(&Element) -> bool) -> bool {
    let mut found = false;
    plan.each(&mut |element| found |= is(element));
    found
}

/// Returns the known cause of a difference, if it has one.
pub(crate) fn cause(plan: &Element, difference: &Difference) -> Option<&'static Known> {
    KNOWN.iter().find(|known| (known.fits)(plan, difference))
}
