//! Signed and encrypted requests to the bundled gateway, which shares no code with the client side.

mod bad;
#[path = "../program/mod.rs"]
mod program;

use program::{Ended, Program};
use targets::{Config, Running};

const PLAN: &str = include_str!("plan.jmx");
/// An assertion that reads the decrypted response.
const CHECKS: &str = r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="Echo">
  <collectionProp name="Asserion.test_strings"><stringProp name="1">_requestBody</stringProp></collectionProp>
  <stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
  <intProp name="Assertion.test_type">16</intProp>
</ResponseAssertion><hashTree/>"#;

/// An extractor that reads the response and accepts any content.
const READS: &str = r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="Any">
  <stringProp name="RegexExtractor.refname">any</stringProp><stringProp name="RegexExtractor.regex">(.)</stringProp>
  <stringProp name="RegexExtractor.template">$1$</stringProp>
</RegexExtractor><hashTree/>"#;

fn gateway(options: &[(&str, &str)]) -> Running {
    let config = Config::new("mgs").option("secret", "s3cret").option("body", "echo");
    let config = options.iter().fold(config, |config, (name, value)| config.option(*name, *value));
    targets::start(config).expect("a gateway")
}

fn element(pairs: &[(&str, &str)]) -> String {
    let mut props = String::new();
    for (name, value) in pairs {
        props.push_str(&format!("<stringProp name=\"throng.mgs.{name}\">{value}</stringProp>"));
    }
    let head = "guiclass=\"SimpleConfigGui\" testclass=\"ConfigTestElement\"";
    format!(
        "<ConfigTestElement {head} testname=\"RPC Gateway Security\">{props}</ConfigTestElement><hashTree/>"
    )
}

/// Runs a plan with the given properties against the gateway.
fn run(program: &Program, gateway: &Running, plan: &str, properties: &[&str]) -> Ended {
    program.write("plan.jmx", plan);
    let port = format!("-Jport={}", gateway.addr().port());
    let mut line = vec!["run", "plan.jmx", "-l", "out.jtl", "--json", &port];
    line.extend_from_slice(properties);
    program.run(&line)
}

fn key(gateway: &Running, kind: &str) -> String {
    get(gateway, &format!("/key/{kind}"))
}

fn get(gateway: &Running, path: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(gateway.addr()).expect("connects");
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sends");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.split_once("\r\n\r\n").expect("a head").1.to_owned()
}

/// Returns the response code and message of each row.
fn outcomes(program: &Program) -> Vec<String> {
    let rows = program.read("out.jtl");
    let outcome = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        format!("{} {}", cells[3], cells[4])
    };
    rows.lines().skip(1).map(outcome).collect()
}

fn all_fit(program: &Program, ended: &Ended, what: &str) {
    let outcomes = outcomes(program);
    assert_eq!(outcomes, vec!["200 OK"; 20], "{what}: {ended:?}");
}

#[test]
fn requests_are_signed_as_the_gateway_asks() {
    for (digest, join) in
        [("md5", "prefix"), ("sha256", "suffix"), ("sm3", "prefix"), ("hmac-sha256", "prefix")]
    {
        let gateway = gateway(&[("digest", digest), ("join", join)]);
        let program = Program::new();
        // The settings come from properties alone; the plan is plain JMeter.
        let properties =
            [format!("-Jthrong.mgs.sign={digest}"), format!("-Jthrong.mgs.sign.join={join}")];
        let properties = [&*properties[0], &*properties[1], "-Jthrong.mgs.secret=s3cret"];
        let ended = run(&program, &gateway, PLAN, &properties);
        all_fit(&program, &ended, digest);
        assert!(ended.out.contains("\"mgs_sealed\": 20"), "{}", ended.out);
    }
}

