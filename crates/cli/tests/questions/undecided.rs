//! Comparisons that cannot decide whether there is a change: none of them may pass.

use crate::program::Program;
use crate::rows;

#[test]
fn a_comparison_that_cannot_decide_says_so_and_is_not_passed() {
    let program = Program::new();
    // Files of 50 s are too short for a confidence interval.
    let short =
        |seed, ms| rows(seed, ms, 0, 10).lines().take(2001).collect::<Vec<_>>().join("\n") + "\n";
    program.write("a.jtl", &short(1, 100));
    program.write("b.jtl", &short(2, 110));
    let ended =
        program.run(&["compare", "a.jtl", "b.jtl", "--fail-if", "p95 > +5%", "--markdown", "m.md"]);
    assert_eq!(ended.code, 6, "{ended:?}");
    for words in [
        "UNDECIDED: service p95 > +5% (found +",
        "50 s under steady load; 60 s are needed",
        "; run 90 s)",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(program.read("m.md").contains("1 of 1 criteria undecided"));
    // The rows of this file lack the column that says which samples failed.
    program.write("good.jtl", &rows(1, 100, 0, 10));
    let without: String = rows(2, 100, 3, 10)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line
                .split(',')
                .enumerate()
                .filter(|(at, _)| *at != 6)
                .map(|(_, cell)| cell)
                .collect();
            cells.join(",") + "\n"
        })
        .collect();
    program.write("without.jtl", &without);
    let line = ["compare", "good.jtl", "without.jtl", "--fail-if"];
    let ended = program.run(&[&line[..], &["error% > +5%"]].concat());
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(
        ended.out.contains("the samples of B do not say which of them failed"),
        "{}",
        ended.out
    );
    // If a file does not say which samples failed, even a real change in times stays undecided.
    program.write("slow.jtl", &rows(4, 300, 0, 10));
    for line in
        [["without.jtl", "good.jtl"], ["good.jtl", "without.jtl"], ["without.jtl", "slow.jtl"]]
    {
        let ended = program.run(&[&["compare"], &line[..], &["--fail-if", "p95 > +5%"]].concat());
        assert_eq!(ended.code, 6, "times without errors: {ended:?}");
        assert!(ended.out.contains("do not say which of them failed"), "{}", ended.out);
    }
    // A service that is down fails quickly, so its times look better.
    program.write("down.jtl", &rows(3, 10, 1, 10).replace(",true,", ",false,"));
    let ended = program.run(&["compare", "good.jtl", "down.jtl", "--fail-if", "p95 > +5%"]);
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.out.contains("B: all 4 800 samples failed"), "{}", ended.out);
}

/// Replaces the rows of the first `seconds` seconds of a result file.
fn with_first(seconds: usize, of: &str, first: impl Fn(&str) -> String) -> String {
    let rows = of.lines().enumerate();
    let row = |(at, row): (usize, &str)| match at {
        at if (1..=40 * seconds).contains(&at) => first(row) + "\n",
        _ => row.to_owned() + "\n",
    };
    rows.map(row).collect()
}

#[test]
fn errors_and_slow_answers_at_first_are_not_passed_as_a_warm_up() {
    let program = Program::new();
    program.write("a.jtl", &rows(1, 100, 0, 10));
    // A service that rejects all requests in the first 20 s.
    let busy = |row: &str| {
        let row = row.replace("200,OK", "503,Busy").replace(",true,", ",false,");
        let mut cells: Vec<&str> = row.split(',').collect();
        cells[1] = "5";
        cells.join(",")
    };
    program.write("busy.jtl", &with_first(20, &rows(2, 100, 0, 10), busy));
    let ended = program.run(&["compare", "a.jtl", "busy.jtl", "--fail-if", "error% > +1%"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("B: 800 of 4 800 samples failed in the whole run"), "{}", ended.out);
    let ended = program.run(&["compare", "a.jtl", "busy.jtl", "--fail-if", "p95 > +10%"]);
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.out.contains("and no criterion is about errors"), "{}", ended.out);
    // A service that is slow in the first 45 s.
    let slow = |row: &str| {
        let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
        cells[1] = (2 * cells[1].parse::<u64>().expect("ms")).to_string();
        cells.join(",")
    };
    program.write("slow.jtl", &with_first(45, &rows(3, 100, 0, 10), slow));
    let ended = program.run(&["compare", "a.jtl", "slow.jtl", "--fail-if", "p95 > +10%"]);
    assert!(matches!(ended.code, 4 | 6), "{ended:?}");
    // If the starts of both runs are equal, they do not prevent a decision.
    let same = program.run(&["compare", "a.jtl", "a.jtl", "--fail-if", "error% > +1%"]);
    assert_eq!(same.code, 0, "{same:?}");
}

