//! The quantity literal: `"0.23 pJ ±30% @horowitz2014"`, value, unit, spread and source in one
//! string.

use super::{Dimension, Quantity, UnitError, parse_unit};
use std::fmt;
use std::ops::Range;

/// How far a value may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// The value is the median of a log-normal; the number is sigma of ln(x). `±30%` is ln(1.3).
    LogNormal(f64),
    /// The value is the mean of a normal; the number is its standard deviation in SI.
    Normal(f64),
}

/// A literal taken apart, its value in SI.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// The value in SI.
    pub value: f64,
    /// The unit's dimension.
    pub dimension: Dimension,
    /// The unit as written.
    pub unit: String,
    /// Value and unit as written.
    pub written: String,
    /// The stated spread, as a fraction (`±30%`) or an absolute amount (`±2 K`) in SI.
    pub spread: Option<StatedSpread>,
    /// The source key behind `@`.
    pub source: Option<String>,
}

/// A spread as written, before the quantity decides what it means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatedSpread {
    /// A fraction of the value.
    Relative(f64),
    /// An amount in SI of the literal's own dimension.
    Absolute(f64),
}

/// What is wrong with a literal, and which bytes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LiteralError {
    /// What was expected and found.
    pub message: String,
    /// The offending bytes of the literal's text.
    pub span: Range<usize>,
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

fn fault(message: impl Into<String>, span: Range<usize>) -> LiteralError {
    LiteralError { message: message.into(), span }
}

/// Length of the leading decimal number of `text`.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    let mut digit_seen = false;
    while let Some(&b) = bytes.get(end) {
        let exponent = digit_seen
            && (b == b'e' || b == b'E')
            && match bytes.get(end + 1) {
                Some(b'+' | b'-') => bytes.get(end + 2).is_some_and(u8::is_ascii_digit),
                Some(d) => d.is_ascii_digit(),
                None => false,
            };
        let sign = (b == b'+' || b == b'-')
            && (end == 0 || matches!(bytes.get(end - 1), Some(b'e' | b'E')));
        if b.is_ascii_digit() || b == b'.' || b == b'_' || exponent || sign {
            digit_seen |= b.is_ascii_digit();
            end += 1;
        } else {
            break;
        }
    }
    end
}

impl Literal {
    /// Takes `text` apart. Errors name the bytes that are wrong.
    pub fn parse(text: &str) -> Result<Self, LiteralError> {
        let start = text.len() - text.trim_start().len();
        let length = number_length(&text[start..]);
        let number = &text[start..start + length];
        if let Some(comma) = comma_fault(text, start, start + length) {
            return Err(comma);
        }
        let value: f64 = number
            .replace('_', "")
            .parse()
            .map_err(|_| fault("expected a number", 0..text.len().max(1)))?;
        if !value.is_finite() {
            return Err(fault("the number is out of range", start..start + length));
        }
        let mut rest_end = text.len();
        let mut source = None;
        if let Some(at) = text[start + length..].find('@').map(|i| i + start + length) {
            let key = text[at + 1..].trim();
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            if key.is_empty() || !key.chars().all(word) {
                return Err(fault("expected a source key behind `@`", at..text.len()));
            }
            source = Some(key.to_owned());
            rest_end = at;
        }
        let body_start = start + length;
        let (unit_end, spread) = match find_spread(&text[body_start..rest_end]) {
            None => (rest_end, None),
            Some((offset, marker)) => {
                let at = body_start + offset;
                (at, Some(at + marker..rest_end))
            }
        };
        let unit = text[body_start..unit_end].trim().to_owned();
        let unit_span = unit_bytes(text, body_start..unit_end);
        let (scale, dimension) = parse_unit(&unit).map_err(|e| unit_fault(&e, unit_span))?;
        if !(value * scale).is_finite() {
            return Err(fault("the value is out of range", start..unit_end));
        }
        let spread = spread.map(|span| parse_spread(text, span, dimension)).transpose()?;
        let written = text[start..unit_end].trim().to_owned();
        Ok(Self { value: value * scale, dimension, unit, written, spread, source })
    }

