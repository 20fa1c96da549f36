//! The part of Java's `DecimalFormat` patterns that file names of a sequence use: text around a run of `#` and `0`.

/// A whole number in a pattern. What is no pattern stays as it is.
pub(super) fn format(pattern: &str, number: i64) -> String {
    let mut prefix = String::new();
    let mut suffix = String::new();
    let (mut digits, mut zeros, mut decimals, mut group) = (false, 0usize, 0usize, None::<usize>);
    // The digits of the pattern that stand before a point, behind it, and whether they are over.
    let (mut point, mut over) = (false, false);
    let mut quoted = false;
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\'' {
            if rest.next_if_eq(&'\'').is_some() {
                if digits { &mut suffix } else { &mut prefix }.push('\'');
            } else {
                quoted = !quoted;
            }
            over |= digits;
            continue;
        }
        let literal = quoted || over;
        match c {
            '#' | '0' if !literal => {
                digits = true;
                group = group.map(|size| size + usize::from(!point));
                match (c, point) {
                    ('0', false) => zeros += 1,
                    ('0', true) => decimals += 1,
                    _ => {}
                }
            }
            ',' if !literal && digits && !point => group = Some(0),
            '.' if !literal && digits && !point => point = true,
            ';' if !quoted => break,
            _ if !digits => prefix.push(c),
            _ => {
                over = true;
                suffix.push(c);
            }
        }
    }
    if !digits {
        return pattern.into();
    }
    let mut whole = format!("{:0zeros$}", number.unsigned_abs());
    if let Some(size) = group.filter(|size| *size > 0) {
        let mut at = whole.len();
        while at > size {
            at -= size;
            whole.insert(at, ',');
        }
    }
    let sign = if number < 0 { "-" } else { "" };
    // A point that ends the pattern's digits is always shown.
    let fraction = if point { format!(".{}", "0".repeat(decimals)) } else { String::new() };
    format!("{prefix_sign}{whole}{fraction}{suffix}", prefix_sign = [sign, &prefix].concat())
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn numbers_fill_patterns() {
        for (pattern, number, expected) in [
            ("PIN#'.'DAT", 7, "PIN7.DAT"),
            ("PIN000'.'DAT", 7, "PIN007.DAT"),
            ("test#.txt", 1, "test1.txt"),
            ("/data/f00.csv", 123, "/data/f123.csv"),
            ("a'b#'0", 5, "ab#5"),
            ("it''s 0", 5, "it's 5"),
            ("#,##0", 1_234_567, "1,234,567"),
            ("0.00x", 3, "3.00x"),
            ("x0", -3, "-x3"),
            ("plain", 3, "plain"),
        ] {
            assert_eq!(format(pattern, number), expected, "{pattern}");
        }
    }
}
