//! Cells that are not plain decimals: quoted, padded, grouped in thousands, or a word for nothing.

use super::decimal;

/// Words that stand where there is no value.
const NOTHING: [&str; 16] = [
    "",
    "nan",
    "-nan",
    "inf",
    "+inf",
    "-inf",
    "infinity",
    "-infinity",
    "na",
    "n/a",
    "[n/a]",
    "null",
    "none",
    "-",
    "ol",
    "ovld",
];

/// The byte behind the cell that starts at `at`: a delimiter, an end of line, or the end.
pub(super) fn end(text: &[u8], at: usize, delimiter: u8) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let mut quoted = false;
    let ends = |byte: &u8| {
        if *byte == b'"' {
            quoted = !quoted;
        }
        *byte == b'\n' || (!quoted && (*byte == delimiter || *byte == b'\r'))
    };
    at + rest.iter().position(ends).unwrap_or(rest.len())
}

/// The cell without blanks and quotes.
pub(super) fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    inner.unwrap_or(cell).trim()
}

/// The value of a cell × 10^`power`: not-a-number where it says that there is none, nothing where
/// it is no number.
pub(super) fn value(cell: &str, point: u8, power: i32) -> Option<f64> {
    let cell = bare(cell);
    let lower = cell.to_ascii_lowercase();
    if NOTHING.contains(&lower.as_str()) || lower == "overflow" {
        return Some(f64::NAN);
    }
    number(cell, point, power)
}

/// A number × 10^`power`, with thousands grouped or not.
pub(super) fn number(cell: &str, point: u8, power: i32) -> Option<f64> {
    let cell = bare(cell);
    // The text of a NumPy scalar, which some scripts write in place of its number.
    let numpy = cell.strip_prefix("np.float64(").and_then(|cell| cell.strip_suffix(')'));
    let plain = ungrouped(numpy.unwrap_or(cell), point)?;
    match decimal::scan(plain.as_bytes(), 0, b'.') {
        Some((number, end)) if end == plain.len() => Some(number.times_ten_to(power)),
        _ => decimal::nearest(&plain, power),
    }
}

/// With a full stop for the decimal sign and without separators of thousands; nothing where these
/// do not stand three digits apart.
fn ungrouped(cell: &str, point: u8) -> Option<String> {
    let point = char::from(point);
    let (whole, rest) = cell.find(point).map_or((cell, ""), |at| cell.split_at(at));
    let groups =
        |c: char| c != point && matches!(c, ',' | '.' | '\'' | ' ' | '\u{a0}' | '\u{202f}');
    let mut plain = String::with_capacity(cell.len());
    for (k, group) in whole.split(groups).enumerate() {
        let digits = group.trim_start_matches(['+', '-']).len();
        if k > 0 && (group.len() != 3 || !group.bytes().all(|b| b.is_ascii_digit())) {
            return None;
        }
        if k == 0 && whole.len() > group.len() && !(1..=3).contains(&digits) {
            return None;
        }
        plain.push_str(group);
    }
    plain.push_str(&rest.replacen(point, ".", 1));
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_by_three_or_it_is_no_number() {
        let british = |cell| value(cell, b'.', 0);
        let german = |cell| value(cell, b',', -3);
        assert_eq!(british("\"1,234,567.5\""), Some(1_234_567.5));
        assert_eq!(british(" 1'234 "), Some(1234.0));
        assert_eq!(british("-12,345"), Some(-12_345.0));
        assert_eq!(german("1.234,5"), Some(1.2345));
        assert_eq!(german("1\u{a0}234,5"), Some(1.2345));
        assert_eq!(british("np.float64(1.25)"), Some(1.25));
        for none in ["1,23", "1234,567", "1,,000", "1.5 mA", "x", "1,2345", ",123"] {
            assert_eq!(british(none), None, "{none}");
        }
    }

    #[test]
    fn words_for_nothing_are_gaps_and_no_zeros() {
        for word in ["", "  ", "NaN", "\"\"", "N/A", "OVERFLOW", "-", "inf"] {
            assert!(value(word, b'.', 0).is_some_and(f64::is_nan), "{word}");
        }
    }

    #[test]
    fn a_delimiter_within_quotes_ends_no_cell() {
        assert_eq!(end(b"\"1,2\",3\n", 0, b','), 5);
        assert_eq!(end(b"12\r\n", 0, b','), 2);
        assert_eq!(end(b"12", 1, b','), 2);
        assert_eq!(end(b"12", 9, b','), 9);
    }
}
