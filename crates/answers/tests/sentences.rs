//! Sentences of findings, most of them on result files: numbers and nouns must agree, and every statement must be true.
// Each test binary uses only a part of the module `situations`.
mod situations;

use answers::lines::{Scope, lines};
use answers::rules;
use record::frame::Ending;
use record::kept::Why;
use record::{Frame, Kept, Part, Record};
use situations::{MS, S, Users, about, bad, good, run, users};
use stats::hist::{Bins, layout};
use stats::{Counter, Outcome, Phases};

const HEAD: &str =
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n";

/// Returns the sentences of the verdict on rows of label, code and message, 5 ms apart.
fn said(rows: &[(String, &str)], users: u64) -> Vec<String> {
    words(&text(rows, users))
}

fn text(rows: &[(String, &str)], users: u64) -> String {
    let mut text = HEAD.to_owned();
    for (at, (label, code)) in rows.iter().enumerate() {
        let (start, good) = (1_700_000_000_000 + 5 * at, *code == "200");
        text += &format!("{start},100,{label},{code},Said,t,{good},10,{users}\n");
    }
    text
}

fn words(text: &str) -> Vec<String> {
    let record = Record::of_rows(text.as_bytes()).expect("rows");
    rules::verdict(&record).findings.into_iter().map(|finding| finding.words.en).collect()
}

fn has(said: &[String], words: &str) -> bool {
    said.iter().any(|sentence| sentence.contains(words))
}

#[test]
fn answers_that_are_others_are_no_warm_up() {
    let record = run(&users(10).pause(50).seconds(30), |request, random| {
        let bytes = if request.at < 8 * S { 3000 } else { 200 };
        let takes = if request.at < 8 * S { 50 * MS } else { 7 * MS };
        situations::Answer { bytes, ..good(about(takes, random)) }
    });
    let verdict = rules::verdict(&record);
    let finding = &verdict.findings[0];
    let words = &finding.words.en;
    assert!(words.starts_with("Answers differ from about 0:0"), "{words}");
    assert!(words.contains("they have 200 bytes instead of 2."), "{words}");
    assert!(words.contains("KiB on average, and take 7"), "{words}");
    assert!(finding.advice.en.contains("login page"), "{}", finding.advice.en);
}

#[test]
fn a_single_request_is_one() {
    let said = said(&[("a".into(), "500")], 1);
    assert!(has(&said, "1 request failed (100 %). The cause, once: 500: Said (since "), "{said:?}");
    assert!(has(&said, ", with 1 user)."), "{said:?}");
    assert!(has(&said, "p99 is unreliable: 1 request, at least"), "{said:?}");
}

#[test]
fn what_a_file_cannot_tell_is_not_called_checked() {
    let record = Record::of_rows(format!("{HEAD}1700000000000,9,a,200,OK,t,true,1,1\n").as_bytes());
    let verdict = rules::verdict(&record.expect("rows"));
    let lacks = |id: &str| verdict.unchecked.iter().any(|one| one.id == id);
    assert!(lacks("workers_lost") && lacks("generator_limit"), "{:?}", verdict.unchecked);
    assert!(!verdict.silent.contains(&"workers_lost"));
}

#[test]
fn only_a_client_that_closes_its_connections_tells_of_the_end_of_a_file() {
    let mut rows = vec![("a".to_owned(), "200"); 4000];
    rows[3970..].iter_mut().for_each(|row| row.1 = "500");
    let said = self::said(&rows, 1);
    assert!(!has(&said, "by stopping the run"), "a last step that fails: {said:?}");
    assert!(has(&said, "30 requests failed"), "{said:?}");
    // When JMeter is stopped immediately, it closes its sockets.
    let closed = text(&rows, 1).replace(",500,Said,", ",Non HTTP response code: java.net.SocketException,Non HTTP response message: Socket closed,");
    let said = words(&closed);
    assert!(has(&said, "30 of 30 errors were caused by stopping the run"), "{said:?}");
    assert!(!has(&said, "cut off"), "{said:?}");
    let short = vec![("a".to_owned(), "500"); 1000];
    let said = self::said(&short, 1);
    assert!(has(&said, "requests failed (100 %)"), "{said:?}");
}

#[test]
fn a_run_without_a_sample_is_not_one_in_which_nothing_stands_out() {
    let of = |ending: Ending| {
        let frame = Frame { ending, ..Frame::default() };
        let verdict = rules::verdict(&Record { frame, ..Record::default() });
        verdict.findings.into_iter().map(|finding| finding.words.en).collect::<Vec<_>>()
    };
    let words = "The run has no sample at all: it says nothing about the target.";
    assert_eq!(of(Ending::Completed), [words]);
    // A run whose ending is unknown may still be running.
    assert!(of(Ending::Unknown).is_empty());
}

