//! Graphite's pickle protocol: a list of nested tuples in Python's pickle protocol 0, with a length prefix.

use super::graphite::Metric;

/// Returns the message for metrics at a time in seconds.
pub fn pickle(metrics: &[Metric], seconds: i64) -> Vec<u8> {
    let mut list = String::from("(l");
    for Metric { name, value } in metrics {
        // A tuple of the name and a tuple of time and value. Name and value are Python strings.
        list.push_str(&format!("(S'{name}'\n(L{seconds}L\nS'{value}'\ntta"));
    }
    list.push('.');
    // The length prefix counts UTF-16 characters and not bytes, as JMeter's does.
    let length = list.encode_utf16().count() as u32;
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(list.as_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_metrics_are_a_list_of_two() {
        let metric = |name: &str, value: &str| Metric { name: name.into(), value: value.into() };
        let message = pickle(&[metric("a.b", "1"), metric("c", "2.5")], 9);
        let list = b"(l(S'a.b'\n(L9L\nS'1'\ntta(S'c'\n(L9L\nS'2.5'\ntta.";
        assert_eq!(message[..4], (list.len() as u32).to_be_bytes());
        assert_eq!(&message[4..], list);
    }
}
