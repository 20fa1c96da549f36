//! The languages that plans contain, as JMeter and Java have them; nothing here knows of plans, elements or users.
//!
//! Pure functions of texts: a path, a selector, a pattern is read once and then evaluated on documents. Code that loops over
//! data of servers counts its steps with [`work::spend`], so that no text holds a thread for long.
//!
//! | module | holds |
//! |---|---|
//! | `jsonpath` | JSONPath in Jayway's dialect |
//! | `jmespath` | JMESPath over JSON as Jackson reads it |
//! | `xml`, `xpath` | documents as Xerces reads them, expressions as Xalan evaluates them |
//! | `jsoup`, `jodd` | pages and CSS selectors as these two libraries have them |
//! | `tidy` | pages as JTidy cleans them up |
//! | `links` | links of pages and style sheets to resources that are loaded with them |
//! | `regexp` | regular expressions in Jakarta ORO's dialect |
//! | `jexl` | scripts in JEXL 3 |
//! | `variables`, `log` | the variables and properties that scripts see, as a trait; severities of the log |
//! | `java`, `decimal_format` | numbers as Java reads and writes them |
//! | `java_date` | dates by patterns of Java's `DateTimeFormatter` |
//! | `url`, `uri`, `percent` | addresses as `java.net` has them, and their escapes |
//! | `charset` | character sets by Java's names |
//! | `property_file` | Java's property files |
//! | `zone` | the time zone of this machine |
//! | `thrown` | exceptions of Java |
//! | `buffers` | reusable buffers of text |
//! | `work` | the limit of steps of one evaluation |

pub mod buffers;
pub mod charset;
pub mod decimal_format;
pub mod java;
pub mod java_date;
pub mod java_regexp;
pub mod jexl;
pub mod jmespath;
pub mod jodd;
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
