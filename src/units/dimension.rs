//! Units as text: a symbol, a prefix, products, quotients and powers, reduced to a scale and a
//! dimension.
//!
//! The basis is chosen for power work: second, joule, volt, kelvin and byte, and the counted
//! things a cost is stated for (MAC, operation, element, cycle). Ampere is J/(V s), ohm V^2 s/J,
//! farad J/V^2. Powers of ten and of two differ (`GB` and `GiB`), so do bit and byte.

use std::fmt;

/// Exponents over the basis; the last four are counts, which a literal may leave out
/// (`pJ` for `pJ/MAC`) but may not get wrong (`pJ/B` for `pJ/MAC`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dimension {
    /// Exponent of the second.
    pub second: i8,
    /// Exponent of the joule.
    pub joule: i8,
    /// Exponent of the volt.
    pub volt: i8,
    /// Exponent of the kelvin.
    pub kelvin: i8,
    /// Exponent of the byte.
    pub byte: i8,
    /// Exponent of the multiply-accumulate.
    pub mac: i8,
    /// Exponent of the element operation.
    pub operation: i8,
    /// Exponent of the tensor element.
    pub element: i8,
    /// Exponent of the clock cycle.
    pub cycle: i8,
    /// True for a temperature on the Celsius scale, which no product may hold.
    pub celsius_scale: bool,
}

impl Dimension {
    /// A pure number.
    pub const NONE: Self = Self {
        second: 0,
        joule: 0,
        volt: 0,
        kelvin: 0,
        byte: 0,
        mac: 0,
        operation: 0,
        element: 0,
        cycle: 0,
        celsius_scale: false,
    };

    fn exponents(self) -> [i8; 9] {
        [
            self.second,
            self.joule,
            self.volt,
            self.kelvin,
            self.byte,
            self.mac,
            self.operation,
            self.element,
            self.cycle,
        ]
    }

    fn from_exponents(e: [i8; 9]) -> Self {
        let [second, joule, volt, kelvin, byte, mac, operation, element, cycle] = e;
        Self {
            second,
            joule,
            volt,
            kelvin,
            byte,
            mac,
            operation,
            element,
            cycle,
            celsius_scale: false,
        }
    }

    /// The product of `self` and `other` to the power `power`, or `None` when an exponent leaves
    /// its range.
    fn times_power(self, other: Self, power: i8) -> Option<Self> {
        let mut out = self.exponents();
        for (a, b) in out.iter_mut().zip(other.exponents()) {
            *a = a.checked_add(b.checked_mul(power)?)?;
        }
        Some(Self::from_exponents(out))
    }

    fn counts(self) -> [i8; 4] {
        [self.mac, self.operation, self.element, self.cycle]
    }

    /// True when a literal of this dimension may stand where `expected` is asked for: the same
    /// physical dimension, and the counts either equal or left out.
    pub fn fits(self, expected: Self) -> bool {
        let physical = |d: Self| (d.second, d.joule, d.volt, d.kelvin, d.byte, d.celsius_scale);
        physical(self) == physical(expected)
            && (self.counts() == expected.counts() || self.counts() == [0; 4])
    }
}

/// Why a unit could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitError {
    /// The symbol is in no table; the nearest known one, if any.
    Unknown {
        /// The symbol as written.
        symbol: String,
        /// A known symbol that is spelled like it.
        nearest: Option<String>,
    },
    /// An exponent, an operator or the nesting makes no sense.
    Malformed(String),
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { symbol, nearest } => {
                write!(f, "unknown unit `{symbol}`")?;
                if let Some(near) = nearest {
                    write!(f, ", did you mean `{near}`?")?;
                }
                Ok(())
            }
            Self::Malformed(text) => write!(f, "`{text}` is not a unit"),
        }
    }
}

const fn dim(second: i8, joule: i8, volt: i8, kelvin: i8, byte: i8) -> Dimension {
    Dimension { second, joule, volt, kelvin, byte, ..Dimension::NONE }
}

struct Symbol {
    name: &'static str,
    scale: f64,
    dimension: Dimension,
    prefixes: Prefixes,
}

#[derive(PartialEq)]
enum Prefixes {
    None,
    Decimal,
    DecimalAndBinary,
}

const fn symbol(
    name: &'static str,
    scale: f64,
    dimension: Dimension,
    prefixes: Prefixes,
) -> Symbol {
    Symbol { name, scale, dimension, prefixes }
}

const MAC: Dimension = Dimension { mac: 1, ..Dimension::NONE };
const OPERATION: Dimension = Dimension { operation: 1, ..Dimension::NONE };
const ELEMENT: Dimension = Dimension { element: 1, ..Dimension::NONE };
const CYCLE: Dimension = Dimension { cycle: 1, ..Dimension::NONE };
const CELSIUS: Dimension = Dimension { kelvin: 1, celsius_scale: true, ..Dimension::NONE };

