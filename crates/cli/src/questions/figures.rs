//! Numbers as sweep, capacity and compare print them.

/// A number with three digits that count.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "-".to_owned()
    } else if size >= 99.95 || size == 0.0 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.9995 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// A load: a whole number where it is one.
pub(crate) fn load(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { number(value) }
}

/// A share as percent.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".to_owned()
    } else if percent.abs() >= 10.0 {
        format!("{percent:.0} %")
    } else if percent.abs() >= 0.1 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.2} %")
    }
}

/// A change as percent with its sign.
pub(crate) fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

/// A table: columns are as wide as their widest cell, the first to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let space = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 {
                line.push_str(&format!("{cell}{space}"));
            } else {
                line.push_str(&format!("  {space}{cell}"));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown: Vec<String> =
            [3072.4, 99.96, 17.04, 7.125, 0.5, 0.0, f64::INFINITY].map(number).to_vec();
        assert_eq!(shown, ["3072", "100", "17.0", "7.12", "0.500", "0", "-"]);
        assert_eq!(
            (percent(0.0), percent(0.063), percent(0.0004)),
            ("0 %".into(), "6.3 %".into(), "0.04 %".into())
        );
        assert_eq!(signed(0.071), "+7.1 %");
    }

    #[test]
    fn columns_stand_below_each_other() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        assert_eq!(table(&[row(&["a", "bb"]), row(&["ccc", "d"])]), "a    bb\nccc   d\n");
    }
}
