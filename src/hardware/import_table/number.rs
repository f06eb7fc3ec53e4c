//! Numbers as spreadsheets write them: decimal point or decimal comma, never both, and no separators
//! of thousands.

use super::TableFault;
use crate::units::parse_unit;

/// How a table writes decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimal {
    /// With a point, or all numbers are whole.
    Point,
    /// With a comma.
    Comma,
    /// Not said: the only commas could be separators of thousands.
    Unsaid,
}

/// What most of the numeric cells of a table say.
pub(super) fn decimal_of<'a>(cells: impl Iterator<Item = &'a str>) -> Decimal {
    let (mut point, mut comma, mut either) = (0_usize, 0_usize, false);
    for (number, _) in cells.filter_map(split) {
        let Some((whole, fraction)) = number.split_once([',', '.']) else { continue };
        if fraction.contains([',', '.']) {
            continue;
        }
        let grouped = fraction.len() == 3 && whole.trim_start_matches(['+', '-', '0']).len() < 4;
        let grouped =
            grouped && !whole.trim_start_matches(['+', '-']).starts_with('0') && !whole.is_empty();
        match (number.contains(','), grouped) {
            (true, true) => either = true,
            (true, false) => comma += 1,
            (false, _) => point += 1,
        }
    }
    match (point, comma, either) {
        (0, 0, true) => Decimal::Unsaid,
        _ if comma > point => Decimal::Comma,
        _ => Decimal::Point,
    }
}

/// Half of a unit in the last place of a quantity as a profile writes it, in SI.
pub(super) fn half_digit(written: &str) -> Option<f64> {
    let (number, unit) = split(written)?;
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent: i32 = exponent.parse().ok()?;
    let last = exponent.checked_sub(i32::try_from(decimals).ok()?)?;
    let (scale, _) = parse_unit(unit).ok()?;
    Some(0.5 * 10_f64.powi(last) * scale)
}

/// Number and unit of a cell; `None` when it does not start with a number.
pub(super) fn split(cell: &str) -> Option<(&str, &str)> {
    let digits =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | '-' | '\'' | '’' | '_');
    let mut end = 0;
    let mut before = ' ';
    let rest = |at: usize| cell.get(at..).unwrap_or("");
    for (at, c) in cell.char_indices() {
        let after = rest(at + c.len_utf8());
        let exponent = matches!(c, 'e' | 'E')
            && before.is_ascii_digit()
            && after.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
        // `1 234` is one number, to be refused as such.
        let group =
            c == ' ' && before.is_ascii_digit() && after.starts_with(|c: char| c.is_ascii_digit());
        if !(digits(c) || exponent || group) {
            break;
        }
        before = c;
        end = at + c.len_utf8();
    }
    let number = cell.get(..end)?;
    number.contains(|c: char| c.is_ascii_digit()).then(|| (number, rest(end).trim()))
}

/// The number with a decimal point.
pub(super) fn plain(number: &str, cell: &str, decimal: Decimal) -> Result<String, TableFault> {
    let separator = |reason| Err(TableFault::Separator { text: cell.to_owned(), reason });
    let marks = number.matches([',', '.']).count();
    if number.contains([' ', '\'', '’', '_']) || marks > 1 {
        return separator("has separators of thousands: leave them out");
    }
    match (decimal, number.contains(','), number.contains('.')) {
        (Decimal::Unsaid, true, _) => separator(
            "can be read with a decimal comma or with a separator of thousands: write it without",
        ),
        (Decimal::Point, true, _) => {
            separator("has a comma where other numbers of this table have a decimal point")
        }
        (Decimal::Comma, _, true) => {
            separator("has a point where other numbers of this table have a decimal comma")
        }
        _ => Ok(number.replace(',', ".")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_how_it_writes_decimals() {
        let of = |cells: &[&str]| decimal_of(cells.iter().copied());
        assert_eq!(of(&["1.5", "2"]), Decimal::Point);
        assert_eq!(of(&["1,5", "1,234"]), Decimal::Comma);
        assert_eq!(of(&["0,125"]), Decimal::Comma, "nobody groups the thousands of a zero");
        assert_eq!(of(&["1,234"]), Decimal::Unsaid);
        assert_eq!(of(&["1,5", "1.5"]), Decimal::Point);
        assert_eq!(of(&["12", "modem"]), Decimal::Point);
        assert_eq!(of(&["1,5", "0,2", "85.5", "1.200"]), Decimal::Point, "of equals the point");
        assert_eq!(of(&["1,5", "0,2", "3,1", "85.5", "1.200"]), Decimal::Comma, "most say so");
    }

    #[test]
    fn numbers_that_can_be_read_twice_are_refused() {
        let said = |cell, decimal| match plain(split(cell).unwrap().0, cell, decimal) {
            Ok(plain) => plain,
            Err(fault) => fault.to_string(),
        };
        assert_eq!(said("1,5 mW", Decimal::Comma), "1.5");
        assert_eq!(said("-1.5e-3", Decimal::Point), "-1.5e-3");
        for (cell, decimal, reason) in [
            ("1,234.5", Decimal::Point, "separators of thousands"),
            ("1 234", Decimal::Point, "separators of thousands"),
            ("1'234", Decimal::Comma, "separators of thousands"),
            ("1,234", Decimal::Unsaid, "decimal comma or with a separator"),
            ("1,5", Decimal::Point, "other numbers of this table have a decimal point"),
            ("1.5", Decimal::Comma, "other numbers of this table have a decimal comma"),
        ] {
            assert!(said(cell, decimal).contains(reason), "{cell}: {}", said(cell, decimal));
        }
    }

    #[test]
    fn a_number_is_rounded_to_its_last_digit() {
        let near = |written, half: f64| {
            let found = half_digit(written).unwrap();
            assert!((found / half - 1.0).abs() < 1e-12, "{written}: {found}");
        };
        near("5.852 mW", 0.5e-6);
        near("12 uW", 0.5e-6);
        near("1.5e-3 W", 0.5e-4);
        assert_eq!(half_digit("1e99999999999 W"), None);
    }

    #[test]
    fn a_cell_may_carry_its_unit() {
        assert_eq!(split("12.5 mW"), Some(("12.5", "mW")));
        assert_eq!(split("1e3uW"), Some(("1e3", "uW")));
        assert_eq!(split("mW"), None);
        assert_eq!(split("-"), None);
        assert_eq!(split(""), None);
    }
}