use Prefixes::{Decimal, DecimalAndBinary};

static SYMBOLS: &[Symbol] = &[
    symbol("s", 1.0, dim(1, 0, 0, 0, 0), Decimal),
    symbol("min", 60.0, dim(1, 0, 0, 0, 0), Prefixes::None),
    symbol("h", 3600.0, dim(1, 0, 0, 0, 0), Prefixes::None),
    symbol("day", 86_400.0, dim(1, 0, 0, 0, 0), Prefixes::None),
    symbol("Hz", 1.0, dim(-1, 0, 0, 0, 0), Decimal),
    symbol("J", 1.0, dim(0, 1, 0, 0, 0), Decimal),
    symbol("Wh", 3600.0, dim(0, 1, 0, 0, 0), Decimal),
    symbol("W", 1.0, dim(-1, 1, 0, 0, 0), Decimal),
    symbol("V", 1.0, dim(0, 0, 1, 0, 0), Decimal),
    symbol("A", 1.0, dim(-1, 1, -1, 0, 0), Decimal),
    symbol("C", 1.0, dim(0, 1, -1, 0, 0), Decimal),
    symbol("Ah", 3600.0, dim(0, 1, -1, 0, 0), Decimal),
    symbol("F", 1.0, dim(0, 1, -2, 0, 0), Decimal),
    symbol("Ohm", 1.0, dim(1, -1, 2, 0, 0), Decimal),
    symbol("ohm", 1.0, dim(1, -1, 2, 0, 0), Decimal),
    symbol("Ω", 1.0, dim(1, -1, 2, 0, 0), Decimal),
    symbol("H", 1.0, dim(2, -1, 2, 0, 0), Decimal),
    symbol("K", 1.0, dim(0, 0, 0, 1, 0), Decimal),
    symbol("degC", 1.0, CELSIUS, Prefixes::None),
    symbol("°C", 1.0, CELSIUS, Prefixes::None),
    symbol("B", 1.0, dim(0, 0, 0, 0, 1), DecimalAndBinary),
    symbol("byte", 1.0, dim(0, 0, 0, 0, 1), DecimalAndBinary),
    symbol("bytes", 1.0, dim(0, 0, 0, 0, 1), DecimalAndBinary),
    symbol("bit", 0.125, dim(0, 0, 0, 0, 1), DecimalAndBinary),
    symbol("bits", 0.125, dim(0, 0, 0, 0, 1), DecimalAndBinary),
    symbol("MAC", 1.0, MAC, Decimal),
    symbol("MACs", 1.0, MAC, Decimal),
    symbol("op", 1.0, OPERATION, Decimal),
    symbol("ops", 1.0, OPERATION, Decimal),
    symbol("element", 1.0, ELEMENT, Prefixes::None),
    symbol("elements", 1.0, ELEMENT, Prefixes::None),
    symbol("cycle", 1.0, CYCLE, Decimal),
    symbol("cycles", 1.0, CYCLE, Decimal),
    symbol("%", 0.01, Dimension::NONE, Prefixes::None),
    symbol("ppm", 1e-6, Dimension::NONE, Prefixes::None),
    symbol("x", 1.0, Dimension::NONE, Prefixes::None),
];

static DECIMAL: &[(&str, f64)] = &[
    ("f", 1e-15),
    ("p", 1e-12),
    ("n", 1e-9),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
];

static BINARY: &[(&str, f64)] =
    &[("Ki", 1024.0), ("Mi", 1_048_576.0), ("Gi", 1_073_741_824.0), ("Ti", 1_099_511_627_776.0)];

fn resolve(text: &str) -> Result<(f64, Dimension), UnitError> {
    if let Some(s) = SYMBOLS.iter().find(|s| s.name == text) {
        return Ok((s.scale, s.dimension));
    }
    for s in SYMBOLS {
        let Some(prefix) = text.strip_suffix(s.name) else { continue };
        let decimal = DECIMAL.iter().filter(|_| s.prefixes != Prefixes::None);
        let binary = BINARY.iter().filter(|_| s.prefixes == DecimalAndBinary);
        if let Some((_, factor)) = decimal.chain(binary).find(|(p, _)| *p == prefix) {
            return Ok((s.scale * factor, s.dimension));
        }
    }
    Err(UnitError::Unknown { symbol: text.to_owned(), nearest: nearest_symbol(text) })
}

