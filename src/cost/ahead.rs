//! Whether weights come into a memory near by ahead of their operator, or are read where they live.
//!
//! What is read several times comes once and is read near by. What is read once is moved in vain unless it
//! comes and is read again within the time of the operator without that:
//! `F + W_n <= max(O, W_h, I)` keeps it on its way, with
//!
//! - `F = B / r_h + t_h` and `W_n = B / r_n + t_n`, the time in which the weights with their records `B` \[B\]
//!   come from home, and that in which they are read near by; `W_h = F` where they are read at home
//! - `O` the cycles of the datapath while it reads at home, `I` those in which its input comes
//! - `r` the pace of a stream: the bandwidth of the memory, and no more than the bytes in flight in each latency
//!   `t`
//!
//! Source: Arm's compiler for Ethos-U (`scheduler.cpp`, sliced buffering of weights, 2026), for weights that are
//! buffered whole. Left out: its trials of slices, and of whether the near memory has room.

use super::port::Port;
use super::timing::Passes;
use crate::evidence::Valued;
use crate::hardware::{Engine, InFlight, Precision};
use crate::model::{Operand, OperandRole, Work};
use crate::units::{Bytes, Quantity};

/// The ways that weights have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ways {
    /// Where they live.
    pub(super) home: Port,
    /// Where they may come.
    pub(super) near: Port,
    /// Where the input lies.
    pub(super) data: Port,
}

impl Ways {
    /// Whether weights are better read at home, with the passes of an operator and its cycles if they are.
    pub(super) fn stay(
        self,
        passes: &Passes,
        compute: f64,
        work: &Work,
        (engine, precision): (&Engine, Precision),
    ) -> bool {
        let of = |role| work.operands.iter().find(|own| own.role == role);
        let Some(weights) = of(OperandRole::Filter).filter(|_| passes.weight <= 1.0) else {
            return false;
        };
        let side = |own: &&Operand| own.role == OperandRole::Side && own.constant;
        let records = work.operands.iter().filter(side).map(|own| own.stored_bytes());
        let moved = travelling(weights, engine) + records.sum::<f64>() * passes.beside;
        let streams = engine.in_flight.as_ref();
        let asked = |of: fn(&InFlight) -> &Option<Valued<Bytes>>| {
            streams.and_then(|own| of(own).as_ref()).map(|own| own.get().si())
        };
        let (of_weights, of_data) = (asked(|own| &own.weights), asked(|own| &own.activations));
        let width = precision.bits() as f64 / 8.0;
        let data = of(OperandRole::Data).map_or(0.0, |own| own.elements as f64 * width);
        let come = self.home.stream(moved, of_weights);
        let input = self.data.stream(data * passes.input, of_data);
        come + self.near.stream(moved, of_weights) > compute.max(come).max(input)
    }
}

/// Bytes of weights on their way.
fn travelling(weights: &Operand, engine: &Engine) -> f64 {
    let over = engine
        .decompresses
        .as_ref()
        .map(|own| own.over_entropy.as_ref().map_or(1.0, |over| over.get().0.max(1.0)));
    over.and_then(|over| weights.encoded_bytes(over)).unwrap_or_else(|| weights.stored_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Kind;

    #[test]
    fn a_stream_has_its_bytes_in_flight_in_each_latency() {
        let port =
            Port { latency: 500.0, bytes_per_cycle: 12.0, burst: 128.0, kind: Kind::STRONGEST };
        assert_eq!(port.stream(1200.0, None), 600.0);
        // 1500 B in each 500 cycles are 3 B a cycle; more than the bandwidth is none.
        assert_eq!(port.stream(1200.0, Some(1500.0)), 900.0);
        assert_eq!(port.stream(1200.0, Some(1e6)), 600.0);
        let near = Port { latency: 0.0, ..port };
        assert_eq!(near.stream(1200.0, Some(1.0)), 100.0);
    }
}