    /// Parses `text` and checks that it is a `Q`. The message of a wrong or missing unit names
    /// what was expected and shows an example.
    pub fn parse_as<Q: Quantity>(text: &str) -> Result<Self, LiteralError> {
        if let Some(fault) = celsius_fault(text).filter(|_| Q::DIMENSION.celsius_scale) {
            return Err(fault);
        }
        let literal = Self::parse(text).map_err(|mut error| {
            // A unit that is suggested says it all.
            if error.message.contains("unit") && !error.message.ends_with('?') {
                error.message.push_str(&format!(
                    "; {} is written like \"{}\"",
                    Q::with_article(),
                    Q::EXAMPLE
                ));
            }
            error
        })?;
        let whole = 0..text.len().max(1);
        if literal.value < 0.0 && !Q::SIGNED {
            return Err(fault(format!("{} cannot be below zero", Q::with_article()), whole));
        }
        if literal.value == 0.0 && literal.spread.is_some() && !Q::SIGNED {
            return Err(fault("a value of zero has no spread", whole));
        }
        if literal.dimension.fits(Q::DIMENSION) && !literal.unit.is_empty() {
            if let Some(fault) = share_of_celsius(text, &literal) {
                return Err(fault);
            }
            return Ok(literal);
        }
        let message = if literal.unit.is_empty() {
            format!("{} needs a unit, for example \"{}\"", Q::with_article(), Q::EXAMPLE)
        } else {
            format!(
                "`{}` is not a unit of {}, expected one like \"{}\"",
                literal.unit,
                Q::NAME,
                Q::EXAMPLE
            )
        };
        let span = text.find(&literal.unit).filter(|_| !literal.unit.is_empty());
        let span = span.map_or(0..text.len().max(1), |at| at..at + literal.unit.len());
        Err(fault(message, span))
    }

    /// The spread as `Q` understands it: a log-normal for positive quantities, a normal for
    /// temperatures and other signed ones.
    pub fn spread_as<Q: Quantity>(&self) -> Option<Spread> {
        let value = self.value;
        Some(match self.spread? {
            StatedSpread::Relative(r) if Q::SIGNED => Spread::Normal((r * value).abs()),
            StatedSpread::Relative(r) => Spread::LogNormal(r.ln_1p()),
            StatedSpread::Absolute(a) if Q::SIGNED => Spread::Normal(a),
            StatedSpread::Absolute(a) => Spread::LogNormal((a / value).abs().ln_1p()),
        })
    }
}

/// A number that goes on behind a comma.
fn comma_fault(text: &str, start: usize, end: usize) -> Option<LiteralError> {
    let behind = text.get(end..)?.strip_prefix(',')?;
    let digits = number_length(behind);
    if end == start || !behind.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (number, fraction) = (text.get(start..end)?, behind.get(..digits)?);
    let again = number.contains('.') || fraction.contains('.');
    let more = behind.get(digits..)?.starts_with(',');
    let message = if again || more {
        "a number has no separators of thousands: leave the commas out".to_owned()
    } else {
        format!("a decimal point is expected, not a comma: `{number}.{fraction}`")
    };
    Some(fault(message, start..end + 1 + digits))
}

/// Ways to write degrees Celsius that are none here; `C` is the coulomb.
const NOT_CELSIUS: [&str; 11] =
    ["C", "c", "degc", "DegC", "deg C", "deg", "ºC", "℃", "celsius", "Celsius", "°"];

/// A temperature whose unit was meant to be degrees Celsius.
fn celsius_fault(text: &str) -> Option<LiteralError> {
    let start = text.len() - text.trim_start().len();
    let from = start + number_length(text.get(start..)?);
    let body = text.get(from..)?;
    let end = find_spread(body).map(|(at, _)| at).into_iter().chain(body.find('@')).min();
    let to = from + end.unwrap_or(body.len());
    let unit = text.get(from..to)?.trim();
    let meant = NOT_CELSIUS.contains(&unit);
    let message = format!("`{unit}` is not a unit of temperature, did you mean `degC`?");
    (meant && from > start).then(|| fault(message, unit_bytes(text, from..to)))
}

/// The zero of the Celsius scale is arbitrary, and a share of a figure on it means nothing.
fn share_of_celsius(text: &str, literal: &Literal) -> Option<LiteralError> {
    let share = matches!(literal.spread, Some(StatedSpread::Relative(_)));
    let (at, _) = find_spread(text).filter(|_| share && literal.dimension.celsius_scale)?;
    let end = text.find('@').unwrap_or(text.len());
    let message =
        "a temperature in degrees Celsius has no share to be off by: write kelvin, such as `±5 K`";
    Some(fault(message, unit_bytes(text, at..end)))
}

/// Finds `±` or `+-` in `text`: its offset and length.
fn find_spread(text: &str) -> Option<(usize, usize)> {
    ["±", "+-", "+/-"].iter().find_map(|m| text.find(m).map(|at| (at, m.len())))
}

fn unit_bytes(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let lead = slice.len() - slice.trim_start().len();
    let tail = slice.len() - slice.trim_end().len();
    if lead == slice.len() { 0..text.len().max(1) } else { range.start + lead..range.end - tail }
}

fn unit_fault(error: &UnitError, span: Range<usize>) -> LiteralError {
    fault(error.to_string(), span)
}

/// Beyond it nothing is known, and arithmetic with it overflows.
const LARGEST_SPREAD: f64 = 1e6;

