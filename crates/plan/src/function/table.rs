//! All functions that JMeter comes with: name, number of parameters, how they run. Names are case-sensitive.

use super::{
    Spec, comparison, counter, csv_read, digest, draw, escape, file, letters, log, property, split,
    string_from_file, sum, time, url, user, variable,
};
use crate::condition::Dialect;

/// The function of a name, if JMeter has one.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    // Most names are variables, and those start otherwise.
    if !name.starts_with("__") {
        return None;
    }
    FUNCTIONS.iter().find(|spec| spec.name == name)
}

pub(super) static FUNCTIONS: &[Spec] = &[
    Spec::jvm("__BeanShell", 1, 2),
    Spec::native("__CSVRead", 2, 2, csv_read::read),
    Spec::native("__FileToString", 1, 3, file::read).variable(2),
    Spec::native("__P", 1, 2, property::p).reads_property(),
    Spec::native("__Random", 2, 3, draw::number).variable(2),
    Spec::native("__RandomDate", 3, 5, time::random).variable(4).checked(time::check_locale),
    Spec::native("__RandomFromMultipleVars", 1, 2, split::random_value).variable(1),
    Spec::native("__RandomString", 1, 3, draw::string).variable(2),
    Spec::native("__StringFromFile", 1, 4, string_from_file::read).variable(1).stateful(),
    Spec::native("__StringToFile", 2, 4, file::write),
    Spec::native("__TestPlanName", 0, 0, user::plan_name),
    Spec::native("__UUID", 0, 0, draw::uuid),
    Spec::native("__V", 1, 2, variable::v).variable(0),
    Spec::jvm("__XPath", 2, 2),
    Spec::native("__changeCase", 1, 3, letters::change_case).variable(2),
    Spec::native("__char", 1, Spec::ANY, letters::char),
    Spec::native("__counter", 1, 2, counter::count).variable(1).stateful(),
    Spec::native("__dateTimeConvert", 3, 4, time::convert).variable(3),
    Spec::native("__digest", 2, 5, digest::digest).variable(4),
    Spec::native("__escapeHtml", 1, 1, escape::to_html),
    Spec::native("__escapeOroRegexpChars", 1, 2, escape::to_regexp).variable(1),
    Spec::native("__escapeXml", 1, 1, escape::to_xml),
    Spec::native("__eval", 1, 1, variable::eval),
    Spec::native("__evalVar", 1, 1, variable::eval_var).variable(0),
    Spec::script("__groovy", Dialect::Groovy, comparison::groovy),
    Spec::native("__intSum", 2, Spec::ANY, sum::int),
    Spec::native("__isPropDefined", 1, 1, property::is_defined).reads_property(),
    Spec::native("__isVarDefined", 1, 1, variable::is_defined).variable(0),
    Spec::script("__javaScript", Dialect::JavaScript, comparison::java_script),
    Spec::script("__jexl2", Dialect::Jexl, comparison::jexl),
    Spec::script("__jexl3", Dialect::Jexl, comparison::jexl),
    Spec::native("__log", 1, 4, log::log),
    Spec::native("__logn", 1, 3, log::logn),
    Spec::native("__longSum", 2, Spec::ANY, sum::long),
    Spec::native("__machineIP", 0, 1, user::machine_ip).variable(0),
    Spec::native("__machineName", 0, 1, user::machine_name).variable(0),
    Spec::native("__property", 1, 3, property::property).reads_property(),
    Spec::jvm("__regexFunction", 2, 7),
    Spec::native("__samplerName", 0, 1, user::sampler_name).variable(0),
    Spec::native("__setProperty", 2, 3, property::set),
    Spec::native("__split", 2, 3, split::split).variable(1),
    Spec::native("__threadGroupName", 0, 0, user::group_name),
    Spec::native("__threadNum", 0, 0, user::number),
    Spec::native("__time", 0, 2, time::time).variable(1),
    Spec::native("__timeShift", 4, 5, time::shift).checked(time::check_locale),
    Spec::native("__unescape", 1, 1, escape::from_java),
    Spec::native("__unescapeHtml", 1, 1, escape::from_html),
    Spec::native("__urldecode", 1, 1, url::decode),
    Spec::native("__urlencode", 1, 1, url::encode),
];
