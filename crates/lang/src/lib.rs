//! The languages inside plans, with the behaviour of JMeter and Java. This crate does not depend on plans, elements or
//! users.
//!
//! All functions are pure functions of strings: a path, a selector or a pattern is parsed once and then evaluated on
//! documents. Code that loops over data from servers counts its steps with [`work::spend`], so that no string occupies
//! a thread for long.
//!
//! | module | holds |
//! |---|---|
//! | `jsonpath` | JSONPath in Jayway's dialect |
//! | `jmespath` | JMESPath over JSON as Jackson reads it |
//! | `xml`, `xpath` | documents as Xerces parses them, expressions as Xalan evaluates them |
//! | `jsoup` | pages and CSS selectors of this library |
//! | `tidy` | pages as JTidy cleans them up |
//! | `links` | links of pages and style sheets to embedded resources |
//! | `regexp` | regular expressions in Jakarta ORO's dialect |
//! | `jexl` | scripts in JEXL 3 |
//! | `variables`, `log` | the trait for variables and properties that scripts use; log levels |
//! | `java`, `decimal_format` | numbers as Java parses and prints them |
//! | `java_date` | dates by patterns of Java's `DateTimeFormatter` |
//! | `url`, `uri`, `percent` | addresses of `java.net`, and their escapes |
//! | `charset` | character sets by Java's names |
//! | `property_file` | Java's property files |
//! | `zone` | the time zone of this machine |
//! | `thrown` | exceptions of Java |
//! | `buffers` | reusable text buffers |
//! | `work` | the work limit of an evaluation |

pub mod buffers;
pub mod charset;
pub mod decimal_format;
pub mod java;
pub mod java_date;
pub mod java_regexp;
pub mod jexl;
pub mod jmespath;
pub mod jsonpath;
pub mod jsoup;
pub mod links;
pub mod log;
mod members;
pub mod percent;
pub mod property_file;
pub mod regexp;
pub mod thrown;
pub mod tidy;
pub mod uri;
pub mod url;
mod utf16;
pub mod variables;
pub mod work;
pub mod xml;
pub mod xpath;
pub mod zone;