#[test]
fn further_causes_are_counted_where_there_are_some() {
    let mut rows = vec![("a".to_owned(), "200"); 2000];
    for (at, code) in [(10, "500"), (11, "500"), (12, "501")] {
        rows[at].1 = code;
    }
    let two = said(&rows, 3);
    assert!(has(&two, "3 requests failed"), "{two:?}");
    assert!(has(&two, "The most frequent cause, 2 times: 500"), "{two:?}");
    assert!(has(&two, " users); 1 other cause."), "{two:?}");
    rows[13].1 = "502";
    assert!(has(&said(&rows, 3), "; 2 other causes."));
    let record = Record::of_rows(text(&rows, 3).as_bytes()).expect("rows");
    let findings = rules::verdict(&record).findings;
    let errors = findings.iter().find(|one| one.id == "errors_named").expect("errors");
    assert!(errors.words.zh.contains("最常见的原因，2 次：500"), "{:?}", errors.words);
}

#[test]
fn watched_hosts_have_one_name_in_chinese() {
    let rows = vec![("a".to_owned(), "200"); 2000];
    let record = Record::of_rows(text(&rows, 3).as_bytes()).expect("rows");
    let lines = lines(&rules::verdict(&record), Scope::Run { not_met: false });
    let said: Vec<&str> = lines
        .iter()
        .flat_map(|line| std::iter::once(&line.words).chain(&line.items))
        .map(|words| &*words.zh)
        .collect();
    assert!(said.iter().any(|words| words.contains("被监视主机")), "{said:?}");
    assert!(!said.iter().any(|words| words.contains("监控")), "{said:?}");
}

#[test]
fn labels_are_as_many_as_the_rows_have_and_those_that_count_together_are_said() {
    let rows: Vec<_> = (0..2000).map(|n| (format!("/item/{n}/x"), "200")).collect();
    let said = said(&rows, 1);
    let words = "The run has 2 000 labels (2 000 of them are counted under common names, for example \"/item/#/x\"): names";
    assert!(has(&said, words), "{said:?}");
}

fn of_record(record: &Record) -> Vec<String> {
    let verdict = rules::verdict(record);
    verdict.findings.into_iter().chain(verdict.hidden).map(|finding| finding.words.en).collect()
}

#[test]
fn waits_that_end_in_one_second_are_no_more_requests_in_flight_than_there_were() {
    // Five users wait a minute each, and all of their responses end in the same second.
    let mut text = "timeStamp,elapsed,label,responseCode,responseMessage,success\n".to_owned();
    for n in 0..5 {
        text += &format!("{},60000,a,504,Gateway Time-out,false\n", 1_700_000_000_000_i64 + n);
    }
    let said = words(&text);
    assert!(has(&said, ", with 5 requests in flight)"), "{said:?}");
}

/// Returns a run of 10 s in which every tenth request fails.
fn failing() -> Record {
    run(&users(20).pause(80).seconds(10), |request, random| {
        if request.number.is_multiple_of(10) {
            bad(20 * MS, Outcome::Status, "500", "Internal Server Error")
        } else {
            good(about(20 * MS, random))
        }
    })
}

#[test]
fn users_that_came_and_went_within_a_second_are_not_called_none() {
    let mut record = failing();
    assert!(has(&of_record(&record), " users)"), "{:?}", of_record(&record));
    record.seconds.iter_mut().for_each(|second| second.users = 0);
    let said = of_record(&record);
    assert!(has(&said, "(since 0:00)") && !has(&said, "with 0 users"), "{said:?}");
}

#[test]
fn starts_that_were_all_made_reached_their_rate() {
    let rate = Users { rate: Some(500.0), ..users(60) };
    let mut record = run(&rate.seconds(40), |_, random| good(about(20 * MS, random)));
    assert_eq!(record.seconds.iter().map(|second| second.due).sum::<u64>(), 20_000);
    // All starts were late, by half a second.
    for second in &mut record.seconds {
        let late = layout::index_of(520 * MS);
        second.missed = 0;
        second.all.response = Bins::try_from(vec![(late, second.all.count)]).expect("bins");
    }
    let said = of_record(&record);
    assert!(
        has(&said, "Samples started later than they should have (20 000 of 20 000"),
        "{said:?}"
    );
    assert!(!has(&said, "not reached"), "{said:?}");
    // Less than one percent of the starts is missing, so the rate counts as reached.
    record.seconds.iter_mut().for_each(|second| second.missed = 4);
    assert!(!has(&of_record(&record), "not reached"), "{:?}", of_record(&record));
}

