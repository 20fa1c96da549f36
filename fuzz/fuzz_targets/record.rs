//! Fuzzes record files and result files: any content is read without a panic, and the metrics read are consistent.
//!
//! Input: a byte that selects the kind of file, and the content. With a flag, the content is put into a frame with a
//! correct checksum.

#![no_main]

use libfuzzer_sys::fuzz_target;
use record::Record;

fn check(record: &Record) {
    for second in &record.seconds {
        let labels: Vec<u32> = second.labels.iter().map(|label| label.0).collect();
        assert!(labels.iter().all(|label| (*label as usize) < record.labels.len()));
        assert!(labels.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(second.causes.iter().all(|cause| (cause.0 as usize) < record.causes.len()));
        assert!(second.classes.iter().all(|class| (class.0 as usize) < record.classes.len()));
        assert!(second.watched.iter().all(|value| (value.0 as usize) < record.series.len()));
    }
    assert!(record.seconds.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms));
    assert!(record.kept.iter().all(|kept| (kept.label as usize) < record.labels.len()));
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, content)) = input.split_first() else { return };
    match kind % 3 {
        0 => {
            if let Some(record) = Record::of_bytes(&[b"throngR1", content].concat()) {
                check(&record);
            }
        }
        1 => check(&Record::of_entries(content)),
        _ => {
            if let Ok(record) = Record::of_rows(content) {
                check(&record);
            }
        }
    }
});
