//! Numbers as tables write them: a sign, digits, a decimal sign, digits, an exponent.
//!
//! A number of at most 19 digits is its digits as an integer and a power of ten, exactly. Where
//! the integer is below 2^53 and the power within ±22, both are floats without rounding, and their
//! product or quotient is rounded once: the nearest float (W. D. Clinger, "How to read floating
//! point numbers accurately", PLDI 1990). All else goes through the standard library.

/// ±`mantissa` × 10^`exponent`, exactly as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct Decimal {
    pub(in crate::formats) negative: bool,
    pub(in crate::formats) mantissa: u64,
    pub(in crate::formats) exponent: i32,
}

/// Powers of ten that a float holds exactly.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Powers of ten that 64 bits hold.
pub(super) const TENS: [u64; 20] = {
    let mut tens = [1; 20];
    let mut k = 1;
    while k < 20 {
        tens[k] = tens[k - 1] * 10;
        k += 1;
    }
    tens
};

const DIGITS: usize = 19;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The decimal that starts at byte `at`, and the byte behind it; none for what is not a plain
/// decimal of at most 19 digits.
#[inline(always)]
pub(in crate::formats) fn scan(text: &[u8], at: usize, point: u8) -> Option<(Decimal, usize)> {
    let first = *text.get(at)?;
    let negative = first == b'-';
    let start = at + usize::from(negative || first == b'+');
    let (whole, count) = digits(text, start, 0);
    let (mut mantissa, mut total, mut next) = (whole, count, start + count);
    let mut exponent = 0;
    if text.get(next) == Some(&point) {
        let (joined, count) = digits(text, next + 1, mantissa);
        mantissa = joined;
        total += count;
        next += 1 + count;
        exponent = -(count as i32);
    }
    if total == 0 || total > DIGITS {
        return None;
    }
    if matches!(text.get(next), Some(b'e' | b'E')) {
        let (power, behind) = power_of_ten(text, next + 1)?;
        exponent += power;
        next = behind;
    }
    Some((Decimal { negative, mantissa, exponent }, next))
}

/// The digits at `at` behind those of `before`, eight at a time, and how many they are.
#[inline(always)]
fn digits(text: &[u8], at: usize, before: u64) -> (u64, usize) {
    let (mut value, mut count) = (before, 0);
    loop {
        let word = word(text, at + count);
        let run = leading_digits(word);
        value = value.wrapping_mul(TENS[run]).wrapping_add(leading_value(word, run));
        count += run;
        if run < 8 || count > DIGITS {
            return (value, count);
        }
    }
}

/// Eight bytes, with zeros behind the end of the text.
#[inline(always)]
fn word(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            let rest = text.get(at..).unwrap_or_default();
            bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(bytes)
        }
    }
}

/// How many of eight bytes are digits, from the first on.
#[inline(always)]
fn leading_digits(word: u64) -> usize {
    // Above `9` the first sum has its high bit set, below `0` the difference; carries only reach
    // bytes behind the first that is no digit.
    let above = word.wrapping_add(0x4646_4646_4646_4646);
    let below = word.wrapping_sub(ZEROS);
    (((above | below) & 0x8080_8080_8080_8080).trailing_zeros() / 8) as usize
}

/// The number that the first `run` of eight bytes write.
#[inline(always)]
fn leading_value(word: u64, run: usize) -> u64 {
    if run == 0 {
        return 0;
    }
    // The digits move to the end, behind zeros; pairs, then fours, then all eight are joined.
    let word = word.wrapping_sub(ZEROS) << (64 - 8 * run as u32);
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let low = (pairs & MASK).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & MASK).wrapping_mul(1 + (10_000 << 32));
    low.wrapping_add(high) >> 32
}

/// The exponent behind an `e`.
fn power_of_ten(text: &[u8], at: usize) -> Option<(i32, usize)> {
    let first = *text.get(at)?;
    let negative = first == b'-';
    let start = at + usize::from(negative || first == b'+');
    let (value, count) = digits(text, start, 0);
    if !(1..=8).contains(&count) {
        return None;
    }
    let value = value as i32;
    Some((if negative { -value } else { value }, start + count))
}

impl Decimal {
    /// The float nearest to this number × 10^`power`.
    #[inline(always)]
    pub(in crate::formats) fn times_ten_to(self, power: i32) -> f64 {
        let exponent = self.exponent.saturating_add(power);
        let magnitude = if self.mantissa <= 1 << 53 && (-22..=22).contains(&exponent) {
            let mantissa = self.mantissa as i64 as f64;
            let ten = EXACT[exponent.unsigned_abs() as usize];
            if exponent < 0 { mantissa / ten } else { mantissa * ten }
        } else {
            self.nearest(exponent)
        };
        if self.negative { -magnitude } else { magnitude }
    }

