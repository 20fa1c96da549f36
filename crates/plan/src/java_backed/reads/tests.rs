use super::*;

fn groovy(script: &str) -> Seen {
    of_script(script, Some(Role::After), false)
}

#[test]
fn what_is_not_named_is_not_read() {
    for script in [
        "vars.put('x', vars.get('y') + 1)",
        "log.info('${url} previous ' + props.get('previous'))",
        "ctx.getVariables().get('a'); ctx.threadNum",
        "import org.apache.jmeter.samplers.SampleResult\nint n = 3",
        "vars.put('it', \"${value}\")",
    ] {
        assert_eq!(groovy(script), Seen::default(), "{script}");
    }
}

#[test]
fn parts_of_results_are_told_apart() {
    let reads = |script| {
        let Seen { reads, needs } = groovy(script);
        assert!(reads.contains(Reads::PREVIOUS), "{script}");
        (reads - Reads::PREVIOUS, needs)
    };
    let none = Needs::empty();
    assert_eq!(reads("if (prev.getResponseCode() == '200') {}"), (Reads::RESULT, none));
    assert_eq!(reads("prev.setSuccessful(false)"), (Reads::RESULT, none));
    assert_eq!(reads("prev.responseHeaders"), (Reads::RESULT, Needs::HEADERS));
    assert_eq!(reads("prev .getUrlAsString()"), (Reads::RESULT, Needs::URL));
    let body = (Reads::RESULT | Reads::BODY, Needs::BODY);
    assert_eq!(reads("new JsonSlurper().parseText(prev.getResponseDataAsString())"), body);
    assert_eq!(reads("ctx.getPreviousResult().getResponseData()"), body);
    assert_eq!(reads("ctx.previousResult?.responseData"), body);
    let whole = (Reads::RESULT | Reads::BODY, WHOLE);
    assert_eq!(reads("def it = prev\nit.getTime()"), whole);
    assert_eq!(reads("prev.getSubResults()[0]"), whole);
    assert_eq!(reads("handle(ctx)"), (Reads::all() - Reads::PREVIOUS, WHOLE));
    // The response size also includes the received headers.
    assert_eq!(reads("prev.setResponseData(x)"), (Reads::RESULT, Needs::HEADERS));
    assert_eq!(groovy("sampleResult.getTime()").reads, Reads::RESULT);
}

#[test]
fn samplers_and_cookies_are_told_apart() {
    assert_eq!(groovy("sampler.addArgument('a', 'b')").reads, Reads::SAMPLER);
    let both = Reads::SAMPLER | Reads::COOKIES;
    assert_eq!(groovy("sampler.getCookieManager().add(c)").reads, both);
    assert_eq!(groovy("ctx.getCurrentSampler().getCookieManager()").reads, both);
    assert_eq!(groovy("use(sampler)").reads, both);
    assert_eq!(groovy("Sampler other = null").reads, Reads::empty());
}

#[test]
fn names_mean_something_by_role() {
    let own = of_script("SampleResult.setResponseData('x')", Some(Role::Sampler), false);
    assert_eq!(own, Seen::default());
    assert_eq!(of_script("data.length", Some(Role::After), true).needs, Needs::BODY);
    assert_eq!(of_script("data.length", Some(Role::After), false), Seen::default());
    let checked = of_script("Failure = ResponseHeaders == ''", Some(Role::Assertion), true);
    assert_eq!((checked.reads, checked.needs), (Reads::RESULT, Needs::HEADERS));
    let told = of_script("sampleEvent.getResult().getTime()", Some(Role::Listener), false);
    assert_eq!(told, Seen::result());
}

#[test]
fn code_that_is_not_known_reads_everything() {
    for script in ["${code}", "int n = ${n}", "evaluate(text)", "new GroovyShell(x)"] {
        assert_eq!(groovy(script), Seen::all(), "{script}");
    }
}
