//! Processors and vector units: software decides the rate, the datapath bounds it.
//!
//! `cycles = max(MACs / peak, MACs c_kind + outputs o_kind)` with `c` \[cycle/MAC\] and `o`
//! \[cycle/element\] of the software stack. The term per output element (requantise, store) takes the
//! error of whole layers on a Cortex-M4 from 16 % to 4 %. Without a stack the datapath runs at its
//! peak, which no real kernel does: a profile of a programmable engine should have one.

use super::timing::{Passes, Refusal, Timing};
use crate::evidence::{Kind, Valued};
use crate::hardware::{Engine, Precision, SoftwareStack};
use crate::model::{OpKind, Work};
use crate::units::{Cycles, MacsPerCycle};
use std::collections::BTreeMap;

pub(super) fn timing(
    engine: &Engine,
    peaks: &BTreeMap<Precision, Valued<MacsPerCycle>>,
    stack: Option<&SoftwareStack>,
    work: &Work,
    precision: Precision,
) -> Result<Timing, Refusal> {
    let no_precision =
        || Refusal::NoPrecision { engine: engine.name.clone(), element: work.element };
    let peak = peaks.get(&precision).ok_or_else(no_precision)?;
    let least = (work.macs.max(work.element_ops)) as f64 / peak.get().0;
    let (software, software_kind) = match stack {
        None => (0.0, peak.kind()),
        Some(stack) => software_cycles(engine, stack, work)?,
    };
    let (compute, kind) =
        if software >= least { (software, software_kind) } else { (least, peak.kind()) };
    Ok(Timing {
        compute: Cycles(compute),
        array_macs: work.macs,
        peak: peak.get(),
        passes: Passes::ONCE,
        kind,
    })
}

fn software_cycles(
    engine: &Engine,
    stack: &SoftwareStack,
    work: &Work,
) -> Result<(f64, Kind), Refusal> {
    let (mut cycles, mut kind) = (0.0, Kind::Measured);
    let mut known = work.kind == OpKind::View;
    if let Some(rate) = stack.cycles_per_mac.get(&work.kind) {
        cycles += work.macs as f64 * rate.get().0;
        kind = kind.weaker(rate.kind());
        known = true;
    }
    if let Some(rate) = stack.cycles_per_output.get(&work.kind) {
        cycles += work.output_elements as f64 * rate.get().0;
        kind = kind.weaker(rate.kind());
        known |= work.macs == 0;
    }
    if let Some(rate) = stack.cycles_per_operation.get(&work.kind).filter(|_| work.macs == 0) {
        cycles += work.element_ops as f64 * rate.get().0;
        kind = kind.weaker(rate.kind());
        known = true;
    }
    if known {
        return Ok((cycles, kind));
    }
    Err(Refusal::NoRate {
        engine: engine.name.clone(),
        software: stack.name.clone(),
        kind: work.kind,
    })
}
