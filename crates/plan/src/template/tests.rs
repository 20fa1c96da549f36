//! Property tests of templates. Tables in the function tests show how JMeter parses and evaluates strings.

use proptest::prelude::*;

use super::{Template, TemplateCompiler};
use crate::function::Shared;
use crate::world::World;

fn world(compiler: TemplateCompiler) -> World {
    World::named(compiler.names, Shared::default())
}

#[test]
fn variables_inside_parameters_are_found() {
    let mut compiler = TemplateCompiler::default();
    let text = Template::compile("${a}-${__P(${b},${__V(${c})})}-${a}", &mut compiler);
    let found: Vec<_> = text.variables().into_iter().map(|id| compiler.names.name(id)).collect();
    assert_eq!(found, ["a", "b", "c", "a"]);
    assert_eq!(text.raw(), "${a}-${__P(${b},${__V(${c})})}-${a}");
    assert!(text.fixed().is_none());
}

#[test]
fn text_without_expressions_is_fixed() {
    let mut compiler = TemplateCompiler::default();
    for (source, value) in
        [("a\\,b", "a\\,b"), ("\\${a}", "\\${a}"), ("x${a", "xa"), ("${__P()}", "${__P()}")]
    {
        let text = Template::compile(source, &mut compiler);
        assert_eq!((text.fixed(), text.raw()), (Some(value), source));
    }
    assert!(compiler.names.is_empty());
}

#[test]
fn names_in_fixed_parameters_get_slots() {
    let mut compiler = TemplateCompiler::default();
    Template::compile(
        "${__Random(1,2, r )}${__Random(1,2,q)}${__V(v)}${__evalVar(w)}",
        &mut compiler,
    );
    assert!(compiler.names.find("q").is_some() && compiler.names.find("v").is_some());
    assert!(compiler.names.find("w").is_some() && compiler.names.find(" r ").is_none());
}

#[test]
fn deep_nesting_is_refused() {
    let mut compiler = TemplateCompiler::default();
    let deep = |levels: usize| format!("{}x{}", "${__V(".repeat(levels), ")}".repeat(levels));
    let text = Template::compile(&deep(60), &mut compiler);
    assert!(compiler.problems.is_empty());
    assert_eq!(world(compiler).eval(&text), "x");
    let mut compiler = TemplateCompiler::default();
    let text = Template::compile(&deep(50_000), &mut compiler);
    assert!(text.fixed().is_some());
    assert_eq!(compiler.problems.len(), 1);
}

#[test]
fn an_exception_leaves_nothing_and_the_first_is_kept() {
    let mut compiler = TemplateCompiler::default();
    let text = Template::compile("a${__Random(x,1)}b${__Random(y,1)}", &mut compiler);
    let mut world = world(compiler);
    assert_eq!(world.eval(&text), "");
    let thrown = world.core.thrown.take().unwrap();
    assert_eq!(
        (thrown.class, &*thrown.message),
        ("java.lang.NumberFormatException", "For input string: \"x\"")
    );
}

#[test]
fn undefined_variables_stay_references_until_they_are_set() {
    let mut compiler = TemplateCompiler::default();
    let text = Template::compile("<${v}>", &mut compiler);
    let mut world = world(compiler);
    assert_eq!(world.eval(&text), "<${v}>");
    world.set("v", "1");
    assert_eq!(world.eval(&text), "<1>");
    world.vars.remove_named(&world.plan.names, "v");
    assert_eq!(world.eval(&text), "<${v}>");
}

/// Generates pieces of expressions, so that random strings often contain valid syntax.
fn pieces() -> impl Strategy<Value = String> {
    let function = crate::function::catalogue()
        .map(|entry| entry.name)
        // Functions that would access the disk are excluded.
        .filter(|name| !name.contains("File") && !name.contains("CSV"))
        .collect::<Vec<_>>();
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "${", "}", "(", ")", ",", "\\", "$", "{", " ", "'", "%", "a", "7", "-", "é", "\n", "T",
            "yyyy", "1|"
        ])
        .prop_map(str::to_owned),
        proptest::sample::select(function).prop_map(|name| format!("${{{name}(")),
        ".{0,3}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_breaks_compiling_or_evaluating(source in pieces()) {
        let mut compiler = TemplateCompiler::default();
        let text = Template::compile(&source, &mut compiler);
        let late = Template::compile("${__evalVar(late)}", &mut compiler);
        let mut world = world(compiler);
        let value = world.eval(&text);
        if !source.contains("${") {
            prop_assert_eq!(&value, &source);
        }
        // Compiling the same string at run time must also succeed.
        world.set("late", &source);
        world.eval(&late);
    }
}
