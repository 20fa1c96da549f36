//! Sentences of findings on result files: numbers and nouns that agree, and nothing that is not so.

use answers::rules;
use record::frame::Ending;
use record::{Frame, Record};

const HEAD: &str =
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n";

/// The sentences of the verdict on rows of label, code and message, 5 ms apart.
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
fn a_single_request_is_one() {
    let said = said(&[("a".into(), "500")], 1);
    assert!(has(&said, "1 request failed (100 %). The cause, once: 500: Said (since "), "{said:?}");
    assert!(has(&said, ", with 1 user)."), "{said:?}");
    assert!(has(&said, "p99: 1 request; a p99"), "{said:?}");
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
    assert!(!has(&said, "when the run was stopped"), "a last step that fails: {said:?}");
    assert!(has(&said, "30 requests failed"), "{said:?}");
    // JMeter that is stopped at once closes its sockets.
    let closed = text(&rows, 1).replace(",500,Said,", ",Non HTTP response code: java.net.SocketException,Non HTTP response message: Socket closed,");
    let said = words(&closed);
    assert!(has(&said, "30 of 30 errors are connections that broke when the run was"), "{said:?}");
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
    // It may still go on.
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
}

#[test]
fn labels_are_as_many_as_the_rows_have_and_those_that_count_together_are_said() {
    let rows: Vec<_> = (0..2000).map(|n| (format!("/item/{n}/x"), "200")).collect();
    let said = said(&rows, 1);
    let words = "The run has 2 000 labels (2 000 of them count together, as \"/item/#/x\"): names";
    assert!(has(&said, words), "{said:?}");
}
