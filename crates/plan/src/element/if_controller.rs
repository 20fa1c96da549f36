//! If Controller: runs its children if a condition holds, which is asked once, or before each of them.

use jmx::ElementId;

use crate::compile::Context;
use crate::condition::{Condition, is_native_script};
use crate::plan::ControllerKind;
use crate::support::Level;
use crate::text::Text;

pub(super) fn compile(ctx: &mut Context<'_>, id: ElementId) -> ControllerKind {
    let condition = if ctx.flag(id, "IfController.useExpression", false) {
        Condition::Expression(ctx.prop(id, "IfController.condition"))
    } else if let Some(call) = foreign(ctx, id) {
        // What is wrong with it is told by the review.
        let text = Text::compile(&call, &mut ctx.text);
        ctx.text.problems.clear();
        Condition::Expression(text)
    } else {
        Condition::Script(ctx.prop(id, "IfController.condition"))
    };
    ControllerKind::If { condition, evaluate_all: ctx.flag(id, "IfController.evaluateAll", false) }
}

pub(super) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let props = ctx.props(id);
    let source = props.str("IfController.condition").unwrap_or("").trim();
    if props.bool("IfController.useExpression").unwrap_or(false) || is_native_script(source) {
        return;
    }
    let (level, what) = match foreign(ctx, id) {
        Some(_) => (Level::Jvm, "the condition is JavaScript, which runs in Java"),
        None if ctx.settings.hosting => {
            (Level::Unsupported, "the condition is JavaScript with parentheses that do not match")
        }
        None => (Level::Jvm, "the condition is JavaScript, which needs a JVM"),
    };
    ctx.remark(id, level, format!("{what}: {source}"));
}

/// A condition in JavaScript that is not computed here as a call of the function that runs such scripts in Java.
fn foreign(ctx: &Context<'_>, id: ElementId) -> Option<String> {
    let source = ctx.props(id).str("IfController.condition").unwrap_or("");
    let foreign = ctx.settings.hosting && !is_native_script(source.trim());
    foreign.then(|| call(source))?
}

/// A script as the parameter of a call: commas would end it, as would a parenthesis that nothing opens.
fn call(script: &str) -> Option<String> {
    let escapes = script.contains("${");
    let mut call = String::from("${__javaScript(");
    let (mut open, mut references, mut before) = (0i32, 0u32, ' ');
    let mut letters = script.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '{' if before == '$' => references += 1,
            '}' if references > 0 => references -= 1,
            '(' if references == 0 => open += 1,
            ')' if references == 0 => open -= 1,
            // A text without references has no escapes.
            '\\' if !escapes => call.push('\\'),
            '\\' => {
                call.push(letter);
                call.extend(letters.next());
                before = ' ';
                continue;
            }
            ',' if references == 0 => call.push('\\'),
            _ => {}
        }
        if open < 0 {
            return None;
        }
        call.push(letter);
        before = letter;
    }
    call.push_str(")}");
    (open == 0 && references == 0).then_some(call)
}

#[cfg(test)]
mod tests {
    use super::call;

    #[test]
    fn scripts_become_parameters() {
        let call = |script| call(script).expect("a call");
        assert_eq!(call("f(a, 'b')"), r"${__javaScript(f(a\, 'b'))}");
        assert_eq!(call(r"'\d' == x"), r"${__javaScript('\\d' == x)}");
        assert_eq!(call(r"'${a}'.m(/\d/)"), r"${__javaScript('${a}'.m(/\d/))}");
        assert_eq!(call("${__P(a,b)} > 1"), "${__javaScript(${__P(a,b)} > 1)}");
    }

    #[test]
    fn what_is_no_parameter_is_told() {
        for script in ["')' == x", "'(' == x", "${a"] {
            assert_eq!(super::call(script), None, "{script}");
        }
    }
}
