//! Values for properties: common values, edge cases, variables and functions.

use crate::dice::Dice;

/// Variables that the plan, its files or its elements define; `u` is never defined.
const VARIABLES: &[&str] = &[
    "${v}",
    "${v}",
    "${n}",
    "${list_1}",
    "${list_2}",
    "${list_matchNr}",
    "${a}",
    "${b}",
    "${c}",
    "${e}",
    "${e_1}",
    "${e_matchNr}",
    "${e_g1}",
    "${it}",
    "${p}",
    "${r}",
    "${u}",
    "${s}",
    "${COOKIE_k}",
    "${__jm__L1__idx}",
    "${__jm__Users__idx}",
    "${JMeterThread.last_sample_ok}",
    "${w}",
];

/// Functions with the same values in two runs. `%` stands for a string.
const FUNCTIONS: &[&str] = &[
    "${__counter(FALSE,)}",
    "${__counter(TRUE,)}",
    "${__counter(FALSE,s)}",
    "${__threadNum}",
    "${__threadGroupName}",
    "${__samplerName()}",
    "${__samplerName(s)}",
    "${__TestPlanName}",
    "${__intSum(1,${n},s)}",
    "${__intSum(-3,2)}",
    "${__longSum(9000000000,1,s)}",
    "${__P(none,%)}",
    "${__P(q)}",
    "${__property(q,s,%)}",
    "${__setProperty(q,%,)}",
    "${__setProperty(q,%,true)}",
    "${__V(list_${n})}",
    "${__V(u,%)}",
    "${__eval(%)}",
    "${__eval(${v}${n})}",
    "${__evalVar(v)}",
    "${__evalVar(u)}",
    "${__split(a\\,b\\,c,s)}",
    "${__split(x;;y,s,;)}",
    "${__char(65,0x42)}",
    "${__unescape(a\\\\tb)}",
    "${__urlencode(a b&%)}",
    "${__urldecode(a+b%41)}",
    "${__escapeHtml(<%>)}",
    "${__unescapeHtml(&lt;%&amp;)}",
    "${__escapeXml(<%>)}",
    "${__escapeOroRegexpChars([%]*)}",
    "${__changeCase(%,UPPER,s)}",
    "${__changeCase(ab cd,CAPITALIZE)}",
    "${__isVarDefined(e)}",
    "${__isPropDefined(q)}",
    "${__digest(MD5,%,,,)}",
    "${__RandomString(3,z,s)}",
    "${__Random(4,4,s)}",
    "${__time(/1000000000000,)}",
    "${__RandomFromMultipleVars(v)}",
    "${__timeShift(yyyy-MM-dd,2020-02-28,P1D,,)}",
    "${__dateTimeConvert(2020-01-02,yyyy-MM-dd,dd/MM/yyyy,)}",
    "${__StringFromFile(lines.txt,s,,)}",
    "${__CSVRead(data.csv,0)}",
    "${__CSVRead(data.csv,next)}",
    "${__FileToString(body.txt,,s)}",
    "${__XPath(items.xml,//item/@id)}",
    "${__regexFunction(o(.),$1$,1,,D)}",
    "${__regexFunction((\\w)(\\w),$2$$1$,ALL,-,D,s)}",
    "${__regexFunction(x(.*),$1$,2,,%)}",
    "${__jexl3(1 + ${n},s)}",
    "${__jexl3(\"${v}\" == \"vee\",)}",
    "${__jexl2(${n} * 2,)}",
    "${__log(%)}",
    "${__logn(%)}",
    "${__groovy(1 + 1)}",
    "${__groovy(vars.get(\"v\"))}",
    "${__javaScript(1 == 1)}",
    "${__nope(1)}",
    "${__UPPER}",
    "${__char(x)}",
    "${__changeCase(}",
    "${__P()}",
    "${__eval(${__P(none,${v})})}",
    "${__V(v)x",
    "${",
    "$",
];

const LITERALS: &[&str] = &[
    "a", "b", "one two", "", "1", "0", "2", "-1", "true", "false", "x=1&y=2", "<t>", "ü€", "a,b",
    "\\,", "\\", " ", "a;b", "100", "\"q\"", "'", "null", "%41", "/", "a\nb",
];

/// Draws a literal text.
pub(crate) fn literal(dice: &mut Dice) -> String {
    (*dice.pick(LITERALS)).to_owned()
}

/// Draws a variable or a function call of JMeter.
pub(crate) fn expression(dice: &mut Dice) -> String {
    if dice.chance(45) {
        return (*dice.pick(VARIABLES)).to_owned();
    }
    let call = *dice.pick(FUNCTIONS);
    let inner =
        if dice.chance(60) { "ab" } else { *dice.pick(&["${v}", "", "ü", "${u}", "a b", "${n}"]) };
    call.replace('%', inner)
}

/// Draws a string: mostly a usual value, sometimes replaced or followed by a literal or an expression.
pub(crate) fn text(dice: &mut Dice, usual: &[&str]) -> String {
    let usual = (*dice.pick(usual)).to_owned();
    match dice.below(20) {
        0 => literal(dice),
        1 | 2 => expression(dice),
        3 => usual + &expression(dice),
        _ => usual,
    }
}

/// Draws a number as text: mostly a usual value.
pub(crate) fn number(dice: &mut Dice, usual: &[&str]) -> String {
    match dice.below(24) {
        0 => (*dice.pick(&["", "x", "1.5", " 1", "-2", "99999999999"])).to_owned(),
        1 | 2 => (*dice.pick(&["${n}", "${u}", "${__intSum(1,0)}", "${one}", "${__P(none,1)}"]))
            .to_owned(),
        _ => (*dice.pick(usual)).to_owned(),
    }
}
