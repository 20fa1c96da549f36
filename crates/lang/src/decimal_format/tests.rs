//! Compares with Java 17: `table/Record.java` has recorded in `table/patterns.tsv` what Java makes of patterns.

use super::*;

#[test]
fn patterns_are_those_of_java() {
    let mut lines = include_str!("table/patterns.tsv").lines();
    let numbers: Vec<&str> = lines.next().unwrap().split('\t').skip(1).collect();
    for line in lines {
        let mut cells = line.split('\t');
        let pattern = cells.next().unwrap();
        let expected: Vec<&str> = cells.collect();
        let format = DecimalFormat::parse(pattern);
        if expected == ["BAD"] {
            assert_eq!(format, None, "{pattern}");
            continue;
        }
        let format = format.unwrap_or_else(|| panic!("{pattern}"));
        for (number, expected) in numbers.iter().zip(expected) {
            let mut shown = String::new();
            match number.parse() {
                Ok(whole) => format.write(whole, &mut shown),
                Err(_) => {
                    let number = crate::java::parse_double(number).unwrap();
                    format.write_double(number, &mut shown);
                }
            }
            assert_eq!(shown, expected, "{pattern} of {number}");
        }
    }
}

#[test]
fn exponents_and_currencies_are_not_read() {
    assert_eq!(["0E0", "##0.0E00", "\u{a4}0"].map(DecimalFormat::parse), [None, None, None]);
    assert!(DecimalFormat::parse("E0").is_some());
}

#[test]
fn columns_of_reports_have_patterns_of_their_own() {
    for value in [0.0, -0.0, 0.004, 0.5, 12.345, 1e9, -0.25, f64::INFINITY, f64::NEG_INFINITY] {
        for (shown, pattern) in
            [(fixed(value, 2), "#0.00"), (bare(value, 2), "#.00"), (percent(value, 2), "#0.00%")]
        {
            let mut expected = String::new();
            DecimalFormat::parse(pattern).unwrap().write_double(value, &mut expected);
            assert_eq!(shown, expected);
        }
    }
}

#[test]
fn names_of_files_in_a_sequence() {
    for (pattern, number, expected) in [
        ("PIN#'.'DAT", 7, "PIN7.DAT"),
        ("test#.txt", 1, "test1.txt"),
        ("/data/f00.csv", 123, "/data/f123.csv"),
        ("x0", -3, "-x3"),
    ] {
        let mut shown = String::new();
        DecimalFormat::parse(pattern).unwrap().write(number, &mut shown);
        assert_eq!(shown, expected, "{pattern}");
    }
}
