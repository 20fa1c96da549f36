//! Decoded `name=value` pairs of a query string or a form body.

/// Parses the pairs in order; `+` is a blank and `%XX` a byte. Text that is not UTF-8 after decoding is read as
/// Latin-1.
pub(crate) fn pairs(query: &[u8]) -> Vec<(String, String)> {
    query
        .split(|&byte| byte == b'&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let mark = pair.iter().position(|&byte| byte == b'=').unwrap_or(pair.len());
            (decoded(&pair[..mark]), decoded(pair.get(mark + 1..).unwrap_or_default()))
        })
        .collect()
}

fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => match after
                .get(..2)
                .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
            {
                Some(byte) => {
                    rest = &after[2..];
                    byte
                }
                None => b'%',
            },
            other => other,
        });
    }
    String::from_utf8(bytes).unwrap_or_else(|error| crate::journal::latin1(error.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_in_order() {
        let found = pairs(b"a=1+2&b=%C3%A9&c&d=%zz&=x&e=%ff");
        let expected = [("a", "1 2"), ("b", "é"), ("c", ""), ("d", "%zz"), ("", "x"), ("e", "ÿ")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
