//! Weights that travel compressed, for engines that expand them.
//!
//! They take the bytes that a compiler said where the model has them, else `e N H / 8` for `N` weights of an
//! entropy of `H` bits ([`WeightStatistics`](crate::model::WeightStatistics)) and a code of `e` times that
//! ([`Decompression`](crate::hardware::Decompression)), else as many as stored. So small they lie in their
//! home, pass links and buffers, and reach the engine.
//!
//! Entropy goes with values: floats that an engine runs as integers are other values, and count whole.

use super::flows::plain_bytes;
use super::network::Network;
use super::plan::Step;
use crate::cost::{Setting, executed_on};
use crate::evidence::Kind;
use crate::hardware::{Engine, Precision};
use crate::model::{Operand, OperandRole, Work};
use crate::units::Bytes;

/// True of what an engine expands: filters that are stored.
fn travels_compressed(operand: &Operand, engine: &Engine) -> bool {
    engine.decompresses.is_some() && operand.constant && operand.role == OperandRole::Filter
}

/// Bytes of an operand that travels compressed, and what they rest on; nothing of any other, and where
/// nothing is known of its code.
pub(super) fn compressed_bytes(
    operand: &Operand,
    work: &Work,
    precision: Precision,
    engine: &Engine,
) -> Option<(Bytes, Kind)> {
    let how = engine.decompresses.as_ref().filter(|_| travels_compressed(operand, engine))?;
    let stated = operand.encoded?.stated;
    let converted = Precision::of(work.element) != Some(precision);
    if converted && operand.element.is_float() && !stated {
        return None;
    }
    let over = how.over_entropy.as_ref().filter(|_| !stated);
    let bytes = operand.encoded_bytes(over.map_or(1.0, |over| over.get().0.max(1.0)))?;
    let kind = over.map_or(Kind::STRONGEST, |over| over.kind());
    Some((Bytes(bytes), kind))
}

/// By which rule the weights of an engine count.
#[derive(Default)]
struct Rules {
    stated: usize,
    entropy: usize,
    whole: usize,
    bytes: f64,
    uncompressed: f64,
}

impl Rules {
    fn add(&mut self, operand: &Operand, work: &Work, precision: Precision, engine: &Engine) {
        let plain = plain_bytes(operand, work, precision).0;
        let found = compressed_bytes(operand, work, precision, engine);
        *match (found, operand.encoded) {
            (Some(_), Some(encoded)) if encoded.stated => &mut self.stated,
            (Some(_), _) => &mut self.entropy,
            (None, _) => &mut self.whole,
        } += 1;
        self.bytes += found.map_or(plain, |(bytes, _)| bytes.0);
        self.uncompressed += plain;
    }

    fn said(&self, engine: &str) -> Option<String> {
        let parts = [
            (self.stated, "as a compiler encoded them"),
            (self.entropy, "by the entropy of their values"),
            (self.whole, "uncompressed, since nothing is known of their values"),
        ];
        let parts = parts.iter().filter(|(layers, _)| *layers > 0);
        let parts: Vec<_> = parts.map(|(layers, rule)| format!("{layers} {rule}")).collect();
        let (bytes, all) = (Bytes(self.bytes), Bytes(self.uncompressed));
        (!parts.is_empty()).then(|| {
            format!(
                "{engine} expands weights: of {all} {bytes} travel (layers: {})",
                parts.join(", ")
            )
        })
    }
}

/// Says by which rule the weights of each engine that expands them count.
pub(super) fn notes(network: &Network, steps: &[Step], setting: Setting<'_>) -> Vec<String> {
    let engines = setting.profile.spec().engines.iter().enumerate();
    let expanding = engines.filter(|(_, engine)| engine.decompresses.is_some());
    let said = expanding.filter_map(|(index, engine)| {
        let mut rules = Rules::default();
        for step in steps.iter().filter(|step| step.engine == index) {
            let Some(layer) = network.layers.get(step.layer) else { continue };
            let work = executed_on(&layer.work, index, setting);
            let operands = work.operands.iter().filter(|own| travels_compressed(own, engine));
            operands.for_each(|own| rules.add(own, &work, step.cost.precision, engine));
        }
        rules.said(&engine.name)
    });
    said.collect()
}
