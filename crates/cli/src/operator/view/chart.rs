//! Bar charts of a series over time, with a height of one or more lines.

/// Characters for a cell that is filled by 0 to 8 eighths.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// ASCII characters for a cell that is filled by 0 to 8 eighths.
const ASCII: [char; 9] = [' ', '_', '_', '.', '-', '-', '=', '=', '#'];

/// Returns the lines of a bar chart, the top line first. A value above zero is always visible; a value above the
/// top of the scale ends in `^`; `None` leaves a gap.
pub(super) fn bars(values: &[Option<f64>], top: f64, height: usize, ascii: bool) -> Vec<String> {
    let cells = if ascii { ASCII } else { EIGHTHS };
    let whole = 8 * height;
    let levels = values.iter().map(|value| match value {
        Some(value) if *value > 0.0 && top > 0.0 => {
            ((value / top * whole as f64).round() as usize).clamp(1, whole)
        }
        _ => 0,
    });
    let levels: Vec<usize> = levels.collect();
    let row = |below: usize| -> String {
        levels.iter().map(|level| cells[level.saturating_sub(below * 8).min(8)]).collect()
    };
    let mut rows: Vec<String> = (0..height).rev().map(row).collect();
    let is_beyond = |value: &Option<f64>| value.is_some_and(|value| value > top);
    if let Some(upper) = rows.first_mut().filter(|_| values.iter().any(is_beyond)) {
        let marked = upper.chars().zip(values);
        *upper = marked.map(|(cell, value)| if is_beyond(value) { '^' } else { cell }).collect();
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fill_their_height_and_small_values_are_seen() {
        let values = [None, Some(0.0), Some(0.01), Some(4.0), Some(8.0)];
        assert_eq!(bars(&values, 8.0, 1, false), ["  ▁▄█"]);
        assert_eq!(bars(&values, 8.0, 2, false), ["    █", "  ▁██"]);
        assert_eq!(bars(&values, 8.0, 1, true), ["  _-#"]);
        assert_eq!(bars(&values, 4.0, 2, false), ["   █^", "  ▁██"], "beyond the top");
        assert_eq!(bars(&[None, Some(0.0)], 0.0, 1, false), ["  "]);
    }
}
