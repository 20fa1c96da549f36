use super::*;
use crate::word::shown;

fn commands(text: &str) -> Vec<Command> {
    split(text, &mut Variables::default(), &mut Findings::default())
}

fn words(text: &str) -> Vec<Vec<String>> {
    let words = |command: Command| command.words.iter().map(|word| shown(word)).collect();
    commands(text).into_iter().map(words).collect()
}

#[test]
fn words_are_split_and_quotes_removed() {
    for (text, expected) in [
        ("curl a b", vec!["curl", "a", "b"]),
        ("curl  'a b'\t\"c d\"e", vec!["curl", "a b", "c de"]),
        (r#"curl "a\"b\\c\n\$d""#, vec!["curl", r#"a"b\c\n$d"#]),
        (r"curl a\ b \'c\' \\", vec!["curl", "a b", "'c'", r"\"]),
        ("curl \\\n  -d '' \\\r\n  x", vec!["curl", "-d", "", "x"]),
        ("curl $'a\\'b\\n\\x41\\101\\u00e9\\tc'", vec!["curl", "a'b\nAA\u{e9}\tc"]),
        ("curl $'\\xc3\\xa9'x", vec!["curl", "\u{e9}x"]),
        ("curl 'a'\\''b'", vec!["curl", "a'b"]),
        ("curl a#b # c d", vec!["curl", "a#b"]),
        ("curl a?b=1&c", vec!["curl", "a?b=1"]),
        ("curl 2>/dev/null -o /dev/null a >out 2>&1", vec!["curl", "-o", "/dev/null", "a"]),
        ("curl a &>log", vec!["curl", "a"]),
        ("curl 'a\nb' \"c\nd\"", vec!["curl", "a\nb", "c\nd"]),
        ("curl 200 a2", vec!["curl", "200", "a2"]),
        ("$ curl a", vec!["curl", "a"]),
    ] {
        assert_eq!(words(text)[0], expected, "{text}");
    }
}

#[test]
fn commands_are_split_at_operators_and_lines() {
    let text = "#!/bin/sh\n\nset -e\ncurl a; curl b && curl c || true\nif curl d | jq .; then\ncurl e & fi\n(curl f)";
    let found = words(text);
    let lines: Vec<_> = found.iter().map(|words| words.join(" ")).collect();
    assert_eq!(
        lines,
        [
            "set -e", "curl a", "curl b", "curl c", "true", "curl d", "jq .", "curl e", "fi",
            "curl f"
        ]
    );
    let lines: Vec<_> = commands("a\n\n b \\\n c\nd").iter().map(|command| command.line).collect();
    assert_eq!(lines, [1, 3, 5]);
}

#[test]
fn variables_of_the_script_are_inserted_and_others_are_references() {
    let mut variables = Variables::default();
    let mut findings = Findings::default();
    let text = "A=1\nexport B=\"$A/2\"\nC=$(date)\ncurl $A \"$B\" '$A' ${C} \"$D\" ${E:-x}y $(f \")\") `g`";
    let found = split(text, &mut variables, &mut findings);
    let shown: Vec<_> = found[0].words.iter().map(|word| shown(word)).collect();
    assert_eq!(shown, ["curl", "1", "1/2", "$A", "$C", "$D", "$Ey", "$command_2", "$command_3"]);
    assert_eq!(variables.unknown, ["C", "D", "E", "command_2", "command_3"]);
    assert_eq!(findings.list.len(), 1, "{findings:?}");
}

#[test]
fn text_that_is_no_variable_stays() {
    assert_eq!(
        words("curl \"$\" $/ \"${__time()}\" '${x}'")[0],
        ["curl", "$", "$/", "${__time()}", "${x}"]
    );
}

#[test]
fn values_do_not_grow_without_end() {
    let text = format!("A=xxxxxxxx\n{}curl $A", "A=$A$A\n".repeat(60));
    assert!(words(&text)[0][1].len() <= MOST_BYTES * 2);
}

#[test]
fn standard_input_is_known() {
    let input = |text: &str| commands(text).pop().and_then(|command| command.input);
    let text = |text: &str| Some(Input::Text(text.to_owned()));
    assert_eq!(
        input("curl -d @- a <<EOF\nb $x\\$\n EOF\nEOF\n"),
        text("b \u{FDD0}x\u{FDD1}$\n EOF\n")
    );
    assert_eq!(input("curl -d @- a <<-'E'\n\tb $x\n\tE\n"), text("b $x\n"));
    assert_eq!(input("curl -d @- <<< \"a b\""), text("a b\n"));
    assert_eq!(input("curl -d @- < f"), Some(Input::File("f".into())));
    assert_eq!(input("echo '{\"a\": 1}' | curl -d @- b"), text("{\"a\": 1}\n"));
    assert_eq!(input("echo -n a b|curl -d @- b"), text("a b"));
    assert_eq!(input("cat f | curl -d @- b"), Some(Input::File("f".into())));
    assert_eq!(input("make | curl -d @- b"), Some(Input::Unknown));
    let both = commands("curl a <<E | jq\nx\nE\ncurl b");
    assert_eq!(both.len(), 3);
    assert_eq!(both[0].input, text("x\n"));
    assert_eq!(both[2].input, None);
}

#[test]
fn every_prefix_is_read() {
    let text = "A=1; curl -X POST $'a\\u00e9' \"b\\\"$A${B:-c}\" `d` $(e '(' ) <<-E 2>&1 | f\n\tg\n\tE\n# h\ncurl ${i";
    for (at, _) in text.char_indices() {
        commands(&text[..at]);
        commands(&text[at..]);
    }
}
