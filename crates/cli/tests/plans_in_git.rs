//! Commands that show and change plans, as users and git run them.

mod program;

use std::process::Command;

use program::{Program, skip};

const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
        <intProp name="ThreadGroup.num_threads">3</intProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Login">
          <stringProp name="HTTPSampler.path">/login</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
        </HTTPSamplerProxy>
        <hashTree/>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

fn program() -> Program {
    let program = Program::new();
    program.write("a.jmx", PLAN);
    program
}

#[test]
fn elements_and_properties_are_listed() {
    let program = program();
    let ended = program.run(&["list", "a.jmx"]);
    assert_eq!(
        (ended.code, &*ended.out),
        (0, "/Test Plan (TestPlan)\nUsers (ThreadGroup)\nUsers/Login (HTTPSamplerProxy)\n")
    );
    let ended = program.run(&["list", "a.jmx", "Users"]);
    assert!(ended.out.ends_with("\nThreadGroup.num_threads=3\n"), "{ended:?}");
    let ended = program.run(&["list", "a.jmx", "Nobody"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("no element Nobody"), "{ended:?}");
    let ended = program.run(&["list", "--json", "a.jmx"]);
    let rows: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(rows[2]["path"], "Users/Login");
}

#[test]
fn set_changes_one_line_and_prints_the_change() {
    let program = program();
    let line = ["set", "a.jmx", "Users/Login", "HTTPSampler.path=/v2?a=b"];
    let dry = program.run(&[&line[..], &["--dry-run"]].concat());
    assert_eq!(program.read("a.jmx"), PLAN, "{dry:?}");
    let ended = program.run(&line);
    let shown =
        "changed  Users/Login (HTTPSamplerProxy)\n  ~ HTTPSampler.path: /login -> /v2?a=b\n";
    assert_eq!((ended.code, &*ended.out, dry.out), (0, shown, shown.to_owned()));
    assert_eq!(program.read("a.jmx"), PLAN.replace(">/login<", ">/v2?a=b<"));
    for wrong in ["HTTPSampler.pth=x", "HTTPSampler.path"] {
        assert_eq!(program.run(&["set", "a.jmx", "Users/Login", wrong]).code, 2, "{wrong}");
    }
    program.shell("ln -s a.jmx link.jmx");
    let ended = program.run(&["set", "link.jmx", "Users/Login", "--disable"]);
    assert!(ended.code == 2 && ended.err.contains("not a regular file"), "{ended:?}");
}

#[test]
fn replace_writes_only_when_asked_to() {
    let program = program();
    let line = ["replace", "--regex", "^/(.*)", "/v2/$1", "a.jmx"];
    let ended = program.run(&line);
    assert_eq!(program.read("a.jmx"), PLAN);
    let shown = "a.jmx:11: Users/Login: HTTPSampler.path\n  - /login\n  + /v2/login\n";
    assert_eq!((ended.code, &*ended.out), (0, shown));
    assert_eq!(program.run(&[&line[..], &["--write"]].concat()).code, 0);
    assert_eq!(program.read("a.jmx"), PLAN.replace(">/login<", ">/v2/login<"));
}

#[test]
fn fmt_removes_noise_and_checks() {
    let program = program();
    program
        .write("b.jmx", &PLAN.replace("testname=\"Login\"", "testname=\"Login\" enabled=\"true\""));
    assert_eq!(program.run(&["fmt", "--check", "a.jmx"]).code, 0);
    let ended = program.run(&["fmt", "--check", "a.jmx", "b.jmx"]);
    assert_eq!((ended.code, &*ended.out), (4, "b.jmx is not formatted\n"));
    assert_eq!(program.run(&["diff", "a.jmx", "b.jmx"]).out, "");
    assert_eq!(program.run(&["fmt", "b.jmx"]).code, 0);
    assert_eq!(program.read("b.jmx"), PLAN);
}

#[test]
fn conflicts_end_with_1_and_leave_a_plan() {
    let program = program();
    program.write("ours.jmx", &PLAN.replace(">/login<", ">/ours<"));
    program.write("theirs.jmx", &PLAN.replace(">/login<", ">/theirs<").replace("GET", "PUT"));
    let ended = program.run(&["merge", "a.jmx", "ours.jmx", "theirs.jmx"]);
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("HTTPSampler.path: both plans changed"), "{ended:?}");
    let expected = PLAN.replace(">/login<", ">/ours<").replace("GET", "PUT");
    assert_eq!(program.read("ours.jmx"), expected);
}

#[test]
fn git_merges_and_shows_plans() {
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip("git is not there");
    }
    let program = program();
    program.write("ours.jmx", &PLAN.replace(">/login<", ">/v2<"));
    program.write("theirs.jmx", &PLAN.replace(">GET<", ">PUT<"));
    let ended = program.shell(
        r#"set -e; export HOME=$PWD GIT_CONFIG_NOSYSTEM=1; git init -q -b main repository; cd repository
        git config user.name A; git config user.email a@example.com
        git config merge.jmx.driver "'$0' merge %O %A %B"; git config diff.jmx.command "'$0' diff"
        echo '*.jmx merge=jmx diff=jmx' > .gitattributes
        cp ../a.jmx p.jmx; git add -A; git commit -qm 1
        git checkout -qb other; cp ../theirs.jmx p.jmx; git commit -qam 2
        git checkout -q main; cp ../ours.jmx p.jmx; git diff; git commit -qam 3
        git merge -q --no-edit other"#,
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("~ HTTPSampler.path: /login -> /v2"), "{ended:?}");
    let merged = program.read("repository/p.jmx");
    assert_eq!(merged, PLAN.replace(">/login<", ">/v2<").replace(">GET<", ">PUT<"));
}