#[test]
fn an_error_that_is_over_is_not_one_that_goes_on() {
    let until = |end: u64| {
        run(&users(20).pause(80).seconds(15), move |request, random| {
            if (5 * S..end * S).contains(&request.at) {
                bad(20 * MS, Outcome::Status, "502", "Bad Gateway")
            } else {
                good(about(20 * MS, random))
            }
        })
    };
    let said = of_record(&until(12));
    assert!(has(&said, "(from 0:05 until 0:1"), "{said:?}");
    let said = of_record(&until(15));
    assert!(has(&said, "(since 0:05"), "{said:?}");
}

#[test]
fn a_target_that_went_away_in_the_first_seconds_is_no_fault_of_the_plan() {
    let record = run(&users(5).pause(1).seconds(20), |request, random| {
        if request.at > 1500 * MS {
            bad(MS, Outcome::Refused, "Non HTTP response code", "Connection refused")
        } else {
            good(about(60 * MS, random))
        }
    });
    let said = of_record(&record);
    assert!(!has(&said, "fails from its first requests on"), "{said:?}");
}

#[test]
fn users_and_runs_that_a_plan_ends_after_an_error_are_said() {
    let mut record = failing();
    record.seconds[9].started = 20;
    record.seconds[4].counters.add(Counter::UsersStoppedByError, 12);
    let words = "12 of 20 users were stopped after an error, as the plan says.";
    assert!(has(&of_record(&record), words), "{:?}", of_record(&record));
    record.seconds[4].counters.add(Counter::RunStoppedByError, 1);
    // At the planned end, an error ends nothing.
    let words = "it was to stop after an error.";
    assert!(!has(&of_record(&record), words), "{:?}", of_record(&record));
    record.frame.load.length_ms = Some(60_000);
    let said = of_record(&record);
    assert!(has(&said, &format!("The run ended at 0:10 of 1:00: {words}")), "{said:?}");
    assert!(!has(&of_record(&failing()), "ended"), "a plan that goes on");
}

/// Returns the sentence about a page that gets 50 requests per second and takes 20 ms, or 90 ms at some times.
fn slow_at(is_slow: impl Fn(usize) -> bool) -> String {
    let mut text = HEAD.to_owned();
    for at in 0..2000 {
        let (start, ms) = (1_700_000_000_000 + 20 * at, if is_slow(20 * at) { 90 } else { 20 });
        text += &format!("{start},{ms},Page,200,OK,t,true,10,5\n");
    }
    text
}

#[test]
fn a_slow_beginning_is_none_of_the_times_of_a_rhythm() {
    let rhythm = |ms: usize| [14, 22, 30].contains(&(ms / 1000));
    let words = "slower 3 times, about every 8 s";
    for text in [slow_at(rhythm), slow_at(|ms| ms < 4000 || rhythm(ms))] {
        let said = self::words(&text);
        assert!(has(&said, words) && has(&said, "first at about 0:14"), "{said:?}");
        // The second after each slow period contains its last responses.
        assert!(["and 20 ms", "and 21 ms"].iter().any(|usual| has(&said, usual)), "{said:?}");
    }
}

#[test]
fn answers_of_other_labels_are_no_answers_to_those_turned_away() {
    let mut record = run(&users(20).pause(80).seconds(30), |request, random| {
        if request.number.is_multiple_of(4) {
            bad(5 * MS, Outcome::Status, "503", "Service Unavailable")
        } else {
            good(about(20 * MS, random))
        }
    });
    record.kept.push(Kept {
        why: Why::Error,
        label: 0,
        cause: Some(0),
        outcome: Outcome::Status,
        start_ms: record.frame.start_ms + 1000,
        elapsed: 5_000_000,
        phases: Phases::default(),
        code: "503".into(),
        message: "Service Unavailable".into(),
        address: "".into(),
        reused: true,
        sent: 0,
        received: 0,
        trace: 0,
        request: "".into(),
        response: "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\n".into(),
    });
    let alone = of_record(&record);
    assert!(!has(&alone, "none"), "{alone:?}");
    record.labels.push(record.labels[0].clone());
    record.labels[1].name = "other".into();
    for second in &mut record.seconds {
        let (count, errors) = (second.all.count, second.all.errors);
        let refused = Part { count: errors, errors, ..Part::default() };
        let answered = Part { count: count - errors, ..Part::default() };
        second.labels = vec![(0, refused), (1, answered)].into();
    }
    let said = of_record(&record);
    assert!(has(&said, "; none of \"request\" was answered meanwhile."), "{said:?}");
}
