//! Tests requests that scripts change, and properties that are synchronised in both directions.

use super::*;

#[test]
fn a_request_is_what_scripts_leave_of_it_once() {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let port = serve(Arc::clone(&requests));
    let body = format!(
        r#"<CookieManager testclass="CookieManager" testname="cookies" enabled="true"><collectionProp name="CookieManager.cookies"/></CookieManager><hashTree/>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get" enabled="true"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/plan</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp></HTTPSamplerProxy><hashTree/>"#
    );
    let mut plan = plan(1, 2, &body);
    let before = host(&mut plan, Role::Before, Reads::SAMPLER | Reads::COOKIES);
    let element = host(&mut plan, Role::Config, Reads::empty());
    plan.java_backed.owners.push(plan::java_backed::Owner {
        sampler: SamplerId(0),
        element,
        configs: Vec::new(),
        asks_for_headers: false,
    });
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    let machine = Machine::new(move |told| {
        assert_eq!(told.sampler, Some(0));
        let first = told.iteration == 1;
        let cookies = told.cookies.clone().expect("there is a manager");
        if !first {
            assert_eq!(cookies, [("own".to_string(), "made".to_string())]);
        }
        Answer {
            request: first.then(|| request(port, "/script", "a=b&c", ("X-Own", "1"), None)),
            cookies: first.then(|| vec![["own", "made", "127.0.0.1"].map(String::from)]),
            ..Answer::default()
        }
        .to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["get", "get"]);
    let requests = requests.lock().unwrap();
    assert!(requests[0].starts_with("POST /script HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].contains("X-Own: 1\r\n") && requests[0].ends_with("\r\n\r\na=b&c"));
    assert!(requests[1].starts_with("GET /plan HTTP/1.1\r\n"), "{requests:?}");
    for request in requests.iter() {
        assert!(request.contains("Cookie: own=made\r\n"), "{request}");
    }
}

#[test]
fn properties_go_both_ways() {
    let mut plan =
        plan(1, 2, &sampler("${__setProperty(native,n${__threadNum},)}${__P(java,unset)}"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    let after = host(&mut plan, Role::After, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    plan.samplers[0].after.push(Extractor::Job(Job::Run(after)));
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let heard = Arc::clone(&seen);
    let machine = Machine::new(move |told| {
        heard.lock().unwrap().push((told.act, told.properties.clone()));
        let properties = match (told.act, told.iteration) {
            (4, 1) => vec![("java".into(), Some("set".into())), ("native".into(), None)],
            _ => Vec::new(),
        };
        Answer { properties, ..Answer::default() }.to(told)
    });
    let outcome = run(plan, &machine);
    assert_eq!(outcome.labels(), ["unset", "set"]);
    let written = vec![("native".to_string(), Some("n1".to_string()))];
    let seen = seen.lock().unwrap();
    // The name is evaluated before the first job and when the sampler starts. Each evaluation writes the property,
    // and each write is sent.
    let each = [(1, written.clone()), (4, written.clone()), (1, written.clone()), (4, written)];
    assert_eq!(*seen, each);
}

#[test]
fn a_job_that_runs_already_is_told_of_properties() {
    let mut plan = plan(2, 1, &sampler("${__setProperty(native,n${__threadNum},)}s"));
    let before = host(&mut plan, Role::Before, Reads::empty());
    plan.samplers[0].before.push(Before::Job(Job::Run(before)));
    let seen: Arc<OnceLock<machine::Seen>> = Arc::default();
    let all = Arc::clone(&seen);
    let news = r#"properties [("native", Some("n2"))]"#;
    let machine = Machine::new(move |told| {
        // The first user's job does not end before it has received the property that the second user set.
        let heard = || all.wait().lock().unwrap().iter().any(|one| one == news);
        while told.number == 0 && !heard() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Answer::default().to(told)
    });
    seen.set(Arc::clone(&machine.seen)).unwrap();
    assert_eq!(run(plan, &machine).labels(), ["s", "s"]);
    let told = machine.seen().into_iter().filter(|one| one.starts_with("properties"));
    let told: Vec<_> = told.collect();
    assert_eq!(told.first().map(String::as_str), Some(news), "{told:?}");
    // Names are evaluated once more when samplers start, so the second user's job may also receive the first user's
    // property.
    let other = news.replace("n2", "n1");
    assert!(told.iter().all(|one| one == news || *one == other), "of nothing else: {told:?}");
}
