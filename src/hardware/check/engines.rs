//! Engines: something to run, somewhere to work from, something it costs.

use super::{Checker, names};
use crate::hardware::spec::{
    Array, Engine, FixedFunction, Lanes, OperandStore, Systolic, TensorTiles, Zeros,
};
use crate::model::OpKind;

/// Larger than any array built, and small enough that no product of sides overflows.
const LARGEST_SIDE: u64 = 1 << 20;

impl Checker<'_> {
    pub(super) fn engines(&mut self) {
        let spec = self.spec;
        let (domains, memories) = (names!(spec.domains), names!(spec.memories));
        for (i, engine) in spec.engines.iter().enumerate() {
            let at = |field: &str| format!("engines[{i}].{field}");
            let domain = self.resolve(at("domain"), "domain", &engine.domain, &domains);
            self.links.engine_domain.push(domain);
            let reached = self.resolve_all(&at("memories"), "memory", &engine.memories, &memories);
            let ahead = engine
                .ahead
                .as_ref()
                .map(|ahead| self.resolve(at("ahead.into"), "memory", &ahead.into, &memories));
            if let (Some(ahead), Some(into)) = (&engine.ahead, ahead)
                && !reached.contains(&into)
            {
                let message = format!("{} does not work from {}", engine.name, ahead.into);
                self.fault(at("ahead.into"), message);
            }
            self.links.engine_ahead.push(ahead);
            self.links.engine_memories.push(reached);
            self.in_flight(i, engine);
            if engine.supports.is_empty() {
                self.fault(at("supports"), "an engine runs at least one kind of operator");
            }
            if engine.supports.contains(&OpKind::Opaque) {
                let message = "an operator that is not understood has no cost on any engine";
                self.fault(at("supports"), message);
            }
            if let Some(width) = &engine.partial_sum {
                self.positive(at("partial_sum"), width);
            }
            if let Some(over) = engine.decompresses.as_ref().and_then(|d| d.over_entropy.as_ref())
                && over.parameter().fault.is_none()
                && over.get().0 < 1.0
            {
                let message = "no code of single weights is smaller than their entropy";
                self.fault(at("decompresses.over_entropy"), message);
            }
            if engine.memories.is_empty() {
                self.fault(at("memories"), "an engine works from at least one memory");
            }
            if engine.energy.per_mac.is_empty() && engine.energy.per_busy_cycle.is_none() {
                let message = "an engine costs energy: give per_mac or per_busy_cycle";
                self.fault(at("energy"), message);
            }
            if let Some(saved) = &engine.energy.zero_data_saves {
                self.share(at("energy.zero_data_saves"), saved);
            }
            if let Some(store) = &engine.energy.operand_store {
                self.operand_store(&at("energy.operand_store"), store, &engine.array);
            }
            self.factors(i, engine);
            match &engine.array {
                Array::Lanes(lanes) => self.lanes(&at("array.Lanes"), lanes),
                Array::Systolic(array) => self.systolic(&at("array.Systolic"), array),
                Array::TensorTiles(tiles) => self.tensor_tiles(&at("array.TensorTiles"), tiles),
                Array::FixedFunction(f) => self.fixed_function(&at("array.FixedFunction"), f),
                Array::Blocks(blocks) => self.block_engine(&at("array.Blocks"), blocks),
            }
        }
    }

    fn operand_store(&mut self, path: &str, store: &OperandStore, array: &Array) {
        if let Some(word) = &store.word {
            self.positive(format!("{path}.word"), word);
        }
        if store.reload.is_some() {
            if store.word.is_none() {
                let message = "it is an energy of the bytes of a `word`, which is left out";
                self.fault(format!("{path}.reload"), message);
            }
            if !matches!(array, Array::FixedFunction(_)) {
                let message = "only a FixedFunction says how many input channels come at a time";
                self.fault(format!("{path}.reload"), message);
            }
        }
    }

    fn factors(&mut self, i: usize, engine: &Engine) {
        let at = |field: &str| format!("engines[{i}].{field}");
        for (kind, factor) in &engine.efficiency {
            self.efficiency(at(&format!("efficiency.{kind}")), factor);
        }
        for (j, skipping) in engine.skips.iter().enumerate() {
            self.share(at(&format!("skips[{j}].gain")), &skipping.gain);
            if let Zeros::Structured { keep, of } = skipping.zeros
                && (keep == 0 || keep >= of)
            {
                let message = "of a group, at least one element is kept and at least one is not";
                self.fault(at(&format!("skips[{j}].zeros")), message);
            }
            let counted = [(1, 4), (2, 4), (4, 8)].map(|(keep, of)| Zeros::Structured { keep, of });
            if skipping.found && !counted.contains(&skipping.zeros) {
                let message = "a compiler finds 1 of 4, 2 of 4 and 4 of 8 in the values of weights";
                self.fault(at(&format!("skips[{j}].found")), message);
            }
        }
        if let Some(limits) = &engine.windows {
            let sizes = limits.sizes.iter().chain(&limits.largest).flat_map(|s| [s.0, s.1]);
            for side in sizes.chain(limits.largest_stride) {
                self.side(at("windows"), side);
            }
        }
        if let Some(ratio) = &engine.peak_to_mean
            && ratio.parameter().fault.is_none()
            && ratio.get().0 < 1.0
        {
            self.fault(at("peak_to_mean"), "a peak is at least as high as the mean");
        }
        if let Some(ramp) = &engine.ramp {
            self.positive(at("ramp"), ramp);
        }
        if let Some(cycles) = &engine.dispatch {
            self.not_negative(at("dispatch"), cycles);
        }
    }

    fn in_flight(&mut self, i: usize, engine: &Engine) {
        let Some(streams) = &engine.in_flight else { return };
        let all = [
            ("weights", &streams.weights),
            ("records", &streams.records),
            ("activations", &streams.activations),
        ];
        for (field, bytes) in all {
            if let Some(bytes) = bytes {
                self.positive(format!("engines[{i}].in_flight.{field}"), bytes);
            }
        }
    }

    fn lanes(&mut self, path: &str, lanes: &Lanes) {
        if lanes.macs.is_empty() {
            let message = "a processor has a peak rate in at least one number format";
            self.fault(format!("{path}.macs"), message);
        }
        for (precision, rate) in &lanes.macs {
            self.positive(format!("{path}.macs.{precision}"), rate);
        }
        for (precision, rate) in &lanes.operations {
            self.positive(format!("{path}.operations.{precision}"), rate);
        }
        let Some(vector) = &lanes.vector else { return };
        for (precision, elements) in &vector.elements {
            self.side(format!("{path}.vector.elements.{precision}"), *elements);
        }
        if let Some(overhead) = &vector.overhead {
            self.not_negative(format!("{path}.vector.overhead"), overhead);
        }
    }

    fn systolic(&mut self, path: &str, array: &Systolic) {
        self.side(format!("{path}.rows"), array.rows);
        self.side(format!("{path}.columns"), array.columns);
        for (precision, rate) in &array.rates {
            self.positive(format!("{path}.rates.{precision}"), rate);
        }
        if let Some(pads) = &array.scratchpads {
            for (field, words) in
                [("filter", pads.filter), ("input", pads.input), ("partial_sum", pads.partial_sum)]
            {
                self.side(format!("{path}.scratchpads.{field}"), words);
            }
            if let Some(rows) = pads.input_rows {
                self.side(format!("{path}.scratchpads.input_rows"), rows);
            }
        }
        if let Some(rate) = &array.operations {
            self.positive(format!("{path}.operations"), rate);
        }
    }

    fn tensor_tiles(&mut self, path: &str, tiles: &TensorTiles) {
        let sides = [("units", tiles.units), ("m", tiles.m), ("n", tiles.n), ("k", tiles.k)];
        for (field, value) in sides {
            self.side(format!("{path}.{field}"), value);
        }
        if tiles.macs.is_empty() {
            let message = "tensor cores have a rate in at least one number format";
            self.fault(format!("{path}.macs"), message);
        }
        for (precision, rate) in &tiles.macs {
            self.positive(format!("{path}.macs.{precision}"), rate);
        }
        for (precision, rate) in &tiles.operations {
            self.positive(format!("{path}.operations.{precision}"), rate);
        }
    }

    fn fixed_function(&mut self, path: &str, function: &FixedFunction) {
        if function.unrolled.is_empty()
            && function.operations.is_none()
            && function.operations_by_kind.is_empty()
        {
            let message = "a datapath unrolls the loops of at least one kind of operator";
            self.fault(format!("{path}.unrolled"), message);
        }
        for (kind, unrolled) in &function.unrolled {
            if !kind.is_mac_work() {
                let message = format!("{kind} is no multiply-accumulate work: see `operations`");
                self.fault(format!("{path}.unrolled.{kind}"), message);
            }
            for (field, extent) in unrolled.extents() {
                self.side(format!("{path}.unrolled.{kind}.{field}"), extent);
            }
            if let Some(cycles) = &unrolled.cycles {
                self.positive(format!("{path}.unrolled.{kind}.cycles"), cycles);
            }
            for side in unrolled.strided.iter().flat_map(|s| [s.0, s.1]) {
                self.side(format!("{path}.unrolled.{kind}.strided"), side);
            }
            for (field, cycles) in [
                ("step_channel_cycles", &unrolled.step_channel_cycles),
                ("tile_cycles", &unrolled.tile_cycles),
                ("channel_cycles", &unrolled.channel_cycles),
                ("position_cycles", &unrolled.position_cycles),
            ] {
                if let Some(cycles) = cycles {
                    self.not_negative(format!("{path}.unrolled.{kind}.{field}"), cycles);
                }
            }
        }
        for (layer, stage) in &function.stages {
            for (field, extent) in stage.extents() {
                self.side(format!("{path}.stages.{layer}.{field}"), extent);
            }
            if let Some(cycles) = &stage.cycles {
                self.positive(format!("{path}.stages.{layer}.cycles"), cycles);
            }
        }
        for (precision, rate) in &function.rates {
            self.positive(format!("{path}.rates.{precision}"), rate);
        }
        for (kind, rate) in &function.operations_by_kind {
            self.positive(format!("{path}.operations_by_kind.{kind}"), rate);
        }
        for (field, rate) in [("outputs", &function.outputs), ("operations", &function.operations)]
        {
            if let Some(rate) = rate {
                self.positive(format!("{path}.{field}"), rate);
            }
        }
    }

    pub(super) fn side(&mut self, path: String, value: u64) {
        if value == 0 || value > LARGEST_SIDE {
            self.fault(path, format!("this is 1 to {LARGEST_SIDE}, not {value}"));
        }
    }
}