fn nearest_symbol(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let mut candidates = Vec::new();
    for s in SYMBOLS {
        candidates.push(s.name.to_owned());
        if s.prefixes != Prefixes::None {
            candidates.extend(DECIMAL.iter().map(|(p, _)| format!("{p}{}", s.name)));
        }
        if s.prefixes == DecimalAndBinary {
            candidates.extend(BINARY.iter().map(|(p, _)| format!("{p}{}", s.name)));
        }
    }
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&c.to_lowercase(), &lower), c))
        .filter(|(distance, _)| *distance <= 1)
        .min_by_key(|(distance, c)| (*distance, strsim::hamming(c, text).unwrap_or(usize::MAX)))
        .map(|(_, c)| c)
}

fn split_power(factor: &str) -> Result<(&str, i8), UnitError> {
    let malformed = || UnitError::Malformed(factor.to_owned());
    if let Some(base) = factor.strip_suffix('²') {
        return Ok((base, 2));
    }
    if let Some(base) = factor.strip_suffix('³') {
        return Ok((base, 3));
    }
    match factor.split_once('^') {
        None => Ok((factor, 1)),
        Some((base, power)) => Ok((base, power.parse().map_err(|_| malformed())?)),
    }
}

/// Reads a unit such as `pJ/B`, `uW/MHz/V^2` or `K/W` into its scale to SI and its dimension.
///
/// Each `/` divides by the one factor behind it. The empty text is a pure number.
pub fn parse_unit(text: &str) -> Result<(f64, Dimension), UnitError> {
    let text = text.trim();
    let (mut scale, mut dimension) = (1.0, Dimension::NONE);
    if text.is_empty() {
        return Ok((scale, dimension));
    }
    let malformed = || UnitError::Malformed(text.to_owned());
    // `/V` is 1/V.
    let (mut rest, mut sign) = match text.strip_prefix('/') {
        Some(divisor) => (divisor.trim_start(), -1),
        None => (text, 1),
    };
    loop {
        let end = rest.find(['/', '*', '·', ' ']).unwrap_or(rest.len());
        let (symbol, power) = split_power(rest[..end].trim())?;
        if symbol.is_empty() {
            return Err(malformed());
        }
        let (factor, d) = if symbol == "1" { (1.0, Dimension::NONE) } else { resolve(symbol)? };
        if d.celsius_scale {
            // A scale with an offset stands alone; inside a quotient it can only mean a difference.
            if end == rest.len() && rest.len() == text.len() && power == 1 {
                return Ok((1.0, d));
            }
        }
        let d = Dimension { celsius_scale: false, ..d };
        let power = if sign < 0 { power.checked_neg().ok_or_else(malformed)? } else { power };
        scale *= factor.powi(i32::from(power));
        dimension = dimension.times_power(d, power).ok_or_else(malformed)?;
        let Some(operator) = rest[end..].chars().next() else { break };
        sign = if operator == '/' { -1 } else { 1 };
        rest = rest[end + operator.len_utf8()..].trim_start();
    }
    Ok((scale, dimension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_units_reduce_to_the_basis() {
        let (scale, d) = parse_unit("uW/MHz/V^2").unwrap();
        assert!((scale - 1e-12).abs() < 1e-27);
        assert_eq!(d, dim(0, 1, -2, 0, 0), "a capacitance");
        assert_eq!(parse_unit("uA/MHz").unwrap().1, dim(0, 1, -1, 0, 0), "a charge");
        assert_eq!(parse_unit("K/W").unwrap().1, parse_unit("degC/W").unwrap().1);
    }

    #[test]
    fn powers_of_ten_and_two_and_bits_and_bytes_differ() {
        assert_eq!(parse_unit("GB").unwrap().0, 1e9);
        assert_eq!(parse_unit("GiB").unwrap().0, 1_073_741_824.0);
        assert_eq!(parse_unit("Mbit").unwrap().0, 125_000.0);
        assert_eq!(parse_unit("pJ/bit").unwrap().0, 8e-12);
    }

    #[test]
    fn a_count_may_be_left_out_but_not_wrong() {
        let per_mac = parse_unit("pJ/MAC").unwrap().1;
        assert!(parse_unit("pJ").unwrap().1.fits(per_mac));
        assert!(!parse_unit("pJ/B").unwrap().1.fits(per_mac));
        assert!(!parse_unit("pJ/op").unwrap().1.fits(per_mac));
    }

    #[test]
    fn a_misspelt_unit_suggests_its_neighbour() {
        let Err(UnitError::Unknown { nearest, .. }) = parse_unit("mhz") else { panic!() };
        assert_eq!(nearest.as_deref(), Some("mHz"));
        let Err(UnitError::Unknown { nearest, .. }) = parse_unit("Mhz") else { panic!() };
        assert_eq!(nearest.as_deref(), Some("MHz"));
        assert!(parse_unit("V^999").is_err());
        assert!(parse_unit("V/").is_err());
        assert_eq!(parse_unit("/V").unwrap(), parse_unit("1/V").unwrap());
        assert!(parse_unit("1/V^-128").is_err(), "an exponent out of range");
    }
}