    #[cold]
    fn nearest(self, exponent: i32) -> f64 {
        format!("{}e{exponent}", self.mantissa).parse().unwrap_or(f64::NAN)
    }

    /// This number × 10^`power`, rounded to the nearest integer, half away from zero; none beyond
    /// 10^36.
    #[inline(always)]
    pub(super) fn integer(self, power: i32) -> Option<i128> {
        let exponent = self.exponent.saturating_add(power);
        let ten = TENS.get(exponent.unsigned_abs() as usize).copied();
        let magnitude = match (ten, exponent < 0) {
            (Some(ten), false) if ten <= 100_000_000_000_000_000 => {
                i128::from(self.mantissa) * i128::from(ten)
            }
            (Some(ten), true) => {
                let (quotient, rest) = (self.mantissa / ten, self.mantissa % ten);
                i128::from(quotient) + i128::from(rest >= ten - rest)
            }
            // Less than a half, as the mantissa is below 2 × 10^19.
            (None, true) => 0,
            (_, false) => (self.mantissa == 0).then_some(0)?,
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }
}

/// The float nearest to any decimal number × 10^`power`, however long; none for what is no number.
pub(super) fn nearest(text: &str, power: i32) -> Option<f64> {
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if text.is_empty() || !text.bytes().all(plain) {
        return None;
    }
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    format!("{digits}e{}", exponent.saturating_add(power)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> Option<Decimal> {
        scan(text.as_bytes(), 0, b'.').filter(|(_, end)| *end == text.len()).map(|(d, _)| d)
    }

    fn value(text: &str, power: i32) -> f64 {
        whole(text).map(|d| d.times_ten_to(power)).or_else(|| nearest(text, power)).unwrap()
    }

    /// `text` × 10^`power` by the standard library alone.
    fn standard(text: &str, power: i32) -> f64 {
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        format!("{digits}e{}", exponent.parse::<i32>().unwrap() + power).parse().unwrap()
    }

    #[test]
    fn a_decimal_is_scanned_to_its_end_and_nothing_else_is_one() {
        let d = |negative, mantissa, exponent| Some(Decimal { negative, mantissa, exponent });
        assert_eq!(whole("19300.001"), d(false, 19_300_001, -3));
        assert_eq!(whole("-0.5e-03"), d(true, 5, -4));
        assert_eq!(whole("1234567890123456789"), d(false, 1_234_567_890_123_456_789, 0));
        assert_eq!(whole(".5"), d(false, 5, -1));
        assert_eq!(whole("5."), d(false, 5, 0));
        for none in ["", "-", ".", "e5", "1e", "1e+", "nan", "12345678901234567890", "1.2.3", "0x1"]
        {
            assert_eq!(whole(none), None, "{none}");
        }
        assert_eq!(scan(b"12,5;7", 0, b','), Some((whole("12.5").unwrap(), 4)));
    }

    #[test]
    fn an_integer_is_rounded_once() {
        let at = |text: &str, power| whole(text).unwrap().integer(power);
        assert_eq!(at("0.01", 9), Some(10_000_000));
        assert_eq!(at("-1700000000.123456789", 12), Some(-1_700_000_000_123_456_789_000));
        assert_eq!(at("8.999999999999999320e-03", 12), Some(9_000_000_000));
        assert_eq!((at("0.5", 0), at("0.49", 0), at("1e-30", 0)), (Some(1), Some(0), Some(0)));
        assert_eq!((at("1e30", 12), at("0e30", 12)), (None, Some(0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_decimal_is_the_nearest_float(
            text in "[+-]?[0-9]{1,22}(\\.[0-9]{0,22})?(e[+-]?[0-9]{1,3})?",
            power in -15i32..15,
        ) {
            prop_assert_eq!(value(&text, power).to_bits(), standard(&text, power).to_bits());
        }

        #[test]
        fn a_decimal_of_usual_length_is_the_nearest_float(
            text in "-?[0-9]{1,9}(\\.[0-9]{0,9})?(e-?[0-9]{1,2})?",
            power in -12i32..12,
        ) {
            prop_assert_eq!(value(&text, power).to_bits(), standard(&text, power).to_bits());
        }

        #[test]
        fn any_float_written_out_comes_back(bits: u64) {
            let float = f64::from_bits(bits);
            prop_assume!(float.is_finite());
            prop_assert_eq!(value(&format!("{float:e}"), 0).to_bits(), bits);
            prop_assert_eq!(value(&format!("{float:.18e}"), 0).to_bits(), bits);
        }

        #[test]
        fn any_bytes_are_scanned_without_a_panic(text: Vec<u8>, at in 0usize..40) {
            scan(&text, at, b'.');
        }
    }
}