fn parse_spread(
    text: &str,
    span: Range<usize>,
    dimension: Dimension,
) -> Result<StatedSpread, LiteralError> {
    let body = text[span.clone()].trim();
    let length = number_length(body);
    let bad = || fault("expected a spread such as ±30% or ±2 K", span.clone());
    let amount: f64 = body[..length].parse().map_err(|_| bad())?;
    if !(0.0..=LARGEST_SPREAD).contains(&amount) {
        return Err(fault(format!("a spread lies between 0 and {LARGEST_SPREAD}"), span));
    }
    let unit = body[length..].trim();
    if unit == "%" {
        return Ok(StatedSpread::Relative(amount / 100.0));
    }
    if unit.is_empty() {
        return Err(bad());
    }
    let (own_scale, own) = parse_unit(unit).map_err(|e| unit_fault(&e, span.clone()))?;
    let plain = |d: Dimension| Dimension { celsius_scale: false, ..d };
    if plain(own) != plain(dimension) {
        return Err(fault("the spread's unit differs from the value's", span));
    }
    Ok(StatedSpread::Absolute(amount * own_scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Celsius, Hertz, JoulesPerMac, Kelvins, Ratio, Volts};

    #[test]
    fn value_unit_spread_and_source_come_apart() {
        let l = Literal::parse_as::<JoulesPerMac>("0.23 pJ ±30% @horowitz2014").unwrap();
        assert!((l.value - 0.23e-12).abs() < 1e-27);
        assert_eq!(l.spread_as::<JoulesPerMac>(), Some(Spread::LogNormal(1.3f64.ln())));
        assert_eq!(l.source.as_deref(), Some("horowitz2014"));
        assert_eq!(Literal::parse_as::<Bytes>("640 KiB").unwrap().value, 655_360.0);
        assert_eq!(Literal::parse_as::<Ratio>("88 %").unwrap().value, 0.88);
        assert_eq!(Literal::parse_as::<Ratio>("88 % +-4%").unwrap().value, 0.88);
    }

    #[test]
    fn a_temperature_spread_is_a_normal_in_kelvin() {
        let l = Literal::parse_as::<Celsius>("25 degC ±5 K @lab").unwrap();
        assert_eq!(l.spread_as::<Celsius>(), Some(Spread::Normal(5.0)));
    }

    #[test]
    fn faults_say_what_was_expected_and_where() {
        let e = Literal::parse_as::<Volts>("1.28").unwrap_err();
        assert!(e.message.contains("needs a unit") && e.message.contains("1.28 V"), "{e}");
        let e = Literal::parse_as::<Volts>("1.28 mA").unwrap_err();
        assert!(e.message.contains("not a unit of voltage"), "{e}");
        assert_eq!(e.span, 5..7);
        let e = Literal::parse_as::<Volts>("1.28 Vlot").unwrap_err();
        assert!(e.message.contains("unknown unit `Vlot`"), "{e}");
        let e = Literal::parse_as::<Hertz>("120 MHZ").unwrap_err();
        assert_eq!(e.message, "unknown unit `MHZ`, did you mean `MHz`?");
        assert!(Literal::parse("").is_err());
        assert!(Literal::parse("1 V @").is_err());
        assert!(Literal::parse("1 V ±x").is_err());
        assert!(Literal::parse("1e999 V").is_err());
        assert!(Literal::parse("1 V ±-3%").is_err());
    }

    #[test]
    fn a_decimal_comma_is_called_one() {
        let e = Literal::parse_as::<Volts>("0,75 V ±5% @x").unwrap_err();
        assert_eq!(e.message, "a decimal point is expected, not a comma: `0.75`");
        assert_eq!(e.span, 0..4);
        for thousands in ["1,234.5 V", "1,234,567 V"] {
            let e = Literal::parse_as::<Volts>(thousands).unwrap_err();
            assert!(e.message.contains("no separators of thousands"), "{e}");
        }
    }

    #[test]
    fn degrees_celsius_by_another_name_suggest_the_right_one() {
        for (text, unit) in [("45 C ±10 K", "C"), ("45 deg C", "deg C"), ("45 ℃ @x", "℃")] {
            let e = Literal::parse_as::<Celsius>(text).unwrap_err();
            let said = format!("`{unit}` is not a unit of temperature, did you mean `degC`?");
            assert_eq!((e.message.as_str(), &text[e.span.clone()]), (said.as_str(), unit));
        }
        for text in ["45 degC ±10 K", "45 °C"] {
            assert!(Literal::parse_as::<Celsius>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_share_of_a_celsius_figure_is_refused() {
        let text = "45 degC ±10% @x";
        let e = Literal::parse_as::<Celsius>(text).unwrap_err();
        assert!(e.message.ends_with("write kelvin, such as `±5 K`"), "{e}");
        assert_eq!(&text[e.span], "±10%");
        assert!(Literal::parse_as::<Kelvins>("10 K ±10%").is_ok(), "a difference has a zero");
    }
}
