//! All functions of JMeter and of the jp@gc plug-ins: name, number of parameters, and implementation. Names are
//! case-sensitive.

use super::{
    Spec, comparison, counter, csv_read, digest, draw, escape, fifo, file, jexl, jpgc, letters,
    log, property, regex_function, split, string_from_file, sum, time, url, user, variable, xpath,
};
use crate::condition::Dialect;
use crate::script::Language;

/// Returns the function of this name, if there is one.
pub(crate) fn find(name: &str) -> Option<&'static Spec> {
    // Nearly all other names belong to variables, and most variables do not begin with two underscores.
    if !name.starts_with("__") {
        return None;
    }
    FUNCTIONS.iter().find(|spec| spec.name == name)
}

pub(super) static FUNCTIONS: &[Spec] = &[
    Spec::jvm("__BeanShell", 1, 2).variable(1).simple(Language::BeanShell).acts(),
    Spec::native("__CSVRead", 2, 2, csv_read::read).acts(),
    Spec::native("__FileToString", 1, 3, file::read).variable(2).acts(),
    Spec::native("__MD5", 1, Spec::ANY, jpgc::md5),
    Spec::native("__P", 1, 2, property::p).reads_property(),
    Spec::native("__Random", 2, 3, draw::number).variable(2),
    Spec::native("__RandomDate", 3, 5, time::random).variable(4).checked(time::check_locale),
    Spec::native("__RandomFromMultipleVars", 1, 2, split::random_value).variable(1),
    Spec::native("__RandomString", 1, 3, draw::string).variable(2),
    Spec::native("__StringFromFile", 1, 4, string_from_file::read).variable(1).stateful().acts(),
    Spec::native("__StringToFile", 2, 4, file::write).acts(),
    Spec::native("__TestPlanName", 0, 0, user::plan_name),
    Spec::native("__UUID", 0, 0, draw::uuid),
    Spec::native("__V", 1, 2, variable::v).variable(0),
    Spec::native("__XPath", 2, 2, xpath::next).acts(),
    Spec::native("__base64Decode", 1, 2, jpgc::from_base64),
    Spec::native("__base64Encode", 1, 2, jpgc::to_base64),
    Spec::native("__caseFormat", 1, 3, jpgc::case_format),
    Spec::native("__changeCase", 1, 3, letters::change_case).variable(2),
    Spec::native("__char", 1, Spec::ANY, letters::char),
    Spec::native("__chooseRandom", 3, Spec::ANY, jpgc::any),
    Spec::native("__counter", 1, 2, counter::count).variable(1).stateful(),
    Spec::native("__dateTimeConvert", 3, 4, time::convert).variable(3),
    Spec::native("__digest", 2, 5, digest::digest).variable(4),
    Spec::native("__doubleSum", 2, Spec::ANY, jpgc::sum),
    Spec::native("__env", 1, 3, jpgc::environment),
    Spec::native("__escapeHtml", 1, 1, escape::to_html),
    Spec::native("__escapeOroRegexpChars", 1, 2, escape::to_regexp).variable(1),
    Spec::native("__escapeXml", 1, 1, escape::to_xml),
    Spec::native("__eval", 1, 1, variable::eval),
    Spec::native("__evalVar", 1, 1, variable::eval_var).variable(0),
    Spec::native("__fifoGet", 1, Spec::ANY, fifo::get),
    Spec::native("__fifoPop", 1, Spec::ANY, fifo::pop),
    Spec::native("__fifoPut", 2, Spec::ANY, fifo::put),
    Spec::native("__fifoSize", 1, Spec::ANY, fifo::size),
    Spec::script("__groovy", Dialect::Groovy, comparison::groovy).simple(Language::Groovy),
    Spec::native("__if", 4, Spec::ANY, jpgc::choose),
    Spec::native("__intSum", 2, Spec::ANY, sum::int),
    Spec::native("__isDefined", 1, Spec::ANY, jpgc::is_defined),
    Spec::native("__isPropDefined", 1, 1, property::is_defined).reads_property(),
    Spec::native("__isVarDefined", 1, 1, variable::is_defined).variable(0),
    Spec::native("__iterationNum", 0, Spec::ANY, jpgc::iteration),
    Spec::script("__javaScript", Dialect::JavaScript, comparison::java_script),
    Spec::script("__jexl2", Dialect::Jexl, comparison::jexl),
    Spec::jexl("__jexl3", jexl::run),
    Spec::native("__log", 1, 4, log::log),
    Spec::native("__logn", 1, 3, log::logn),
    Spec::native("__longSum", 2, Spec::ANY, sum::long),
    Spec::native("__lowercase", 1, Spec::ANY, jpgc::lower),
    Spec::native("__machineIP", 0, 1, user::machine_ip).variable(0).acts(),
    Spec::native("__machineName", 0, 1, user::machine_name).variable(0).acts(),
    Spec::native("__property", 1, 3, property::property).reads_property(),
    Spec::native("__regexFunction", 2, 7, regex_function::search)
        .variable(5)
        .checked(regex_function::check),
    Spec::native("__samplerName", 0, 1, user::sampler_name).variable(0),
    Spec::native("__setProperty", 2, 3, property::set),
    Spec::native("__split", 2, 3, split::split).variable(1),
    Spec::native("__strLen", 1, Spec::ANY, jpgc::length),
    Spec::native("__strReplace", 3, Spec::ANY, jpgc::replace),
    Spec::native("__strReplaceRegex", 3, Spec::ANY, jpgc::replace_regex),
    Spec::native("__substring", 3, Spec::ANY, jpgc::substring),
    Spec::native("__threadGroupName", 0, 0, user::group_name),
    Spec::native("__threadNum", 0, 0, user::number),
    Spec::native("__time", 0, 2, time::time).variable(1),
    Spec::native("__timeShift", 4, 5, time::shift).checked(time::check_locale),
    Spec::native("__tstFeedback", 2, 4, jpgc::feedback),
    Spec::native("__unescape", 1, 1, escape::from_java),
    Spec::native("__unescapeHtml", 1, 1, escape::from_html),
    Spec::native("__uppercase", 1, Spec::ANY, jpgc::upper),
    Spec::native("__urldecode", 1, 1, url::decode),
    Spec::native("__urlencode", 1, 1, url::encode),
];
