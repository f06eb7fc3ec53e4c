//! Sources and signals, and the samples of a signal.

use super::super::ReadFault;
use super::super::fields::Fields;
use super::super::named_unit::quantity;
use crate::trace::ChannelKind;

/// Bytes that the format keeps free within a definition.
const RESERVED: usize = 64;
const RESERVED_OF_SIGNAL: usize = 92;

/// An instrument.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    pub(super) name: String,
}

impl Source {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields::of(payload);
        fields.bytes(RESERVED)?;
        Some(Self { name: text(&mut fields)? })
    }
}

/// Text up to a zero byte, which a unit separator may follow.
fn text(fields: &mut Fields<'_>) -> Option<String> {
    let rest = fields.rest();
    let end = rest.iter().position(|byte| *byte == 0)?;
    let bytes = fields.bytes(end)?;
    fields.bytes(1)?;
    if fields.rest().first() == Some(&0x1f) {
        fields.bytes(1)?;
    }
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// How a sample is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kept {
    Float,
    Signed,
    Unsigned,
}

/// A signal, and what the survey of the chunks says of it.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    pub(super) id: u16,
    pub(super) source: u16,
    pub(super) name: String,
    /// Samples a second; 0 for a signal without a fixed rate.
    pub(super) rate: u32,
    pub(super) bits: u16,
    kept: Kept,
    /// What a bit is worth, and the factor from its unit to SI.
    scale: f64,
    pub(super) kind: ChannelKind,
    /// Samples that an entry of the first summaries stands for.
    pub(super) decimation: u32,
    pub(super) chunks: u64,
    pub(super) first_data: Option<(u64, i64)>,
    pub(super) first_index: Option<u64>,
    pub(super) first_annotation: Option<u64>,
    /// Samples within data chunks.
    pub(super) samples: u64,
    /// The sample behind the last that data or summaries cover.
    pub(super) end: i64,
    /// The first pair of the UTC map.
    pub(super) utc: Option<(i64, i64)>,
}

impl Signal {
    pub(super) fn parse(id: u16, payload: &[u8]) -> Result<Self, ReadFault> {
        let truncated = || ReadFault::Truncated {
            what: "the definition of a signal",
            expected: 0,
            found: payload.len() as u64,
        };
        let mut fields = Fields::of(payload);
        let mut head = || {
            let (source, signal_type) = (fields.u16()?, fields.u16()? as u8);
            let (data_type, rate) = (fields.u32()?, fields.u32()?);
            fields.u32()?;
            let decimation = fields.u32()?;
            fields.bytes(16 + RESERVED_OF_SIGNAL)?;
            let (name, unit) = (text(&mut fields)?, text(&mut fields)?);
            Some((source, signal_type, data_type, rate, decimation, name, unit))
        };
        let (source, signal_type, data_type, rate, decimation, name, unit) =
            head().ok_or_else(truncated)?;
        let (bits, kept, worth) = kept(data_type, &name)?;
        let (kind, factor) = measured(&name, &unit)?;
        Ok(Self {
            id,
            source,
            name,
            rate: if signal_type == 0 { rate } else { 0 },
            bits,
            kept,
            scale: worth * factor,
            kind,
            decimation,
            chunks: 0,
            first_data: None,
            first_index: None,
            first_annotation: None,
            samples: 0,
            end: i64::MIN,
            utc: None,
        })
    }

    /// True for a digital line.
    pub(super) fn is_line(&self) -> bool {
        self.bits == 1
    }

    /// True where it has samples at a fixed rate.
    pub(super) fn has_samples(&self) -> bool {
        self.rate > 0 && self.samples > 0
    }

    /// The value of a mean of the summaries, which are in whole units of the samples.
    pub(super) fn of_mean(&self, mean: f64) -> f64 {
        if self.kept == Kept::Float { mean * self.scale } else { mean.round() * self.scale }
    }

    /// Unpacks samples, lowest bits first.
    pub(super) fn unpack(&self, bytes: &[u8], count: usize, values: &mut Vec<f64>) {
        let scale = self.scale;
        let mut fields = Fields::of(bytes);
        match (self.kept, self.bits) {
            (Kept::Float, 32) => {
                let next = || fields.f32().map(|value| f64::from(value) * scale);
                values.extend(std::iter::from_fn(next).take(count));
            }
            (Kept::Float, _) => {
                let next = || fields.f64().map(|value| value * scale);
                values.extend(std::iter::from_fn(next).take(count));
            }
            (kept, bits @ (1 | 4)) => {
                let bits = usize::from(bits);
                let packed = (0..count).map_while(|at| {
                    let byte = bytes.get(at * bits / 8)?;
                    Some(u64::from(byte >> (at * bits % 8)) & ((1 << bits) - 1))
                });
                values.extend(packed.map(|raw| integer(kept, raw, bits) * scale));
            }
            (kept, bits) => {
                let width = usize::from(bits / 8).max(1);
                let whole = bytes.chunks_exact(width).take(count).map(|bytes| {
                    let raw =
                        bytes.iter().rev().fold(0u64, |raw, byte| raw << 8 | u64::from(*byte));
                    integer(kept, raw, usize::from(bits)) * scale
                });
                values.extend(whole);
            }
        }
    }
}

fn integer(kept: Kept, raw: u64, bits: usize) -> f64 {
    match kept {
        Kept::Signed => {
            let free = 64 - bits.min(64) as u32;
            (raw.wrapping_shl(free) as i64 >> free) as f64
        }
        _ => raw as f64,
    }
}

/// Bits, kind and the worth of the lowest bit.
fn kept(data_type: u32, name: &str) -> Result<(u16, Kept, f64), ReadFault> {
    let (base, bits, point) =
        (data_type & 0x0f, (data_type >> 8 & 0xff) as u16, (data_type >> 16) as u8 as i8);
    let worth = 2f64.powi(-i32::from(point));
    match (base, bits) {
        (4, 32 | 64) => Ok((bits, Kept::Float, 1.0)),
        (1, 4 | 8 | 16 | 24 | 32 | 64) => Ok((bits, Kept::Signed, worth)),
        (3, 1 | 4 | 8 | 16 | 24 | 32 | 64) => Ok((bits, Kept::Unsigned, worth)),
        _ => Err(ReadFault::Value {
            what: format!("the data type of `{name}`"),
            found: format!("{data_type:#010x}"),
            expected: "i4 to i64, u1 to u64, f32 or f64",
        }),
    }
}

/// What a signal measures, by its unit; a name that says something else is an error.
fn measured(name: &str, unit: &str) -> Result<(ChannelKind, f64), ReadFault> {
    let found = quantity(unit);
    let expected = match name {
        "current" => Some((ChannelKind::Current, "A")),
        "voltage" => Some((ChannelKind::Voltage, "V")),
        "power" => Some((ChannelKind::Power, "W")),
        _ => None,
    };
    match (expected, found) {
        (Some((kind, expected)), found) if found.is_none_or(|(found, _)| found != kind) => {
            Err(ReadFault::Unit { column: name.into(), found: unit.into(), expected })
        }
        (_, Some(found)) => Ok(found),
        (_, None) => Ok((ChannelKind::Other, 1.0)),
    }
}