#[test]
fn bodies_are_encrypted_for_each_kind_of_key_and_answers_decrypted() {
    for (kind, encrypt, options, more) in [
        ("rsa", "rsa", &[][..], &[("cipher", "aes-128")][..]),
        (
            "rsa",
            "rsa-oaep-sha256",
            &[("rsa", "oaep-sha256"), ("aes", "256")],
            &[("cipher", "aes-256")],
        ),
        ("ecc", "ecc", &[], &[]),
        (
            "ecc",
            "ecc",
            &[("iv", "sent"), ("kdf", "x963-sha256")],
            &[("iv", "fresh"), ("derive", "x963-sha256")],
        ),
        (
            "ecc",
            "ecc",
            &[("iv", "derived"), ("gzip", "false")],
            &[("iv", "derived"), ("gzip", "0")],
        ),
        ("sm2", "sm2", &[], &[("ephemeral", "once")]),
        ("sm2", "sm2-encrypted", &[], &[]),
    ] {
        let mut all = vec![("encryption", "required")];
        all.extend_from_slice(options);
        let gateway = gateway(&all);
        let program = Program::new();
        program.write("key.pem", &key(&gateway, kind));
        let mut pairs =
            vec![("secret", "s3cret"), ("encrypt", encrypt), ("public_key_file", "key.pem")];
        pairs.extend_from_slice(more);
        let plan = PLAN.replace("<!--element-->", &element(&pairs));
        let ended = run(&program, &gateway, &plan.replace("<!--checks-->", CHECKS), &[]);
        all_fit(&program, &ended, &format!("{encrypt} {options:?}"));
    }
}

/// As with Header Managers, the nearest element applies. Settings that it omits come from the run's properties.
#[test]
fn the_nearest_element_that_is_enabled_counts() {
    let (right, wrong) = ([("secret", "s3cret")], [("secret", "wrong")]);
    let disabled = |element: String| element.replace(" testname=", " enabled=\"false\" testname=");
    let suffix = gateway(&[("join", "suffix")]);
    let gateway = gateway(&[]);
    for (asks, above, near, code) in [
        (&gateway, element(&wrong), element(&right), 1000),
        (&gateway, element(&right), element(&wrong), 7002),
        (&gateway, element(&wrong), disabled(element(&right)), 7002),
        (&gateway, element(&right), element(&[("enabled", "false")]), 7014),
        (&suffix, element(&wrong), element(&[("sign.join", "suffix")]), 1000),
    ] {
        get(asks, "/stats/reset");
        let program = Program::new();
        let plan = PLAN.replace("<!--element-->", &above).replace("<!--checks-->", &near);
        let ended = run(&program, asks, &plan, &["-Jthrong.mgs.secret=s3cret", "-f"]);
        let stats = get(asks, "/stats");
        assert!(stats.contains(&format!("\"{code}\":20")), "{near}: {stats} {ended:?}");
    }
}

#[test]
fn a_plan_that_must_not_be_touched_has_its_settings_beside_it() {
    let gateway = gateway(&[("encryption", "required")]);
    let program = Program::new();
    program.write("key.pem", &key(&gateway, "sm2"));
    let settings = [("secret", "s3cret"), ("encrypt", "sm2"), ("public_key_file", "key.pem")];
    let lines = settings.map(|(name, value)| format!("\"throng.mgs.{name}\" = \"{value}\"\n"));
    program.write("throng.toml", &format!("[properties]\n{}", lines.concat()));
    let ended = run(&program, &gateway, PLAN, &[]);
    all_fit(&program, &ended, "by throng.toml");
}

#[test]
fn a_result_code_is_the_outcome_of_the_sample_though_http_says_200() {
    let gateway = gateway(&[]);
    let program = Program::new();
    let ended = run(&program, &gateway, PLAN, &["-Jthrong.mgs.secret=wrong"]);
    let wanted = "7002 signature check failed (result code of the gateway)";
    assert_eq!(outcomes(&program), vec![wanted; 20], "{ended:?}");
    assert!(ended.out.contains("signature check failed"), "an error cause: {}", ended.out);
    // The sample succeeds if the plan has no gateway settings, or if `throng.mgs.result=false` turns the judgement off.
    let ended = run(&program, &gateway, PLAN, &["-f"]);
    assert_eq!(outcomes(&program), vec!["200 OK"; 20], "{ended:?}");
    let properties = ["-f", "-Jthrong.mgs.secret=wrong", "-Jthrong.mgs.result=false"];
    let ended = run(&program, &gateway, PLAN, &properties);
    assert_eq!(outcomes(&program), vec!["200 OK"; 20], "{ended:?}");
}

