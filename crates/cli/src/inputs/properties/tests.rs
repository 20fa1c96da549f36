use super::*;

const NOW: i64 = 1_700_000_000_000;

fn load(folder: &Path, base: Option<&str>, settings: Vec<Setting>) -> (Properties, Vec<String>) {
    let base = base.map(|text| {
        let file = folder.join("base.properties");
        std::fs::write(&file, text).unwrap();
        file
    });
    Properties::load(&Sources { base, settings, ..Sources::default() }, NOW).expect("files")
}

fn jmeter(key: &str, value: &str) -> Setting {
    Setting::Jmeter(key.into(), value.into())
}

#[test]
fn a_base_file_stands_in_for_everything_that_is_shipped() {
    let folder = tempfile::tempdir().unwrap();
    let (properties, _) = load(folder.path(), None, vec![]);
    assert_eq!(properties.get("summariser.name"), Some("summary"));
    assert!(properties.flag("sampleresult.timestamp.start", false));
    let (properties, _) = load(folder.path(), Some("a=b"), vec![]);
    assert_eq!((properties.get("summariser.name"), properties.get("a")), (None, Some("b")));
    assert!(!properties.flag("sampleresult.timestamp.start", false));
}

#[test]
fn flags_apply_in_their_order_and_an_empty_value_removes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("more.properties");
    std::fs::write(&file, "a=file\nb=file").unwrap();
    let settings = vec![
        jmeter("a", "before"),
        Setting::File(file),
        jmeter("b", "after"),
        jmeter("summariser.name", ""),
    ];
    let (properties, warnings) = load(folder.path(), None, settings);
    assert_eq!((properties.get("a"), properties.get("b")), (Some("file"), Some("after")));
    assert_eq!(properties.get("summariser.name"), None);
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn system_properties_stand_behind_jmeters() {
    let folder = tempfile::tempdir().unwrap();
    let system = |value: &str| Setting::System("k".into(), value.into());
    let (properties, _) = load(folder.path(), None, vec![system("s")]);
    assert_eq!(properties.get("k"), Some("s"));
    let (properties, _) = load(folder.path(), None, vec![jmeter("k", "j"), system("s")]);
    assert_eq!(properties.get("k"), Some("j"));
    assert_eq!(properties.all().filter(|(key, _)| *key == "k").collect::<Vec<_>>(), [("k", "j")]);
    assert!(properties.get("user.dir").is_some_and(|folder| folder.starts_with('/')));
}

#[test]
fn files_that_were_named_and_cannot_be_read_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.properties");
    std::fs::write(&bad, "x=\\uZZZZ").unwrap();
    let settings = vec![Setting::File(bad), Setting::SystemFile("/no/such".into())];
    let sources = Sources { base: Some("/no/base".into()), settings, ..Sources::default() };
    let error = Properties::load(&sources, 0).map(|_| ()).unwrap_err();
    let lines: Vec<_> = error.lines().collect();
    assert_eq!(lines.len(), 3, "{error}");
    for (line, words) in lines.iter().zip(["/no/base", "line 1", "/no/such"]) {
        assert!(line.contains(words), "{error}");
    }
}

#[test]
fn what_has_no_effect_is_named_and_what_the_plan_reads_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = vec![
        jmeter("users", "5"),
        jmeter("typo", "5"),
        jmeter("jmeter.save.saveservice.url", "true"),
        jmeter("summariser.interval", "6"),
        jmeter("gui.quick_1", "x"),
        jmeter("httpclient4.retrycount", "0"),
        Setting::System("javax.net.debug".into(), "k".into()),
    ];
    let (properties, _) =
        load(folder.path(), Some("remote_hosts=127.0.0.1\nhttpclient.parameters.file=x"), settings);
    let readers = Readers::of(["<stringProp>${__P(users,1)}</stringProp>"].into_iter());
    let mut keys = properties.unheeded();
    keys.retain(|(key, _)| !readers.reads(key));
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert_eq!(keys[1], ("javax.net.debug", "-D"));
    assert_eq!((keys[0].0, keys[2].0), ("httpclient.parameters.file", "typo"));
}

