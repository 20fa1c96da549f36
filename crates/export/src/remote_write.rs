//! The message of Prometheus remote write 1.0: a protobuf `WriteRequest`, compressed with Snappy's block format.
//!
//! The encoder is handwritten, because only a few fields of the message are needed:
//! - `WriteRequest { repeated TimeSeries timeseries = 1 }`
//! - `TimeSeries { repeated Label labels = 1; repeated Sample samples = 2 }`
//! - `Label { string name = 1; string value = 2 }`
//! - `Sample { double value = 1; int64 timestamp = 2 }`

use crate::metrics::{Family, Series, Value, number};

/// Returns the compressed message with the values of all series at one time. Every series gets the labels in `common`.
pub fn message(families: &[Family], common: &[(&str, String)], at_ms: i64) -> Vec<u8> {
    compress(&request(families, common, at_ms))
}

/// Returns the message before compression.
fn request(families: &[Family], common: &[(&str, String)], at_ms: i64) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families {
        for series in &family.series {
            let mut add = |end: &str, bound: Option<f64>, value: f64| {
                let name = format!("{}{end}", family.name);
                let labels = labels(&name, series, common, bound);
                field(1, &time_series(&labels, value, at_ms), &mut out);
            };
            match &series.value {
                Value::Number(value) => add("", None, *value),
                Value::Buckets(buckets) => {
                    for (bound, count) in buckets.cumulative() {
                        add("_bucket", Some(bound), count as f64);
                    }
                    add("_sum", None, buckets.sum);
                    add("_count", None, buckets.count() as f64);
                }
            }
        }
    }
    out
}

/// Returns all labels of a series including its name, sorted and without duplicates, as receivers require. Labels with
/// an empty value are omitted.
fn labels<'a>(
    name: &'a str,
    series: &'a Series,
    common: &'a [(&str, String)],
    bound: Option<f64>,
) -> Vec<(&'a str, String)> {
    let own = series.labels.iter().map(|(name, value)| (*name, value.clone()));
    let bound = bound.map(|bound| ("le", number(bound)));
    let common = common.iter().map(|(name, value)| (*name, value.clone()));
    let mut all: Vec<_> = common.chain(own).chain(bound).collect();
    all.push(("__name__", name.to_owned()));
    all.retain(|label| !label.1.is_empty());
    all.sort_by(|a, b| a.0.cmp(b.0));
    all.dedup_by(|later, first| later.0 == first.0);
    all
}

fn time_series(labels: &[(&str, String)], value: f64, at_ms: i64) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in labels {
        let mut label = Vec::new();
        field(1, name.as_bytes(), &mut label);
        field(2, value.as_bytes(), &mut label);
        field(1, &label, &mut out);
    }
    let mut sample = vec![1 << 3 | 1];
    sample.extend(value.to_le_bytes());
    sample.push(2 << 3);
    varint(at_ms as u64, &mut sample);
    field(2, &sample, &mut out);
    out
}

/// Appends a length-delimited protobuf field: number, length, bytes.
fn field(number: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(number << 3 | 2);
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Compresses with Snappy. This fails only for a string of 4 GiB or more.
fn compress(bytes: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::{BOUNDS, Buckets, Kind};

    /// Parses the fields of a protobuf message: field number, integer value and bytes of each.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let (value, length) = match tag & 7 {
                0 => (varint(&mut bytes), 0),
                1 => (u64::from_le_bytes(bytes[..8].try_into().unwrap()), 8),
                2 => (0, varint(&mut bytes) as usize),
                other => panic!("wire type {other}"),
            };
            found.push((tag >> 3, value, &bytes[..length]));
            bytes = &bytes[length..];
        }
        found
    }

    type Read = (Vec<(String, String)>, f64, i64);

    fn read(message: &[u8]) -> Vec<Read> {
        let bytes = snap::raw::Decoder::new().decompress_vec(message).expect("snappy");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let series = fields(&bytes).into_iter().map(|series| {
            let parts = fields(series.2);
            let labels = parts.iter().filter(|part| part.0 == 1).map(|part| {
                let label = fields(part.2);
                (text(label[0].2), text(label[1].2))
            });
            let sample = fields(parts.last().expect("a sample").2);
            (labels.collect(), f64::from_bits(sample[0].1), sample[1].1 as i64)
        });
        series.collect()
    }

    fn family(label: &str, value: Value) -> Family {
        let series = vec![Series { labels: vec![("label", label.into())], value }];
        Family { name: "t", help: "", kind: Kind::Gauge, unit: "s", series }
    }

    #[test]
    fn a_histogram_is_a_series_for_each_bucket() {
        let buckets = Box::new(Buckets { sum: 0.25, ..Buckets::default() });
        let families = [family("", Value::Buckets(buckets))];
        let read = read(&message(&families, &[("job", "throng".into())], 1_700_000_000_123));
        assert_eq!(read.len(), BOUNDS.len() + 3);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let first = vec![pair("__name__", "t_bucket"), pair("job", "throng"), pair("le", "0.001")];
        assert_eq!(read[0], (first, 0.0, 1_700_000_000_123), "in order, without empty labels");
        let sum = vec![pair("__name__", "t_sum"), pair("job", "throng")];
        assert_eq!(read[BOUNDS.len() + 1].0, sum);
        assert_eq!(read[BOUNDS.len() + 1].1, 0.25);
    }

    #[test]
    fn a_label_that_all_series_have_is_there_once() {
        let families = [family("own", Value::Number(1.0))];
        let read = read(&message(&families, &[("label", "common".into())], 1));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read[0].0, [pair("__name__", "t"), pair("label", "common")]);
    }

    proptest! {
        #[test]
        fn hostile_labels_come_back(label in ".{1,40}", value in any::<f64>(), at_ms in any::<i64>()) {
            let read = read(&message(&[family(&label, Value::Number(value))], &[], at_ms));
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(&read[0].0[1].1, &label);
            prop_assert_eq!((read[0].1.to_bits(), read[0].2), (value.to_bits(), at_ms));
        }
    }
}