#[test]
fn figures_of_other_work_decide_nothing() {
    let program = Program::new();
    let both = rows(1, 100, 0, 10);
    let (login, search) = (",Login,", ",Search,");
    let only: Vec<&str> = both.lines().filter(|line| !line.contains(search)).collect();
    // Only every fourth Search row stays a Search; the others become Login.
    let shift = |(at, line): (usize, &str)| {
        if at % 8 < 6 { line.replace(search, login) } else { line.to_owned() }
    };
    let shifted: Vec<String> = both.lines().enumerate().map(shift).collect();
    let (good, bad) = (",200,OK,t,true,", ",500,Broken,t,false,");
    let failing = |line: &str| {
        if line.contains(search) { line.replace(good, bad) } else { line.to_owned() }
    };
    let failing: Vec<String> = both.lines().map(failing).collect();
    program.write("both.jtl", &both);
    program.write("one.jtl", &(only.join("\n") + "\n"));
    program.write("renamed.jtl", &both.replace(login, ",In,").replace(search, ",Find,"));
    program.write("shifted.jtl", &(shifted.join("\n") + "\n"));
    program.write("failing.jtl", &(failing.join("\n") + "\n"));
    let slow = rows(1, 400, 0, 10);
    let of_search =
        |line: &str, slow: &str| if line.contains(search) { slow } else { line }.to_owned();
    let mixed = both.lines().zip(slow.lines()).map(|(line, slow)| of_search(line, slow));
    let mixed: Vec<String> = mixed.collect();
    let few: Vec<String> = mixed.iter().enumerate().map(|(at, line)| shift((at, line))).collect();
    program.write("mixed.jtl", &(mixed.join("\n") + "\n"));
    program.write("few.jtl", &(few.join("\n") + "\n"));
    let missing = "label \"Search\" (50 % of A's requests) is missing in B";
    for (a, b, words) in [
        ("both.jtl", "one.jtl", missing),
        ("one.jtl", "both.jtl", "label \"Search\" (50 % of B's requests) is missing in A"),
        ("both.jtl", "renamed.jtl", "A and B have no label in common"),
        ("both.jtl", "shifted.jtl", "label \"Search\" is 50 % of A's requests and 12 % of B's"),
        // B has more requests with the slow label than A.
        ("few.jtl", "mixed.jtl", "label \"Search\" is 12 % of A's requests and 50 % of B's"),
        ("both.jtl", "failing.jtl", "B: of label \"Search\", all 2 400 samples failed"),
    ] {
        let ended = program.run(&["compare", a, b, "--anyway", "--fail-if", "p95 > +5%"]);
        assert_eq!(ended.code, 6, "{a} {b}: {ended:?}");
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    let one =
        program.run(&["compare", "both.jtl", "one.jtl", "--anyway", "--fail-if", "error% > +1%"]);
    assert_eq!(one.code, 6, "{one:?}");
    assert!(one.out.contains(&format!("The work is not the same: {missing}.")), "{}", one.out);
    assert!(!one.out.contains("No difference that these runs can show"), "{}", one.out);
    // A criterion for a label that both runs have is still judged, and so is a criterion about errors that
    // occurred.
    let label = ["--fail-if", "p95 > +5% for label Login"];
    let ended =
        program.run(&[&["compare", "both.jtl", "shifted.jtl", "--anyway"], &label[..]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let asked = ["--fail-if", "p95 > +5%", "--fail-if", "error% > +1%"];
    let ended = program.run(&[&["compare", "both.jtl", "failing.jtl"], &asked[..]].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("FAILED: error% > +1%"), "{}", ended.out);
}