#[test]
fn what_was_sealed_is_sent_again_from_the_cache() {
    let gateway = gateway(&[("encryption", "required")]);
    let program = Program::new();
    program.write("key.pem", &key(&gateway, "ecc"));
    let mut pairs = vec![("secret", "s3cret"), ("encrypt", "ecc"), ("public_key_file", "key.pem")];
    pairs.push(("cache.mb", "4"));
    let plan = PLAN.replace("<!--element-->", &element(&pairs)).replace("<!--checks-->", CHECKS);
    let ended = run(&program, &gateway, &plan, &[]);
    all_fit(&program, &ended, "from the cache");
    let number = |name: &str| {
        let (_, rest) = ended.out.split_once(&format!("\"{name}\": ")).expect(name);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().expect(name)
    };
    let (hits, sealed) = (number("mgs_cache_hits"), number("mgs_sealed"));
    assert_eq!(hits + sealed, 20);
    // Each core has a separate cache of sealed bodies, so at most two bodies per core are sealed without a cache hit.
    assert!(hits >= 20 - 2 * std::thread::available_parallelism().map_or(1, usize::from) as u64);
}

/// Uses the test vectors of `crates/mgs/tests/vectors.rs`, which OpenSSL computed.
#[test]
fn verify_finds_the_settings_of_captured_requests() {
    let program = Program::new();
    let request = |body: &str, sign: &str| {
        format!(
            "[[request]]\noperation = 'com.antcloud.request.post'\nbody = '{body}'\nts = 'OCGcKcE'\n\
             sign = '{sign}'\nsecrets = ['abc', 'key']\n"
        )
    };
    let known = request(r#"[{"_requestBody":"{}"}]"#, "9f60468c02b6e1141ea9780915ee164e");
    program.write("vectors.toml", &known);
    let ended = program.run(&["mgs", "verify", "vectors.toml"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for line in ["throng.mgs.sign=md5", "throng.mgs.secret=key", "throng.mgs.sign.join=prefix"] {
        assert!(ended.out.contains(line), "{ended:?}");
    }
    // A request whose signature matches no combination of settings, and malformed files.
    program.write("vectors.toml", &format!("{known}{}", request("[{}]", "00")));
    let ended = program.run(&["mgs", "verify", "vectors.toml"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.out.contains("no combination of settings produces this signature"), "{ended:?}");
    for (text, words) in [
        ("", "no table [[request]]"),
        ("[[request]]\nsing = ''", "sign?"),
        ("[[request]]\nts = ''", "there is no plain body"),
        ("[[request]]\nbody = ''\nsent_hex = '0'", "hexadecimal"),
        ("[[request]]\nbody = ''\nprivate_key = 'x'", "private key"),
        ("[[request]]\nbody = ''\nsecrets = 'x'", "secrets is not a list of strings"),
        ("[[request]]\nbody = ''\nsign = 'x'\nts = ''", "there is no operation"),
    ] {
        program.write("vectors.toml", text);
        let ended = program.run(&["mgs", "verify", "vectors.toml"]);
        assert!(ended.code == 2 && ended.err.contains(words), "{words}: {ended:?}");
    }
}

#[test]
fn check_names_scripts_that_sign() {
    let program = Program::new();
    let script = "<JSR223PreProcessor guiclass=\"TestBeanGUI\" testclass=\"JSR223PreProcessor\" \
                  testname=\"Sign\"><stringProp name=\"scriptLanguage\">groovy</stringProp><stringProp \
                  name=\"script\">com.acme.MgsJMeterExt.sign(vars)</stringProp></JSR223PreProcessor><hashTree/>";
    program.write("plan.jmx", &PLAN.replace("<!--checks-->", script));
    let ended = program.run(&["check", "plan.jmx"]);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("seems to sign or encrypt requests for a mobile gateway"), "{said}");
    assert!(said.contains("RPC Gateway Security"), "{said}");
    assert!(said.contains("instead of 140 µs"), "what it would save: {said}");
    // `check` also recognizes the script by the name `SignUtil`, together with the plan's header Operation-Type.
    let other = script.replace("com.acme.MgsJMeterExt.sign(vars)", "SignUtil.of(sampler)");
    program.write("plan.jmx", &PLAN.replace("<!--checks-->", &other));
    let ended = program.run(&["check", "plan.jmx"]);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("the plan has an Operation-Type header"), "{said}");
    // `check` also recognizes signing by the name of a jar on the run's class path.
    program.write("plan.jmx", PLAN);
    let ended =
        program.run(&["check", "plan.jmx", "-Juser.classpath=lib/a.jar:lib/acme-mgs-2.jar"]);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("acme-mgs-2.jar on the class path seems to sign or encrypt"), "{said}");
}

#[test]
fn bad_settings_and_answers_fail_samples_with_words() {
    let gateway = gateway(&[("encryption", "optional"), ("answers", "plain")]);
    let program = Program::new();
    program.write("key.pem", &key(&gateway, "rsa"));
    for (pairs, words) in [
        (vec![("encrypt", "ecc"), ("public_key_file", "key.pem")], "not a point of secp256k1"),
        (
            vec![("encrypt", "rsa"), ("public_key_file", "none.pem")],
            "cannot read the gateway's public key",
        ),
        (vec![("encrypt", "rsa")], "the gateway's public key is missing"),
        (
            vec![
                ("secret", "s3cret"),
                ("encrypt", "rsa"),
                ("public_key_file", "key.pem"),
                ("decrypt", "always"),
            ],
            "the answer cannot be decrypted",
        ),
    ] {
        let plan = PLAN.replace("<!--element-->", &element(&pairs));
        let ended = run(&program, &gateway, &plan, &["-f"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let outcomes = outcomes(&program);
        assert_eq!(outcomes.len(), 20);
        assert!(outcomes.iter().all(|outcome| outcome.contains(words)), "{words}: {outcomes:?}");
    }
    // A body that is not JSON is sent unchanged, and the gateway rejects it with 3002. A cache of 0 MB is no cache.
    let plan = PLAN.replace("[{&quot;_requestBody&quot;:&quot;", "no {json");
    for more in [&[][..], &[("encrypt", "rsa"), ("public_key_file", "key.pem")]] {
        let pairs = [&[("secret", "s3cret"), ("cache.mb", "0")], more].concat();
        let ended =
            run(&program, &gateway, &plan.replace("<!--element-->", &element(&pairs)), &["-f"]);
        assert_eq!(outcomes(&program).len(), 20, "{ended:?}");
        assert!(outcomes(&program).iter().all(|outcome| outcome.starts_with("3002 ")), "{ended:?}");
        assert!(ended.out.contains("\"mgs_sealed\": 20"), "{}", ended.out);
    }
}

#[test]
fn check_names_wrong_settings_and_keys() {
    let gateway = gateway(&[]);
    let program = Program::new();
    program.write("rsa.pem", &key(&gateway, "rsa"));
    program.write("ecc.pem", &key(&gateway, "ecc"));
    let check = |pairs: &[(&str, &str)], properties: &[&str]| {
        let plan = if pairs.is_empty() { String::new() } else { element(pairs) };
        program.write("plan.jmx", &PLAN.replace("<!--element-->", &plan));
        let ended = program.run(&[&["check", "plan.jmx"][..], properties].concat());
        format!("{}{}", ended.out, ended.err)
    };
    let said = check(&[("sign", "md4"), ("sing", "md5")], &[]);
    assert!(said.contains("one of none, md5, sha256"), "{said}");
    assert!(said.contains("throng.mgs.sing is not a property"), "{said}");
    let ecc = [("secret", "x"), ("encrypt", "ecc"), ("public_key_file", "rsa.pem")];
    let said = check(&ecc, &[]);
    assert!(said.contains("not a point of secp256k1: its type is RSA"), "{said}");
    assert!(said.contains("every request in its scope will fail"), "{said}");
    let said = check(&[("encrypt", "rsa"), ("public_key_file", "none.pem")], &[]);
    assert!(
        said.contains("cannot read the gateway's public key") && said.contains("none.pem"),
        "{said}"
    );
    // Here the wrong setting is a property of the run, not of an element.
    let said = check(&[], &["-Jthrong.mgs.sign=md4"]);
    assert!(said.contains("one of none, md5, sha256"), "{said}");
    let said = check(&[], &["-Jthrong.mgs.sign=sm3"]);
    assert!(said.contains("signed with sm3 and an empty secret"), "{said}");
    // `check` says nothing about settings with variables, which are unknown before the run, nor about correct settings.
    for (pairs, properties) in [
        (&[("secret", "${s}"), ("encrypt", "${e}"), ("public_key_file", "none.pem")][..], &[][..]),
        (&[("secret", "x"), ("encrypt", "rsa"), ("public_key_file", "rsa.pem")], &[]),
        (&[("sign", "none"), ("encrypt", "ecc"), ("public_key_file", "ecc.pem")], &[]),
        (&[("secret", "x")], &["-Jthrong.mgs.sign=md5"]),
        (&[], &["-Jthrong.mgs.secret=x"]),
        (&[], &["-Jthrong.mgs.enabled=false"]),
    ] {
        let said = check(pairs, properties);
        assert!(!said.contains("[gateway-"), "{pairs:?}: {said}");
    }
}
