//! `throng jmeter install-plugin`: installs the plug-in into a JMeter, keeps foreign files, and can remove the plug-in.

mod program;

use std::fs;
use std::path::PathBuf;

use program::Program;

const INSTALL: [&str; 3] = ["jmeter", "install-plugin", "home"];

/// Creates a folder that looks like a JMeter of this version, with jars named as Maven names them.
fn home(program: &Program, version: &str) -> PathBuf {
    for name in
        ["home/bin/ApacheJMeter.jar", &format!("home/lib/ext/ApacheJMeter_core-{version}.jar")]
    {
        let path = program.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "").expect("a file");
    }
    program.path("home/lib/ext/throng-jmeter.jar")
}

#[test]
fn the_plugin_is_installed_replaced_and_removed() {
    let program = Program::new();
    let jar = home(&program, "5.6.3");
    let record = jar.with_extension("program");
    let ended = program.run(&INSTALL);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.out.contains("is installed: ") && ended.out.contains("Restart JMeter"),
        "{ended:?}"
    );
    let installed = fs::read(&jar).expect("a jar");
    assert!(installed.starts_with(b"PK"));
    let path = PathBuf::from(fs::read_to_string(&record).expect("a record"));
    assert!(path.is_absolute() && path.is_file(), "{path:?}");

    let ended = program.run(&INSTALL);
    assert!(ended.code == 0 && ended.out.contains("was there already"), "{ended:?}");

    // Simulates another plug-in version: the jar's first entry has another time.
    let mut older = installed.clone();
    older[10] ^= 1;
    fs::write(&jar, &older).expect("a jar");
    fs::write(&record, "/gone/throng").expect("a record");
    let ended = program.run(&INSTALL);
    assert!(ended.code == 0 && ended.out.contains("was replaced"), "{ended:?}");
    assert_eq!(fs::read(&jar).expect("a jar"), installed);
    assert_eq!(fs::read_to_string(&record).expect("a record"), path.to_string_lossy());

    let remove = [&INSTALL[..], &["--remove"]].concat();
    let ended = program.run(&remove);
    assert!(ended.code == 0 && ended.out.contains("was removed"), "{ended:?}");
    let left = fs::read_dir(jar.parent().expect("a folder")).expect("a folder").count();
    assert_eq!(left, 1, "only JMeter's own jar");
    let ended = program.run(&remove);
    assert!(ended.code == 0 && ended.out.contains("There was no plug-in"), "{ended:?}");
}

#[test]
fn a_jar_of_somebody_else_is_neither_replaced_nor_removed() {
    let program = Program::new();
    let jar = home(&program, "5.6.3");
    fs::write(&jar, "PK of somebody else").expect("a file");
    for line in [&INSTALL[..], &[&INSTALL[..], &["--remove"]].concat()] {
        let ended = program.run(line);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains("is not this plug-in"), "{ended:?}");
        assert_eq!(fs::read_to_string(&jar).expect("a file"), "PK of somebody else");
    }
}

#[test]
fn a_folder_that_is_no_jmeter_is_refused_with_what_it_lacks() {
    let program = Program::new();
    let refused = |why: &str| {
        let ended = program.run(&INSTALL);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.err.contains(why) && ended.err.contains("bin and lib"), "{ended:?}");
    };
    refused("the folder does not exist");
    fs::create_dir(program.path("home")).expect("a folder");
    refused("no lib/ext/ApacheJMeter_core.jar");
    home(&program, "5.6.3");
    fs::remove_file(program.path("home/bin/ApacheJMeter.jar")).expect("a file");
    refused("no bin/ApacheJMeter.jar");
}

#[test]
fn another_version_of_jmeter_is_told() {
    let program = Program::new();
    home(&program, "5.4.1");
    let ended = program.run(&INSTALL);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("this is JMeter 5.4.1"), "{ended:?}");
}
