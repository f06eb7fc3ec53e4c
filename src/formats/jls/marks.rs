//! Annotations: text and vertical markers, as marks.

use super::super::fields::Fields;
use super::super::{FormatError, Input};
use super::chunk::{ANNOTATION, Chunk};
use super::clocks::{Clocks, at_sample};
use super::survey::Survey;
use super::track::next_of_chain;
use crate::trace::{Layout, Mark, Teller};

const TEXT: u8 = 1;
const VERTICAL: u8 = 2;
const STRING: u8 = 2;
/// Someone sets them one by one; what goes beyond is left out and said.
const MOST: usize = 1 << 18;
const LONGEST: u64 = 1 << 16;

/// All marks in the order of time. Those of signal 0 are at UTC, others at samples.
pub(super) fn read(
    input: &mut Input<'_>,
    survey: &Survey,
    clocks: &Clocks,
    layout: &mut Layout,
) -> Result<Vec<Mark>, FormatError> {
    let (mut marks, mut outside) = (Vec::new(), 0u64);
    let mut payload = Vec::new();
    for (signal, clock) in survey.signals.values().zip(&clocks.clocks) {
        let mut next = signal.first_annotation;
        while let Some(at) = next {
            let chunk = Chunk::head(input, at)?;
            next = next_of_chain(input, &chunk, ANNOTATION, survey.end)?;
            if chunk.length > LONGEST || marks.len() >= MOST {
                outside += 1;
                continue;
            }
            chunk.payload(input, &mut payload)?;
            let Some((stamp, text)) = annotation(&payload) else { continue };
            let at = match clock {
                Some(clock) => at_sample(signal, *clock, stamp),
                None => clocks.at_utc(stamp),
            };
            match at {
                Some(at) => marks.push(Mark {
                    teller: Teller::Meter,
                    at,
                    track: signal.name.clone(),
                    name: text,
                }),
                None => outside += 1,
            }
        }
    }
    if outside > 0 {
        layout
            .remarks
            .push(format!("{outside} annotations have no time in the capture and are left out"));
    }
    marks.sort_by_key(|mark| mark.at);
    Ok(marks)
}

/// Stamp and text of an annotation that names an instant.
fn annotation(payload: &[u8]) -> Option<(i64, String)> {
    let mut fields = Fields::of(payload);
    let stamp = fields.i64()?;
    fields.u64()?;
    let (kind, storage) = (fields.u8()?, fields.u8()?);
    fields.bytes(6)?;
    let length = fields.u32()?;
    let text = fields.bytes(usize::try_from(length).ok()?)?;
    let text = text.split(|byte| *byte == 0).next()?;
    let names_an_instant = matches!(kind, TEXT | VERTICAL) && storage == STRING;
    names_an_instant.then(|| (stamp, String::from_utf8_lossy(text).into_owned()))
}
