//! `metadata`: the ini file of a session.

use super::super::ReadFault;
use crate::units::{Hertz, parse_unit};

/// What the section of the first device says.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) rate: Option<Hertz>,
    /// The entries of logic samples.
    pub(super) capture: String,
    /// Bytes of a logic sample.
    pub(super) unit: usize,
    /// Bit from 0 and name of the logic channels that are on.
    pub(super) probes: Vec<(usize, String)>,
    /// Number and name of the analogue channels.
    pub(super) analogue: Vec<(u64, String)>,
    pub(super) remarks: Vec<String>,
}

const DEVICE: &str = "device 1";
/// Bytes of a logic sample: 512 channels.
const WIDEST: usize = 64;

impl Metadata {
    pub(super) fn parse(text: &str) -> Result<Self, ReadFault> {
        let mut metadata = Self { capture: "logic-1".into(), ..Self::default() };
        let (mut section, mut seen, mut unit) = ("", false, None);
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = name;
                seen |= name == DEVICE;
                if name.starts_with("device ") && name != DEVICE {
                    metadata.remarks.push(format!("[{name}] is not read"));
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| section == DEVICE) else {
                continue;
            };
            match key.trim() {
                "samplerate" => metadata.rate = Some(rate(value.trim())?),
                "capturefile" => metadata.capture = value.trim().into(),
                "unitsize" => unit = Some(count(key, value)?),
                key => metadata.channel(key, value.trim())?,
            }
        }
        if !seen {
            return Err(ReadFault::Missing { what: format!("[{DEVICE}] in metadata") });
        }
        metadata.probes.sort();
        metadata.analogue.sort();
        metadata.width(unit)?;
        Ok(metadata)
    }

    fn channel(&mut self, key: &str, name: &str) -> Result<(), ReadFault> {
        if let Some(number) = key.strip_prefix("probe") {
            let bit = count(key, number)?.checked_sub(1).filter(|bit| *bit < 8 * WIDEST);
            let Some(bit) = bit else {
                return Err(ReadFault::Value {
                    what: "the number of a channel".into(),
                    found: key.into(),
                    expected: "probe1 to probe512",
                });
            };
            self.probes.push((bit, name.into()));
        } else if let Some(number) = key.strip_prefix("analog") {
            self.analogue.push((count(key, number)? as u64, name.into()));
        }
        Ok(())
    }

    fn width(&mut self, unit: Option<usize>) -> Result<(), ReadFault> {
        let needed = self.probes.last().map_or(0, |(bit, _)| bit / 8 + 1);
        self.unit = unit.unwrap_or(needed).max(1);
        if self.unit < needed || self.unit > WIDEST {
            return Err(ReadFault::Value {
                what: "unitsize".into(),
                found: self.unit.to_string(),
                expected: "a byte for every eight channels, at most 64",
            });
        }
        Ok(())
    }
}

fn count(key: &str, value: &str) -> Result<usize, ReadFault> {
    let text = value.trim();
    text.parse().map_err(|_| ReadFault::Number { column: key.into(), text: text.into() })
}

/// `1 kHz`, `1.5 MHz` or `200000`.
fn rate(text: &str) -> Result<Hertz, ReadFault> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let column = || "samplerate".to_owned();
    let value: f64 = number
        .parse()
        .map_err(|_| ReadFault::Number { column: column(), text: text.to_owned() })?;
    let unit = unit.trim();
    let hertz = parse_unit("Hz").map(|(_, dimension)| dimension);
    match parse_unit(unit) {
        Ok((scale, dimension)) if unit.is_empty() || Ok(dimension) == hertz => {
            Ok(Hertz(value * scale))
        }
        _ => {
            Err(ReadFault::Unit { column: column(), found: unit.into(), expected: "Hz, kHz, MHz" })
        }
    }
}