#[test]
fn the_written_file_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let (properties, _) = load(
        folder.path(),
        None,
        vec![jmeter("a b", "1=2"), Setting::System("s".into(), "t".into())],
    );
    let text = properties.file();
    assert!(text.contains("# -D s=t\n"), "{text}");
    let (again, _) = load(folder.path(), Some(&text), vec![]);
    assert_eq!((again.get("a b"), again.get("s")), (Some("1=2"), None));
}

#[test]
fn the_start_is_stamped() {
    let folder = tempfile::tempdir().unwrap();
    let (properties, _) = load(folder.path(), None, vec![]);
    assert_eq!(properties.get("START.MS"), Some("1700000000000"));
    assert_eq!(properties.get("START.YMD").map(str::len), Some(8));
    assert_eq!(properties.get("jmeter.version"), Some("5.6.3"));
}

#[test]
fn hosts_get_files_and_global_properties_and_not_those_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let (base, more) = (folder.path().join("base"), folder.path().join("more"));
    std::fs::write(&base, "a=file\nb=file\nc=file").unwrap();
    std::fs::write(&more, "c=more\nd=more").unwrap();
    let sources = Sources {
        base: Some(base),
        settings: vec![
            jmeter("a", "line"),
            jmeter("users", "9"),
            jmeter("throng.workers", "2"),
            jmeter("jmeter.save.saveservice.connect_time", "false"),
        ],
        global: vec![jmeter("b", "global"), Setting::File(more)],
        ..Sources::default()
    };
    let (own, _) = Properties::load(&sources, NOW).expect("files");
    assert_eq!((own.get("a"), own.get("b"), own.get("d")), (Some("line"), Some("file"), None));
    let hosts = own.of_hosts(&sources, NOW).expect("files");
    let got = ["a", "b", "c", "d", "users"].map(|key| hosts.get(key));
    assert_eq!(got, [Some("file"), Some("global"), Some("more"), Some("more"), None]);
    assert_eq!(hosts.get("throng.workers"), Some("2"), "the run's own");
    assert_eq!(hosts.get("jmeter.save.saveservice.connect_time"), Some("false"));
    let kept: Vec<_> = own.not_on(&hosts).map(|(key, _)| key).collect();
    assert_eq!(kept, ["a", "users"]);
    let none = Sources { global: vec![Setting::File("nowhere".into())], ..Sources::default() };
    assert!(own.of_hosts(&none, NOW).is_err_and(|error| error.contains("nowhere")));
}

#[test]
fn system_properties_among_the_options_of_java_come_before_files_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base");
    let system = folder.path().join("system");
    std::fs::write(&base, format!("system.properties={}", system.display())).unwrap();
    std::fs::write(&system, "b=file").unwrap();
    let options =
        "-Xmx1g\n-Da=option\n-Db=option\n-Dc=option\n-Dempty\n-Dq=1=2\n-Duser.language=zh";
    let sources = Sources {
        base: Some(base),
        settings: vec![jmeter(jvm::OPTIONS, options), Setting::System("c".into(), "flag".into())],
        ..Sources::default()
    };
    let (properties, _) = Properties::load(&sources, NOW).expect("properties");
    let got = ["a", "b", "c", "empty", "q", "Xmx1g"].map(|key| properties.get(key));
    assert_eq!(got, [Some("option"), Some("file"), Some("flag"), Some(""), Some("1=2"), None]);
    let unheeded = properties.unheeded();
    assert!(unheeded.contains(&("user.language", "an option of Java")), "{unheeded:?}");
    assert!(!unheeded.iter().any(|(key, _)| *key == "a"), "most are about Java: {unheeded:?}");
}
